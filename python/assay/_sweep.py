"""Sweeps: cells that any executor measures.

A cell is plain data, and its figures are a function of that data alone: its seed comes from the sweep's seed and the cell's
own values. So they do not depend on the executor, on the order, or on how often a worker died.
"""

from __future__ import annotations

import atexit
import itertools
import os
import queue
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from typing import Any, NamedTuple, Optional, Union

from assay import _assay
from assay._assay import Error, Table
from assay._progress import bar

Value = Union[str, int, float, bool]

#: How often a cell is handed to an executor whose workers die.
TRIES = 4


class Cell(NamedTuple):
    """What is measured: plain data, which can be pickled and sent anywhere."""

    place: int
    target: str
    changes: str
    fields: tuple[tuple[str, str], ...]
    until: Optional[str]
    seed: int
    key: str


class Measured(NamedTuple):
    """What came of a cell."""

    place: int
    figures: dict[str, float]
    findings: list[str]
    made_state: bool


_lock = threading.Lock()
_folder: Optional[tuple[int, str]] = None


def _scratch() -> str:
    """A folder of this process, which goes with it."""
    global _folder
    with _lock:
        if _folder is None or _folder[0] != os.getpid():
            made = tempfile.mkdtemp(prefix="assay-")
            atexit.register(shutil.rmtree, made, ignore_errors=True)
            _folder = (os.getpid(), made)
        return _folder[1]


def measure(cell: Cell, group: int = 0) -> Measured:
    """Measure a cell, in whichever process this is called; those of a group in one process can be told to end."""
    figures, findings, made = _assay.measure_cell(
        cell.target, cell.changes, list(cell.fields), cell.until, cell.seed, cell.key, _scratch(), group
    )
    return Measured(cell.place, figures, findings, made)


def _text(name: str, value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (str, int, float)):
        return str(value)
    if hasattr(value, "item"):  # a number of NumPy
        return str(value.item())
    raise TypeError(f"{name} has the value {value!r}; give texts and numbers")


def _is_part(name: str) -> bool:
    return name.split(".")[0] in ("drive", "rig") and "." in name


class Sweep:
    """A workload on a simulated drive, with some of both varied. Make one by :func:`sweep`."""

    def __init__(
        self,
        target: str,
        axes: Mapping[str, Iterable[Value]],
        workload: Mapping[str, Value],
        until: Optional[str],
        seed: int,
    ) -> None:
        self.axes: dict[str, list[Value]] = {name: list(values) for name, values in axes.items()}
        for name, values in self.axes.items():
            if not values:
                raise Error(f"the axis {name} has no values; list some")
            if len({_text(name, value) for value in values}) < len(values):
                raise Error(f"the axis {name} has a value twice; leave one out")
            if name in workload:
                raise Error(f"{name} is an axis and a field of the workload; give it once")
        self.target = target
        #: The cells, the first axis varying slowest.
        self.cells: list[Cell] = []
        self._points = list(itertools.product(*self.axes.values()))
        fixed = {name: _text(name, value) for name, value in workload.items()}
        for place, point in enumerate(self._points):
            swept = {name: _text(name, value) for name, value in zip(self.axes, point)}
            changes = "&".join(f"{name}={value}" for name, value in swept.items() if _is_part(name))
            fields = {**fixed, **{name: value for name, value in swept.items() if not _is_part(name)}}
            key = " ".join(f"{name}={value}" for name, value in swept.items())
            self.cells.append(Cell(place, target, changes, tuple(fields.items()), until, seed, key))
        self._done: dict[int, Measured] = {}

    @property
    def conditioned(self) -> int:
        """How often a state was made, over all workers."""
        return sum(done.made_state for done in self._done.values())

    @property
    def left(self) -> int:
        """How many cells are not measured yet."""
        return len(self.cells) - len(self._done)

    def run(self, executor: Optional[Executor] = None, *, progress: bool = False) -> Table:
        """Measure all cells that are not measured yet, and return the table of all.

        ``executor``: anything with the interface of ``concurrent.futures.Executor``: processes, threads, Dask's
        ``Client.get_executor()``, mpi4py's ``MPIPoolExecutor``. Without one, as many threads as there are processors: cells
        run without the interpreter's lock, and threads share the states of conditioned drives.

        Where workers die, their cells are done again; where the executor itself breaks, or Ctrl-C ends it, what is measured
        is kept, and calling ``run`` again, with another executor, goes on. A cell that fails raises :class:`Error`.
        """
        shows = bar(total=len(self.cells), initial=len(self._done), unit="cell") if progress else None
        try:
            if executor is not None:
                self._run(executor, shows)
            else:
                with ThreadPoolExecutor(min(len(os.sched_getaffinity(0)), max(self.left, 1))) as threads:
                    self._run(threads, shows)
        finally:
            if shows is not None:
                shows.close()
        return self.table()

    def _run(self, executor: Executor, shows: Any) -> None:
        tries: dict[int, int] = {}
        waiting: dict[Future[Measured], Cell] = {}
        ended: queue.SimpleQueue[Future[Measured]] = queue.SimpleQueue()
        group = secrets.randbits(63)

        def submit(cell: Cell) -> None:
            tries[cell.place] = tries.get(cell.place, 0) + 1
            try:
                future = executor.submit(measure, cell, group)
            except (BrokenExecutor, RuntimeError) as broken:
                raise self._broken(broken) from broken
            waiting[future] = cell
            future.add_done_callback(ended.put)

        try:
            for cell in self.cells:
                if cell.place not in self._done:
                    submit(cell)
            while waiting:
                future = ended.get()
                cell = waiting.pop(future)
                try:
                    measured = future.result()
                except Error as error:
                    raise Error(f"cell {cell.key or cell.place}: {error}") from error
                except (Exception, CancelledError) as lost:
                    # Not of assay's: the worker has gone, or could not be reached.
                    if isinstance(lost, BrokenExecutor) or tries[cell.place] >= TRIES:
                        raise self._broken(lost) from lost
                    submit(cell)
                    continue
                self._done.setdefault(measured.place, measured)
                if shows is not None:
                    shows.update()
        except BaseException:
            for future in waiting:
                future.cancel()
            _assay.interrupt(group)
            # What has ended meanwhile is kept.
            for future in waiting:
                if future.done() and not future.cancelled() and future.exception() is None:
                    measured = future.result()
                    self._done.setdefault(measured.place, measured)
            raise

    def _broken(self, cause: BaseException) -> Error:
        done, whole = len(self._done), len(self.cells)
        return Error(
            f"the executor broke: {type(cause).__name__}: {cause}; {done} of {whole} cells are measured and kept; "
            "call run() again with a new executor, and it goes on"
        )

    def table(self) -> Table:
        """The cells that are measured, in their order: a row each, with the axes and all figures.

        Names of figures end with their unit: ``_ns`` nanoseconds, ``_bytes`` bytes a second, ``_s`` seconds.
        ``findings`` has doubts about the cell.
        """
        rows = []
        for place, measured in sorted(self._done.items()):
            findings = " ".join(measured.findings)
            rows.append({**dict(zip(self.axes, self._points[place])), **measured.figures, "findings": findings or None})
        return Table.from_rows(rows)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        axes = " × ".join(f"{name} ({len(values)})" for name, values in self.axes.items())
        return f"Sweep({self.target}: {axes or 'one cell'}; {len(self._done)} of {len(self.cells)} measured)"


def sweep(
    target: str,
    axes: Mapping[str, Iterable[Value]],
    *,
    until: Optional[str] = None,
    seed: int = 1,
    **workload: Value,
) -> Sweep:
    """Vary a workload and the simulated drive under it; ``.run(executor)`` measures all cells.

    ``axes``: what is varied, with its values: fields of the workload by fio's names (``"iodepth": [1, 32]``), and parameters
    of the drive by the names in its file (``"drive.capacity.spare": ["7%", "28%"]``, ``"drive.gc.policy": [...]``). Every
    combination is a cell. ``workload``: the fields that are the same for all.

    ``until``: the state in which a cell is measured. ``None``: new, and filled where the workload reads. ``"filled"``: written
    once in order. ``"steady"``: random writes (sequential ones for ``rw="write"``) of the cell's block size and place until
    steady state, after twice the capacity at least. Cells that differ only in how requests come share one state, which is
    made once a worker. Where the workload sets no end, a cell is 10 s of simulated time.

    ``seed``: what all random choices follow from. The same sweep gives the same table, bit for bit, by any executor.
    """
    return Sweep(target, axes, workload, until, seed)
