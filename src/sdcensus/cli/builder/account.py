"""``sdcensus account``: the accounts, tokens and audit of a table builder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.builder import account_audit
from sdcensus.cli.builder.account_audit import (
    DatabaseOption,
    day,
    office,
    opened_database,
    say_proof,
)
from sdcensus.cli.shared.console import Output, plain_table, typed
from sdcensus.cli.shared.options import Quiet, command_group, examples
from sdcensus.errors import InputError
from sdcensus.model.vocabulary import AccountRole

if TYPE_CHECKING:
    from sdcensus.web.database import Database

app = command_group(
    "Accounts, tokens and audit of a table builder, and copies of them.",
    "sdcensus account add ana --role staff --database builder.db",
    "sdcensus account token ana --name laptop --database builder.db",
    "sdcensus account audit verify --database builder.db",
)
app.add_typer(
    account_audit.app, name="audit", short_help="Look at the audit, prove it, shorten it."
)


_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of the account.")]
_PasswordFile = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="FILE",
        help="Read the password from the first line of a file; - for standard input.",
    ),
]


# ---------------------------------------------------------------- accounts


@app.command(
    "add",
    epilog=examples(
        "sdcensus account add ana --role staff --database builder.db",
        "sdcensus account add ben --role registered --password-file ben.txt",
    ),
)
def add(
    name: _Name,
    role: Annotated[
        AccountRole, typer.Option("--role", help="What the account may do; the noise is the same.")
    ],
    database: DatabaseOption = None,
    display_name: Annotated[
        str,
        typer.Option("--display-name", metavar="TEXT", help="How the person is called on pages."),
    ] = "",
    password_file: _PasswordFile = None,
    quiet: Quiet = False,
) -> None:
    """Make an account. The password is asked for; it is never an argument.

    Makes the file of the database if it does not exist yet.
    """
    from sdcensus.errors import SpecError, UnknownName

    output = Output(quiet=quiet)
    with opened_database(database, must_exist=False) as opened:
        try:
            opened.accounts.find(name)
        except UnknownName:
            pass
        else:  # before anybody types a password in vain
            raise SpecError(f"There is an account {name!r} already. Choose another name.")
        password = _password(password_file)
        account = opened.accounts.add(
            name, role.value, password, display_name=display_name, by=office()
        )
        output.say(f"Made the account {account.name} ({account.role}) in {opened.shown}.")
        output.say("\nIts owner logs in on the page of the table builder. For programs:")
        output.command(
            f"sdcensus account token {typed(account.name)} --name laptop{_again(database, opened)}"
        )


@app.command("list", epilog=examples("sdcensus account list --database builder.db"))
def list_accounts(database: DatabaseOption = None, quiet: Quiet = False) -> None:
    """List all accounts."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        accounts = opened.accounts.all()
    if not accounts:
        output.say("There are no accounts yet. Make one with:")
        output.command("sdcensus account add NAME --role staff")
        return
    table = plain_table()
    for title in ("name", "role", "made", "disabled", "called"):
        table.add_column(title)
    for account in accounts:
        table.add_row(
            account.name,
            account.role.value,
            day(account.created),
            day(account.disabled),
            account.display_name or "-",
        )
    output.show(table)


@app.command("disable", epilog=examples("sdcensus account disable ben --database builder.db"))
def disable(name: _Name, database: DatabaseOption = None, quiet: Quiet = False) -> None:
    """Close an account: its sessions end, its tokens stop. Nothing is deleted."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        account = opened.accounts.disable(name, by=office())
    output.say(
        f"Disabled the account {account.name}. Its sessions have ended; its tokens stop within a"
        " minute."
    )


@app.command("enable", epilog=examples("sdcensus account enable ben --database builder.db"))
def enable(name: _Name, database: DatabaseOption = None, quiet: Quiet = False) -> None:
    """Open an account again that was disabled."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        account = opened.accounts.enable(name, by=office())
    output.say(f"The account {account.name} can be used again, with its old password and tokens.")


@app.command("password", epilog=examples("sdcensus account password ana --database builder.db"))
def password(
    name: _Name,
    database: DatabaseOption = None,
    password_file: _PasswordFile = None,
    quiet: Quiet = False,
) -> None:
    """Give an account another password. All of its sessions end; its tokens stay."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        account = opened.accounts.find(name)
        opened.accounts.set_password(account.name, _password(password_file), by=office())
    output.say(f"{account.name} has a new password. All sessions of the account have ended.")


def _again(database: str | None, opened: Database) -> str:
    """The option for the database as it is typed again, without a password."""
    return f" --database {typed(opened.shown)}" if "://" not in str(database) else ""


# ---------------------------------------------------------------- passwords


def _password(file: str | None) -> str:
    """A password that is typed, or that stands in a file: never one of the command line."""
    if file is None:
        if sys.stdin is None or not sys.stdin.isatty():
            raise typer.BadParameter(
                "Nobody can type a password here. Give --password-file FILE, or - for standard"
                " input."
            )
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    text = _read_here() if file == "-" else _read(Path(file))
    first = text.split("\n", 1)[0].removesuffix("\r")
    if not first:
        raise InputError("The first line, in which the password should be, is empty.")
    return first


def _read_here() -> str:
    return sys.stdin.read() if sys.stdin is not None else ""


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be read: {reason}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not a text file in UTF-8.") from None


# ---------------------------------------------------------------- tokens


@app.command(
    "token",
    epilog=examples(
        "sdcensus account token ana --name laptop --database builder.db",
        "sdcensus account token ana --name nightly --days 30 --database builder.db",
    ),
)
def token(
    name: _Name,
    token_name: Annotated[
        str, typer.Option("--name", metavar="TEXT", help="What the token is for.")
    ],
    days: Annotated[
        int, typer.Option("--days", metavar="N", help="For how many days it works.")
    ] = 365,
    database: DatabaseOption = None,
    quiet: Quiet = False,
) -> None:
    """Make a token for programs and show it, this once.

    The token alone goes to standard output with --quiet.
    """
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        account = opened.accounts.find(name)
        made_token = opened.tokens.make(account, token_name, days=days, by=office())
    output.note(
        f"Made the token {made_token.token.id} of {account.name}; it works until"
        f" {day(made_token.token.expires)}. Copy it now: it is not kept anywhere."
    )
    typer.echo(made_token.text)


@app.command("tokens", epilog=examples("sdcensus account tokens ana --database builder.db"))
def tokens(name: _Name, database: DatabaseOption = None, quiet: Quiet = False) -> None:
    """List the tokens of an account, without their secrets."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        tokens = opened.tokens.of(opened.accounts.find(name))
    if not tokens:
        output.say(f"{name} has no tokens.")
        return
    table = plain_table()
    for title in ("token", "name", "made", "last used", "until", "revoked"):
        table.add_column(title)
    for token in tokens:
        days = (token.created, token.last_used, token.expires, token.revoked)
        table.add_row(token.id, token.name, *map(day, days))
    output.show(table)


@app.command("revoke", epilog=examples("sdcensus account revoke 2ktqs3qmdw --database builder.db"))
def revoke(
    token: Annotated[
        str,
        typer.Argument(metavar="TOKEN", help="The id of the token: its part after sdc_."),
    ],
    database: DatabaseOption = None,
    quiet: Quiet = False,
) -> None:
    """Stop a token for ever."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        gone = opened.tokens.revoke(_token_id(token), by=office())
    output.say(f"Revoked the token {gone.id} ({gone.name}) of {gone.account}.")
    output.say("A server that is running stops it within a minute.")


def _token_id(text: str) -> str:
    """The id of a token, also where somebody has pasted all of it."""
    parts = text.strip().split("_")
    return parts[1] if len(parts) == 3 and parts[0] == "sdc" else parts[0]


# ---------------------------------------------------------------- copies


@app.command(
    "backup",
    epilog=examples(
        "sdcensus account backup builder-2026-03-01.db --database builder.db",
        "sdcensus account backup accounts.jsonl --database postgresql://sdc@db/builder",
    ),
)
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file to make.")],
    database: DatabaseOption = None,
    quiet: Quiet = False,
) -> None:
    """Copy accounts, tokens, saved tables, audit and alarms while the server runs."""
    output = Output(quiet=quiet)
    with opened_database(database) as opened:
        opened.backup(file, by=office())
    output.say(f"Wrote the backup {file}. Only you can read it. To try it:")
    output.command(f"sdcensus account restore {typed(file)} --database NEW")


@app.command(
    "restore",
    epilog=examples("sdcensus account restore builder-2026-03-01.db --database new.db"),
)
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A backup, of either kind.")],
    database: DatabaseOption = None,
    quiet: Quiet = False,
) -> None:
    """Fill a new database from a backup; also from SQLite to PostgreSQL, and back."""
    output = Output(quiet=quiet)
    with opened_database(database, must_exist=False) as opened:
        restored = opened.restore(file, by=office())
        shown = opened.shown
    rows = dict(restored.rows)
    output.say(
        f"Restored {rows['accounts']:,} accounts, {rows['tokens']:,} tokens,"
        f" {rows['saved_tables']:,} saved tables and {rows['audit']:,} entries of the audit into"
        f" {shown}."
    )
    if not restored.proof.sound:
        raise InputError(f"The audit of the backup is damaged: {restored.proof.findings[0]}")
    say_proof(output, restored.proof)
