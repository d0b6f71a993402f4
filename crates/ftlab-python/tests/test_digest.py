"""The version of a policy in Python changes with what it does, and with nothing else."""

from __future__ import annotations

import copy
import functools
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ftlab as fl

WEIGHT = 1


def helper(view: fl.VictimView) -> int:
    return int(np.argmin(view.valid)) * WEIGHT


class Plain(fl.VictimPolicy):
    def __init__(self, **state: Any) -> None:
        vars(self).update(state)

    def choose(self, view: fl.VictimView, /) -> int:
        return helper(view)


def with_attribute(value: object) -> fl.VictimPolicy:
    return type("Made", (Plain,), {"W": value})()


def with_default(value: object) -> fl.VictimPolicy:
    class Made(fl.VictimPolicy):
        def choose(self, view: fl.VictimView, /, w: object = value) -> int:
            return 0

    return Made()


def with_closure(value: object) -> fl.VictimPolicy:
    class Made(fl.VictimPolicy):
        def choose(self, view: fl.VictimView, /) -> int:
            return 0 if value else 1

    return Made()


def with_static(value: object) -> fl.VictimPolicy:
    class Made(fl.VictimPolicy):
        @staticmethod
        def weight() -> object:
            return value

        def choose(self, view: fl.VictimView, /) -> int:
            return 0

    return Made()


def with_slot(value: object) -> fl.VictimPolicy:
    class Made(fl.VictimPolicy):
        __slots__ = ("w",)

        def choose(self, view: fl.VictimView, /) -> int:
            return 0

    made = Made()
    made.w = value  # type: ignore[attr-defined]
    return made


def with_partial(value: object) -> fl.VictimPolicy:
    return Plain(call=functools.partial(helper, value))


def with_lambda(value: object) -> fl.VictimPolicy:
    return Plain(call=lambda: value)


MAKERS: list[Callable[[object], fl.VictimPolicy]] = [
    lambda value: Plain(value=value),
    lambda value: Plain(values=[1, {"a": {value, "b"}}]),
    lambda value: Plain(values=np.array([1, value])),
    with_attribute,
    with_default,
    with_closure,
    with_static,
    with_slot,
    with_partial,
    with_lambda,
]


@pytest.mark.parametrize("maker", range(len(MAKERS)))
def test_the_version_follows_the_values(maker: int) -> None:
    make = MAKERS[maker]
    assert make(1).version == make(1).version
    assert make(1).version != make(2).version


def test_the_version_follows_globals_and_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Plain().version
    monkeypatch.setitem(globals(), "WEIGHT", 2)
    assert Plain().version != before
    monkeypatch.undo()
    assert Plain().version == before
    monkeypatch.setattr(Plain, "W", True, raising=False)
    assert Plain().version != before


def test_copies_have_the_same_version() -> None:
    policy = Plain(value=3, table=np.arange(5))
    assert copy.deepcopy(policy).version == policy.version == pickle.loads(pickle.dumps(policy)).version


def test_what_has_no_digest_is_unlike_anything_each_time() -> None:
    policy = Plain(file=sys.stderr)
    assert policy.version != policy.version


def test_versions_do_not_depend_on_the_process() -> None:
    script = (
        "import ftlab as fl\nclass P(fl.VictimPolicy):\n    W = {'a', 'b', 'c', 'd'}\n"
        "    def choose(self, view):\n        return len(self.W)\nprint(P().version)"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            text=True,
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


def test_points_never_share_the_device_of_another_policy() -> None:
    class Same(fl.VictimPolicy):
        def __init__(self, last: bool) -> None:
            self.last = last

        @property
        def version(self) -> str:
            return "claims to be the same"

        def choose(self, view: fl.VictimView, /) -> int:
            return len(view.valid) - 1 if self.last else int(np.argmin(view.valid))

    drive, load = fl.device("tiny"), fl.workload("randwrite-4k", requests=1_000)
    policies = {"first": Same(False), "last": Same(True)}
    swept = fl.sweep(drive, load, {"gc": policies}, precondition="fill,age:limit=2")
    alone = [fl.run(drive.but(gc=one), load, precondition="fill,age:limit=2")["iops"] for one in policies.values()]
    assert list(swept["iops"]) == alone and alone[0] != alone[1]
