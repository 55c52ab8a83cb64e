"""Delivered tables as PX files (PC-Axis, version 2013): all languages in one file.

A PX file has no sign of escape. Quotation marks inside texts become apostrophes, and texts that
name something in it (variables, values) stand on one line and are never empty or repeated.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.formats.shared.arrow_columns import number_texts
from sdcensus.formats.write import new_file
from sdcensus.formats.write.identifiers import (
    at_least_one_axis,
    chosen_languages,
    distinct,
    unique_codes,
)
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text

#: How many dots stand in a cell for each mark that takes the place of a number.
DOTS = {
    Mark.REFUSED: 1,
    Mark.BELOW_THRESHOLD: 2,
    Mark.WITHHELD: 3,
    Mark.NOT_AVAILABLE: 4,
    Mark.NOT_BROKEN_DOWN: 5,
    Mark.UNRELIABLE: 6,
}

_SUBJECT = Text.named("files.px.subject")
_NUMBER = Text.named("files.px.number")

#: What fits on a line of 256 signs with its quotation marks and what follows them.
_LONGEST_LINE = 250
#: A name also stands in the parentheses of keywords, which are not broken.
_LONGEST_NAME = 220
_LONGEST_MATRIX = 20
_LINES_AT_A_TIME = 20_000
_END = "\r\n"


@dataclass(frozen=True, slots=True)
class _Variable:
    """An axis under the names that it has in one language."""

    axis: DeliveredAxis
    name: str
    values: tuple[str, ...]
    codes: tuple[str, ...]


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.px``.

    Args:
        table: The table.
        folder: Where to.
        languages: The languages; the first is that of the file, others stand beside it. None for
            the first that the table speaks.
        labels: Of no effect: a PX file always has both codes and labels.
    """
    (target,) = (folder / file for file in PX.files(table.name, languages))
    with new_file(target) as file:
        for statement in _head(table, chosen_languages(table, languages)):
            file.write(f"{statement};{_END}".encode())
        _write_cell_notes(table, file)
        file.write(f"DATA={_END}".encode())
        _write_data(table, file)
        file.write(f";{_END}".encode())
    return (target,)


def _head(table: DeliveredTable, languages: tuple[str, ...]) -> Iterator[str]:
    """All statements before the data, each keyword in all languages before the next one."""
    yield 'CHARSET="ANSI"'
    yield 'AXIS-VERSION="2013"'
    yield 'CODEPAGE="utf-8"'
    yield _listed("LANGUAGE", languages[:1])
    if len(languages) > 1:
        yield _listed("LANGUAGES", languages)
    day = table.date.replace("-", "") if re.match(r"\d{4}-\d{2}-\d{2}$", table.date) else ""
    if day:
        yield f'CREATION-DATE="{day} 00:00"'
    yield f"DECIMALS={table.decimals}"
    yield f"SHOWDECIMALS={table.decimals}"
    yield _listed("MATRIX", [_matrix(table.name)])
    # Published numbers are perturbed one by one: who adds them up gets another total.
    yield "AGGREGALLOWED=NO"
    yield 'SUBJECT-CODE="CENSUS"'

    def said(keyword: str, text: Text, instead: str = "") -> Iterator[str]:
        for language in languages:
            words = _clean(text.show(language)) or instead
            yield _long(_keyword(keyword, language, languages), words)

    title = table.title or Text.of(table.name)
    yield from said("SUBJECT-AREA", _SUBJECT)
    yield from said("TITLE", title, table.name)
    yield from said("CONTENTS", table.contents or table.unit or title, table.name)
    yield from said("UNITS", table.unit or _NUMBER, "-")
    yield from _variables(table, languages)
    if day:
        yield f'LAST-UPDATED="{day} 00:00"'
    if table.source:
        yield from said("SOURCE", table.source)
    yield from _census(table, languages)
    for language in languages:
        note = _note(table, language)
        if note:
            yield _long(_keyword("NOTE", language, languages), note)
    for mark in table.used_marks():
        if mark in DOTS:
            yield _listed(f"DATASYMBOL{DOTS[mark]}", [_clean(table.sign(mark)) or "."])


def _census(table: DeliveredTable, languages: tuple[str, ...]) -> Iterator[str]:
    """Which census it is: its name with the country, the day that it is about, and a link."""
    for language in languages:
        known = {} if table.census is None else dict(table.census.lines(language))
        names = ", ".join(known[part] for part in ("census", "country") if part in known)
        parts = (("SURVEY", names), ("REFPERIOD", known.get("reference_date", "")))
        # The link is the same in every language.
        links = (("LINK", known.get("link", "")),) if language == languages[0] else ()
        for keyword, words in (*parts, *links):
            if words:
                yield _long(_keyword(keyword, language, languages), _clean(words))


def _variables(table: DeliveredTable, languages: tuple[str, ...]) -> Iterator[str]:
    """Stub, heading, and everything about each variable."""
    axes = at_least_one_axis(table)
    by_language = [_named(axes, language) for language in languages]
    rows = min(1 if table.rows is None else table.rows, len(axes))
    for keyword, part in (("STUB", slice(0, rows)), ("HEADING", slice(rows, None))):
        for language, variables in zip(languages, by_language, strict=True):
            if axes[part]:
                names = [variable.name for variable in variables[part]]
                yield _listed(_keyword(keyword, language, languages), names)
    for at, axis in enumerate(axes):
        named = [variables[at] for variables in by_language]

        def keys(keyword: str, named: Sequence[_Variable] = named) -> list[str]:
            both = zip(languages, named, strict=True)
            return [f'{_keyword(keyword, one, languages)}("{own.name}")' for one, own in both]

        for key, variable in zip(keys("VALUES"), named, strict=True):
            yield _listed(key, variable.values)
        for key, variable in zip(keys("CODES"), named, strict=True):
            yield _listed(key, variable.codes)
        tree = _tree(named[0])
        if tree:
            yield from (_items(key, tree) for key in keys("HIERARCHIES"))
        for key, variable in zip(keys("ELIMINATION"), named, strict=True):
            yield f"{key}=NO" if axis.total is None else _listed(key, [variable.values[axis.total]])
        if axis.geography:
            yield from (_listed(key, [_name(axis.column)]) for key in keys("MAP"))


def _named(axes: Sequence[DeliveredAxis], language: str) -> tuple[_Variable, ...]:
    """Variables and values under names that are not empty and not repeated."""
    headings = [_name(axis.label.show(language)) or _name(axis.column) or "-" for axis in axes]
    names = distinct(headings, form="{} ({})")
    variables = []
    for axis, name in zip(axes, names, strict=True):
        codes = distinct([_name(code) or "-" for code in unique_codes(axis)])
        shown = [_name(label.show(language)) for label in axis.labels]
        texts = [one or code for one, code in zip(shown, codes, strict=True)]
        times = Counter(texts)
        pairs = zip(texts, codes, strict=True)
        alone = [one if times[one] == 1 else f"{one} ({code})" for one, code in pairs]
        variables.append(_Variable(axis, name, distinct(alone, form="{} ({})"), codes))
    return tuple(variables)


def _tree(variable: _Variable) -> list[str]:
    """Pairs of a code and one below it, after the top; none if there are two tops or one level."""
    tops = [at for at, above in enumerate(variable.axis.parents) if above == NO_PARENT]
    if len(tops) != 1 or all(above in (NO_PARENT, tops[0]) for above in variable.axis.parents):
        return []
    pairs = [
        f'"{variable.codes[above]}":"{code}"'
        for code, above in zip(variable.codes, variable.axis.parents, strict=True)
        if above != NO_PARENT
    ]
    return [f'"{variable.codes[tops[0]]}"', *pairs]


def _note(table: DeliveredTable, language: str) -> str:
    """Notes and the meaning of signs as one text: a sharp begins a line."""
    lines = [note.show(language) for note in table.notes]
    lines += [f"{table.sign(mark)}: {mark.meaning.show(language)}" for mark in table.used_marks()]
    clean = (_clean(line.replace("#", "\N{FULLWIDTH NUMBER SIGN}")) for line in lines)
    return "#".join(one for one in clean if one)


def _write_cell_notes(table: DeliveredTable, file: BinaryIO) -> None:
    """The marks of cells that have a number; one statement for each such cell."""
    axes = at_least_one_axis(table)
    codes = [pa.array([f'"{code}"' for code in variable.codes]) for variable in _named(axes, "")]
    for mark in table.used_marks():
        if table.marks is None or not mark.has_number:
            continue
        places = np.nonzero(table.marks.reshape([len(axis) for axis in axes]) == mark.value)
        keys = pc.binary_join_element_wise(
            *(own.take(pa.array(at)) for own, at in zip(codes, places, strict=True)), ","
        )
        sign = _clean(table.sign(mark)) or mark.name.lower()
        lines = pc.binary_join_element_wise("DATANOTECELL(", keys, f')="{sign}";{_END}', "")
        _write_texts(lines, "", file)


def _write_data(table: DeliveredTable, file: BinaryIO) -> None:
    """The cells in the order of the matrix; a line never holds cells of two rows."""
    values = table.values.reshape(-1)
    if not values.size:
        return
    dots = pa.array([f'"{"." * DOTS.get(mark, 0)}"' for mark in Mark])
    marks = None if table.marks is None else table.marks.reshape(-1)
    there = table.numbered.reshape(-1)
    longest = 2 + table.decimals + max(len(str(end)) for end in (values.min(), values.max()))
    width = values.size // max(_rows(table), 1)
    on_a_line = max(1, min(width, _LONGEST_LINE // (max(longest, 6) + 1)))
    rows, pieces = np.arange(0, values.size, width), np.arange(0, width, on_a_line)
    starts = (rows[:, None] + pieces).reshape(-1)
    ends = np.append(starts[1:], values.size)
    for first in range(0, starts.size, _LINES_AT_A_TIME):
        lines = slice(first, first + _LINES_AT_A_TIME)
        cells = slice(int(starts[lines][0]), int(ends[lines][-1]))
        texts = number_texts(values[cells], table.decimals)
        if marks is not None:
            instead = dots.take(pa.array(marks[cells].astype(np.int32)))
            texts = pc.if_else(pa.array(there[cells]), texts, instead)
        offsets = np.append(starts[lines], cells.stop) - cells.start
        joined = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), texts)
        if first:
            file.write(f" {_END}".encode())
        _write_texts(pc.binary_join(joined, " "), f" {_END}", file)


def _rows(table: DeliveredTable) -> int:
    rows = 1 if table.rows is None else table.rows
    return int(np.prod([len(axis) for axis in at_least_one_axis(table)[:rows]], dtype=np.int64))


def _write_texts(texts: pa.Array, between: str, file: BinaryIO) -> None:
    whole = pa.ListArray.from_arrays(pa.array([0, len(texts)], pa.int32()), texts)
    file.write(pc.binary_join(whole, between)[0].as_buffer())


def _keyword(keyword: str, language: str, languages: Sequence[str]) -> str:
    return keyword if language == languages[0] else f"{keyword}[{language}]"


def _clean(text: str) -> str:
    """A text without what would end it; several lines become one."""
    return " ".join(text.replace('"', "'").translate(_CONTROL).split())


_CONTROL = dict.fromkeys([*range(32), 127, *range(128, 160), 0x2028, 0x2029, 0xFEFF], " ")


def _name(text: str) -> str:
    """A text that names something: short enough to stand on a line with its keyword."""
    clean = _clean(text)
    return clean if len(clean) <= _LONGEST_NAME else f"{clean[: _LONGEST_NAME - 1]}…"


def _matrix(name: str) -> str:
    """The name of the table, in the few signs that a matrix may have."""
    clean = _clean(name)
    if len(clean) <= _LONGEST_MATRIX:
        return clean
    return f"{clean[:13]}-{hashlib.blake2b(name.encode(), digest_size=3).hexdigest()}"


def _listed(keyword: str, words: Sequence[str]) -> str:
    return _items(keyword, [f'"{word}"' for word in words])


def _items(keyword: str, items: Sequence[str]) -> str:
    """A statement with several values; lines are broken behind commas and the sign =."""
    lines = [f"{keyword}="]
    for at, item in enumerate(items):
        more = item if at == len(items) - 1 else f"{item},"
        if lines[-1] and len(lines[-1]) + len(more) > _LONGEST_LINE:
            lines.append("")
        lines[-1] += more
    return _END.join(lines)


def _long(keyword: str, text: str) -> str:
    """A statement with a text of any length: pieces in quotation marks, broken at spaces."""
    pieces, room = [], _LONGEST_LINE - len(keyword) - 2
    while len(text) > room:
        cut = text.rfind(" ", 0, room) + 1 or room
        pieces.append(text[:cut])
        text, room = text[cut:], _LONGEST_LINE
    return f"{keyword}=" + _END.join(f'"{piece}"' for piece in [*pieces, text])


PX = TableFormat(
    name="px",
    label="PX",
    about=Text.named("files.about.px"),
    endings=(".px",),
    media_type="application/x-pc-axis",
    accepts=("text/x-pc-axis", "text/x-px", "application/x-px"),
    aliases=("pc-axis", "pcaxis"),
    seconds_per_cell=0.2e-6,
    bytes_per_cell=3,
    write=write,
)
