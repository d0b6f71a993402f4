"""Tables reach other libraries without copies, and say the same in all of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ftlab as fl

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
duckdb = pytest.importorskip("duckdb")


@pytest.fixture(params=["requests", "timeline", "latencies", "blocks"])
def table(request: pytest.FixtureRequest, short_run: fl.Run) -> fl.Table:
    found: fl.Table = getattr(short_run, request.param)
    assert len(found) > 0
    return found


def arrow_columns(table: Any) -> Iterator[tuple[str, Any]]:
    arrow = pa.table(table)
    for name in arrow.column_names:
        assert arrow[name].num_chunks == 1
        yield name, arrow[name].chunk(0)


def test_a_table_describes_itself(table: fl.Table) -> None:
    assert table.metadata["about"].endswith(".")
    assert list(table.units) == table.columns
    for name in table.columns:
        assert len(table[name]) == len(table)
        if name.endswith("_ns"):
            assert "nanoseconds" in table.units[name], name
    assert repr(table).startswith(f"<Table of {len(table):,} rows: {table.columns[0]}")


def test_all_libraries_see_the_same(table: fl.Table) -> None:
    arrays = table.to_numpy()
    assert list(arrays) == table.columns
    of_polars, of_pandas, of_arrow = table.to_polars(), table.to_pandas(), table.to_arrow()
    taken = duckdb.from_arrow(of_arrow).fetchnumpy()
    for name, values in arrays.items():
        assert np.array_equal(values, of_polars[name].to_numpy(), equal_nan=values.dtype.kind == "f"), name
        assert np.array_equal(values, of_pandas[name].to_numpy()), name
        assert np.array_equal(values, of_arrow[name].to_numpy()), name
        assert np.array_equal(values, taken[name]), name
        assert of_pandas[name].dtype == values.dtype


def test_pyarrow_has_the_same_memory_every_time(table: fl.Table) -> None:
    first = {name: column.buffers()[1].address for name, column in arrow_columns(table)}
    again = {name: column.buffers()[1].address for name, column in arrow_columns(table)}
    assert first == again
    assert first == {name: column.buffers()[1].address for name, column in arrow_columns(table.to_arrow())}
    assert len(set(first.values())) == len(first)


def test_polars_takes_the_same_memory(table: fl.Table) -> None:
    addresses = {name: column.buffers()[1].address for name, column in arrow_columns(table)}
    frame = table.to_polars()
    for name in table.columns:
        view = frame[name].to_numpy(allow_copy=False)
        assert view.__array_interface__["data"][0] == addresses[name], name


def test_pyarrow_reads_the_same_memory_as_numpy_views(table: fl.Table) -> None:
    for name, column in arrow_columns(table):
        view = column.to_numpy(zero_copy_only=True)
        assert view.__array_interface__["data"][0] == column.buffers()[1].address
        assert np.array_equal(view, table[name])


def test_memory_outlives_the_table(aged: fl.Device) -> None:
    run = fl.run(aged, fl.workload("randread-4k", requests=500), records=True)
    expected = run.requests["latency_ns"].copy()
    frame, arrow = run.requests.to_polars(), run.requests.to_arrow()
    del run
    assert np.array_equal(frame["latency_ns"].to_numpy(), expected)
    assert np.array_equal(arrow["latency_ns"].to_numpy(), expected)


def test_units_reach_arrow(short_run: fl.Run) -> None:
    schema = pa.table(short_run.requests).schema
    assert schema.field("latency_ns").metadata[b"unit"] == b"nanoseconds from arrival to completion"
    assert schema.metadata[b"about"].startswith(b"A row for each request")


def test_duckdb_queries_a_table(short_run: fl.Run) -> None:
    requests = short_run.requests.to_arrow()
    [(reads, slowest)] = duckdb.sql("select count(*), max(latency_ns) from requests where op = 0").fetchall()
    of_op = short_run.requests["op"] == 0
    assert reads == of_op.sum()
    assert slowest == short_run.requests["latency_ns"][of_op].max()
    assert requests.num_rows == len(short_run.requests)


def test_changing_an_array_changes_nothing_else(short_run: fl.Run) -> None:
    array = short_run.requests["latency_ns"]
    array[:] = 0
    assert short_run.requests["latency_ns"].max() > 0


def test_unknown_columns_are_named(table: fl.Table) -> None:
    with pytest.raises(KeyError, match=f"nowhere.*{table.columns[0]}"):
        table["nowhere"]


def test_a_comparison_is_a_table(tiny: fl.Device) -> None:
    load = fl.workload("mixed-70-30-zipf", requests=500)
    comparison = fl.compare({"a": tiny, "b": tiny.but(scheduler="read-first")}, load, seeds=2, precondition="fill")
    frame = comparison.to_polars()
    assert frame.columns == comparison.columns
    assert set(frame["variant"]) == {"a", "b"}
    assert frame.filter(variant="a")["change"].null_count() == frame.filter(variant="a").height
    assert np.isnan(comparison["change"]).sum() == frame["change"].null_count()
    estimate, low, high = comparison.change("b", "read.latency.mean")
    assert estimate is not None and low is not None and high is not None and low <= estimate <= high
    with pytest.raises(KeyError, match="read.latency.mode"):
        comparison.change("b", "read.latency.mode")
    assert "<html" in comparison.page
    assert "<table>" in comparison._repr_html_()
