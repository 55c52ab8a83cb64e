"""Which cells of two tables are about the same records, axis by axis.

The codes of an axis are compared with the codes of the other table as sets of leaves, so the work
grows with the codes and not with the cells. Conditions that combine variables are compared by the
hashes of whole cells.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import mixed_radix, positions_on
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.cell_definitions import cell_hashes, code_digests
from sdcensus.model.spec.record_sets import is_product
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Hashes = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class SharedCells:
    """The cells of a table that another table has as well.

    Attributes:
        spec: The table.
        other: The other one.
        places: For each axis of ``spec``, for each of its codes, what it adds to the number of
            the cell in ``other``; -1 for codes that are not there.
        start: What the axes of ``other`` add that ``spec`` does not show.
    """

    spec: TableSpec
    other: TableSpec
    places: tuple[Int64, ...]
    start: int

    @property
    def size(self) -> int:
        """How many cells are shared."""
        size = 1
        for place in self.places:
            size *= int((place >= 0).sum())
        return size

    def all(self) -> tuple[Numbers, Numbers]:
        """Every shared cell: its number in the table, ascending, and in the other one."""
        mine = np.zeros(1, dtype=np.uint64)
        theirs = np.full(1, self.start, dtype=np.uint64)
        for place, weight in zip(self.places, mixed_radix(self.spec.shape), strict=True):
            held = np.flatnonzero(place >= 0)
            step = held.astype(np.uint64) * np.uint64(weight)
            mine = (mine[:, None] + step[None, :]).reshape(-1)
            theirs = (theirs[:, None] + place[held].astype(np.uint64)[None, :]).reshape(-1)
        return mine, theirs

    def of(self, cells: Numbers) -> tuple[Int64, Numbers]:
        """Of some cells those that are shared, by their places among them, and their numbers."""
        kept = np.arange(cells.size, dtype=np.int64)
        theirs = np.full(cells.size, self.start, dtype=np.uint64)
        for at, place in enumerate(self.places):
            step = place[positions_on(self.spec.shape, at, cells[kept])]
            inside = step >= 0
            kept, theirs = kept[inside], theirs[inside] + step[inside].astype(np.uint64)
        return kept, theirs


@dataclass(frozen=True, slots=True, eq=False)
class HashedCells:
    """The same where conditions combine variables: whole cells are compared by their hashes.

    Attributes:
        spec: The table.
        other: The other one.
    """

    spec: TableSpec
    other: TableSpec

    @property
    def size(self) -> int:
        """How many cells could be shared at most."""
        return min(self.spec.cells, self.other.cells)

    def all(self) -> tuple[Numbers, Numbers]:
        """Every shared cell: its number in the table, ascending, and in the other one."""
        every = np.arange(self.spec.cells, dtype=np.uint64)
        kept, theirs = self.of(every)
        return every[kept], theirs

    def of(self, cells: Numbers) -> tuple[Int64, Numbers]:
        """Of some cells those that are shared, by their places among them, and their numbers."""
        places = _places(cell_hashes(self.spec, cells=cells), cell_hashes(self.other))
        kept = np.flatnonzero(places >= 0)
        return kept, places[kept].astype(np.uint64)


def shared_cells(spec: TableSpec, other: TableSpec) -> SharedCells | HashedCells | None:
    """The cells of a table that hold the same records as a cell of another one, for any data.

    Returns:
        ``None`` if there are none: different things are counted, or other records.
    """
    if spec.of is not other.of or spec.measure is not other.measure:
        return None
    amounts = {None if each.amount is None else each.amount.name for each in (spec, other)}
    if len(amounts) > 1:
        return None
    if not (is_product(spec.universe) and is_product(other.universe)):
        return HashedCells(spec, other)
    mine, theirs = _variables(spec), _variables(other)
    shown = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
    weights = {
        axis.variable.name: weight
        for axis, weight in zip(other.axes, mixed_radix(other.shape), strict=True)
    }
    places = [np.zeros(0, dtype=np.int64)] * len(spec.axes)
    start = 0
    for name in dict.fromkeys([*mine, *theirs]):
        variable = mine.get(name) or theirs[name]
        digests, held = code_digests(spec, variable)
        others, possible = code_digests(other, theirs.get(name, variable))
        code_places = _places(digests, others, possible)
        code_places[~held] = -1
        place = np.where(code_places >= 0, code_places * weights.get(name, 0), -1)
        if name in shown:
            places[shown[name]] = place
        elif code_places[0] < 0:
            return None
        else:
            start += int(place[0])
    shared_cells = SharedCells(spec, other, tuple(places), start)
    return shared_cells if shared_cells.size else None


def same_layout(spec: TableSpec, other: TableSpec) -> bool:
    """Whether two spellings of one table also have their cells in the same order."""
    if spec is other:
        return True
    names = [axis.variable.name for axis in spec.axes]
    if names != [axis.variable.name for axis in other.axes] or spec.shape != other.shape:
        return False
    codes = [[(code.code, code.level) for code in axis.codes] for axis in spec.axes]
    theirs = [[(code.code, code.level) for code in axis.codes] for axis in other.axes]
    return codes == theirs and spec.hash() == other.hash()


def _variables(spec: TableSpec) -> Mapping[str, Variable]:
    """The variables that a table shows or has a condition on."""
    named = {variable.name: variable for variable in spec.universe.variables}
    return named | {axis.variable.name: axis.variable for axis in spec.axes}


def _places(wanted: Hashes, known: Hashes, possible: npt.NDArray[np.bool_] | None = None) -> Int64:
    """For each wanted hash the place of the first known one that is equal; -1 for none."""
    at = np.arange(known.shape[0]) if possible is None else np.flatnonzero(possible)
    if possible is None:  # whole cells that cannot hold a record have the hash 0
        at = np.flatnonzero(known.any(axis=1))
    order = at[np.argsort(known[at, 0], kind="stable")]
    first = known[order, 0]
    place = np.searchsorted(first, wanted[:, 0])
    places = np.full(wanted.shape[0], -1, dtype=np.int64)
    inside = np.flatnonzero(place < first.size)
    if possible is None:
        inside = inside[wanted[inside].any(axis=1)]
    candidate = order[place[inside]]
    same = (known[candidate] == wanted[inside]).all(axis=1)
    places[inside[same]] = candidate[same]
    return places
