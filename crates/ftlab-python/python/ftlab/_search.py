"""Search: options and policies of a device that serve a goal best, found by Optuna.

Trials are proposed in batches whose size does not depend on the machine, and told in their order. So a search has the
same outcome everywhere, with any number of threads and on a cluster.
"""

from __future__ import annotations

import importlib.util
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ftlab import _ftlab
from ftlab._cluster import Call, Place, check_place
from ftlab._device import Device, check_device
from ftlab._errors import ExperimentError, FtlabError, UsageError, missing
from ftlab._load import RUN_OPTIONS, Load, check_load
from ftlab._policy import Policy
from ftlab._progress import Bar, Listener
from ftlab._run import Run, watched_run
from ftlab._sweep import _name_of
from ftlab._table import pandas_of, polars_of
from ftlab._values import MOST, count_of, path_of, seed_of, text_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    from typing_extensions import Unpack

    from ftlab._options import RunOptions

#: How many trials are proposed together.
_BATCH = 4
#: A number with its unit.
_MEASURE = re.compile(r"\s*([-+]?[0-9_.]+(?:e[-+]?[0-9]+)?)\s*([a-zA-Z/%]*)\s*", re.IGNORECASE)
#: The digits of proposed numbers: enough for any optimum, and no noise in configurations.
_DIGITS = 4
#: A bound of a constraint, such as ``<= 2``.
_BOUND = re.compile(r"\s*(<=|>=|<|>)\s*(\S+)\s*")


@dataclass(frozen=True)
class Between:
    """All numbers between two ends, with their unit. Made by :func:`between`."""

    low: float
    """The smaller end."""
    high: float
    """The larger end."""
    unit: str
    """Their unit, such as ``%``."""
    whole: bool
    """Whether only whole numbers are meant."""
    log: bool
    """Whether numbers are searched by their ratios."""

    def text(self, number: float) -> str:
        """A number of the range as a configuration writes it."""
        if self.whole:
            return f"{round(number)}{self.unit}"
        return _plain(min(max(self._rounded(number), self.low), self.high)) + self.unit

    def _rounded(self, number: float) -> float:
        """A number in so many steps of the range, or of its ratios, that more would make no difference."""
        if self.log:
            return float(f"{number:.{_DIGITS}g}")
        step = 10.0 ** (math.floor(math.log10(self.high - self.low)) - _DIGITS + 1)
        # Ends that are next to each other leave nothing to round.
        return round(number / step) * step if step > 0 else number


def _plain(number: float) -> str:
    """A number without an exponent, as short as it can be."""
    return format(Decimal(f"{number:.15g}"), "f")


def between(low: str | float, high: str | float, *, log: bool = False) -> Between:
    """All numbers from ``low`` to ``high``, such as ``between("7%", "50%")``; whole ones if both ends are, without a unit.

    With ``log`` they are searched by their ratios, as is good for a range from 10 to 10,000.
    """
    ends = [_MEASURE.fullmatch(text_of(end)) for end in (low, high)]
    if None in ends:
        raise UsageError(f"{low!r} and {high!r} are no ends of a range\n  remedy: write two numbers with a unit, such as \"7%\"")
    (first, unit), (last, other) = (end.groups() for end in ends if end is not None)
    if unit != other:
        raise UsageError(f"{low!r} and {high!r} have different units\n  remedy: write both in one")
    least, most = _number(low, first), _number(high, last)
    if not least < most or (log and least <= 0):
        raise UsageError(f"{low!r} to {high!r} is no range\n  remedy: write the smaller end first; with log both above zero")
    whole = not unit and "." not in first + last and "e" not in (first + last).lower()
    return Between(least, most, unit, whole, log)


def _number(end: object, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageError(f"{end!r} has no number\n  remedy: write one such as 1_000 or \"7%\"")
    return number


#: What a search may choose from, by option.
Space = Mapping[str, "Between | Sequence[object]"]


@dataclass(frozen=True)
class Trial:
    """Something that was tried: the options, the metrics, or why there are none."""

    options: Mapping[str, object]
    """The values that were chosen."""
    metrics: Mapping[str, float | None]
    """The means of the metrics over the seeds."""
    goal: float | None
    """The value of the goal."""
    holds: bool
    """Whether the constraints are kept."""
    failure: str | None
    """Why the device could not be made or run, if so."""
    notes: Sequence[str] = ()
    """What a reader of the metrics needs."""


class Found:
    """The outcome of a search: the best trial that keeps the constraints, and all others."""

    def __init__(self, base: Device, trials: list[Trial], minimizes: bool) -> None:
        self.trials = trials
        """Everything that was tried, in its order."""
        self._base = base
        good = [trial for trial in trials if trial.holds and trial.goal is not None]
        pick = min if minimizes else max
        self.best: Trial | None = pick(good, key=lambda trial: trial.goal or 0.0) if good else None
        """The best trial, or None if no trial keeps the constraints."""

    @property
    def notes(self) -> Sequence[str]:
        """What a reader of the best trial's metrics needs. Read them."""
        return () if self.best is None else self.best.notes

    @property
    def device(self) -> Device:
        """The device with the best options."""
        if self.best is None:
            raise UsageError("no trial holds the constraints\n  remedy: give more trials, a wider space or weaker bounds")
        options = {name: value for name, value in self.best.options.items() if name not in RUN_OPTIONS}
        return self._base.but(**options)  # type: ignore[arg-type]

    def to_polars(self) -> pl.DataFrame:
        """The trials as a DataFrame of polars: options, the goal, and metrics."""
        return polars_of(self._columns())

    def to_pandas(self) -> pd.DataFrame:
        """The trials as a DataFrame of pandas."""
        return pandas_of(self._columns())

    def _columns(self) -> dict[str, list[Any]]:
        options = list(dict.fromkeys(name for trial in self.trials for name in trial.options))
        metrics = list(dict.fromkeys(name for trial in self.trials for name in trial.metrics))
        columns: dict[str, list[Any]] = {
            name: [_name_of(trial.options[name]) for trial in self.trials] for name in options
        }
        columns["goal"] = [trial.goal for trial in self.trials]
        columns["holds"] = [trial.holds for trial in self.trials]
        columns["failure"] = [trial.failure for trial in self.trials]
        return columns | {name: [trial.metrics.get(name) for trial in self.trials] for name in metrics}

    def __repr__(self) -> str:
        if self.best is None:
            return f"<Found nothing that holds in {len(self.trials)} trials>"
        options = ", ".join(f"{name}={_name_of(value)}" for name, value in self.best.options.items())
        return f"<Found {options}: {self.best.goal:.6g}, the best of {len(self.trials)} trials>"


def search(
    device: Device,
    load: Load,
    space: Space,
    /,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    subject_to: Mapping[str, str] | None = None,
    trials: int = 50,
    seeds: int = 1,
    seed: int = 1,
    on: Place | None = None,
    progress: bool | None = None,
    **options: Unpack[RunOptions],
) -> Found:
    """Searches options and policies for the best value of a metric, under constraints.

    ::

        fl.search(drive, load, {"over_provisioning": fl.between("7%", "40%"), "gc": ["greedy", "cost-benefit"]},
                  minimize="read.latency.p99", subject_to={"write_amplification.total": "<= 2"})

    The space has a range (:func:`between`) or a list of values for each option. ``subject_to`` has bounds of metrics.
    Each trial is run with ``seeds`` seeds, whose mean counts. ``on`` says where, as for :func:`sweep`.
    """
    check_device(device)
    check_load(load)
    if (minimize is None) == (maximize is None):
        raise UsageError("there is no goal\n  remedy: name the metric to minimize, or the one to maximize")
    if not isinstance(subject_to or {}, Mapping):
        raise UsageError(f"{subject_to!r} are no bounds\n  remedy: give a mapping of metrics to bounds such as \"<= 2\"")
    bounds = {metric: _bound(metric, text) for metric, text in (subject_to or {}).items()}
    _check_space(space)
    goal, minimizes = (minimize, True) if minimize is not None else (str(maximize), False)
    common = (device, load, dict(options), count_of("seeds", seeds, MOST), seed_of(seed))
    made: list[Trial] = []

    def score(chosen: Mapping[str, object], outcome: Outcome) -> Score:
        metrics, failure, notes = outcome
        if failure is None:
            for name in [goal, *bounds]:
                if name not in metrics:
                    raise UsageError(f"a run has no metric {name}\n  remedy: choose one of {', '.join(metrics)}")
        value = metrics.get(goal)
        misses = {metric: _miss(metrics.get(metric), bound) for metric, bound in bounds.items()}
        holds = failure is None and all(miss <= 0 for miss in misses.values())
        made.append(Trial(chosen, metrics, value, holds, failure, notes))
        return value, misses

    with Bar(progress, "trials") as bar:
        propose(space, minimizes, count_of("trials", trials, MOST), seed, check_place(on), _measure, common, score, bar)
    if all(trial.failure is not None for trial in made):
        # What is wrong with every trial is wrong with what they share.
        raise ExperimentError(f"all trials failed; the first one so:\n{made[0].failure}")
    return Found(device, made, minimizes)


#: The goal of a trial, if it is known, and by how much each constraint is missed.
Score = tuple["float | None", "dict[str, float]"]
#: The metrics of a trial, why there are none, if so, and notes.
Outcome = tuple[dict[str, "float | None"], "str | None", "list[str]"]


def propose(
    space: Space,
    minimizes: bool,
    trials: int,
    seed: int,
    place: Place,
    measure: Call,
    common: Any,
    score: Callable[[Mapping[str, object], Any], Score],
    bar: Bar,
    *,
    refines: bool = False,
    begin: Mapping[str, float] | None = None,
) -> None:
    """Proposes trials, measures them somewhere, and tells their scores in order.

    ``refines`` closes in on a single best place, for smooth goals of numbers alone: from the middle of the space, or
    from where ``begin`` says.
    """
    try:
        import optuna
    except ImportError:
        raise missing("optuna") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = _sampler(optuna, space, seed, refines, begin)
    study = optuna.create_study(direction="minimize" if minimizes else "maximize", sampler=sampler)
    with place.calls(measure, common) as calls:
        for begun in range(0, trials, _BATCH):
            asked = [study.ask() for _ in range(min(_BATCH, trials - begun))]
            chosen = [_chosen(trial, space) for trial in asked]
            for at, options in enumerate(chosen):
                calls.begin(at, options)
            outcomes: dict[int, Any] = {}
            while len(outcomes) < len(asked):
                outcomes |= dict(calls.finished())
            for at, trial in enumerate(asked):
                value, missed = score(chosen[at], outcomes[at])
                for name, miss in missed.items():
                    trial.set_constraint(name, miss)
                if value is None or not math.isfinite(value):
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(trial, value)
            if bar.listener is not None:
                bar.listener("trials", begun + len(asked), trials)


def _sampler(optuna: Any, space: Space, seed: int, refines: bool, begin: Mapping[str, float] | None) -> Any:
    """What proposes trials: CMA-ES for several numbers with a smooth goal, else a tree of Parzen estimators."""
    of_numbers = len(space) > 1 and all(isinstance(values, Between) for values in space.values())
    if not (refines and of_numbers):
        return optuna.samplers.TPESampler(seed=seed % 2**32, multivariate=True)
    if importlib.util.find_spec("cmaes") is None:
        raise missing("cmaes")
    common = {"seed": seed % 2**32, "n_startup_trials": _BATCH, "popsize": _BATCH}
    if begin is None:
        return optuna.samplers.CmaEsSampler(**common)
    with warnings.catch_warnings():
        # Optuna 6 moves `x0` elsewhere, and pyproject.toml asks for 5.
        warnings.simplefilter("ignore", FutureWarning)
        return optuna.samplers.CmaEsSampler(x0=dict(begin), **common)


def _chosen(trial: Any, space: Space) -> dict[str, object]:
    """The options that a trial is to have."""
    chosen: dict[str, object] = {}
    for name, values in space.items():
        if isinstance(values, Between):
            if values.whole:
                number = trial.suggest_int(name, int(values.low), int(values.high), log=values.log)
            else:
                number = trial.suggest_float(name, values.low, values.high, log=values.log)
            chosen[name] = values.text(number)
        else:
            # Optuna keeps names; the values themselves may be anything.
            chosen[name] = values[trial.suggest_categorical(name, list(range(len(values))))]
    return chosen


def _check_space(space: Space) -> None:
    if not isinstance(space, Mapping) or not space:
        raise UsageError("there is nothing to choose from\n  remedy: give a mapping of options to ranges or lists")
    paths: dict[str, str] = {}
    for name, values in space.items():
        path = name if name in RUN_OPTIONS else path_of(name)
        if path in paths:
            raise UsageError(f"{paths[path]} and {name} are the same option\n  remedy: leave one of them out")
        paths[path] = name
        if isinstance(values, Between):
            continue
        if isinstance(values, (str, Policy)) or not isinstance(values, Sequence) or not values:
            raise UsageError(f"{name} has no values to choose from\n  remedy: give a list, or fl.between(\"7%\", \"50%\")")


def _bound(metric: str, text: object) -> tuple[str, float]:
    found = _BOUND.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise UsageError(f"{text!r} is no bound for {metric}\n  remedy: write one such as \"<= 2\" or \"<= 5ms\"")
    sign, limit = found.groups()
    if limit[-1].isalpha():
        return sign, float(_ftlab.parse_duration(limit))
    return sign, _number(text, limit)


def _miss(value: float | None, bound: tuple[str, float]) -> float:
    """By how much a bound is missed, relative to it; at most zero where it holds."""
    sign, limit = bound
    if value is None:
        return 1.0
    missed = (value - limit if sign.startswith("<") else limit - value) / max(abs(limit), 1e-12)
    # A strict bound is missed at the limit itself.
    return missed if len(sign) == 2 or missed != 0 else 1e-9


def _measure(
    common: tuple[Device, Load, dict[str, Any], int, int], chosen: dict[str, Any], listener: Listener | None
) -> Outcome:
    """Runs a trial, and returns the means of its metrics over the seeds."""
    device, load, options, seeds, first = common
    try:
        runs = [measured(device, load, options, chosen, seed, listener) for seed in range(first, first + seeds)]
    except FtlabError as error:
        return {}, str(error), []
    metrics = [run.summary for run in runs]
    return {key: mean([one.get(key) for one in metrics]) for key in metrics[0]}, None, runs[0].notes


def measured(
    device: Device,
    load: Load,
    options: Mapping[str, Any],
    chosen: Mapping[str, Any],
    seed: int,
    listener: Listener | None,
) -> Run:
    """A run on the device with the chosen options."""
    of_device = {name: value for name, value in chosen.items() if name not in RUN_OPTIONS}
    of_run = {name: value for name, value in chosen.items() if name in RUN_OPTIONS}
    changed = device.but(**of_device)
    return watched_run(changed, load, seed, False, {**options, **of_run}, listener)


def mean(values: list[float | None]) -> float | None:
    """The mean, unless a value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None
