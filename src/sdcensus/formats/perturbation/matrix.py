"""The matrix of the ABS: a line for each of 256 keys, a column for each count, entries to add."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.formats.perturbation.delimited import DelimitedText, Line
from sdcensus.formats.perturbation.exchange_format import BYTE, ExchangeFormat
from sdcensus.formats.perturbation.file_rows import FileRows
from sdcensus.formats.perturbation.key_units import (
    entries_of,
    from_entries,
    mean_of_row,
    requantised,
)
from sdcensus.model.exact_numbers import BadNumber, whole
from sdcensus.model.perturbation.table import DeviationRow, KeyRule

Int64 = npt.NDArray[np.int64]

_NAMES_OF_KEYS = frozenset({"", "key", "row"})


def read_matrix(text: DelimitedText, modulus: int | None) -> FileRows:
    """Read a file; mistakes are noted.

    The first column is for the count 1. It has no header, or one with a name or the count of each
    column; a first column with the numbers of the lines is left out.
    """
    lines = list(text.lines(with_first=True))
    first_count, keyed, has_header = _header(text, lines)
    if has_header and lines:
        del lines[0]
    width = len(text.header) - keyed
    if len(lines) != BYTE and "width" not in text.notes.counts:
        text.notes.mistake(
            "missing",
            lines[-1][0] if lines else 0,
            f"There are {len(lines)} lines with deviations instead of {BYTE}, one for each key.",
        )
    if keyed:
        _check_keys(text, lines)
    entries = _entries(text, lines, keyed)
    rows: dict[int, DeviationRow] = {}
    bias: dict[int, Fraction] = {}
    start = lines[0][0] if lines else 0
    if entries is not None and len(entries) == BYTE:
        for at in range(width):
            row = from_entries(entries[:, at])
            bias[first_count + at] = mean_of_row(row)
            rows[first_count + at] = row
    places = {first_count + at: start for at in range(width)}
    if modulus is None or modulus == BYTE:
        return FileRows(ExchangeFormat.ABS, BYTE, rows, places, bias, KeyRule.FOLD_BYTES)
    rows = {at: requantised(row, modulus, declared_biased=True) for at, row in rows.items()}
    return FileRows(ExchangeFormat.ABS, modulus, rows, places, bias)


def matrix_lines(rows: Mapping[int, DeviationRow]) -> Iterator[str]:
    """The lines of a file with rows of 256 keys, each with an end of line."""
    columns = np.stack([entries_of(row) for row in rows.values()], axis=1)
    for entries in columns.tolist():
        yield ",".join(map(str, entries)) + "\n"


def _header(text: DelimitedText, lines: list[Line]) -> tuple[int, int, bool]:
    """The count of the first column, how many columns hold keys, and whether there is a header."""
    names = [name.lower() for name in text.header]
    keyed = int(bool(names) and names[0] in _NAMES_OF_KEYS)
    try:
        labels = [whole(name) for name in names[keyed:]]
    except BadNumber:
        # With as many lines as keys, a field that is no number is a mistake and no name.
        return 1, keyed, bool(keyed) or len(lines) != BYTE
    counts_from = labels[0] if labels else 1
    in_turn = labels == list(range(counts_from, counts_from + len(labels)))
    if len(lines) == BYTE + 1 and in_turn and counts_from in (0, 1):
        return counts_from, keyed, True
    return 1, keyed, bool(keyed)


def _check_keys(text: DelimitedText, lines: list[Line]) -> None:
    numbers = [fields[0] for _, fields in lines]
    from_zero, from_one = ([str(at + first) for at in range(len(lines))] for first in (0, 1))
    if numbers not in (from_zero, from_one):
        line = next(
            (at for (at, _), a, b in zip(lines, numbers, from_zero, strict=True) if a != b), 0
        )
        text.notes.mistake(
            "key", line, "The keys in the first column are not 0, 1, 2 and so on to 255. Sort them."
        )
    text.notes.observe("keys", text.header_line, "The first column, with keys, is left out.")


def _entries(text: DelimitedText, lines: list[Line], keyed: int) -> Int64 | None:
    good = True
    entries = np.zeros((len(lines), len(text.header) - keyed), dtype=np.int64)
    for at, (line, fields) in enumerate(lines):
        for column, field in enumerate(fields[keyed:]):
            try:
                entries[at, column] = whole(field)
            except BadNumber as error:
                text.notes.mistake(
                    "number", line, f"Field {column + keyed + 1}: {error}. Deviations are whole."
                )
                good = False
    return entries if good else None
