"""What workers of executors call: in a file of its own, so that it can be found by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from assay import _assay
from assay._sweep import Cell, Measured, measure


def states_made() -> tuple[int, int]:
    """The process, and how many states it has made."""
    return os.getpid(), _assay.states_made()


def measure_or_die(cell: Cell, group: int, marker: str) -> Measured:
    """Measures a cell; whoever gets to the sixth cell first is killed in the middle of it."""
    if cell.place == 5:
        try:
            Path(marker).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return measure(cell, group)
