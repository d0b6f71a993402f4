"""Figures of finished results, sweeps and comparisons, fit for a paper."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ftlab import _ftlab
from ftlab._compare import Comparison
from ftlab._errors import UsageError
from ftlab._look import COLUMNS, FONT_SIZE
from ftlab._sweep import Sweep
from ftlab._values import confidence_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def figure(
    *results: str | os.PathLike[str] | Sweep | Comparison,
    metric: str | Sequence[str] = (),
    curve: str | Sequence[str] = (),
    along: str | None = None,
    only: Mapping[str, str] | None = None,
    relative: bool = False,
    rename: Mapping[str, str] | None = None,
    log: bool = False,
    confidence: float = 0.95,
    columns: int = 1,
    width_mm: float | None = None,
    height_mm: float | None = None,
    font: str = "sans",
    font_size: float = FONT_SIZE,
    ax: Axes | None = None,
) -> Figure:
    """A figure for a paper, as ``ftlab figure`` draws it: ``fl.figure("results/swept", metric="iops").savefig("a.pdf")``.

    ``results`` are a sweep, a comparison, or the folders of runs under the same load, of which the first is the baseline.
    Each ``metric`` (a number of each run, such as ``read.latency.p99``) and each ``curve`` (many numbers of each run, such
    as ``read-latency``) has a panel. Curves need folders. A sweep is drawn ``along`` its first axis, with a line for each
    value of the others, or ``only`` at some values. ``relative`` draws changes against the first variant with their paired
    intervals; ``rename`` says what names are drawn for variants and values.

    The figure is as wide as one or two ``columns`` of a paper. ``font`` is ``sans``, ``serif`` (as Times) or the name of an
    installed one, and ``font_size`` that of labels in points. ``ax`` takes a single panel in place of a new figure.
    """
    from ftlab._draw import draw

    if columns not in (1, 2):
        raise UsageError(f"a figure is one or two columns wide, not {columns!r}\n  remedy: or write width_mm=")
    choice: dict[str, Any] = {
        "metrics": _listed(metric),
        "curves": _listed(curve),
        "along": along,
        "only": [(str(axis), str(value)) for axis, value in (only or {}).items()],
        "relative": relative,
        "log": log,
        "rename": [(str(old), str(new)) for old, new in (rename or {}).items()],
        "confidence": confidence_of(confidence),
    }
    return draw(
        json.loads(_data(results, choice)),
        width=COLUMNS[columns - 1] if width_mm is None else width_mm,
        height=height_mm,
        font=font,
        font_size=font_size,
        ax=ax,
    )


def _listed(names: str | Sequence[str]) -> list[str]:
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _data(results: tuple[str | os.PathLike[str] | Sweep | Comparison, ...], choice: dict[str, Any]) -> str:
    folders = [os.fspath(result) for result in results if not isinstance(result, Sweep | Comparison)]
    if len(folders) == len(results) and folders:
        return _ftlab.figure_of_results(folders, choice)
    if len(results) != 1:
        raise UsageError("a figure is of one sweep, of one comparison, or of folders\n  remedy: name one of these")
    (result,) = results
    if isinstance(result, Sweep):
        return _ftlab.figure_of_sweep(result._files["sweep.json"].decode(), choice)
    assert isinstance(result, Comparison)
    return _ftlab.figure_of_comparison(result._comparison, choice)
