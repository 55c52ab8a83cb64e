"""What the columns of a census file hold, as far as a first schema needs to know it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.ingest.readers import ColumnKind, Reader, SourceColumn

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


@dataclass(slots=True)
class Profile:
    """One column: what the file says about it, and what its values look like.

    ``counts`` has each different value with the number of its rows, and is ``None`` for columns
    with very many; nothing here is shown to anybody.
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

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.column.name

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
        if not len(text):
            return
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
        if self.counts is not None:
            self._count(text)

    def _count(self, text: pa.Array) -> None:
        counts = self.counts
        if counts is None:
            return
        found = pc.value_counts(text)
        if len(found) > MOST_VALUES:
            self.counts = None
            return
        for one in found.to_pylist():
            counts[one["values"]] = counts.get(one["values"], 0) + one["counts"]
        if len(counts) > MOST_VALUES:
            self.counts = None

    def numbers(self) -> list[int]:
        """The different values as whole numbers in ascending order, where all of them are."""
        if not self.whole or self.counts is None:
            return []
        return sorted({int(value) for value in self.counts})

    @property
    def zero_padded(self) -> bool:
        """Whether some numbers are written with zeros in front."""
        values = self.counts or {}
        return self.whole and any(
            len(value) > 1 and value.lstrip("-")[0] == "0" for value in values
        )


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
    codes = _encoded(reader, columns)
    for size in range(_MOST_PARTS + 1):
        for chosen in combinations(others, size):
            asked = [*start, *chosen]
            if asked and _differ([codes[name] for name in asked]):
                return [name for name in columns if name in asked]
    return []


def _encoded(reader: Reader, columns: Sequence[str]) -> dict[str, npt.NDArray[np.int64]]:
    """The first rows of each column, every value replaced by a number."""
    batches = []
    rows = 0
    for batch in reader.batches(list(columns)):
        batches.append(batch)
        rows += batch.num_rows
        if rows >= ROWS_FOR_IDS:
            break
    if not batches:
        return {name: np.zeros(0, dtype=np.int64) for name in columns}
    table = pa.Table.from_batches(batches).slice(0, ROWS_FOR_IDS)
    return {name: _numbered(table.column(name)) for name in columns}


def _numbered(column: Any) -> npt.NDArray[np.int64]:
    encoded = pc.dictionary_encode(column, null_encoding="encode").combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.chunk(0)
    numbers: npt.NDArray[np.int64] = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return numbers


def _differ(columns: Iterable[npt.NDArray[np.int64]]) -> bool:
    """Whether no two rows agree in all columns."""
    combined: npt.NDArray[np.int64] | None = None
    for column in columns:
        if combined is None:
            combined = column
        else:
            # Renumbered at each step, so that the product always fits.
            _, combined = np.unique(combined, return_inverse=True)
            combined = combined.reshape(-1) * (int(column.max(initial=0)) + 1) + column
    return combined is not None and combined.size > 0 and np.unique(combined).size == combined.size
