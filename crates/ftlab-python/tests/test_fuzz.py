"""Nothing that a caller passes makes the package panic: random options, texts, columns and calls.

Only the package's own failures and Python's for wrong types may come out. A panic would be a PanicException, which is
no Exception, or end the process.
"""

import os
from typing import Any

import numpy as np
import pytest

import ftlab as fl
from ftlab import _ftlab
from ftlab._values import catalog, short_names

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

ALLOWED = (fl.FtlabError, TypeError, KeyError, OverflowError, ImportError)

quick = settings(
    # `FTLAB_LONG=1 ./x test` tries more.
    max_examples=800 if "FTLAB_LONG" in os.environ else 100,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

words = st.sampled_from(
    ["", "0", "1", "-1", "none", "on", "off", "lru", "greedy", "5ms", "0ns", "28%", "4KiB", "1e9", "nan", "9" * 30]
    + [policy["name"] for seam in catalog("policies") for policy in seam["policies"]]
)
texts = words | st.text(max_size=12)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=4)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner), max_leaves=4)
names = st.sampled_from(sorted(short_names())) | st.text(min_size=1, max_size=8)
paths = st.sampled_from([option["path"] for option in catalog("options")])

DTYPES = ["u1", "i1", "u4", "i8", "u8", ">u2", "f4", "f8", "c8", "b1", "S3", "U5", "O", "m8[ns]", "m8[D]", "M8[s]", "V4"]


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """A column of any type and length: arrays, lists, and tables' columns."""
    dtype = draw(st.sampled_from(DTYPES))
    length = draw(st.integers(0, 5))
    bytes_of = np.dtype(dtype).itemsize * length
    if dtype == "O":
        return np.array([draw(scalars) for _ in range(length)] + [None], object)[:length]
    array = np.frombuffer(draw(st.binary(min_size=bytes_of, max_size=bytes_of)), dtype)
    kind = draw(st.integers(0, 4))
    if kind == 0:
        return array.reshape(draw(st.sampled_from([(length,), (length, 1), (1, length)])))
    if kind == 1 and array.dtype.kind in "uifb" and array.dtype.isnative:
        return pytest.importorskip("polars").Series(array)
    if kind == 2 and array.dtype.kind in "uifb" and array.dtype.isnative:
        return pytest.importorskip("pyarrow").array(array, mask=np.arange(length) % 3 == 1)
    return array


good_numbers = st.lists(st.integers(0, 2**16), min_size=1, max_size=5)
column_names = st.sampled_from(["op", "lba", "sectors", "offset", "size", "at_ns", "stream", "fua"]) | st.text(max_size=3)
columns = st.dictionaries(column_names, arrays() | values | good_numbers, max_size=6)


def refused_or(ask: Any) -> Any:
    """The outcome, or None if it was refused as it may be."""
    try:
        return ask()
    except ALLOWED:
        return None


@quick
@given(options=st.dictionaries(names, values, max_size=4), base=st.sampled_from(["tiny", "mqsim"]) | texts)
def test_options_of_devices(options: dict[str, Any], base: str) -> None:
    refused_or(lambda: fl.device(base, **options))


@quick
@given(sets=st.lists(st.tuples(paths | texts, values).map(lambda pair: f"{pair[0]}={pair[1]}") | texts, max_size=4))
def test_set_texts(sets: list[str]) -> None:
    refused_or(lambda: fl.device("tiny", set=sets))


@quick
@given(mapping=st.dictionaries(paths | texts, values, max_size=4))
def test_set_mappings(mapping: dict[str, Any]) -> None:
    refused_or(lambda: fl.device("tiny", set=mapping))


@quick
@given(given_columns=columns)
def test_columns(tiny: fl.Device, given_columns: dict[str, Any]) -> None:
    load = refused_or(lambda: fl.requests(given_columns, replay="asap"))
    if load is not None:
        refused_or(lambda: fl.run(tiny, load))


@quick
@given(op=st.lists(st.integers(0, 3), min_size=1, max_size=6), data=st.data())
def test_numbers_of_requests(tiny: fl.Device, op: list[int], data: st.DataObject) -> None:
    """Well-formed columns with numbers anywhere in 64 bits."""
    edges = st.sampled_from([0, 1, 8, 2**16, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1])
    of_column = {
        name: np.array(data.draw(st.lists(edges, min_size=len(op), max_size=len(op))), np.uint64)
        for name in ("lba", "sectors", "stream")
    }
    timed = data.draw(st.booleans())
    if timed:
        at = data.draw(st.lists(edges, min_size=len(op), max_size=len(op)))
        of_column["at_ns"] = np.array(sorted(at), np.uint64)
    for address in ("as-is", "fold", "compact", "scale", "partition"):
        pace: dict[str, Any] = {"address": address} if timed else {"address": address, "queue_depth": 2}
        refused_or(lambda pace=pace: fl.run(tiny, fl.requests({"op": op, **of_column}, **pace)))  # type: ignore[misc]


run_options = st.dictionaries(
    st.sampled_from(sorted(set(_ftlab.RunOptions.names()))) | texts, values, min_size=1, max_size=3
)


@quick
@given(options=run_options, load=st.sampled_from(["requests", "trace"]))
def test_options_of_runs(tiny: fl.Device, options: dict[str, Any], load: str) -> None:
    few = {"op": [1, 0], "lba": [0, 0], "sectors": [8, 8], "at_ns": [0, 10]}
    # A keyword may be none of Python's own arguments.
    refused_or(lambda: fl.run(tiny, fl.requests(few), **options))


@quick
@given(reading=st.dictionaries(texts | st.sampled_from(["format", "time_unit", "order_window", "late"]), values), name=texts)
def test_traces(tiny: fl.Device, reading: dict[str, Any], name: str) -> None:
    refused_or(lambda: fl.run(tiny, fl.trace(__file__, reading=reading)))  # type: ignore[arg-type]
    # Standard input would be waited for.
    if name != "-":
        refused_or(lambda: fl.trace(name))


@quick
@given(text=texts | st.binary(max_size=20), steps=texts, seed=scalars)
def test_texts_of_files(tiny: fl.Device, text: Any, steps: str, seed: Any) -> None:
    refused_or(lambda: fl.workload(text))
    refused_or(lambda: fl.workload(f"{text}\n"))
    refused_or(lambda: fl.fio(text))
    refused_or(lambda: fl.load(text))
    refused_or(lambda: fl.explain(text))
    refused_or(lambda: _ftlab.Image.from_bytes("image", bytes(str(text), "utf-8")))
    refused_or(lambda: _ftlab.parse_duration(text))
    if steps not in ("fill", "age"):
        refused_or(lambda: fl.age(tiny, precondition=steps, seed=seed, cache=False))


calls = st.lists(
    st.one_of(
        st.tuples(st.just("submit"), columns),
        st.tuples(st.just("write"), st.lists(st.integers(0, 6000), min_size=1, max_size=4)),
        st.tuples(st.just("until"), st.integers(-1, 10**8) | st.sampled_from([2**63, 2**64 - 1, 2**64]) | values),
        st.tuples(st.just("by"), st.integers(-1, 10**8) | values),
        st.tuples(st.just("completion"), st.none() | st.integers(-1, 10**9) | values),
        st.tuples(st.just("drain"), st.none()),
        st.tuples(st.just("look"), st.none()),
        st.tuples(st.just("into"), st.none()),
        st.tuples(st.just("close"), st.none()),
    ),
    max_size=8,
)


@quick
@given(steps=calls, seed=scalars)
def test_calls_of_a_simulator(tiny: fl.Device, steps: list[tuple[str, Any]], seed: Any) -> None:
    simulator = refused_or(lambda: fl.open(tiny, seed=seed)) or fl.open(tiny)
    for step, value in steps:
        what: dict[str, Any] = {
            "submit": lambda value=value: simulator.submit(value),
            "write": lambda value=value: simulator.submit(
                {"op": ["write"] * len(value), "lba": value, "sectors": [8] * len(value)}
            ),
            "until": lambda value=value: simulator.advance(until=value),
            "by": lambda value=value: simulator.advance(by=value),
            "completion": lambda value=value: simulator.advance_to_completion(until=value),
            "drain": lambda: simulator.advance(),
            "look": lambda: (simulator.report, simulator.state, simulator.now_ns, simulator.outstanding),
            "into": lambda: simulator.into_device(),
            "close": lambda: simulator.close(),
        }
        refused_or(what[step])


@quick
@given(
    devices=values | st.dictionaries(st.text(max_size=3), st.none(), max_size=3),
    options=st.fixed_dictionaries(
        {},
        optional={"seeds": scalars, "seed": scalars, "confidence": scalars, "threads": scalars, "requests": scalars},
    ),
)
def test_comparisons(tiny: fl.Device, devices: Any, options: dict[str, Any]) -> None:
    few = fl.requests({"op": [1, 0], "lba": [0, 0], "sectors": [8, 8], "at_ns": [0, 10]})
    if isinstance(devices, dict):
        devices = {name: tiny for name in devices}
    if isinstance(options.get("seeds"), int) and options["seeds"] > 3:
        options["seeds"] = 3
    refused_or(lambda: fl.compare(devices, few, **options))
