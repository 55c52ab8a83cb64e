"""``sdcensus pram estimate``, as the command line mounts it."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sdcensus.cli.census.pram_estimate import EXAMPLES, estimate
from sdcensus.errors import SpecError


@pytest.fixture
def app() -> typer.Typer:
    mounted = typer.Typer()
    mounted.command("estimate", epilog=EXAMPLES)(estimate)
    return mounted


def test_estimates_are_shown_or_written(app: typer.Typer, tmp_path: Path) -> None:
    matrix, table, out = (tmp_path / name for name in ("m.csv", "t.csv", "out.csv"))
    matrix.write_text("from/to,1,2\n1,0.9,0.1\n2,0.1,0.9\n", encoding="utf-8")
    table.write_text("sex,value\n1,108\n2,92\n", encoding="utf-8")
    said = [str(table), "--matrix", f"sex={matrix}"]
    shown = CliRunner().invoke(app, said)
    assert shown.exit_code == 0
    assert "standard_error" in shown.output
    assert "110" in shown.output
    assert CliRunner().invoke(app, [*said, "--out", str(out)]).exit_code == 0
    assert out.read_text(encoding="utf-8").splitlines()[1] == "1,108,110,5.303301"


@pytest.mark.parametrize("matrices", [["sex"], ["=m.csv"], ["sex=a.csv", "sex=b.csv"]])
def test_mistakes(app: typer.Typer, tmp_path: Path, matrices: list[str]) -> None:
    options = [word for text in matrices for word in ("--matrix", text)]
    result = CliRunner().invoke(app, [str(tmp_path / "t.csv"), *options])
    assert isinstance(result.exception, SpecError)
