"""Questions to whoever sits at a terminal; where nobody does, what was not said is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from sdcensus.cli.shared.console import Output
from sdcensus.errors import Unconfirmed
from sdcensus.model.catalogue import FIRST
from sdcensus.model.letters import plain_letters
from sdcensus.model.sentences import speak


def can_answer() -> bool:
    """Whether somebody sits at the terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def agreed(
    output: Output, question: str, *, default: bool = False, language: str | None = None
) -> bool:
    """Whether whoever sits at the terminal agrees; nobody does where nobody sits."""
    if not can_answer():
        return False
    if (language or FIRST) == FIRST:
        return typer.confirm(question, default=default, err=True)
    yes, no = speak("start.yes", language), speak("start.no", language)
    shown = f"{yes[0].upper()}/{no[0]}" if default else f"{yes[0]}/{no[0].upper()}"
    while True:
        reply = typer.prompt(f"{question} [{shown}]", default="", show_default=False, err=True)
        answer = answered(str(reply), language, default=default)
        if answer is not None:
            return answer
        output.note(speak("start.yes_or_no", language, yes=yes, no=no))


def answered(reply: str, language: str | None, *, default: bool) -> bool | None:
    """What a reply means: a beginning of yes or no in the language or in English.

    Examples:
        >>> answered("Si", "es", default=False), answered("n", "pt", default=True)
        (True, False)
        >>> answered("", "es", default=True), answered("quizás", "es", default=True) is None
        (True, True)
    """
    plain = plain_letters(reply.strip())
    if not plain:
        return default
    for word, meaning in (("yes", True), ("no", False)):
        known = (speak(f"start.{word}", language), speak(f"start.{word}", FIRST))
        if any(plain_letters(text).startswith(plain) for text in known):
            return meaning
    return None


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
