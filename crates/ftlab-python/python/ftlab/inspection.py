"""What a load is like: all that ``ftlab trace inspect`` and ``ftlab trace compare`` tell.

The names are those of the keys that these commands print with ``--json``. Times are in nanoseconds, sizes in bytes, and ratios
go from 0 to 1, unless their names say otherwise. A figure is ``None`` where the load has none, such as a rate without time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ftlab import _ftlab
from ftlab._errors import UsageError
from ftlab._load import Load, check_load
from ftlab._progress import Bar
from ftlab._table import Table

__all__ = [
    "AccessCounts",
    "Accesses",
    "Arrivals",
    "Character",
    "Distribution",
    "Identification",
    "Inspection",
    "LoadComparison",
    "MixOverTime",
    "Reuse",
    "Sequence",
    "Skew",
    "compare_loads",
    "inspect",
]


class _Column(NamedTuple):
    """A column of a table: its name, what it holds (``count``, ``number`` or ``text``), and its unit."""

    name: str
    kind: str
    unit: str = ""


def _table(about: str, columns: Iterable[_Column], rows: list[dict[str, Any]]) -> Table:
    filled = [(name, kind, unit, [row[name] for row in rows]) for name, kind, unit in columns]
    return Table(_ftlab.Columns.of_values(about, filled))


@dataclass(frozen=True, eq=False)
class Distribution:
    """How many values are in each bin. A bin is at most a sixteenth wide."""

    count: float
    """The values; an estimate, and not whole, if pages are sampled."""
    mean: float | None
    """Their mean, in the unit of the values; ``None`` without values."""
    max: int | None
    """The largest, in the unit of the values; ``None`` without values."""
    bins: Table
    """The bins with values, ascending: ``from``, the least possible value of the bin (``uint64``), ``count`` (``float64``), and
    the ``mean`` of the values (``float64``)."""

    def quantile(self, q: float) -> int | None:
        """The value that a share ``q`` does not exceed: 0.5 for the median. It is the mean of its bin, whose values are within
        a sixteenth of each other. ``None`` without values.

        A share that is not from 0 to 1 is a ``UsageError``.
        """
        if isinstance(q, bool) or not isinstance(q, (int, float)) or not 0 <= q <= 1:
            raise UsageError(f"q is a share from 0 to 1, not {q!r}")
        means = self.bins["mean"]
        if len(means) == 0:
            return None
        at = int(np.searchsorted(np.cumsum(self.bins["count"]), q * self.count))
        return round(float(means[min(at, len(means) - 1)]))


@dataclass(frozen=True, eq=False)
class MixOverTime:
    """Reads, writes and trims over time."""

    interval_ns: int
    """The length of an interval: a millisecond, doubled until at most 256 cover the load."""
    intervals: Table
    """A row for each interval from the first request on: ``reads``, ``writes``, ``trims``, and the bytes of each."""


@dataclass(frozen=True, eq=False)
class Sequence:
    """Requests that follow each other."""

    next_ratio: float | None
    """The share of reads and writes that start where the previous one of their stream ended."""
    next_bytes_ratio: float | None
    """The same share of bytes."""
    near_ratio: float | None
    """The share that start where any of the last 16 of their stream ended."""
    near_bytes_ratio: float | None
    """The same share of bytes."""
    run_requests: Distribution
    """The requests of a run: a request and those that continue it directly."""


@dataclass(frozen=True, eq=False)
class Arrivals:
    """Gaps, bursts and idle time."""

    gap_ns: Distribution
    """The gaps between requests, in nanoseconds."""
    gap_variation: float | None
    """Their standard deviation over their mean: 1 for Poisson arrivals; ``None`` without time."""
    dispersion: Table
    """How the requests in an interval vary, a row for each of four lengths: ``interval_ns``, whole ``intervals``, ``index``
    (variance over mean; NaN with fewer than two), ``peak_to_mean``."""
    idle: Table
    """Gaps of at least a length, a row for each of five: ``at_least_ns``, ``gaps``, ``time_ratio`` (NaN without time)."""


@dataclass(frozen=True, eq=False)
class Reuse:
    """How soon pages of 4 KiB are used again and overwritten."""

    accesses: int
    """Uses of pages; a request of three pages is three. Of a request, the first 64 MiB count."""
    reuse_pages: Distribution
    """The other pages used between two uses of a page."""
    lru: Table
    """The ``miss_ratio`` of LRU caches of ``cache_pages`` pages, for powers of two up to the first that holds all."""
    overwrite_bytes: Distribution
    """The bytes written from a write of a page to its next write."""
    overwrite_ns: Distribution
    """The time between these, in nanoseconds."""


@dataclass(frozen=True, eq=False)
class Skew:
    """How unequally pages are used."""

    top: Table
    """The ``accesses_ratio`` of the pages used most, by ``pages_percent`` of the pages."""
    zipf_exponent: float | None
    """The Zipf exponent of most likelihood; ``None`` with fewer than two pages."""


@dataclass(frozen=True, eq=False)
class Character:
    """What a load is like. Reads and writes use pages of 4 KiB; trims and flushes do not."""

    requests: int
    """All requests."""
    timeless: bool
    """Whether all requests, of several, come at one time. Then ``mix``, ``arrivals``, ``working_set`` and ``overwrite_ns`` are empty."""
    mix: MixOverTime
    """Reads, writes and trims over time."""
    read_bytes: Distribution
    """The sizes of reads."""
    write_bytes: Distribution
    """The sizes of writes."""
    sequence: Sequence
    """Requests that follow each other."""
    arrivals: Arrivals
    """Gaps, bursts and idle time."""
    followed_ratio: float
    """The share of pages that is followed: 1 if all figures of pages are exact."""
    pages: float
    """Distinct pages read or written, separately for each stream."""
    working_set: Table
    """A row for each hour with requests, at most 4096: ``hour`` (from 0), ``pages``, ``new_pages``, ``pages_so_far``, and
    ``error_ratio``, the relative standard error of ``pages``."""
    reuse: Reuse
    """How soon pages are used again and overwritten."""
    skew: Skew
    """How unequally pages are used."""
    streams: Table
    """A row for each stream: ``stream`` (NaN for all after the first 1024 together), ``requests``, ``read_bytes``,
    ``write_bytes``, ``first_ns``, ``last_ns`` (NaN without times)."""


@dataclass(frozen=True, eq=False)
class AccessCounts:
    """Counts by the class of the page."""

    only_read: int
    """On pages with more than 95 % reads among their accesses."""
    only_written: int
    """On pages with more than 95 % writes."""
    interleaved: int
    """On all other pages."""


@dataclass(frozen=True, eq=False)
class Identification:
    """How well the last accesses of a page, the current one included, predict its class."""

    first_accesses: int
    """First accesses of a page, which the other counts do not include."""
    first_right: int
    """First accesses that alone predict the class."""
    later_accesses: int
    """All other accesses."""
    windows: Table
    """A row for each length of history: ``window_accesses``, how many predictions were ``right``, ``right_ratio`` (NaN without
    later accesses)."""


@dataclass(frozen=True, eq=False)
class Accesses:
    """How reads and writes share pages of 4 KiB, separately for each stream."""

    pages: AccessCounts
    """Touched pages, by class."""
    reads: AccessCounts
    """Reads, by the class of the page."""
    writes: AccessCounts
    """Writes of pages or parts of them, by the class of the page."""
    only_read_reads_ratio: float | None
    """The share of reads that are on pages only read."""
    only_written_writes_ratio: float | None
    """The share of writes that are on pages only written."""
    never_written_reads: int
    """Reads of pages that the load had not written before."""
    never_written_reads_ratio: float | None
    """Their share of all reads."""
    identification: Identification
    """How well a short history predicts the class of a page."""


@dataclass(frozen=True, eq=False, repr=False)
class Inspection:
    """A load, described. Made by :func:`inspect`."""

    file: str
    """The file; the name of requests in memory."""
    format: str
    """The name of the format; ``requests`` for requests in memory."""
    compression: str
    """How the file is compressed; ``none`` if it is not."""
    units: dict[str, str | None]
    """The units of its numbers: ``time``, ``address``, ``size``. Of a table read by ``columns`` those of its columns,
    or None."""
    digest: str
    """BLAKE3 of the requests; the same in any container."""
    requests: int
    """All requests."""
    reads: int
    """Reads."""
    writes: int
    """Writes."""
    fua_writes: int
    """Writes with FUA."""
    trims: int
    """Trims."""
    flushes: int
    """Flushes."""
    read_bytes: int
    """Bytes read."""
    write_bytes: int
    """Bytes written."""
    trim_bytes: int
    """Bytes trimmed."""
    span_bytes: int
    """The distance from the lowest to the highest byte of a request, trims included, over all streams."""
    min_lba: int
    """The lowest sector of 512 bytes."""
    max_lba_end: int
    """One past the highest sector."""
    touched_pages_4k: int
    """Distinct pages of 4 KiB read or written, separately for each stream."""
    touched_pages_error_ratio: float
    """The relative standard error of ``touched_pages_4k``; 0 if it is exact."""
    duration_ns: int
    """The time from the first request to the last; 0 without times."""
    mean_requests_per_s: float | None
    """Requests per second, without the first; ``None`` if the duration is 0."""
    max_requests_in_1s: int | None
    """The most requests in any second that begins at a full millisecond; ``None`` without times."""
    streams: int
    """Distinct streams (devices, volumes, files)."""
    streams_error_ratio: float
    """The relative standard error of ``streams``; 0 if it is exact."""
    stream_names: list[str]
    """The names of the first 1024 streams by their numbers, if the file has names and not numbers."""
    out_of_order: int
    """Requests that come after a later one in the file. Those in memory were sorted when they were taken."""
    unaligned_4k: int
    """Requests that do not start or end at a multiple of 4 KiB, without flushes."""
    sizes: Table
    """Requests by size: ``up_to_bytes``, a power of two, ``reads`` and ``writes`` above half of it and up to it."""
    character: Character
    """What the load is like."""
    accesses: Accesses | None
    """How reads and writes share pages, if :func:`inspect` was asked for it."""
    skipped_lines: int
    """Malformed lines that were skipped."""
    assumed: list[str]
    """Assumptions about what the file does not say. Read them."""
    warnings: list[str]
    """Suspicious findings. Read them."""
    document: dict[str, Any]
    """All figures as ``ftlab trace inspect --json`` prints them."""
    _compiled: _ftlab.Inspection

    def __repr__(self) -> str:
        return f"<Inspection of {self.file}: {self.requests:,} requests, {self.format}>"


class LoadComparison:
    """Two loads side by side. Made by :func:`compare_loads`."""

    def __init__(self, first: Inspection, second: Inspection) -> None:
        self.first = first
        """The first load, described."""
        self.second = second
        """The second load, described."""
        self.document: dict[str, Any] = _parsed(first._compiled.compare(second._compiled))
        """All figures as ``ftlab trace compare --json`` prints them."""
        figures = [_Column("name", "text"), *(_Column(name, "number", "as the name says") for name in ("first", "second"))]
        self.figures = _table(
            "A row for each figure; ratio is the second over the first.",
            [*figures, _Column("ratio", "number")],
            self.document["figures"],
        )
        """A row for each figure: ``name``, ``first``, ``second``, ``ratio`` (the second over the first); NaN where there is
        none."""
        self.distances = _table(
            "A row for each distribution; a distance is 0 for equal and 1 for disjoint ones.",
            [_Column("name", "text"), _Column("kolmogorov_smirnov", "number"), _Column("total_variation", "number")],
            self.document["distances"],
        )
        """A row for each distribution: ``name``, ``kolmogorov_smirnov`` (the largest difference of the shares up to a value),
        ``total_variation`` (half the sum of the differences of the bins); NaN if one is empty."""

    def ratio(self, name: str) -> float | None:
        """The second over the first of the figure with this name; ``None`` where there is none."""
        for figure in self.document["figures"]:
            if figure["name"] == name:
                ratio: float | None = figure["ratio"]
                return ratio
        raise KeyError(f"there is no figure {name}; there are {', '.join(self.figures['name'])}")

    def __repr__(self) -> str:
        return f"<LoadComparison of {self.first.file} and {self.second.file}>"


def inspect(load: Load, /, *, accesses: bool = False, progress: bool | None = None) -> Inspection:
    """Describes a load made by :func:`trace` or :func:`requests`, as ``ftlab trace inspect`` does: mix, sizes, rate, order,
    sequentiality, bursts, working set, reuse and skew.

    It is read once, however it would be played: ``address``, ``speed`` and the like change nothing, and ``requests=`` does not
    shorten it. ``accesses`` also asks how reads and writes share pages, which takes memory for each page. What the reader refuses is
    a ``UsageError``, and so is a workload or a job file, which has no requests before it is played; a missing file is a
    ``FileError``. Ctrl-C stops it, and other threads of Python go on meanwhile.
    """
    check_load(load)
    if not isinstance(accesses, bool):
        raise UsageError(f"accesses is True or False, not {accesses!r}")
    with Bar(progress) as bar:
        compiled = _ftlab.inspect(load._load, accesses, bar.listener)
    document = _parsed(compiled.json)
    accesses_of = document.get("accesses")
    figures = _with(
        document,
        sizes=_table("Requests by size, up to a power of two.", _SIZES, document["sizes"]),
        character=_character(document["character"]),
        accesses=None if accesses_of is None else _accesses(accesses_of),
    )
    return Inspection(**figures, document=document, _compiled=compiled)


def compare_loads(first: Load | Inspection, second: Load | Inspection, /, *, progress: bool | None = None) -> LoadComparison:
    """Compares what two loads are like, as ``ftlab trace compare`` does: figures with their ratio, and the distances of their
    distributions. A load is inspected first; fails as :func:`inspect` does."""
    described = [one if isinstance(one, Inspection) else inspect(one, progress=progress) for one in (first, second)]
    return LoadComparison(*described)


_SIZES = [_Column("up_to_bytes", "count", "bytes"), _Column("reads", "count", "requests"), _Column("writes", "count", "requests")]
_MIX = [
    *(_Column(name, "count", "requests") for name in ("reads", "writes", "trims")),
    *(_Column(name, "count", "bytes") for name in ("read_bytes", "write_bytes", "trim_bytes")),
]
_DISPERSION = [
    *(_Column("interval_ns", "count", "ns"), _Column("intervals", "count", "intervals")),
    *(_Column("index", "number"), _Column("peak_to_mean", "number")),
]
_IDLE = [_Column("at_least_ns", "count", "ns"), _Column("gaps", "count", "gaps"), _Column("time_ratio", "number")]
_WORKING_SET = [
    _Column("hour", "count", "h"),
    *(_Column(name, "number", "pages of 4 KiB") for name in ("pages", "new_pages", "pages_so_far")),
    _Column("error_ratio", "number"),
]
_LRU = [_Column("cache_pages", "count", "pages of 4 KiB"), _Column("miss_ratio", "number")]
_TOP = [_Column("pages_percent", "count", "%"), _Column("accesses_ratio", "number")]
_STREAMS = [
    *(_Column("stream", "number"), _Column("requests", "count", "requests")),
    *(_Column("read_bytes", "count", "bytes"), _Column("write_bytes", "count", "bytes")),
    *(_Column("first_ns", "number", "ns"), _Column("last_ns", "number", "ns")),
]
_WINDOWS = [*(_Column(name, "count", "accesses") for name in ("window_accesses", "right")), _Column("right_ratio", "number")]


def _parsed(text: str) -> dict[str, Any]:
    import json

    document: dict[str, Any] = json.loads(text)
    return document


def _with(values: dict[str, Any], /, **made: Any) -> dict[str, Any]:
    """The values, with those that were made in place of theirs."""
    return {**values, **made}


def _distribution(values: dict[str, Any], unit: str) -> Distribution:
    columns = [_Column("from", "count", unit), _Column("count", "number"), _Column("mean", "number", unit)]
    bins = _table("The values from this one up to the next bin, or within a sixteenth.", columns, values["bins"])
    return Distribution(**_with(values, bins=bins))


def _character(values: dict[str, Any]) -> Character:
    mix, sequence, arrivals, reuse, skew = (values[name] for name in ("mix", "sequence", "arrivals", "reuse", "skew"))
    intervals = _table("An interval, from the first request on.", _MIX, mix["intervals"])
    dispersion = _table("The requests in intervals of one length.", _DISPERSION, arrivals["dispersion"])
    idle = _table("Gaps of at least a length.", _IDLE, arrivals["idle"])
    gaps = _distribution(arrivals["gap_ns"], "ns")
    pages = _distribution(reuse["reuse_pages"], "pages of 4 KiB")
    lifetimes = {name: _distribution(reuse[name], unit) for name, unit in (("overwrite_bytes", "bytes"), ("overwrite_ns", "ns"))}
    lru = _table("The misses of an LRU cache.", _LRU, reuse["lru"])
    made = _with(
        values,
        mix=MixOverTime(**_with(mix, intervals=intervals)),
        read_bytes=_distribution(values["read_bytes"], "bytes"),
        write_bytes=_distribution(values["write_bytes"], "bytes"),
        sequence=Sequence(**_with(sequence, run_requests=_distribution(sequence["run_requests"], "requests"))),
        arrivals=Arrivals(**_with(arrivals, gap_ns=gaps, dispersion=dispersion, idle=idle)),
        working_set=_table("The pages used in an hour.", _WORKING_SET, values["working_set"]),
        reuse=Reuse(**_with(reuse, reuse_pages=pages, lru=lru, **lifetimes)),
        skew=Skew(**_with(skew, top=_table("The pages used most.", _TOP, skew["top"]))),
        streams=_table("The requests of a stream.", _STREAMS, values["streams"]),
    )
    return Character(**made)


def _accesses(values: dict[str, Any]) -> Accesses:
    identification = values["identification"]
    windows = _table("The predictions of one length of history.", _WINDOWS, identification["windows"])
    counts = {name: AccessCounts(**values[name]) for name in ("pages", "reads", "writes")}
    return Accesses(**_with(values, identification=Identification(**_with(identification, windows=windows)), **counts))
