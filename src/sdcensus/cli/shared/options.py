"""Arguments and options that several commands have, and what the shell offers after Tab."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.errors import SdcensusError, UnknownName
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.vocabulary import EngineName

if TYPE_CHECKING:
    from sdcensus.session.census.census import Census


def complete_variable(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Names of variables, with their labels."""
    return [(name, label) for name, label, _ in _variables(context) if name.startswith(incomplete)]


def complete_axes(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The next axis of a comma-separated list: variables, and after an @ their levels."""
    before, comma, last = incomplete.rpartition(",")
    start = before + comma
    offered: list[tuple[str, str]] = []
    for name, label, levels in _variables(context):
        words = [name, *(f"{name}@{level}" for level in levels)] if "@" in last else [name]
        offered += [(start + word, label) for word in words if word.startswith(last)]
    return offered


def complete_format(incomplete: str) -> list[tuple[str, str]]:
    """The formats of tables, those of other packages among them."""
    from sdcensus.model.published.table_format import all_formats

    formats = [
        (table_format.name, table_format.about.show("en") or table_format.label)
        for table_format in all_formats()
    ]
    return [(name, about) for name, about in formats if name.startswith(incomplete)]


@contextmanager
def words_of_bash() -> Iterator[None]:
    """Let bash complete ``ed@pa``, which it takes apart at the @.

    It hands over three words, ``ed``, ``@`` and ``pa``, and replaces what begins with the @.
    """
    if os.environ.get("_SDCENSUS_COMPLETE") != "complete_bash":
        yield
        return
    at = os.environ.get("COMP_CWORD", "")
    words = os.environ.get("COMP_WORDS", "").split("\n")
    words = words[: int(at) + 1] if at.isdecimal() else []
    joined = joined_at_signs(words)
    if len(joined) == len(words):
        yield
        return
    os.environ["COMP_WORDS"] = "\n".join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)
    known = joined[-1].rfind("@")
    answer = io.StringIO()
    try:
        with redirect_stdout(answer):
            yield
    finally:
        for line in answer.getvalue().splitlines():
            typer.echo(line[known:])


def joined_at_signs(words: Sequence[str]) -> list[str]:
    """Put words together that were taken apart at an @.

    Examples:
        >>> joined_at_signs(["--by", "sex,ed", "@", "parish,age", "@"])
        ['--by', 'sex,ed@parish,age@']
    """
    joined: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if joined and "@" in (before, word):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _variables(context: typer.Context) -> Iterator[tuple[str, str, list[str]]]:
    """Name, label and levels of every variable of the store that the line names."""
    # While the last option has no value yet, arguments stand where they were left.
    store = context.params.get("store") or next(iter(context.args), None)
    if store is None:
        return
    from sdcensus.session.census.census import open_store

    try:
        schema = open_store(Path(str(store))).schema
    except (SdcensusError, OSError):
        return  # a mistake is reported by the command itself, not while it is typed
    for variable in schema.variables:
        if variable.stored:
            levels = [level.name for level in variable.levels()]
            yield variable.name, variable.label.show(), levels


Yes = Annotated[
    bool,
    typer.Option("--yes", help="Answer yes to what would be asked: write tables of many cells."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Store = Annotated[
    Path,
    typer.Argument(metavar="STORE", help="The folder of a census store, made by sdcensus load."),
]
Axes = Annotated[
    str,
    typer.Option(
        "--by",
        metavar="AXES",
        help="Axes, comma-separated, each variable[@level][+level...][-total]. None: one cell.",
        autocompletion=complete_axes,
    ),
]
Units = Annotated[
    str,
    typer.Option(
        "--of", metavar="UNITS", help="What is counted: persons, households, dwellings ..."
    ),
]
Where = Annotated[
    str | None,
    typer.Option("--where", metavar="CONDITION", help="Count only units for which it holds."),
]
MeasureOption = Annotated[
    str,
    typer.Option(
        "--measure",
        metavar="MEASURE",
        help="count records, sum their weights (weighted), or add up an amount: sum(income),"
        " weighted-sum(income).",
    ),
]
CensusMeasureOption = Annotated[
    str | None,
    typer.Option(
        "--measure",
        metavar="MEASURE",
        help="count records, sum their weights (weighted), or add up an amount: sum(income),"
        " weighted-sum(income). By default as the schema says.",
    ),
]
EngineOption = Annotated[
    EngineName, typer.Option("--engine", help="Where it is counted; the numbers are the same.")
]
Confidential = Annotated[
    bool,
    typer.Option("--confidential", help="You know that true counts are as secret as the census."),
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language", "-l", metavar="LANGUAGE", help="Language of labels and sentences, such as es."
    ),
]
SpokenLanguage = Annotated[
    str | None,
    typer.Option("--language", "-l", metavar="LANGUAGE", help="Language of sentences, such as es."),
]
SmallestGroup = Annotated[
    int | None,
    typer.Option(
        "--smallest-group",
        metavar="K",
        min=2,
        help="Do not break down further what is published below this: a cell is shown only if"
        " every group that it is a part of is published at K or more.",
    ),
]
SecretFile = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        metavar="FILE",
        envvar="SDCENSUS_SECRET_FILE",
        help="The file of the office secret, from which record keys are made.",
    ),
]


def examples(*commands: str) -> str:
    """The end of a command's help: what people really type. The mark keeps its lines apart."""
    return "\b\nExamples:\n" + "\n".join(f"  {command}" for command in commands)


def command_group(help: str, *commands: str) -> typer.Typer:
    """A command that has commands of its own; alone it shows its help, with these examples."""
    group = typer.Typer(help=help, epilog=examples(*commands), invoke_without_command=True)

    @group.callback()
    def start(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return group


def listed(text: str) -> list[str]:
    """The members of a comma-separated list.

    Examples:
        >>> listed("ed@parish, sex,")
        ['ed@parish', 'sex']
    """
    return [member.strip() for member in text.split(",") if member.strip()]


def check_spoken(language: str | None) -> None:
    """Refuse a language that the product does not speak."""
    if language is not None and language not in LANGUAGES:
        raise UnknownName("language", language, known=LANGUAGES)


def check_language(census: Census, language: str | None) -> None:
    """Refuse a language that neither the census nor the product has."""
    known = tuple(dict.fromkeys((*census.schema.census.languages, *LANGUAGES)))
    if language is not None and language not in known:
        raise UnknownName("language", language, known=known)
