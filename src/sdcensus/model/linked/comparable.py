"""Products as one set of cells in which everything that closed cells could follow from is held.

Most tables show all their cells, and are much finer than what is asked about closed ones. Such a
table is taken at the codes that matter: variables that no other table needs are added up, and so
are codes that no other table tells apart. Nothing is lost by it. Whatever combination of cells
makes up a closed one, its average over such codes makes it up as well, and averages of cells of
such a table are multiples of its sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.derivation import Sums
from sdcensus.model.linked.plain_tables import (
    MADE,
    CellNumbers,
    Entries,
    PlainTable,
    joined_sums,
    made_level,
)
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.schema.variable import Level, Variable, common_refinement
from sdcensus.model.spec.axis import Axis, make_axis
from sdcensus.model.spec.record_sets import leaves_of
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Cells that are compared at most, those that nobody sees included.
MOST_CELLS = 3_000_000


class TooManyCellsError(Exception):
    """The tables have too many cells to be compared."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparedProducts:
    """Tables of one kind of unit, and what their cells add up to.

    Attributes:
        products: The tables, as they were given.
        sums: What is 0 for any data, over all cells.
        shown: For each table the cells that have a number in it.
        closed: For each table the number of each cell that must not follow from others, and where
            it stands in the table.
    """

    products: tuple[ProductTable, ...]
    sums: Sums
    shown: tuple[Int64, ...]
    closed: tuple[tuple[Int64, Int64], ...]
    _places: tuple[_Places, ...]

    @classmethod
    def of(cls, products: Sequence[ProductTable]) -> ComparedProducts:
        """Put tables together.

        Raises:
            SpecError: They have different code lists for a variable.
            TooManyCellsError: They have too many cells.
        """
        known = _variables(products)
        tables = [_own(product.spec.compared, known) for product in products]
        whole = [product.missing is not None for product in products]
        reduced = _reduced(tables, whole)
        if sum(spec.cells for spec in reduced) > MOST_CELLS:
            raise TooManyCellsError
        plain = [PlainTable.of(spec) for spec in reduced]
        linked = LinkedTables.of([part.spec for part in plain])
        if linked.size > MOST_CELLS:
            raise TooManyCellsError
        return cls._numbered(products, reduced, plain, linked)

    @classmethod
    def _numbered(
        cls,
        products: Sequence[ProductTable],
        reduced: Sequence[TableSpec],
        plain: Sequence[PlainTable],
        linked: LinkedTables,
    ) -> ComparedProducts:
        numbers = CellNumbers(linked.hashes)
        entries = [_entries_of(linked)]
        places, shown, closed = [], [], []
        for at, (product, spec, part) in enumerate(zip(products, reduced, plain, strict=True)):
            cells = linked.cell_of[at]
            if part.inside is not None:
                cells = numbers.of(spec)
                entries.append(part.sums(spec, cells, linked, at))
            flat = cells.reshape(-1)
            places.append(_Places(spec, flat))
            possible = flat >= 0
            numbered = possible.copy()
            if product.missing is not None:
                numbered &= ~product.missing.reshape(-1)
            shown.append(np.unique(flat[numbered]))
            held = np.zeros(0, dtype=np.int64)
            if product.closed is not None and product.closing is Closing.SUMS:
                held = np.flatnonzero(product.closed.reshape(-1) & possible)
            closed.append((flat[held], held))
        sums = joined_sums(entries, len(numbers))
        return cls(tuple(products), sums, tuple(shown), tuple(closed), tuple(places))

    def known(self, tables: Sequence[int]) -> Mask:
        """The cells that have a number in some of the tables."""
        mask = np.zeros(self.sums.width, dtype=bool)
        for at in tables:
            mask[self.shown[at]] = True
        return mask

    def holder(self, cell: int, tables: Sequence[int]) -> int | None:
        """The first of some tables in which a cell has a number."""
        for at in tables:
            place = np.searchsorted(self.shown[at], cell)
            if place < self.shown[at].size and self.shown[at][place] == cell:
                return at
        return None

    def name(self, cell: int, table: int) -> str:
        """A cell by its codes, and in which table it stands or is a sum."""
        product, places = self.products[table], self._places[table]
        is_sum = places.spec != product.spec.compared
        return f"{places.name(cell)}{', added up from' if is_sum else ' of'} {product.name}"


@dataclass(frozen=True, slots=True, eq=False)
class _Places:
    """Where cells stand in a table."""

    spec: TableSpec
    cells: Int64

    def name(self, cell: int) -> str:
        place = int(np.flatnonzero(self.cells == cell)[0])
        return cell_name(self.spec, place)


def cell_name(spec: TableSpec, place: int) -> str:
    """A cell of a table by its codes: ``sex = 1, age = _T``; with its condition, if it has one."""
    at = np.unravel_index(place, spec.shape) if spec.shape else ()
    codes = [
        f"{axis.variable.name} = {_code_text(axis, int(position))}"
        for axis, position in zip(spec.axes, at, strict=True)
    ]
    text = ", ".join(codes) or "the total"
    inside = [variable.name for variable in spec.universe.variables]
    return f"{text} (with a condition on {', '.join(inside)})" if inside else text


def _code_text(axis: Axis, position: int) -> str:
    code = axis.codes[position]
    if not code.level.startswith(MADE):
        return code.code
    leaves = np.flatnonzero(leaves_of(axis, position))
    first = axis.variable.codes[int(leaves[0])].code if leaves.size else code.code
    if leaves.size == 1:
        return first
    return f"{first} … {axis.variable.codes[int(leaves[-1])].code}"


# ------------------------------------------------------------------------- the same variables


def _variables(products: Sequence[ProductTable]) -> dict[str, Variable]:
    """One variable of each name: tables that were read again have variables of their own."""
    known: dict[str, Variable] = {}
    for product in products:
        spec = product.spec
        for variable in (*(axis.variable for axis in spec.axes), *spec.universe.variables):
            first = known.setdefault(variable.name, variable)
            if [code.code for code in first.codes] != [code.code for code in variable.codes]:
                raise SpecError(
                    f"{product.name} has another code list for {variable.name!r} than other tables."
                )
    return known


def _own(spec: TableSpec, known: dict[str, Variable]) -> TableSpec:
    """A table on these variables; levels are known by what they group."""
    axes = [
        make_axis(
            known[axis.variable.name],
            [_ownmade_level(level, known[axis.variable.name]) for level in axis.levels],
            total=axis.total,
        )
        if known[axis.variable.name] is not axis.variable
        else axis
        for axis in spec.axes
    ]
    universe = replace(
        spec.universe,
        variables=tuple(known[variable.name] for variable in spec.universe.variables),
    )
    return replace(spec, axes=tuple(axes), universe=universe)


def _ownmade_level(level: Level, variable: Variable) -> Level:
    for own in variable.levels():
        if own.name == level.name:
            same = np.array_equal(own.group_array, level.group_array)
            return own if same else replace(level, name=f"{MADE}{level.name}")
    return level


# ---------------------------------------------------------------------------- what matters


def _reduced(tables: Sequence[TableSpec], whole: Sequence[bool]) -> list[TableSpec]:
    """Tables at the codes that matter; those that have gaps stay as they are."""
    needed = _needed_levels(tables, whole)
    matters = {name: _partition(levels) for name, levels in needed.items()}
    for spec, kept in zip(tables, whole, strict=True):
        for axis in () if kept else spec.axes:
            name = axis.variable.name
            if name in matters:
                matters[name] = _with_levels(matters[name], axis.levels)
    # A level that was finer than what mattered may be neither finer nor coarser any more.
    changed = True
    while changed:
        changed = False
        for spec, kept in zip(tables, whole, strict=True):
            for axis in () if kept else spec.axes:
                name = axis.variable.name
                if name in matters:
                    after = _with_levels(matters[name], axis.levels)
                    changed |= after is not matters[name]
                    matters[name] = after
    return [
        spec if kept else _at_what_matters(spec, matters)
        for spec, kept in zip(tables, whole, strict=True)
    ]


def _needed_levels(tables: Sequence[TableSpec], whole: Sequence[bool]) -> dict[str, list[Level]]:
    """What tables with gaps, and all conditions, tell apart."""
    needed: dict[str, list[Level]] = {}
    for spec, kept in zip(tables, whole, strict=True):
        for axis in spec.axes if kept else ():
            needed.setdefault(axis.variable.name, []).extend(axis.levels)
        for variable, classes in zip(spec.universe.variables, spec.universe.classes, strict=True):
            needed.setdefault(variable.name, []).append(made_level("where", classes))
    return needed


def _partition(levels: Sequence[Level]) -> Level:
    groups, _ = common_refinement(levels)
    return made_level("needed", groups)


def _with_levels(partition: Level, levels: Sequence[Level]) -> Level:
    """A partition at least as fine as all levels that are neither finer nor coarser."""
    for level in levels:
        if not level.refines(partition) and not partition.refines(level):
            partition = _partition([partition, level])
    return partition


def _at_what_matters(spec: TableSpec, matters: dict[str, Level]) -> TableSpec:
    axes = []
    for axis in spec.axes:
        if axis.variable.name not in matters:
            continue
        partition = matters[axis.variable.name]
        kept = [level for level in axis.levels if partition.refines(level)]
        if len(kept) < len(axis.levels):
            kept.append(partition)
        axes.append(make_axis(axis.variable, kept, total=axis.total))
    return replace(spec, axes=tuple(axes))


def _entries_of(linked: LinkedTables) -> Entries:
    matrix = linked.equations
    return Entries(matrix.shape[0], matrix.rows, matrix.columns, matrix.values.astype(np.int64))
