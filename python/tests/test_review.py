"""Reviews, stores and comparisons."""

from __future__ import annotations

from pathlib import Path

import pytest

import assay
from conftest import TINY


def test_a_review_gives_a_report_a_table_and_a_run_in_the_store(tmp_path: Path, plan: Path) -> None:
    store = tmp_path / "results.sqlite"
    run = assay.review(TINY, plan=plan, seed=3, store=store)
    assert (run.plan, run.target, run.seed, run.info["state"]) == ("short", TINY, 3, "complete")
    table = run.table()
    reads = [row for row in table if row["step"] == "reads"]
    assert len(reads) == 6 and {row["cell"] for row in reads} == {"iodepth=1", "iodepth=8"}
    assert all(row["iops"] > 0 and row["counted"] is True for row in reads)
    page = run.report(tmp_path / "out.html")
    assert page.read_text().startswith("<!DOCTYPE html>")
    again = assay.Store(store).run(run.id)
    assert again.table().rows() == table.rows() and again.summary() == run.summary()
    assert repr(again) == f"Run({run.id}: short on {TINY}, complete)"
    assert assay.Store(store).table()["plan"] == ["short"]


def test_runs_are_held_against_each_other(tmp_path: Path, plan: Path) -> None:
    store = tmp_path / "results.sqlite"
    a, b = (assay.review(f"{TINY}&nand.read={read}", plan=plan, store=store) for read in ("50us", "100us"))
    comparison = assay.compare(a, b)
    rows = [row for row in comparison.table() if row["metric"] == "iops"]
    assert len(rows) == 2 and all(row["ratio"] < 0.9 for row in rows)
    assert {row["after_run"] for row in rows} == {b.id}
    assert comparison.report(tmp_path / "compare.html").exists()
    assert assay.compare([a], [b]).table().rows() == comparison.table().rows()
    more = [assay.review(f"{TINY}&nand.read=50us", plan=plan, store=store, seed=seed) for seed in (2, 3)]
    pooled = assay.compare([a, *more], [b])
    assert "pooled" in str(pooled.json()["runs"][0]) and len(pooled.table()) == len(comparison.table())
    with pytest.raises(assay.Error, match="no run"):
        assay.compare([], [b])


def test_a_plans_mistake_is_shown_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('name = "wrong"\n[[step]]\nname = "reads"\nrw = "randreed"\nruntime = "1s"\n')
    with pytest.raises(assay.Error, match="randreed") as raised:
        assay.review(TINY, plan=path, store=tmp_path / "s.sqlite")
    assert "wrong.toml:4" in str(raised.value)


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, this is a letter and no store of results at all." * 10)
    with pytest.raises(assay.Error):
        assay.Store(path)
    store = assay.Store(tmp_path / "none.sqlite")
    with pytest.raises(assay.Error, match="7"):
        store.run(7)


def test_a_quick_review_of_the_plan_that_comes_with_assay(tmp_path: Path) -> None:
    run = assay.review(TINY, plan="queue-depth", quick=True, store=tmp_path / "s.sqlite", progress=True)
    assert run.info["quick"] is True and len(run.table()) > 0 and "IOPS" in run.summary()
