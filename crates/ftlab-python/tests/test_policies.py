"""Policies in Python decide as the simulator's own do, and what goes wrong in them comes out of the run."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import Any

import ftlab as fl
import numpy as np
import pytest

LOAD = fl.workload("randwrite-4k", requests=20_000)
MIXED = fl.workload("mixed-70-30-zipf", requests=20_000)


class Fewest(fl.VictimPolicy):
    """Greedy; of equal ones the block that was filled first."""

    def choose(self, view: fl.VictimView) -> int:
        return int(np.argmin(view.valid))


class Oldest(fl.VictimPolicy):
    def choose(self, view: fl.VictimView) -> int:
        assert view.plane >= 0 and len(view.blocks) == len(view.valid) == len(view.erases)
        assert view.valid.max() < view.pages_per_block
        return 0


class Lru(fl.WriteBufferPolicy):
    def __init__(self) -> None:
        self.pages: OrderedDict[int, None] = OrderedDict()

    def inserted(self, page: int) -> None:
        self.pages[page] = None

    def written(self, page: int) -> None:
        self.pages.move_to_end(page)

    def read(self, page: int) -> None:
        self.pages.move_to_end(page)

    def removed(self, page: int) -> None:
        del self.pages[page]

    def choose(self) -> int | None:
        return next(iter(self.pages), None)


class ReadFirst(fl.SchedulerPolicy):
    def rank(self, kind: str, origin: str, die: int, at_ns: int, sequence: int) -> int:
        return sequence if (kind, origin) == ("read", "host") else sequence + (1 << 63)


class ByHost(fl.StreamsPolicy):
    def stream(self, page: int, host_stream: int) -> int:
        return host_stream % 2


def metrics(device: fl.Device, load: fl.Load, **options: object) -> dict[str, float | None]:
    return dict(fl.run(device, load, precondition="fill", **options).summary)


def test_the_order_of_a_buffer_is_that_of_the_built_in_policy() -> None:
    base = fl.device("tiny", cache="lru", cache_capacity="1MiB")
    assert metrics(base.but(cache=Lru()), MIXED) == metrics(base, MIXED)


def test_ranks_are_those_of_the_built_in_scheduler() -> None:
    base = fl.device("tiny")
    assert metrics(base.but(scheduler=ReadFirst()), MIXED) == metrics(base.but(scheduler="read-first"), MIXED)
    assert metrics(base.but(scheduler=ReadFirst()), MIXED) != metrics(base, MIXED)


def test_streams_are_those_of_the_host() -> None:
    base = fl.device("tiny", streams=fl.streams.ByHostStream(host_streams=2))
    several = fl.workload("name = 'x'\n[[phase]]\nname = 'x'\nwrites = '100%'\nsize = '4KiB'\nstreams = 4\nrequests = 20000\n")
    assert metrics(base.but(streams=ByHost()), several) == metrics(base, several)


def test_victims_are_collected_as_they_are_chosen() -> None:
    base = fl.device("tiny", gc="fifo")
    assert metrics(base.but(gc=Oldest()), LOAD) == metrics(base, LOAD)
    fewest, greedy = metrics(base.but(gc=Fewest()), LOAD), metrics(base.but(gc="greedy"), LOAD)
    # They differ in which of two equal blocks they take.
    assert fewest["write_amplification.total"] == pytest.approx(greedy["write_amplification.total"], rel=0.01)


def test_results_name_the_policy_and_repeat() -> None:
    device = fl.device("tiny", gc=Fewest())
    one, other = (fl.run(device, LOAD, precondition="fill", seed=3) for _ in range(2))
    assert one.result_json == other.result_json
    assert "ftl.gc.victim: Fewest, a policy from outside the simulator" in one.document["assumed"]
    assert fl.run(device.but(gc="greedy"), LOAD).document["assumed"] == ["addresses: as is"]


class Counting(fl.VictimPolicy):
    """Chooses the first block, then the second, and so on: its state decides."""

    def __init__(self) -> None:
        self.asked = 0

    def choose(self, view: fl.VictimView) -> int:
        self.asked += 1
        return self.asked % len(view.blocks)


def test_runs_do_not_share_the_state_of_a_policy() -> None:
    policy = Counting()
    device = fl.device("tiny", gc=policy)
    one, other = (fl.run(device, LOAD, precondition="fill") for _ in range(2))
    assert one.result_json == other.result_json
    assert policy.asked == 0


def test_power_cuts_copy_a_policy_with_its_device() -> None:
    device = fl.device("tiny", gc=Counting(), recovery="scan")
    plain = fl.run(device, LOAD, precondition="fill")
    cut = fl.run(device, LOAD, precondition="fill", cut_power="200ms")
    assert cut.document["power_cuts"]["cuts"]
    assert cut["gc.copied_pages"] == plain["gc.copied_pages"]


def test_an_aged_device_takes_another_policy() -> None:
    aged = fl.age(fl.device("tiny"), cache=False)
    assert fl.run(aged.but(gc=Fewest()), LOAD).complete
    with pytest.raises(fl.UsageError, match="can't be saved"):
        fl.age(fl.device("tiny", gc=Fewest()), cache=False)


class Raises(fl.VictimPolicy):
    def choose(self, view: fl.VictimView) -> int:
        raise LookupError("of its own")


class Answers(fl.VictimPolicy):
    def __init__(self, answer: object) -> None:
        self.answer = answer

    def choose(self, view: fl.VictimView) -> int:
        return self.answer  # type: ignore[return-value]


def test_what_a_policy_raises_comes_out_of_the_run() -> None:
    device = fl.device("tiny", gc=Raises())
    with pytest.raises(LookupError, match="of its own"):
        fl.run(device, LOAD, precondition="fill")
    with pytest.raises(LookupError):
        fl.compare({"a": fl.device("tiny"), "b": device}, LOAD, seeds=2, precondition="fill")
    # The next run is not affected.
    assert fl.run(device.but(gc="greedy"), LOAD, precondition="fill").complete


@pytest.mark.parametrize("answer", [10**6, -1, 1.5, "first", [], 2**70])
def test_impossible_answers_are_refused(answer: object) -> None:
    with pytest.raises(fl.UsageError, match="candidates"):
        fl.run(fl.device("tiny", gc=Answers(answer)), LOAD, precondition="fill")


class TooMany(fl.StreamsPolicy):
    def stream(self, page: int, host_stream: int) -> int:
        return 7


class Absent(fl.WriteBufferPolicy):
    def choose(self) -> int:
        return 2**31


def test_impossible_streams_and_pages_are_refused() -> None:
    with pytest.raises(fl.UsageError, match="the device has 1"):
        fl.run(fl.device("tiny", streams=TooMany()), LOAD)
    with pytest.raises(fl.UsageError, match="not in the buffer"):
        fl.run(fl.device("tiny", cache="lru", cache_capacity="1MiB").but(cache=Absent()), LOAD)
    with pytest.raises(fl.UsageError, match="cache.policy"):
        fl.run(fl.device("tiny", cache="none").but(cache=Lru()), LOAD)


def test_a_policy_belongs_to_one_keyword() -> None:
    with pytest.raises(fl.UsageError, match="takes no Fewest"):
        fl.device("tiny", scheduler=Fewest())


def test_a_simulator_asks_the_policy_and_tells_its_errors() -> None:
    def fill(simulator: fl.Simulator) -> None:
        pages = simulator.capacity_bytes // 4096
        rng = np.random.default_rng(1)
        for _ in range(6):
            lba = rng.integers(0, pages, pages).astype(np.uint64) * 8
            simulator.submit({"op": np.full(pages, 1), "lba": lba, "sectors": np.full(pages, 8)})
            simulator.advance()

    with fl.open(fl.device("tiny", gc=Fewest())) as simulator:
        fill(simulator)
        assert simulator.report["gc"]["erased_blocks"] > 0
    with fl.open(fl.device("tiny", gc=Raises())) as simulator, pytest.raises(LookupError):
        fill(simulator)


class Misspelt(fl.VictimPolicy):
    def chose(self, view: fl.VictimView) -> int:
        return 0


class Declines(fl.VictimPolicy):
    def choose(self, view: fl.VictimView, /) -> None:
        return None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"scheduler": fl.gc.Fifo()}, "takes no Fifo, which decides ftl.gc.victim"),
        ({"gc": fl.gc.Greedy}, "takes a policy, not its class"),
        ({"gc": Declines}, "takes a policy, not its class"),
        ({"scheduler": Declines()}, "takes no Declines, which decides ftl.gc.victim"),
        ({"gc": Misspelt()}, "Misspelt decides nothing\n.*choose .did you mean it by chose"),
        ({"gc": fl.VictimPolicy()}, "VictimPolicy decides nothing"),
    ],
)
def test_policies_that_decide_nothing_there_are_refused(tiny: fl.Device, options: dict[str, Any], told: str) -> None:
    with pytest.raises(fl.UsageError, match=told):
        tiny.but(**options)


def test_a_policy_that_declines_is_named_when_the_device_stands_still(tiny: fl.Device) -> None:
    with pytest.raises(fl.ExperimentError, match="chose no block .* times, although there were candidates"):
        fl.run(tiny.but(gc=Declines()), fl.workload("randwrite-4k"), precondition="fill")


def test_devices_with_other_policies_are_other_devices(tiny: fl.Device, tmp_path: Path) -> None:
    load = fl.workload("randwrite-4k", requests=200)
    mine = tiny.but(gc=Declines())
    assert mine.title == "tiny with Declines"
    compared = fl.compare({"a": tiny, "b": mine}, load, seeds=2)
    assert not any("same device" in note for note in compared.notes)
    fl.run(mine, load).save(tmp_path / "mine")
    assert (tmp_path / "mine/config.toml").read_text().startswith("# Not as below: ftl.gc.victim: Declines")
