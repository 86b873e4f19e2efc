"""The stubs say what there is."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import assay

PACKAGE = Path(assay.__file__).parent


def test_the_package_is_typed(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    use = tmp_path / "use.py"
    use.write_text(
        "import assay\n"
        "m = assay.run('sim:x25-m', rw='randread', iodepth=32)\n"
        "p: int = m.read.latency.percentile(99.9)\n"
        "t: assay.Table = assay.sweep('sim:x25-m', {'iodepth': [1, 2]}, rw='randread').run()\n"
        "d = assay.Drive('x25-m')\n"
        "c = d.complete(5)\n"
        "at: int = c.at  # not known to be there\n"
        "d.submit(0, 1, 'reed', 0, 8)  # no kind of request\n"
    )
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", use]
    said = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert "py.typed" not in said.stdout and "2 errors" in said.stdout.splitlines()[-1].replace("Found ", ""), said.stdout
    assert ":7:" in said.stdout and ":8:" in said.stdout, said.stdout
    words = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "-p", "assay"]
    said = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert said.returncode == 0, said.stdout


def test_the_stubs_are_of_what_is_there(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    words = [sys.executable, "-m", "mypy.stubtest", "assay._assay", "--concise"]
    said = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert said.returncode == 0, said.stdout


def test_everything_that_is_public_is_explained() -> None:
    for name in assay.__all__:
        it = getattr(assay, name)
        if callable(it):
            assert inspect.getdoc(it), name
        if inspect.isclass(it) and it.__module__ == "assay":
            for member, value in vars(it).items():
                if not member.startswith("_") and member not in vars(Exception):
                    is_field = name in ("Completion", "Flow") and not callable(value)
                    assert inspect.getdoc(value) or is_field, f"{name}.{member}"
