"""The csv export of a REDATAM base.

What is assumed, since there is no written definition of the export: it is a csv file with any of
the usual delimiters, whose header has the variables as ``ENTITY.VARIABLE`` or as plain names, in
quotation marks or not. The entity in front is dropped where the names stay different without it.
Where a person has no value, REDATAM writes ``NotAppl``, ``Missing`` or ``Ignored``; these stay as
they are and are offered as missing codes of every column.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from sdcensus.ingest.readers.columns import BATCH_ROWS, SourceColumn, checked_names, positions
from sdcensus.ingest.readers.csvfile import CsvReader
from sdcensus.model.schema.source import FileSource

MISSING = ("NotAppl", "Missing", "Ignored")


class RedatamReader:
    """Reads csv exports of REDATAM."""

    def __init__(self, source: FileSource) -> None:
        self._csv = CsvReader(source)
        self._written = self._csv.names()
        self._names = tuple(clean_names(self._written))
        checked_names(self._names, file=self.name)

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._csv.name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._names

    def columns(self) -> tuple[SourceColumn, ...]:
        """The variables under their clean names."""
        return tuple(
            replace(column, name=name, missing=MISSING)
            for name, column in zip(self._names, self._csv.columns(), strict=True)
        )

    def rows(self) -> int | None:
        """None: only reading the file tells."""
        return None

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked variables as text, in file order."""
        found = positions(columns, self._names, file=self.name)
        batches = self._csv.batches([self._written[place] for place in found], rows=rows)
        return (batch.rename_columns(list(columns)) for batch in batches)


def clean_names(written: Sequence[str]) -> list[str]:
    """Drop quotation marks, and the entity where the name stays unique without it.

    Examples:
        >>> clean_names(["PERSONA.P05", "'P06'", "HOGAR.ID", "PERSONA.ID"])
        ['P05', 'P06', 'HOGAR.ID', 'PERSONA.ID']
    """
    plain = [name.strip().strip("\"'").strip() for name in written]
    short = [name.rpartition(".")[2] or name for name in plain]
    times = Counter(short) + Counter(name for name in plain if "." in name)
    return [one if times[one] == 1 else name for name, one in zip(plain, short, strict=True)]
