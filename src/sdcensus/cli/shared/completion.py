"""What the shell offers after Tab: variables and levels of the store on the same line."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path

import typer

from sdcensus.errors import SdcensusError


def complete_variable(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Names of variables, with their labels."""
    return [(name, label) for name, label, _ in _variables(context) if name.startswith(incomplete)]


def complete_axes(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """The next axis of a comma-separated list: variables, and after an @ their levels."""
    before, comma, last = incomplete.rpartition(",")
    start = before + comma
    offered: list[tuple[str, str]] = []
    for name, label, levels in _variables(context):
        words = [name, *(f"{name}@{level}" for level in levels)] if "@" in last else [name]
        offered += [(start + word, label) for word in words if word.startswith(last)]
    return offered


def complete_format(incomplete: str) -> list[tuple[str, str]]:
    """The formats of tables, those of other packages among them."""
    from sdcensus.model.published.table_format import all_formats

    formats = [
        (table_format.name, table_format.about.show("en") or table_format.label)
        for table_format in all_formats()
    ]
    return [(name, about) for name, about in formats if name.startswith(incomplete)]


@contextmanager
def words_of_bash() -> Iterator[None]:
    """Let bash complete ``ed@pa``, which it takes apart at the @.

    It hands over three words, ``ed``, ``@`` and ``pa``, and replaces what begins with the @.
    """
    if os.environ.get("_SDCENSUS_COMPLETE") != "complete_bash":
        yield
        return
    at = os.environ.get("COMP_CWORD", "")
    words = os.environ.get("COMP_WORDS", "").split("\n")
    words = words[: int(at) + 1] if at.isdecimal() else []
    joined = joined_at_signs(words)
    if len(joined) == len(words):
        yield
        return
    os.environ["COMP_WORDS"] = "\n".join(joined)
    os.environ["COMP_CWORD"] = str(len(joined) - 1)
    known = joined[-1].rfind("@")
    answer = io.StringIO()
    try:
        with redirect_stdout(answer):
            yield
    finally:
        for line in answer.getvalue().splitlines():
            typer.echo(line[known:])


def joined_at_signs(words: Sequence[str]) -> list[str]:
    """Put words together that were taken apart at an @.

    Examples:
        >>> joined_at_signs(["--by", "sex,ed", "@", "parish,age", "@"])
        ['--by', 'sex,ed@parish,age@']
    """
    joined: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if joined and "@" in (before, word):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _variables(context: typer.Context) -> Iterator[tuple[str, str, list[str]]]:
    """Name, label and levels of every variable of the store that the line names."""
    # While the last option has no value yet, arguments stand where they were left.
    store = context.params.get("store") or next(iter(context.args), None)
    if store is None:
        return
    from sdcensus.session.census.census import open_store

    try:
        schema = open_store(Path(str(store))).schema
    except (SdcensusError, OSError):
        return  # a mistake is reported by the command itself, not while it is typed
    for variable in schema.variables:
        if variable.stored:
            levels = [level.name for level in variable.levels()]
            yield variable.name, variable.label.show(), levels
