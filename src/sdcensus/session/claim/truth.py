"""What is true of the cell of a claim: records that are counted, and those who live there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import true_values
from sdcensus.model.spec.record_sets import universe_of_cell
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.session.census.census import Census
from sdcensus.store.census_store import CensusStore, all_rows_of
from sdcensus.store.manifest import imputed_column

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CellTruth(Confidential):
    """The records of a cell in the census that was published, and in the original one.

    Attributes:
        counted: Records that are counted in the cell.
        weighted: Their weighted count; ``None`` for plain counts.
        original: Records of the original census in the cell; ``None`` if it is not at hand.
        stayed: Records that are in both.
        imputed: Counted records with an imputed value in a variable of the table.
    """

    counted: int
    weighted: int | None
    original: int | None
    stayed: int | None
    imputed: int

    def __repr__(self) -> str:
        return "<CellTruth: confidential>"


def truth_of_cell(
    spec: TableSpec, positions: tuple[int, ...], census: Census, original: Census | None
) -> CellTruth:
    """Look at the records of one cell.

    Args:
        spec: The table.
        positions: Where the cell stands on each axis.
        census: The census that was published.
        original: The census from which it was derived; the same if it was not.
    """
    universe = universe_of_cell(spec, positions)
    rows = all_rows_of(universe, census.store, spec.of)
    digests = census.store.digests(spec.of)[rows]
    weighted = None
    if spec.measure is Measure.WEIGHTED:
        cell = replace(spec, axes=(), universe=universe, name="")
        weighted = int(true_values(census.tabulate(cell)).reshape(-1)[0])
    before = stayed = None
    if original is not None:
        residents = _digests(universe, original.store, spec)
        before, stayed = int(residents.size), int(np.isin(digests, residents).sum())
    return CellTruth(
        counted=int(rows.size),
        weighted=weighted,
        original=before,
        stayed=stayed,
        imputed=_imputed(census.store, spec, rows),
    )


def _digests(universe: Universe, store: CensusStore, spec: TableSpec) -> Integers:
    return store.digests(spec.of)[all_rows_of(universe, store, spec.of)]


def _imputed(store: CensusStore, spec: TableSpec, rows: Integers) -> int:
    """How many records have an imputed value in a variable of the table, theirs or their holder's.

    A person whose household's tenure was imputed is counted in a table by tenure.
    """
    variables = {axis.variable.name for axis in spec.axes}
    variables |= {variable.name for variable in spec.universe.variables}
    imputed = np.zeros(rows.size, dtype=bool)
    for name in sorted(variables):
        entity = store.schema.variable(name).entity
        if not store.has(entity, imputed_column(name)):
            continue
        flags = store.raw(entity, imputed_column(name)) != 0
        holders = holder_rows(store, spec.of, entity)[rows]
        held = holders != NO_ROW
        imputed[held] |= flags[holders[held]]
    return int(imputed.sum())
