"""Why requests took as long as they did, and time lines: as the program tells it, and for what only Python knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ftlab as fl

RUN = ("--device", "tiny", "--workload", "mixed-70-30-zipf", "--requests", "3000", "--precondition", "fill,age", "--seed", "7")


@pytest.fixture(scope="module")
def run() -> fl.Run:
    load = fl.workload("mixed-70-30-zipf", requests=3000)
    return fl.run(fl.device("tiny"), load, seed=7, precondition="fill,age")


def test_the_answer_is_that_of_the_program(run: fl.Run, program: Any, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program("run", *RUN, "-o", out, "-q", "--timeline", "slowest:read:3")
    told = program("why", out, "--slowest", 2, "--tail", "1%", "--json", "-q").stdout
    assert run.why(slowest=2, tail=0.01).document == json.loads(told)
    run.save_timeline(tmp_path / "mine.pftrace", "slowest:read:3")
    assert (tmp_path / "mine.pftrace").read_bytes() == (out / "timeline.pftrace").read_bytes()


def test_parts_sum_to_the_latency(run: fl.Run) -> None:
    why = run.why(slowest=3)
    assert [len(why.tails), len(why.requests)] == [2, 6]
    for one in why.requests:
        assert one.total_ns == one.facts["latency_ns"]
    slowest = why.requests[0]
    assert slowest.facts["latency_ns"] == run["read.latency.max"]
    again = run.why(request=slowest.facts["index"])
    assert again.requests == [slowest] and again.tails == []
    assert {one.facts["op"] for one in run.why(op="write").tails} == {"write"}
    assert "The slowest" in repr(why) and "sensing" in why._repr_html_()
    frame = pytest.importorskip("polars") and why.to_polars()
    assert sum(frame["ns"]) == sum(one.total_ns for one in [*why.tails, *why.requests])


def test_runs_that_only_python_knows_are_told_too(aged: fl.Device) -> None:
    class Oldest(fl.VictimPolicy):
        def choose(self, view: fl.VictimView, /) -> int:
            return 0

    columns = {"op": ["write", "read"] * 300, "lba": [8 * (at * 7 % 500) for at in range(600)], "sectors": [8] * 600}
    run = fl.run(aged.but(gc=Oldest()), fl.requests(columns, queue_depth=4))
    assert run.why().requests[0].total_ns == run["read.latency.max"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"request": -1}, "whole number"),
        ({"request": 10**9}, "no measured request has the index"),
        ({"slowest": 5000}, "slowest is a whole number"),
        ({"op": "erase"}, "no operation erase"),
        ({"tail": 0}, "tail is a share"),
        ({"tail": "1%"}, "tail is a share"),
    ],
)
def test_wrong_questions_are_refused(run: fl.Run, options: dict[str, Any], told: str) -> None:
    with pytest.raises(fl.UsageError, match=told):
        run.why(**options)


@pytest.mark.parametrize("when", ["", "5ms", "slowest:erase:3", "6ms..5ms"])
def test_wrong_times_write_nothing(run: fl.Run, when: str, tmp_path: Path) -> None:
    with pytest.raises(fl.UsageError, match="slowest:read:10"):
        run.save_timeline(tmp_path / "none", when)
    assert not list(tmp_path.iterdir())
