"""Distances level by level and code by code: how much a district, or a parish, has to bear."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import check_match, pair_in
from sdcensus.model.cube.parts import TablePart, block_of, region_at
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.table_spec import area_axis
from sdcensus.utility.bases import Base
from sdcensus.utility.distances import SMALL, Utility, measure


@dataclass(frozen=True, slots=True, repr=False)
class UtilityAt(Confidential):
    """How far the cells at one level of an axis, or at one code of it, are from the truth.

    Attributes:
        axis: The variable of the axis.
        level: The level; ``_T`` for the total.
        code: The code; ``None`` for all codes of the level.
        utility: The measures.
    """

    axis: str
    level: str
    code: str | None
    utility: Utility

    def __repr__(self) -> str:
        at = self.level if self.code is None else self.code
        return f"<UtilityAt {self.axis} {at}: confidential>"


def by_level(
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.ALL,
    base: Base | str = Base.NONZERO,
    *,
    axis: str | None = None,
    small: int = SMALL,
) -> tuple[UtilityAt, ...]:
    """The measures at each level of geography, the total last.

    ``part`` is about the other axes: the interior at the level of districts are the cells of
    districts that are the finest in everything else.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        part: Which cells of the other axes.
        base: Over which cells mean distances are taken.
        axis: The variable by whose levels to tell; by default the geography.
        small: Counts from 1 to this are the small ones.
    """
    check_match(cube, table)
    chosen = TablePart.named(part)
    at = area_axis(cube.spec, axis, how="axis=")
    utility_ats = []
    for block in cube.spec.axes[at].blocks:
        pair = pair_in(cube, table, region_at(cube.spec, at, block, chosen))
        utility = measure(pair, base=base, part=chosen, small=small)
        utility_ats.append(UtilityAt(cube.spec.axes[at].variable.name, block.level, None, utility))
    return tuple(utility_ats)


def by_code(
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.ALL,
    base: Base | str = Base.NONZERO,
    *,
    axis: str | None = None,
    level: str | None = None,
    small: int = SMALL,
) -> tuple[UtilityAt, ...]:
    """The measures at each code of a level: by default each area of the finest level."""
    check_match(cube, table)
    chosen = TablePart.named(part)
    at = area_axis(cube.spec, axis, how="axis=")
    if isinstance(cube, SparseCube):
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be measured code by code. Take"
            " cube.rollup(...) to fewer axes, or measure it by level."
        )
    own = cube.spec.axes[at]
    block = block_of(cube.spec, at, level)
    where = region_at(cube.spec, at, block, chosen)
    utility_ats = []
    for position in range(block.start, block.start + block.size):
        pair = pair_in(cube, table, where.at(at, position, position + 1))
        utility = measure(pair, base=base, part=chosen, small=small)
        code = own.codes[position].code
        utility_ats.append(UtilityAt(own.variable.name, block.level, code, utility))
    return tuple(utility_ats)
