"""Why requests took as long as they did."""

from __future__ import annotations

import html
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ftlab._run import _legible
from ftlab._table import pandas_of, polars_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

#: Shares below this part of the whole are summed up.
_LEAST = 0.005


@dataclass(frozen=True)
class Share:
    """Time that went to one thing."""

    what: str
    """What it went to."""
    ns: int
    """The time."""
    commands: int
    """How many flash commands had part in it."""


@dataclass(frozen=True)
class Explained:
    """What the time of a request, or of a tail of requests, went to, the longest first. The parts sum to the whole."""

    title: str
    facts: dict[str, Any]
    """A request: its ``index``, ``op``, ``lba``, ``sectors``, ``arrived_ns`` and ``latency_ns``. A tail: its ``op``, how many
    ``requests`` of the ``measured`` ones, from which latency on (``from_ns``), and ``total_ns``."""
    parts: list[Share]

    @property
    def total_ns(self) -> int:
        """The whole time."""
        return sum(part.ns for part in self.parts)

    def __repr__(self) -> str:
        rows = [f"{_legible(float(part.ns), 'ns'):>10}  {part.ns / max(self.total_ns, 1):6.1%}  {part.what}" for part in self._shown()]
        return "\n".join([f"{self.title}:", *rows])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_legible(float(part.ns), 'ns')}</td><td>{part.ns / max(self.total_ns, 1):.1%}</td>"
            f"<td style='text-align:left'>{html.escape(part.what)}</td></tr>"
            for part in self._shown()
        )
        return f"<p><b>{html.escape(self.title)}:</b></p><table>{rows}</table>"

    def _shown(self) -> list[Share]:
        shown = [part for part in self.parts if part.ns >= _LEAST * self.total_ns]
        rest = self.total_ns - sum(part.ns for part in shown)
        return [*shown, Share("everything else", rest, 0)] if rest else shown


class Why:
    """Why requests of a run took as long as they did."""

    def __init__(self, document: dict[str, Any], page: str) -> None:
        self.document = document
        """The answer as ``ftlab why --json`` prints it."""
        self._page = page
        self.tails = [_explained(one) for one in document["tails"]]
        """What the slowest requests of each operation consist of."""
        self.requests = [_explained(one) for one in document["requests"]]
        """Single requests, the slowest first."""

    def save_page(self, file: str | os.PathLike[str]) -> None:
        """Writes a page with the answer and the time line of each request."""
        with open(file, "w", encoding="utf-8") as to:
            to.write(self._page)

    def to_polars(self) -> pl.DataFrame:
        """A row for each part of each tail and request."""
        return polars_of(self._rows())

    def to_pandas(self) -> pd.DataFrame:
        """A row for each part of each tail and request."""
        return pandas_of(self._rows())

    def _rows(self) -> list[dict[str, Any]]:
        return [
            {"of": one.title, "op": one.facts["op"], "index": one.facts.get("index"), **vars(part)}
            for one in [*self.tails, *self.requests]
            for part in one.parts
        ]

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, [*self.tails, *self.requests]))

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in [*self.tails, *self.requests])


def _explained(one: dict[str, Any]) -> Explained:
    facts = {name: value for name, value in one.items() if name not in ("title", "parts")}
    return Explained(one["title"], facts, [Share(part["what"], part["ns"], part["commands"]) for part in one["parts"]])
