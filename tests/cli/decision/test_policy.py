from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.main import get_command

from sdcensus.cli.decision import policy
from sdcensus.errors import DocumentError, OutputError, Refused, SpecError
from sdcensus.formats.perturbation import write_perturbation
from sdcensus.methods.perturbation.design import design_perturbation
from tests.cli.conftest import Village

Run = Callable[..., tuple[int, str]]

POLICY = """
name = "Village policy"
lock = true
[limits]
dimensions = 2
[online]
mean_cell_size = 2
recovery = 0.1
[design]
minimum_population = 3
[exempt]
record_sets = ["residents by parish"]
[variable.married]
finest_area = "ed@parish"
as_filter = false
[variable.income]
offered = false
[never_together]
combinations = [["sex", "age@broad"]]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.toml"
    path.write_text(POLICY, encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("SDCENSUS_SECRET_FILE", raising=False)

    def command(*arguments: object) -> tuple[int, str]:
        capsys.readouterr()
        words = [str(argument) for argument in arguments]
        code = get_command(policy.app).main(args=words, standalone_mode=False)
        return code or 0, capsys.readouterr().out

    return command


def test_check_shows_what_a_policy_allows(run: Run, file: Path, village: Village) -> None:
    code, out = run("check", file, "--store", village.store)
    assert code == 0
    assert "is right" in out
    assert "locked" in out
    words = [line.split() for line in out.splitlines()]
    assert ["married", "married", "(2)", "no", "ed@parish"] in words
    assert ["age", "age", "(101),", "broad", "(4)", "yes"] in words
    assert "Not offered: income." in out
    assert "Published exactly: residents by parish." in out
    assert "nothing is decided yet" in out
    # The look figure of the menu never stands without what it does not cover.
    looks = " ".join(out.split("Look budget")[1].split())
    assert "independent look" in looks
    assert re.search(r"true count in [0-9.]+ % of cases; the limit is [0-9]+ %\.", looks)
    assert "It does not cover equal sets of people" in looks


def test_check_holds_the_noise_of_a_file_against_the_looks(
    run: Run, file: Path, village: Village, tmp_path: Path
) -> None:
    noise = tmp_path / "noise.csv"
    write_perturbation(design_perturbation(max_deviation=8, variance=9), noise, "plain")
    _, by_file = run("check", file, "--store", village.store, "--perturbation", noise)
    _, medium = run("check", file, "--store", village.store)
    assert "With the noise of noise.csv, that is the" in " ".join(by_file.split())
    assert "With the noise CP3, that is the" in " ".join(medium.split())
    with pytest.raises(SpecError, match="not both"):
        run("check", file, "--store", village.store, "--perturbation", noise, "--scheme", "CP2")


def test_check_lists_mistakes_with_their_lines(run: Run, file: Path, village: Village) -> None:
    file.write_text('name = "x"\n[variable.sexx]\n', encoding="utf-8", newline="\n")
    with pytest.raises(DocumentError, match=r"line 2: variable\.sexx: There is no variable 'sexx'"):
        run("check", file, "--store", village.store)


def test_ask_says_why_not_and_what_would_help(run: Run, file: Path, village: Village) -> None:
    code, out = run("ask", file, village.store, "--by", "ed,married")
    assert code == Refused.exit_code
    assert "[area-too-fine]" in out
    assert "What would help" in out
    assert "Show Area (ed) at the level parish." in out
    code, out = run("ask", file, village.store, "--by", "ed@parish,married")
    assert code == 0
    assert "can be published" in out
    assert "Published numbers decide further" in out
    code, out = run("ask", file, village.store, "--by", "sex", "--where", "married == 1")
    assert (code, "[variable-not-a-filter]" in out) == (4, True)


def test_ask_with_a_method_applies_the_rules_on_published_numbers(
    run: Run, file: Path, village: Village
) -> None:
    """Seven persons by single years of age are too few for each cell."""
    method = ("--method", "random-rounding")
    code, out = run("ask", file, village.store, "--by", "ed,age", *method)
    assert code == 4
    assert "[sparse-area]" in out
    assert "fewer than 2 persons for each cell" in out


def test_design_needs_confidential_and_writes_decisions(
    run: Run, file: Path, village: Village, tmp_path: Path
) -> None:
    with pytest.raises(Refused, match="--confidential"):
        run("design", file, village.store)
    out = tmp_path / "decided.toml"
    code, told = run("design", file, village.store, "--out", out, "--confidential")
    assert code == 0
    assert "Areas of ed@ed with fewer than 3 people" in told
    assert "[[decided.not_offered]]" in out.read_text(encoding="utf-8")
    code, _ = run("check", out, "--store", village.store)
    assert code == 0
    with pytest.raises(OutputError, match="already exists"):
        run("design", file, village.store, "--out", out, "--confidential")


AMOUNTS = """
name = "Amounts"
[online]
smallest_group = 12
[amount.income]
measures = ["mean"]
by = ["sex", "ed@parish"]
dimensions = 2
noise_left = 0.05
"""


def test_amounts_are_shown_with_the_noise_that_they_need(
    run: Run, tmp_path: Path, village: Village
) -> None:
    path = tmp_path / "amounts.toml"
    path.write_text(AMOUNTS, encoding="utf-8", newline="\n")
    _, shown = run("check", path, "--store", village.store)
    plain = " ".join(shown.split())
    assert "income: mean; by sex, ed@parish; at most 2 variables; 12 contributors or more." in plain
    # The total, each variable alone, and both: 5 % of four looks.
    assert "a cell of each of 4 tables" in plain
    assert "a standard deviation of 10.0 % of the largest contribution" in plain


@pytest.mark.parametrize(
    ("measure", "by", "code", "why"),
    [
        ("mean(income)", "ed@parish,sex", 0, "can be published"),
        ("mean(income)", "ed", 4, "level parish"),
        ("mean(income)", "married", 4, "not offered together with mean of income"),
        ("sum(income)", "sex", 4, "Offered are: mean of income"),
        ("count", "ed", 0, "can be published"),
    ],
)
def test_it_can_be_asked_about_an_amount(
    run: Run,
    tmp_path: Path,
    village: Village,
    measure: str,
    by: str,
    code: int,
    why: str,
) -> None:
    path = tmp_path / "amounts.toml"
    path.write_text(AMOUNTS, encoding="utf-8", newline="\n")
    left, shown = run("ask", path, village.store, "--by", by, "--measure", measure)
    assert left == code
    assert why in " ".join(shown.split())
