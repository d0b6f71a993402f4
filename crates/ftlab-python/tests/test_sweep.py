"""Sweeps from Python: the same bytes as the program's and a cluster's, and nothing is done twice."""

from __future__ import annotations

import filecmp
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import ftlab as fl
import numpy as np
import pytest

DRIVE = fl.device("tiny")
LOAD = fl.workload("randwrite-4k", requests=800)
AXES = {"over_provisioning": fl.span("20%", "50%", 3), "gc": ["greedy", fl.gc.DChoices(draws=2)]}


def files(folder: Path) -> dict[str, bytes]:
    """All files but those that differ from run to run."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name != "run.json"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def test_a_sweep_holds_what_single_runs_give() -> None:
    swept = fl.sweep(DRIVE, LOAD, AXES, seeds=2, precondition="fill")
    assert len(swept) == 3 * 2 * 2
    rows = list(zip(*(swept[name] for name in (*swept.axes, "seed", "write_amplification.total")), strict=True))
    for spare, gc, seed, amplification in rows:
        policy = "greedy" if gc == "greedy" else fl.gc.DChoices(draws=2)
        device = DRIVE.but(over_provisioning=f"{spare:g}%", gc=policy)
        run = fl.run(device, LOAD, seed=int(seed), precondition="fill")
        assert run["write_amplification.total"] == amplification, (spare, gc, seed)


def test_axes_may_be_devices_loads_and_options_of_a_run() -> None:
    axes = {
        "device": {"tiny": DRIVE, "aged": fl.age(DRIVE, cache=False)},
        "load": {"writes": fl.workload("randwrite-4k"), "mine": fl.requests({"op": ["write"] * 50, "lba": [0] * 50, "sectors": [8] * 50}, queue_depth=1)},
        "requests": [40, 50],
        "both": {"a": {"scheduler": "fifo", "accesses": True}, "b": {"scheduler": "read-first"}},
    }
    swept = fl.sweep(DRIVE, None, axes)
    assert len(swept) == 16
    assert set(swept["device"]) == {"tiny", "aged"} and set(swept["both"]) == {"a", "b"}


def test_a_folder_is_that_of_the_program_and_goes_on(tmp_path: Path) -> None:
    out = tmp_path / "out"
    swept = fl.sweep(DRIVE, LOAD, AXES, seeds=2, output=out)
    assert (out / "sweep.csv").read_text() == swept.csv
    assert (out / "sweep.parquet").read_bytes() == swept.parquet
    before = (out / "runs/1/seed-1/result.json").stat().st_mtime_ns
    again = fl.sweep(DRIVE, LOAD, AXES, seeds=2, output=out)
    assert again.csv == swept.csv
    assert (out / "runs/1/seed-1/result.json").stat().st_mtime_ns == before
    with pytest.raises(fl.FtlabError, match="force="):
        fl.sweep(DRIVE, LOAD, AXES, seeds=3, output=out)
    more = fl.sweep(DRIVE, LOAD, AXES, seeds=3, output=out, force=True)
    assert len(more) == 18


def test_a_policy_in_python_is_swept() -> None:
    class Oldest(fl.VictimPolicy):
        def choose(self, view: fl.VictimView) -> int:
            return 0

    swept = fl.sweep(DRIVE, LOAD, {"gc": ["fifo", Oldest()]}, precondition="fill")
    assert list(swept["ftl.gc.victim"]) == ["fifo", "Oldest"]
    fifo, oldest = swept["write_amplification.total"]
    assert fifo == oldest


def test_policies_of_an_axis_replace_those_of_a_device() -> None:
    class Oldest(fl.VictimPolicy):
        def choose(self, view: fl.VictimView) -> int:
            return 0

    class Last(fl.VictimPolicy):
        def choose(self, view: fl.VictimView) -> int:
            return len(view.blocks) - 1

    policies = {"greedy": "greedy", "fifo": "fifo", "oldest": Oldest()}
    devices = {"plain": DRIVE, "last": DRIVE.but(gc=Last())}
    for axes in ({"gc": policies, "device": devices}, {"device": devices, "gc": policies}):
        swept = fl.sweep(DRIVE, LOAD, axes, precondition="fill")
        found = dict(zip(zip(swept["device"], swept["ftl.gc.victim"], strict=True), swept["iops"], strict=True))
        for policy, chosen in policies.items():
            run = fl.run(DRIVE.but(gc=chosen), LOAD, precondition="fill")
            assert {found[device, policy] for device in devices} == {run["iops"]}, policy
    alone = fl.sweep(DRIVE, LOAD, {"device": devices}, precondition="fill")
    assert list(alone["iops"]) == [fl.run(device, LOAD, precondition="fill")["iops"] for device in devices.values()]


@pytest.mark.parametrize("name", ["device", "workload", "image", "quedepth"])
def test_unknown_options_of_a_sweep_are_refused(name: str) -> None:
    with pytest.raises(fl.UsageError, match=f"no option {name}"):
        fl.sweep(DRIVE, LOAD, {"gc": ["greedy"]}, **{name: "tiny"})  # type: ignore[arg-type]


SCRIPT = """
import sys
from pathlib import Path
import ray
import ftlab as fl

class Youngest(fl.VictimPolicy):
    def __init__(self, step):
        self.step = step

    def choose(self, view):
        return len(view.blocks) - self.step

out = Path(sys.argv[1])
drive, load = fl.device("tiny"), fl.workload("randwrite-4k", requests=800)
axes = {"gc": ["greedy", Youngest(1)], "queue_depth": [1, 8]}
ray.init(num_cpus=1, log_to_driver=False)
for on, name in ((None, "here"), (fl.Ray(), "there")):
    fl.sweep(drive, load, axes, on=on, output=out / name, precondition="fill")
fl.sweep(drive, load, axes, output=out / "there", precondition="fill")
found = fl.search(drive, load, {"gc": ["greedy", Youngest(1)]}, maximize="iops", trials=4, on=fl.Ray())
assert found.best is not None
"""


@pytest.mark.slow
def test_a_policy_of_a_script_has_the_same_fingerprint_on_a_cluster(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    script = tmp_path / "study.py"
    script.write_text(SCRIPT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, script, tmp_path], env=environment, text=True, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert files(tmp_path / "there") == files(tmp_path / "here")
    inputs = [
        {file.parent.parent.name: json.loads(file.read_text())["inputs_blake3"] for file in (tmp_path / name).rglob("run.json")}
        for name in ("here", "there")
    ]
    # Those of four runs, and of the sweep.
    assert len(inputs[0]) == 5 and inputs[0] == inputs[1]


@pytest.mark.parametrize(
    "axes",
    [
        {},
        {"nope": [1]},
        {"gc": []},
        {"gc": "greedy"},
        {"gc": ["gredy"]},
        {"over_provisioning": fl.span("20%", "50%", 1)},
        {"over_provisioning": fl.span("50%", "2GiB", 4)},
        {"device": [1, 2]},
        {"device": {"a": 3}},
        {"load": {"a": DRIVE}},
        {"queue_depth": [0]},
        {"gc": [object()]},
    ],
)
def test_wrong_axes_are_refused(axes: dict[str, object]) -> None:
    with pytest.raises(fl.FtlabError):
        fl.sweep(DRIVE, LOAD, axes)


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes_though_a_node_dies(tmp_path: Path) -> None:
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    axes = {"gc": ["greedy", "fifo", "cost-benefit"], "queue_depth": [1, 2, 4, 8, 16, 32]}
    load = fl.workload("randwrite-4k", requests=30_000)
    aged = fl.age(DRIVE, cache=False)
    local = fl.sweep(aged, load, axes, seeds=2, output=tmp_path / "local")
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    lost = cluster.add_node(num_cpus=1)
    try:
        ray.init(address=cluster.address, log_to_driver=False)
        assert len(ray.nodes()) == 2

        def kill() -> None:
            # In the midst: after the first results, and before the last.
            while not list(tmp_path.glob(".ftlab-unfinished-*/runs/*/seed-*/result.json")):
                time.sleep(0.02)
            cluster.remove_node(lost, allow_graceful=False)
            killed.append(len(list(tmp_path.glob(".ftlab-unfinished-*/runs/*/seed-*/result.json"))))

        killed: list[int] = []
        killer = threading.Thread(target=kill)
        killer.start()
        far = fl.sweep(aged, load, axes, seeds=2, on=fl.Ray(), output=tmp_path / "far")
        killer.join()
        assert killed and killed[0] < 36, "the node died while runs were left"
        until = time.monotonic() + 30
        while sum(node["Alive"] for node in ray.nodes()) > 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert sum(node["Alive"] for node in ray.nodes()) == 1
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert files(tmp_path / "far") == files(tmp_path / "local")
    assert far.page == local.page
    assert filecmp.cmp(tmp_path / "far/sweep.parquet", tmp_path / "local/sweep.parquet", shallow=False)


class Failing(fl.VictimPolicy):
    def choose(self, view: fl.VictimView, /) -> int:
        raise RuntimeError("no idea")


class Place(fl.VictimPolicy):
    """A policy whose attribute is too long for its text to show a change in the middle."""

    def __init__(self, last: bool) -> None:
        self.weights = np.zeros(2001)
        self.weights[1000] = last

    def choose(self, view: fl.VictimView, /) -> int:
        return len(view.valid) - 1 if self.weights[1000] else int(np.argmin(view.valid))


def closure(last: bool) -> fl.VictimPolicy:
    class Chosen(fl.VictimPolicy):
        def choose(self, view: fl.VictimView, /) -> int:
            return len(view.valid) - 1 if last else int(np.argmin(view.valid))

    return Chosen()


WRITES = fl.workload("randwrite-4k", requests=800)


def amplification(swept: fl.Sweep) -> list[float]:
    return list(swept["write_amplification.total"])


def alone(device: fl.Device, load: fl.Load = WRITES, **options: str) -> float | None:
    return fl.run(device, load, precondition="fill,age", **options)["write_amplification.total"]


def test_what_a_policy_raises_comes_out_of_a_sweep() -> None:
    with pytest.raises(RuntimeError, match="no idea"):
        fl.sweep(fl.device("tiny"), WRITES, {"gc": ["fifo", Failing()]}, precondition="fill,age")


@pytest.mark.parametrize("make", [Place, closure])
def test_policies_that_differ_share_nothing(make: Callable[[bool], fl.VictimPolicy], tmp_path: Path) -> None:
    drive = fl.device("tiny")
    values = {str(last): make(last) for last in (False, True)}
    swept = fl.sweep(drive, WRITES, {"gc": values}, precondition="fill,age")
    expected = [alone(drive.but(gc=policy)) for policy in values.values()]
    assert amplification(swept) == expected and expected[0] != expected[1]
    for policy, number in zip(values.values(), expected, strict=True):
        again = fl.sweep(drive, WRITES, {"gc": {"same": policy}}, precondition="fill,age", output=tmp_path / "kept", force=True)
        assert amplification(again) == [number]


def test_a_value_of_an_axis_replaces_the_base() -> None:
    new = fl.device("tiny")
    aged = fl.age(new)
    load = WRITES.but(replay="closed")
    swept = fl.sweep(aged, load, {"device": {"new": new, "aged": aged}})
    assert amplification(swept) == [fl.run(one, load)["write_amplification.total"] for one in (new, aged)]
    policy = new.but(gc=Place(True))
    swept = fl.sweep(policy, WRITES, {"gc": ["fifo", "greedy"]}, precondition="fill,age")
    assert amplification(swept) == [alone(new.but(gc=name)) for name in ("fifo", "greedy")]
    assert alone(policy.but(set={"ftl.gc.victim": "greedy"})) == alone(new)
    # The pace of a load goes with it, and gives way to what is said explicitly.
    slow = fl.workload("randread-4k", requests=200, queue_depth=1)
    fast = fl.workload("randread-4k", requests=200, queue_depth=16)
    swept = fl.sweep(new, slow, {"load": {"slow": slow, "fast": fast}}, precondition="fill")
    assert list(swept["iops"]) == [fl.run(new, load, precondition="fill")["iops"] for load in (slow, fast)]
    swept = fl.sweep(new, None, {"load": {"slow": slow, "fast": fast}}, precondition="fill", queue_depth=4)
    assert swept["iops"][0] == swept["iops"][1] == fl.run(new, slow, precondition="fill", queue_depth=4)["iops"]


@pytest.mark.parametrize("threads", [0, -1, 1.5, 5000, True])
def test_threads_are_counted(threads: object) -> None:
    with pytest.raises(fl.UsageError, match="threads"):
        fl.Local(threads)  # type: ignore[arg-type]
