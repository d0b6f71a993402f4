"""Figures of runs: one column of a paper wide, vector graphics, colours that survive grey printing.

Each function draws on ``ax`` if it is given, and returns the figure: ``run.plot.latency().savefig("tail.pdf")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ftlab._errors import UsageError, missing

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._run import Run
    from ftlab._sweep import Sweep

#: The width of a column of a paper, in inches, and the usual height of a figure.
_SIZE = (3.4, 2.3)
#: The colours of Okabe and Ito, which colour-blind readers can tell apart.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
#: Lines differ in their dashes too, for print without colours.
_DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
#: The operations in tables, by their codes.
_OPS = {"read": 0, "write": 1, "trim": 2, "flush": 3}

# The names are as matplotlib has them.
_STYLE: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "figure.constrained_layout.use": True,
    # Text stays text in PDF and SVG.
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}


@contextmanager
def _drawn(ax: Axes | None) -> Generator[Axes]:
    """Axes to draw on, in the style of papers."""
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise missing("matplotlib") from None
    with matplotlib.rc_context(cast("Any", _STYLE)):
        if ax is not None:
            yield ax
            return
        yield Figure(figsize=_SIZE).subplots()


def _code(op: str) -> int:
    if op not in _OPS:
        raise UsageError(f"there is no operation {op}\n  remedy: choose one of {', '.join(_OPS)}")
    return _OPS[op]


def _lines(runs: Mapping[str, Run]) -> Iterator[tuple[str, Run, dict[str, Any]]]:
    for at, (name, run) in enumerate(runs.items()):
        style: dict[str, Any] = {"color": _COLOURS[at % len(_COLOURS)], "linestyle": _DASHES[at % len(_DASHES)]}
        yield name, run, style


def latency(runs: Mapping[str, Run], op: str = "read", ax: Axes | None = None) -> Figure:
    """The share of requests that took longer than a latency, on logarithmic scales: the tail of each run."""
    code = _code(op)
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.latencies
            of_op = table["op"] == code
            latency, requests = table["latency_ns"][of_op], table["requests"][of_op].astype(float)
            if not len(latency):
                continue
            beyond = 1.0 - np.cumsum(requests) / requests.sum()
            # The last request has none beyond it, which a logarithm can't show.
            axes.step(latency[:-1] / 1e3, beyond[:-1], where="post", label=name, **style)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel(f"{op} latency (us)")
        axes.set_ylabel("share of requests beyond")
        if len(runs) > 1:
            axes.legend()
        return _figure(axes)


def throughput(runs: Mapping[str, Run], ax: Axes | None = None) -> Figure:
    """Bytes read and written a second, over simulated time."""
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.timeline
            seconds = table["length_ns"] / 1e9
            moved = (table["read_bytes"] + table["write_bytes"]) / 1e6
            axes.step(table["start_ns"] / 1e9, moved / seconds, where="post", label=name, **style)
        axes.set_xlabel("simulated time (s)")
        axes.set_ylabel("throughput (MB/s)")
        axes.set_ylim(bottom=0)
        if len(runs) > 1:
            axes.legend()
        return _figure(axes)


def amplification(runs: Mapping[str, Run], ax: Axes | None = None) -> Figure:
    """Pages that collection copies for each page that the host writes, over simulated time."""
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.timeline
            host, copied = table["host_programmed_pages"], table["gc_copied_pages"]
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.where(host > 0, 1 + copied / host, np.nan)
            axes.step(table["start_ns"] / 1e9, ratio, where="post", label=name, **style)
        axes.set_xlabel("simulated time (s)")
        axes.set_ylabel("write amplification by GC")
        if len(runs) > 1:
            axes.legend()
        return _figure(axes)


def wear(runs: Mapping[str, Run], ax: Axes | None = None) -> Figure:
    """The share of blocks that were erased at most so often."""
    with _drawn(ax) as axes:
        for name, run, style in _lines(runs):
            table = run.blocks
            erases = np.sort(np.repeat(table["erases"] / table["blocks"], table["blocks"].astype(int)))
            share = np.arange(1, len(erases) + 1) / len(erases)
            axes.step(erases, share, where="post", label=name, **style)
        axes.set_xlabel("erases of a block")
        axes.set_ylabel("share of blocks")
        axes.set_ylim(0, 1)
        if len(runs) > 1:
            axes.legend()
        return _figure(axes)


def swept(sweep: Sweep, metric: str, ax: Axes | None = None) -> Figure:
    """A metric over the first axis of a sweep: means with intervals, a line for each value of the other axes."""
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
    # Values without a number have their name on the axis.
    numbers = {value["name"]: value.get("number") for value in first["values"]}
    are_numbers = None not in numbers.values()
    with _drawn(ax) as axes:
        for at, (line, points) in enumerate(lines.items()):
            # Names have nothing between them.
            dashes = _DASHES[at % len(_DASHES)] if are_numbers else "none"
            style: dict[str, Any] = {"color": _COLOURS[at % len(_COLOURS)], "linestyle": dashes}
            shown = [(numbers[name] if are_numbers else name, mean) for name, mean in points if mean is not None]
            places = [place for place, _ in shown]
            means = [mean["mean"] for _, mean in shown]
            axes.plot(places, means, marker="o", markersize=3, label=line, **style)
            ends = [(place, mean["low"], mean["high"]) for place, mean in shown if mean.get("low") is not None]
            if ends:
                axes.vlines(*zip(*ends, strict=True), color=style["color"], linewidth=0.8)
        if are_numbers and first.get("spacing") == "log":
            axes.set_xscale("log")
            axes.set_xticks([float(number) for number in numbers.values()], [f"{number:.3g}" for number in numbers.values()])
            axes.minorticks_off()
        axes.set_xlabel(_with_unit(first["label"], first.get("unit")))
        axes.set_ylabel(_with_unit(label, unit))
        if len(lines) > 1:
            axes.legend()
        return _figure(axes)


def _with_unit(label: str, unit: str | None) -> str:
    """A label of an axis; names of metrics may end with their unit."""
    return label if not unit or label.endswith(f", {unit}") else f"{label}, {unit}"


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
