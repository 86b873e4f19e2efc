"""Runs, reviews and comparisons."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from typing import Any, Union

from assay import _assay
from assay._assay import Comparison, Error, Measurement, Run, Store
from assay._progress import shown

Path = Union[str, "os.PathLike[str]"]
Sides = Union[Run, Sequence[Run]]


def _path(store: Path | Store | None) -> str | None:
    if isinstance(store, Store):
        return os.fspath(store.path)
    return None if store is None else os.fspath(store)


def _named_again(target: str, options: dict[str, Any]) -> dict[str, Any]:
    """A device whose data may be lost is named twice on the command line; here it is named and consented to."""
    if options.get("destroy_data") is True:
        return {**options, "destroy_data": target}
    if options.get("destroy_data") is False:
        return {name: value for name, value in options.items() if name != "destroy_data"}
    return options


def run(
    target: Path = "sim:x25-m",
    *,
    store: Path | Store | None = None,
    progress: bool = False,
    **options: Any,
) -> Measurement:
    """Run one workload, as ``assay run`` does.

    ``options`` are those of the command line by the same names, which are fio's: ``rw="randread"``, ``bs="4k"``,
    ``iodepth=32``, ``runtime="10s"``, ``number_ios=1000``, ``seed=1``. ``True`` and ``False`` switch, a list gives an
    option several times, ``None`` leaves it out. A bare number is what it is on the command line: ``runtime=10`` is ten
    seconds, ``bs=4096`` bytes.

    A simulated drive is new, and filled first where the workload reads. A file or a device is used under the guards of the
    command line: a device that holds data needs ``destroy_data=True``, a file that assay did not make ``overwrite=True``.

    ``store``: keep the run in this store; otherwise it is kept nowhere. ``progress``: show a bar where tqdm is installed.
    """
    name = os.fspath(target)
    options = _named_again(name, options)
    path = _path(store)
    with shown(progress) as show:
        if path is not None:
            return _assay.run(name, path, show, options)
        with tempfile.TemporaryDirectory(prefix="assay-") as folder:
            return _assay.run(name, os.path.join(folder, "run.sqlite"), show, options)


def review(
    target: Path = "sim:x25-m",
    plan: Path = "review",
    *,
    store: Path | Store | None = None,
    progress: bool = False,
    **options: Any,
) -> Run:
    """Carry out a plan, as ``assay review`` does, and keep the run in a store.

    ``plan``: the name of a plan that comes with assay (``assay plans`` lists them), or the path of a file. ``options`` are
    those of the command line by the same names: ``quick=True``, ``seed=1``, ``repeats=5``, ``tag=["lab"]``. ``store``: a file
    or a :class:`Store`; without it the user's own, which is the command line's too. Guards are those of :func:`run`.

    What is interrupted stays in the store; ``assay review --resume`` goes on with it.
    """
    name = os.fspath(target)
    options = {**_named_again(name, options), "plan": os.fspath(plan)}
    path = _path(store) or _assay.default_store()
    if path is None:
        raise Error("results cannot be stored: neither XDG_DATA_HOME nor HOME is set; name a file with store=")
    with shown(progress) as show:
        return _assay.review(name, os.fspath(path), show, options)


def compare(base: Sides, *others: Sides) -> Comparison:
    """Hold runs against the first, as ``assay compare`` does.

    Each side is a :class:`Run`, or a list of runs that are pooled: each counts as one repeat then.
    """
    return _assay.compare([[side] if isinstance(side, Run) else list(side) for side in (base, *others)])
