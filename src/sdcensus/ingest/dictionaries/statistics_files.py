"""The labels of an SPSS, Stata or SAS file as a dictionary for other files."""

from __future__ import annotations

from pathlib import Path

from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import Collector, Dictionary, Place
from sdcensus.ingest.dictionaries.headings import language_of
from sdcensus.ingest.readers.statfiles import described_columns
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.text import Text


def read_statistics_file(
    path: Path, kind: FileFormat, files: CensusColumns, *, language: str | None = None
) -> Dictionary:
    """Labels, value labels and missing values; records are not read."""
    columns = described_columns(path, kind)
    texts = [column.label for column in columns]
    texts += [label for column in columns for _, label in column.value_labels]
    main = language or language_of(texts) or "en"
    table = files.file_named(path.stem)
    collector = Collector()
    for column in columns:
        place = Place(path.name)
        collector.variable(column.name, table, Text.of(column.label, language=main), place)
        for code, label in column.value_labels:
            text = Text.of(label, language=main)
            missing = code in column.missing
            collector.code(column.name, table, code, text, place, missing=missing)
        labelled = {code for code, _ in column.value_labels}
        for code in column.missing:
            if code not in labelled:
                collector.code(column.name, table, code, Text(), place, missing=True)
    return collector.dictionary(main, file=path.name)
