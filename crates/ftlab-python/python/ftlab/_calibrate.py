"""Calibration: parameters of a device that are not known, found from numbers that were measured on a real drive."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from ftlab._cluster import Place, check_place
from ftlab._device import Device, check_device
from ftlab._errors import ExperimentError, FtlabError, UsageError
from ftlab._load import Load, _check_name, check_load
from ftlab._progress import Bar, Listener
from ftlab._search import Between, Score, Space, _check_space, mean, measured, propose
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
    """The numbers by the keys of metrics, or of any value of the document that a run writes, such as
    ``report.host.queues.1.read.latency_ns.p99``; latencies in nanoseconds."""
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


@dataclass(frozen=True)
class Fit:
    """What one start of a calibration found."""

    values: Mapping[str, object]
    """The value of each unknown option."""
    distance: float
    """The root of the weighted mean square of the logarithms of the ratios: 0.1 is about 10 % a number."""


@dataclass(frozen=True)
class Determined:
    """How well the numbers determine one option."""

    option: str
    low: object
    """The least value of the starts that fit about as well as the best."""
    high: object
    """The greatest of them."""
    spread: float
    """Between them, as a share of the range that was searched."""
    shorter: float | None
    """By how much the distance grows if the value alone falls by a tenth; None if that could not be run."""
    longer: float | None
    """By how much it grows if the value alone rises by a tenth."""
    determined: bool
    """Whether good starts agree, and a tenth more and a tenth less both fit worse."""

    def __str__(self) -> str:
        moved = ", ".join("unknown" if one is None else f"{one:+.4f}" for one in (self.shorter, self.longer))
        verdict = "determined" if self.determined else "NOT determined by these numbers"
        return f"{self.option}: {self.low} to {self.high}; a tenth less and more: {moved}; {verdict}"


class Calibration:
    """The values that fit best, and the error that is left for each number."""

    def __init__(
        self,
        base: Device,
        values: Mapping[str, object],
        errors: list[Error],
        trials: int,
        fits: Sequence[Fit] = (),
        parameters: Sequence[Determined] = (),
    ) -> None:
        self.values = dict(values)
        """The value of each unknown option."""
        self.errors = errors
        """For each number: ``measurement``, ``metric``, ``measured``, ``simulated``, and ``relative``, the ratio minus one."""
        self.trials = trials
        """How many trials could be run, without those of ``parameters``."""
        self.fits = list(fits)
        """What each start found, in their order. See :class:`Fit`."""
        self.parameters = list(parameters)
        """How well each number of the space is determined, if there were several starts. See :class:`Determined`."""
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
        told = "".join(f"\n  {parameter}" for parameter in self.parameters)
        return f"<Calibration {values}>\n{rows}{told}"


def calibrate(
    measurements: Iterable[Measurement] | Measurement,
    base: Device,
    unknown: Space,
    /,
    *,
    trials: int = 100,
    seeds: int = 1,
    seed: int = 1,
    starts: int = 1,
    on: Place | None = None,
    progress: bool | None = None,
) -> Calibration:
    """Finds values of unknown options with which the simulated numbers come closest to those of a real drive.

    ``unknown`` has a range (:func:`between`) or a list of values for each option. What counts is the ratio of the
    numbers: half and double are equally far. Each trial runs each measurement with ``seeds`` seeds, whose mean counts.
    ``on`` says where, as for :func:`sweep`.

    One start can't say whether other values would fit as well. With ``starts`` the search begins anew so many times,
    from other places of the space, each with so many ``trials``. Then each number of the best values is moved by a
    tenth, and :attr:`Calibration.parameters` says which of them the measurements determine.
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
    starts, trials = count_of("starts", starts, MOST), count_of("trials", trials, MOST)
    place = check_place(on)
    made: list[_Made] = []
    fits: list[Fit] = []
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
        for start, begin in enumerate(_beginnings(unknown, starts, seed)):
            before = len(made)
            propose(unknown, True, trials, seed + start, place, _simulated, common, score, bar, refines=True, begin=begin)
            if len(made) > before:
                error, values, _ = min(made[before:], key=lambda trial: trial[0])
                fits.append(Fit(dict(values), math.sqrt(error)))
    if not made:
        # What is wrong with every trial is wrong with what they share.
        raise ExperimentError(f"all trials failed; the first one so:\n{failures[0]}")
    best = min(made, key=lambda trial: trial[0])
    parameters = _determined(unknown, fits, best, measurements, common, place) if starts > 1 else []
    return Calibration(base, best[1], _errors(measurements, best[2]), len(made), fits, parameters)


#: A trial: the mean square that is left, the values, and the numbers.
_Made = tuple[float, Mapping[str, object], "list[dict[str, float | None]]"]
#: Starts whose distance is this much longer than the shortest, or a hundredth in all, fit about as well.
_AS_GOOD = 1.1
_ANYWAY = 0.01
#: Good starts that lie within this share of the range agree.
_AGREE = 0.1
#: By how much values are moved.
_MOVED = 0.1


def _beginnings(space: Space, starts: int, seed: int) -> list[dict[str, float] | None]:
    """Where each start begins: the first in the middle, the others apart in each number."""
    draw = random.Random(seed)
    places: list[dict[str, float]] = [{} for _ in range(starts - 1)]
    for name, span in space.items():
        if not isinstance(span, Between):
            continue
        parts = list(range(len(places)))
        draw.shuffle(parts)
        for begin, part in zip(places, parts, strict=True):
            number = _at_share((part + draw.random()) / len(places), span)
            begin[name] = round(number) if span.whole else number
    return [None, *places]


def _at_share(share: float, span: Between) -> float:
    """The number at a place of its range."""
    if span.log:
        return float(min(span.low * (span.high / span.low) ** share, span.high))
    return span.low + share * (span.high - span.low)


def _determined(
    unknown: Space,
    fits: Sequence[Fit],
    best: _Made,
    measurements: Sequence[Measurement],
    common: tuple[Device, list[Measurement], int, int],
    place: Place,
) -> list[Determined]:
    """How well the numbers of the space are determined: by the starts that fit well, and by moving each alone."""
    distance, values = math.sqrt(best[0]), best[1]
    good = [fit for fit in fits if fit.distance <= max(distance * _AS_GOOD, distance + _ANYWAY)]
    ranges = {name: span for name, span in unknown.items() if isinstance(span, Between)}
    moves = [
        {**values, name: span.text(_number_of(values[name], span) * factor)}
        for name, span in ranges.items()
        for factor in (1 - _MOVED, 1 + _MOVED)
    ]
    grown: dict[int, float | None] = {}
    with place.calls(_simulated, common) as calls:
        for at, options in enumerate(moves):
            calls.begin(at, options)
        while len(grown) < len(moves):
            for at, (simulated, failure) in calls.finished():
                grown[at] = None if failure is not None else math.sqrt(_distance(measurements, simulated)) - distance
    parameters = []
    for at, (name, span) in enumerate(ranges.items()):
        found = sorted((fit.values[name] for fit in good), key=lambda value: _number_of(value, span))
        share = _share(_number_of(found[-1], span), span) - _share(_number_of(found[0], span), span)
        shorter, longer = grown[2 * at], grown[2 * at + 1]
        # At an end of the range a value that can't move tells nothing, so it counts as no growth.
        worse = all(growth is not None and growth > 0 for growth in (shorter, longer))
        parameters.append(Determined(name, found[0], found[-1], share, shorter, longer, worse and len(good) > 1 and share <= _AGREE))
    return parameters


def _number_of(value: object, span: Between) -> float:
    """The number in a value of a range."""
    return float(str(value).removesuffix(span.unit) if span.unit else str(value))


def _share(number: float, span: Between) -> float:
    """Where a number lies in its range: from 0 to 1, by ratios if they are searched."""
    if span.log:
        return math.log(number / span.low) / math.log(span.high / span.low)
    return (number - span.low) / (span.high - span.low)


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
    runs = [measured(base, measurement.load, measurement.options, chosen, seed, listener) for seed in seeds]
    unknown = [metric for metric in measurement.numbers if metric not in runs[0]]
    if unknown:
        known = ", ".join(runs[0].summary)
        raise _UnknownMetric(f"a run has no metric {unknown[0]}\n  remedy: choose one of {known}")
    for metric in measurement.numbers:
        value = runs[0][metric]
        if value is not None and not isinstance(value, Real):
            raise _UnknownMetric(f"{metric} is no number\n  remedy: name one of its parts: {value!r}")
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
