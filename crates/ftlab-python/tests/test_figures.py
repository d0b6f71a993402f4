"""Figures: what is on them, where the legend is, and how they are saved."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ftlab as fl

pytest.importorskip("matplotlib")

KINDS = ["latency", "throughput", "amplification", "wear"]


@pytest.fixture(scope="module")
def swept(tiny: fl.Device) -> fl.Sweep:
    axes = {"over_provisioning": fl.span("20%", "50%", 3), "gc": ["greedy", "cost-benefit"]}
    return fl.sweep(tiny, fl.workload("randwrite-4k", requests=2000), axes, seeds=2, precondition="fill")


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_of_a_run(short_run: fl.Run, kind: str, tmp_path: Path) -> None:
    figure = getattr(short_run.plot, kind)()
    (axes,) = figure.axes
    assert axes.get_xlabel() and axes.get_ylabel() and axes.get_legend() is None
    for file, text in (("a.svg", "<text"), ("a.pdf", "/Type0")):
        figure.savefig(tmp_path / file)
        assert text in (tmp_path / file).read_text("latin-1"), f"{file} has its text as shapes"
    assert pickle.loads(pickle.dumps(figure)).axes[0].get_xlabel() == axes.get_xlabel()


@pytest.mark.parametrize("names", [["a", "b"], [f"a rather long name, {at}" for at in range(7)]])
@pytest.mark.parametrize("kind", KINDS)
def test_a_legend_covers_nothing(short_run: fl.Run, kind: str, names: list[str]) -> None:
    figure = getattr(fl.plot, kind)(dict.fromkeys(names, short_run))
    (axes,) = figure.axes
    figure.draw_without_rendering()
    legend = axes.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == names
    where, whole = legend.get_window_extent(), figure.bbox
    assert where.y0 >= axes.get_window_extent().y1 and where.x1 <= whole.x1 and where.y1 <= whole.y1


def test_windows_are_put_together(short_run: fl.Run) -> None:
    """What is drawn has as many bytes, and ends where the run does."""
    table = short_run.timeline
    (axes,) = short_run.plot.throughput().axes
    (line,) = axes.get_lines()
    times, rates = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    assert 1 < len(times) <= min(len(table), 150) + 1
    assert times[-1] * 1e9 == pytest.approx(table["start_ns"][-1] + table["length_ns"][-1])
    moved = float((table["read_bytes"] + table["write_bytes"]).sum())
    assert 1e6 * (np.diff(times) * rates[:-1]).sum() == pytest.approx(moved)


def test_a_figure_of_a_sweep(swept: fl.Sweep) -> None:
    (axes,) = swept.plot("write.latency.p99").axes
    assert axes.get_xlabel() == "ftl.over_provisioning (%)"
    assert axes.get_ylabel() == "write latency, p99 (ms)"
    assert axes.get_legend().get_title().get_text() == "ftl.gc.victim"
    highest = max(swept["write.latency.p99"]) / 1e6
    assert 0 <= axes.get_ylim()[0] < highest / 2 and axes.get_ylim()[1] < 10 * highest
    (axes,) = swept.plot("iops").axes
    assert axes.get_ylabel() == "IOPS"
    (axes,) = swept.plot("throughput").axes
    assert axes.get_ylabel() == "throughput (MB/s)"


def test_names_of_a_sweep_stand_side_by_side(tiny: fl.Device) -> None:
    axes = {"gc": ["greedy", "fifo"], "scheduler": ["fifo", "read-first"]}
    (drawn,) = fl.sweep(tiny, fl.workload("randwrite-4k", requests=500), axes).plot("iops").axes
    assert [text.get_text() for text in drawn.get_xticklabels()] == ["greedy", "fifo"]
    places = {float(place) for line in drawn.get_lines() for place in np.asarray(line.get_xdata(), float)}
    assert len(places) == 4


def test_axes_and_style_of_ones_own(short_run: fl.Run) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    before = matplotlib.rcParams["font.size"]
    with fl.plot.style():
        own = Figure()
        left, right = own.subplots(1, 2)
        assert matplotlib.rcParams["font.size"] == 8
    assert matplotlib.rcParams["font.size"] == before
    assert short_run.plot.latency(ax=left) is own
    assert fl.plot.wear({"a": short_run}, ax=right) is own
    assert left.get_lines() and right.get_lines()


def test_what_can_not_be_drawn(short_run: fl.Run, swept: fl.Sweep) -> None:
    with pytest.raises(fl.UsageError, match="there is no operation erase"):
        fl.plot.latency({"a": short_run}, op="erase")
    with pytest.raises(fl.UsageError, match="no metric waf"):
        swept.plot("waf")


def test_a_notebook_learns_to_show_figures_once(short_run: fl.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    class Formatter:
        def __init__(self) -> None:
            self.type_printers: dict[type, Any] = {}

        def for_type(self, kind: type, show: Any) -> None:
            self.type_printers[kind] = show

    png = Formatter()
    display = SimpleNamespace(formatters={"image/png": png, "text/html": Formatter()})
    shell = SimpleNamespace(kernel=1, display_formatter=display)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    figure = short_run.plot.latency()
    show = png.type_printers[Figure]
    assert show(figure).startswith(b"\x89PNG")
    short_run.plot.wear()
    assert png.type_printers == {Figure: show}
