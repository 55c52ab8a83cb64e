"""Two small csv files beside the records: what variables are called, and what codes mean.

They hold every label in every language in full, and tell under which name and as which value each
variable and code stands in SPSS and Stata files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

from sdcensus.formats.microdata.labelled import encoding_of
from sdcensus.formats.microdata.layout import FilePart
from sdcensus.formats.microdata.shortening import variable_names
from sdcensus.formats.write.delimited import quoted
from sdcensus.model.release.plan import MicrodataFormat

VARIABLES, CODES = "variables", "codes"
_NEEDS_QUOTES = frozenset('",\r\n')


def write_variables(parts: Sequence[FilePart], languages: Sequence[str], file: BinaryIO) -> None:
    """Write ``NAME-variables.csv``."""
    _line(
        file,
        ["file", "variable", "kind", "decimals", "unit", "sav", "dta"],
        [f"label_{language}" for language in languages],
    )
    for part in parts:
        columns = part.table.columns
        given = [column.name for column in columns]
        for column, spss, stata in zip(
            columns,
            variable_names(given, MicrodataFormat.SAV),
            variable_names(given, MicrodataFormat.DTA),
            strict=True,
        ):
            known = [part.stem, column.name, column.kind.value, str(column.decimals)]
            _line(
                file,
                [*known, column.unit, spss, stata],
                [column.label.show(language) for language in languages],
            )


def write_codes(parts: Sequence[FilePart], languages: Sequence[str], file: BinaryIO) -> None:
    """Write ``NAME-codes.csv``."""
    _line(
        file,
        ["file", "variable", "code", "kind", "sav", "dta"],
        [f"label_{language}" for language in languages],
    )
    for part in parts:
        for column in part.table.columns:
            spss = encoding_of(column, MicrodataFormat.SAV)
            stata = encoding_of(column, MicrodataFormat.DTA)
            if spss is None or stata is None:
                continue
            for code, in_spss, in_stata in zip(column.codes, spss.words, stata.words, strict=True):
                _line(
                    file,
                    [part.stem, column.name, code.code, code.kind.value, in_spss, in_stata],
                    [code.label.show(language) for language in languages],
                )


def _line(file: BinaryIO, plain: Sequence[str], labels: Sequence[str]) -> None:
    """A line; labels that could be a formula stand behind an apostrophe, codes never do."""
    cells = [_plain(word) for word in plain] + [quoted(label) for label in labels]
    file.write(f"{','.join(cells)}\n".encode())


def _plain(word: str) -> str:
    if _NEEDS_QUOTES.isdisjoint(word):
        return word
    return '"' + word.replace('"', '""') + '"'
