"""Devices stepped by hand: the same as a run of the same requests, whatever the batches."""

from typing import Any

import numpy as np
import pytest

import ftlab as fl

ROWS = 1500
PARTS = ["host_queue", "submission", "front_end", "link", "buffer", "admission", "translation", "queue", "gc", "bus", "cell"]


@pytest.fixture(scope="module")
def columns() -> dict[str, Any]:
    random = np.random.default_rng(3)
    at = np.cumsum(random.integers(0, 200_000, ROWS)).astype(np.uint64)
    at[0] = 0
    return {
        "op": random.choice(2, ROWS, p=[0.6, 0.4]).astype(np.uint8),
        "lba": (random.integers(0, 6000, ROWS) * 8).astype(np.uint64),
        "sectors": np.full(ROWS, 8, np.uint32),
        "at_ns": at,
    }


@pytest.fixture(scope="module")
def whole(tiny: fl.Device, columns: dict[str, Any]) -> dict[str, Any]:
    return fl.run(tiny, fl.requests(columns), records=True).requests.to_numpy()


def stepped(tables: list[fl.Table]) -> dict[str, Any]:
    return {name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns}


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    shared = [name for name in expected if name in found and name not in ("phase", "measured")]
    assert {"index", "latency_ns", "op", "lba", "cell_ns", "gc_ns"} <= set(shared)
    for name in shared:
        assert np.array_equal(found[name], expected[name]), name


@pytest.mark.parametrize("batch", [1, 7, 100, ROWS])
def test_batches_make_no_difference(
    tiny: fl.Device, columns: dict[str, Any], whole: dict[str, Any], batch: int
) -> None:
    with fl.open(tiny) as simulator:
        tables = []
        for first in range(0, ROWS, batch):
            some = {name: values[first : first + batch] for name, values in columns.items()}
            numbers = simulator.submit(some)
            assert numbers == range(first, min(first + batch, ROWS))
            # Up to the last arrival; a device that is further could not take the next batch.
            tables.append(simulator.advance(until=int(some["at_ns"][-1])))
        tables.append(simulator.advance())
        assert simulator.outstanding == 0
        same(stepped(tables), whole)


def test_small_steps_make_no_difference(tiny: fl.Device, columns: dict[str, Any], whole: dict[str, Any]) -> None:
    with fl.open(tiny) as simulator:
        simulator.submit(columns)
        tables = []
        while simulator.outstanding:
            before = simulator.now_ns
            tables.append(simulator.advance(by="1ms"))
            assert simulator.now_ns == before + 1_000_000
        same(stepped(tables), whole)


def test_completion_by_completion(tiny: fl.Device, columns: dict[str, Any], whole: dict[str, Any]) -> None:
    with fl.open(tiny) as simulator:
        simulator.submit(columns)
        tables = []
        while simulator.outstanding:
            done = simulator.advance_to_completion()
            assert len(done) >= 1
            assert set((done["arrived_ns"] + done["latency_ns"]).tolist()) == {simulator.now_ns}
            tables.append(done)
        assert len(simulator.advance_to_completion(until="10s")) == 0
        same(stepped(tables), whole)


def test_parts_sum_to_the_latency(tiny: fl.Device, columns: dict[str, Any]) -> None:
    with fl.open(tiny) as simulator:
        simulator.submit(columns)
        done = simulator.advance()
        total = sum(done[f"{part}_ns"] for part in PARTS)
        assert np.array_equal(total, done["latency_ns"])


def test_requests_without_times_come_now(tiny: fl.Device) -> None:
    with fl.open(tiny) as simulator:
        assert len(simulator.advance(until="5ms")) == 0
        assert simulator.now_ns == 5_000_000
        assert simulator.submit({"op": ["write"], "offset": [4096], "size": [4096]}) == range(0, 1)
        done = simulator.advance()
        assert done["arrived_ns"].tolist() == [5_000_000]
        assert done["lba"].tolist() == [8]


def test_times_in_texts_and_numbers(tiny: fl.Device) -> None:
    with fl.open(tiny) as simulator:
        for until, now in (("1us", 1000), (2000, 2000), (np.int64(3000), 3000), ("2ms", 2_000_000)):
            simulator.advance(until=until)  # type: ignore[arg-type]
            assert simulator.now_ns == now
        simulator.advance(by="1ms")
        assert simulator.now_ns == 3_000_000


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ({"until": 10}, "beyond 10 ns"),
        ({"until": -1}, "is no time"),
        ({"until": 2**64}, "is no time"),
        ({"until": 1.5}, "is no time"),
        ({"until": True}, "is no time"),
        ({"until": "soon"}, "is no span of time"),
        ({"until": "5"}, "is no span of time"),
        ({"by": "-1ms"}, "is no span of time"),
        ({"by": 2**64 - 1}, "a device lives until"),
        ({"until": 2**64 - 1}, "a device lives until"),
        ({"by": 2**62}, "a device lives until"),
        ({"until": "5ms", "by": "5ms"}, "not both"),
    ],
)
def test_wrong_times(tiny: fl.Device, times: dict[str, Any], message: str) -> None:
    with fl.open(tiny) as simulator:
        simulator.advance(until="1ms")
        with pytest.raises(fl.UsageError, match=message):
            simulator.advance(**times)
        assert simulator.now_ns == 1_000_000


def test_a_wrong_request_submits_none(tiny: fl.Device) -> None:
    with fl.open(tiny) as simulator:
        beyond = simulator.capacity_bytes // 512
        assert simulator.capacity_bytes == tiny.capacity_bytes
        simulator.submit({"op": ["write"], "lba": [beyond - 8], "sectors": [8]})
        with pytest.raises(fl.UsageError, match=f"request 1: .* outside the device, which has {beyond}"):
            simulator.submit({"op": ["write", "write"], "lba": [0, beyond - 7], "sectors": [8, 8]})
        simulator.advance(until="1s")
        with pytest.raises(fl.UsageError, match="request 0: .* comes too late"):
            simulator.submit({"op": ["write"], "lba": [0], "sectors": [8], "at_ns": [10]})
        assert (simulator.submitted, simulator.outstanding) == (1, 0)


def test_a_closed_simulator_says_so(tiny: fl.Device) -> None:
    simulator = fl.open(tiny)
    simulator.close()
    simulator.close()
    for ask in (lambda: simulator.now_ns, simulator.advance, lambda: simulator.report, simulator.into_device):
        with pytest.raises(fl.UsageError, match="closed"):
            ask()


def test_reports_and_states(aged: fl.Device, columns: dict[str, Any]) -> None:
    with fl.open(aged) as simulator:
        before = simulator.state
        simulator.submit(columns)
        done = simulator.advance()
        report = simulator.report
        assert before != simulator.state
        assert before == aged.state
        reads = report["host"]["reads"] if "reads" in report["host"] else report["host"]
        assert isinstance(reads, dict)
        assert len(done) == ROWS


def test_a_stepped_device_goes_on(aged: fl.Device, columns: dict[str, Any]) -> None:
    simulator = fl.open(aged)
    simulator.submit(columns)
    with pytest.raises(fl.UsageError, match="1500 requests are outstanding"):
        simulator.into_device()
    simulator.advance()
    later = simulator.into_device()
    assert later.is_aged and later != aged
    assert later.state != aged.state
    with pytest.raises(fl.UsageError, match="closed"):
        simulator.advance()
    load = fl.workload("randread-4k", requests=200)
    assert fl.run(later, load).result_json == fl.run(later, load).result_json


def test_the_seed_matters_and_suffices(aged: fl.Device, columns: dict[str, Any]) -> None:
    device = aged.but(gc="d-choices")
    found = []
    for seed in (1, 1, 2):
        with fl.open(device, seed=seed) as simulator:
            simulator.submit(columns)
            found.append(simulator.advance()["latency_ns"].tolist())
    assert found[0] == found[1]
    with pytest.raises(fl.UsageError, match="a seed is a whole number"):
        fl.open(device, seed=-1)


def test_a_stepped_device_keeps_its_history_and_policies(aged: fl.Device) -> None:
    class First(fl.VictimPolicy):
        def choose(self, view: fl.VictimView, /) -> int:
            return 0

    with fl.open(aged.but(gc=First())) as simulator:
        simulator.submit({"op": ["write"] * 3, "lba": [0, 8, 16], "sectors": [8] * 3})
        simulator.advance()
        later = simulator.into_device()
    assert any("ageing" in line or "aged" in line for line in later.history), later.history
    assert "3 requests of a caller" in later.history[-1]
    assert later.title.endswith("with First")
