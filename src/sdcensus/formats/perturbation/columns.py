"""Which column of a file is which, by the names in its header."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sdcensus.formats.perturbation.delimited import DelimitedText
from sdcensus.formats.perturbation.exchange_format import ExchangeFormat


def positions(
    text: DelimitedText,
    kind: ExchangeFormat,
    needed: Iterable[str],
    *,
    optional: Iterable[str] = (),
    aliases: Mapping[str, str] | None = None,
) -> dict[str, int] | None:
    """Where each column stands; nothing if one is missing or there twice, which is noted.

    Args:
        text: The file.
        kind: Its format, for messages.
        needed: Names without which the file cannot be read.
        optional: Names that are read where they are there.
        aliases: Other names for the same columns.
    """
    names = [name.lower() for name in text.header]
    names = [(aliases or {}).get(name, name) for name in names]
    wanted = (*needed, *optional)
    found: dict[str, int] = {}
    complete = True
    for at, name in enumerate(names):
        if name not in wanted:
            what = f"The column {text.header[at]!r}" if name else "A column without a name"
            text.notes.observe(f"column {name}", text.header_line, f"{what} is left out.")
        elif name in found:
            text.notes.mistake(
                "header", text.header_line, f"The column {name!r} is there twice. Remove one."
            )
            complete = False
        else:
            found[name] = at
    for name in needed:
        if name not in found:
            text.notes.mistake(
                "header",
                text.header_line,
                f"The column {name!r} is missing. A file of the format {kind} has the columns"
                f" {', '.join(needed)}; this one has {', '.join(map(repr, text.header))}.",
            )
            complete = False
    return found if complete else None
