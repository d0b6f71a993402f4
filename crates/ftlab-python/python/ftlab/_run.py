"""Runs and their results."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ftlab import _ftlab
from ftlab._device import Device, check_device
from ftlab._errors import FtlabError, UsageError
from ftlab._load import Load, check_load, run_options
from ftlab._progress import Bar, Listener
from ftlab._table import Table
from ftlab._values import count_of, seed_of, whole_number

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ftlab._options import RunOptions
    from ftlab._why import Why
    from ftlab.plot import RunPlots


class Summary(Mapping[str, "float | None"]):
    """The metrics of a run by their keys, such as ``read.latency.p99``. Latencies are in nanoseconds.

    A value is ``None`` where it is unknown, such as a percentile of too few requests.
    """

    def __init__(self, metrics: list[tuple[str, str, str, bool, float | None]]) -> None:
        self._metrics = {key: (name, unit, higher, value) for key, name, unit, higher, value in metrics}

    @property
    def units(self) -> dict[str, str]:
        """The unit of each metric; empty for ratios."""
        return {key: unit for key, (_, unit, _, _) in self._metrics.items()}

    @property
    def names(self) -> dict[str, str]:
        """The name of each metric in words."""
        return {key: name for key, (name, _, _, _) in self._metrics.items()}

    def __getitem__(self, key: str) -> float | None:
        return self._metrics[key][3]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)

    def __repr__(self) -> str:
        rows = [(name, _legible(value, unit)) for name, unit, _, value in self._metrics.values()]
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join(f"{name:<{width}}  {value:>12}" for name, value in rows)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td style='text-align:left'>{name}</td><td><code>{key}</code></td><td>{_legible(value, unit)}</td></tr>"
            for key, (name, unit, _, value) in self._metrics.items()
        )
        return f"<table><tr><th>Metric</th><th>Key</th><th>Value</th></tr>{rows}</table>"


def _legible(value: float | None, unit: str) -> str:
    """A value with its unit, to three or four digits."""
    if value is None:
        return "-"
    if unit == "ns":
        for scale, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
            if abs(value) >= scale:
                return f"{value / scale:.3g} {name}"
        return f"{value:.0f} ns"
    if not unit:
        return f"{value:.3f}"
    return f"{value:,.0f} {unit}" if abs(value) >= 1000 else f"{value:.3g} {unit}"


class Run:
    """The result of a run: metrics, tables, and the document that the program writes.

    ``run["read.latency.p99"]`` is a metric, and ``run["report.gc.erased_blocks"]`` any value of the document.
    """

    def __init__(self, run: _ftlab.Run, device: Device, load: Load, seed: int, options: Mapping[str, object]) -> None:
        self._run = run
        self._recorded: _ftlab.Columns | None = run.requests
        self._document: dict[str, Any] | None = None
        self._summary: Summary | None = None
        self.device = device
        """The device."""
        self.load = load
        """What was played."""
        self.seed = seed
        """The seed."""
        self._options = dict(options)

    @property
    def document(self) -> dict[str, Any]:
        """``result.json`` as Python objects."""
        document = self._document
        if document is None:
            document = self._document = json.loads(self._run.result_json)
        return document

    @property
    def result_json(self) -> bytes:
        """``result.json`` to the byte, as ``ftlab run`` writes it."""
        return self._run.result_json

    @property
    def summary(self) -> Summary:
        """The metrics that comparisons and sweeps use."""
        if self._summary is None:
            self._summary = Summary(self._run.metrics)
        return self._summary

    @property
    def complete(self) -> bool:
        """Whether the run was completed, rather than stopped after a part."""
        return self._run.complete

    @property
    def notes(self) -> list[str]:
        """What was assumed, and what the figures can't tell. Read them."""
        return self._run.notes

    @property
    def timeline(self) -> Table:
        """A row for each window of simulated time."""
        return Table(self._run.timeline)

    @property
    def latencies(self) -> Table:
        """The whole distribution of the latencies of each operation."""
        return Table(self._run.latencies)

    @property
    def blocks(self) -> Table:
        """A row for each block, or a few neighbours: erases, valid pages, states."""
        return Table(self._run.blocks)

    @property
    def queues(self) -> Table | None:
        """A row for each window and submission queue, if there are several queues."""
        queues = self._run.queues
        return None if queues is None else Table(queues)

    @property
    def requests(self) -> Table:
        """A row for each request, those of the preparation included.

        Unless they were recorded (``records=True``), the run is performed once more, with the same outcome.
        """
        if self._recorded is None:
            again = run(self.device, self.load, seed=self.seed, records=True, **self._options)  # type: ignore[arg-type]
            self._check_same(again.result_json)
            self._recorded = again._recorded
        assert self._recorded is not None
        return Table(self._recorded)

    def why(
        self,
        *,
        request: int | None = None,
        slowest: int = 1,
        op: str | None = None,
        tail: float = 0.001,
        progress: bool | None = None,
    ) -> Why:
        """Why requests took as long as they did: what they waited for, followed to the cause.

        ``request`` asks for one by its index in :attr:`requests`; else it is the ``slowest`` few of each operation, and what
        the slowest share of all consists of (``tail``: a thousandth; at most 2,000 requests). The parts sum to the latency
        to the nanosecond. The run is performed twice more.
        """
        from ftlab._why import Why

        if not isinstance(tail, (int, float)) or not 0 < tail <= 1:
            raise UsageError(f"tail is a share above 0 and up to 1, not {tail!r}")
        with Bar(progress) as bar:
            answer, page, result = _ftlab.explain_run(
                self._again(),
                None if request is None else _index_of(request),
                0 if slowest == 0 else count_of("slowest", slowest, _MOST_SLOWEST),
                op,
                max(1, round(tail * 1_000_000)),
                bar.listener,
            )
        self._check_same(result.encode())
        return Why(json.loads(answer), page)

    def save_timeline(
        self, file: str | os.PathLike[str], when: str = "slowest:5ms", *, progress: bool | None = None
    ) -> None:
        """Writes what requests, dies and buses did at some time, for https://ui.perfetto.dev.

        ``when`` is ``"120ms..140ms"`` from the start of measuring, ``"slowest:5ms"`` around the slowest request, or
        ``"slowest:read:10"`` during the ten slowest reads, or ``"cut"`` around the first power cut. The run is performed twice
        more.
        """
        with Bar(progress) as bar:
            trace, result = _ftlab.trace_run(self._again(), when, bar.listener)
        self._check_same(result.encode())
        with open(file, "wb") as to:
            to.write(trace)

    def _again(self) -> _GivenRun:
        """What performs this run again."""
        return _given(self.device, self.load, self.seed, self._options)

    def _check_same(self, result_json: bytes) -> None:
        if result_json != self.result_json:
            raise FtlabError(
                "the run gave other results the second time: a file that it reads, or a policy in Python, has changed"
            )

    @property
    def fio(self) -> dict[str, Any]:
        """The results of fio jobs, as ``fio --output-format=json`` prints them."""
        text = self._run.fio_json
        if text is None:
            raise UsageError("no fio jobs were run\n  remedy: play a job file with ftlab.fio")
        found: dict[str, Any] = json.loads(text)
        return found

    @property
    def plot(self) -> RunPlots:
        """Figures of this run: ``latency(op="read")``, ``throughput()``, ``amplification()`` and ``wear()``."""
        from ftlab.plot import RunPlots

        return RunPlots({self.device.title: self})

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the result folder of the program, which ``ftlab compare`` and ``ftlab report`` read."""
        self._run.save(os.fspath(folder), force)

    def __getitem__(self, key: str) -> Any:
        if not isinstance(key, str):
            raise KeyError(f"{key!r} is no metric: metrics have names, such as read.latency.p99")
        key = key.replace("p99.99", "p99_99").replace("p99.9", "p99_9")
        if key in self.summary:
            return self.summary[key]
        found: Any = self.document
        for part in key.split("."):
            known = _parts(found)
            if part not in known:
                raise KeyError(_unknown(key, self.summary))
            found = known[part]
        return found

    def __contains__(self, key: object) -> bool:
        try:
            self[key]  # type: ignore[index]  # What is no text is refused as any unknown key.
        except KeyError:
            return False
        return True

    def get(self, key: str, default: Any = None) -> Any:
        """As ``run[key]``, or the default if there is no such metric."""
        return self[key] if key in self else default

    def __iter__(self) -> Iterator[str]:
        return iter(self.summary)

    def __repr__(self) -> str:
        notes = "".join(f"\n- {note}" for note in self.notes)
        return f"<Run of {self.load.name} on {self.device.title}, seed {self.seed}>\n{self.summary!r}{notes}"

    def _repr_html_(self) -> str:
        import html

        head = html.escape(f"{self.load.name} on {self.device.title}, seed {self.seed}")
        notes = "".join(f"<li>{html.escape(note)}</li>" for note in self.notes)
        return f"<p><b>{head}</b></p>{self.summary._repr_html_()}<ul>{notes}</ul>"


#: More single requests than this are a typing mistake.
_MOST_SLOWEST = 1000


@dataclass(frozen=True)
class _GivenRun:
    """A run, as the compiled half takes it."""

    config: _ftlab.Config
    load: _ftlab.Load
    options: _ftlab.RunOptions
    seed: int


def _given(device: Device, load: Load, seed: int, options: Mapping[str, object]) -> _GivenRun:
    return _GivenRun(device._config, load._load, run_options(load, device, options), seed_of(seed))


def _index_of(request: object) -> int:
    number = whole_number(request)
    if number is None:
        raise UsageError(f"a request is named by its index, a whole number from 0, not by {request!r}")
    return number


def _parts(value: Any) -> Mapping[str, Any]:
    """The parts of a value of a document, by their names or numbers."""
    if isinstance(value, list):
        return {str(at): part for at, part in enumerate(cast(Iterable[Any], value))}
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _unknown(key: str, summary: Summary) -> str:
    import difflib

    op, _, metric = key.partition(".")
    if metric.startswith("latency.p") and f"{op}.latency.p50" in summary:
        most = [name for name in summary if name.startswith(f"{op}.latency.p")][-1]
        return f"there is no metric {key}: {most} is the last percentile for which there were enough requests"
    if op in ("read", "write", "trim", "flush") and not any(name.startswith(f"{op}.") for name in summary):
        return f"there is no metric {key}: the run measured no {op}s"
    near = difflib.get_close_matches(key, summary, n=3)
    meant = f"; did you mean {' or '.join(near)}?" if near else f"; there are {', '.join(summary)}"
    return f"there is no metric {key}{meant}"


def run(
    device: Device,
    load: Load,
    /,
    *,
    seed: int = 1,
    records: bool = False,
    progress: bool | None = None,
    **options: Unpack[RunOptions],
) -> Run:
    """Plays a load on a device.

    Configuration, load and seed decide every byte of the result. ``records`` keeps every request (see
    :attr:`Run.requests`). ``progress`` shows a bar; by default where someone can see it. Ctrl-C stops the run.
    """
    check_device(device)
    check_load(load)
    with Bar(progress) as bar:
        return watched_run(device, load, seed, records, options, bar.listener)


def watched_run(
    device: Device,
    load: Load,
    seed: int,
    records: bool,
    options: Mapping[str, object],
    listener: Listener | None,
) -> Run:
    """A run with a listener in place of a bar."""
    done = _ftlab.run(_given(device, load, seed, options), records, listener)
    return Run(done, device, load, seed, options)
