"""Comparisons: devices under the same load, with confidence intervals."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ftlab import _ftlab
from ftlab._device import Device, check_device
from ftlab._errors import UsageError
from ftlab._load import Load, check_load, run_options
from ftlab._progress import THOUSANDTHS, Bar
from ftlab._table import Table
from ftlab._values import confidence_of, count_of, seed_of, threads_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from typing_extensions import Unpack

    from ftlab._options import RunOptions

#: More seeds than this are a typing mistake.
_MOST_SEEDS = 1000


class Comparison(Table):
    """A row for each metric and variant: the mean over the seeds, and its change against the first variant.

    It is a table like any other: ``comparison.to_polars()``. Runs are paired by seed.
    """

    def __init__(self, comparison: _ftlab.Comparison) -> None:
        super().__init__(comparison.table)
        self._comparison = comparison

    @property
    def notes(self) -> list[str]:
        """What a reader of the numbers needs. Read them."""
        return self._comparison.notes

    @property
    def document(self) -> dict[str, Any]:
        """``compare.json``, as ``ftlab compare`` writes it."""
        document: dict[str, Any] = json.loads(self._comparison.compare_json)
        return document

    @property
    def page(self) -> str:
        """The page with tables and curves: HTML that fetches nothing."""
        return self._comparison.page

    def save_page(self, file: str | os.PathLike[str]) -> None:
        """Writes the page."""
        with open(file, "w", encoding="utf-8") as to:
            to.write(self.page)

    def plot(self, metric: str, *, relative: bool = False, ax: Axes | None = None) -> Figure:
        """A metric of each variant with its interval, or the changes against the first. :func:`ftlab.figure` has more."""
        from ftlab._paper import figure

        return figure(self, metric=metric, relative=relative, ax=ax)

    def change(self, variant: str, metric: str) -> tuple[float | None, float | None, float | None]:
        """The change of a metric against the first variant, with the ends of its interval."""
        rows = zip(self["variant"], self["metric"], self["change"], self["low"], self["high"], strict=True)
        for named, key, change, low, high in rows:
            if (named, key) == (variant, metric):
                known = [None if value != value else float(value) for value in (change, low, high)]
                return known[0], known[1], known[2]
        raise KeyError(f"there is no {metric} of {variant}")

    def _repr_html_(self) -> str:
        import html

        variants = [variant["name"] for variant in self.document["variants"]]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in variants)
        rows: list[str] = []
        for metric in self.document["metrics"]:
            cells = "".join(f"<td>{_cell(one, metric['unit'])}</td>" for one in metric["variants"])
            rows.append(f"<tr><td style='text-align:left'>{html.escape(metric['name'])}</td>{cells}</tr>")
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table><ul>{notes}</ul>"


def _cell(values: dict[str, Any], unit: str) -> str:
    from ftlab._run import _legible

    text = _legible(values["mean"], unit)
    change = values["change"]
    if change is None:
        return text
    if change["scale"] != "ratio":
        return f"{text} ({change['estimate']:+.3g})"
    interval = ""
    if change["low"] is not None:
        interval = f", {100 * change['low']:+.1f} to {100 * change['high']:+.1f}"
    return f"{text} ({100 * change['estimate']:+.1f} %{interval})"


def compare(
    devices: Mapping[str, Device],
    load: Load,
    /,
    *,
    seeds: int = 5,
    seed: int = 1,
    confidence: float = 0.95,
    threads: int | None = None,
    output: str | os.PathLike[str] | None = None,
    force: bool = False,
    progress: bool | None = None,
    **options: Unpack[RunOptions],
) -> Comparison:
    """Plays the same load on several devices, with several seeds, and compares them with the first.

    ``output`` keeps the runs and the page in a folder, as ``ftlab compare -o`` does; an interrupted comparison goes on
    there. All processors are used, unless ``threads`` says how many.
    """
    if not isinstance(devices, Mapping) or len(devices) < 2:
        raise UsageError("there is nothing to compare\n  remedy: give at least two devices, each with its name")
    variants: list[tuple[str, _ftlab.Config, list[str], _ftlab.RunOptions]] = []
    for name, device in devices.items():
        check_device(device)
        check_load(load)
        texts = [text for _, text in device._sets]
        variants.append((str(name), device._config, texts, run_options(load, device, options)))
    with Bar(progress, "runs", THOUSANDTHS) as bar:
        done = _ftlab.compare(
            variants,
            load._load,
            seed_of(seed),
            count_of("seeds", seeds, _MOST_SEEDS),
            confidence_of(confidence),
            threads_of(threads),
            None if output is None else os.fspath(output),
            force,
            bar.listener,
        )
    return Comparison(done)
