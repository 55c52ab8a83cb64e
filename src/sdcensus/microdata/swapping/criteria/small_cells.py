"""Who stands in a small cell of the tables that an office names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def named_table(store: CensusStore, text: str) -> TableSpec:
    """A table by its axes: ``sex,age@broad,area``, or of other units: ``households: tenure,area``.

    Raises:
        SpecError: It cannot be made of this census.
    """
    units, colon, axes = text.rpartition(":")
    of = Entity.parse(units) if colon else Entity.PERSON
    by = [axis.strip() for axis in axes.split(",") if axis.strip()]
    if not by:
        raise SpecError(f"The table {text!r} has no axes. Name them: sex,age@broad,area.")
    return TableSpec.build(store.schema, by, of=of, name=text)


def cell_counts(store: CensusStore, spec: TableSpec) -> Int64:
    """For each record that a table counts, how many records stand in its finest cell.

    Its cells at coarser levels and in margins are larger, so who stands in a small one of these
    stands in a small finest cell.
    """
    rows = store.rows(spec.of)
    columns = [
        axis.base[store.column(spec.of, axis.variable)[slice(0, rows)]] for axis in spec.axes
    ]
    number, count = combined(columns, rows)
    return np.bincount(number, minlength=count)[number].astype(np.int64)


def in_small_cells(units: UnitTable, texts: Sequence[str], small: int) -> Mask:
    """Which units are in a small cell of some table, themselves or by a record that they hold.

    Args:
        units: The units.
        texts: The tables.
        small: The largest count that is small.

    Raises:
        SpecError: A table counts units that do not lie in those that are swapped.
    """
    flagged = np.zeros(len(units), dtype=bool)
    for text in texts:
        spec = named_table(units.store, text)
        if units.store.schema.path(spec.of, units.entity) is None:
            raise SpecError(
                f"The table {text!r} counts {spec.of.plural}, which do not lie in"
                f" {units.entity.plural}, the units that are swapped. Name tables of"
                f" {units.entity.plural} or of what they hold."
            )
        number = units.number_of(spec.of)
        marked = number[(cell_counts(units.store, spec) <= small) & (number != NO_UNIT)]
        flagged[marked] = True
    return flagged
