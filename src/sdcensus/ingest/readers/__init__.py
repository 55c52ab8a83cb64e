"""Readers of census files: one door, ``open_reader``, for every format.

Each reader gives record batches in file order with exactly the columns that are asked for, and
knows what the file itself says about them: labels, code lists, missing codes. A file that cannot
be read gives an ``InputError`` that names the file and the row or line, never the content of a
row: rows hold personal data.
"""

from __future__ import annotations

from collections.abc import Callable

from sdcensus.errors import InputError
from sdcensus.ingest.readers.columns import ColumnKind, Reader, SourceColumn
from sdcensus.ingest.readers.cspro import open_cspro
from sdcensus.ingest.readers.csvfile import CsvReader
from sdcensus.ingest.readers.excel import ExcelReader
from sdcensus.ingest.readers.fixed import FixedWidthReader
from sdcensus.ingest.readers.parquet import ParquetReader
from sdcensus.ingest.readers.redatam import RedatamReader
from sdcensus.ingest.readers.statfiles import StatisticsReader
from sdcensus.model.schema.source import FileFormat, FileSource

__all__ = ["ColumnKind", "Reader", "SourceColumn", "open_reader"]

_READERS: dict[FileFormat, Callable[[FileSource], Reader]] = {
    FileFormat.CSV: CsvReader,
    FileFormat.PARQUET: ParquetReader,
    FileFormat.SPSS: StatisticsReader,
    FileFormat.STATA: StatisticsReader,
    FileFormat.SAS: StatisticsReader,
    FileFormat.FIXED: FixedWidthReader,
    FileFormat.CSPRO: open_cspro,
    FileFormat.EXCEL: ExcelReader,
    FileFormat.REDATAM: RedatamReader,
}


def open_reader(source: FileSource) -> Reader:
    """Open the file or files of a source with the reader of their format.

    Raises:
        InputError: A file is missing, empty, a folder, or not of its format.
        MissingExtra: The format needs a library that is not installed.
    """
    if not source.paths:
        raise InputError("No file was given to read. Check the path; a pattern may match nothing.")
    return _READERS[source.format](source)
