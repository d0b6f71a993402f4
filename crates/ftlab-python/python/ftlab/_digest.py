"""Digests of Python objects by what they do, for fingerprints: equal digests, equal behaviour.

A digest covers the sources of classes and functions, what they close over, their defaults, the values of the globals
that they name, and the state of objects. It does not see what is read from files, from the clock or from other modules
than the named ones. What can't be digested has none.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import marshal
import pickle
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any, cast


def digest_of(value: object) -> str | None:
    """The digest of an object; None if there is none."""
    made = _Digest()
    try:
        made.add(value)
    except Exception:
        # Sources that can't be found, state that can't be pickled, properties that raise.
        return None
    return made.hash.hexdigest()


class _Digest:
    """Hashes objects one after the other. One that was seen before is named by its number."""

    def __init__(self) -> None:
        self.hash = hashlib.blake2b(digest_size=16)
        # The objects are kept, so that their identities stay theirs.
        self.seen: dict[int, tuple[int, object]] = {}

    def add(self, value: object) -> None:
        """Adds an object with all that decides what it does."""
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, types.EllipsisType)):
            return self._tag(type(value).__name__, repr(value))
        known = self.seen.get(id(value))
        if known is not None:
            return self._tag("seen", str(known[0]))
        self.seen[id(value)] = (len(self.seen), value)
        if isinstance(value, (staticmethod, classmethod)):
            self._tag(type(value).__name__, "")
            return self.add(cast(Any, value).__func__)
        if isinstance(value, property):
            return self._all("property", (value.fget, value.fset, value.fdel))
        if isinstance(value, functools.cached_property):
            return self._all("cached_property", (cast(Any, value).func,))
        if isinstance(value, functools.partial):
            made: Any = value
            return self._all("partial", (made.func, made.args, made.keywords))
        if isinstance(value, types.FunctionType):
            return self._function(value)
        if isinstance(value, types.MethodType):
            return self._all("method", (value.__func__, value.__self__))
        if isinstance(value, type):
            return self._class(value)
        return self._state(value)

    def _state(self, value: object) -> None:
        """Adds a container, a module or any other object."""
        if isinstance(value, Mapping):
            pairs = cast("Mapping[object, object]", value).items()
            return self._all("mapping", [part for pair in pairs for part in pair])
        if isinstance(value, (list, tuple)):
            return self._all(type(value).__name__, cast("list[object]", value))
        if isinstance(value, (set, frozenset)):
            digests = sorted(str(digest_of(one)) for one in cast("set[object]", value))
            if "None" in digests:
                raise TypeError("a set with what has no digest")
            return self._tag("set", " ".join(digests))
        if isinstance(value, (types.ModuleType, types.BuiltinFunctionType)):
            return self._tag("named", f"{value.__name__} {getattr(value, '__version__', '')}")
        if type(value).__module__.split(".")[0] == "numpy":
            return self._tag("numpy", pickle.dumps(value, protocol=4).hex())
        # Includes slots, and whatever the class says of its state.
        made: Any = value.__reduce_ex__(2)
        if isinstance(made, str):
            return self._tag("global", made)
        self._all("object", (type(value), made[1:3]))
        self._all("items", [list(items) for items in made[3:] if items is not None])

    def _tag(self, kind: str, text: str) -> None:
        self.hash.update(f"{kind} {len(text)} {text}\n".encode("utf-8", "surrogatepass"))

    def _all(self, kind: str, parts: Iterable[object]) -> None:
        parts = list(parts)
        self._tag(kind, str(len(parts)))
        for part in parts:
            self.add(part)

    def _class(self, kind: type) -> None:
        self._tag("class", f"{kind.__module__}.{kind.__qualname__}")
        if kind.__module__.split(".")[0] in ("builtins", "ftlab"):
            return
        self._all("bases", kind.__bases__)
        for name, value in sorted(vars(kind).items()):
            if name in _OF_PYTHON or name.startswith("_abc_") or isinstance(value, types.MemberDescriptorType):
                continue
            self._tag("attribute", name)
            self.add(value)

    def _function(self, function: types.FunctionType) -> None:
        code = function.__code__
        try:
            source = inspect.getsource(function)
        except (OSError, TypeError):
            source = marshal.dumps(code.replace(co_filename="", co_firstlineno=0)).hex()
        self._tag("function", source)
        self._all("defaults", (function.__defaults__, function.__kwdefaults__))
        cells = function.__closure__ or ()
        self._all("closure", [cell.cell_contents for cell in cells])
        names = sorted(_names(code))
        for name in names:
            if name in function.__globals__:
                value = function.__globals__[name]
                self._tag("global", name)
                self.add(value)
                if isinstance(value, types.ModuleType):
                    self._of_module(value, names)

    def _of_module(self, module: types.ModuleType, names: list[str]) -> None:
        """Adds plain values of a module that a function names, such as ``settings.WEIGHT``."""
        for name in names:
            value = vars(module).get(name)
            if isinstance(value, (bool, int, float, str, bytes, list, tuple, dict)):
                self._tag("of module", name)
                self.add(cast(object, value))
            elif isinstance(value, types.FunctionType) and not _is_installed(module):
                self._tag("of module", name)
                self.add(value)


def _is_installed(module: types.ModuleType) -> bool:
    """Whether a module belongs to an installed package, whose version tells enough, or to Python."""
    file = getattr(module, "__file__", None) or ""
    return "site-packages" in file or not file or module.__name__.split(".")[0] in _PYTHON


#: What Python itself puts into a class, at once or later.
_OF_PYTHON = frozenset(
    ("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "__slotnames__", "__annotations__")
    + ("__annotate__", "__annotate_func__", "__annotations_cache__", "__static_attributes__", "__firstlineno__")
)
#: The modules of Python itself.
_PYTHON = frozenset(sys.stdlib_module_names)


def _names(code: types.CodeType) -> set[str]:
    """The names of globals and attributes in a code, with the codes within it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
