"""The notebooks run from beginning to end, on a smaller device with smaller loads."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

SMALLER = {'"tlc-32g"': '"tiny"', "200_000": "2_000"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Those of Jupyter are not ours.
@pytest.mark.parametrize("name", ["first-study", "tail-latency"])
def test_a_notebook_runs(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    monkeypatch.setenv("FTLAB_TRACE", str(root / "examples/traces/office-20k.csv.gz"))
    book = nbformat.read(root / f"examples/notebooks/{name}.ipynb", as_version=4)
    for cell in book.cells:
        for whole, part in SMALLER.items():
            cell["source"] = cell["source"].replace(whole, part)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = {kind for cell in book.cells for out in cell.get("outputs", []) for kind in out.get("data", {})}
    assert "image/png" in kinds
