"""What every reader offers: named columns, and record batches in the order of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import pyarrow as pa

from sdcensus.errors import InputError, unknown

#: Rows of a record batch unless the caller asks for another number.
BATCH_ROWS = 262_144


class ColumnKind(StrEnum):
    """What the record batches hold for a column."""

    TEXT = "text"
    """``pa.string()``, as written in the file: ``"0412"`` keeps its zero."""
    INTEGER = "integer"
    """``pa.int64()``."""
    DECIMAL = "decimal"
    """``pa.float64()``, or ``pa.decimal128`` where the file has exact decimals."""


@dataclass(frozen=True, slots=True)
class SourceColumn:
    """A column of a census file with what the file itself says about it.

    Codes are text in the form in which they compare with the values of the column: ``"1"`` and
    never ``"1.0"`` for numbers.
    """

    name: str
    kind: ColumnKind
    label: str = ""
    value_labels: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    width: int | None = None


class Reader(Protocol):
    """Reads one file of a census, or several with the same columns as if they were one."""

    @property
    def name(self) -> str:
        """The name of the (first) file, for messages."""

    def names(self) -> tuple[str, ...]:
        """The names of the columns in the order of the file; always cheap."""

    def columns(self) -> tuple[SourceColumn, ...]:
        """The columns in the order of the file; some formats are read through for their kinds."""

    def rows(self) -> int | None:
        """The number of rows if the file tells without being read, else None."""

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The rows in file order: just these columns in this order, at most ``rows`` at a time.

        An empty or blank field is null. A column has the same type in every batch. There is no
        empty batch: a file without rows gives none.
        """


def positions(asked: Sequence[str], known: Sequence[str], *, file: str) -> list[int]:
    """Where the asked columns stand among those that the file has."""
    if not asked:
        raise InputError(f"{file}: no column was asked for. Ask for at least one.")
    places = {name: place for place, name in enumerate(known)}
    absent = [name for name in asked if name not in places]
    if absent:
        raise InputError(f"{file}: {unknown('column', absent[0], known)}")
    return [places[name] for name in asked]


def checked_names(names: Sequence[str], *, file: str) -> None:
    """Refuse a file in which two columns have one name."""
    seen: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if name and name in seen:
            raise InputError(
                f"{file}: the columns {seen[name]} and {place} have the same name {name!r}. "
                "Give every column a name of its own."
            )
        seen[name] = place


def same_columns(first: Sequence[str], other: Sequence[str], *, file: str, as_in: str) -> None:
    """Refuse a second file whose columns are not those of the first."""
    lacks = [name for name in first if name not in set(other)]
    extra = [name for name in other if name not in set(first)]
    if lacks or extra:
        differences = [f"lacks {lacks[0]!r}"] if lacks else []
        differences += [f"has {extra[0]!r} besides"] if extra else []
        raise InputError(
            f"{file}: the columns are not those of {as_in}: it {' and '.join(differences)}. "
            "Files that are read as one need the same columns."
        )


def in_slices(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """The batch in pieces of at most ``rows``, without copying."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
