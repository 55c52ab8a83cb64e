"""The commands, as one program.

A command is loaded when it is asked for: most of the time that a small command takes would else go
into reading what all the others are.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sdcensus._version import __version__
from sdcensus.cli.shared.options import examples

#: Every command in the order of the help, which shows this line of each.
COMMANDS = {
    "demo": "Make a fictional country and try it.",
    "load": "Check census files and write the store.",
    "export": "Write a store as encoded parquet.",
    "describe": "Show what a store holds.",
    "derive": "Make a store from a store.",
    "tabulate": "Count a table exactly.",
    "protect": "Protect a table and write it.",
    "publish": "Publish all tables of a plan.",
    "fill": "Put published values into a workbook.",
    "verify": "Check the files of a publication.",
    "approve": "Put two names under a publication.",
    "recommend": "Propose scheme, policy, tables.",
    "assess": "Measure risk and utility of a table.",
    "compare": "Compare methods on your own tables.",
    "looks": "How often tables together look at a cell.",
    "attack": "Attack published tables as an intruder.",
    "serve": "Open the table builder in the browser.",
    "plan": "Draft a plan of tables, or check one.",
    "policy": "Check a policy, or ask it about a table.",
    "schema": "Draft or check a schema.",
    "secret": "Make, check or restore the office secret.",
    "ptable": "Design and look at perturbation tables.",
    "account": "Accounts and audit of a table builder.",
}

#: The folders in which commands stand.
_ROOMS = {
    name: room
    for room, names in {
        "census": ("demo", "load", "export", "describe", "derive", "tabulate", "schema", "secret"),
        "table": ("protect", "assess", "compare"),
        "perturbation": ("ptable",),
        "decision": ("recommend", "policy", "looks", "attack"),
        "publication": ("plan", "publish", "fill", "verify", "approve"),
        "builder": ("serve", "account"),
    }.items()
    for name in names
}


class _Loaded(MutableMapping[str, Any]):
    """The commands by their names, each loaded when somebody looks it up."""

    def __init__(self) -> None:
        self._found: dict[str, Any] = dict.fromkeys(COMMANDS)

    def __getitem__(self, name: str) -> Any:
        if self._found[name] is None:
            self._found[name] = _load(name)
        return self._found[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)


def _load(name: str) -> Any:
    """A command: the function of the module of its name, or the commands of that module."""
    module = import_module(f"sdcensus.cli.{_ROOMS[name]}.{name}")
    several = getattr(module, "app", None)
    whole = typer.Typer(rich_markup_mode=None, add_completion=False)
    if several is None:
        command = getattr(module, name)
        settings = {"epilog": module.EXAMPLES, "short_help": COMMANDS[name]}
        whole.command(name, cls=getattr(command, "command_class", None), **settings)(command)
        return get_command(whole)
    whole.add_typer(several, name=name, short_help=COMMANDS[name])
    # A program of one group of commands: the group is what is wanted.
    return get_command(whole).commands[name]  # type: ignore[attr-defined]


class _Commands(TyperGroup):
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded()


app = typer.Typer(
    name="sdcensus",
    cls=_Commands,
    help="Publish tables and microdata of a census without giving anyone away.",
    epilog=examples(
        "sdcensus demo",
        "sdcensus schema draft persons.sav --out census",
        "sdcensus secret new office.secret --sheet office-secret-sheet.txt",
        "sdcensus load census/schema.toml --out census.store --secret office.secret",
        "sdcensus tabulate census.store --by ed@parish,sex,age@five_year",
        "sdcensus recommend census.store",
        "sdcensus protect census.store --by ed,sex --method cell-key --out t.xlsx",
        "sdcensus assess census.store --by ed@parish,sex --out check",
        "sdcensus attack published/",
        "sdcensus COMMAND --help",
    ),
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"sdcensus {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Publish tables and microdata of a census without giving anyone away."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
