"""``sdcensus account audit``: the audit of a table builder, shown, proved and shortened.

Here is also how commands find the database of a table builder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.cli.shared.options import Quiet, command_group, examples
from sdcensus.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from sdcensus.web.database import Actor, AuditProof, Database, Head


DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URL",
        envvar="SDCENSUS_DATABASE",
        help="The database of the server: a file (SQLite; builder.db in its state folder), or"
        " postgresql://USER@HOST/DATABASE.",
    ),
]


@contextmanager
def opened_database(where: str | None, *, must_exist: bool = True) -> Iterator[Database]:
    """The database that was named, for as long as it is needed."""
    if not where:
        raise typer.BadParameter(
            "Say which database: --database FILE, or SDCENSUS_DATABASE in the environment."
        )
    try:
        from sdcensus.web.database import Database
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("sdcensus"):
            raise
        raise MissingExtra("web", needed_for="The database of a table builder") from None
    with Database.open(where, must_exist=must_exist) as database:
        yield database


def office() -> Actor:
    """Whoever works here, for the audit."""
    from sdcensus.web.database import COMMAND_LINE

    return COMMAND_LINE


def day(time: datetime | None) -> str:
    """The day of a time; a dash where there is none."""
    return "-" if time is None else f"{time:%Y-%m-%d}"


app = command_group(
    "Look at the audit, prove it, or remove what is old.",
    "sdcensus account audit show --limit 20 --database builder.db",
    "sdcensus account audit verify --database builder.db",
    "sdcensus account audit retain --days 365 --database builder.db",
)


@app.command(
    "show",
    epilog=examples(
        "sdcensus account audit show --limit 20 --database builder.db",
        "sdcensus account audit show --who ana --json --database builder.db",
    ),
)
def show(
    database: DatabaseOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="How many entries at most.")
    ] = 50,
    who: Annotated[
        str | None,
        typer.Option(
            "--who", metavar="NAME", help="Entries of one account only; ~office: of commands."
        ),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option("--action", metavar="ACTION", help="Entries of one kind only, such as login."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="All that an entry holds, one line of JSON for each.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Show the entries of the audit, the newest first."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        entries = opened.audit.latest(limit=limit, who=who, action=action)
    if as_json:
        for entry in entries:
            written = {**asdict(entry), "time": entry.time.isoformat()}
            typer.echo(json.dumps(written, ensure_ascii=False))
        return
    table = plain_table()
    table.add_column("entry", justify="right")
    for title in ("time", "who", "action", "outcome"):
        # Never cut: names and kinds of entries are looked for again.
        table.add_column(title, overflow="fold", no_wrap=title == "action")
    table.add_column("cells", justify="right")
    table.add_column("reason", overflow="fold")
    for entry in entries:
        time = f"{entry.time:%Y-%m-%d %H:%M:%S}"
        cells = f"{entry.cells:,}" if entry.cells else "-"
        row = (str(entry.sequence), time, entry.who, entry.action, entry.outcome or "-", cells)
        table.add_row(*row, entry.reason or "-")
    output.show(table)


@app.command(
    "verify",
    epilog=examples(
        "sdcensus account audit verify --database builder.db",
        "sdcensus account audit verify --known 1207:9f86d081... --database builder.db",
    ),
)
def verify(
    database: DatabaseOption = None,
    known: Annotated[
        str | None,
        typer.Option("--known", metavar="N:HASH", help="An end of the chain noted earlier."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Follow the chain of the audit; say where an entry was changed or is missing.

    Note the end of the chain elsewhere now and then: compared with it, not even somebody who can
    write to the database can have changed anything before.
    """
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        proof = opened.audit.verify(None if known is None else _head(known))
        shown = opened.shown
    if not proof.sound:
        places = "\n".join(f"  {finding}" for finding in proof.findings)
        raise InputError(f"The audit in {shown} is not what was written:\n{places}")
    say_proof(output, proof)


@app.command(
    "retain", epilog=examples("sdcensus account audit retain --days 365 --database builder.db")
)
def retain(
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=1, help="How many days are kept.")
    ],
    database: DatabaseOption = None,
    even_if_damaged: Annotated[
        bool,
        typer.Option("--even-if-damaged", help="Also when the chain is broken: traces are lost."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Remove old entries of the audit; an anchor in their place proves the rest."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        anchor = opened.audit.apply_retention(days, by=office(), even_if_damaged=even_if_damaged)
    if anchor is None:
        output.say(f"No entry is older than {days:,} days; nothing was removed.")
        return
    output.say(
        f"Removed {anchor.removed:,} entries up to number {anchor.sequence:,}. Their end is kept:"
    )
    output.command(f"{anchor.sequence}:{anchor.hash}")


def _head(text: str) -> Head:
    from sdcensus.web.database import Head

    number, _, digest = text.strip().partition(":")
    if not number.isdecimal() or len(digest) != 64:
        raise typer.BadParameter("--known is written N:HASH, as audit verify shows it.")
    return Head(int(number), digest.lower())


def say_proof(output: Output, proof: AuditProof) -> None:
    """Say that an audit is sound, and where it ends."""
    if not proof.head.sequence:
        output.say("The audit has no entries yet.")
        return
    output.say(
        f"The audit is sound: {proof.entries:,} entries, {proof.first:,} to"
        f" {proof.head.sequence:,}."
    )
    removed = sum(anchor.removed for anchor in proof.anchors)
    if removed:
        output.say(f"{removed:,} entries before them were removed because their time was over.")
    output.say("Note its end elsewhere, for --known:")
    output.command(f"{proof.head.sequence}:{proof.head.hash}")
