"""Questions to whoever sits at a terminal; where nobody does, what was not said is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from sdcensus.cli.shared.console import Output
from sdcensus.errors import Unconfirmed


def can_answer() -> bool:
    """Whether somebody sits at the terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def agreed(output: Output, question: str, *, default: bool = False) -> bool:
    """Whether whoever sits at the terminal agrees; nobody does where nobody sits."""
    return can_answer() and typer.confirm(question, default=default, err=True)


def ask(output: Output, unconfirmed: Unconfirmed) -> None:
    """Ask whether something shall be done after all.

    Raises:
        Unconfirmed: Nobody can answer, or the answer is no.
    """
    if not can_answer():
        raise unconfirmed
    output.note(str(unconfirmed))
    if not typer.confirm("Go on?", default=False, err=True):
        raise unconfirmed


def confirm(output: Output, check: Callable[[], None]) -> None:
    """Run a check, and ask where it finds what is done only if somebody says so."""
    try:
        check()
    except Unconfirmed as unconfirmed:
        ask(output, unconfirmed)
