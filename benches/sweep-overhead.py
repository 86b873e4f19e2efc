#!/usr/bin/env python3
"""What a sweep of 1,000 cells costs beside the cells themselves, on 1 and 2 workers.

    scripts/python && target/python/3.13/bin/python benches/sweep-overhead.py [CELLS]

A cell's own time is that of its function in the worker, by the worker's clock: restoring the conditioned state, the simulation
and the figures. Overhead is all other time of the workers: handing over, waiting, the interpreter, the table. The state is made
before the clock runs. Every table is compared with the first: they must be the same.

Handing out is the processor time of this process, which hands out all cells: it limits how many workers it keeps busy. Threads measure
in this process themselves.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor

import assay
from assay import _sweep

CELLS = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
TARGET = "sim:x25-m?capacity.user=64MiB&channels=2&spare=28%"
own = _sweep.measure


def sweep() -> assay.Sweep:
    return assay.sweep(TARGET, {"number_ios": range(500, 500 + CELLS)}, rw="randwrite", iodepth=8, until="steady")


def timed(cell: _sweep.Cell, group: int) -> _sweep.Measured:
    """Measures a cell, with its own time among its figures."""
    began = time.perf_counter()
    measured = own(cell, group)
    measured.figures["own_s"] = time.perf_counter() - began
    return measured


def warm(executor: Executor, workers: int) -> None:
    """Starts the workers and has each make the state."""
    first = sweep().cells[0]
    list(executor.map(timed, [first] * 4 * workers, [0] * 4 * workers))


def run(name: str, executor: Executor, workers: int, expected: list[dict[str, object]]) -> None:
    warm(executor, workers)
    asked = sweep()
    began, busy = time.perf_counter(), time.process_time()
    rows = asked.run(executor).rows()
    took, busy = time.perf_counter() - began, time.process_time() - busy
    within = sum(row.pop("own_s") for row in rows)
    assert not expected or rows == expected, f"{name} gave another table"
    expected[:] = rows
    overhead = (took * workers - within) / CELLS * 1e3
    handing = "" if isinstance(executor, ThreadPoolExecutor) else f"{busy / CELLS * 1e3:13.2f}"
    print(f"{name:22} {workers:7} {took:8.2f} {within / CELLS * 1e3:11.2f} {overhead:24.2f} {handing}", flush=True)


if __name__ == "__main__":
    _sweep.measure = timed
    rows: list[dict[str, object]] = []
    print(f"{CELLS} cells            workers  wall (s)  cell (ms)  overhead (ms a cell)  handing out (ms a cell)")
    spawn = multiprocessing.get_context("spawn")
    for workers in (1, 2):
        with ThreadPoolExecutor(workers) as executor:
            run("threads", executor, workers, rows)
        with ProcessPoolExecutor(workers, mp_context=spawn) as executor:
            run("processes", executor, workers, rows)
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            continue
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                run("Dask, LocalCluster", client.get_executor(), workers, rows)
