"""Documents: the reference is fresh, every public name has a docstring, and the examples run."""

from __future__ import annotations

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


@pytest.mark.parametrize("name", fl.__all__)
def test_a_public_name_is_explained(name: str) -> None:
    thing = getattr(fl, name)
    assert thing.__doc__
    for part, member in vars(thing).items() if inspect.isclass(thing) else ():
        if not part.startswith("_") and (isinstance(member, property) or inspect.isfunction(member)):
            assert member.__doc__, part


def test_a_public_attribute_is_in_the_reference(root: Path, short_run: fl.Run) -> None:
    text = (root / "docs/reference/python.md").read_text("utf-8")
    with fl.open(short_run.device) as simulator:
        for thing in (short_run, short_run.summary, short_run.timeline, short_run.load, simulator, fl.span(1, 2, 2)):
            for name in vars(thing):
                assert name.startswith("_") or f"\n- `{name}`: " in text, (thing, name)


def test_the_example_of_the_readme_runs() -> None:
    pytest.importorskip("polars")
    code = re.search(r"```python\n(.*?)```", (FOLDER / "README.md").read_text("utf-8"), re.DOTALL)
    assert code is not None
    exec(compile(code[1].replace('"tlc-32g"', '"tiny"').replace("500_000", "2_000"), "README.md", "exec"), {})
