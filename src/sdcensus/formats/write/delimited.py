"""Delivered tables as csv, with what is known about them in a document beside the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.formats.shared.files import new_file
from sdcensus.formats.write.about import about_document, delivered_about
from sdcensus.formats.write.columns import SIGNS, WordColumn, values_name, word_columns
from sdcensus.formats.write.lines import write_lines
from sdcensus.model.plain_cells import plain_cell
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.marks import Mark

_NEEDS_QUOTES = frozenset('",\r\n')


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.csv`` and ``NAME.about.json``.

    UTF-8, commas, lines that end in a line feed, quotes only where they are needed. The last axis
    runs fastest.
    """
    columns = word_columns(table.axes, languages=languages, labels=labels)
    target, beside = folder / f"{table.name}.csv", folder / f"{table.name}.about.json"
    with new_file(beside) as file:
        file.write(about_document(delivered_about(table)).encode())
    with new_file(target) as file:
        file.write(head(columns, table.decimals, signs=table.marks is not None))
        write_lines(
            file,
            [(one.axis, [f"{quoted(word)}," for word in one.words]) for one in columns],
            table.values,
            table.marks,
            [f",{quoted(table.sign(mark))}" for mark in Mark],
            table.decimals,
        )
    return target, beside


def quoted(word: str) -> str:
    """A word as it stands in a csv file; behind an apostrophe if it could be a formula.

    Examples:
        >>> quoted('the "old" town'), quoted("town"), quoted("=1+1")
        ('"the ""old"" town"', 'town', "'=1+1")
    """
    word = plain_cell(word)
    if _NEEDS_QUOTES.isdisjoint(word):
        return word
    return '"' + word.replace('"', '""') + '"'


def head(columns: Sequence[WordColumn], decimals: int, *, signs: bool) -> bytes:
    """The first line."""
    names = [*(one.name for one in columns), values_name(decimals), *([SIGNS] if signs else [])]
    return f"{','.join(map(quoted, names))}\n".encode()
