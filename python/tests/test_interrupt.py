"""Ctrl-C, and the interpreter's lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import assay

# Each would go on for years of simulated time.
ENDLESS = {
    "run": "assay.run('sim:x25-m', rw='randread', iodepth=4, runtime='20000h', time_based=True)",
    "review": "assay.review('sim:x25-m', plan=sys.argv[1], store=sys.argv[2])",
    "sweep": "assay.sweep('sim:x25-m', {'iodepth': [1, 2, 3]}, rw='randwrite', runtime='20000h').run()",
    "file": "assay.run(sys.argv[3], rw='randread', runtime='20000h', time_based=True, size='1m', direct=False)",
}
PLAN = 'name = "long"\n[[step]]\nname = "reads"\nrw = "randread"\nruntime = "20000h"\n'


@pytest.mark.parametrize("what", ENDLESS)
def test_ctrl_c_ends_what_is_under_way_with_a_keyboard_interrupt(what: str, tmp_path: Path) -> None:
    plan = tmp_path / "long.toml"
    plan.write_text(PLAN)
    script = (
        "import sys, threading, os, signal, assay\n"
        # Whoever runs the tests in the background may have it ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "threading.Timer(1.0, lambda: print('under way', flush=True)).start()\n"
        f"try:\n    {ENDLESS[what]}\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    words = [sys.executable, "-c", script, plan, tmp_path / "s.sqlite", tmp_path / "scratch.bin"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "under way\n", "other threads go on meanwhile"
        process.send_signal(signal.SIGINT)
        said, told = process.communicate(timeout=300)
        assert (said, process.returncode) == ("interrupted\n", 0), told
    finally:
        process.kill()
    if what == "review":
        (run,) = assay.Store(tmp_path / "s.sqlite").runs()
        assert run.info["state"] != "complete"


def test_other_threads_go_on_while_a_drive_is_measured() -> None:
    other, counted = threading.Event(), 0

    def measure() -> None:
        assay.run("sim:x25-m", rw="randwrite", iodepth=32, number_ios=200_000)
        other.set()

    threading.Thread(target=measure).start()
    while not other.wait(0.001):
        counted += 1
    assert counted > 0


# Python 3.12 warns of what is tried here.
@pytest.mark.filterwarnings("ignore:This process")
def test_a_process_that_was_forked_has_threads_of_its_own() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system has no fork")
    assay.run("sim:x25-m", rw="randread", number_ios=10)
    child = os.fork()
    if child == 0:
        try:
            m = assay.run("sim:x25-m", rw="randread", number_ios=10)
            os._exit(0 if m.read.requests == 10 else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
