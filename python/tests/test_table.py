"""Tables, and the data frames that take them."""

from __future__ import annotations

import pickle

import pytest

import assay
from conftest import TINY

ROWS = [
    {"name": "a", "count": 1, "share": 0.5, "good": True},
    {"name": None, "count": None, "share": 2, "good": None, "more": "b<c"},
]


def test_columns_are_of_the_narrowest_kind() -> None:
    table = assay.Table.from_rows(ROWS)
    assert table.columns == ["name", "count", "share", "good", "more"] and len(table) == 2
    assert table["share"] == [0.5, 2.0] and table["count"] == [1, None] and table["good"] == [True, None]
    assert list(table)[0] == {**ROWS[0], "more": None}
    assert "b&lt;c" in table._repr_html_() and "2 rows" in repr(table)
    assert list(pickle.loads(pickle.dumps(table))) == list(table)
    with pytest.raises(KeyError, match="there is name, count"):
        table["nothing"]


def test_an_empty_table_is_one() -> None:
    table = assay.Table.from_rows([])
    assert len(table) == 0 and table.columns == [] and "0 rows" in repr(table)


def test_arrow_takes_a_table_without_a_copy() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    series = assay.run(TINY, rw="randread", runtime="3s").series
    one, other = pyarrow.table(series), pyarrow.table(series)
    assert one.column_names == series.columns and one["reads"].to_pylist() == series["reads"]
    addresses = [table["reads"].chunk(0).buffers()[1].address for table in (one, other)]
    assert addresses[0] == addresses[1], "both look at the same memory"
    del series
    assert one.equals(other), "it lives as long as who looks at it"
    array = pyarrow.array(assay.Table.from_rows(ROWS))
    assert array.to_pylist()[0]["name"] == "a"


def test_pandas_takes_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    if not hasattr(pandas.DataFrame, "from_arrow"):
        pytest.skip("this pandas has no DataFrame.from_arrow; it is of 3.0")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame.from_arrow(assay.run(TINY, rw="randread", runtime="3s").series)
    assert list(frame["start_ns"]) == [0, 10**9, 2 * 10**9]


def test_polars_takes_a_table() -> None:
    polars = pytest.importorskip("polars")
    table = assay.Table.from_rows(ROWS)
    assert polars.DataFrame(table).rows(named=True) == list(table)


def test_duckdb_takes_a_table() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = assay.Table.from_rows(ROWS)
    assert rows is not None and duckdb.sql("select sum(share) from rows").fetchall() == [(2.5,)]
