"""Sweeps: cells by any executor, with figures that are independent of it."""

from __future__ import annotations

import functools
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import assay
from assay import _sweep
from conftest import TINY
from workers import measure_or_die, states_made

AXES = {"drive.gc.policy": ["greedy", "fifo"], "drive.capacity.spare": ["7%", "28%"], "iodepth": [1, 4, 32]}


def small() -> assay.Sweep:
    return assay.sweep("sim:x25-m?capacity.user=128MiB&channels=1&dies_per_channel=1&pages_per_block=64&map.cache=16MiB", AXES, rw="randwrite",
                       runtime="200ms", until="steady")


@pytest.fixture(scope="module")
def expected() -> list[dict[str, Any]]:
    return small().run().rows()


def test_a_sweep_has_a_row_a_cell_in_the_order_of_its_axes(expected: list[dict[str, Any]]) -> None:
    points = [tuple(row[name] for name in AXES) for row in expected]
    assert points == [(a, b, c) for a in AXES["drive.gc.policy"] for b in AXES["drive.capacity.spare"] for c in AXES["iodepth"]]
    amplification = {point: row["write_amplification"] for point, row in zip(points, expected)}
    for policy in AXES["drive.gc.policy"]:
        assert amplification[policy, "7%", 32] > amplification[policy, "28%", 32] > 1.5


class Backwards(Executor):
    """Does what it is given in this process, the last first, once all of it is there."""

    def __init__(self, count: int) -> None:
        self.count, self.given = count, []

    def submit(self, act, /, *given, **more):  # type: ignore[no-untyped-def]
        future: Future = Future()
        self.given.append((future, functools.partial(act, *given, **more)))
        if len(self.given) == self.count:
            for one, act in reversed(self.given):
                one.set_result(act())
        return future


# Python 3.12 warns of what is tried here too.
@pytest.mark.filterwarnings("ignore:This process")
def test_figures_are_independent_of_executor_and_order(expected: list[dict[str, Any]]) -> None:
    assert small().run(Backwards(12)).rows() == expected
    for method in ("spawn", "fork"):
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as executor:
            assert small().run(executor).rows() == expected, method
    with ThreadPoolExecutor(3) as executor:
        assert small().run(executor).rows() == expected


def test_a_state_is_made_once_a_worker_and_reused() -> None:
    sweep = assay.sweep(TINY, {"iodepth": range(1, 33)}, rw="randwrite", runtime="20ms", until="steady")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        sweep.run(executor)
        made = dict(executor.submit(states_made).result() for _ in range(40))
    assert set(made.values()) == {1} and sweep.conditioned == len(made) <= 2


def test_states_that_alternate_are_kept_as_bytes(expected: list[dict[str, Any]]) -> None:
    # The queue depth varies slowest, so that every cell needs another state than the one before.
    axes = {name: AXES[name] for name in reversed(AXES)}
    script = (
        "import json, sys, assay; from concurrent.futures import ThreadPoolExecutor\n"
        "s = assay.sweep('sim:x25-m?capacity.user=128MiB&channels=1&dies_per_channel=1&pages_per_block=64&map.cache=16MiB', json.loads(sys.argv[1]),\n"
        "    rw='randwrite', runtime='200ms', until='steady')\n"
        "t = s.run(ThreadPoolExecutor(1)); print(s.conditioned, json.dumps(t.rows()))"
    )
    said = subprocess.run([sys.executable, "-c", script, json.dumps(axes)], capture_output=True, text=True, check=True)
    made, rows = said.stdout.split(" ", 1)
    assert made == "4"
    # The key of a cell has the order of its axes, and so its seed: states are the same, requests are not.
    assert sorted(row["write_amplification"] for row in json.loads(rows)) == pytest.approx(
        sorted(row["write_amplification"] for row in expected), rel=0.2
    )


def test_a_pool_that_breaks_keeps_what_it_has_and_the_next_goes_on(
    expected: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep, marker = small(), str(tmp_path / "died")
    monkeypatch.setattr(_sweep, "measure", functools.partial(measure_or_die, marker=marker))
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        with pytest.raises(assay.Error, match="the executor broke.*5 of 12 cells are measured and kept"):
            sweep.run(executor)
    assert sweep.left == 7 and len(sweep.table()) == 5
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        assert sweep.run(executor).rows() == expected


@pytest.mark.long
def test_dask_does_a_dead_workers_cells_again_and_none_twice(
    expected: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed")
    marker = tmp_path / "died"
    monkeypatch.setattr(_sweep, "measure", functools.partial(measure_or_die, marker=str(marker)))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]))
    options = dict(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=str(tmp_path))
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        before = set(client.scheduler_info()["workers"])
        table = small().run(client.get_executor())
        assert marker.exists(), "a worker was killed"
        assert table.rows() == expected
        client.wait_for_workers(2)
        assert set(client.scheduler_info()["workers"]) != before, "by another in its place"


@pytest.mark.long
def test_mpi_gives_the_same_table(expected: list[dict[str, Any]], tmp_path: Path) -> None:
    launcher = shutil.which("mpiexec")
    if launcher is None:
        pytest.skip("there is no mpiexec")
    version = subprocess.run([launcher, "--version"], capture_output=True, text=True).stdout
    environment = {
        **os.environ,
        # The wheel of mpi4py has both.
        "MPI4PY_MPIABI": "openmpi" if "Open MPI" in version or "OpenRTE" in version else "mpich",
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
    }
    words = [sys.executable, "-c", "import mpi4py.MPI"]
    tried = subprocess.run(words, capture_output=True, text=True, env=environment)
    if tried.returncode != 0:
        pytest.skip(f"mpi4py finds no MPI: {tried.stderr.strip().splitlines()[-1]}")
    script = tmp_path / "sweep.py"
    script.write_text(
        "import json, sys\n"
        "from mpi4py.futures import MPICommExecutor\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from test_sweep import small\n"
        "with MPICommExecutor() as executor:\n"
        "    if executor is not None:\n"
        "        print(json.dumps(small().run(executor).rows()))\n"
    )
    words = [launcher, "-n", "3", sys.executable, str(script), str(Path(__file__).parent)]
    said = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert said.returncode == 0, said.stderr
    assert json.loads(said.stdout) == expected


WRONG = [
    ({"axes": {"iodepht": [1]}}, "`iodepht` is not a field.*iodepth"),
    ({"axes": {"iodepth": []}}, "no values"),
    ({"axes": {"iodepth": [1, "1"]}}, "twice"),
    ({"axes": {"rw": ["read"]}}, "give it once"),
    ({"axes": {"drive.no.such": [1]}}, "no.such"),
    ({"axes": {"drive.gc.policy": ["best"]}}, "cell drive.gc.policy=best: .*best"),
    ({"axes": {}, "until": "worn"}, 'give "steady"'),
    ({"axes": {"bs": ["4k", "5000"]}}, "cell bs=5000"),
    ({"axes": {}, "target": "/dev/null"}, "no simulated drive"),
    ({"axes": {}, "rate_iops": "many"}, "many"),
]


@pytest.mark.parametrize(("given", "told"), WRONG)
def test_what_makes_no_sense_is_told_with_its_cell(given: dict[str, Any], told: str) -> None:
    asked = {"target": TINY, "rw": "randread", "runtime": "10ms", **given}
    with pytest.raises(assay.Error, match="(?s)" + told):
        assay.sweep(asked.pop("target"), asked.pop("axes"), **asked).run()


def test_a_sweep_says_what_it_is_and_shows_its_progress(capsys: pytest.CaptureFixture[str]) -> None:
    sweep = assay.sweep(TINY, {"iodepth": [1, 2]}, rw="randread", number_ios=10)
    assert repr(sweep) == f"Sweep({TINY}: iodepth (2); 0 of 2 measured)" and len(sweep) == 2
    sweep.run(progress=True)
    assert "2 of 2 measured" in repr(sweep)
    assert sweep.run() is not None, "nothing is left to do"
