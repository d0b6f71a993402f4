"""The exceptions of ftlab: one base, and a class for each kind. The messages are the program's."""


class FtlabError(Exception):
    """Anything that ftlab refuses or cannot do. The message says what to do about it."""


class UsageError(FtlabError, ValueError):
    """An argument, a load or a result that cannot be used as it was asked."""


class ConfigError(FtlabError, ValueError):
    """A wrong configuration of a device. The message lists all problems, and what is known."""


class FileError(FtlabError, OSError):
    """A file that cannot be read or written."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class ExperimentError(FtlabError, RuntimeError):
    """A simulated device that could not do what was asked, such as one at the end of its life."""


def missing(library: str, install: str | None = None) -> ImportError:
    """What to raise where a library that is not always needed is not there."""
    return ImportError(f"{library} is not installed\n  remedy: pip install {install or library}")
