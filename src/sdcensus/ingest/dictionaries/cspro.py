"""CSPro dictionaries, from a ``.dcf`` file or from the database that holds one."""

from __future__ import annotations

from pathlib import Path

from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import Collector, Dictionary, DictionaryRange, Place
from sdcensus.ingest.dictionaries.headings import language_named, language_of
from sdcensus.ingest.readers.csdb import read_csdb_dictionary
from sdcensus.ingest.readers.dcf import Dictionary as CsproDictionary, Item, read_dictionary
from sdcensus.model.schema.source import is_cspro_database
from sdcensus.model.text import Text

#: A range of more values than this is one of numbers, and no group of codes with one label.
_LONGEST_GROUP = 20


def read_cspro(
    path: Path, files: CensusColumns, *, language: str | None = None, encoding: str | None = None
) -> Dictionary:
    """The items of all record types with their value sets."""
    if is_cspro_database(path):
        source = read_csdb_dictionary(path)
    else:
        source = read_dictionary(path, encoding or "cp1252")
    main = language or _language(source)
    collector = Collector()
    for record in source.records:
        table = files.file_named(record.name) or record.name
        for item in record.items:
            place = Place(path.name, record.name)
            collector.variable(item.name, table, _spoken(item.text, main), place)
            _values(collector, item, table, main, place)
    return collector.dictionary(main, file=path.name)


def _values(collector: Collector, item: Item, table: str, language: str, place: Place) -> None:
    wide = [span for span in item.ranges if span[1] - span[0] >= _LONGEST_GROUP]
    for low, high, label in wide:
        span = DictionaryRange(low, high, f"{low}:{high}", _spoken(label, language))
        collector.range(item.name, table, span, place)
    for code, label in item.codes:
        number = int(code) if code.lstrip("+-").isdecimal() else None
        from_range = number is not None and any(
            low <= number <= high and label == text for low, high, text in wide
        )
        if not from_range:
            spoken = _spoken(label, language)
            missing = code in item.missing
            collector.code(item.name, table, code, spoken, place, missing=missing)


def _spoken(text: Text, language: str) -> Text:
    """The text with the codes of languages that schemas use; unnamed is the main language."""
    return Text.of(
        {
            (language_named(name) or name if name else language): words
            for name, words in text.by_language
        }
    )


def _language(source: CsproDictionary) -> str:
    """The first language that the dictionary names, else the one that its labels are in."""
    texts = [item.text for record in source.records for item in record.items]
    texts += [
        label for record in source.records for item in record.items for _, label in item.codes
    ]
    named = next((name for text in texts for name, _ in text.by_language if name), "")
    return language_named(named) or language_of(text.show() for text in texts) or "en"
