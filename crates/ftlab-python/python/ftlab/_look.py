"""How figures look: their sizes, fonts and colours, their lines and legends. Legible without colours."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from ftlab._errors import missing

if TYPE_CHECKING:
    from collections.abc import Generator

    from matplotlib.axes import Axes

#: Millimetres in an inch, in which matplotlib has lengths.
INCH = 25.4
#: The width of one and of two columns of a paper, in millimetres: those of ACM and USENIX, within those of IEEE.
COLUMNS = (3.33 * INCH, 7.0 * INCH)
#: The usual height of a figure.
HEIGHT = 58.0
#: The size of labels in points, and how much smaller the marks of axes and the legend are.
FONT_SIZE, SMALLER = 8.0, 7 / 8
#: The colours of Okabe and Ito, which colour-blind readers can tell apart.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
#: Lines differ in their dashes too, for print without colours.
_DASHES = ["-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1))]
#: Points differ in their shapes.
_MARKERS = "osD^vPX"
#: The letters of a legend that fit in a millimetre; the sample of a line and the space around a name take some too.
_LEGEND, _SAMPLE = 0.66, 7
#: Scales of nanoseconds, the largest first.
_TIMES = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")]

#: What matplotlib looks up when it saves: text stays text in PDF and SVG.
SAVED: dict[str, Any] = {"pdf.fonttype": 42, "svg.fonttype": "none"}

# The names are as matplotlib has them.
_STYLE: dict[Any, Any] = {
    "axes.linewidth": 0.6,
    "axes.prop_cycle": f"cycler('color', {COLOURS})",
    "lines.linewidth": 1.1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.3,
    "grid.alpha": 0.5,
    "legend.frameon": False,
    "legend.handlelength": 1.8,
    "legend.columnspacing": 1.2,
    "figure.figsize": (COLUMNS[0] / INCH, HEIGHT / INCH),
    "figure.constrained_layout.use": True,
}
_LABELS = ("font.size", "axes.labelsize", "axes.titlesize")
_SMALL = ("legend.fontsize", "legend.title_fontsize", "xtick.labelsize", "ytick.labelsize")


def require_matplotlib() -> None:
    """Says what to do if there is no matplotlib."""
    if find_spec("matplotlib") is None:
        raise missing("matplotlib")


@contextmanager
def style(font_size: float = FONT_SIZE, **options: Any) -> Generator[None]:
    """The style of these figures, for your own: ``with fl.plot.style(): figure, axes = plt.subplots()``.

    ``font_size`` is that of labels, in points; ``options`` are of matplotlib. Save a figure within it, too, to keep its
    text as text in PDF and SVG.
    """
    require_matplotlib()
    import matplotlib

    from ftlab._figure import teach_notebook

    teach_notebook()
    sizes = dict.fromkeys(_LABELS, font_size) | dict.fromkeys(_SMALL, font_size * SMALLER)
    with matplotlib.rc_context(cast("Any", _STYLE | SAVED | sizes | options)):
        yield


def line_style(at: int) -> dict[str, Any]:
    """The colour and the dashes of a line. No two of 49 look alike."""
    return {"color": COLOURS[at % len(COLOURS)], "linestyle": _DASHES[_other(at) % len(_DASHES)]}


def marker(at: int) -> str:
    """The shape of a line's points."""
    return _MARKERS[_other(at) % len(_MARKERS)]


def _other(at: int) -> int:
    """Goes around otherwise than colours do, so that a colour comes back with other dashes and another shape."""
    return at + at // len(COLOURS)


def time_scale(values: list[float]) -> tuple[float, str]:
    """The unit of time in which the largest of some nanoseconds is a handy number."""
    highest = max(values, default=0.0)
    return next(((size, name) for size, name in _TIMES if highest >= size), _TIMES[-1])


def with_unit(label: str, unit: str | None) -> str:
    """The label of an axis."""
    return f"{label} ({unit})" if unit else label


def legend_columns(labels: list[str], width: float) -> int:
    """How many names of a legend stand side by side."""
    return max(1, min(len(labels), int(_LEGEND * width) // (max(map(len, labels)) + _SAMPLE)))


def legend(axes: Axes, title: str | None = None) -> None:
    """A legend above the axes, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.2,
        ncols=legend_columns(labels, COLUMNS[0]),
        title=title,
        alignment="left",
    )
