"""A policy of the simulator with its options."""

from __future__ import annotations

from collections.abc import Mapping

from ftlab._values import text_of


class Policy:
    """A policy of the simulator, with options of its own. Its classes are in :mod:`ftlab.policies`."""

    def __init__(self, option: str, name: str, options: Mapping[str, object]) -> None:
        self._option = option
        self._name = name
        self._options = {path: value for path, value in options.items() if value is not None}

    @property
    def name(self) -> str:
        """Its name in a configuration."""
        return self._name

    @property
    def _decides(self) -> str:
        """The option that it is a value of."""
        return self._option

    def _settings(self) -> list[tuple[str, str]]:
        given = [(path, text_of(value)) for path, value in self._options.items()]
        return [(self._option, self._name), *given]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Policy) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(tuple(self._settings()))

    def __repr__(self) -> str:
        options = "".join(f", {path}={value!r}" for path, value in self._options.items())
        return f"<Policy {self._option}={self._name}{options}>"
