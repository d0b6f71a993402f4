"""Figures: what is on them, where the legend is, and how they are saved."""

from __future__ import annotations

import os
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


@pytest.fixture(scope="module")
def compared(tiny: fl.Device) -> fl.Comparison:
    devices = {"fifo": tiny, "first": tiny.but(scheduler="read-first")}
    return fl.compare(devices, fl.workload("mixed-70-30-zipf", requests=3000), seeds=3, precondition="fill")


def test_a_figure_of_a_comparison(compared: fl.Comparison) -> None:
    (axes,) = compared.plot("read.latency.p99").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["fifo", "first"]
    assert axes.get_ylabel().startswith("read latency, p99 (")
    means = [mean for mean, key in zip(compared["mean"], compared["metric"], strict=True) if key == "read.latency.p99"]
    (line,) = axes.get_lines()
    drawn = np.asarray(line.get_ydata(), float)
    assert drawn / drawn[0] == pytest.approx(np.asarray(means) / means[0])
    (axes,) = compared.plot("read.latency.p99", relative=True).axes
    assert axes.get_ylabel() == "read latency, p99 (%),\nchange against fifo"
    change = compared.change("first", "read.latency.p99")[0]
    assert change is not None
    assert float(np.asarray(axes.get_lines()[0].get_ydata(), float)[0]) == pytest.approx(100 * change)


def test_panels_share_a_legend_and_the_looks_of_names(swept: fl.Sweep) -> None:
    figure = fl.figure(swept, metric=["iops", "write_amplification.total"], columns=2, font="serif", font_size=9)
    assert figure.get_size_inches()[0] == pytest.approx(7)
    left, right = figure.axes
    assert left.get_legend() is None and len(figure.legends) == 1
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["greedy", "cost-benefit"]
    assert left.get_xlabel().endswith("\n(a)") and right.get_xlabel().endswith("\n(b)")
    looks = [[(line.get_color(), line.get_marker()) for line in axes.get_lines()] for axes in (left, right)]
    assert looks[0] == looks[1]
    assert left.yaxis.label.get_fontname() == "STIXGeneral" and left.yaxis.label.get_fontsize() == 9


def test_lines_differ_without_colours() -> None:
    from ftlab._look import line_style, marker

    looks = [(line_style(at)["color"], str(line_style(at)["linestyle"]), marker(at)) for at in range(49)]
    assert len({(colour, dashes) for colour, dashes, _ in looks}) == 49
    assert len({(colour, shape) for colour, _, shape in looks}) == 49
    # Without colours, as far as there are dashes.
    assert len({dashes for _, dashes, _ in looks[:7]}) == 7 and len({shape for *_, shape in looks[:7]}) == 7


def test_names_without_room_are_turned(tiny: fl.Device) -> None:
    names = [f"a rather long name, {at}" for at in range(5)]
    devices = {name: tiny.but(over_provisioning=f"{20 + 5 * at}%") for at, name in enumerate(names)}
    compared = fl.compare(devices, fl.workload("randwrite-4k", requests=200), seeds=2)
    figure = compared.plot("iops")
    figure.draw_without_rendering()
    labels = [text.get_window_extent() for text in figure.axes[0].get_xticklabels()]
    assert all(0 <= label.x0 and 0 <= label.y0 and label.x1 <= figure.bbox.x1 for label in labels)
    assert figure.axes[0].get_xticklabels()[0].get_rotation() == 30


def test_the_program_draws_the_same(
    program: Any, swept: fl.Sweep, compared: fl.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`ftlab figure` and `fl.figure` draw the same from a folder; the bytes are the same each time."""
    drawer = tmp_path / "ftlab-figure"
    script = "from ftlab._figure_command import main; main()"
    paths = os.pathsep.join(path for path in sys.path if path)
    drawer.write_text(f"#!/bin/sh\nPYTHONPATH='{paths}' exec '{sys.executable}' -W error -c '{script}' \"$@\"\n")
    drawer.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    load, axes = fl.workload("randwrite-4k", requests=300), {"gc": ["greedy", "fifo"]}
    folder = tmp_path / "swept"
    fl.sweep(fl.device("tiny"), load, axes, seeds=2, output=folder)
    begins = {"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}
    for form, begin in begins.items():
        files = [tmp_path / f"{at}.{form}" for at in range(2)]
        for file in files:
            program("figure", folder, "-m", "iops", "--rename", "fifo=First", "-o", file)
        assert files[0].read_bytes() == files[1].read_bytes() and files[0].read_bytes().startswith(begin)
    text = (tmp_path / "0.svg").read_text()
    figure = fl.figure(folder, metric="iops", rename={"fifo": "First"})
    for label in ("First", figure.axes[0].get_ylabel(), figure.axes[0].get_xlabel()):
        assert f">{label}</text>" in text, label
    told = program("figure", folder, "-m", "iops", "-o", tmp_path / "a.pdf", "--font", "No such", fails=True).stderr
    assert "there is no font No such" in told and "serif" in told and not (tmp_path / "a.pdf").exists()


def test_figures_that_can_not_be_drawn(swept: fl.Sweep, compared: fl.Comparison, tmp_path: Path) -> None:
    for refused, told in (
        (lambda: fl.figure(), "a figure is of one sweep"),
        (lambda: fl.figure(swept, compared, metric="iops"), "a figure is of one sweep"),
        (lambda: fl.figure(swept), "choose a metric with metric="),
        (lambda: fl.figure(compared, curve="throughput"), "in the results of the runs"),
        (lambda: fl.figure(compared, curve="throughputs"), "did you mean throughput"),
        (lambda: fl.figure(swept, metric="iops", along="load"), "no axis load"),
        (lambda: fl.figure(swept, metric="iops", columns=3), "one or two columns"),
        (lambda: fl.figure(swept, metric=["iops", "throughput"], ax=swept.plot("iops").axes[0]), "several panels"),
        (lambda: fl.figure(tmp_path, metric="iops"), "is a folder without a result"),
    ):
        with pytest.raises(fl.FtlabError, match=told):
            refused()


def test_what_draws_for_the_program_refuses_other_input(child: Any) -> None:
    begin = "import io, sys; from ftlab._figure_command import main; "
    for text, form in (("{", "pdf"), ("{}", "svg"), ("[]", "png"), ('{"kind": "figure"}', "pdf"), ("{}", "tex")):
        done = child(f"{begin} sys.argv = ['x', {form!r}]; sys.stdin = io.StringIO({text!r}); main()")
        assert done.returncode == 2 and "remedy" in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_without_matplotlib_the_remedy_is_told(child: Any) -> None:
    begin = "import sys; sys.modules['matplotlib'] = None; import ftlab as fl; "
    for draw in ("fl.plot.style().__enter__()", "from ftlab._draw import draw; draw({'kind': 'figure', 'schema_version': 1, 'panels': []})"):
        done = child(begin + draw)
        assert "ImportError: matplotlib is not installed" in done.stderr and "pip install" in done.stderr, done.stderr
