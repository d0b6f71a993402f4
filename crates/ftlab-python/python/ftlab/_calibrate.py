"""Calibration: parameters of a device that are not known, found from numbers that were measured on a real drive."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from ftlab._cluster import Place, check_place
from ftlab._device import Device, check_device
from ftlab._errors import ExperimentError, FtlabError, UsageError
from ftlab._load import Load, _check_name, check_load
from ftlab._progress import Bar, Listener
from ftlab._search import Score, Space, _check_space, mean, measured, propose
from ftlab._sweep import _name_of
from ftlab._table import pandas_of, polars_of
from ftlab._values import MOST, count_of, seed_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: The error of a trial without a number that was measured: worse than any that has it.
_WITHOUT = 10.0


@dataclass(frozen=True)
class Measurement:
    """Numbers that were measured on a real drive under a load.

    ``fl.Measurement(load, {"read.latency.p50": 82_000, "iops": 11_900}, {"precondition": "fill"})``
    """

    load: Load
    """What the drive was given."""
    numbers: Mapping[str, float]
    """The numbers by the keys of metrics, latencies in nanoseconds."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of :func:`run`, such as ``precondition``."""
    weight: float = 1.0
    """How much the numbers count, against those of other measurements."""
    name: str = ""
    """The name in errors; by default that of the load."""

    @property
    def label(self) -> str:
        """The name, or that of the load if there is none."""
        return self.name or self.load.name


@dataclass(frozen=True)
class Error:
    """What is left of a number: measured on the drive, simulated with the values that were found, and their ratio."""

    measurement: str
    metric: str
    measured: float
    simulated: float | None
    relative: float | None
    """The simulated number over the measured one, minus one."""


class Calibration:
    """The values that fit best, and the error that is left for each number."""

    def __init__(self, base: Device, values: Mapping[str, object], errors: list[Error], trials: int) -> None:
        self.values = dict(values)
        """The value of each unknown option."""
        self.errors = errors
        """For each number: ``measurement``, ``metric``, ``measured``, ``simulated``, and ``relative``, the ratio minus one."""
        self.trials = trials
        """How many trials could be run."""
        self._base = base

    @property
    def device(self) -> Device:
        """The device with these values."""
        return self._base.but(**self.values)  # type: ignore[arg-type]

    @property
    def median_error(self) -> float | None:
        """The median of the sizes of all relative errors."""
        sizes = sorted(abs(error.relative) for error in self.errors if error.relative is not None)
        if len(sizes) < len(self.errors) or not sizes:
            return None
        middle = len(sizes) // 2
        return sizes[middle] if len(sizes) % 2 else (sizes[middle - 1] + sizes[middle]) / 2

    def to_polars(self) -> pl.DataFrame:
        """The errors as a DataFrame of polars."""
        return polars_of([vars(error) for error in self.errors])

    def to_pandas(self) -> pd.DataFrame:
        """The errors as a DataFrame of pandas."""
        return pandas_of([vars(error) for error in self.errors])

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={_name_of(value)}" for name, value in self.values.items())
        rows = "\n".join(
            f"  {error.measurement}, {error.metric}: measured {error.measured:.6g}, simulated "
            + (f"{error.simulated:.6g} ({error.relative:+.1%})" if error.relative is not None else "unknown")
            for error in self.errors
        )
        return f"<Calibration {values}>\n{rows}"


def calibrate(
    measurements: Iterable[Measurement] | Measurement,
    base: Device,
    unknown: Space,
    /,
    *,
    trials: int = 100,
    seeds: int = 1,
    seed: int = 1,
    on: Place | None = None,
    progress: bool | None = None,
) -> Calibration:
    """Finds values of unknown options with which the simulated numbers come closest to those of a real drive.

    ``unknown`` has a range (:func:`between`) or a list of values for each option. What counts is the ratio of the
    numbers: half and double are equally far. Each trial runs each measurement with ``seeds`` seeds, whose mean counts.
    ``on`` says where, as for :func:`sweep`.
    """
    measurements = [measurements] if isinstance(measurements, Measurement) else list(measurements)
    if not measurements:
        raise UsageError("there are no measurements\n  remedy: give numbers of the drive, each with its load")
    for measurement in measurements:
        if not isinstance(measurement, Measurement):
            raise UsageError(f"{measurement!r} is no measurement\n  remedy: make one with fl.Measurement")
        check_device(base)
        check_load(measurement.load)
        if not measurement.numbers:
            raise UsageError(f"{measurement.label} has no numbers\n  remedy: give what was measured, such as {{\"iops\": 11_900}}")
        for metric, number in measurement.numbers.items():
            _check_positive(f"{metric} of {measurement.label}", number)
        _check_positive(f"the weight of {measurement.label}", measurement.weight)
        for option in measurement.options:
            _check_name(option)
    _check_space(unknown)
    common = (base, list(measurements), count_of("seeds", seeds, MOST), seed_of(seed))
    made: list[tuple[float, Mapping[str, object], list[dict[str, float | None]]]] = []
    failures: list[str] = []

    def score(chosen: Mapping[str, object], outcome: _Outcome) -> Score:
        simulated, failure = outcome
        if failure is not None:
            failures.append(failure)
            return None, {}
        error = _distance(measurements, simulated)
        made.append((error, chosen, simulated))
        return error, {}

    with Bar(progress, "trials") as bar:
        propose(unknown, True, count_of("trials", trials, MOST), seed, check_place(on), _simulated, common, score, bar, refines=True)
    if not made:
        # What is wrong with every trial is wrong with what they share.
        raise ExperimentError(f"all trials failed; the first one so:\n{failures[0]}")
    _, values, simulated = min(made, key=lambda trial: trial[0])
    return Calibration(base, values, _errors(measurements, simulated), len(made))


def _check_positive(what: str, number: object) -> None:
    """Refuses what is no positive number; those of NumPy are."""
    if isinstance(number, Real) and not isinstance(number, bool) and 0 < float(number) < math.inf:
        return
    raise UsageError(f"{what} is no positive number: {number!r}")


#: The metrics of each measurement, and why there are none, if so.
_Outcome = tuple[list[dict[str, "float | None"]], "str | None"]


def _simulated(
    common: tuple[Device, list[Measurement], int, int], chosen: dict[str, Any], listener: Listener | None
) -> _Outcome:
    """Runs a trial under each load, and returns the means of its metrics."""
    base, measurements, seeds, first = common
    try:
        return [_means(base, one, chosen, range(first, first + seeds), listener) for one in measurements], None
    except _UnknownMetric:
        # No trial can have it.
        raise
    except FtlabError as error:
        return [], str(error)


class _UnknownMetric(UsageError):
    """A measured number has a key that no run has."""


def _means(
    base: Device, measurement: Measurement, chosen: dict[str, Any], seeds: range, listener: Listener | None
) -> dict[str, float | None]:
    runs = [measured(base, measurement.load, measurement.options, chosen, seed, listener).summary for seed in seeds]
    unknown = [metric for metric in measurement.numbers if metric not in runs[0]]
    if unknown:
        known = ", ".join(runs[0])
        raise _UnknownMetric(f"a run has no metric {unknown[0]}\n  remedy: choose one of {known}")
    return {metric: mean([one[metric] for one in runs]) for metric in measurement.numbers}


def _distance(measurements: Sequence[Measurement], simulated: list[dict[str, float | None]]) -> float:
    """The weighted mean of the squared logarithms of the ratios."""
    sum_, weight = 0.0, 0.0
    for measurement, metrics in zip(measurements, simulated, strict=True):
        for metric, number in measurement.numbers.items():
            value = metrics[metric]
            error = _WITHOUT if value is None or value <= 0 else math.log(value / number)
            sum_ += measurement.weight * error**2
            weight += measurement.weight
    return sum_ / weight


def _errors(measurements: Sequence[Measurement], simulated: list[dict[str, float | None]]) -> list[Error]:
    errors = []
    for measurement, metrics in zip(measurements, simulated, strict=True):
        for metric, number in measurement.numbers.items():
            value = metrics[metric]
            relative = None if value is None else value / number - 1
            errors.append(Error(measurement.label, metric, float(number), value, relative))
    return errors
