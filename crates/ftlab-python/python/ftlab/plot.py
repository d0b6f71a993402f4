"""Figures of runs: one column of a paper wide, vector graphics, colours that survive grey printing.

Each function draws on ``ax`` if it is given, and returns the figure: ``run.plot.latency().savefig("tail.pdf")``.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ftlab._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ftlab._run import Run

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
    "axes.prop_cycle": f"cycler('color', {_COLOURS})",
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


#: The dots per inch of figures in notebooks.
_DPI = 160


def _teach_notebook() -> None:
    """Lets a notebook show figures that pyplot did not make, unless it knows how already."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return
    from matplotlib.figure import Figure

    formatters = shell.display_formatter.formatters
    if not any(Figure in formatter.type_printers for formatter in formatters.values()):
        formatters["image/png"].for_type(Figure, _png)


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI)
    return file.getvalue()


@contextmanager
def style() -> Generator[None, None, None]:
    """The style of these figures, for figures of your own: ``with fl.plot.style():``."""
    try:
        import matplotlib
    except ImportError:
        raise ImportError("matplotlib is not installed\n  remedy: pip install matplotlib") from None
    _teach_notebook()
    with matplotlib.rc_context(_STYLE):
        yield


@contextmanager
def _drawn(ax: Axes | None) -> Generator[Axes, None, None]:
    """Axes to draw on, in the style of papers."""
    with style():
        if ax is not None:
            yield ax
            return
        from matplotlib.figure import Figure

        yield Figure(figsize=_SIZE).subplots()


def _code(op: str) -> int:
    if op not in _OPS:
        raise UsageError(f"there is no operation {op}\n  remedy: choose one of {', '.join(_OPS)}")
    return _OPS[op]


def _lines(runs: Mapping[str, Run]) -> Iterator[tuple[str, Run, dict[str, Any]]]:
    for at, (name, run) in enumerate(runs.items()):
        style = {"color": _COLOURS[at % len(_COLOURS)], "linestyle": _DASHES[at % len(_DASHES)]}
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
