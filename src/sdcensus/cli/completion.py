"""What the shell offers after Tab: variables and levels of the store on the same line."""

from __future__ import annotations

from collections.abc import Iterator
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


def _variables(context: typer.Context) -> Iterator[tuple[str, str, list[str]]]:
    """Name, label and levels of every variable of the store that the line names."""
    # While the last option has no value yet, arguments stand where they were left.
    store = context.params.get("store") or next(iter(context.args), None)
    if store is None:
        return
    from sdcensus.session.census import open_store

    try:
        schema = open_store(Path(str(store))).schema
    except (SdcensusError, OSError):
        return  # a mistake is reported by the command itself, not while it is typed
    for variable in schema.variables:
        if variable.stored:
            levels = [level.name for level in variable.levels()]
            yield variable.name, variable.label.show(), levels
