"""One record type of a CSPro dictionary as a reader: what text files and databases share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import pyarrow as pa

from sdcensus.ingest.readers.columns import BATCH_ROWS, SourceColumn, checked_names, positions
from sdcensus.ingest.readers.dcf import Dictionary, Item, source_column
from sdcensus.model.schema.source import FileSource


class RecordTypeReader(ABC):
    """Reads the records of one type; where they stand, the kinds of files say."""

    def __init__(self, source: FileSource, dictionary: Dictionary) -> None:
        self._paths = source.paths
        self._dictionary = dictionary
        self._record = dictionary.record(source.record)
        self._names = tuple(item.name for item in self._record.items)
        checked_names(self._names, file=dictionary.file)

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._paths[0].name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._names

    def columns(self) -> tuple[SourceColumn, ...]:
        """The id items and the items of the record type, with their value sets."""
        return tuple(source_column(item) for item in self._record.items)

    def rows(self) -> int | None:
        """None: only reading the file tells."""
        return None

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked items of the records of this type, in the order of the file."""
        places = positions(columns, self._names, file=self.name)
        return self._batches([self._record.items[place] for place in places], rows)

    @abstractmethod
    def _batches(self, items: list[Item], rows: int) -> Iterator[pa.RecordBatch]:
        """The values of these items."""
