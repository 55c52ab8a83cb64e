"""Which records stand in which file: linked tables, or one flat table of persons."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)
from sdcensus.model.sentences import sentence


@dataclass(frozen=True, slots=True, eq=False)
class FilePart:
    """A table of records with the name of its files, without their endings."""

    stem: str
    table: ReleaseTable


def parts_of(file: ReleaseFile, layout: Layout) -> tuple[FilePart, ...]:
    """The tables that are written.

    Raises:
        SpecError: A flat file would lose records or could not be read back.
    """
    if layout is Layout.LINKED:
        return tuple(FilePart(f"{file.name}-{table.entity.plural}", table) for table in file.tables)
    *holders, persons = file.tables
    for holder in reversed(holders):
        persons = _joined(persons, holder)
    return (FilePart(file.name, persons),)


def _joined(persons: ReleaseTable, holder: ReleaseTable) -> ReleaseTable:
    """Persons with the columns of what holds them."""
    number = holder.columns[0]
    link = next((column for column in persons.columns if column.name == number.name), None)
    if link is None:
        raise SpecError(sentence("release_formats.no_link", column=number.name))
    places, absent = _places(link, number)
    held = np.zeros(number.values.size, dtype=bool)
    held[places[~absent]] = True
    if not held.all():
        raise SpecError(sentence("release_formats.empty_holders", number=int((~held).sum())))
    names = {column.name for column in persons.columns}
    joined = list(persons.columns)
    for column in holder.columns[1:]:
        name = column.name
        if name in names:
            name = f"{holder.entity.value}_{name}"
        if name in names:
            raise SpecError(sentence("release_formats.same_name", column=column.name))
        names.add(name)
        joined.append(replace(_taken(column, places, absent), name=name))
    return ReleaseTable(entity=persons.entity, columns=tuple(joined))


def _places(
    link: ReleaseColumn, number: ReleaseColumn
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The row of each person's holder, and who has none."""
    order = np.argsort(number.values, kind="stable")
    numbers = number.values[order]
    if not numbers.size:
        return np.zeros(link.values.size, np.int64), np.ones(link.values.size, dtype=bool)
    at = np.minimum(np.searchsorted(numbers, link.values), numbers.size - 1)
    absent = numbers[at] != link.values
    if link.absent is not None:
        absent = absent | link.absent
    return order[at].astype(np.int64), absent


def _taken(
    column: ReleaseColumn, places: npt.NDArray[np.int64], absent: npt.NDArray[np.bool_]
) -> ReleaseColumn:
    nowhere = absent.copy()
    if column.values.size:
        values = column.values[places]
        if column.absent is not None:
            nowhere |= column.absent[places]
    else:
        values = np.zeros(places.size, dtype=np.int64)
    values = np.where(nowhere, 0, values)
    if nowhere.any() and any(code.code == "" for code in column.codes):
        raise SpecError(
            sentence("release_formats.empty_code", column=column.name, number=int(nowhere.sum()))
        )
    return replace(column, values=values, absent=nowhere if nowhere.any() else None)


def weight_of(table: ReleaseTable) -> ReleaseColumn | None:
    """The weight of the unit of a table: the first one, as that of its holder follows."""
    weights = (column for column in table.columns if column.kind is ColumnKind.WEIGHT)
    return next(weights, None)
