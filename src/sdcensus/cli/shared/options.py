"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.completion import complete_axes
from sdcensus.model.vocabulary import EngineName, Measure

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
    Measure, typer.Option("--measure", help="Count records, or sum their weights.")
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
        "--language", "-l", metavar="LANGUAGE", help="Language of the labels, such as es."
    ),
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
    return [one.strip() for one in text.split(",") if one.strip()]
