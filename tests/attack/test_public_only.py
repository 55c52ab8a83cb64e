"""Attacks cannot cheat: nothing that they import knows a true count."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sdcensus.attack

SOURCES = sorted(Path(sdcensus.attack.__file__).parent.rglob("*.py"))
CONFIDENTIAL = tuple(
    f"sdcensus.model.{module}"
    for module in (
        *("cube.cube", "cube.sparse_cube", "cube.accumulators", "cube.pairs"),
        *("published.protected", "secret", "perturbation", "schema.source"),
    )
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_confidential_is_imported(path: Path) -> None:
    allowed = ("_names", "model", "kernels", "errors", "attack", "solvers")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        elif isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] != "sdcensus":
                continue
            assert parts[1] in allowed
            assert not name.startswith(CONFIDENTIAL)
            assert parts[-1] not in ("AnyCube", "Cube", "SparseCube", "Confidential")
