"""Search and calibration: they find what is there, and the same everywhere."""

from __future__ import annotations

import ftlab as fl
import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

DRIVE = fl.device("tiny")
LOAD = fl.workload("randwrite-4k", requests=1_500)
SPACE = {"over_provisioning": fl.between("15%", "60%"), "gc": ["greedy", "fifo"], "queue_depth": fl.between(1, 16)}


def test_a_search_finds_the_best_within_its_constraints() -> None:
    found = fl.search(
        DRIVE, LOAD, SPACE, maximize="iops", subject_to={"write_amplification.total": "<= 3"}, trials=24, precondition="fill,age"
    )
    assert found.best is not None and found.best.holds
    assert found.best.metrics["write_amplification.total"] <= 3
    good = [trial.goal for trial in found.trials if trial.holds and trial.goal is not None]
    assert found.best.goal == max(good) and len(found.trials) == 24
    # The best trial is what a run of its own gives.
    depth = int(str(found.best.options["queue_depth"]))
    run = fl.run(found.device, LOAD, precondition="fill,age", queue_depth=depth)
    assert run["iops"] == found.best.goal


def test_the_same_search_has_the_same_outcome_with_any_number_of_threads() -> None:
    def tried(threads: int) -> list[tuple[object, ...]]:
        found = fl.search(DRIVE, LOAD, SPACE, minimize="write.latency.p99", trials=12, on=fl.Local(threads))
        return [(*trial.options.values(), trial.goal) for trial in found.trials]

    assert tried(1) == tried(3)


def test_trials_that_are_refused_are_told_and_passed_over() -> None:
    found = fl.search(DRIVE, LOAD, {"over_provisioning": fl.between("1%", "40%")}, maximize="iops", trials=12)
    assert any(trial.failure for trial in found.trials) and found.best is not None


def test_calibration_finds_the_times_that_were_hidden() -> None:
    pytest.importorskip("cmaes")
    drive = DRIVE.but(timing_read="83us", timing_program="710us")
    measurements = []
    for name in ("randread-4k", "randwrite-4k"):
        load = fl.workload(name, requests=600, queue_depth=1)
        run = fl.run(drive, load, precondition="fill")
        measurements.append(fl.Measurement(load, {"iops": run["iops"]}, {"precondition": "fill"}))
    unknown = {"timing_read": fl.between("20us", "200us"), "timing_program": fl.between("200us", "2000us")}
    found = fl.calibrate(measurements, DRIVE, unknown, trials=120)
    read, program = (float(str(found.values[name]).removesuffix("us")) for name in unknown)
    assert read == pytest.approx(83, rel=0.02) and program == pytest.approx(710, rel=0.02)
    assert found.median_error is not None and found.median_error < 0.01
    assert [error.metric for error in found.errors] == ["iops", "iops"]


def test_several_starts_tell_what_the_numbers_determine() -> None:
    pytest.importorskip("cmaes")
    drive = DRIVE.but(timing_read="83us")
    load = fl.workload("randread-4k", requests=200, queue_depth=1)
    run = fl.run(drive, load, precondition="fill")
    measurement = fl.Measurement(load, {"report.host.iops": run["iops"]}, {"precondition": "fill"})
    # Reads alone say nothing of how long an erase takes.
    unknown = {"timing_read": fl.between("20us", "200us"), "timing_erase": fl.between("1ms", "9ms")}
    found = fl.calibrate(measurement, DRIVE, unknown, trials=60, starts=3)
    read, erase = found.parameters
    assert len(found.fits) == 3 and found.trials == 180
    assert read.determined and read.spread < 0.1 and read.shorter > 0.05 and read.longer > 0.05
    assert not erase.determined and erase.shorter == erase.longer == 0
    assert "timing_erase" in repr(found) and "NOT determined" in repr(found)
    # One start is what it was, and can't tell.
    alone = fl.calibrate(measurement, DRIVE, unknown, trials=60)
    assert alone.parameters == [] and alone.values == found.fits[0].values


def test_a_measured_number_may_be_any_number_of_the_document_and_nothing_else() -> None:
    for key in ("report.host", "report.host.nope"):
        with pytest.raises(fl.UsageError, match="number|metric"):
            fl.calibrate(fl.Measurement(LOAD, {key: 1}), DRIVE, {"timing_read": ["20us"]}, trials=1)


@pytest.mark.parametrize(
    ("space", "goal"),
    [
        ({}, {"maximize": "iops"}),
        ({"nope": [1]}, {"maximize": "iops"}),
        ({"gc": "greedy"}, {"maximize": "iops"}),
        ({"gc": ["greedy"]}, {}),
        ({"gc": ["greedy"]}, {"maximize": "iops", "minimize": "iops"}),
        ({"gc": ["greedy"]}, {"maximize": "nope"}),
        ({"gc": ["greedy"]}, {"maximize": "iops", "subject_to": {"iops": "lots"}}),
        ({"gc": ["greedy"]}, {"maximize": "iops", "trials": 0}),
        ({"gc": ["greedy"]}, {"maximize": "iops", "quedepth": 3}),
    ],
)
def test_what_makes_no_sense_is_refused(space: dict[str, object], goal: dict[str, object]) -> None:
    with pytest.raises(fl.FtlabError):
        fl.search(DRIVE, LOAD, space, **{"trials": 2, **goal})


def test_ranges_have_two_ends_of_one_unit() -> None:
    for low, high in [("7%", "2GiB"), ("50%", "7%"), ("x", "y"), (3, 3)]:
        with pytest.raises(fl.UsageError):
            fl.between(low, high)
    with pytest.raises(fl.UsageError):
        fl.between(0, 10, log=True)
    for low, high in [("7..%", "9%"), (".", 3), ("1.2.3us", "9us")]:
        with pytest.raises(fl.UsageError, match="remedy"):
            fl.between(low, high)


def test_numbers_of_a_range_stay_in_it_and_are_short() -> None:
    assert fl.between("1us", "9us").text(3.14159) == "3.142us"
    assert fl.between(1, 9).text(3.0) == "3"
    # The digits follow the range, not the number.
    assert fl.between("1000000us", "1000001us").text(1000000.123456) == "1000000.123us"
    assert fl.between("1us", "1000us", log=True).text(123.456) == "123.5us"
    for low, high in [("1.23456%", "9.87654%"), ("0.00001", "0.00002"), ("7%", "7.00001%")]:
        for log in (False, True):
            span = fl.between(low, high, log=log)
            for number in (span.low, span.high, (span.low + span.high) / 2):
                text = span.text(number)
                assert span.low <= float(text.removesuffix("%")) <= span.high and "e" not in text, (low, high, text)


@pytest.mark.parametrize(
    ("numbers", "weight"),
    [({}, 1.0), ({"iops": 0}, 1.0), ({"iops": float("nan")}, 1.0), ({"iops": "many"}, 1.0), ({"iops": True}, 1.0)]
    + [({"iops": 10}, weight) for weight in (0, -1, float("nan"), float("inf"), "2")],
)
def test_measurements_have_numbers_and_weight(numbers: dict[str, float], weight: float) -> None:
    with pytest.raises(fl.UsageError, match="number"):
        fl.calibrate([fl.Measurement(LOAD, numbers, weight=weight)], DRIVE, {"timing_read": fl.between("20us", "200us")}, trials=4)


def test_measurements_may_be_numbers_of_numpy() -> None:
    numbers = {"iops": np.int64(10_000), "write.latency.p50": np.float32(90_000)}
    fl.calibrate([fl.Measurement(LOAD, numbers, weight=np.float64(2))], DRIVE, {"timing_read": fl.between("20us", "200us")}, trials=4)
