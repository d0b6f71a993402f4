"""The examples of docs/python.md run, on a smaller device with smaller loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

BLOCK = re.compile(r"(<!-- not run -->\n)?^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SMALLER = {'"tlc-32g"': '"tiny"', '"plain-32g"': '"tiny"', "500_000": "2_000", "20_000)": "500)", "trials=20": "trials=10", "trials=40": "trials=10"}


def test_the_examples_of_the_guide_run(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for library in ("optuna", "cmaes", "matplotlib", "pandas", "polars"):
        pytest.importorskip(library)
    blocks = [text for skipped, text in BLOCK.findall((root / "docs/python.md").read_text("utf-8")) if not skipped]
    assert len(blocks) >= 8
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "guide"}
    for at, text in enumerate(blocks):
        for whole, part in SMALLER.items():
            text = text.replace(whole, part)
        exec(compile(text, f"block {at} of docs/python.md", "exec"), names)
    assert {file.name for file in tmp_path.iterdir()} == {"results", "compared.html", "swept.svg"}
