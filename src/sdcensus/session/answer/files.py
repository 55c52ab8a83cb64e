"""An answer as a file: the formats of the batch, with everything that a reader needs inside.

And what is told besides it: its example in words of the table, questions that would help.
"""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from sdcensus.errors import Refused, UnknownName
from sdcensus.model.published.area_outlines import OutlinesOf, square_of
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table_format import TableFormat, all_formats, table_format
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.question import Question
from sdcensus.model.text import TOTAL_LABEL
from sdcensus.session.answer.service import Answer
from sdcensus.session.policy import VerdictRemedy

#: What the API gives where nothing else is asked for.
JSON_STAT = "json-stat"
#: Formats with a file beside that of the numbers also come as one zip file with both, called so.
ZIP_ENDING = "-zip"

#: The earliest time that a zip file can name, which is how it says none: no clock is read, and the
#: same answer gives the same bytes.
_NO_TIME = (1980, 1, 1)

#: The levels of a geography that there is a map of.
MappedLevels = Callable[[str], frozenset[str]]


@cache
def served_formats() -> tuple[TableFormat, ...]:
    """All formats; the one first that is given where nothing else is asked for."""
    return tuple(sorted(all_formats(), key=lambda served: served.name != JSON_STAT))


@cache
def form_names(*, areas: bool = True) -> tuple[str, ...]:
    """The names of everything that can be downloaded: formats, and zip files of several files.

    Args:
        areas: Whether there are areas on a map; without, there are no formats for maps.
    """
    served = [each for each in served_formats() if areas or not each.areas]
    zipped = [f"{each.name}{ZIP_ENDING}" for each in served if len(each.endings) > 1]
    return (*(each.name for each in served), *zipped)


def forms_of(table: DeliveredTable, mapped: MappedLevels) -> tuple[str, ...]:
    """The names of everything that a table can be downloaded as.

    Formats for maps are for tables with areas that lie somewhere.

    Args:
        table: The table.
        mapped: The levels of a geography that there is a map of.
    """
    drawn = any(
        any(square_of(code) is not None for code in axis.codes[:3])
        or (axis.geography and not mapped(axis.column).isdisjoint(axis.levels))
        for axis in table.axes
    )
    return form_names(areas=drawn)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A file that somebody downloads."""

    content: bytes
    media_type: str
    filename: str


def render(
    answer: Answer, format_name: str, language: str, outlines: OutlinesOf | None = None
) -> Rendered:
    """The table of an answer as a file.

    Args:
        answer: The answer.
        format_name: One of ``form_names``.
        language: The language of labels and notes.
        outlines: Where areas lie, for formats that draw them.

    Raises:
        Refused: The answer is a refusal.
    """
    table = answer.table
    if table is None:
        answer.verdict.raise_if_refused()
        raise Refused("There is no table.")
    if format_name not in form_names():
        raise UnknownName("format", format_name, known=form_names())
    # Here and not above: a server that starts needs nothing that writes files.
    from sdcensus.formats.write import check_formats, write_delivered

    plain = format_name.removesuffix(ZIP_ENDING)
    check_formats([plain])
    if len(table_format(plain).endings) > 1:
        # What stands beside a download explains its own codes. A specification would bring the
        # leaves of all code lists along, which the API gives to whoever wants them.
        table = replace(table, spec=None)
    with tempfile.TemporaryDirectory(prefix="sdcensus-") as name:
        paths = write_delivered(
            table,
            Path(name),
            formats=(plain,),
            languages=(language,),
            labels=True,
            outlines=outlines,
        )
        files = {path.name: path.read_bytes() for path in paths}
    first = next(iter(files))
    if plain == format_name:
        return Rendered(files[first], table_format(plain).media_type, first)
    return Rendered(_zipped(files, table.dated), "application/zip", f"{Path(first).stem}.zip")


def json_stat(
    table: DeliveredTable, language: str | None = None, *, compact: bool = False
) -> dict[str, Any]:
    """A table as a JSON-stat 2.0 dataset, in plain values; compact for large lists of codes."""
    from sdcensus.formats.write.json_stat import json_stat as dataset_of

    return dataset_of(table, language, compact=compact)


def _zipped(files: dict[str, bytes], dated: str) -> bytes:
    target = io.BytesIO()
    try:
        day = max(date.fromisoformat(dated).timetuple()[:3], _NO_TIME)
    except ValueError:
        day = _NO_TIME
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, (*day, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return target.getvalue()


def told_example(answer: Answer, language: str) -> dict[str, Any] | None:
    """Where published parts do not add up, with the labels of the table; ``None`` without one."""
    example, table = answer.example, answer.table
    if example is None or table is None:
        return None
    axis = table.axes[example.axis]
    others = [axis for at, axis in enumerate(table.axes) if at != example.axis]
    index = list(example.place)

    def value(place: int) -> int:
        cell = (*index[: example.axis], place, *index[example.axis :])
        return int(table.values[cell])

    places = [
        {"axis": other.label.show(language), "label": other.label_of(at, language)}
        for other, at in zip(others, index, strict=True)
        # Beside codes that were chosen, the total is about more than those, and is named.
        if other.levels[at] != TOTAL or other.labels[at] != TOTAL_LABEL
    ]
    return {
        "axis": axis.label.show(language),
        "place": places,
        "parts": [
            {"label": axis.label_of(at, language), "value": value(at)} for at in example.parts
        ],
        "sum": example.sum,
        "total": example.published,
    }


def question_of(remedy: VerdictRemedy, question: Question) -> Question:
    """The question that a remedy stands for: other axes, and of the rest what still fits."""
    kept = {axis.variable.name for axis in remedy.spec.axes}
    same = {
        axis.variable.name
        for axis in remedy.spec.axes
        if any(_same(text, axis.name) for text in question.by)
    }
    conditions = {variable.name for variable in remedy.spec.universe.variables}
    return Question(
        of=question.of,
        measure=question.measure,
        by=remedy.by,
        where=question.where if conditions or not question.where else "",
        codes=tuple(code for code in question.codes if code[0] in kept & same),
        groups=tuple(group for group in question.groups if group[0] in kept & same),
    )


def _same(text: str, name: str) -> bool:
    return text.replace(" ", "") == name
