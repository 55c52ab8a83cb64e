"""The cells of a table above 0, whatever holds them: true or published, dense or sparse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import positions_on, values_at
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable, Mark, SparseTable, Table
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]
Source = AnyCube | AnyTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldCells(Confidential):
    """Cells above 0 by their numbers, ascending, and those that have no number.

    Attributes:
        spec: The table.
        numbers: The cells, the last axis running fastest.
        values: What they hold.
        hidden: Cells in which a flag stands instead of a number, ascending.
        published: Whether the values are published ones.
    """

    spec: TableSpec
    numbers: Numbers
    values: Int64
    hidden: Numbers
    published: bool

    def __repr__(self) -> str:
        return f"<HeldCells of {self.spec.title}: confidential>"

    @classmethod
    def of(cls, source: Source) -> HeldCells:
        """The cells of a cube or table."""
        none = np.zeros(0, dtype=np.uint64)
        match source:
            case Cube():
                numbers, values = _above_zero(source.spec, source.count)
                if source.count.size and source.count.min() < 0:
                    raise SpecError(f"{source.spec.title}: a true count is 0 or more.")
                return cls(source.spec, numbers, values, none, False)
            case SparseCube():
                numbers, values = _of_blocks(source)
                return cls(source.spec, numbers, values, none, False)
            case Table():
                numbers, values = _above_zero(source.spec, source.published)
                if source.published.size and source.published.min() < 0:
                    raise SpecError(f"{source.spec.title}: a published count is 0 or more.")
                if source.flags is not None:
                    flagged = np.flatnonzero(source.flags.reshape(-1) != Mark.NONE)
                    none = flagged.astype(np.uint64)
                return cls(source.spec, numbers, values, none, True)
            case SparseTable():
                if source.small is not None:
                    raise SpecError(
                        f"{source.spec.title}: small groups are not broken down, and the table is"
                        " too large for a list of the cells that are not shown. Take fewer or"
                        " coarser axes, or the true counts."
                    )
                held = source.published > 0
                return cls(source.spec, source.numbers[held], source.published[held], none, True)
        raise SpecError("Findings are looked for in a Cube or in a published Table.")

    def position(self, at: int, numbers: Numbers | None = None) -> Int64:
        """The position on an axis of cells, of all that are held unless others are given."""
        return positions_on(self.spec.shape, at, self.numbers if numbers is None else numbers)

    def at_totals(self, axes: list[int], numbers: Numbers | None = None) -> Mask:
        """Which cells stand at the total of each of these axes."""
        cells = self.numbers if numbers is None else numbers
        inside = np.ones(cells.size, dtype=bool)
        for at in axes:
            total = self.spec.axes[at].blocks[-1].start
            inside &= self.position(at, cells) == total
        return inside

    def at(self, numbers: Numbers) -> Int64:
        """The values of cells by their numbers; 0 for those that are not held."""
        return values_at(self.numbers, self.values, numbers)


def _above_zero(spec: TableSpec, values: Int64) -> tuple[Numbers, Int64]:
    if values.dtype.kind not in "iu":
        raise SpecError(f"{spec.title}: counts are whole numbers.")
    flat = values.reshape(-1)
    numbers = np.flatnonzero(flat > 0)
    return numbers.astype(np.uint64), flat[numbers]


def _of_blocks(cube: SparseCube) -> tuple[Numbers, Int64]:
    """All blocks of a sparse cube as cells of the whole table."""
    numbers: list[Numbers] = []
    values: list[Int64] = []
    for block in cube.blocks():
        held = block.values.count > 0
        numbers.append(block.numbers[held])
        values.append(block.values.count[held])
    joined = np.concatenate(numbers)
    order = np.argsort(joined, kind="stable")
    return joined[order], np.concatenate(values)[order]
