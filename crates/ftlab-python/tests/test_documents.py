"""Documents: the reference is fresh, and every name has a docstring."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ftlab as fl

FOLDER = Path(__file__).resolve().parents[1]


def test_the_reference_is_fresh() -> None:
    command = [sys.executable, FOLDER / "reference.py", "--check"]
    done = subprocess.run(command, cwd=FOLDER, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_everything_public_is_explained() -> None:
    for name in fl.__all__:
        thing = getattr(fl, name)
        assert thing.__doc__, name
        for part, member in vars(thing).items() if inspect.isclass(thing) else ():
            if not part.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
                assert member.__doc__, f"{name}.{part}"


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "crates/ftlab-python/README.md"])
def test_the_first_example_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("polars")
    monkeypatch.chdir(tmp_path)
    text = (root / page).read_text(encoding="utf-8")
    code = re.search(r"```python\n(import ftlab as fl\n.*?)```", text, re.DOTALL)
    assert code is not None
    small = code[1].replace('"tlc-32g"', '"tiny"').replace("2_000_000", "2_000")
    assert small.count("tiny") == small.count("2_000)") == 1
    exec(compile(small, page, "exec"), {})
