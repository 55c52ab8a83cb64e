"""What the columns of a census file hold, as far as a first schema needs to know it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.draft_words import MISSING_TEXTS
from sdcensus.ingest.readers import ColumnKind, Reader, SourceColumn
from sdcensus.model.schema.source import FileSource
from sdcensus.model.schema.variable import Entity

#: A column with more different values than this is no code list.
MOST_VALUES = 20_000
#: So many rows tell whether columns identify a record.
ROWS_FOR_IDS = 300_000
#: Columns that are tried as parts of an id, and the most of them that form one.
_MOST_CANDIDATES = 8
_MOST_PARTS = 4

_WHOLE = r"^-?[0-9]{1,18}$"
_NUMBER = r"^-?[0-9]{1,15}([.,][0-9]+)?$"
_COMMA = r"^-?[0-9]{1,15},[0-9]+$"
_FRACTION = r"[.,]([0-9]+)$"
_WRITTEN_AS_DECIMAL = r"^(-?[0-9]{1,15})[.]0$"
_MISSING_TEXTS = pa.array(sorted(MISSING_TEXTS))


@dataclass(slots=True)
class Profile:
    """One column: what the file says about it, and what its values look like.

    ``counts`` has each different value with the number of its rows, and is ``None`` for columns
    with very many; nothing here is shown to anybody. ``missing_texts`` are those among the values
    that say "no value" (``NA``), for which a column of numbers is one all the same: all but
    ``counts``, ``rows`` and ``empty`` is about the other values.
    """

    column: SourceColumn
    rows: int = 0
    empty: int = 0
    whole: bool = True
    number: bool = True
    comma: bool = False
    decimals: int = 0
    shortest: int = 10**9
    longest: int = 0
    counts: dict[str, int] | None = field(default_factory=dict)
    missing_texts: dict[str, int] = field(default_factory=dict)
    total: float = 0.0

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

    @property
    def title(self) -> str:
        """What the column is called: by its label, or by a name that is written as words."""
        is_words = " " in self.name.strip() or not self.name.isascii()
        return self.column.label or (self.name.strip() if is_words else "")

    @property
    def filled(self) -> int:
        """How many rows have a value."""
        return self.rows - self.empty

    def add(self, array: pa.Array) -> None:
        """Take another batch into account."""
        text = array if pa.types.is_string(array.type) else array.cast(pa.string())
        self.rows += len(text)
        text = pc.utf8_trim_whitespace(text.drop_null())
        text = text.filter(pc.not_equal(text, ""))
        self.empty += len(array) - len(text)
        # Every value is looked at once, however many rows have it.
        distinct = pc.value_counts(text)
        values, rows = distinct.field("values"), distinct.field("counts")
        if self.number:  # data frames write codes as 1.0 as soon as one is missing
            values = pc.replace_substring_regex(values, _WRITTEN_AS_DECIMAL, r"\1")
        self._count(values, rows)
        values, rows = self._without_missing(values, rows)
        if len(values):
            self._look_at(values)
        if len(values) and self.number:
            amounts = pc.replace_substring(values, ",", ".").cast(pa.float64())
            self.total += pc.sum(pc.multiply(amounts, rows)).as_py()

    def _look_at(self, text: pa.Array) -> None:
        """What values that say something look like."""
        lengths = pc.min_max(pc.utf8_length(text)).as_py()
        self.shortest = min(self.shortest, lengths["min"])
        self.longest = max(self.longest, lengths["max"])
        self.whole = self.whole and _all(text, _WHOLE)
        if self.number and not self.whole:
            self.number = _all(text, _NUMBER)
            self.comma = self.comma or (self.number and _any(text, _COMMA))
            if self.number and self.column.kind is not ColumnKind.DECIMAL:
                digits = pc.utf8_length(
                    pc.struct_field(pc.extract_regex(text, _FRACTION.replace("(", "(?P<d>")), "d")
                )
                self.decimals = max(self.decimals, pc.max(digits).as_py() or 0)

    @property
    def mean(self) -> float:
        """The mean of a column of numbers, texts that say nothing aside."""
        return self.total / self.stated if self.number and self.stated else 0.0

    def _without_missing(self, values: pa.Array, rows: pa.Array) -> tuple[pa.Array, pa.Array]:
        """The values that say something with their rows; of the others, the rows are counted."""
        if not self.number:  # a text among others
            return values, rows
        absent = pc.is_in(pc.utf8_lower(values), value_set=_MISSING_TEXTS)
        pairs = zip(values.filter(absent).to_pylist(), rows.filter(absent).to_pylist(), strict=True)
        for value, count in pairs:
            self.missing_texts[value] = self.missing_texts.get(value, 0) + count
        stated = pc.invert(absent)
        return values.filter(stated), rows.filter(stated)

    def _count(self, values: pa.Array, rows: pa.Array) -> None:
        counts = self.counts
        if counts is None:
            return
        if len(values) > MOST_VALUES:
            self.counts = None
            return
        for value, count in zip(values.to_pylist(), rows.to_pylist(), strict=True):
            counts[value] = counts.get(value, 0) + count
        if len(counts) > MOST_VALUES:
            self.counts = None

    def numbers(self) -> list[int]:
        """The different values as whole numbers in ascending order, where all of them are."""
        if not self.whole or self.counts is None:
            return []
        return sorted({int(value) for value in self.values})

    @property
    def values(self) -> dict[str, int]:
        """The different values of a column of numbers with their rows, without missing texts."""
        counts = self.counts or {}
        if not self.number:
            return counts
        return {value: count for value, count in counts.items() if value not in self.missing_texts}

    @property
    def stated(self) -> int:
        """How many rows of a column of numbers have a value that is no missing text."""
        return self.filled - (sum(self.missing_texts.values()) if self.number else 0)

    @property
    def zero_padded(self) -> bool:
        """Whether some numbers are written with zeros in front."""
        return self.whole and any(
            len(value) > 1 and value.lstrip("-")[0] == "0" for value in self.values
        )


@dataclass(slots=True, eq=False)
class DraftFile:
    """One file of the draft, with all that was found out about it.

    Attributes:
        source, title, reader, profiles: The file, and what its columns hold.
        entity, name: What its rows are, and what the schema calls it.
        id, widths, any_case: The columns of the id, how many digits each has where that has to be
            said, and whether its small and capital letters are the same.
        holder, link, optional: The file of what holds the rows, the columns that name it, and
            whether some rows name none.
        notes, link_notes, form_notes: What the office should check about each.
    """

    source: FileSource
    title: str
    reader: Reader
    profiles: dict[str, Profile]
    entity: Entity = Entity.PERSON
    name: str = ""
    id: list[str] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    any_case: bool = False
    holder: DraftFile | None = None
    link: list[str] = field(default_factory=list)
    optional: bool = False
    notes: list[str] = field(default_factory=list)
    link_notes: list[str] = field(default_factory=list)
    form_notes: list[str] = field(default_factory=list)


def _all(text: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())


def _any(text: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(text, pattern)).as_py())


def profiles_of(reader: Reader) -> dict[str, Profile]:
    """Read a file once and say what its columns hold."""
    profiles = {column.name: Profile(column) for column in reader.columns()}
    if profiles:
        for batch in reader.batches(list(profiles)):
            for name, profile in profiles.items():
                profile.add(batch.column(name))
    return profiles


def identifying(reader: Reader, candidates: Sequence[str], start: Sequence[str] = ()) -> list[str]:
    """The fewest of the candidates that together differ in every row; empty if none do.

    Args:
        reader: The file.
        candidates: Columns that may be part of an id, likely ones first.
        start: Columns that have to be part of it.
    """
    others = [name for name in candidates if name not in start][:_MOST_CANDIDATES]
    columns = [*start, *others]
    if not columns:
        return []
    codes = _encoded(reader, columns, ROWS_FOR_IDS)
    for size in range(_MOST_PARTS + 1):
        for chosen in combinations(others, size):
            asked = [*start, *chosen]
            if not asked or not _differ([codes[name] for name in asked]):
                continue
            # The first rows may differ where later ones repeat them.
            whole = codes if _has_all(reader, codes) else _encoded(reader, asked)
            if _differ([whole[name] for name in asked]):
                return [name for name in columns if name in asked]
    return []


def _has_all(reader: Reader, codes: Mapping[str, npt.NDArray[np.int64]]) -> bool:
    return next(iter(codes.values())).size < ROWS_FOR_IDS


def counting_members(
    reader: Reader, holder: Sequence[str], candidates: Sequence[str]
) -> Iterator[str]:
    """The candidates that count the rows of each holder: 1, 2, 3 … or 0, 1, 2 ….

    Args:
        reader: The file.
        holder: Columns that together say to what a row belongs.
        candidates: Columns of whole numbers.
    """
    if not candidates:
        return
    codes = _encoded(reader, holder, ROWS_FOR_IDS)
    group = _combined([codes[name] for name in holder])
    if group is None or not group.size:
        return
    _, group = np.unique(group, return_inverse=True)
    sizes = np.bincount(group)
    for name in candidates:
        arrays = _first(reader, [name], ROWS_FOR_IDS)
        text = pc.utf8_trim_whitespace(arrays.column(0).cast(pa.string()))
        numbers = text.cast(pa.int64()).to_numpy()
        inside = (numbers >= 0) & (numbers <= sizes[group])
        if inside.all() and _differ([group, numbers]):
            yield name


def _encoded(
    reader: Reader, columns: Sequence[str], rows: int | None = None
) -> dict[str, npt.NDArray[np.int64]]:
    """The first rows of each column, or all, every value replaced by a number."""
    table = _first(reader, columns, rows)
    if not table.num_rows:
        return {name: np.zeros(0, dtype=np.int64) for name in columns}
    return {name: _numbered(table.column(name)) for name in columns}


def _first(reader: Reader, columns: Sequence[str], rows: int | None) -> pa.Table:
    batches = []
    seen = 0
    for batch in reader.batches(list(columns)):
        batches.append(batch)
        seen += batch.num_rows
        if rows is not None and seen >= rows:
            break
    if not batches:
        return pa.table({name: pa.array([], pa.string()) for name in columns})
    return pa.Table.from_batches(batches).slice(0, rows)


def _numbered(column: Any) -> npt.NDArray[np.int64]:
    encoded = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    numbers: npt.NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _differ(columns: Sequence[npt.NDArray[np.int64]]) -> bool:
    """Whether no two rows agree in all columns."""
    combined = _combined(columns)
    return combined is not None and combined.size > 0 and np.unique(combined).size == combined.size


def _combined(columns: Iterable[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64] | None:
    """One number for each combination of values."""
    combined: npt.NDArray[np.int64] | None = None
    for column in columns:
        if combined is None:
            combined = column
        else:
            # Renumbered at each step, so that the product always fits.
            _, combined = np.unique(combined, return_inverse=True)
            combined = combined.reshape(-1) * (int(column.max(initial=0)) + 1) + column
    return combined
