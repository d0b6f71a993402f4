"""Loads: what is played on a device, and how fast."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from ftlab import _ftlab
from ftlab._errors import UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ftlab._device import Device
    from ftlab._options import PaceOptions, ReadingOptions, TraceOptions


#: What a run is told by name. An image is part of its device.
RUN_OPTIONS = frozenset(_ftlab.RunOptions.names()) - {"image"}


class Load:
    """Something to play. Made by :func:`workload`, :func:`trace`, :func:`fio` and :func:`requests`.

    It never changes: :meth:`but` plays the same in another way.
    """

    def __init__(
        self,
        make: tuple[str, tuple[Any, ...]],
        pace: Mapping[str, object],
        load: _ftlab.Load | None = None,
    ) -> None:
        kind, arguments = make
        for option in pace:
            _check_name(option)
        # Requests are kept as they were when they were taken, and once.
        self._make = ("requests", arguments[:1]) if kind in ("requests", "table") else make
        self._pace = {name: value for name, value in pace.items() if value is not None}
        self._load: _ftlab.Load = getattr(_ftlab.Load, kind)(*arguments) if load is None else load

    @property
    def name(self) -> str:
        """The name in results."""
        return self._load.name

    @property
    def kind(self) -> str:
        """``workload``, ``trace``, ``fio`` or ``requests``."""
        return self._load.kind

    def but(self, **pace: Unpack[TraceOptions]) -> Load:
        """The same load, played in another way: ``load.but(queue_depth=32)``."""
        return Load(self._make, {**self._pace, **pace}, self._load)

    def __copy__(self) -> Load:
        return self

    def __deepcopy__(self, memo: object) -> Load:
        # It never changes, although the file that it was made of may.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        kind, arguments = self._make
        if kind == "requests":
            arguments = (*arguments, self._load.columns())
        return Load, ((kind, arguments), self._pace)

    def __repr__(self) -> str:
        pace = "".join(f", {name}={value!r}" for name, value in self._pace.items())
        return f"<Load {self.kind} {self.name}{pace}>"


def _placed(file: str) -> str:
    """The whole path of a file that is there, so that it stays the same file in another folder."""
    return os.path.abspath(file) if os.path.exists(file) else file


def workload(name: str | os.PathLike[str], /, **pace: Unpack[PaceOptions]) -> Load:
    """A workload: a built-in one (see :func:`workloads`), a TOML file, or its text (with a line break in it)."""
    text = os.fspath(name)
    make = ("workload_text", ("workload", text)) if "\n" in text else ("workload", (_placed(text),))
    return Load(make, pace)


def trace(
    file: str | os.PathLike[str],
    /,
    **options: Unpack[ReadingOptions],
) -> Load:
    """A trace, in any known format (see :func:`formats`), compressed or not.

    ``address`` says how its addresses map to the device: ``as-is``, ``fold``, ``scale``, ``partition`` or ``compact``.
    """
    played = {name: value for name, value in options.items() if name in RUN_OPTIONS}
    reading = [(name, _text(value)) for name, value in options.items() if name not in played and value is not None]
    return Load(("trace", (_placed(os.fspath(file)), reading)), played)


def fio(
    file: str | os.PathLike[str],
    /,
    *,
    variables: Mapping[str, object] | None = None,
    requests: int | None = None,
) -> Load:
    """A fio job file. Its jobs run at once, as in fio.

    ``variables`` are those that the file takes from the environment (``${SIZE}``).
    """
    given = [(name, str(value)) for name, value in (variables or {}).items()]
    return Load(("fio", (_placed(os.fspath(file)), given)), {"requests": requests})


def requests(
    table: Any,
    /,
    *,
    name: str = "requests",
    columns: str | Mapping[str, str | int] | None = None,
    op: str | Mapping[str, str] | Mapping[int, str] | None = None,
    **pace: Unpack[TraceOptions],
) -> Load:
    """Requests in columns: a table that speaks Arrow (polars, pandas, pyarrow, duckdb), or a mapping of arrays.

    ``columns`` says which column of a table of any names is what, as ``--columns`` of the program does, with units
    behind a colon: ``{"time": "ts:us", "op": 3, "offset": "lba:512", "size": "len:byte"}``, or the same as a text. What
    the table lacks is given (``"size": "4KiB"``, ``"op": "write"``); without ``time``, requests have no times. ``op``
    says what words of operations mean (``{"0": "read", "1": "write"}``); usual ones (R, write, trim, flush) are known. Moments
    and spans have units of their own. What is odd is said by a warning, and the requests are sorted by time.

    Without ``columns``, the columns are: ``op`` (``read``, ``write``, ``trim``, ``flush``, or 0 to 3; more on zoned
    devices); ``lba`` with ``sectors`` of 512 bytes, or ``offset`` with ``size`` in bytes; and if there are any ``at_ns``
    (arrival, counted from the first request when they are played), ``stream`` and ``fua``. Requests without times need
    ``queue_depth`` or ``replay="asap"``.
    """
    if columns is None and op is None:
        return Load(("requests", (name, table)), pace)
    if columns is None:
        remedy = "say which column is what: columns="
        raise UsageError(f"op says what words mean in a table read by columns\n  remedy: {remedy}")
    reading = [("columns", _text(columns)), *([] if op is None else [("op", _text(op))])]
    return Load(("table", (name, table, reading)), pace)


def check_load(load: object) -> Load:
    """A load; anything else is refused."""
    if not isinstance(load, Load):
        raise UsageError(f"{load!r} is no load\n  remedy: make one with ftlab.workload, trace, fio or requests")
    return load


def _check_name(name: str) -> None:
    if name not in RUN_OPTIONS:
        raise UsageError(f"a run has no option {name}\n  remedy: it has {', '.join(sorted(RUN_OPTIONS))}")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, cast(Iterable[object], value)))
    if isinstance(value, Mapping):
        pairs = cast(Mapping[object, object], value).items()
        return ",".join(f"{_text(key)}={_text(part)}" for key, part in pairs)
    return str(value)


def run_options(
    load: Load, device: Device, options: Mapping[str, object]
) -> _ftlab.RunOptions:
    """The options of a run: those of its load, and further ones."""
    named: list[tuple[str, str]] = []
    for name, value in {**load._pace, **options}.items():
        _check_name(name)
        if value is not None:
            named.append((name, _text(value)))
    return _ftlab.RunOptions(named, device._image, device._outside())
