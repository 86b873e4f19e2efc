"""What may be lost: the guards are those of the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import assay

WRITES = dict(rw="randwrite", bs="4k", number_ios=16, size="1m", direct=False)


def test_a_file_that_assay_did_not_make_is_left_alone_unless_told(tmp_path: Path) -> None:
    path = tmp_path / "letters.bin"
    path.write_bytes(b"a" * (1 << 20))
    with pytest.raises(assay.Error, match="--overwrite"):
        assay.run(path, **WRITES)
    assert path.read_bytes() == b"a" * (1 << 20)
    m = assay.run(path, overwrite=True, **WRITES)
    assert m.write.requests == 16 and path.read_bytes() != b"a" * (1 << 20)
    assert any("page cache" in finding for finding in m.findings)


def test_a_new_file_is_made_and_kept_by_its_mark(tmp_path: Path) -> None:
    path = tmp_path / "new.bin"
    for _ in range(2):
        assert assay.run(path, **WRITES).write.requests == 16


def test_a_device_with_data_needs_consent(tmp_path: Path) -> None:
    backing = tmp_path / "backing.bin"
    data = bytearray(b"a" * (8 << 20))
    # What util-linux writes for swap: the last ten bytes of the first page.
    data[4086:4096] = b"SWAPSPACE2"
    backing.write_bytes(data)
    made = subprocess.run(["losetup", "--find", "--show", backing], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no loop device can be made: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        for consent in ({}, {"destroy_data": False}, {"destroy_data": "/dev/null"}):
            with pytest.raises(assay.Error, match="destroy-data"):
                assay.run(device, **WRITES, **consent)
        assert backing.read_bytes() == data
        assert assay.run(device, destroy_data=True, **WRITES).write.requests == 16
    finally:
        subprocess.run(["losetup", "--detach", device], check=True)


def test_consent_for_a_simulated_drive_makes_no_sense() -> None:
    with pytest.raises(assay.Error, match="holds no data"):
        assay.run("sim:x25-m", rw="randwrite", number_ios=10, overwrite=True)


def test_a_plan_with_trials_is_for_a_process_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(assay.Error, match="`assay review` carries it out"):
        assay.review("sim:x25-m", plan="file-systems", store=tmp_path / "s.sqlite")


def test_a_report_replaces_no_strangers_file(tmp_path: Path, plan: Path) -> None:
    run = assay.review("sim:x25-m?capacity.user=64MiB&channels=2&spare=28%", plan=plan, store=tmp_path / "s.sqlite")
    page = tmp_path / "mine.html"
    page.write_text("mine")
    with pytest.raises(assay.Error):
        run.report(page)
    assert page.read_text() == "mine"
    assert run.report(page, overwrite=True) == page and "<html" in page.read_text()
