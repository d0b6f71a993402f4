"""The notebooks run from beginning to end, on a smaller device with smaller loads, and are kept with what they print."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

NAMES = ["first-study", "tail-latency"]
SMALLER = {'"plain-32g"': '"tiny"', "200_000": "2_000"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Those of Jupyter are not ours.
@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs(name: str, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    monkeypatch.setenv("FTLAB_TRACE", str(root / "examples/traces/office-20k.csv.gz"))
    book = nbformat.read(root / f"examples/notebooks/{name}.ipynb", as_version=4)
    for cell in book.cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
        for whole, part in SMALLER.items():
            cell["source"] = cell["source"].replace(whole, part)
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    kinds = {kind for cell in book.cells for out in cell.get("outputs", []) for kind in out.get("data", {})}
    assert "image/png" in kinds


@pytest.mark.parametrize("name", NAMES)
def test_a_reader_sees_what_a_notebook_prints(name: str, root: Path) -> None:
    """Every cell was run, in order; there are figures, and neither bars nor failures."""
    file = root / f"examples/notebooks/{name}.ipynb"
    assert file.stat().st_size < 150_000
    cells: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["cells"]
    run = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in run] == list(range(1, len(run) + 1))
    outputs = [output for cell in run for output in cell["outputs"]]
    assert all(cell["outputs"] for cell in run)
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert {output["output_type"] for output in outputs} <= {"execute_result", "stream"}
    assert all(output.get("name") != "stderr" for output in outputs)
