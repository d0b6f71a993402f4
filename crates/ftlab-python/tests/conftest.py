"""What all tests share: the program to compare with, the project's files, a cache of their own, small devices."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ftlab as fl

ROOT = Path(__file__).resolve().parents[3]

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def program() -> Program:
    """Runs the program with arguments. FTLAB_PROGRAM names it; else it is the last one that cargo built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    named = os.environ.get("FTLAB_PROGRAM")
    file = Path(named) if named else target / "debug" / "ftlab"
    if not file.is_file():
        if named:
            pytest.fail(f"FTLAB_PROGRAM names {named}, which is no file")
        pytest.skip("the program is missing: cargo build -p ftlab-cli")

    def run(*arguments: object, fails: bool = False) -> "subprocess.CompletedProcess[str]":
        command = [str(file), *map(str, arguments)]
        done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
        assert (done.returncode != 0) == fails, f"{command} exited with {done.returncode}:\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache of aged devices for this session alone."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("FTLAB_CACHE")
    os.environ["FTLAB_CACHE"] = str(folder)
    yield folder
    if before is None:
        del os.environ["FTLAB_CACHE"]
    else:
        os.environ["FTLAB_CACHE"] = before


@pytest.fixture(scope="session")
def tiny() -> fl.Device:
    """The toy of 24 MiB."""
    return fl.device("tiny")


@pytest.fixture(scope="session")
def aged(tiny: fl.Device) -> fl.Device:
    """The toy, filled and aged."""
    return fl.age(tiny, seed=1)


@pytest.fixture(scope="session")
def short_run(aged: fl.Device) -> fl.Run:
    """A run with its requests recorded. Tests must not change it."""
    return fl.run(aged, fl.workload("mixed-70-30-zipf", requests=3000), seed=7, records=True)


@pytest.fixture
def child() -> Callable[[str], "subprocess.CompletedProcess[str]"]:
    """Runs a script in an interpreter of its own, with this package, warnings being errors."""

    def run(script: str) -> "subprocess.CompletedProcess[str]":
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run(
            [sys.executable, "-W", "error", "-c", script],
            env=environment,
            text=True,
            capture_output=True,
            check=False,
            timeout=300,
        )

    return run
