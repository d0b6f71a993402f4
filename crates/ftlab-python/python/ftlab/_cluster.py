"""Where the runs of a sweep or a search are performed: here, or on a cluster of Ray."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ftlab import _ftlab
from ftlab._errors import ExperimentError, UsageError, missing
from ftlab._progress import THOUSANDTHS, Bar, Listener
from ftlab._values import threads_of

if TYPE_CHECKING:
    from ftlab._sweep import SweepSpec



class Place(Protocol):
    """Where runs are performed."""

    @property
    def scale(self) -> float:
        """How much of the progress is one run."""
        ...

    def perform(
        self,
        spec: SweepSpec,
        plan: _ftlab.SweepPlan,
        folder: _ftlab.SweepFolder | None,
        rows: _ftlab.SweepRows,
        bar: Bar,
    ) -> None:
        """Performs all runs of a sweep, and adds their rows. With a folder, each is written there, unless it is there."""
        ...

    def calls(self, function: Call, common: Any) -> contextlib.AbstractContextManager[Calls]:
        """Opens a queue of calls ``function(common, argument, listener)``.

        The listener hears of the progress, and stops the call by raising when the queue is closed; None if it can't.
        """
        ...


#: What is called for each argument.
Call = Callable[[Any, Any, "Listener | None"], Any]


class Calls(Protocol):
    """Calls that are under way."""

    @property
    def at_once(self) -> int:
        """How many are worth to have under way."""
        ...

    def begin(self, key: Any, argument: Any) -> None:
        """Begins a call."""
        ...

    def finished(self) -> Iterator[tuple[Any, Any]]:
        """Waits until calls are done, and yields their keys and results."""
        ...


@dataclass(frozen=True)
class Local:
    """This machine: all processors, or as many threads as ``threads`` says."""

    threads: int | None = None

    def __post_init__(self) -> None:
        """Refuses what is no number of threads."""
        threads_of(self.threads)

    @property
    def scale(self) -> float:
        """How much of the progress is one run."""
        return THOUSANDTHS

    def perform(
        self,
        spec: SweepSpec,
        plan: _ftlab.SweepPlan,
        folder: _ftlab.SweepFolder | None,
        rows: _ftlab.SweepRows,
        bar: Bar,
    ) -> None:
        """See :meth:`Place.perform`."""
        plan.perform(_all(plan), self.threads, folder, rows, bar.listener)

    @contextlib.contextmanager
    def calls(self, function: Call, common: Any) -> Generator[Calls]:
        """See :meth:`Place.calls`."""
        threads = self.threads or os.cpu_count() or 1
        pool = ThreadPoolExecutor(threads)
        calls = _ThreadCalls(pool, threads, function, common)
        try:
            yield calls
        finally:
            calls.closed.set()
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass
class _ThreadCalls:
    pool: ThreadPoolExecutor
    at_once: int
    function: Call
    common: Any
    closed: threading.Event = field(default_factory=threading.Event)
    under_way: dict[Future[Any], Any] = field(default_factory=dict)

    def begin(self, key: Any, argument: Any) -> None:
        self.under_way[self.pool.submit(self.function, self.common, argument, self._look)] = key

    def _look(self, _name: str, _done: int, _whole: int | None) -> None:
        if self.closed.is_set():
            raise CancelledError

    def finished(self) -> Iterator[tuple[Any, Any]]:
        done, _ = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in done:
            yield self.under_way.pop(future), future.result()


@dataclass(frozen=True)
class Ray:
    """A cluster of Ray. Every node needs ftlab in the same version, and the files that the loads name.

    Each task performs runs that share a prepared device, on one processor. What a lost worker or node had done is done
    again elsewhere. Results are the same to the byte as local ones. ``address`` is that of ``ray.init``; without one a
    connection that exists is used, or a cluster on this machine is started. ``options`` are those of a task
    (``num_cpus``, ``memory``, ``runtime_env``).
    """

    address: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scale(self) -> float:
        """How much of the progress is one run."""
        return 1.0

    def perform(
        self,
        spec: SweepSpec,
        plan: _ftlab.SweepPlan,
        folder: _ftlab.SweepFolder | None,
        rows: _ftlab.SweepRows,
        bar: Bar,
    ) -> None:
        """See :meth:`Place.perform`."""
        wanted = set(_all(plan) if folder is None else folder.missing(plan))
        groups = [[at for at in group if at in wanted] for group in plan.groups()]
        with self.calls(_perform_runs, _Common(uuid.uuid4().hex, spec, folder is not None)) as calls:
            tasks = _split([group for group in groups if group], calls.at_once)
            for number, task in enumerate(tasks):
                calls.begin(number, task)
            done = 0
            left = len(tasks)
            while left:
                for _, performed in calls.finished():
                    left -= 1
                    done += len(performed)
                    for run in performed:
                        at = run.at
                        if run.inputs != plan.inputs(at):
                            raise ExperimentError(
                                "a node performed another run: a file that it depends on, or a module of a policy in "
                                "Python, differs there\n  remedy: put the same files on every node"
                            )
                        if folder is None:
                            plan.add(at, run.result, rows)
                            continue
                        # The mark of a finished run is the last of its files.
                        for name, content in run.files:
                            folder.write(f"{plan.place(at)}/{name}", content)
                    if bar.listener is not None:
                        bar.listener("runs", done, len(wanted))
        if folder is not None:
            plan.perform(_all(plan), None, folder, rows, None)

    @contextlib.contextmanager
    def calls(self, function: Call, common: Any) -> Generator[Calls]:
        """See :meth:`Place.calls`."""
        try:
            import ray
        except ImportError:
            raise missing("ray", "'ray[default]'") from None
        if not ray.is_initialized():
            ray.init(address=self.address, log_to_driver=False)
        # A worker or a node that is lost is no error of the task: it is done again.
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": -1, **self.options}
        calls = _RayCalls(ray, ray.remote(**options)(function), ray.put(common))
        try:
            yield calls
        finally:
            for task in calls.under_way:
                with contextlib.suppress(Exception):
                    ray.cancel(task)


class _RayCalls:
    def __init__(self, ray: Any, remote: Any, common: Any) -> None:
        self._ray = ray
        self._remote = remote
        self._common = common
        self.under_way: dict[Any, Any] = {}

    @property
    def at_once(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def begin(self, key: Any, argument: Any) -> None:
        self.under_way[self._remote.remote(self._common, argument, None)] = key

    def finished(self) -> Iterator[tuple[Any, Any]]:
        ready, _ = self._ray.wait(list(self.under_way), num_returns=1)
        for task in ready:
            key = self.under_way.pop(task)
            try:
                result = self._ray.get(task)
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from None
            yield key, result


def _all(plan: _ftlab.SweepPlan) -> list[int]:
    return list(range(len(plan.runs)))


def _split(groups: Sequence[list[int]], tasks: int) -> list[list[int]]:
    """Splits groups that share a prepared device, so that there is work for all who wait; the longest first."""
    if not groups:
        return []
    runs = sum(map(len, groups))
    longest = max(1, -(-runs // max(tasks, 1)))
    parts = [group[at : at + longest] for group in groups for at in range(0, len(group), longest)]
    return sorted(parts, key=len, reverse=True)


@dataclass(frozen=True)
class _Common:
    """What all tasks of a sweep share."""

    #: The name of the sweep, unlike any other.
    key: str
    spec: SweepSpec
    #: Whether the files of each run are wanted, rather than its result alone.
    wants_files: bool


@dataclass(frozen=True)
class _Performed:
    """A run that was performed elsewhere: its fingerprint there, and its result or its files."""

    at: int
    inputs: str
    result: bytes
    files: list[tuple[str, bytes]]


#: The plan that this process works on, by the key of its sweep.
_known: dict[str, _ftlab.SweepPlan] = {}


def _plan(common: _Common) -> _ftlab.SweepPlan:
    """The plan of a sweep, made once in each process."""
    if common.key not in _known:
        _known.clear()
        _known[common.key] = common.spec.plan()
    return _known[common.key]


def _perform_runs(
    common: _Common, runs: list[int], _listener: Listener | None
) -> list[_Performed]:
    """Performs runs in this process, and returns their results, or the files of each."""
    plan = _plan(common)
    rows = _ftlab.SweepRows()
    if not common.wants_files:
        plan.perform(runs, 1, None, rows, None)
        by_run = {(point, seed): text for point, seed, text in rows.documents()}
        of = plan.runs
        return [_Performed(at, plan.inputs(at), (by_run[of[at]] or "").encode(), []) for at in runs]
    with tempfile.TemporaryDirectory() as place:
        folder = _ftlab.SweepFolder(plan, os.path.join(place, "runs"), False)
        plan.perform(runs, 1, folder, rows, None)
        return [_Performed(at, plan.inputs(at), b"", _files(Path(folder.path) / plan.place(at))) for at in runs]


def _files(folder: Path) -> list[tuple[str, bytes]]:
    """The files of a run, the mark of a finished one last."""
    mark = "result.json"
    names = sorted(path.name for path in folder.iterdir() if path.name != mark)
    return [(name, (folder / name).read_bytes()) for name in [*names, mark]]


def check_place(on: object) -> Place:
    """The place where runs are performed; here by default."""
    if on is None:
        return Local()
    if not hasattr(on, "perform"):
        raise UsageError(f"{on!r} is no place for runs\n  remedy: give fl.Local() or fl.Ray()")
    return on  # type: ignore[return-value]
