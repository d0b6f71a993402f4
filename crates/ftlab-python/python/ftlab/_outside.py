"""Policies in Python: they decide in place of the simulator's own.

A policy is given to a device like any other: ``fl.device("tlc-32g", gc=Mine())``. The simulator keeps what the decision
needs and asks for the decision alone. Each run starts from a deep copy of the object, so runs do not influence each
other; keep no state elsewhere, and draw random numbers from a generator with a seed of its own, or results differ from
run to run. What a policy raises stops the run and comes out of it.
"""

from __future__ import annotations

import difflib
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ftlab._digest import digest_of
from ftlab._errors import UsageError
from ftlab._values import path_of, whole_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class PythonPolicy:
    """A policy in Python. Inherit from one of its subclasses."""

    #: The option that names the policy which it replaces.
    _python_seam: ClassVar[str] = ""
    #: The method that a subclass must have.
    _asked: ClassVar[str] = ""

    @property
    def _decides(self) -> str:
        return self._python_seam

    def _check_methods(self) -> None:
        """Refuses a policy without the method that decides."""
        kind = type(self)
        if getattr(kind, self._asked, None) is not None and getattr(kind, self._asked).__module__ != __name__:
            return
        own = [name for name in dir(kind) if not hasattr(PythonPolicy, name) and not name.startswith("_")]
        near = difflib.get_close_matches(self._asked, [name for name in own if name != self._asked], n=1)
        meant = f" (did you mean it by {near[0]}?)" if near else ""
        raise UsageError(f"{kind.__name__} decides nothing\n  remedy: write its method {self._asked}{meant}")

    @property
    def name(self) -> str:
        """The name in results."""
        return type(self).__name__

    @property
    def version(self) -> str:
        """A digest of what the policy does, part of a run's fingerprint.

        It covers the sources of its class and of the functions that it calls, their globals, defaults and closures, and
        its attributes. What is read from elsewhere, such as a file, is not seen: override ``version`` to say so. What
        can't be digested is unlike anything else, each time: nothing is taken up again.
        """
        return digest_of((type(self), self)) or uuid.uuid4().hex


@dataclass(frozen=True)
class VictimView:
    """What a victim policy may look at: the candidates of a plane that free at least a page, the first filled first."""

    plane: int
    """The plane that needs a victim."""
    pages_per_block: int
    """The pages of a full block."""
    blocks: NDArray[np.uint32]
    """The numbers of the candidates on the device."""
    valid: NDArray[np.uint32]
    """The valid pages of each, which collecting it copies."""
    erases: NDArray[np.uint32]
    """How often each was erased."""


class VictimPolicy(PythonPolicy):
    """Chooses the block that is collected next (``ftl.gc.victim``). Asked once for each collected block."""

    _python_seam = "ftl.gc.victim"
    _asked = "choose"

    def choose(self, view: VictimView, /) -> int | None:
        """The position of the victim in the arrays of the view, or None for no victim now."""
        raise NotImplementedError

    def _choose(self, seen: dict[str, Any]) -> int | None:
        chosen = self.choose(VictimView(**seen))
        if chosen is None:
            return None
        many = len(seen["blocks"])
        place = whole_number(chosen)
        if place is None or place >= many:
            raise UsageError(
                f"{self.name} chose {chosen!r} of {many} candidates\n  remedy: return a position in the arrays of the view, "
                "a whole number from 0, or None"
            )
        return place


class SchedulerPolicy(PythonPolicy):
    """Ranks flash commands (``scheduler.policy``). Asked once for each command."""

    _python_seam = "scheduler.policy"
    _asked = "rank"

    def rank(self, kind: str, origin: str, die: int, at_ns: int, sequence: int, /) -> int:
        """The rank of an arriving command; of those that wait for a die the smallest goes first.

        ``kind`` is read, program, erase or copyback; ``origin`` host, read_modify_write, gc, wear, fold, rewrite or
        system; ``sequence`` counts the commands of the device. Ranks of one kind and origin on one die must not
        decrease, and no erase may go before an earlier read: smaller answers are raised to that.
        """
        raise NotImplementedError


class StreamsPolicy(PythonPolicy):
    """Decides which pages share blocks (``ftl.streams.policy``). Asked at least once for each page written.

    There are as many streams as the configured policy has; copies are separated as that one does.
    """

    _python_seam = "ftl.streams.policy"
    _asked = "stream"

    def stream(self, page: int, host_stream: int, /) -> int:
        """The stream, from 0, for a logical page that the host writes."""
        raise NotImplementedError

    def wrote(self, page: int, /) -> None:
        """Called when host data of a page was placed."""


class WriteBufferPolicy(PythonPolicy):
    """Orders the pages of the write buffer (``cache.policy``). Called for each page that comes, is used or leaves.

    The device must be configured with a write buffer; its DRAM and the rules of its write-back stay.
    """

    _python_seam = "cache.policy"
    _asked = "choose"

    def inserted(self, page: int, /) -> None:
        """A page became evictable: it came in, or was written again while on its way to flash."""

    def written(self, page: int, /) -> None:
        """An evictable page was written again."""

    def read(self, page: int, /) -> None:
        """An evictable page was read."""

    def removed(self, page: int, /) -> None:
        """A page is no longer evictable: it is on its way to flash, or gone."""

    def choose(self) -> int | None:
        """The page to evict next, or None for the one that came in first."""
        raise NotImplementedError


#: A policy as a run takes it: the option that it replaces, the object, its name and its version.
OutsidePolicy = tuple[str, object, str, str]


def outside_of(policies: Iterable[tuple[str, PythonPolicy]]) -> list[OutsidePolicy]:
    """Policies by their options, as a run takes them."""
    return [(path, policy, policy.name, policy.version) for path, policy in policies]


def python_policies(
    options: Mapping[str, object], known: Mapping[str, PythonPolicy], sets: Sequence[tuple[str, str]]
) -> dict[str, PythonPolicy]:
    """The policies in Python after these options and settings: what names a seam replaces the policy that it had."""
    paths = {text.partition("=")[0].strip() for _, text in sets}
    policies = {path: policy for path, policy in known.items() if path not in paths}
    for name, value in options.items():
        if value is None:
            continue
        path = path_of(name)
        policies.pop(path, None)
        if isinstance(value, PythonPolicy):
            policies[path] = value
    # The order in which they were given does not matter.
    return dict(sorted(policies.items()))
