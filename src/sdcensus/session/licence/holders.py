"""Whose copy a file is that somebody has found.

The records of every copy are made anew from plan, census and secret; no copy is kept. The file may
come from anywhere: another format, a spreadsheet that took zeros away or wrote labels for codes,
rows and columns missing, columns in another order. What is compared is what both tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError, Refused
from sdcensus.formats.microdata.labelled import encoding_of
from sdcensus.formats.microdata.layout import parts_of
from sdcensus.formats.microdata.shortening import variable_names
from sdcensus.ingest.readers import open_reader
from sdcensus.ingest.readers.transcode import first_invalid_utf8
from sdcensus.microdata.release.copies import content_digest, holder_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.holding import Holding
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.release.release_file import ColumnKind, ReleaseColumn, ReleaseTable
from sdcensus.model.schema.source import FORMAT_OF_ENDING, FileFormat, FileSource
from sdcensus.session.licence.copies import records_of_file
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.licence.rules import registered_file
from sdcensus.session.release.make.making import file_of
from sdcensus.session.release.opened import OpenRelease

Integers = npt.NDArray[Any]

#: Columns are compared of which so many fields say something that the file can say; if there is no
#: such column, those with fewer.
_KNOWN_FIELDS = (0.95, 0.5)
#: A file is this one if so many of its rows stand in it.
_KNOWN_ROWS = 0.5
_UNKNOWN = -1
_LARGEST = 1 << 62
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
#: The order of the file that was registered, which is nobody's copy.
_OWN = ""


class HolderAnswer(StrEnum):
    """What the order of a file says."""

    HOLDER = "holder"
    OWN = "own"
    NO_ORDER = "no-order"
    OTHER_FILE = "other-file"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FoundHolder(Confidential):
    """What was found out about a file.

    Attributes:
        answer: Whether somebody can be named.
        holding: The licence of the holder, if so.
        rows: How many rows it has.
        known: How many of them stand in the file that was handed out.
        columns: How many columns were compared.
        copies: With how many copies.
    """

    answer: HolderAnswer
    holding: Holding | None
    rows: int
    known: int
    columns: int
    copies: int

    def __repr__(self) -> str:
        return "<FoundHolder: confidential>"


def find_holder(
    opened: OpenRelease, office: Path, path: Path, progress: Progress = no_progress
) -> FoundHolder:
    """Find the holder of a file by the order of its records.

    Args:
        opened: The plan, the census and the secret with which copies were made.
        office: The office folder.
        path: The file: csv, Parquet, SPSS, Stata, Excel.
        progress: Told how far it is.

    Raises:
        InputError: It cannot be read, or has no column of the file.
        Refused: No copy was handed out of what plan and census make now.
    """
    name = opened.plan.name
    by_number = LicenceRegister(office).holdings()
    copies = [event for holding in by_number.values() for event in holding.copies]
    copies = [event for event in copies if event.file == name]
    if not copies:
        raise Refused(f"No copy of {name} was handed out; see: sdcensus licence show {office}")
    progress("reading the file", 0.0)
    texts = _texts(path)
    told = records_of_file(opened, registered_file(office, name), progress)
    own = file_of(opened, told)
    content = content_digest(own)
    numbers = list(dict.fromkeys(event.copy for event in copies if event.content == content))
    if not numbers:
        raise Refused(
            f"Copies of {name} were made by another release document or from another census than"
            f" these. Name the document as it was: --release FILE"
        )
    layout = opened.plan.making.layout
    comparison = _comparison([part.table for part in parts_of(own, layout)], texts, path)
    rows, unit = comparison.rows, comparison.table.entity
    orders: dict[str, Integers] = {_OWN: comparison.order(comparison.table)}
    for place, number in enumerate(numbers):
        progress("comparing with copies", place / len(numbers))
        parts = parts_of(file_of(opened, told, number), layout)
        table = next(part.table for part in parts if part.table.entity is unit)
        orders[number] = comparison.order(table)
    known = int(np.isin(rows, orders[_OWN]).sum())
    named = comparison.holder(orders)
    if named is not None:
        answer = HolderAnswer.OWN if named == _OWN else HolderAnswer.HOLDER
    else:
        alike = rows.size > 0 and known / rows.size >= _KNOWN_ROWS
        answer = HolderAnswer.NO_ORDER if alike else HolderAnswer.OTHER_FILE
    return FoundHolder(
        answer=answer,
        holding=by_number[named] if named else None,
        rows=int(rows.size),
        known=known,
        columns=len(comparison.names),
        copies=len(numbers),
    )


# ------------------------------------------------------------------------------- what it says


def _texts(path: Path) -> dict[str, pa.Array]:
    """Every column of a file as texts, by its name."""
    form = FORMAT_OF_ENDING.get(path.suffix.lower())
    if form in (None, FileFormat.CSPRO):
        raise InputError(
            f"{path}: the ending does not tell the format. Give a csv, parquet, sav, dta or xlsx"
            " file."
        )
    encoding = "utf-8"
    if form is FileFormat.CSV and path.is_file() and first_invalid_utf8(path) is not None:
        encoding = "cp1252"
    reader = open_reader(FileSource(paths=(path,), format=form, encoding=encoding))
    names = [name for name in reader.names() if name]
    if not names:
        raise InputError(f"{path} has no columns with names. The first line should name them.")
    batches = list(reader.batches(names))
    return {
        name: pa.concat_arrays([pc.cast(batch.column(at), pa.string()) for batch in batches])
        if batches
        else pa.array([], pa.string())
        for at, name in enumerate(names)
    }


class _Comparison:
    """What a file and the copies both tell: columns, and a number for each row."""

    __slots__ = ("_groups", "_kept", "_readings", "_texts", "names", "rows", "table")

    def __init__(self, table: ReleaseTable, texts: Mapping[str, pa.Array]) -> None:
        self.table = table
        self._texts = _by_column(table, texts)
        self._readings = {
            column.name: _Reading(column)
            for column in table.columns
            if column.name in self._texts and column.kind is not ColumnKind.NUMBER_OF_UNIT
        }
        columns = {
            name: reading.read(self._texts[name]) for name, reading in self._readings.items()
        }
        self._kept = _readable(columns)
        self.names = tuple(self._kept)
        self.rows = _mixed(list(self._kept.values()))
        self._groups = tuple(self._kept.values())

    def order(self, table: ReleaseTable) -> Integers:
        """What the rows of a copy say, in its order."""
        return _mixed([self._readings[name].own(table.column(name)) for name in self.names])

    def holder(self, orders: Mapping[str, Integers]) -> str | None:
        """Whose order it is: that of the rows, or that of numbers which nobody took away."""
        numbers = self._numbers()
        if numbers is not None:
            named = holder_of(self.rows[numbers], orders)
            if named is not None:
                return named
        return holder_of(self.rows, orders, self._groups)

    def _numbers(self) -> Integers | None:
        """The order in which units are numbered, the household before the person."""
        columns = [
            column.name
            for column in self.table.columns
            if column.kind is ColumnKind.NUMBER_OF_UNIT and column.name in self._texts
        ]
        keys = [_amounts(self._texts[name], 0) for name in columns]
        return np.lexsort(keys) if keys else None


def _readable(columns: Mapping[str, Integers]) -> dict[str, Integers]:
    """The columns whose fields are known; those of another coding would hide what others say."""
    shares = {
        name: np.count_nonzero(values != _UNKNOWN) / values.size
        for name, values in columns.items()
        if values.size
    }
    for least in _KNOWN_FIELDS:
        kept = {name: columns[name] for name, share in shares.items() if share >= least}
        if kept:
            return kept
    return {}


def _comparison(
    tables: list[ReleaseTable], texts: Mapping[str, pa.Array], path: Path
) -> _Comparison:
    """Compare with the table of which the file has most columns."""
    best = max((_Comparison(table, texts) for table in tables), key=lambda each: len(each.names))
    if not best.names:
        raise InputError(
            f"{path} has no column of this file. It has {', '.join(list(texts)[:8])}; columns are"
            " compared by their names."
        )
    return best


def _by_column(table: ReleaseTable, texts: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """The columns of a file by the names of the table; formats shorten names, programs case."""
    given = [column.name for column in table.columns]
    known: dict[str, str] = {}
    for format in (MicrodataFormat.DTA, MicrodataFormat.SAV):
        known |= {
            name.casefold(): own
            for own, name in zip(given, variable_names(given, format), strict=True)
        }
    known |= {name.casefold(): name for name in given}
    named = ((known.get(name.strip().casefold()), column) for name, column in texts.items())
    return {name: column for name, column in named if name is not None}


class _Reading:
    """How the fields of a column are read, whatever wrote them."""

    __slots__ = ("_column", "_same", "_words")

    def __init__(self, column: ReleaseColumn) -> None:
        self._column = column
        words: dict[str, int] = {}
        spoken = [[code.code for code in column.codes]]
        for format in (MicrodataFormat.SAV, MicrodataFormat.DTA):
            encoding = encoding_of(column, format)
            if encoding is not None:
                spoken.append(list(encoding.words))
        languages = dict.fromkeys(
            language for code in column.codes for language, _ in code.label.by_language
        )
        spoken += [[code.label.show(each) for code in column.codes] for each in languages]
        for listed in spoken:
            for place, word in enumerate(listed):
                words.setdefault(_plain(word), place)
        # Codes that a spreadsheet writes alike ("1" and "01") are one code here.
        self._words = words
        self._same = np.array([words[_plain(code.code)] for code in column.codes], dtype=np.int64)

    def read(self, texts: pa.Array) -> Integers:
        """What a file says: places in the code list, or whole numbers."""
        if not self._column.codes:
            return _amounts(texts, self._column.decimals)
        coded = pc.dictionary_encode(pc.fill_null(texts, ""))
        places = [self._words.get(_plain(word), _UNKNOWN) for word in coded.dictionary.to_pylist()]
        return _spread(places, coded)

    def own(self, column: ReleaseColumn) -> Integers:
        """What a copy says, in the same numbers."""
        values = self._same[column.values] if column.codes else column.values.astype(np.int64)
        if column.absent is None:
            return values
        return np.where(column.absent, self._words.get("", _UNKNOWN), values)


def _amounts(texts: pa.Array, decimals: int) -> Integers:
    """Numbers as whole numbers of their last digit; those that are none are unknown."""
    coded = pc.dictionary_encode(pc.fill_null(texts, ""))
    places = [_whole(word, decimals) for word in coded.dictionary.to_pylist()]
    return _spread(places, coded)


def _spread(places: list[int], coded: Any) -> Integers:
    """What stands for each different text, for each row."""
    at: Integers = coded.indices.to_numpy()
    return np.array(places, dtype=np.int64)[at]


def _whole(word: str, decimals: int) -> int:
    try:
        number = Decimal(word.strip().replace(",", "."))
        whole = round(number.scaleb(decimals))
    except (InvalidOperation, ValueError, OverflowError):
        return _UNKNOWN
    return whole if abs(whole) < _LARGEST else _UNKNOWN


def _plain(word: str) -> str:
    """A code or label as programs may have rewritten it: case, blanks, zeros and points."""
    text = " ".join(word.split()).casefold().removeprefix("'")
    try:
        number = Decimal(text)
    except InvalidOperation:
        return text
    return f"{number.normalize():f}" if number.is_finite() else text


def _mixed(columns: list[Integers]) -> Integers:
    """A number for each row of several columns."""
    mixed = np.zeros(columns[0].size if columns else 0, dtype=np.uint64)
    for column in columns:
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _FACTOR + column.astype(np.uint64)
    return mixed
