"""``ftlab-figure``: draws for ``ftlab figure``, which sends the data and takes the file."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

from ftlab._errors import FtlabError

#: What figures say of their origin. The program knows its files by it.
_CREATOR = "ftlab figure"
#: What is written into files of each form. Without dates, the same figure has the same bytes.
_ABOUT: dict[str, dict[str, Any]] = {
    "pdf": {"Creator": _CREATOR, "CreationDate": None},
    "svg": {"Creator": _CREATOR, "Date": None},
    "png": {"Software": _CREATOR},
}
#: Dots per inch of PNG.
_DPI = 600


def main() -> None:
    """Reads the data of a figure from standard input, and writes it to standard output in the form that is named."""
    form = sys.argv[1] if len(sys.argv) == 2 else ""
    if form not in _ABOUT:
        _leave("this is a part of `ftlab figure`\n  remedy: run `ftlab figure --help`")
    try:
        sys.stdout.buffer.write(drawn(json.load(sys.stdin), form))
    except (FtlabError, ImportError) as error:
        _leave(str(error))
    except (ValueError, KeyError, TypeError):
        _leave("the data of the figure can't be read\n  remedy: install the program and the Python package of one version")


def drawn(document: dict[str, Any], form: str) -> bytes:
    """The file of a figure."""
    from ftlab._draw import draw

    look = document["look"]
    figure = draw(
        document,
        width=look["width_mm"],
        height=look["height_mm"],
        font=look["font"],
        font_size=look["font_size_pt"],
    )
    import matplotlib

    file = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": _CREATOR}):
        figure.savefig(file, format=form, metadata=_ABOUT[form], dpi=_DPI)
    return file.getvalue()


def _leave(why: str) -> None:
    print(f"error: {why}", file=sys.stderr)
    sys.exit(2)
