"""The commands as one program, and what it answers when something goes wrong.

A command is loaded when it is asked for: most of the time that a small command takes would else go
into reading what all the others are.

Errors that a user can do something about are one line on stderr and an exit code by their kind.
A traceback is never shown on its own: it may quote a line of a census file.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_command

from sdcensus._version import __version__
from sdcensus.cli.shared.console import prepare_streams, show_error
from sdcensus.cli.shared.options import examples, words_of_bash
from sdcensus.errors import SdcensusError
from sdcensus.model.catalogue import VARIABLE as OFFICE_WORDS

#: Every command in the order of the help, which shows this line of each.
COMMANDS = {
    "start": "From files to tables, by questions.",
    "demo": "Make a fictional country and try it.",
    "load": "Check census files and write the store.",
    "export": "Write a store as encoded parquet.",
    "describe": "Show what a store holds.",
    "swap": "Exchange places or attributes of records.",
    "pram": "Change codes with known probabilities.",
    "impute": "Blank values and impute them anew.",
    "safe": "Leave no combination of codes rare.",
    "grid": "Put squares together that hold too few.",
    "weigh": "Give households weights, or sample them.",
    "derive": "Make a store from a store by any method.",
    "tabulate": "Count a table exactly.",
    "protect": "Protect a table and write it.",
    "map": "Draw a published grid, smoothed.",
    "publish": "Publish all tables of a plan.",
    "fill": "Put published values into a workbook.",
    "verify": "Check the files of a publication.",
    "approve": "Put two names under a publication.",
    "recommend": "Propose scheme, policy, tables.",
    "assess": "Measure risk and utility of a table.",
    "compare": "Compare methods on your own tables.",
    "looks": "How often tables together look at a cell.",
    "attack": "Attack published tables as an intruder.",
    "audit": "What withheld cells can be, of any tool.",
    "claim": "Answer who has found somebody.",
    "release": "Make files for researchers.",
    "dummy": "Make a file of nobody for programs.",
    "licence": "Keep the register of who holds a file.",
    "serve": "Open the table builder in the browser.",
    "plan": "Draft a plan of tables, or check one.",
    "policy": "Check a policy, or ask it about a table.",
    "schema": "Draft or check a schema.",
    "secret": "Make, check or restore the office secret.",
    "words": "Languages: list, begin or check one.",
    "ptable": "Design and look at perturbation tables.",
    "account": "Accounts and audit of a table builder.",
}

#: The folders in which commands stand.
_ROOMS = {
    name: room
    for room, names in {
        "census": (
            "start",
            "demo",
            "load",
            "export",
            "describe",
            "tabulate",
            "schema",
            "secret",
            "words",
        ),
        "derive": ("swap", "pram", "impute", "safe", "grid", "weigh", "derive"),
        "table": ("protect", "map", "assess", "compare"),
        "perturbation": ("ptable",),
        "decision": ("recommend", "policy", "looks", "attack", "audit", "claim"),
        "publication": ("plan", "publish", "fill", "verify", "approve"),
        "release": ("release", "dummy", "licence"),
        "builder": ("serve", "account"),
    }.items()
    for name in names
}


class _Loaded(Mapping[str, Any]):
    """The commands by their names, each loaded when somebody looks it up."""

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


@cache
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
        self.commands = _Loaded()  # type: ignore[assignment]


app = typer.Typer(
    name="sdcensus",
    cls=_Commands,
    help="Publish tables and microdata of a census without giving anyone away.",
    epilog=examples(
        "sdcensus demo",
        "sdcensus start census",
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
    if OFFICE_WORDS in os.environ:
        from sdcensus.session.office.words import check_office_folder

        check_office_folder()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


#: Set to 1, this variable of the environment shows tracebacks.
DEBUG = "SDCENSUS_DEBUG"
BUG, INTERRUPTED, TERMINATED = 70, 130, 143

_NO_MEMORY = (
    "There is not enough memory. Close other programs; for a table, take fewer or coarser axes."
)

#: Exit codes besides those of the errors in ``sdcensus.errors``.
OTHER_EXIT_CODES = {
    0: "All went well.",
    1: "Another error, such as one that the system reports.",
    BUG: "A bug of sdcensus. Please report it.",
    INTERRUPTED: "Interrupted with Ctrl+C.",
    TERMINATED: "Ended from outside, for example by the system that shuts down.",
}


class Interrupted(BaseException):
    """The user, or the system, ends the command."""

    def __init__(self, text: str, exit_code: int) -> None:
        super().__init__(text)
        self.exit_code = exit_code


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    prepare_streams()
    command = _program()
    try:
        with _termination_as_exception(), words_of_bash():
            code = command.main(args=arguments, prog_name="sdcensus", standalone_mode=False)
            if sys.stdout is not None:  # a program without a console has none
                sys.stdout.flush()
    except Interrupted as end:
        show_error(str(end))
        return end.exit_code
    except SdcensusError as error:
        # What else was done, such as the removal of what a killed program had left.
        said = (str(error), *getattr(error, "__notes__", ()))
        return _explained("\n".join(said), error.exit_code)
    except typer.TyperException as error:
        return _explained(_usage_text(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _explained("interrupted", INTERRUPTED)
    except MemoryError:
        return _explained(_NO_MEMORY, SdcensusError.exit_code)
    except BrokenPipeError:
        _forget_stdout()
        return 1
    except OSError as error:
        return _explained(_system_text(error), SdcensusError.exit_code)
    except Exception as error:
        if _begun_by_interrupt(error):
            return _explained("interrupted", INTERRUPTED)
        return _explained(_bug_text(error), BUG)
    if code == INTERRUPTED:
        show_error("interrupted")
    return code if isinstance(code, int) else 0


@cache
def _program() -> Any:
    """All commands, put together once: for a single line that is most of the work."""
    return get_command(app)


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """Around work that writes its result in the end only: says so when it is interrupted."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted("interrupted, nothing was written", INTERRUPTED) from None
    except Interrupted as end:
        raise Interrupted("ended from outside, nothing was written", end.exit_code) from None


@contextmanager
def _termination_as_exception() -> Iterator[None]:
    """Let a command that is asked to end remove what it has begun to write."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        raise Interrupted("ended from outside", TERMINATED)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # A closed terminal or a lost connection ends a command as well; Windows has no such signal.
    numbers = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    # Whoever started the command with nohup wants it to go on.
    heard = [
        number for number in numbers if number and signal.getsignal(number) is not signal.SIG_IGN
    ]
    before = {number: signal.signal(number, end) for number in heard}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _explained(text: str, exit_code: int) -> int:
    if os.environ.get(DEBUG) == "1":
        traceback.print_exc()
    show_error(text)
    return exit_code


def _begun_by_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl+C is behind an error: libraries that are being imported make others of it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _usage_text(error: typer.TyperException) -> str:
    """What is wrong with the command line, and where to look it up."""
    context = getattr(error, "ctx", None)
    hint = f"\nTry: {context.command_path} --help" if context is not None else ""
    # The words of the library that checks values are of no use to whoever typed them.
    return f"{error.format_message().replace(': Value error, ', ': ')}{hint}"


def _system_text(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"{error.filename}: {reason}." if error.filename else f"The system says: {reason}."


def _bug_text(error: Exception) -> str:
    """Where it happened, and nothing of what the program held at that moment."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "sdcensus" in Path(frame.filename).parts]
    where = ""
    if ours:
        parts = Path(ours[-1].filename).parts
        inside = parts[len(parts) - parts[::-1].index("sdcensus") :]
        where = f" in {'/'.join(inside)}, line {ours[-1].lineno}"
    return (
        f"This is a bug of sdcensus ({type(error).__name__}{where}). Please report this line; it"
        " holds nothing of your data."
        f"\nTo see more, set {DEBUG}=1 and run the command again: what it then shows may hold"
        " confidential values, so do not send it to anyone who may not see the census."
    )


def _forget_stdout() -> None:
    """Nobody reads any more: Python must not complain when it empties the stream at its end."""
    sys.stdout = Path(os.devnull).open("w", encoding="utf-8", newline="\n")  # noqa: SIM115
