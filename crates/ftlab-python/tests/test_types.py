"""Types: the package and examples of its use pass mypy and pyright, and both notice wrong uses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1]

WRONG = [
    'fl.device("tiny", over_provisionning="28%")',
    'fl.device("tiny", gc="gready")',
    'fl.device("tiny").but(schedulr="fifo")',
    'fl.gc.DChoices(drews=4)',
    'fl.workload("fill", request=5)',
    'fl.run(fl.device("tiny"), fl.workload("fill"), seeds=5)',
    'fl.trace("a.csv", reading={"time_units": "us"})',
    'fl.requests({"a": [0]}, columns={"size": 4.5})',
    'fl.compare({"a": fl.device("tiny")}, "fill")',
    'fl.open(fl.device("tiny")).advance(until=1.5)',
    'fl.inspect("own.csv")',
    'fl.inspect(fl.trace("own.csv")).character.pagess',
]


def check(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=FOLDER, text=True, capture_output=True, check=False, timeout=300
    )


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A file in which every line but the first is wrong."""
    file = tmp_path / "wrong.py"
    file.write_text("import ftlab as fl\n" + "\n".join(WRONG) + "\n")
    return file


def test_mypy(wrong: Path) -> None:
    pytest.importorskip("mypy")
    done = check("mypy")
    assert done.returncode == 0, done.stdout
    done = check("mypy", str(wrong))
    for line, text in enumerate(WRONG, start=2):
        assert f"wrong.py:{line}: error" in done.stdout, f"{text}\n{done.stdout}"


@pytest.mark.slow
def test_pyright(wrong: Path) -> None:
    pytest.importorskip("pyright")
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    done = check("pyright", "-p", ".", "--pythonpath", sys.executable)
    assert done.returncode == 0, done.stdout
    (wrong.parent / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(FOLDER / "python")]}))
    done = check("pyright", "-p", str(wrong.parent), "--pythonpath", sys.executable)
    for line, text in enumerate(WRONG, start=2):
        assert f"wrong.py:{line}:" in done.stdout, f"{text}\n{done.stdout}"
