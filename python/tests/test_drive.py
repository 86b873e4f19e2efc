"""A drive by itself: co-simulation in virtual time."""

from __future__ import annotations

import copy
import pickle
import random

import pytest

import assay

SMALL = "x25-m?capacity.user=64MiB&channels=2&pages_per_block=32&spare=12%"


def drained(drive: assay.Drive) -> list[tuple[int, int]]:
    answers = []
    while (done := drive.complete()) is not None:
        answers.append((done.at, done.tag))
    return answers


def closed_loop(drive: assay.Drive, requests: int, depth: int, seed: int) -> list[tuple[int, int]]:
    """A host that keeps `depth` requests in flight."""
    chance, sectors = random.Random(seed), drive.capacity // 512
    place = lambda: chance.randrange(sectors // 8) * 8
    kind = lambda: chance.choice(["read", "write"])
    for tag in range(depth):
        drive.submit(drive.now, tag, kind(), place(), 8)
    answers = []
    for _ in range(requests):
        done = drive.complete()
        assert done is not None and done.ok
        answers.append((done.at, done.tag))
        drive.submit(done.at, done.tag, kind(), place(), 8)
    return answers


def test_a_host_of_ones_own_gets_the_same_answers_bit_for_bit() -> None:
    one, other = (closed_loop(assay.Drive(SMALL), 2000, 8, seed=1) for _ in range(2))
    assert one == other and [at for at, _ in one] == sorted(at for at, _ in one)
    assert one != closed_loop(assay.Drive(SMALL), 2000, 8, seed=2)


def test_time_is_exact_and_passes_as_far_as_is_asked() -> None:
    drive = assay.Drive(SMALL)
    assert (drive.now, drive.in_flight, drive.next_event()) == (0, 0, None)
    drive.fill()
    start = drive.now
    drive.submit(start + 1_000, 7, "read", 0, 8)
    assert drive.complete(start + 1_001) is None and drive.now == start + 1_001
    due = drive.next_event()
    assert due is not None and drive.in_flight == 1
    done = drive.complete()
    assert done is not None and (done.tag, done.ok, done.status) == (7, True, "success") and done.at >= due
    assert drive.now == done.at and drive.in_flight == 0 and drive.complete() is None
    assert drive.counters()["reads"] == 1


def test_a_saved_drive_goes_on_as_if_nothing_had_been() -> None:
    drive = assay.Drive(SMALL)
    closed_loop(drive, 500, 8, seed=1)
    other = assay.Drive(SMALL)
    other.load(drive.save())
    others = [other, copy.copy(drive), copy.deepcopy(drive), drive.copy(), pickle.loads(pickle.dumps(drive))]
    expected = drained(drive)
    assert len(expected) == 8
    for one in others:
        assert one.in_flight == 8 and drained(one) == expected
        assert one.counters() == drive.counters()


def test_bytes_that_are_no_state_change_nothing() -> None:
    drive = assay.Drive(SMALL)
    state = bytearray(drive.save())
    closed_loop(drive, 100, 4, seed=1)
    before = drive.counters()
    for place in (0, 14, 30, len(state) // 2, len(state) - 9):
        damaged = bytes(state[:place] + bytes([state[place] ^ 0x10]) + state[place + 1 :])
        with pytest.raises(assay.Error):
            drive.load(damaged)
    for wrong in (b"", b"x", bytes(state[:100]), random.Random(1).randbytes(4096)):
        with pytest.raises(assay.Error, match="no state of a drive"):
            drive.load(wrong)
    with pytest.raises(assay.Error, match="not of"):
        drive.load(assay.Drive(SMALL.replace("12%", "50%")).save())
    assert drive.counters() == before and len(drained(drive)) == 4


REFUSED = [
    ((0, 1, "reed", 0, 8), "no kind of request"),
    ((0, 1, "read", 0, 0), "no whole blocks"),
    ((0, 1, "read", 1 << 40, 8), "beyond the drive"),
    ((0, 1, "read", 2**64 - 1, 8), "beyond the drive|no whole blocks"),
    ((0, 0, "read", 8, 8), "tag 0 is in flight"),
]


@pytest.mark.parametrize(("request_", "told"), REFUSED)
def test_a_request_that_makes_no_sense_is_refused(request_: tuple[int, int, str, int, int], told: str) -> None:
    drive = assay.Drive(SMALL)
    drive.submit(0, 0, "read", 0, 8)
    with pytest.raises(assay.Error, match=told):
        drive.submit(*request_)
    assert drive.in_flight == 1 and drive.complete() is not None


def test_time_does_not_run_backwards() -> None:
    drive = assay.Drive(SMALL)
    drive.submit(1_000_000, 1, "flush")
    drive.complete()
    with pytest.raises(assay.Error, match="backwards"):
        drive.submit(10, 2, "flush")
    with pytest.raises(assay.Error, match="backwards"):
        drive.complete(10)


def test_time_ends_after_146_years() -> None:
    drive = assay.Drive(SMALL)
    drive.submit(2**62, 1, "write", 0, 8)
    assert drive.complete() is not None
    for act in (lambda: drive.submit(2**63, 2, "flush"), lambda: drive.complete(2**64 - 1)):
        with pytest.raises(assay.Error, match="146 years"):
            act()
    with pytest.raises(OverflowError):
        drive.submit(-1, 2, "flush")


def test_a_purge_waits_for_what_is_in_flight() -> None:
    drive = assay.Drive(SMALL)
    drive.submit(0, 1, "write", 0, 8)
    for act in (drive.purge, drive.fill):
        with pytest.raises(assay.Error, match="in flight"):
            act()
    drive.complete()
    drive.purge()


def test_drives_are_listed_and_a_wrong_name_is_told_the_nearest() -> None:
    assert {"x25-m", "990-pro"} <= set(assay.drives())
    with pytest.raises(assay.Error, match="x25-m"):
        assay.Drive("x25m")
    with pytest.raises(assay.Error):
        assay.Drive("x25-m?no.such=1")
    assert "x25-m?spare=12%" in repr(assay.Drive("sim:x25-m?spare=12%"))
