from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run, Village


def test_an_export_says_what_it_made_and_is_counted_like_the_store(
    run: Run, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "census 2021.parquet"
    answer = run("export", village.store, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert any(line[:2] == ["persons", "7"] for line in lines)
    assert any(line[:2] == ["households", "4"] for line in lines)
    assert f'sdcensus tabulate "{out}" --engine spark' in answer.out
    shown = ("--by", "sex", "--engine", "duckdb", "--show", "--confidential")
    from_store, from_export = run("tabulate", village.store, *shown), run("tabulate", out, *shown)
    assert from_export.code == 0

    def counts(text: str) -> list[str]:
        return [line for line in text.splitlines() if "with the engine" not in line]

    assert counts(from_export.out) == counts(from_store.out)


def test_quiet_prints_nothing_and_replace_replaces(
    run: Run, village: Village, tmp_path: Path
) -> None:
    out = tmp_path / "p"
    for more in ((), ("--replace",)):
        answer = run("export", village.store, "--out", out, "--quiet", *more)
        assert (answer.code, answer.out, answer.err) == (0, "", "")
    again = run("export", village.store, "--out", out)
    assert again.code == 8
    assert "--replace" in again.err


def test_mistakes_are_one_line_each(run: Run, village: Village, tmp_path: Path) -> None:
    out = tmp_path / "p"
    assert run("export", village.store, "--out", out).code == 0
    nothing = run("export", tmp_path / "nothing", "--out", tmp_path / "q")
    assert nothing.code == 6
    assert "There is no store" in nothing.err
    of_an_export = run("export", out, "--out", tmp_path / "q")
    assert of_an_export.code == 6
    assert not (tmp_path / "q").exists()
    memory = run("tabulate", out, "--by", "sex")
    assert memory.code == 6
    assert "--engine" in memory.err
    over_a_store = run("export", village.store, "--out", village.store, "--replace")
    assert over_a_store.code == 8
    assert "not an exported census" in over_a_store.err
