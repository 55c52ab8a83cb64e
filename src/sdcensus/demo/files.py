"""Writing the records of the demo country as csv or parquet, piece by piece.

Every field is a text from a table of texts that is the same for the whole country, so a record
is a row of positions. Bytes are put together by a kernel; that is what makes a csv of millions of
rows a matter of seconds.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sdcensus.demo.words import Ints
from sdcensus.kernels._compile import compiled

Bytes: TypeAlias = npt.NDArray[np.uint8]
Long: TypeAlias = npt.NDArray[np.int64]
Prepared: TypeAlias = Any


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """A column of a file: its texts in one or more tables that follow each other.

    A number with six digits is two tables of a thousand texts rather than one of a million.
    """

    name: str
    texts: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, name: str, *texts: Sequence[str]) -> Field:
        """A column with the given tables of texts."""
        return cls(name, tuple(tuple(table) for table in texts))


@compiled
def _join(
    positions: npt.NDArray[np.int32],
    base: Long,
    start: Long,
    length: Long,
    pool: Bytes,
    after: Bytes,
    out: Bytes,
) -> int:
    """Write the rows one after the other; ``after`` follows each part unless it is 0."""
    at = 0
    for row in range(positions.shape[1]):
        for part in range(positions.shape[0]):
            text = base[part] + positions[part, row]
            first = start[text]
            for i in range(length[text]):
                out[at] = pool[first + i]
                at += 1
            if after[part] != 0:
                out[at] = after[part]
                at += 1
    return at


class RecordWriter(Protocol):
    """Writes the records of one file."""

    def prepare(self, columns: Sequence[Ints]) -> Prepared:
        """Turn positions into what is written; several threads may do so at a time."""

    def write(self, prepared: Prepared) -> None:
        """Write what was prepared, in order."""

    def finish(self) -> None:
        """Give the file its name."""

    def abandon(self) -> None:
        """Leave nothing behind."""


class _Temporary:
    """A file that appears under its name only when it is complete."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partial = path.with_name(f"{path.name}.partial")

    def publish(self) -> None:
        """Move the complete file to its name."""
        os.replace(self.partial, self.path)  # noqa: PTH105

    def remove(self) -> None:
        """Remove what there is."""
        self.partial.unlink(missing_ok=True)


class CsvWriter:
    """Writes comma-separated text; no field needs quotes."""

    def __init__(self, path: Path, fields: Sequence[Field]) -> None:
        tables = [table for field in fields for table in field.texts]
        if any(set(text) & set(',"\r\n') for table in tables for text in table):
            raise ValueError("A text of the demo country would need quotes.")
        encoded = [text.encode() for table in tables for text in table]
        self._length = np.array([len(text) for text in encoded], dtype=np.int64)
        self._start = np.cumsum(self._length) - self._length
        self._pool = np.frombuffer(b"".join(encoded), dtype=np.uint8)
        counts = np.array([len(table) for table in tables], dtype=np.int64)
        self._base = np.cumsum(counts) - counts
        after = []
        for field in fields:
            after += [0] * (len(field.texts) - 1) + [ord(",")]
        after[-1] = ord("\n")
        self._after = np.array(after, dtype=np.uint8)
        widest = np.maximum.reduceat(self._length, self._base)
        self._widest = int(widest.sum() + np.count_nonzero(self._after))
        self._temporary = _Temporary(path)
        self._file = self._temporary.partial.open("wb")
        self._file.write((",".join(field.name for field in fields) + "\n").encode())

    def prepare(self, columns: Sequence[Ints]) -> bytes:
        """The rows as text."""
        positions = np.stack(columns)
        out = np.empty(positions.shape[1] * self._widest, dtype=np.uint8)
        used = _join(positions, self._base, self._start, self._length, self._pool, self._after, out)
        return out[:used].tobytes()

    def write(self, prepared: bytes) -> None:
        """Append the rows."""
        self._file.write(prepared)

    def finish(self) -> None:
        """Give the file its name."""
        self._file.close()
        self._temporary.publish()

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._temporary.remove()


class ParquetWriter:
    """Writes columns of text; empty fields are null."""

    def __init__(self, path: Path, fields: Sequence[Field]) -> None:
        self._fields = fields
        self._tables = [[pa.array(table, pa.string()) for table in field.texts] for field in fields]
        schema = pa.schema([(field.name, pa.string()) for field in fields])
        self._temporary = _Temporary(path)
        self._writer = pq.ParquetWriter(self._temporary.partial, schema, compression="zstd")

    def prepare(self, columns: Sequence[Ints]) -> pa.Table:
        """The rows as a table."""
        arrays, at = [], 0
        for field, tables in zip(self._fields, self._tables, strict=True):
            parts = [
                pa.DictionaryArray.from_arrays(pa.array(positions), table).cast(pa.string())
                for positions, table in zip(columns[at : at + len(tables)], tables, strict=True)
            ]
            at += len(tables)
            text = parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "")
            if "" in field.texts[0] and len(parts) == 1:
                text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
            arrays.append(text)
        return pa.table(arrays, names=[field.name for field in self._fields])

    def write(self, prepared: pa.Table) -> None:
        """Append the rows."""
        self._writer.write_table(prepared)

    def finish(self) -> None:
        """Give the file its name."""
        self._writer.close()
        self._temporary.publish()

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._writer.close()
        self._temporary.remove()


class LinkedFiles:
    """Several files that appear together, or not at all."""

    def __init__(self) -> None:
        self.writers: list[RecordWriter] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        waiting = list(self.writers)
        try:
            while kind is None and waiting:
                waiting[0].finish()
                waiting.pop(0)
        finally:
            for writer in waiting:
                writer.abandon()
