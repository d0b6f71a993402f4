"""Uses of the package as users write them, for mypy and pyright. It is checked, never run."""

import ftlab as fl
import numpy as np
import pandas as pd
import polars as pl
from typing_extensions import assert_type


def readme() -> None:
    drive = fl.device("tlc-32g", over_provisioning="28%", gc=fl.gc.CostBenefit())
    aged = fl.age(drive, seed=1)
    run = fl.run(aged, fl.workload("mixed-70-30-zipf", requests=500_000), seed=7)
    print(run["read.latency.p99"])
    run.latencies.to_polars()


def devices() -> None:
    plain = fl.device("tiny", gc="d-choices", draws=4, cache_ops_read=True, blocks_per_plane=64)
    plain = fl.device("own.toml", set={"ftl.gc.start": 4}, scheduler=fl.scheduler.ReadFirst(), suspend="program-and-erase")
    plain = plain.but(scheduler="fifo", weights=[1, 2])
    assert_type(plain.capacity_bytes, int)
    assert_type(plain.history, list[str])
    fl.load("aged.ftlab", gc="fifo").save("other.ftlab", force=True)
    assert_type(fl.age(plain, precondition="fill", cache=False), fl.Device)


def loads() -> None:
    trace = fl.trace("own.csv", address="fold", time_unit="us", skip_malformed=True)
    assert_type(trace.but(queue_depth=32, replay="closed"), fl.Load)
    fl.fio("own.fio", variables={"BLOCK": "4k"}, requests=100)
    fl.requests({"op": ["read"], "lba": [0], "sectors": [8]}, queue_depth=1)
    fl.requests(pl.DataFrame({"op": [0], "lba": [0], "sectors": [8]}), replay="asap")
    own: dict[str, str | int] = {"op": 2, "offset": "lba:512", "size": "4KiB"}
    fl.requests({"lba": [0]}, columns=own, op={"0": "read"}, queue_depth=1)
    fl.requests({"lba": [0]}, columns="op=read,offset=lba,size=4KiB", op={0: "read"}, queue_depth=1)
    fl.trace("own.csv", columns=own, op="0=read")


def descriptions() -> None:
    found = fl.inspect(fl.trace("own.csv"), accesses=True)
    assert_type(found.character.reuse.reuse_pages.quantile(0.5), int | None)
    assert_type(found.character.working_set.to_polars(), pl.DataFrame)
    assert_type(found.mean_requests_per_s, float | None)
    if found.accesses is not None:
        assert_type(found.accesses.reads.only_read, int)
    compared = fl.compare_loads(found, fl.requests({"op": [0], "lba": [0], "sectors": [8]}), progress=False)
    assert_type(compared.ratio("mean_gap_ns"), float | None)
    assert_type(compared.second, fl.Inspection)


def results(aged: fl.Device) -> None:
    run = fl.run(aged, fl.workload("randread-4k"), seed=2, records=True, accesses=True)
    mean = run.summary["read.latency.mean"]
    assert_type(mean, float | None)
    assert_type(run.requests.to_polars(), pl.DataFrame)
    assert_type(run.requests.to_pandas(), pd.DataFrame)
    slow: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]" = run.requests["latency_ns"] > 1_000_000
    print(slow.sum(), run.requests.units["latency_ns"], run.complete, run.notes)
    run.plot.latency("read").savefig("tail.pdf")
    fl.plot.latency({"a": run, "b": run}).savefig("both.pdf")
    run.save("result", force=True)


def comparisons(aged: fl.Device) -> None:
    variants = {"greedy": aged.but(gc="greedy"), "fifo": aged.but(gc="fifo")}
    comparison = fl.compare(variants, fl.workload("randwrite-4k"), seeds=3, requests=1000)
    estimate, low, high = comparison.change("fifo", "write_amplification.total")
    assert_type((estimate, low, high), tuple[float | None, float | None, float | None])
    comparison.save_page("page.html")


def stepping(aged: fl.Device) -> None:
    with fl.open(aged, seed=3) as simulator:
        assert_type(simulator.submit({"op": ["write"], "offset": [0], "size": [4096]}), range)
        done = simulator.advance(by="5ms")
        assert_type(done, fl.Table)
        while simulator.outstanding:
            print(simulator.advance_to_completion().to_numpy()["latency_ns"].mean(), simulator.now_ns)
    try:
        fl.device("nowhere.toml")
    except fl.ConfigError as error:
        print(error)


def sweeps(drive: fl.Device) -> None:
    load = fl.workload("randwrite-4k")
    swept = fl.sweep(drive, load, {"over_provisioning": fl.span("7%", "50%", 8), "gc": ["greedy"]}, seeds=3, queue_depth=4)
    assert_type(swept.csv, str)
    swept.plot("iops").savefig("swept.svg")
    fl.sweep("own.toml", on=fl.Ray("auto"), output="swept")
    found = fl.search(drive, load, {"gc": ["greedy", "fifo"]}, maximize="iops", subject_to={"iops": ">= 1"}, trials=3)
    assert_type(found.device, fl.Device)
    measured = fl.Measurement(load, {"iops": 10_000}, {"precondition": "fill"})
    fitted = fl.calibrate([measured], drive, {"timing_read": fl.between("20us", "200us")}, on=fl.Local(2))
    assert_type(fitted.median_error, float | None)


class Fewest(fl.VictimPolicy):
    def choose(self, view: fl.VictimView, /) -> int:
        return int(np.argmin(view.valid))


def policies(drive: fl.Device) -> None:
    fl.run(drive.but(gc=Fewest()), fl.workload("randwrite-4k"))
