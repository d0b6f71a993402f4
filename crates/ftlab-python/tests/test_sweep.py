"""Sweeps from Python: the same bytes as the program's and a cluster's, and nothing is done twice."""

from __future__ import annotations

import filecmp
import threading
import time
from pathlib import Path

import ftlab as fl
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
