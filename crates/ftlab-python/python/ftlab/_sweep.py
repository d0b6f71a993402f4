"""Sweeps: a device, a load and some axes; every combination of their values, with several seeds."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ftlab import _ftlab
from ftlab._cluster import Place, check_place
from ftlab._device import Device, check_device
from ftlab._errors import UsageError
from ftlab._load import Load, _check_name, _text, check_load
from ftlab._outside import OutsidePolicy, PythonPolicy, outside_of
from ftlab._policy import Policy
from ftlab._progress import Bar
from ftlab._table import Table
from ftlab._values import MOST, confidence_of, count_of, path_of, seed_of, settings, text_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from ftlab._options import RunOptions

#: What a point sets: device, options of the device, options of a run, load, image, policies in Python.
_Point = tuple[Any, ...]


@dataclass(frozen=True)
class Span:
    """Evenly spaced values between two ends, both included. Made by :func:`span`."""

    low: str
    """The first value."""
    high: str
    """The last value."""
    steps: int
    """How many values there are."""
    log: bool
    """Whether their ratios are equal, rather than their differences."""


def span(low: str | float, high: str | float, steps: int, *, log: bool = False) -> Span:
    """``steps`` values from ``low`` to ``high``, such as ``span("7%", "50%", 8)``; with ``log`` at equal ratios."""
    return Span(text_of(low), text_of(high), count_of("steps", steps, MOST), log)


class _PointSpec:
    """Something that a point sets, as it is pickled: the compiled values are made where they are needed."""

    def __init__(
        self,
        device: Device | None = None,
        sets: list[tuple[str, str]] | None = None,
        run: list[tuple[str, str]] | None = None,
        load: Load | None = None,
        python: list[tuple[str, PythonPolicy]] | None = None,
    ) -> None:
        self.device = device
        self.sets = sets or []
        self.run = run or []
        self.load = load
        # The versions of policies are taken here: a class that is sent elsewhere leaves its source behind.
        self.of_device = [] if device is None else device._outside()
        self.policies = outside_of(python or [])

    def given(self, explicit: Collection[str]) -> _Given:
        """What the compiled side takes. The pace of a load gives way to options that were set explicitly."""
        pace = [] if self.load is None else [(name, _text(value)) for name, value in self.load._pace.items() if name not in explicit]
        device = self.device
        return _Given(
            device=None if device is None else _GivenDevice(device._config, device._image, _policies(self.of_device)),
            sets=self.sets,
            run=pace + self.run,
            load=None if self.load is None else self.load._load,
            policies=_policies(self.policies),
        )


@dataclass(frozen=True)
class _GivenDevice:
    """A device as the compiled half takes it."""

    config: _ftlab.Config
    image: _ftlab.Image | None
    policies: _ftlab.RunOptions | None


@dataclass(frozen=True)
class _Given:
    """A point as the compiled half takes it."""

    device: _GivenDevice | None
    sets: list[tuple[str, str]]
    run: list[tuple[str, str]]
    load: _ftlab.Load | None
    policies: _ftlab.RunOptions | None


def _policies(outside: list[OutsidePolicy]) -> _ftlab.RunOptions | None:
    return _ftlab.RunOptions([], None, outside) if outside else None


@dataclass(frozen=True)
class _Named:
    name: str
    seeds: int
    first_seed: int
    confidence: float
    prepares_base: bool


class SweepSpec:
    """A sweep as it is given; it can be sent to other machines."""

    def __init__(
        self,
        named: _Named | None,
        base: _PointSpec | None,
        axes: list[tuple[str, Any]],
        file: tuple[str, int | None, int | None] | None = None,
        explicit: Collection[str] = (),
    ) -> None:
        self.named = named
        self.base = base
        self.axes = axes
        self.file = file
        self.explicit = frozenset(explicit)

    def plan(self) -> _ftlab.SweepPlan:
        """The sweep, checked and ready to run."""
        if self.file is not None:
            return _ftlab.SweepPlan.file(*self.file)
        assert self.named is not None and self.base is not None
        axes = [_given(name, values, self.explicit) for name, values in self.axes]
        return _ftlab.SweepPlan.of_values(self.named, self.base.given(self.explicit), axes)


def _given(name: str, values: Any, explicit: Collection[str]) -> tuple[Any, ...]:
    """An axis as the compiled half takes it."""
    if isinstance(values, Span):
        return name, f"{values.low}..{values.high}", values.steps, values.log
    if values and isinstance(values[0], tuple):
        return name, [(value, point.given(explicit)) for value, point in values]
    return name, values


#: The axes that set something else than an option.
_DEVICE, _LOAD = "device", "load"


def _axis(name: str, values: object) -> tuple[str, Any]:
    """An axis: an option with its values, or names of devices, loads or policies."""
    # Values that set several things at once need no option.
    several = isinstance(values, Mapping) and all(isinstance(value, Mapping) for value in values.values())
    is_option = name not in (_DEVICE, _LOAD) and not several
    run = name in _ftlab.RunOptions.names()
    path = name if run or not is_option else path_of(name)
    if isinstance(values, Span):
        if not is_option:
            raise UsageError(f"the axis {name} takes no numbers\n  remedy: give a mapping of names to {name}s")
        return path, values
    if isinstance(values, Mapping):
        return path, [(str(key), _point(name, path, value)) for key, value in values.items()]
    if hasattr(values, "tolist"):
        # Arrays of NumPy, series of pandas.
        values = cast("list[object]", cast(Any, values).tolist())
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise UsageError(
            f"the axis {name} has no values\n  remedy: give a list, a span such as fl.span(\"7%\", \"50%\", 8), or a mapping "
            "of names to values"
        )
    if is_option and not any(isinstance(value, (Policy, PythonPolicy, Mapping)) for value in values):
        to_text = _text if run else text_of
        return path, [to_text(value) for value in values]
    return path, [(_name_of(value), _point(name, path, value)) for value in values]


def _name_of(value: object) -> str:
    if isinstance(value, Policy):
        options = ", ".join(f"{path.split('.')[-1]}={text}" for path, text in value._settings()[1:])
        return f"{value.name} ({options})" if options else value.name
    if isinstance(value, (PythonPolicy, Device, Load)):
        return value.name
    return text_of(value)


def _point(name: str, path: str, value: object) -> _PointSpec:
    """What a value of an axis sets."""
    if isinstance(value, Mapping):
        return _several(value)
    if name == _DEVICE and isinstance(value, Device):
        return _PointSpec(device=value)
    if name == _LOAD and isinstance(value, Load):
        return _PointSpec(load=value)
    if name in (_DEVICE, _LOAD) or isinstance(value, (Device, Load)):
        raise UsageError(f"the axis {name} takes no {value!r}")
    if isinstance(value, PythonPolicy):
        if value._python_seam != path:
            raise UsageError(f"the axis {name} takes no {type(value).__name__}")
        return _PointSpec(python=[(path, value)])
    if path in _ftlab.RunOptions.names():
        return _PointSpec(run=[(path, _text(value))])
    return _PointSpec(sets=settings({name: value}))


def _several(options: Mapping[str, object]) -> _PointSpec:
    """A value that sets several things at once."""
    names = _ftlab.RunOptions.names()
    run = [(name, _text(value)) for name, value in options.items() if name in names]
    rest = {name: value for name, value in options.items() if name not in names and name not in (_DEVICE, _LOAD)}
    python = [(path_of(name), value) for name, value in rest.items() if isinstance(value, PythonPolicy)]
    device = None if options.get(_DEVICE) is None else check_device(options[_DEVICE])
    load = None if options.get(_LOAD) is None else check_load(options[_LOAD])
    return _PointSpec(device, settings(rest), run, load, python)


class Sweep(Table):
    """The table of a sweep: a row for each point and seed; the axes, the seed, and a column for each metric."""

    def __init__(self, plan: _ftlab.SweepPlan, rows: _ftlab.SweepRows) -> None:
        super().__init__(plan.table(rows))
        self._files: dict[str, bytes] = plan.files(rows)
        self._notes = plan.notes(rows)
        self.axes = plan.axes
        """The columns of the axes."""

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers needs, and what many of the runs note. Read them."""
        return self._notes

    @property
    def document(self) -> dict[str, Any]:
        """``sweep.json``: the axes, the metrics, and the mean and interval of each point."""
        document: dict[str, Any] = json.loads(self._files["sweep.json"])
        return document

    @property
    def page(self) -> str:
        """The page with curves for each metric: HTML that fetches nothing."""
        return self._files["report.html"].decode()

    @property
    def csv(self) -> str:
        """The table as CSV, to the byte as ``ftlab sweep`` writes it."""
        return self._files["sweep.csv"].decode()

    @property
    def parquet(self) -> bytes:
        """The table as Parquet, to the byte as ``ftlab sweep`` writes it."""
        return self._files["sweep.parquet"]

    def save_page(self, file: str | os.PathLike[str]) -> None:
        """Writes the page."""
        with open(file, "w", encoding="utf-8") as to:
            to.write(self.page)

    def plot(self, metric: str, ax: Axes | None = None) -> Figure:
        """A curve of a metric over the first axis, with intervals; a line for each value of the others.

        :func:`ftlab.figure` has more to choose.
        """
        from ftlab._paper import figure

        return figure(self, metric=metric, ax=ax)


def sweep(
    device: Device | str | os.PathLike[str],
    load: Load | None = None,
    axes: Mapping[str, Any] | None = None,
    /,
    *,
    seeds: int | None = None,
    seed: int | None = None,
    confidence: float = 0.95,
    prepare: str = "each",
    name: str = "sweep",
    on: Place | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: bool | None = None,
    **options: Unpack[RunOptions],
) -> Sweep:
    """Runs every combination of the values of some axes, each with several seeds.

    ::

        fl.sweep(drive, load, {"over_provisioning": fl.span("7%", "50%", 8), "gc": ["greedy", "cost-benefit"]}, seeds=3)

    An axis is an option of the device or of a run with its values (a list, or :func:`span`), or ``device`` or ``load``
    with a mapping of names to devices or loads. A value may be a mapping that sets several options at once. A file of
    ``ftlab sweep`` may be given in place of device, load and axes.

    Points that may share a preparation do; ``prepare="base"`` prepares the device once for each seed, without the axes.
    ``output`` keeps all results in a folder, where an interrupted sweep goes on, and a complete one is only read.
    ``on`` says where the runs are performed: here by default, or on :class:`Ray`. The results are the same to the byte.
    """
    spec = _spec(device, load, axes, seeds, seed, confidence, prepare, name, options)
    plan = spec.plan()
    rows = _ftlab.SweepRows()
    place = check_place(on)
    if output is None:
        with Bar(progress, "runs", place.scale) as bar:
            place.perform(spec, plan, None, rows, bar)
        return Sweep(plan, rows)
    path = os.fspath(output)
    if not force:
        done = plan.done_in(path)
        if done is not None:
            return Sweep(plan, done)
    folder = _ftlab.SweepFolder(plan, path, force)
    try:
        with Bar(progress, "runs", place.scale) as bar:
            place.perform(spec, plan, folder, rows, bar)
        folder.publish(plan, rows)
    except BaseException:
        folder.keep()
        raise
    return Sweep(plan, rows)


def _spec(
    device: Device | str | os.PathLike[str],
    load: Load | None,
    axes: Mapping[str, Any] | None,
    seeds: int | None,
    seed: int | None,
    confidence: float,
    prepare: str,
    name: str,
    options: Mapping[str, object],
) -> SweepSpec:
    if not isinstance(device, Device):
        if load is not None or axes is not None or options:
            raise UsageError("the file of a sweep says what is run\n  remedy: leave the load, axes and options out")
        many = None if seeds is None else count_of("seeds", seeds, MOST)
        return SweepSpec(None, None, [], (os.fspath(device), many, None if seed is None else seed_of(seed)))
    if not isinstance(axes, Mapping) or not axes:
        raise UsageError("there are no axes\n  remedy: give a mapping of options to their values")
    if load is None and _LOAD not in axes:
        raise UsageError("there is no load\n  remedy: give one for all points, or an axis named load")
    if load is not None:
        check_load(load)
    if prepare not in ("each", "base"):
        raise UsageError(f"prepare is each or base, not {prepare!r}")
    for key in options:
        _check_name(key)
    run = [(key, _text(value)) for key, value in options.items() if value is not None]
    named = _Named(name, count_of("seeds", 1 if seeds is None else seeds, MOST), seed_of(1 if seed is None else seed), confidence_of(confidence), prepare == "base")
    given = [_axis(axis, values) for axis, values in axes.items()]
    explicit = {key for key, _ in run} | {axis for axis, _ in given}
    # An axis of loads replaces the load, with its pace.
    common = None if _LOAD in axes else load
    return SweepSpec(named, _PointSpec(device, [], run, common), given, explicit=explicit)
