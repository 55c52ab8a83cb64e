"""The page of the documentation about commands, made from their own help.

``python -m sdcensus.cli.shared.reference docs/commands.md`` writes it; a test compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from sdcensus.cli.shared.run import DEBUG, OTHER_EXIT_CODES, app
from sdcensus.errors import SdcensusError

_WIDTH = 80
#: Options whose help depends on the shell of whoever asks.
_BY_SHELL = frozenset({"install_completion", "show_completion"})

_HEAD = """\
# Commands

This page is made from the help of the commands (`sdcensus COMMAND --help`).

Answers go to standard output; progress, notes and errors go to standard error. Lists are
comma-separated. Whatever takes longer than two seconds shows how far it is; `--quiet` silences
everything but errors.
"""

_EXIT_CODES = f"""\
## Exit codes

An error is one line (or a list) on standard error that begins with `error:`; the exit code tells
its kind. Tracebacks are not shown, because they may quote the census; `{DEBUG}=1` in the
environment shows them to those who may see them.

| code | meaning |
| ---: | --- |
"""

_COMPLETION = """\
## Completion

`sdcensus --install-completion` teaches your shell (bash, zsh, fish, PowerShell) to complete
commands, options and files with Tab, and also the variables and levels of the store that is named
on the line: `sdcensus tabulate census.store --by ed@<Tab>`. `--show-completion` shows what would be
installed.
"""


def reference() -> str:
    """The page, in Markdown."""
    return "\n".join([_HEAD, *_commands(), _EXIT_CODES + _exit_codes(), _COMPLETION])


def help_pages() -> dict[str, str]:
    """The help of every command and group by its full name, 80 signs wide."""
    return dict(_pages(get_command(app), "sdcensus", None))


def _commands() -> Iterator[str]:
    for name, text in help_pages().items():
        lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
        yield f"## {name}\n\n```text\n{lines}\n```\n"


def _pages(command: Any, name: str, parent: Any) -> Iterator[tuple[str, str]]:
    context = typer.Context(command, parent=parent, info_name=name.split()[-1])
    context.terminal_width = _WIDTH
    context.help_option_names = ["--help", "-h"]
    for parameter in command.params:
        if parameter.name in _BY_SHELL:
            parameter.hidden = True
    yield name, command.get_help(context)
    for inner, subcommand in getattr(command, "commands", {}).items():
        yield from _pages(subcommand, f"{name} {inner}", context)


def _exit_codes() -> str:
    codes = dict(OTHER_EXIT_CODES)
    for error in _errors_below(SdcensusError):
        # An error without a code of its own is a kind of the one above it.
        if "exit_code" in vars(error):
            codes[error.exit_code] = (error.__doc__ or "").strip().split("\n")[0]
    codes[2] += " Or: the command line itself cannot be understood."
    return "".join(f"| {code} | {codes[code]} |\n" for code in sorted(codes))


def _errors_below(above: type[SdcensusError]) -> Iterator[type[SdcensusError]]:
    for below in above.__subclasses__():
        yield below
        yield from _errors_below(below)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8", newline="\n")
