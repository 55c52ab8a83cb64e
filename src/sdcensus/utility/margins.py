"""Coarser tables of a cube and of its published table, and how far margins move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.pairs import (
    check_match,
    check_published,
    hidden_cells,
    published_values,
    true_values,
)
from sdcensus.model.cube.parts import Int64, Mask
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import option
from sdcensus.utility.bases import Source

Cells = npt.NDArray[np.int64]


def whole_table(cube: AnyCube, table: AnyTable) -> tuple[Int64, Int64, Mask | None]:
    """True and published values of every cell, and which cells are withheld."""
    check_match(cube, table)
    if isinstance(cube, SparseCube):
        raise SpecError(
            f"{cube.spec.title}: the table is too large to be added up as a whole. Take"
            " cube.rollup(...) to fewer or coarser axes."
        )
    published = published_values(table)
    check_published(published, cube.spec)
    return true_values(cube), published, hidden_cells(table)


def on_axes(spec: TableSpec, values: Cells, axes: Sequence[int], source: Source) -> Cells:
    """A table on some of its axes, at their finest levels, in the order in which they are named.

    Refuses published totals where another axis shows none.
    """
    others = tuple(at for at in range(len(spec.axes)) if at not in axes)
    if source is Source.SUMMED:
        sums = values[interior(spec)].sum(axis=others)
    else:
        for at in others:
            if not spec.axes[at].total:
                raise SpecError(
                    f"{spec.title}: {spec.axes[at].name!r} shows no total, so no total over it was"
                    " published. Take source='summed', or tabulate with the total."
                )
        # The total is the last position of an axis.
        sums = values[tuple(-1 if at in others else slice(0, one.stop) for at, one in _inner(spec))]
    kept = sorted(axes)
    return np.transpose(sums, [kept.index(at) for at in axes])


def _inner(spec: TableSpec) -> enumerate[slice]:
    return enumerate(interior(spec))


@dataclass(frozen=True, slots=True, repr=False)
class MarginalChange(Confidential):
    """The change of the margin of one axis: each of its codes over everything else.

    Attributes:
        axis: The variable of the axis.
        source: Whether the published total or the sum of published interior cells is compared.
        categories: How many codes were compared.
        empty: How many codes hold no records, and so have no relative change.
        withheld: How many codes have no published figure.
        percent: The mean of ``100 · |published - true| / true`` over codes.
        largest_percent: The largest of them.
        reason: Why the figures are ``None``; empty where they are not.
    """

    axis: str
    source: Source
    categories: int
    empty: int
    withheld: int
    percent: float | None
    largest_percent: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<MarginalChange of {self.axis}, {self.source}: confidential>"


def marginal_change(
    cube: AnyCube,
    table: AnyTable,
    source: Source | str = Source.PUBLISHED,
) -> tuple[MarginalChange, ...]:
    """The change of the margin of every axis.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        source: ``published`` totals, or totals ``summed`` from published interior cells.
    """
    chosen = option(Source, "source of totals", source)
    true, published, hidden = whole_table(cube, table)
    spec = cube.spec
    marginal_changes = []
    for at, axis in enumerate(spec.axes):
        count = on_axes(spec, true, (at,), chosen)
        value = on_axes(spec, published, (at,), chosen)
        shown = np.ones(count.shape, dtype=bool)
        if hidden is not None:
            shown = on_axes(spec, hidden.astype(np.int64), (at,), chosen) == 0
        used = shown & (count > 0)
        change = 100 * np.abs(value[used] - count[used]) / count[used]
        reason = "" if used.any() else "no code of the axis has records and a published figure"
        marginal_changes.append(
            MarginalChange(
                axis=axis.variable.name,
                source=chosen,
                categories=int(used.sum()),
                empty=int((shown & (count == 0)).sum()),
                withheld=int((~shown).sum()),
                percent=None if reason else float(change.mean()),
                largest_percent=None if reason else float(change.max()),
                reason=reason,
            )
        )
    return tuple(marginal_changes)
