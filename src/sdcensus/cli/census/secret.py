"""``sdcensus secret``: the office secret, from which every record key is made."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, typed
from sdcensus.cli.shared.options import Quiet, SpokenLanguage, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.sentences import speak

if TYPE_CHECKING:
    from sdcensus.session.office.secret import SecretFile

app = command_group(
    "Make, compare and restore the office secret, from which record keys are made.",
    "sdcensus secret new office.secret --sheet office-secret-sheet.txt",
    "sdcensus secret check office.secret --store census.store",
    "sdcensus secret lookup office.secret server.secret",
)

_FILE = typer.Argument(metavar="FILE", help="The file of the secret.")


@app.command(
    "new",
    epilog=examples(
        "sdcensus secret new office.secret --sheet office-secret-sheet.txt",
        "sdcensus secret new office.secret --show-sheet",
    ),
)
def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    sheet: Annotated[
        Path | None,
        typer.Option(
            "--sheet", metavar="SHEET", help="Also write the recovery sheet: a page to print."
        ),
    ] = None,
    show_sheet: Annotated[
        bool,
        typer.Option("--show-sheet", help="Show the recovery sheet, and with it the secret."),
    ] = False,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Make a secret at random, in a file that only you can read. Never overwrites one."""
    from sdcensus.session.office.secret import make_secret, sheet_text

    output = Output(quiet=quiet)
    with all_or_nothing():
        secret_file = make_secret(file, sheet=sheet)
    path = str(secret_file.path)
    output.say(speak("start.secret.made", language, id=secret_file.id, path=path))
    keep, undo, lost = (speak(f"start.secret.{key}", language) for key in ("keep", "undo", "lost"))
    output.say(f"\n{keep}\n- {undo}\n- {lost}")
    if secret_file.sheet is not None:
        output.say("")
        _say_sheet(output, secret_file.sheet, language)
    elif not show_sheet:
        output.say("\n" + speak("start.secret.print", language))
        output.command(f"sdcensus secret sheet {typed(file)} --out SHEET")
    if show_sheet:
        output.say(f"\n{sheet_text(file)}")


@app.command(
    "sheet",
    epilog=examples(
        "sdcensus secret sheet office.secret --out office-secret-sheet.txt",
        "sdcensus secret sheet office.secret --show",
    ),
)
def sheet(
    file: Annotated[Path, _FILE],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="SHEET", help="Write the sheet to this file.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Show the sheet, and with it the secret.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write or show the recovery sheet of a secret: a page to print and lock away."""
    from sdcensus.session.office.secret import sheet_text, write_sheet

    if out is None and not show:
        raise typer.BadParameter("Say where the sheet goes: --out SHEET, or --show.")
    output = Output(quiet=quiet)
    if out is not None:
        with all_or_nothing():
            write_sheet(file, out)
        _say_sheet(output, out)
    if show:
        output.say(sheet_text(file))


@app.command(
    "check",
    epilog=examples(
        "sdcensus secret check office.secret",
        "sdcensus secret check office.secret copy-in-the-safe.secret",
        "sdcensus secret check office.secret b7a551f2cc2b4dff",
        "sdcensus secret check office.secret --store census.store",
    ),
)
def check(
    file: Annotated[Path, _FILE],
    other: Annotated[
        str | None,
        typer.Argument(metavar="[OTHER]", help="Another file, or the id of a secret."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="STORE", help="A store: was it made with this secret?"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Check a secret and show its id; compare it with another one or with a store.

    The id tells secrets apart and gives nothing away: it may be read out on the telephone.
    """
    from sdcensus.session.office.secret import compare_secret, require_same

    output = Output(quiet=quiet)
    comparison = compare_secret(file, other=other, store=store)
    if comparison.secret.purpose:
        output.say(
            f"{file} is in order. It is for {comparison.secret.purpose} and comes from the office"
            f" secret {comparison.secret.id}."
        )
    else:
        output.say(f"{file} is in order. Its id is {comparison.secret.id}.")
    for name, identity in comparison.others:
        if identity == comparison.secret.id:
            belongs = "It belongs to" if comparison.secret.purpose else "It is"
            output.say(f"{belongs} the secret of {name}.")
    require_same(comparison)


@app.command(
    "lookup",
    epilog=examples(
        "sdcensus secret lookup office.secret server.secret",
        "sdcensus secret lookup office.secret server.secret --key-version 2",
    ),
)
def lookup(
    file: Annotated[Path, typer.Argument(metavar="SECRET", help="The file of the office secret.")],
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    key_version: Annotated[
        int,
        typer.Option(
            "--key-version",
            metavar="N",
            min=0,
            help="The version of the series of published numbers.",
        ),
    ] = 1,
    quiet: Quiet = False,
) -> None:
    """Make the look-up secret: all that a server needs of the office secret.

    Noise is drawn with it. Record keys cannot be made from it, and neither can the office secret.
    Whoever holds it together with the store can still undo the protection of published tables.
    """
    from sdcensus.session.office.secret import make_lookup_secret

    output = Output(quiet=quiet)
    with all_or_nothing():
        secret_file = make_lookup_secret(file, out, version=key_version)
    output.say(
        f"Made the secret for {secret_file.purpose} of the office secret {secret_file.id} in {out}."
        " Only you can"
        " read the file."
    )
    output.say("Bring this file to the server, and leave the office secret where it is.")


@app.command(
    "restore",
    epilog=examples(
        "sdcensus secret restore typed-from-paper.txt office.secret",
        "sdcensus secret restore - office.secret",
    ),
)
def restore(
    lines: Annotated[
        str,
        typer.Argument(
            metavar="SHEET",
            help="A file with the numbered lines of the sheet; - to type them here.",
        ),
    ],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    quiet: Quiet = False,
) -> None:
    """Make the file of a secret again from its recovery sheet. A mistyped line is named."""
    from sdcensus.session.office.secret import restore as restore_secret

    output = Output(quiet=quiet)
    with all_or_nothing():
        source = _read_stdin() if lines == "-" else Path(lines)
        secret_file: SecretFile = restore_secret(source, file)
    output.say(f"Restored the secret {secret_file.id} in {file}. Only you can read the file.")


def _read_stdin() -> str:
    """What is typed here; nothing where nobody can type."""
    return sys.stdin.read() if sys.stdin is not None else ""


def _say_sheet(output: Output, sheet: Path, language: str | None = None) -> None:
    output.say(speak("start.secret.sheet", language, path=str(sheet)))
