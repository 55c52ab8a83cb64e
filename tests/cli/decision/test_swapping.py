"""``sdcensus recommend --swap-for`` at the prompt."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run
from tests.session.attack.test_swapped import STEP, lab_plan


def test_swapping_is_tried_on_the_tables_of_a_plan(run: Run, tmp_path: Path) -> None:
    plan = lab_plan(tmp_path, households=200)
    asked = ("recommend", tmp_path / "census.store", "--swap-for", plan, "--step", STEP)
    secret = ("--secret", tmp_path / "office.secret")
    answer = run(*asked, "--rates", "0.5", "--attacks", "zero-patterns", *secret)
    assert answer.code == 0, answer.err
    said = " ".join(answer.out.split())
    assert "right about residents" in said or "residents" in said
    assert "limit" in said or "at most 50 %" in said
    out = tmp_path / "lab"
    search = run(*asked[:4], "--attacks", "zero-patterns", "-l", "fr", "--out", out, *secret)
    assert search.code == 0, search.err
    assert "enregistrements tels quels" in search.out
    assert sorted(path.name for path in out.iterdir()) == ["swapping.csv", "swapping.html"]
    again = run(*asked[:4], "--out", out, *secret)
    assert again.code != 0
    assert "already exists" in again.err
    assert run(*asked[:4], "--limit", "1.5", *secret).code != 0
    wrong = run(*asked, "--rates", "much", *secret)
    assert wrong.code != 0
    assert "--rates are numbers" in wrong.err
    unknown = run(*asked[:4], "--step", "no-such-swap rate=0.1", *secret)
    assert unknown.code != 0
    assert "no-such-swap" in unknown.err
