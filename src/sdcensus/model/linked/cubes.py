"""Tables that are protected together, with what was counted in them. Confidential."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior, with_totals
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.linked.atoms import Atoms, interior_cube, joint_spec
from sdcensus.model.linked.elsewhere import NOTHING_ELSEWHERE, CellsElsewhere
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CellSums(Confidential):
    """The sums of the cells of some tables.

    Attributes:
        values: The true sum of every cell, auxiliary ones included.
        negative: Cells to which somebody contributes less than 0.
    """

    values: Int64
    negative: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        for array in (self.values, self.negative):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<CellSums of {self.values.size} cells: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinkedCubes(Confidential):
    """True counts, or sums, of the cells of some tables that are protected together.

    Attributes:
        tables: The tables, and how their cells add up.
        cubes: What was counted for each table as it is published.
        counts: The true count of every cell, auxiliary ones included; in tables of sums how many
            contribute to it.
        elsewhere: What other products, and earlier releases, show and close of them.
        sums: In tables of sums the true sum of every cell.
    """

    tables: LinkedTables
    cubes: tuple[Cube, ...]
    counts: Int64
    _joint: Callable[[TableSpec], AnyCube]
    elsewhere: CellsElsewhere = NOTHING_ELSEWHERE
    sums: CellSums | None = None
    _atoms: list[Atoms] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.counts.flags.writeable = False

    def __repr__(self) -> str:
        return f"<LinkedCubes {len(self.cubes)} tables: confidential>"

    @property
    def values(self) -> Int64:
        """What the tables would show of every cell."""
        return self.counts if self.sums is None else self.sums.values

    @property
    def origin(self) -> Origin:
        """Where the numbers come from."""
        return self.cubes[0].origin

    @property
    def atoms(self) -> Atoms:
        """The sets of records that the tables tell apart together; counted when first needed."""
        if not self._atoms:
            self._atoms.append(Atoms.of(self.tables, self._joint(joint_spec(self.tables.specs))))
        return self._atoms[0]

    @property
    def combined_sums(self) -> CellSums:
        """In tables of sums, those of every combination of codes that the tables tell apart."""
        joint = self._joint(joint_spec(self.tables.specs)).held_for("what tables tell together")
        _, totals, negative = (array.reshape(-1) for array in _summed(joint))
        return CellSums(totals, negative > 0)

    @property
    def every_atom(self) -> Atoms:
        """The same with all cells that count each of them, also those that nobody sees."""
        tables = replace(
            self.tables, specs=self.tables.counted, cell_of=self.tables.counted_cell_of
        )
        return Atoms.of(tables, self._joint(joint_spec(self.tables.specs)))

    @classmethod
    def counted(
        cls,
        specs: Sequence[TableSpec],
        count: Callable[[TableSpec], AnyCube],
        *,
        elsewhere: CellsElsewhere = NOTHING_ELSEWHERE,
    ) -> LinkedCubes:
        """Count tables that are protected together.

        Args:
            specs: The tables.
            count: Who counts: the cube of a table.
            elsewhere: What other products show and close of their cells.
        """
        tables = LinkedTables.of(specs)
        extended = [count(spec).held_for("protecting tables together") for spec in tables.counted]
        cubes = tuple(_cut(cube, spec) for cube, spec in zip(extended, tables.specs, strict=True))
        if not tables.specs[0].measure.is_sum:
            counts = tables.gather([cube.count for cube in extended])
            return cls(tables, cubes, counts, count, elsewhere)
        parts = [_summed(cube) for cube in extended]
        contributors, totals, negative = (
            tables.gather([part[at] for part in parts]) for at in range(3)
        )
        sums = CellSums(totals, negative > 0)
        return cls(tables, cubes, contributors, count, elsewhere, sums)

    @classmethod
    def of_cube(cls, cube: AnyCube) -> LinkedCubes:
        """One table that was counted already, and from whose interior everything adds up.

        Raises:
            SpecError: It shows levels that do not nest in each other: the records have to be
                counted again.
        """
        whole = cube.held_for("a method that looks at the whole table")
        corner: Any = interior(whole.spec)
        tables = LinkedTables.of([whole.spec])
        (extended,) = tables.counted

        def added(array: Int64) -> Int64:
            inner = array[(*corner, ...)].reshape(extended.base_shape)
            return tables.gather([with_totals(extended, inner)])

        def joint(spec: TableSpec) -> Cube:
            return interior_cube(whole, spec)

        if not whole.spec.measure.is_sum:
            return cls(tables, (whole,), added(whole.count), joint)
        contributors, totals, negative = (added(array) for array in _summed(whole))
        sums = CellSums(totals, negative > 0)
        return cls(tables, (whole,), contributors, joint, sums=sums)

    def check_whole(self) -> None:
        """Refuse counts below 0, which no record can make."""
        if (self.counts < 0).any():
            raise SpecError(
                f"{self.tables.name(int(np.argmin(self.counts)))}: a count is below 0. Tables of"
                " counts hold whole numbers from 0."
            )


def _summed(cube: Cube) -> tuple[Int64, Int64, Int64]:
    """Of each cell of a table of sums who contributes, the sum, and whether any is below 0."""
    spec, known = cube.spec, cube.values.contributions
    if spec.amount is None or known is None or known.lowest is None:
        raise SpecError(
            f"{spec.title}: the table was tabulated without the contributions to its sums, which"
            " are needed to protect tables together. Tabulate it by its measure, such as"
            " sum(income)."
        )
    negative = np.asarray(known.lowest < 0, dtype=np.int64)
    return known.contributors, cube.values.sum_of(spec.amount.name), negative


def _cut(cube: Cube, spec: TableSpec) -> Cube:
    """The cube of a table from that of the same table with auxiliary cells."""
    if cube.spec is spec:
        return cube
    index = []
    for axis, more in zip(spec.axes, cube.spec.axes, strict=True):
        starts = {block.level: block.start for block in more.blocks}
        index.append(
            np.concatenate(
                [
                    np.arange(starts[block.level], starts[block.level] + block.size)
                    for block in axis.blocks
                ]
            )
        )

    def cut(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # Lists of contributions have one more axis.
        lists = array.shape[len(index) :]
        for at, kept in enumerate(index):
            array = np.take(array, kept, axis=at)
        return np.ascontiguousarray(array).reshape((*spec.shape, *lists))

    return Cube(spec, cube.origin, cube.values.map(cut))
