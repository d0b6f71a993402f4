"""Figures as wide as a column of a paper, as vector graphics, and legible without colours.

``run.plot.latency()`` draws one run, ``fl.plot.latency({"fifo": first, "read-first": second})`` several. Each function
draws on ``ax`` if it is given, and returns the figure of matplotlib: ``run.plot.latency().savefig("tail.pdf")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ftlab._errors import UsageError, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ftlab._run import Run
    from ftlab._sweep import Sweep
    from ftlab._table import Table

    _Numbers = NDArray[np.float64]
    #: Gives the sums of a column over each window that is shown.
    _SumsOf = Callable[[str], _Numbers]

#: The width of a column of a paper, in inches, and the usual height of a figure.
_SIZE = (3.4, 2.3)
#: The colours of Okabe and Ito, which colour-blind readers can tell apart.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
#: Lines differ in their dashes too, for print without colours.
_DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
#: Points differ in their shapes.
_MARKERS = "osD^vPX"
#: The windows of time that a figure shows at most.
_WINDOWS = 150
#: The letters of a legend that fit in a line; the sample of a line and the space around a name take some too.
_LEGEND, _SAMPLE = 56, 7
#: How far apart lines stand that share a name on an axis, all together, in the space of a name.
_ASIDE = 0.5
#: Scales of nanoseconds, the largest first.
_TIMES = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]
#: The operations in tables, by their codes.
_OPS = {"read": 0, "write": 1, "trim": 2, "flush": 3}

# The names are as matplotlib has them.
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": f"cycler('color', {_COLOURS})",
    "lines.linewidth": 1.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "figure.figsize": _SIZE,
    "figure.constrained_layout.use": True,
}


@contextmanager
def style() -> Generator[None]:
    """The style of these figures, for your own: ``with fl.plot.style(): figure, axes = plt.subplots()``.

    Save a figure within it, too, to keep its text as text in PDF and SVG.
    """
    try:
        import matplotlib
    except ImportError:
        raise missing("matplotlib") from None
    from ftlab._figure import SAVED, teach_notebook

    teach_notebook()
    with matplotlib.rc_context(cast("Any", _STYLE | SAVED)):
        yield


@contextmanager
def _drawn(ax: Axes | None) -> Generator[Axes]:
    """Axes to draw on, in the style of papers."""
    with style():
        if ax is not None:
            yield ax
            return
        from ftlab._figure import PaperFigure

        yield PaperFigure().subplots()


def _code(op: str) -> int:
    if op not in _OPS:
        raise UsageError(f"there is no operation {op}\n  remedy: choose one of {', '.join(_OPS)}")
    return _OPS[op]


def _named(runs: Mapping[str, Run] | Run) -> Mapping[str, Run]:
    """Runs by their names in a figure."""
    from ftlab._run import Run

    named = {runs.device.title: runs} if isinstance(runs, Run) else runs
    if not isinstance(named, Mapping) or not named:
        raise UsageError("there is nothing to draw\n  remedy: give a run, or a mapping of names to runs")
    return named


def _lines(runs: Mapping[str, Run] | Run) -> Iterator[tuple[str, Run, dict[str, Any]]]:
    for at, (name, run) in enumerate(_named(runs).items()):
        style: dict[str, Any] = {"color": _COLOURS[at % len(_COLOURS)], "linestyle": _DASHES[at % len(_DASHES)]}
        yield name, run, style


def _legend(axes: Axes, title: str | None = None) -> None:
    """A legend above the axes, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    columns = max(1, min(len(labels), _LEGEND // (max(map(len, labels)) + _SAMPLE)))
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        ncols=columns,
        title=title,
        alignment="left",
    )


def _sums(table: Table, first: NDArray[np.intp], column: str) -> _Numbers:
    """The sums of a column over windows that are put together, of which the first ones are given."""
    return np.add.reduceat(table[column].astype(float), first)


def _over_time(axes: Axes, runs: Mapping[str, Run] | Run, value: Callable[[_SumsOf], _Numbers]) -> None:
    """A line for each run over simulated time. Neighbouring windows are put together if they are many."""
    for name, run, style in _lines(runs):
        table = run.timeline
        if not len(table):
            continue
        first = np.arange(0, len(table), -(-len(table) // _WINDOWS))
        ends = np.append(table["start_ns"][first], table["start_ns"][-1] + table["length_ns"][-1]) / 1e9
        values = value(partial(_sums, table, first))
        axes.step(ends, np.append(values, values[-1]), where="post", label=name, **style)
    axes.set_xlabel("simulated time (s)")
    _legend(axes)


def latency(runs: Mapping[str, Run] | Run, op: str = "read", ax: Axes | None = None) -> Figure:
    """The share of requests that took longer than a latency, on logarithmic scales: the tail of each run."""
    code = _code(op)
    if not any((run.latencies["op"] == code).any() for run in _named(runs).values()):
        raise UsageError(f"no run measured {op}s\n  remedy: draw another operation")
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.latencies
            of_op = table["op"] == code
            latency, requests = table["latency_ns"][of_op], table["requests"][of_op].astype(float)
            if not len(latency):
                continue
            slower = 1.0 - np.cumsum(requests) / requests.sum()
            # None is slower than the last one, which a logarithm can't show.
            axes.step(latency[:-1] / 1e3, slower[:-1], where="post", label=name, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"{op} latency (µs)")
        axes.set_ylabel("share of slower requests")
        _legend(axes)
        return _figure(axes)


def throughput(runs: Mapping[str, Run] | Run, ax: Axes | None = None) -> Figure:
    """Bytes read and written a second, over simulated time. ``run.timeline`` has finer windows."""
    with _drawn(ax) as axes:
        _over_time(axes, runs, lambda sums: 1e3 * (sums("read_bytes") + sums("write_bytes")) / sums("length_ns"))
        axes.set_ylabel("throughput (MB/s)")
        axes.set_ylim(bottom=0)
        return _figure(axes)


def amplification(runs: Mapping[str, Run] | Run, ax: Axes | None = None) -> Figure:
    """Pages that the host and garbage collection program, for each one of the host, over simulated time."""

    def ratio(sums: _SumsOf) -> _Numbers:
        host = sums("host_programmed_pages")
        return 1 + np.divide(sums("gc_copied_pages"), host, out=np.full_like(host, np.nan), where=host > 0)

    with _drawn(ax) as axes:
        _over_time(axes, runs, ratio)
        axes.set_ylabel("write amplification by GC")
        return _figure(axes)


def wear(runs: Mapping[str, Run] | Run, ax: Axes | None = None) -> Figure:
    """The share of blocks that were erased at most so often."""
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.blocks
            erases = np.sort(np.repeat(table["erases"] / table["blocks"], table["blocks"].astype(int)))
            share = np.arange(len(erases) + 1) / len(erases)
            axes.step(np.append(erases[:1], erases), share, where="post", label=name, **style)
        axes.set_xlabel("erases of a block")
        axes.set_ylabel("share of blocks, cumulative")
        # The line at the top is seen as a whole.
        axes.set_ylim(0, 1.03)
        _legend(axes)
        return _figure(axes)


def swept(sweep: Sweep, metric: str, ax: Axes | None = None) -> Figure:
    """A metric over the first axis of a sweep: means with intervals, a line for each value of the other axes.

    The same as ``sweep.plot(metric)``.
    """
    document = sweep.document
    known = [one["key"] for one in document["metrics"]]
    if metric not in known:
        raise UsageError(f"the sweep has no metric {metric}\n  remedy: choose one of {', '.join(known)}")
    first, *others = document["axes"]
    lines: dict[str, list[tuple[str, dict[str, Any] | None]]] = {}
    for point in document["points"]:
        line = ", ".join(point["at"][axis["name"]] for axis in others)
        lines.setdefault(line, []).append((point["at"][first["name"]], point["metrics"].get(metric)))
    label, unit = next((one["name"], one["unit"]) for one in document["metrics"] if one["key"] == metric)
    highest = max((mean["mean"] for points in lines.values() for _, mean in points if mean is not None), default=0.0)
    scale, unit = next(((size, name) for size, name in _TIMES if highest >= size), _TIMES[-1]) if unit == "ns" else (1.0, unit)
    # Values without a number have their name on the axis.
    numbers = {value["name"]: value.get("number") for value in first["values"]}
    are_numbers = None not in numbers.values()
    names = list(numbers)
    with _drawn(ax) as axes:
        for at, (line, points) in enumerate(lines.items()):
            # Names have nothing between them, and lines stand side by side there.
            dashes = _DASHES[at % len(_DASHES)] if are_numbers else "none"
            aside = _ASIDE * (at - (len(lines) - 1) / 2) / len(lines)
            colour, marker = _COLOURS[at % len(_COLOURS)], _MARKERS[at % len(_MARKERS)]
            shown = [
                (numbers[name] if are_numbers else names.index(name) + aside, mean)
                for name, mean in points
                if mean is not None
            ]
            places = [place for place, _ in shown]
            means = [mean["mean"] / scale for _, mean in shown]
            axes.plot(places, means, color=colour, linestyle=dashes, marker=marker, markersize=3, label=line)
            ends = [
                (place, mean["low"] / scale, mean["high"] / scale) for place, mean in shown if mean.get("low") is not None
            ]
            if ends:
                axes.vlines(*zip(*ends, strict=True), color=colour, linewidth=0.8)
        if not are_numbers:
            axes.set_xticks(range(len(names)), names)
            axes.set_xlim(-0.5, len(names) - 0.5)
        elif first.get("spacing") == "log":
            axes.set_xscale("log")
            axes.set_xticks([float(number) for number in numbers.values()], [f"{number:.3g}" for number in numbers.values()])
            axes.minorticks_off()
        # No metric is negative; the interval of a mean of few seeds may be.
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
        axes.set_xlabel(_with_unit(first["label"], first.get("unit")))
        axes.set_ylabel(_with_unit(label, unit))
        _legend(axes, ", ".join(axis["label"] for axis in others))
        return _figure(axes)


def _with_unit(label: str, unit: str | None) -> str:
    """A label of an axis; names of metrics may end with their unit, and ``IOPS`` is one."""
    if not unit or label == "IOPS":
        return label
    return f"{label.removesuffix(f', {unit}')} ({unit})"


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure()
    assert figure is not None
    return figure.figure if hasattr(figure, "figure") else figure  # type: ignore[return-value]


class RunPlots:
    """The figures of one run, or of several in one picture."""

    def __init__(self, runs: Mapping[str, Run]) -> None:
        self._runs = runs

    def latency(self, op: str = "read", ax: Axes | None = None) -> Figure:
        """See :func:`latency`."""
        return latency(self._runs, op, ax)

    def throughput(self, ax: Axes | None = None) -> Figure:
        """See :func:`throughput`."""
        return throughput(self._runs, ax)

    def amplification(self, ax: Axes | None = None) -> Figure:
        """See :func:`amplification`."""
        return amplification(self._runs, ax)

    def wear(self, ax: Axes | None = None) -> Figure:
        """See :func:`wear`."""
        return wear(self._runs, ax)
