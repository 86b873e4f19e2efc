"""What the documentation shows: the page and the notebooks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PYTHON = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.mark.long
@pytest.mark.parametrize("page", ["../docs/python.md", "README.md"])
def test_every_block_of_python_runs_in_its_order(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("polars", "pyarrow", "distributed"):
        pytest.importorskip(package)
    text = (PYTHON / page).read_text()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = list(BLOCK.finditer(text))
    assert blocks
    for block in blocks:
        # As long as the lines before it, so that errors name the page's own.
        code = "\n" * text[: block.start(1)].count("\n") + block[1]
        exec(compile(code, page, "exec"), names)


@pytest.mark.long
@pytest.mark.parametrize("path", sorted((PYTHON / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_and_draws(path: Path, tmp_path: Path) -> None:
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert all(not cell.get("outputs") for cell in book.cells), "what is kept has no outputs"
    nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    kinds = [kind for cell in book.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "image/png" in kinds and "text/html" in kinds
