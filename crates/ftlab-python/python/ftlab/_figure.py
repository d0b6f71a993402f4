"""The figures that :mod:`ftlab.plot` makes. Imported with the first one, since matplotlib need not be installed."""

from __future__ import annotations

import io
from typing import Any, cast

import matplotlib
from matplotlib.figure import Figure

from ftlab import _notebook
from ftlab._look import SAVED

#: The dots per inch of figures in notebooks.
_DPI = 160


class PaperFigure(Figure):
    """A figure that keeps its text as text when it is saved."""

    def savefig(self, *arguments: Any, **options: Any) -> None:
        """As matplotlib does it."""
        with matplotlib.rc_context(cast("Any", SAVED)):
            super().savefig(*arguments, **options)


def teach_notebook() -> None:
    """Lets a notebook show figures that pyplot did not make, unless it knows how already."""
    shell = _notebook.shell()
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    if not any(Figure in formatter.type_printers for formatter in formatters.values()):
        formatters["image/png"].for_type(Figure, _png)


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI)
    return file.getvalue()
