"""Progress bars, in notebooks and on terminals."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ftlab import _notebook

#: Called with the name of what is done, what is done of it, and the whole, if it is known.
Listener = Callable[[str, int, "int | None"], None]

#: The thousandths of a run that the simulator tells.
THOUSANDTHS = 1000.0
#: The seconds from one look of a bar to the next; a notebook may keep each.
_INTERVAL = 0.5


class Bar:
    """A bar of tqdm, if it is installed and anybody can see it."""

    def __init__(self, wanted: bool | None, unit: str = "requests", scale: float = 1.0) -> None:
        self._wanted = _can_be_seen() if wanted is None else wanted
        self._asked = wanted is not None
        self._unit = unit
        self._scale = scale
        self._name = ""
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    @property
    def listener(self) -> Listener | None:
        """What the simulator calls; none if there is no bar."""
        return self._show if self._wanted and _tqdm() is not None else None

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None

    def _show(self, name: str, done: int, whole: int | None) -> None:
        tqdm = _tqdm()
        # Nothing is counted yet if the whole is nothing.
        if tqdm is None or whole == 0:
            return
        if self._bar is None or name != self._name:
            self._close()
            self._name = name
            total = None if whole is None else whole / self._scale
            self._bar = tqdm(
                total=total,
                desc=name,
                unit=f" {self._unit}",
                unit_scale=True,
                leave=False,
                mininterval=_INTERVAL,
                # What nobody asked for and takes no time leaves nothing.
                delay=0.0 if self._asked else _INTERVAL,
                # Of parts of runs the share alone is of interest.
                bar_format="{desc}: {percentage:3.0f}%|{bar}| [{elapsed}<{remaining}]" if self._scale != 1.0 else None,
            )
        self._bar.update(done / self._scale - self._bar.n)


@functools.cache
def _tqdm() -> Any:
    with warnings.catch_warnings():
        # In a notebook without ipywidgets it warns that the bar is a line of text.
        warnings.simplefilter("ignore")
        try:
            from tqdm.auto import tqdm
        except ImportError:
            return None
    return tqdm


def _can_be_seen() -> bool:
    """Whether there is a terminal or a notebook."""
    return sys.stderr.isatty() or _notebook.shell() is not None
