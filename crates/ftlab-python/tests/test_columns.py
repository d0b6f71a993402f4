"""Requests in columns: every source gives the same run, and what can't be a request is refused with its place."""

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ftlab as fl

pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")

ROWS = 400
NAMES = np.array(["read", "write", "trim", "flush"])


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    """Requests of all kinds, in arrays."""
    random = np.random.default_rng(5)
    op = random.choice(4, ROWS, p=[0.4, 0.5, 0.05, 0.05]).astype(np.uint8)
    return {
        "op": op,
        "lba": (random.integers(0, 5000, ROWS) * 8).astype(np.uint64),
        "sectors": np.full(ROWS, 8, np.uint32),
        "at_ns": np.sort(random.integers(0, 10**8, ROWS)),
        "stream": random.integers(0, 3, ROWS).astype(np.uint32),
        "fua": random.integers(0, 2, ROWS).astype(bool),
    }


@pytest.fixture(scope="module")
def expected(tiny: fl.Device, arrays: dict[str, Any]) -> bytes:
    return fl.run(tiny, fl.requests(arrays)).result_json


SOURCES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "lists": lambda a: {name: values.tolist() for name, values in a.items()},
    "tuples": lambda a: {name: tuple(values.tolist()) for name, values in a.items()},
    "int64": lambda a: {n: v if v.dtype == bool else v.astype(np.int64) for n, v in a.items()},
    "big-endian": lambda a: {n: v if v.dtype == bool else v.astype(">i8") for n, v in a.items()},
    "strided": lambda a: {name: np.repeat(values, 2)[::2] for name, values in a.items()},
    "names": lambda a: a | {"op": NAMES[a["op"]]},
    "name-list": lambda a: a | {"op": NAMES[a["op"]].tolist()},
    "letters": lambda a: a | {"op": [name[0].upper() for name in NAMES[a["op"]]]},
    "objects": lambda a: a | {"op": NAMES[a["op"]].astype(object)},
    "bytes": lambda a: {n: v for n, v in a.items() if n not in ("lba", "sectors")}
    | {"offset": a["lba"] * 512, "size": a["sectors"].astype(np.int64) * 512},
    "timedelta": lambda a: a | {"at_ns": a["at_ns"].astype("timedelta64[ns]")},
    "fua-codes": lambda a: a | {"fua": a["fua"].astype(np.uint8)},
    "polars": lambda a: pl.DataFrame(a),
    "polars-names": lambda a: pl.DataFrame(a | {"op": NAMES[a["op"]]}),
    "polars-categorical": lambda a: pl.DataFrame(a | {"op": pl.Series(NAMES[a["op"]], dtype=pl.Categorical)}),
    "polars-enum": lambda a: pl.DataFrame(a | {"op": pl.Series(NAMES[a["op"]], dtype=pl.Enum(NAMES.tolist()))}),
    "polars-duration": lambda a: pl.DataFrame(a).with_columns(pl.col("at_ns").cast(pl.Duration("ns"))),
    "polars-chunks": lambda a: pl.concat([pl.DataFrame(a)[:100], pl.DataFrame(a)[100:]], rechunk=False),
    "polars-series": lambda a: {name: pl.Series(values) for name, values in a.items()},
    "pandas": lambda a: pd.DataFrame(a),
    "pandas-names": lambda a: pd.DataFrame(a | {"op": NAMES[a["op"]]}),
    "pandas-categorical": lambda a: pd.DataFrame(a | {"op": pd.Categorical(NAMES[a["op"]])}),
    "pandas-index": lambda a: pd.DataFrame(a).set_index(np.arange(ROWS)[::-1]),
    "pyarrow": lambda a: pa.table(a),
    "pyarrow-batch": lambda a: pa.record_batch(a),
    "pyarrow-dictionary": lambda a: pa.table(a | {"op": pa.array(NAMES[a["op"]]).dictionary_encode()}),
    "pyarrow-arrays": lambda a: {name: pa.array(values) for name, values in a.items()},
    "pyarrow-large": lambda a: pa.table(a | {"op": pa.array(NAMES[a["op"]], pa.large_string())}),
    "pyarrow-view": lambda a: pa.table(a | {"op": pa.array(NAMES[a["op"]], pa.string_view())}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_run(
    tiny: fl.Device, arrays: dict[str, Any], expected: bytes, source: str
) -> None:
    assert fl.run(tiny, fl.requests(SOURCES[source](arrays))).result_json == expected


def test_the_columns_matter(tiny: fl.Device, arrays: dict[str, Any], expected: bytes) -> None:
    changed = arrays | {"at_ns": arrays["at_ns"] * 2}
    assert fl.run(tiny, fl.requests(changed)).result_json != expected


def test_a_load_keeps_what_it_was_given(tiny: fl.Device, arrays: dict[str, Any], expected: bytes) -> None:
    own = {name: values.copy() for name, values in arrays.items()}
    load = fl.requests(own)
    own["lba"][:] = 0
    assert fl.run(tiny, load).result_json == expected
    assert fl.run(tiny, load.but(queue_depth=None)).result_json == expected


def test_a_stream_is_read_once(tiny: fl.Device, arrays: dict[str, Any], expected: bytes) -> None:
    load = fl.requests(pa.table(arrays).to_reader())
    assert fl.run(tiny, load.but()).result_json == expected


def test_requests_are_recorded_as_given(tiny: fl.Device, arrays: dict[str, Any]) -> None:
    recorded = fl.run(tiny, fl.requests(arrays), records=True).requests
    order = np.argsort(recorded["index"])
    for name in ("op", "stream"):
        assert np.array_equal(recorded[name][order], arrays[name]), name
    # As those of a trace, times are counted from the first.
    assert np.array_equal(recorded["arrived_ns"][order], arrays["at_ns"] - arrays["at_ns"][0])
    placed = arrays["op"] != 3
    assert np.array_equal(recorded["lba"][order][placed], arrays["lba"][placed])


def test_no_times_need_a_depth(tiny: fl.Device) -> None:
    columns = {"op": ["write"] * 8, "lba": np.arange(8) * 8, "sectors": [8] * 8}
    with pytest.raises(fl.UsageError, match="queue_depth="):
        fl.run(tiny, fl.requests(columns))
    for pace in ({"queue_depth": 4}, {"replay": "asap"}):
        run = fl.run(tiny, fl.requests(columns, **pace), records=True)
        assert sorted(run.requests["index"].tolist()) == list(range(8))


def test_flushes_need_no_place(tiny: fl.Device) -> None:
    run = fl.run(tiny, fl.requests({"op": ["flush", "flush"], "at_ns": [0, 10]}), records=True)
    assert run.requests["op"].tolist() == [3, 3]


GOOD: dict[str, Any] = {"op": ["read", "write"], "lba": [0, 8], "sectors": [8, 8], "at_ns": [0, 10]}

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no-op": ({"op": None}, "lack the column op"),
    "no-lba": ({"lba": None}, "in part or twice"),
    "no-place": ({"lba": None, "sectors": None}, "lack the column lba"),
    "twice": ({"offset": [0, 0], "size": [512, 512]}, "in part or twice"),
    "unknown": ({"length": [1, 2]}, "no column length"),
    "unequal": ({"at_ns": [0]}, "differ in length"),
    "floats": ({"lba": [0.0, 8.0]}, "lba holds no whole numbers but float64"),
    "nan": ({"lba": [0.0, float("nan")]}, "lba holds no whole numbers but float64"),
    "none": ({"lba": [0, None]}, "lba"),
    "null": ({"lba": pa.array([0, None])}, "lba lacks 1 values"),
    "polars-null": ({"lba": pl.Series([0, None])}, "lba lacks 1 values"),
    "negative": ({"lba": [0, -8]}, "lba holds a value that is out of range"),
    "negative-time": ({"at_ns": [-1, 10]}, "at_ns holds a value that is out of range"),
    "huge": ({"lba": [0, 2**63]}, ""),
    "beyond": ({"lba": [0, 2**64]}, "lba"),
    "sectors-huge": ({"sectors": [8, 2**40]}, "sectors is too large in row 1: 1099511627776"),
    "stream-huge": ({"stream": [0, 2**33]}, "stream is too large in row 1"),
    "words": ({"op": ["read", "erase"]}, "op is no operation in row 1"),
    "codes": ({"op": [0, 11]}, "op is no operation in row 1"),
    "empty-word": ({"op": ["read", ""]}, "op is no operation in row 1"),
    "bytes-words": ({"op": [b"read", b"write"]}, "op"),
    "mixed": ({"op": ["read", 1]}, "op"),
    "lba-words": ({"lba": ["a", "b"]}, "lba holds no whole numbers"),
    "two-dimensional": ({"lba": np.zeros((2, 2), int)}, "2 dimensions"),
    "scalar": ({"lba": 5}, "0 dimensions"),
    "dates": ({"at_ns": np.array(["2020-01-01", "2020-01-02"], "datetime64[D]")}, "at_ns"),
    "nat": ({"at_ns": np.array([0, "NaT"], "timedelta64[ns]")}, "at_ns"),
    "complex": ({"lba": [1j, 2]}, "lba holds no whole numbers"),
    "lists-of-lists": ({"lba": pa.array([[1], [2]])}, "lba holds no whole numbers"),
    "ragged": ({"lba": [[1], [2, 3]]}, "lba"),
    "fua-word": ({"fua": ["maybe", "no"]}, "fua"),
    "fua-float": ({"fua": [0.5, 1.0]}, "fua"),
    "fua-number": ({"fua": [1, 2]}, "fua is neither 0 nor 1 in row 1: 2"),
    "fua-text": ({"fua": pa.array(["true", "false"])}, "fua holds no whole numbers"),
    "masked": ({"lba": np.ma.masked_array([0, 8], [False, True])}, "lba hides values behind a mask"),
    "fua-null": ({"fua": pa.array([True, None])}, "fua lacks 1 values"),
    "empty-request": ({"sectors": [8, 0]}, "row 1 has no sectors"),
    "no-table": ({"lba": object()}, "lba"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_columns_are_refused(tiny: fl.Device, wrong: str) -> None:
    changes, message = WRONG[wrong]
    columns = {name: values for name, values in (GOOD | changes).items() if values is not None}
    with pytest.raises(fl.UsageError) as raised:
        fl.run(tiny, fl.requests(columns))
    assert message in str(raised.value)
    with fl.open(tiny) as simulator:
        with pytest.raises(fl.UsageError):
            simulator.submit(columns)
        assert simulator.submitted == 0


def test_rows_are_in_the_order_of_their_times(tiny: fl.Device) -> None:
    columns = GOOD | {"at_ns": [10, 0]}
    with pytest.raises(fl.UsageError, match="row 1 comes before the one above it"):
        fl.requests(columns)
    with fl.open(tiny) as simulator:
        simulator.submit(columns)
        assert sorted(simulator.advance()["arrived_ns"].tolist()) == [0, 10]


def test_times_end_some_day(tiny: fl.Device) -> None:
    late = GOOD | {"at_ns": [0, 2**62 + 1]}
    with pytest.raises(fl.UsageError, match="a device lives until"):
        fl.run(tiny, fl.requests(late))
    with pytest.raises(fl.UsageError, match="a device lives until.*\n.*speed="):
        fl.run(tiny, fl.requests(GOOD | {"at_ns": [0, 2**61]}, speed=0.25))
    with fl.open(tiny) as simulator, pytest.raises(fl.UsageError, match="request 1: .*a device lives until"):
        simulator.submit(late)
    assert fl.run(tiny, fl.requests(GOOD | {"at_ns": [0, 2**62]})).complete


def test_a_mask_that_hides_nothing_is_no_harm() -> None:
    masked = fl.requests(GOOD | {"lba": np.ma.masked_array([0, 8], [False, False])})
    assert np.asarray(masked._load.columns()["lba"]).tolist() == [0, 8]


def test_a_column_given_twice_is_refused() -> None:
    columns = [pa.array(values) for values in ([0, 0], [0, 8], [16, 24], [8, 8])]
    with pytest.raises(fl.UsageError, match="two columns lba"):
        fl.requests(pa.table(columns, names=["op", "lba", "lba", "sectors"]))


def test_part_of_a_sector_is_refused() -> None:
    with pytest.raises(fl.UsageError, match="offset is no multiple of 512 bytes in row 1: 100"):
        fl.requests({"op": [0, 0], "offset": [0, 100], "size": [512, 512]})


@pytest.mark.parametrize("given", [None, 5, "requests", [1, 2], np.zeros(4), object(), {"op": object()}, {}, {5: [1]}])
def test_what_is_no_table_is_refused(given: Any) -> None:
    with pytest.raises(fl.UsageError):
        fl.requests(given)


def test_no_requests(tiny: fl.Device) -> None:
    empty = {"op": [], "lba": [], "sectors": [], "at_ns": []}
    with pytest.raises(fl.UsageError, match="there are no requests"):
        fl.requests(empty)
    with fl.open(tiny) as simulator:
        assert simulator.submit(empty) == range(0, 0)
        assert len(simulator.advance()) == 0


def times(load: fl.Load) -> list[int]:
    columns: dict[str, Any] = load._load.columns()
    return np.asarray(columns["at_ns"]).tolist()


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_keep_their_unit(unit: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    place = {"op": ["read"] * 2, "lba": [0, 8], "sectors": [8, 8]}
    factor = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}[unit]
    whole = fl.requests({**place, "at_ns": [0, 3 * factor]})
    for kind in (arrow.duration(unit), arrow.timestamp(unit)):
        given = fl.requests({**place, "at_ns": arrow.array([0, 3], kind)})
        assert times(given) == times(whole)
    assert times(fl.requests({**place, "at_ns": np.array([0, 3], f"m8[{unit}]")})) == times(whole)
    for wrong in (arrow.array([0, 8], arrow.duration(unit)), np.array([0, 8], f"m8[{unit}]")):
        with pytest.raises(fl.UsageError, match="lba"):
            fl.requests({**place, "lba": wrong})


def test_times_that_do_not_fit_are_refused() -> None:
    place = {"op": ["read"] * 2, "lba": [0, 8], "sectors": [8, 8]}
    for many in (18446744074, 2**56):
        with pytest.raises(fl.UsageError, match="too long"):
            fl.requests({**place, "at_ns": np.array([0, many], "m8[s]")})


@pytest.fixture(scope="module")
def own() -> dict[str, Any]:
    """The same requests in columns of other names and units."""
    random = np.random.default_rng(6)
    return {
        "note": np.array([f"a,b;c\n\"{row}\"" for row in range(ROWS)]),
        "ts": np.sort(random.integers(0, 10**6, ROWS)),
        "kind": random.integers(0, 2, ROWS),
        "lba": random.integers(0, 5000, ROWS) * 8,
        "len": np.full(ROWS, 4096),
    }


WORDS = {"0": "read", "1": "write"}
PLAN: dict[str, str | int] = {"time": "ts:us", "op": 3, "offset": "lba:512", "size": "len:byte"}

OWN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "arrays": lambda a: a,
    "pandas": lambda a: pd.DataFrame(a),
    "polars": lambda a: pl.DataFrame(a),
    "pyarrow": lambda a: pa.table(a),
    "whole-floats": lambda a: pd.DataFrame(a | {"len": a["len"].astype(float), "ts": a["ts"].astype(float)}),
    "moments": lambda a: pd.DataFrame(a | {"ts": pd.Timestamp("2026-01-02", tz="UTC") + pd.to_timedelta(a["ts"], "us")}),
    "spans": lambda a: pl.DataFrame(a).with_columns(pl.col("ts").cast(pl.Duration("us"))),
}


def own_run(tiny: fl.Device, table: Any, columns: Any = PLAN, op: Any = WORDS) -> bytes:
    return fl.run(tiny, fl.requests(table, columns=columns, op=op)).result_json


@pytest.mark.parametrize("source", OWN)
def test_a_table_of_ones_own_is_read_by_its_columns(tiny: fl.Device, own: dict[str, Any], source: str) -> None:
    by_hand = {
        "op": np.array(["read", "write"])[own["kind"]],
        "lba": own["lba"],
        "sectors": own["len"] // 512,
        # Times of a table of one's own count from its first request.
        "at_ns": (own["ts"] - own["ts"][0]) * 1000,
    }
    expected = fl.requests(by_hand)
    found = fl.requests(OWN[source](own), columns=PLAN, op=WORDS)
    assert fl.run(tiny, found).result_json == fl.run(tiny, expected).result_json
    assert pickle.loads(pickle.dumps(found)).name == found.name


def test_the_plan_of_a_table_is_a_mapping_or_a_text(tiny: fl.Device, own: dict[str, Any], tmp_path: Path) -> None:
    text = "time=ts:us,op=3,offset=lba:512,size=len:byte"
    table = pd.DataFrame(own)
    expected = own_run(tiny, table)
    assert own_run(tiny, table, text, "0=read,1=write") == expected
    # As a file, it is the same.
    file = tmp_path / "requests.csv"
    table.drop(columns="note").to_csv(file, index=False)
    plan = PLAN | {"op": 2}
    loads = [fl.trace(file, columns=plan, op=WORDS), fl.requests(table.drop(columns="note"), columns=plan, op=WORDS)]
    reports = [json.loads(fl.run(tiny, load).result_json)["report"]["host"] for load in loads]
    assert reports[0]["read"] == reports[1]["read"] and reports[0]["write"] == reports[1]["write"]


def test_what_a_table_lacks_is_given(tiny: fl.Device) -> None:
    table = pl.DataFrame({"block": [8, 16, 24], "x": [0, 0, 0]})
    columns = {"op": "write", "offset": "block:512", "size": "4KiB"}
    load = fl.requests(table, columns=columns, queue_depth=1)
    assert fl.run(tiny, load).document["report"]["host"]["requests"] == 3
    # Columns without names are numbered from one.
    numbered = pd.DataFrame([[0, "W", 8], [1, "R", 16]])
    load = fl.requests(numbered, columns={"time": "1:ms", "op": 2, "offset": "3:512", "size": "4KiB"})
    assert load._load.columns()["at_ns"].tolist() == [0, 1_000_000]
    fraction = pl.DataFrame({"t": [0.0, 0.125], "at": [8, 16]})
    load = fl.requests(fraction, columns="time=t,op=read,offset=at:512,size=4KiB")
    assert load._load.columns()["at_ns"].tolist() == [0, 125_000_000]


@pytest.mark.parametrize(
    ("columns", "op", "told"),
    [
        ({"time": "ts:µs"}, None, "times have no unit `µs`; known are ns, filetime, us, ms, s"),
        ({"when": "ts"}, None, "a request has no `when`"),
        ({"offset": "lba"}, None, "a request needs size"),
        (PLAN | {"size": "length"}, WORDS, r"size=length is no column; the first line has 1 note, 2 ts(.|\n)*`?columns="),
        (PLAN, {"0": "read", "1": "wipe"}, "there is no operation `wipe`"),
        (PLAN, None, r"expected an operation(.|\n)*op= 0=read,1=write"),
        (None, WORDS, "say which column is what: columns="),
    ],
)
def test_what_is_wrong_with_a_table_is_said_as_by_the_program(
    own: dict[str, Any], columns: Any, op: Any, told: str
) -> None:
    with pytest.raises(fl.UsageError, match=told):
        fl.requests(pd.DataFrame(own), columns=columns, op=op)


def test_a_table_that_fits_nothing_is_shown_with_the_columns_that_may_read_it(own: dict[str, Any]) -> None:
    table = pd.DataFrame(own).drop(columns="note").rename(columns={"kind": "rw"})
    with pytest.raises(fl.UsageError, match=r"have no column len(.|\n)*columns= time=ts,op=rw,offset=lba:512,size=len"):
        fl.requests(table)


def test_gaps_of_a_table_are_refused_and_oddities_are_said(own: dict[str, Any]) -> None:
    table = pl.DataFrame(own).with_columns(pl.when(pl.col("ts") > 0).then(pl.col("lba")).alias("lba"))
    gap = table.with_columns(pl.lit(None, dtype=pl.Int64).alias("len"))
    with pytest.raises(fl.UsageError, match="expected a size: a whole number, found an empty field"):
        fl.requests(gap, columns=PLAN, op=WORDS)
    with pytest.raises(fl.UsageError, match="expected an address: a whole number .*, found `0.5"):
        fl.requests({"at": [0.5]}, columns="op=read,offset=at,size=4KiB")
    with pytest.raises(fl.UsageError, match="a column is called 7"):
        fl.requests({"at": [8], "7": [1]}, columns="op=read,offset=at,size=4KiB")
    with pytest.raises(fl.UsageError, match="there are no requests"):
        fl.requests({"at": []}, columns="op=read,offset=at,size=4KiB")
    twice = {name: np.concatenate([values, values]) for name, values in own.items()}
    with pytest.warns(UserWarning, match="the time goes back by"):
        fl.requests(twice, columns=PLAN, op=WORDS)
