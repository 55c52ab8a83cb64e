"""How far the margins of a table move: what readers see first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.options import option
from sdcensus.model.published.table import AnyTable
from sdcensus.utility.bases import Source
from sdcensus.utility.coarser import on_axes, whole_table


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
