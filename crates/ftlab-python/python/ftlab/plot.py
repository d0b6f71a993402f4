"""Figures as wide as a column of a paper, as vector graphics, and legible without colours.

``run.plot.latency()`` draws one run, ``fl.plot.latency({"fifo": first, "read-first": second})`` several. Each function
draws on ``ax`` if it is given, and returns the figure of matplotlib: ``run.plot.latency().savefig("tail.pdf")``. Figures of
sweeps, of comparisons and of results on disk are :func:`ftlab.figure`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ftlab._errors import UsageError
from ftlab._look import legend, line_style, style

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ftlab._run import Run
    from ftlab._table import Table

    _Numbers = NDArray[np.float64]
    #: Gives the sums of a column over each window that is shown.
    _SumsOf = Callable[[str], _Numbers]

#: The windows of time that a figure shows at most.
_WINDOWS = 150
#: The operations in tables, by their codes.
_OPS = {"read": 0, "write": 1, "trim": 2, "flush": 3}


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
        yield name, run, line_style(at)


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
    legend(axes)


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
        legend(axes)
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
        legend(axes)
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
