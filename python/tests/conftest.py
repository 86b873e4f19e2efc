"""What tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

# A drive of 64 MiB, which is conditioned in no time.
TINY = "sim:x25-m?capacity.user=64MiB&channels=2&spare=28%"

PLAN = """
name = "short"
title = "A short plan"
repeats = 3

[[step]]
name = "fill"
do = "fill"

[[step]]
name = "reads"
rw = "randread"
runtime = "50ms"
sweep.iodepth = [1, 8]
"""


@pytest.fixture(autouse=True)
def no_ones_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own store is left alone."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(PLAN)
    return path
