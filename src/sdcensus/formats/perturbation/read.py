"""Reading a perturbation table in any of the exchange formats."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import DocumentError
from sdcensus.formats.perturbation.delimited import DelimitedText, FileNotes, open_text
from sdcensus.formats.perturbation.exchange_format import (
    INTERVALS,
    KEYED,
    ExchangeFormat,
    detect,
    known_headers,
)
from sdcensus.formats.perturbation.file_rows import FileRows, assembled
from sdcensus.formats.perturbation.intervals import read_intervals
from sdcensus.formats.perturbation.key_units import checked_modulus
from sdcensus.formats.perturbation.keyed import read_keyed
from sdcensus.formats.perturbation.matrix import read_matrix
from sdcensus.formats.perturbation.plain import read_plain
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import PerturbationTable, Tail


def read_perturbation(
    path: str | Path,
    format: ExchangeFormat | str | None = None,
    *,
    allow_bias: bool = False,
    modulus: int | None = None,
    tail: Tail | None = None,
) -> PerturbationTable:
    """Read a perturbation table that another program, another office or you wrote.

    Args:
        path: The file.
        format: Its layout; by its header if not given.
        allow_bias: Whether rows may change the expected count, because that is meant. They are
            then declared as biased. A mean of at most one millionth, which comes from rounded
            figures, needs no permission.
        modulus: How many keys the table shall have. By default 10**8 for files with intervals
            (keys with eight decimals), as many as the file has for files with a line for each
            key, and 2**32 for plain files. For a power of ten, intervals give every decimal key
            what the program gives that wrote them; for any other number the probabilities are
            kept, and which key gets which deviation is not.
        tail: Which row serves larger counts, where that is not what the format says.

    Raises:
        DocumentError: The file has mistakes; all of them are listed with their lines.
        InputError: The file cannot be read at all.
    """
    notes = FileNotes(Path(path))
    reading = read_with_notes(notes, format, allow_bias=allow_bias, modulus=modulus, tail=tail)
    notes.raise_if_any()
    if reading.table is None:
        raise DocumentError(str(path), notes.mistakes)
    return reading.table


@dataclass(frozen=True, slots=True, repr=False)
class FileReading(Confidential):
    """A file that was read: its format, its rows, and the table if there is no mistake."""

    kind: ExchangeFormat | None
    file: FileRows | None = None
    table: PerturbationTable | None = None


def read_with_notes(
    notes: FileNotes,
    format: ExchangeFormat | str | None,
    *,
    allow_bias: bool = False,
    modulus: int | None = None,
    tail: Tail | None = None,
) -> FileReading:
    """Read a file as far as possible and note all mistakes, without raising them.

    What is no delimited text at all is raised as an error even so.
    """
    kind = None if format is None else ExchangeFormat.of(format)
    if modulus is not None:
        checked_modulus(modulus)
    text = open_text(notes.path, notes)
    if kind is None:
        kind = detect(text.header)
    if kind is None:
        header = ", ".join(map(repr, text.header[:8]))
        notes.mistake(
            "header",
            text.header_line,
            f"The header {header} belongs to no format of perturbation tables. These are"
            f" understood: {known_headers()}.",
        )
        return FileReading(None)
    file = _file_rows(text, kind, modulus)
    if not file.lines and notes.listed:
        return FileReading(kind)
    return FileReading(kind, file, assembled(file, notes, tail=tail, allow_bias=allow_bias))


def _file_rows(text: DelimitedText, kind: ExchangeFormat, modulus: int | None) -> FileRows:
    if kind in INTERVALS:
        return read_intervals(text, kind, modulus)
    if kind in KEYED:
        return read_keyed(text, kind, modulus)
    if kind is ExchangeFormat.ABS:
        return read_matrix(text, modulus)
    return read_plain(text, modulus)
