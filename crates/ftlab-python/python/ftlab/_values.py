"""Options as Python writes them, turned into the texts of a configuration."""

from __future__ import annotations

import difflib
import functools
import json
import operator
import os
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any, cast

from ftlab import _ftlab
from ftlab._errors import UsageError


def text_of(value: object) -> str:
    """The text of a value in a configuration.

    Numbers, texts with their unit (``"200us"``), truth values (``on`` and ``off``) and lists are understood.
    """
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_quoted(one) for one in cast(Iterable[object], value)) + "]"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(cast(object, value))
    # Numbers of NumPy.
    item = getattr(value, "item", None)
    if item is not None:
        return text_of(item())
    raise UsageError(
        f"{value!r} is no value of an option\n  remedy: write a number, a text with its unit such as \"200us\", True "
        "or False, or a list of these"
    )


def whole_number(value: object) -> int | None:
    """A whole number that is not negative, also one of NumPy; None for anything else."""
    if isinstance(value, bool):
        return None
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # What is no number raises.
    except TypeError:
        return None
    return number if number >= 0 else None


def _quoted(value: object) -> str:
    text = text_of(value)
    return json.dumps(text) if isinstance(value, str) else text


@functools.cache
def catalog(kind: str) -> list[dict[str, Any]]:
    """Everything of one kind that has a name: ``policies``, ``devices``, ``formats``, ``workloads`` or ``options``."""
    listed: list[dict[str, Any]] = json.loads(_ftlab.listed(kind))
    return listed


#: Seams whose short name does not follow from the path of their option.
_SEAMS = {"cache.read.policy": "read_cache", "ftl.gc.pacing": "pacing"}


def seam_name(path: str) -> str:
    """The short name of a seam: the last part of its section, such as ``scheduler`` for ``scheduler.policy``."""
    return _SEAMS.get(path, path.split(".")[-2])


@functools.cache
def short_names() -> dict[str, str]:
    """The path of each option by its short names: the end of its path with underscores, where that is clear.

    ``ftl.over_provisioning`` is ``over_provisioning``, ``ftl.gc.start`` is ``gc_start`` and ``ftl_gc_start``. A seam
    is also named by its section (``gc``).
    """
    paths = [option["path"] for option in catalog("options")]
    seams = {seam_name(seam["option"]): seam["option"] for seam in catalog("policies")}
    ends: dict[str, list[str]] = {}
    for path in paths:
        parts = path.split(".")
        for at in range(len(parts)):
            ends.setdefault("_".join(parts[at:]), []).append(path)
    clear = {end: paths[0] for end, paths in ends.items() if len(paths) == 1}
    return clear | seams


def path_of(name: str) -> str:
    """The path of the option that a keyword names."""
    known = short_names()
    if "." in name:
        return name
    if name in known:
        return known[name]
    several = [option["path"] for option in catalog("options") if option["path"].split(".")[-1] == name]
    if several:
        raise UsageError(
            f"{name} may be any of {', '.join(several)}\n  remedy: name it by more of its path, such as "
            f"{several[0].replace('.', '_')}"
        )
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        raise UsageError(f"a device has no option {name}\n  remedy: did you mean {near[0]}? ftlab.options() has all of them")
    shortest = sorted({min((k for k, p in known.items() if p == path), key=len) for path in known.values()})
    raise UsageError(f"a device has no option {name}\n  remedy: it has {', '.join(shortest)}")


def settings(options: Mapping[str, object]) -> list[tuple[str, str]]:
    """The settings of keywords: pairs of where they were written and ``KEY=VALUE``."""
    sets: list[tuple[str, str]] = []
    for name, value in options.items():
        if value is None:
            continue
        path = path_of(name)
        _check_policy(name, path, value)
        if hasattr(value, "_python_seam"):
            continue
        of_policy = getattr(value, "_settings", None)
        parts = [(path, text_of(value))] if of_policy is None else of_policy()
        for key, text in parts:
            sets.append((f"{name}=", f"{key}={text}"))
    return sets


def _check_policy(name: str, path: str, value: object) -> None:
    """Refuses a policy under the option of another decision, and its class."""
    if isinstance(value, type) and hasattr(value, "_decides"):
        raise UsageError(f"{name}= takes a policy, not its class\n  remedy: write {value.__name__}()")
    decides = getattr(value, "_decides", path)
    if decides != path:
        raise UsageError(
            f"{name}= takes no {type(value).__name__}, which decides {decides or 'nothing'}\n  remedy: give a policy that "
            f"decides {path}"
        )
    check_methods = getattr(value, "_check_methods", None)
    if check_methods is not None:
        check_methods()


def assignments(given: Iterable[str] | Mapping[str, object] | None) -> list[tuple[str, str]]:
    """The settings of ``set``: texts ``KEY=VALUE``, or a mapping of paths to values."""
    if given is None:
        return []
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):
        paths = cast(Mapping[str, object], given)
        given = [f"{key}={text_of(value)}" for key, value in paths.items()]
    return [(f"set {number}", text) for number, text in enumerate(given, start=1)]


#: More seeds, steps or trials than this are a typing mistake.
MOST = 100_000


def count_of(name: str, value: object, most: int) -> int:
    """A number of things, from one to ``most``."""
    number = whole_number(value)
    if number is None or not 1 <= number <= most:
        raise UsageError(f"{name} is a whole number from 1 to {most:,}, not {value!r}")
    return number


def confidence_of(value: float) -> float:
    """The confidence of intervals."""
    if not isinstance(value, Real) or not 0.5 <= value < 1:
        raise UsageError(f"confidence is a share from 0.5 to below 1, not {value!r}")
    return value


#: More threads than this are a typing mistake.
_MOST_THREADS = 1024


def threads_of(value: int | None) -> int | None:
    """A number of threads; None for all processors."""
    return None if value is None else count_of("threads", value, _MOST_THREADS)


def seed_of(seed: object) -> int:
    """A seed: a whole number of 64 bits."""
    number = whole_number(seed)
    if number is None or number >= 2**64:
        raise UsageError(f"a seed is a whole number from 0 to {2**64 - 1}, not {seed!r}")
    return number
