"""assay: benchmark and simulator of storage drives.

>>> import assay
>>> m = assay.run("sim:990-pro", rw="randread", bs="4k", iodepth=32, runtime="1s")
>>> m.read.iops, m.read.latency.percentile(99.9)          # requests a second, nanoseconds  # doctest: +SKIP

Times are nanoseconds, sizes bytes, rates per second. What is refused or fails raises :class:`assay.Error` with the text that
the command line shows. Work runs without the interpreter's lock, and Ctrl-C ends it.
"""

from assay._api import compare, review, run
from assay._assay import (
    Comparison,
    Completion,
    Drive,
    Error,
    Flow,
    Latency,
    Measurement,
    Run,
    Store,
    Table,
    __version__,
    default_store,
    drives,
)
from assay._sweep import Sweep, sweep

__all__ = [
    "Comparison",
    "Completion",
    "Drive",
    "Error",
    "Flow",
    "Latency",
    "Measurement",
    "Run",
    "Store",
    "Sweep",
    "Table",
    "__version__",
    "compare",
    "default_store",
    "drives",
    "review",
    "run",
    "sweep",
]
