"""Workloads: what `assay run` does, as values."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import assay
from conftest import TINY

READS = dict(rw="randread", bs="4k", iodepth=32, runtime="1s")
# The command of the same sources, where the caller has it: the other half of what is compared.
PROGRAM = os.environ.get("ASSAY_PROGRAM")
needs_program = pytest.mark.skipif(not PROGRAM, reason="ASSAY_PROGRAM names no program to compare with")


def test_a_workload_gives_rates_latencies_and_a_series() -> None:
    m = assay.run("sim:990-pro", **READS)
    assert m.read.requests > 10_000 and m.write.requests == m.trim.requests == 0
    assert m.read.iops == pytest.approx(m.read.requests / (m.elapsed / 1e9))
    assert m.read.bytes_per_s == pytest.approx(m.read.iops * 4096)
    latency = m.read.latency
    assert latency.min <= latency.percentile(50) <= latency.percentile(99.9) <= latency.max
    assert latency.count == m.read.requests and latency.percentile(100) == latency.max
    assert 10_000 < latency.percentile(50) < 10_000_000, "nanoseconds"
    assert sum(m.series["reads"]) == m.read.requests
    assert m.figures["iops"] == m.iops
    assert sum(latency.histogram()["requests"]) == latency.count
    assert repr(m).startswith("Measurement(sim:990-pro: ") and "<table>" in m._repr_html_()


def test_one_seed_tells_one_story() -> None:
    one, same, other = (assay.run(TINY, rw="randwrite", number_ios=3000, seed=seed).json() for seed in (1, 1, 2))
    stories = [json.dumps({**story, "timestamp_ms": 0}) for story in (one, same, other)]
    assert stories[0] == stories[1] != stories[2]


@needs_program
def test_figures_are_those_of_the_command_line(tmp_path: Path) -> None:
    words = ["--rw=randrw", "--bs=8k", "--iodepth=4", "--number_ios=2000", "--seed=7", "--format=json"]
    store = f"--store={tmp_path / 'cli.sqlite'}"
    said = subprocess.run([PROGRAM, store, "run", TINY, *words], capture_output=True, text=True, check=True).stdout
    ours = assay.run(TINY, rw="randrw", bs=8192, iodepth=4, number_ios=2000, seed=7).json()
    theirs = json.loads(said)
    for document in (ours, theirs):
        del document["timestamp_ms"]
        document["workload"].pop("options", None)
    assert ours == theirs


WRONG = [
    ({"rw": "randreed"}, ["--rw=randreed"], "did you mean `randread`?"),
    ({"rw": "randread", "iodepth": 0}, ["--rw=randread", "--iodepth=0"], "queue depth 0"),
    ({"no_such": 1}, ["--no_such=1"], "--no_such"),
    ({"rw": "randread", "size": "1PiB"}, ["--rw=randread", "--size=1PiB"], "smaller --size"),
    ({"rw": "randread", "seed": "many"}, ["--rw=randread", "--seed=many"], "whole number"),
]


@pytest.mark.parametrize(("options", "words", "told"), WRONG)
def test_a_mistake_is_an_error_with_the_text_of_the_command_line(
    options: dict[str, object], words: list[str], told: str, tmp_path: Path
) -> None:
    with pytest.raises(assay.Error) as raised:
        assay.run(TINY, **options)
    assert told in str(raised.value) and raised.value.exit_code == 2
    if PROGRAM:
        store = f"--store={tmp_path / 'cli.sqlite'}"
        said = subprocess.run([PROGRAM, store, "run", TINY, *words], capture_output=True, text=True)
        first = str(raised.value).splitlines()[0]
        assert said.returncode == 2 and first in said.stderr, said.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [({"live": True}, "progress=True"), ({"format": "json"}, "no option"), ({"resume": 3}, "assay review --resume")],
)
def test_what_only_a_terminal_has_a_use_for_says_what_is_there_instead(options: dict[str, object], told: str) -> None:
    with pytest.raises(assay.Error, match=told):
        assay.review(TINY, **options)


def test_what_is_no_value_of_an_option_is_told() -> None:
    with pytest.raises(TypeError, match="rw is a object|rw is a dict"):
        assay.run(TINY, rw={})
    with pytest.raises(ValueError, match="percent from 0 to 100"):
        assay.run(TINY, rw="randread", number_ios=10).read.latency.percentile(101)


def test_a_run_is_kept_where_a_store_is_named_and_nowhere_else(tmp_path: Path) -> None:
    store = assay.Store(tmp_path / "results.sqlite")
    assert store.runs() == []
    assay.run(TINY, rw="randread", number_ios=10)
    assert not store.path.exists()
    m = assay.run(TINY, rw="randread", number_ios=10, store=store, tag=["lab", "one"], note="a note")
    (run,) = store.runs()
    assert (run.id, run.target, run.plan, run.seed) == (m.run, m.target, "run", 1)
    assert run.info["tags"] == ["lab", "one"] and run.info["note"] == "a note"


def test_a_trace_is_replayed() -> None:
    m = assay.run("sim:x25-m", read_iolog="builtin:boot", replay_no_stall=True)
    assert m.read.requests > 0 and m.write.requests > 0
