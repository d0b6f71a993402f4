"""Devices: a configuration, and for an aged device the state that it starts from."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ftlab import _ftlab
from ftlab._errors import FileError, FtlabError, UsageError
from ftlab._load import _placed
from ftlab._outside import OutsidePolicy, PythonPolicy, outside_of, python_policies
from ftlab._progress import Bar
from ftlab._values import assignments, seed_of, settings

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ftlab._options import DeviceOptions

#: Where aged devices are kept, unless the environment variable ``FTLAB_CACHE`` names another folder.
_CACHE = "ftlab"


class Device:
    """A simulated drive. It never changes: :meth:`but` makes another one.

    Made by :func:`device`, :func:`age` and :func:`load`.
    """

    def __init__(
        self,
        source: tuple[str, str],
        sets: list[tuple[str, str]],
        image: _ftlab.Image | None = None,
        python: Mapping[str, PythonPolicy] | None = None,
    ) -> None:
        self._source = source
        self._sets = sets
        self._image = image
        self._python = dict(python or {})
        kind, text = source
        if kind == "text":
            self._config = _ftlab.Config.parse("the configuration", text, sets, image)
        elif image is not None:
            self._config = _ftlab.Config.of_image(image, sets)
        else:
            self._config = _ftlab.Config.load(text, sets)

    @property
    def name(self) -> str:
        """The name of the device."""
        return self._config.name

    @property
    def title(self) -> str:
        """The name, and how many options differ from what gave it the name; and its policies in Python."""
        return " with ".join([self._config.title, *(policy.name for policy in self._python.values())])

    @property
    def capacity_bytes(self) -> int:
        """The bytes that the host can address."""
        return self._config.capacity_bytes

    @property
    def remarks(self) -> list[str]:
        """Warnings and notes about the configuration."""
        return self._config.remarks

    @property
    def config(self) -> str:
        """The whole configuration as TOML, with where each value comes from."""
        return self._config.show()

    @property
    def is_aged(self) -> bool:
        """Whether it starts from a saved state."""
        return self._image is not None

    @property
    def history(self) -> list[str]:
        """How it came to its state, a line for each step; empty for a new device."""
        return [] if self._image is None else self._image.steps

    @property
    def state(self) -> dict[str, Any]:
        """Utilisation, blocks and wear of an aged device."""
        if self._image is None:
            raise UsageError("a new device has no state\n  remedy: age it with ftlab.age")
        state: dict[str, Any] = json.loads(self._image.state())
        return state

    def but(
        self,
        *,
        set: Iterable[str] | Mapping[str, object] | None = None,
        **options: Unpack[DeviceOptions],
    ) -> Device:
        """The same device with other options: ``dev.but(scheduler="read-first")``.

        An aged device keeps its state, so its shape and capacity can't change.
        """
        sets = assignments(set) + settings(options)
        self._check_source()
        return type(self)(self._source, self._sets + sets, self._image, python_policies(options, self._python, sets))

    def _check_source(self) -> None:
        """Refuses to read a configuration again that has changed since."""
        kind, name = self._source
        if kind == "device" and os.path.exists(name) and _ftlab.Config.load(name, self._sets).canonical() != self._config.canonical():
            raise UsageError(f"{name} has changed since this device was made of it\n  remedy: make the device anew")

    def save(self, file: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the state of an aged device to an image file, which ``ftlab run --image`` and :func:`load` read."""
        if self._image is None:
            raise UsageError("a new device has no state to save\n  remedy: age it with ftlab.age")
        self._image.save(os.fspath(file), force)

    def __copy__(self) -> Device:
        return self

    def __deepcopy__(self, memo: object) -> Device:
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _outside(self) -> list[OutsidePolicy]:
        """The policies in Python, as a run takes them."""
        return outside_of(self._python.items())

    def _identity(self) -> tuple[str, bytes | None, tuple[str, ...]]:
        digest = None if self._image is None else hashlib.blake2b(self._image.to_bytes()).digest()
        policies = tuple(f"{path} {policy.version}" for path, policy in self._python.items())
        return self._config.canonical(), digest, policies

    def __reduce__(self) -> tuple[Any, ...]:
        image = None if self._image is None else (self._image.name, self._image.to_bytes())
        return _restored, (self._config.canonical(), image, self._python)

    def __repr__(self) -> str:
        aged = ", aged" if self.is_aged else ""
        return f"<Device {self.title}, {self.capacity_bytes / 1e9:.3g} GB{aged}>"


def _restored(
    config: str, image: tuple[str, bytes] | None, python: Mapping[str, PythonPolicy]
) -> Device:
    opened = None if image is None else _ftlab.Image.from_bytes(*image)
    # The options that were set are in the text.
    return Device(("text", config), [], opened, python)


def device(
    base: str | os.PathLike[str] | Device,
    /,
    *,
    set: Iterable[str] | Mapping[str, object] | None = None,
    **options: Unpack[DeviceOptions],
) -> Device:
    """A device: a built-in one (see :func:`devices`) or a TOML file, with options set on top.

    Options are named by the end of their path (``over_provisioning`` is ``ftl.over_provisioning``), or by all of it
    with underscores; ``set`` takes paths as they are: ``set={"ftl.gc.start": 4}``. A policy is its name
    (``gc="cost-benefit"``) or an object with its options (``gc=fl.gc.DChoices(draws=4)``). With a device as
    base it does the same as :meth:`Device.but`.
    """
    if isinstance(base, Device):
        return base.but(set=set, **options)
    sets = assignments(set) + settings(options)
    return Device(("device", _placed(os.fspath(base))), sets, None, python_policies(options, {}, sets))


def load(
    file: str | os.PathLike[str],
    /,
    *,
    set: Iterable[str] | Mapping[str, object] | None = None,
    **options: Unpack[DeviceOptions],
) -> Device:
    """An aged device from an image file, which :meth:`Device.save` or ``ftlab device save`` wrote.

    Options may be set on top, as for :meth:`Device.but`.
    """
    image = _ftlab.Image.open(os.fspath(file))
    sets = assignments(set) + settings(options)
    return Device(("image", os.fspath(file)), sets, image, python_policies(options, {}, sets))


def age(
    device: Device,
    /,
    *,
    precondition: str = "fill,age",
    seed: int = 1,
    cache: bool = True,
    progress: bool | None = None,
) -> Device:
    """The device after its preparation: by default written once, and then overwritten until it is steady.

    ``precondition`` lists steps as ``ftlab run --precondition`` does. The outcome is kept in :func:`cache_folder` by
    what it depends on, so the same ageing is never done twice; ``cache=False`` neither looks there nor keeps it.
    """
    check_device(device)
    if device._python:
        raise UsageError(
            "a policy in Python can't be saved with a device\n  remedy: age the device first, and set the policy then: "
            "ftlab.age(device).but(gc=...)"
        )
    seed = seed_of(seed)
    kept = _place_of(device, precondition, seed) if cache else None
    if kept is not None:
        image = _kept(kept, f"{device.name} aged")
        if image is not None and image.is_of(device._config, seed):
            return _aged(device, image)
    with Bar(progress) as bar:
        image, _notes, complaints = _ftlab.prepare(
            device._config, precondition, seed, device._image, bar.listener
        )
    for complaint in complaints:
        warnings.warn(complaint, stacklevel=2)
    if kept is not None and not complaints:
        _keep(image, kept)
    return _aged(device, image)


def check_device(device: object) -> Device:
    """A device; anything else is refused."""
    if not isinstance(device, Device):
        raise UsageError(f"{device!r} is no device\n  remedy: make one with ftlab.device")
    return device


def _place_of(device: Device, precondition: str, seed: int) -> Path | None:
    """Where the aged device is kept; None where there is no place."""
    key = _ftlab.prepare_key(device._config, precondition, seed, device._image)
    try:
        return cache_folder() / "aged" / f"{key}.ftlab"
    except RuntimeError as error:
        _warn(f"the aged device is not kept: {error}")
        return None


def _aged(device: Device, image: _ftlab.Image) -> Device:
    return Device(("image", image.name), [], image)


def _kept(file: Path, name: str) -> _ftlab.Image | None:
    """The image of a file, unless there is none, or none that can be used.

    It has the name of an image that is made anew: results contain it.
    """
    try:
        return _ftlab.Image.from_bytes(name, file.read_bytes())
    except (OSError, FtlabError):
        return None


def _keep(image: _ftlab.Image, file: Path) -> None:
    """Keeps an image. A disk that is full or not writable only costs the next ageing."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=file.parent) as place:
            written = Path(place) / file.name
            image.save(os.fspath(written), False)
            os.replace(written, file)
    except (OSError, FileError) as error:
        _warn(f"the aged device is not kept: {error}")


def _warn(text: str) -> None:
    """Warns where :func:`age` was called, on behalf of a function that it calls."""
    warnings.warn(text, stacklevel=4)


def cache_folder() -> Path:
    """The folder in which aged devices are kept, or what ``FTLAB_CACHE`` names. It may be emptied at any time."""
    named = os.environ.get("FTLAB_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / _CACHE
