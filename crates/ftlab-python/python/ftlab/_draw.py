"""Draws the data of a figure, as ``ftlab figure`` and :func:`ftlab.figure` have it, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ftlab._errors import UsageError
from ftlab._look import (
    COLUMNS,
    FONT_SIZE,
    HEIGHT,
    INCH,
    legend,
    legend_columns,
    line_style,
    marker,
    require_matplotlib,
    style,
    time_scale,
    with_unit,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: The layout of the data that this draws.
_SCHEMA_VERSION = 1
#: Panels side by side in a figure of two columns, and the least width of one in millimetres.
_SIDE_BY_SIDE, _NARROWEST = 3, 50.0
#: How far apart lines stand that share a name on an axis, all together, in the space of a name.
_ASIDE = 0.5
#: The width of a letter, as a share of the size of its font, and the angle of names that have no room.
_LETTER, _ANGLE = 0.55, 30
#: The size of the shapes of points.
_MARKER = 3.5
#: The height of a row of a legend, in sizes of its font.
_ROW = 1.4
#: The most marks of an axis, and the points of a curve that have a shape.
_TICKS, _SHAPES = 8, 8
#: The fonts that come with matplotlib. STIX looks like Times.
_FONTS = {"sans": ("DejaVu Sans", "dejavusans"), "serif": ("STIXGeneral", "stix")}


def draw(
    document: dict[str, Any],
    *,
    width: float = COLUMNS[0],
    height: float | None = None,
    font: str = "sans",
    font_size: float = FONT_SIZE,
    ax: Axes | None = None,
) -> Figure:
    """Draws a figure. Lengths are in millimetres and sizes in points. On ``ax`` goes the only panel."""
    if document.get("kind") != "figure" or document.get("schema_version") != _SCHEMA_VERSION:
        raise UsageError(
            f"this is no figure of layout {_SCHEMA_VERSION}\n  remedy: install the program and the Python package of one version"
        )
    panels: list[dict[str, Any]] = document["panels"]
    with style(font_size, **_font(font)):
        from ftlab._figure import PaperFigure

        if ax is not None:
            if len(panels) != 1:
                raise UsageError("several panels have no place on one `ax`\n  remedy: choose one metric or curve")
            _panel(ax, panels[0], {}, font_size)
            legend(ax, panels[0]["legend"] or None)
            return _figure(ax)
        across = max(1, min(len(panels), _SIDE_BY_SIDE, int(width / _NARROWEST)))
        down = -(-len(panels) // across)
        if height is None:
            height = HEIGHT * down + _legend_height(panels, width, font_size)
        figure = PaperFigure(figsize=(width / INCH, height / INCH))
        places = list(figure.subplots(down, across, squeeze=False).flat)
        for place in places[len(panels) :]:
            place.remove()
        styles: dict[str, int] = {}
        for at, (place, panel) in enumerate(zip(places, panels, strict=False)):
            _panel(place, panel, styles, font_size)
            if len(panels) > 1:
                place.set_xlabel(f"{place.get_xlabel()}\n({chr(ord('a') + at)})".strip())
        if len(panels) == 1:
            legend(places[0], panels[0]["legend"] or None)
        else:
            _legend_of_all(figure, places[: len(panels)], panels, width)
        return figure


def _legend_height(panels: list[dict[str, Any]], width: float, font_size: float) -> float:
    """The height of a legend with several rows, in millimetres. One has room in any figure."""
    names = list({line["name"]: None for panel in panels for line in panel["lines"]})
    rows = -(-len(names) // legend_columns(names, width))
    return max(0, rows - 1) * font_size * _ROW * INCH / 72


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure()
    assert figure is not None
    return figure.figure if hasattr(figure, "figure") else figure  # type: ignore[return-value]


def _font(name: str) -> dict[str, Any]:
    """The options of matplotlib for a font."""
    require_matplotlib()
    from matplotlib import font_manager

    family, mathematics = _FONTS.get(name, (name, "dejavusans"))
    try:
        font_manager.findfont(family, fallback_to_default=False)
    except ValueError:
        known = ", ".join([*_FONTS, *sorted(set(font_manager.get_font_names()))])
        raise UsageError(f"there is no font {name}\n  remedy: install it, or choose one of {known}") from None
    return {"font.family": family, "mathtext.fontset": mathematics}


def _legend_of_all(figure: Figure, places: list[Axes], panels: list[dict[str, Any]], width: float) -> None:
    """One legend above all panels: a name looks the same in each of them."""
    handles: dict[str, Any] = {}
    for place in places:
        for handle, label in zip(*place.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if len(handles) < 2:
        return
    titles = {panel["legend"] for panel in panels}
    figure.legend(
        handles.values(),
        list(handles),
        loc="outside upper left",
        ncols=legend_columns(list(handles), width),
        title=next(iter(titles)) if len(titles) == 1 else None,
        alignment="left",
    )


def _panel(axes: Axes, panel: dict[str, Any], styles: dict[str, int], font_size: float) -> None:
    """Draws a panel. ``styles`` has the number of each name, so that it looks the same in all panels."""
    x, y, names = panel["x"], panel["y"], panel["x"]["names"]
    x_scale, x_unit = _scale(x, [point["x"] for line in panel["lines"] for point in line["points"]])
    y_scale, y_unit = _scale(y, [point["y"] for line in panel["lines"] for point in line["points"] if point["y"] is not None])
    lines: list[dict[str, Any]] = panel["lines"]
    for number, line in enumerate(lines):
        at = styles.setdefault(line["name"], len(styles)) if line["name"] else 0
        aside = _ASIDE * (number - (len(lines) - 1) / 2) / len(lines) if names is not None else 0.0
        _line(axes, line, at, panel["drawn"], (x_scale, y_scale), aside)
    if panel["against"] is not None:
        axes.axhline(0, color="black", linewidth=0.6)
    _horizontal(axes, x, x_scale, font_size)
    if y["log"]:
        axes.set_yscale("log")
    elif panel["against"] is None:
        # Neither values nor their means are negative; the interval of a mean of few seeds may be.
        axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    axes.set_xlabel(with_unit(x["label"], x_unit))
    label = with_unit(y["label"], y_unit)
    axes.set_ylabel(label if panel["against"] is None else f"{label},\nchange against {panel['against']}")


def _line(
    axes: Axes, line: dict[str, Any], at: int, drawn: str, scales: tuple[float, float], aside: float
) -> None:
    look: dict[str, Any] = line_style(at) | {"marker": marker(at), "markersize": _MARKER, "label": line["name"] or "_"}
    points = line["points"]
    xs = [point["x"] / scales[0] + aside for point in points]
    ys = [float("nan") if point["y"] is None else point["y"] / scales[1] for point in points]
    if drawn == "steps":
        # A shape now and then, at other places than those of other lines.
        every = max(1, len(xs) // _SHAPES)
        axes.step(xs, ys, where="post", markevery=(at * every // _SHAPES % every, every), **look)
        return
    if drawn == "marks":
        look["linestyle"] = "none"
    axes.plot(xs, ys, **look)
    ends = [
        (x, point["low"] / scales[1], point["high"] / scales[1])
        for x, point in zip(xs, points, strict=True)
        if point["low"] is not None and point["high"] is not None
    ]
    if ends:
        places, lows, highs = zip(*ends, strict=True)
        axes.vlines(places, lows, highs, color=look["color"], linewidth=1)


def _scale(axis: dict[str, Any], values: list[float]) -> tuple[float, str]:
    """What numbers of an axis are divided by, and their unit."""
    if axis["unit"] != "ns":
        return 1.0, axis["unit"]
    # A logarithmic axis shows small numbers as well as large ones: the unit fits its middle.
    known = [abs(value) for value in values if value]
    return time_scale([(min(known) * max(known)) ** 0.5] if axis["log"] and known else known)


def _horizontal(axes: Axes, x: dict[str, Any], scale: float, font_size: float) -> None:
    names = x["names"]
    if names is not None:
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.5, len(names) - 0.5)
        letters = len(names) * (max(map(len, names)) + 1)
        room = axes.get_position().width * _figure(axes).get_size_inches()[0] * 72
        if letters * _LETTER * font_size > room:
            axes.tick_params("x", rotation=_ANGLE)
            for label in axes.get_xticklabels():
                label.set_horizontalalignment("right")
                label.set_rotation_mode("anchor")
        return
    if not x["log"]:
        return
    axes.set_xscale("log")
    ticks = x["ticks"]
    if ticks is not None:
        shown = [tick / scale for tick in ticks[:: -(-len(ticks) // _TICKS)]]
        axes.set_xticks(shown, [f"{tick:.3g}" for tick in shown])
        axes.minorticks_off()
