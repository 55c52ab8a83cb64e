"""Delivered tables as JSON-stat 2.0: one dataset for each language.

The last dimension is the measure. It has one category and tells the unit and the decimals, which
JSON-stat can say about categories of measures only; a table without axes has it alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sdcensus.formats.write import new_file
from sdcensus.formats.write.identifiers import distinct, unique_codes
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import Text

if TYPE_CHECKING:
    import pyarrow as pa

Int64 = npt.NDArray[np.int64]

#: The dimension of the measure, and its only category.
MEASURE, VALUE = "MEASURE", "VALUE"

#: Above it, a dimension is described compactly where that is wanted.
MANY_CATEGORIES = 10_000

#: Cells whose texts are held before they are written.
AT_A_TIME = 1 << 20

_MEASURE_LABEL = Text.named("files.json_stat.measure_label")


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
    paths = tuple(folder / file for file in JSON_STAT.files(table.name, languages))
    for path, language in zip(paths, languages or (None,), strict=True):
        dataset = _description(table, language)
        with new_file(path) as file:
            for at, (name, part) in enumerate(dataset.items()):
                file.write(f"{',' if at else '{'}{_text(name)}:".encode())
                if part is _CELLS:
                    cells = _value_texts(table) if name == "value" else _status_texts(table)
                    file.writelines(cells)
                else:
                    file.write(_text(part).encode())
            file.write(b"}\n")
    return paths


def json_stat(
    table: DeliveredTable, language: str | None = None, *, compact: bool = False
) -> dict[str, Any]:
    """A table as a JSON-stat 2.0 dataset, in plain values.

    Args:
        table: The table.
        language: The language of labels and notes; ``None`` for the first that each text has.
        compact: Whether dimensions of thousands of categories leave out labels that are the code
            itself, and that everything lies below the total. A grid is then a quarter as long.
    """
    document = _description(table, language)
    if compact:
        for axis in table.axes:
            if len(axis.codes) > MANY_CATEGORIES:
                _leave_out(document["dimension"][axis.column])
    document["value"] = _values(table)
    if table.marks is not None:
        document["status"] = _status(table)
    return document


#: Stands for numbers or signs, which are written without a look at single cells.
_CELLS = object()


def _description(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    """All parts of a dataset in their order, without what stands in its cells."""
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
    notes = [note.show(language) for note in table.notes]
    if notes:
        dataset["note"] = notes
    dataset |= {"id": [*columns, measure], "size": [*table.shape, 1], "role": role}
    dataset |= {"dimension": dimensions, "value": _CELLS}
    if table.marks is not None:
        dataset["status"] = _CELLS
    dataset["extension"] = _extension(table, language)
    return dataset


def _dimension(axis: DeliveredAxis, language: str | None) -> dict[str, Any]:
    ids = unique_codes(axis)
    category: dict[str, Any] = {"index": list(ids)}
    category["label"] = {code: axis.label_of(at, language) for at, code in enumerate(ids)}
    children: dict[str, list[str]] = {}
    for one, above in zip(ids, axis.parents, strict=True):
        if above != NO_PARENT:
            children.setdefault(ids[above], []).append(one)
    if children:
        category["child"] = children
    dimension: dict[str, Any] = {"label": axis.label.show(language) or axis.column}
    dimension["category"] = category
    more: dict[str, Any] = {}
    if len(set(axis.levels) - {TOTAL}) > 1:
        more["level"] = dict(zip(ids, axis.levels, strict=True))
    if ids != axis.codes:
        more["code"] = dict(zip(ids, axis.codes, strict=True))
    if axis.total is not None:
        more["total"] = ids[axis.total]
    if more:
        dimension["extension"] = more
    return dimension


def _leave_out(dimension: dict[str, Any]) -> None:
    """Take what a reader knows anyway out of the description of a dimension."""
    category = dimension["category"]
    category["label"] = {code: label for code, label in category["label"].items() if code != label}
    total = dimension.get("extension", {}).get("total")
    if total is not None and set(category.get("child", ())) == {total}:
        del category["child"]


def _measure(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    called = table.contents or table.unit
    label = called.show(language) or table.title.show(language) or table.name
    unit: dict[str, Any] = {"decimals": table.decimals}
    if table.unit:
        unit["label"] = table.unit.show(language)
    category = {"index": [VALUE], "label": {VALUE: label}, "unit": {VALUE: unit}}
    return {"label": _MEASURE_LABEL.show(language), "category": category}


def _mostly_missing(there: npt.NDArray[np.bool_]) -> bool:
    """Whether cells are told by their number, since most have nothing."""
    # Some readers take an object without members for something else than no numbers.
    return 0 < 2 * int(np.count_nonzero(there)) < there.size


def _values(table: DeliveredTable) -> list[Any] | dict[str, Any]:
    """The numbers in the order of the cells; by the number of the cell where most have none."""
    flat = table.values.reshape(-1)
    # The nearest float of a decimal fraction is written as that fraction again.
    numbers = flat / 10**table.decimals if table.decimals else flat
    if table.marks is None:
        return list(numbers.tolist())
    there = table.numbered.reshape(-1)
    if _mostly_missing(there):
        keys = map(str, np.flatnonzero(there).tolist())
        return dict(zip(keys, numbers[there].tolist(), strict=True))
    either = numbers.astype(object)
    either[~there] = None
    return list(either.tolist())


def _status(table: DeliveredTable) -> dict[str, str]:
    """The signs of the cells that have one, by the number of the cell."""
    assert table.marks is not None
    flat = table.marks.reshape(-1)
    signs = np.array([table.sign(mark) for mark in Mark], dtype=object)
    cells = np.flatnonzero(flat)
    return dict(zip(map(str, cells.tolist()), signs[flat[cells]].tolist(), strict=True))


def _value_texts(table: DeliveredTable) -> Iterator[bytes]:
    """The same as text of JSON, part by part."""
    # Here and not above: a dataset in plain values is made without pyarrow.
    import pyarrow as pa
    import pyarrow.compute as pc

    from sdcensus.formats.shared.arrow_columns import number_texts

    flat, there = table.values.reshape(-1), table.numbered.reshape(-1)

    def texts(cells: slice | Int64) -> pa.Array:
        written = number_texts(flat[cells], table.decimals)
        return (
            written if table.marks is None else pc.if_else(pa.array(there[cells]), written, "null")
        )

    return _cell_texts(np.flatnonzero(there) if _mostly_missing(there) else None, flat.size, texts)


def _status_texts(table: DeliveredTable) -> Iterator[bytes]:
    import pyarrow as pa

    assert table.marks is not None
    flat = table.marks.reshape(-1)
    signs = pa.array([_text(table.sign(mark)) for mark in Mark])
    return _cell_texts(
        np.flatnonzero(flat),
        flat.size,
        lambda cells: signs.take(pa.array(flat[cells].astype(np.int32))),
    )


def _cell_texts(
    chosen: Int64 | None, size: int, texts: Callable[[slice | Int64], pa.Array]
) -> Iterator[bytes]:
    """What stands in all cells as a list, or in the chosen ones as an object."""
    import pyarrow as pa
    import pyarrow.compute as pc

    yield b"[" if chosen is None else b"{"
    size = size if chosen is None else chosen.size
    for start in range(0, size, AT_A_TIME):
        if start:
            yield b","
        part = slice(start, min(start + AT_A_TIME, size))
        if chosen is None:
            pieces = texts(part)
        else:
            keys = pa.array(chosen[part]).cast(pa.string())
            pieces = pc.binary_join_element_wise('"', keys, '":', texts(chosen[part]), "")
        whole = pa.ListArray.from_arrays(pa.array([0, len(pieces)], pa.int32()), pieces)
        yield pc.binary_join(whole, ",")[0].as_buffer()
    yield b"]" if chosen is None else b"}"


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _extension(table: DeliveredTable, language: str | None) -> dict[str, Any]:
    extension: dict[str, Any] = {"name": table.name}
    used = table.used_marks()
    if used:
        meanings = {table.sign(mark): mark.meaning.show(language) for mark in used}
        extension["status"] = {"label": meanings}
    if table.census is not None:
        extension["census"] = dict(table.census.lines(language))
    if table.notes:
        extension["notes"] = [dict(note.by_language) for note in table.notes]
    if table.provenance is not None:
        extension["provenance"] = table.provenance.to_json()
    return extension


JSON_STAT = TableFormat(
    name="json-stat",
    label="JSON-stat",
    about=Text.named("files.about.json-stat"),
    endings=(".json",),
    media_type="application/json",
    accepts=(
        "application/vnd.json-stat+json",
        "application/json-stat",
        "application/vnd.jsonstat+json",
    ),
    aliases=("json", "jsonstat"),
    each_language=True,
    seconds_per_cell=1e-6,
    bytes_per_cell=3,
    write=write,
)
