"""Attacks cannot cheat: nothing that they import knows a true count."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import sdcensus.attack

SOURCES = sorted(Path(sdcensus.attack.__file__).parent.glob("*.py"))
CONFIDENTIAL = (
    *("cube", "sparse_cube", "accumulators", "protected", "secret", "perturbation"),
    *("perturbation_table", "perturbation_design", "source"),
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_confidential_is_imported(path: Path) -> None:
    allowed = ("model", "kernels", "errors", "attack", "solvers")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        for name in names:
            parts = name.split(".")
            if parts[0] != "sdcensus":
                continue
            assert parts[1] in allowed
            assert not (parts[1] == "model" and len(parts) > 2 and parts[2] in CONFIDENTIAL)
            assert parts[-1] not in ("Cube", "SparseCube", "Confidential")
