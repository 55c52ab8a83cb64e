"""A table as SPSS and Stata files hold it: names, labels and encodings of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.formats.microdata.encoding import (
    LARGEST_EXACT,
    CodeForm,
    Encoding,
    spss_encoding,
    stata_encoding,
)
from sdcensus.formats.microdata.layout import FilePart, parts_of
from sdcensus.formats.microdata.shortening import (
    LIMITS,
    FormatLimits,
    ShortenedPart,
    Shortening,
    plain_text,
    shortened,
    value_labels,
    variable_names,
)
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseColumn, ReleaseFile
from sdcensus.model.sentences import sentence

#: Formats that know numbers and labels.
LABELLED = (MicrodataFormat.SAV, MicrodataFormat.DTA)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelledColumn:
    """A column as a file with labels holds it.

    Attributes:
        column: The column.
        name: Its name in the file.
        encoding: How its codes stand; ``None`` for a column of numbers.
        label: Its label, as long as the format allows.
        labels: Of each code its label; empty where the format cannot hold so many.
    """

    column: ReleaseColumn
    name: str
    encoding: Encoding | None
    label: str
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LabelledTable:
    """A table as a file with labels holds it.

    Attributes:
        title: What stands in the head of the file.
        columns: All of one length.
        rows: How many records there are.
        date: The reference date, as in the schema.
        shortenings: What stands there in another form.
    """

    title: str
    columns: tuple[LabelledColumn, ...]
    rows: int
    date: str
    shortenings: tuple[Shortening, ...]


def encoding_of(column: ReleaseColumn, format: MicrodataFormat) -> Encoding | None:
    """How the codes of a column stand in a format; ``None`` for numbers."""
    if not column.codes:
        return None
    make = spss_encoding if format is MicrodataFormat.SAV else stata_encoding
    return make(column.codes)


class _Shortenings:
    """Collects what stands in a file in another form."""

    __slots__ = ("_file", "_format", "_language", "listed")

    def __init__(self, file: str, format: MicrodataFormat, language: str) -> None:
        self._file, self._format, self._language = file, format, language
        self.listed: list[Shortening] = []

    def note(
        self, part: ShortenedPart, original: str, shown: str, *, variable: str = "", code: str = ""
    ) -> None:
        """Remember a text, if it stands there in another form."""
        if original == shown:
            return
        # Names are the same in the files of all languages.
        spoken = part not in (ShortenedPart.NAME, ShortenedPart.NO_LABELS)
        self.listed.append(
            Shortening(
                format=self._format,
                file=self._file,
                part=part,
                original=original,
                shortened=shown,
                variable=variable,
                code=code,
                language=self._language if spoken else "",
            )
        )


def labelled(
    file: ReleaseFile, part: FilePart, format: MicrodataFormat, language: str
) -> LabelledTable:
    """A table with its names and labels in one language, as a format holds them."""
    limits = LIMITS[format]
    changes = _Shortenings(part.stem, format, language)
    original = file.title.show(language)
    title = shortened(plain_text(original), limits.title, limits.size)
    changes.note(ShortenedPart.TITLE, original, title)
    columns: list[LabelledColumn] = []
    names = variable_names([column.name for column in part.table.columns], format)
    for column, name in zip(part.table.columns, names, strict=True):
        changes.note(ShortenedPart.NAME, column.name, name, variable=column.name)
        original = column.label.show(language)
        label = shortened(plain_text(original), limits.variable_label, limits.size)
        changes.note(ShortenedPart.VARIABLE_LABEL, original, label, variable=column.name)
        encoding = encoding_of(column, format)
        labels: tuple[str, ...] = ()
        if encoding is None:
            check_exact(column, format)
        else:
            labels = _labels(column, encoding, language, limits, changes)
        columns.append(
            LabelledColumn(column=column, name=name, encoding=encoding, label=label, labels=labels)
        )
    return LabelledTable(
        title=title,
        columns=tuple(columns),
        rows=part.table.rows,
        date=file.reference_date,
        shortenings=tuple(changes.listed),
    )


def _labels(
    column: ReleaseColumn,
    encoding: Encoding,
    language: str,
    limits: FormatLimits,
    changes: _Shortenings,
) -> tuple[str, ...]:
    """The labels of a column's codes as a format holds them."""
    if limits.most_labels is not None and len(column.codes) > limits.most_labels:
        number = str(len(column.codes))
        changes.note(ShortenedPart.NO_LABELS, number, "0", variable=column.name)
        return ()
    originals = code_labels(column, encoding, language)
    codes = [code.code for code in column.codes]
    labels = value_labels([plain_text(text) for text in originals], codes, limits)
    for code, original, shown in zip(codes, originals, labels, strict=True):
        if original:
            changes.note(
                ShortenedPart.VALUE_LABEL, original, shown, variable=column.name, code=code
            )
    return labels


def code_labels(column: ReleaseColumn, encoding: Encoding, language: str) -> list[str]:
    """The label of each code; where a list is numbered, the code stands before each of them."""
    texts: list[str] = []
    for code in column.codes:
        label = code.label.show(language)
        if encoding.form is CodeForm.NUMBERED and code.code and label != code.code:
            label = f"{code.code} {label}" if label else code.code
        texts.append(label)
    return texts


def check_exact(column: ReleaseColumn, format: MicrodataFormat) -> None:
    """Refuse numbers that a number of double precision cannot tell exactly."""
    values = column.values
    if values.size and max(int(values.max()), -int(values.min())) > LARGEST_EXACT:
        raise SpecError(
            sentence("release_formats.inexact", column=column.name, format=format.value)
        )


def format_problems(
    file: ReleaseFile,
    formats: Sequence[MicrodataFormat],
    layout: Layout = Layout.LINKED,
    languages: Sequence[str] | None = None,
) -> tuple[Shortening, ...]:
    """Everything that would stand in the files in another form, before anything is written.

    Raises:
        SpecError: A column cannot stand in a format at all.
    """
    parts = parts_of(file, layout)
    changes: dict[Shortening, None] = {}
    for format in formats:
        if format in LABELLED:
            for part in parts:
                for language in languages or file.languages or ("",):
                    table = labelled(file, part, format, language)
                    changes.update(dict.fromkeys(table.shortenings))
    return tuple(changes)


def float_values(
    column: LabelledColumn, rows: slice
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The numbers of some records; what is not there is no number."""
    values = column.column.values[rows].astype(np.float64)
    if column.column.decimals:
        values /= 10.0**column.column.decimals
    if column.column.absent is not None:
        values[column.column.absent[rows]] = np.nan
    return values


def is_text(column: LabelledColumn) -> bool:
    """Whether the column stands as texts."""
    return column.encoding is not None and column.encoding.form is CodeForm.TEXTS
