"""Categories that are found in one area only: they tell an area that a file leaves out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.uniques.numbering import compressed, counted
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.areas import NO_AREA, HiddenLevel, hidden_levels, leaves_of
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: What the table is called.
GIVE_AWAYS = "give-aways"
HEADINGS = ("variable", "code", "level", "area", "units")


def give_aways(store: CensusStore, design: FileDesign) -> FactTable | None:
    """Codes of a file whose records all lie in one area of a level that the file does not tell.

    Counted in the whole census, at the finest such level for each code. ``None`` where there are
    none, or nothing is hidden.
    """
    hidden = hidden_levels(store, design)
    areas: dict[Entity, Int64 | None] = {}
    rows: list[tuple[Fact, ...]] = []
    for variable in design.variables if hidden else ():
        if variable.amounts or variable.source.role is Role.GEOGRAPHY:
            continue
        if variable.entity not in areas:
            areas[variable.entity] = leaves_of(store, variable.entity)
        leaves = areas[variable.entity]
        if leaves is not None:
            rows += _lines(store, variable, leaves, hidden)
    if not rows:
        return None
    return FactTable(
        name=GIVE_AWAYS,
        title=sentence("release_sample.give_aways.title"),
        headings=tuple(sentence(f"release_sample.give_aways.{heading}") for heading in HEADINGS),
        rows=tuple(rows),
        note=sentence("release_sample.give_aways.note"),
    )


def of_variables(facts: FactTable, names: Collection[str]) -> FactTable | None:
    """The lines of some variables; ``None`` where there are none."""
    rows = tuple(row for row in facts.rows if row[0] in names)
    return replace(facts, rows=rows) if rows else None


def _lines(
    store: CensusStore,
    variable: FileVariable,
    leaves: Int64,
    hidden: tuple[HiddenLevel, ...],
) -> list[tuple[Fact, ...]]:
    column = store.column(variable.entity, variable.source)[slice(0, leaves.size)]
    codes = variable.level.group_array[column]
    placed = leaves != NO_AREA
    size = hidden[0].part.size
    if not placed.all():
        codes, leaves = codes[placed], leaves[placed]
    numbers = codes * size + leaves
    places, pairs = compressed(numbers, len(variable.level.codes) * size - 1)
    counts = counted(places, pairs.size)
    code, leaf = pairs // size, pairs % size
    lines: dict[int, tuple[Fact, ...]] = {}
    for level in hidden:
        area = level.part[leaf]
        first, last = _ends(code, area, len(variable.level.codes))
        if np.unique(area).size < 2:
            continue  # the country is one area at this level: nothing is hidden
        for number in np.unique(code[first[code] == last[code]]).tolist():
            known = level.level.codes[int(level.codes[first[number]])].code
            records = int(counts[code == number].sum())
            shown = variable.level.codes[number].code
            lines[number] = (variable.name, shown, level.level.name, known, records)
    return [lines[number] for number in sorted(lines)]


def _ends(code: Int64, area: Int64, codes: int) -> tuple[Int64, Int64]:
    """The first and the last area of each code."""
    first = np.full(codes, np.iinfo(np.int64).max, dtype=np.int64)
    last = np.full(codes, -1, dtype=np.int64)
    np.minimum.at(first, code, area)
    np.maximum.at(last, code, area)
    return first, last
