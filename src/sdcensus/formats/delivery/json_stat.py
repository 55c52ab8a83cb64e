"""Delivered tables as JSON-stat 2.0: one dataset for each language.

The last dimension is the measure. It has one category and tells the unit and the decimals, which
JSON-stat can say about categories of measures only; a table without axes has it alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.formats.delivery import files_of
from sdcensus.formats.delivery.identifiers import distinct, unique_codes
from sdcensus.formats.tables.files import new_file
from sdcensus.model.axis import TOTAL
from sdcensus.model.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.marks import Mark
from sdcensus.model.text import Text

#: The dimension of the measure, and its only category.
MEASURE, VALUE = "MEASURE", "VALUE"

_MEASURE_LABEL = Text.of({"en": "Measure", "es": "Medida"})


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write a table as JSON-stat: one new file for each language.

    Args:
        table: The table.
        folder: Where to.
        languages: The languages; none for the first that each text has.
        labels: Of no effect: every code has its label once, in the description of its dimension.
    """
    paths = tuple(folder / one for one in files_of(table.name, "json-stat", languages))
    for path, language in zip(paths, languages or (None,), strict=True):
        dataset = json_stat(table, language)
        text = json.dumps(dataset, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        with new_file(path) as file:
            file.write(f"{text}\n".encode())
    return paths


def json_stat(table: DeliveredTable, language: str | None = None) -> dict[str, Any]:
    """A table as a JSON-stat 2.0 dataset, in plain values.

    Args:
        table: The table.
        language: The language of labels and notes; ``None`` for the first that each text has.
    """
    columns = [axis.column for axis in table.axes]
    (measure,) = distinct([MEASURE], taken=columns)
    dimensions = {axis.column: _dimension(axis, language) for axis in table.axes}
    dimensions[measure] = _measure(table, language)
    role = {"metric": [measure]}
    areas = [axis.column for axis in table.axes if axis.geography]
    if areas:
        role["geo"] = areas
    dataset: dict[str, Any] = {"version": "2.0", "class": "dataset"}
    dataset["label"] = table.title.show(language) or table.name
    if table.source:
        dataset["source"] = table.source.show(language)
    if table.date:
        dataset["updated"] = table.date
    notes = [one.show(language) for one in table.notes]
    if notes:
        dataset["note"] = notes
    dataset |= {"id": [*columns, measure], "size": [*table.shape, 1], "role": role}
    dataset |= {"dimension": dimensions, "value": _values(table)}
    if table.marks is not None:
        dataset["status"] = _status(table)
    dataset["extension"] = _extension(table, language)
    return dataset


def _dimension(axis: DeliveredAxis, language: str | None) -> dict[str, Any]:
    ids = unique_codes(axis)
    category: dict[str, Any] = {"index": list(ids)}
    category["label"] = {one: axis.label_of(at, language) for at, one in enumerate(ids)}
    children: dict[str, list[str]] = {}
    for one, above in zip(ids, axis.parents, strict=True):
        if above != NO_PARENT:
            children.setdefault(ids[above], []).append(one)
    if children:
        category["child"] = children
    made: dict[str, Any] = {"label": axis.label.show(language) or axis.column}
    made["category"] = category
    more: dict[str, Any] = {}
    if len(set(axis.levels) - {TOTAL}) > 1:
        more["level"] = dict(zip(ids, axis.levels, strict=True))
    if ids != axis.codes:
        more["code"] = dict(zip(ids, axis.codes, strict=True))
    if axis.total is not None:
        more["total"] = ids[axis.total]
    if more:
        made["extension"] = more
    return made


def _measure(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    label = table.unit.show(language) or table.title.show(language) or table.name
    unit: dict[str, Any] = {"decimals": table.decimals}
    if table.unit:
        unit["label"] = table.unit.show(language)
    category = {"index": [VALUE], "label": {VALUE: label}, "unit": {VALUE: unit}}
    return {"label": _MEASURE_LABEL.show(language), "category": category}


def _values(table: DeliveredTable) -> list[Any] | dict[str, Any]:
    """The numbers in the order of the cells; by the number of the cell where most have none."""
    flat = table.values.reshape(-1)
    # The nearest float of a decimal fraction is written as that fraction again.
    numbers = flat / 10**table.decimals if table.decimals else flat
    if table.marks is None:
        return list(numbers.tolist())
    there = table.numbered.reshape(-1)
    # Some readers take an object without members for something else than no numbers.
    if 0 < 2 * np.count_nonzero(there) < there.size:
        keys = map(str, np.flatnonzero(there).tolist())
        return dict(zip(keys, numbers[there].tolist(), strict=True))
    either = numbers.astype(object)
    either[~there] = None
    return list(either.tolist())


def _status(table: DeliveredTable) -> dict[str, str]:
    """The signs of the cells that have one, by the number of the cell."""
    assert table.marks is not None
    flat = table.marks.reshape(-1)
    cells = np.flatnonzero(flat)
    signs = np.array([table.sign(one) for one in Mark], dtype=object)
    return dict(zip(map(str, cells.tolist()), signs[flat[cells]].tolist(), strict=True))


def _extension(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    made: dict[str, Any] = {"name": table.name}
    used = table.used_marks()
    if used:
        meanings = {table.sign(one): one.meaning.show(language) for one in used}
        made["status"] = {"label": meanings}
    if table.notes:
        made["notes"] = [dict(one.by_language) for one in table.notes]
    if table.provenance is not None:
        made["provenance"] = table.provenance.to_json()
    return made
