from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from sdcensus import errors
from sdcensus.cli.shared.reference import help_pages, reference
from sdcensus.cli.shared.run import app
from tests.cli.conftest import ROOT, Run, Village

PAGES = help_pages()
PROGRAM = get_command(app)
EXAMPLE = re.compile(r"^ {4}(sdcensus .*)$", re.MULTILINE)
EXAMPLES = [example for page in PAGES.values() for example in EXAMPLE.findall(page)]


def test_all_commands_were_found() -> None:
    assert {
        "sdcensus demo",
        "sdcensus load",
        "sdcensus describe",
        "sdcensus tabulate",
        "sdcensus protect",
        "sdcensus ptable design",
        "sdcensus ptable show",
        "sdcensus ptable check",
        "sdcensus ptable convert",
        "sdcensus schema draft",
        "sdcensus schema check",
        "sdcensus secret new",
        "sdcensus secret check",
        "sdcensus secret restore",
    } <= set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_help_has_an_example_and_fits_the_console(name: str) -> None:
    assert EXAMPLE.search(PAGES[name])
    assert max(map(len, PAGES[name].splitlines())) <= 84


@pytest.mark.parametrize("name", PAGES)
def test_help_is_shown(run: Run, name: str) -> None:
    answer = run(*name.split()[1:], "--help")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Usage: {name}")


@pytest.mark.parametrize(
    "name", ["sdcensus", "sdcensus schema", "sdcensus secret", "sdcensus ptable"]
)
def test_a_group_without_a_command_shows_its_help(run: Run, name: str) -> None:
    answer = run(*name.split()[1:])
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith(f"Usage: {name}")


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_help_can_be_read(example: str) -> None:
    """Options that do not exist, or arguments too many or too few, would raise here."""
    command, words = PROGRAM, shlex.split(example)[1:]
    context = None
    while (inner := getattr(command, "commands", None)) and words[0] in inner:
        context = typer.Context(command, parent=context, info_name="sdcensus")
        command, words = inner[words[0]], words[1:]
    if words != ["COMMAND", "--help"]:
        assert command.make_context(command.name, words, parent=context).params


def test_the_documentation_is_up_to_date() -> None:
    """Write it anew with: python -m sdcensus.cli.shared.reference docs/commands.md"""
    page = ROOT / "docs" / "commands.md"
    assert page.read_text(encoding="utf-8") == reference()


WORDS = ROOT / "src" / "sdcensus" / "words"
OPTION = re.compile(r"--[a-z][a-z-]+")


def test_texts_name_options_that_there_are() -> None:
    known = {option for page in PAGES.values() for option in OPTION.findall(page)}
    for file in WORDS.rglob("*.toml"):
        assert set(OPTION.findall(file.read_text("utf-8"))) <= known, file


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_texts_on_safe_name_its_own_options(language: str) -> None:
    named = OPTION.findall((WORDS / language / "safe.toml").read_text("utf-8"))
    assert {"--moves", "--seconds"} <= set(named) <= set(OPTION.findall(PAGES["sdcensus safe"]))


def test_every_exit_code_is_documented() -> None:
    codes = {
        var.exit_code
        for var in vars(errors).values()
        if isinstance(var, type) and issubclass(var, errors.SdcensusError)
    }
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", reference(), re.MULTILINE)}
    assert codes | {0, 70, 130} <= documented


# ---------------------------------------------------------------- completion


def test_the_shell_is_offered_commands_variables_and_levels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], run: Run, village: Village
) -> None:
    def words(*line: object) -> list[str]:
        """What bash is offered for the last word of a line."""
        monkeypatch.setenv("_SDCENSUS_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", "\n".join(["sdcensus", *map(str, line)]))
        monkeypatch.setenv("COMP_CWORD", str(len(line)))
        with pytest.raises(SystemExit):
            run()
        return capsys.readouterr().out.split()

    assert words("des") == ["describe"]
    assert words("describe", village.store, "--variable", "a") == ["age"]
    assert words("tabulate", village.store, "--by", "s") == ["sex"]
    assert words("tabulate", village.store, "--by", "sex,ed@p") == ["sex,ed@parish"]
    # bash takes words apart at an @, and replaces what begins with it
    assert words("tabulate", village.store, "--by", "sex,ed", "@", "p") == ["@parish"]
    assert words("tabulate", village.store, "--by", "ed", "@") == ["@ed", "@parish"]
    assert words("tabulate", village.store, "--by", "ed", "@", "ed,s") == ["@ed,sex"]
    assert words("tabulate", village.store, "--engine", "d") == ["duckdb"]
    assert words("tabulate", Path("none"), "--by", "s") == []
