"""The database of a table builder, for the commands about its accounts and its audit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.errors import MissingExtra

if TYPE_CHECKING:
    from sdcensus.web.database import Actor, Database

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
