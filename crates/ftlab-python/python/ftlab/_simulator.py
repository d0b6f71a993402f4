"""A device that the caller steps: submit requests, advance the clock, take completions."""

from __future__ import annotations

import json
from typing import Any

from ftlab import _ftlab
from ftlab._device import Device, check_device
from ftlab._errors import UsageError
from ftlab._table import Table
from ftlab._values import seed_of, whole_number


class Simulator:
    """A device whose clock is the caller's. Made by :func:`open`.

    Batches cost little, single requests much: give and take as many at a time as the study allows.
    """

    def __init__(self, simulator: _ftlab.Simulator, device: Device) -> None:
        self._simulator = simulator
        self.device = device
        """The device that was opened."""

    def submit(self, columns: Any, /) -> range:
        """Submits requests in columns (see :func:`ftlab.requests`), all or none, and returns their numbers.

        Those without ``at_ns`` come now. A full submission queue holds requests back in the host.
        """
        first, many = self._simulator.submit(columns)
        return range(first, first + many)

    def advance(self, *, until: str | int | None = None, by: str | int | None = None) -> Table:
        """Advances to a simulated time, or by a span of it, and returns what completed, in the order of completion.

        Times are texts with a unit (``"5ms"``) or nanoseconds, counted from when the device was switched on. Without
        either it advances until everything has completed.
        """
        if until is not None and by is not None:
            raise UsageError("advance to a time or by a span, not both\n  remedy: give until= or by=")
        if until is None and by is None:
            return Table(self._simulator.drain())
        if until is not None:
            return Table(self._simulator.advance(_nanoseconds(until)))
        return Table(self._simulator.advance_by(_nanoseconds(by)))

    def advance_to_completion(self, *, until: str | int | None = None) -> Table:
        """Advances until something completes, and returns it; at most to a time."""
        return Table(self._simulator.advance_to_completion(None if until is None else _nanoseconds(until)))

    @property
    def now_ns(self) -> int:
        """The simulated time in nanoseconds."""
        return self._simulator.now_ns

    @property
    def outstanding(self) -> int:
        """The number of requests that have not completed."""
        return self._simulator.outstanding

    @property
    def submitted(self) -> int:
        """The number of requests that were submitted."""
        return self._simulator.submitted

    @property
    def capacity_bytes(self) -> int:
        """The bytes that the host can address."""
        return self._simulator.capacity_bytes

    @property
    def report(self) -> dict[str, Any]:
        """Everything measured since the first step, as ``report`` in ``result.json``."""
        report: dict[str, Any] = json.loads(self._simulator.report())
        return report

    @property
    def state(self) -> dict[str, Any]:
        """Utilisation, blocks and wear."""
        state: dict[str, Any] = json.loads(self._simulator.state())
        return state

    def into_device(self) -> Device:
        """Closes the simulator, and returns the device in the state that it has reached, with its policies in Python."""
        image = self._simulator.close_into_image()
        return Device(("image", image.name), [], image, self.device._python)

    def close(self) -> None:
        """Frees the device."""
        self._simulator.close()

    def __enter__(self) -> Simulator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Simulator of {self.device.title}>"


def open(device: Device, /, *, seed: int = 1) -> Simulator:
    """Opens a device to be stepped by hand: submit requests, advance the clock, take completions."""
    check_device(device)
    options = _ftlab.RunOptions([], device._image, device._outside())
    return Simulator(_ftlab.Simulator(device._config, seed_of(seed), options), device)


def _nanoseconds(time: str | int | None) -> int:
    if isinstance(time, str):
        return _ftlab.parse_duration(time)
    number = whole_number(time)
    if number is None or number >= 2**64:
        raise UsageError(f"{time!r} is no time\n  remedy: write a text such as \"5ms\", or whole nanoseconds")
    return number
