"""Whether variables seem more or less related in the published table: Cramér's V, group means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import whole_numbers
from sdcensus.model.cube.parts import Int64
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.vocabulary import option
from sdcensus.utility.bases import Source
from sdcensus.utility.margins import on_axes, whole_table

#: What rounding leaves of an association that is none; a single record among a billion makes more.
_ROUNDING = 1e-10
_WITHHELD = "cells of the two-way table are withheld"
_EMPTY = "the two-way table is empty"
_ONE_LINE = "only one row or one column has records"


@dataclass(frozen=True, slots=True, repr=False)
class CramersV(Confidential):
    """Cramér's V of a two-way table of counts: 0 for independence, 1 for complete association.

    Attributes:
        value: ``sqrt(chi-square / (n · min(rows - 1, columns - 1)))``, rows and columns without
            records left out; ``None`` where it has no meaning.
        reason: Why there is none; empty where there is one.
    """

    value: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return "<CramersV: confidential>"


def cramers_v(counts: npt.ArrayLike) -> CramersV:
    """Cramér's V of a two-way table without its totals.

    Examples:
        >>> cramers_v([[10, 0, 0], [0, 10, 0]]).value
        1.0
        >>> cramers_v([[3, 4], [0, 0]]).reason
        'only one row or one column has records'
    """
    table = whole_numbers(counts, "counts of the two-way table").astype(np.float64)
    if table.ndim != 2:
        raise SpecError("Cramér's V is that of a two-way table: give an array with two axes.")
    return weighted_cramers_v(table)


def weighted_cramers_v(table: npt.NDArray[np.float64]) -> CramersV:
    """Cramér's V of a two-way table of weighted counts, of which none is below 0.

    Examples:
        >>> weighted_cramers_v(np.array([[2.5, 0.0], [0.0, 7.25]])).value
        1.0
    """
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    n = float(table.sum())
    if not n:
        return CramersV(None, _EMPTY)
    table = table[rows > 0][:, columns > 0]
    if min(table.shape) < 2:
        return CramersV(None, _ONE_LINE)
    expected = np.outer(rows[rows > 0], columns[columns > 0]) / n
    # Each cell of a small expectation keeps its full part: (o - e)² / e, not o²/e - n.
    square = float((((table - expected) ** 2) / expected).sum())
    value = math.sqrt(square / (n * (min(table.shape) - 1)))
    return CramersV(0.0 if value < _ROUNDING else min(1.0, value))


@dataclass(frozen=True, slots=True, repr=False)
class AssociationChange(Confidential):
    """How the association of two variables changes.

    Attributes:
        axes: The two variables.
        source: Whether published two-way totals or sums of published interior cells are taken.
        true, published: Cramér's V before and after.
        percent: ``100 · (published - true) / true``; ``None`` where one of them is missing, or
            where the variables are independent in the true table.
        reason: Why there is none; empty where there is one.
    """

    axes: tuple[str, str]
    source: Source
    true: float | None
    published: float | None
    percent: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<AssociationChange of {self.axes[0]} and {self.axes[1]}: confidential>"


def association_change(
    cube: AnyCube,
    table: AnyTable,
    source: Source | str = Source.PUBLISHED,
) -> tuple[AssociationChange, ...]:
    """The change of Cramér's V for every pair of axes, at their finest levels."""
    chosen = option(Source, "source of totals", source)
    true, published, hidden = whole_table(cube, table)
    spec = cube.spec
    association_changes = []
    for pair in combinations(range(len(spec.axes)), 2):
        names = (spec.axes[pair[0]].variable.name, spec.axes[pair[1]].variable.name)
        before = cramers_v(on_axes(spec, true, pair, chosen))
        after = cramers_v(on_axes(spec, published, pair, chosen))
        if hidden is not None and on_axes(spec, hidden.astype(np.int64), pair, chosen).any():
            after = CramersV(None, _WITHHELD)
        association_changes.append(_change(names, chosen, before, after))
    return tuple(association_changes)


def _change(
    axes: tuple[str, str], source: Source, before: CramersV, after: CramersV
) -> AssociationChange:
    reason = ""
    percent = None
    if before.value is None:
        reason = f"true counts: {before.reason}"
    elif after.value is None:
        reason = f"published counts: {after.reason}"
    elif before.value == 0:
        reason = "the variables are independent in the true table"
    else:
        percent = 100 * (after.value - before.value) / before.value
    return AssociationChange(axes, source, before.value, after.value, percent, reason)


@dataclass(frozen=True, slots=True, repr=False)
class BetweenGroups(Confidential):
    """How much groups differ in the share of each category, after against before.

    Attributes:
        groups, target: The variable of the groups, and the one whose shares are compared.
        source: Whether published two-way totals or sums of published interior cells are taken.
        categories: The codes of the target.
        ratios: For each code, the variance of its share between groups in the published table
            divided by that in the true one; ``None`` where groups do not differ in the true one.
        undefined: How many are ``None``.
        mean: Their mean; ``None`` where no code has one.
        reason: Why some are ``None``; empty where none is.
    """

    groups: str
    target: str
    source: Source
    categories: tuple[str, ...]
    ratios: tuple[float | None, ...]
    undefined: int
    mean: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<BetweenGroups of {self.target} by {self.groups}: confidential>"


def between_groups(
    cube: AnyCube,
    table: AnyTable,
    groups: str,
    target: str,
    source: Source | str = Source.PUBLISHED,
) -> BetweenGroups:
    """The ratio of between-group variances: below 1, protection makes areas look alike.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        groups: The variable whose codes are the groups, such as the area.
        target: The variable of whose codes the shares are compared.
        source: ``published`` two-way totals, or ``summed`` from published interior cells.
    """
    chosen = option(Source, "source of totals", source)
    true, published, hidden = whole_table(cube, table)
    spec = cube.spec
    pair = (spec.position(groups), spec.position(target))
    if pair[0] == pair[1]:
        raise SpecError(f"Groups and target are both {groups!r}. Name two axes of the table.")
    codes = [code.code for code in spec.axes[pair[1]].codes[: spec.axes[pair[1]].base_size]]
    if hidden is not None and on_axes(spec, hidden.astype(np.int64), pair, chosen).any():
        none = (None,) * len(codes)
        return BetweenGroups(
            groups, target, chosen, tuple(codes), none, len(codes), None, _WITHHELD
        )
    ratios = between_group_ratios(
        on_axes(spec, true, pair, chosen), on_axes(spec, published, pair, chosen)
    )
    known = [ratio for ratio in ratios if ratio is not None]
    undefined = len(ratios) - len(known)
    return BetweenGroups(
        groups,
        target,
        chosen,
        tuple(codes),
        tuple(ratios),
        undefined,
        sum(known) / len(known) if known else None,
        f"{undefined} codes have the same share in every group" if undefined else "",
    )


def between_group_ratios(true: Int64, published: Int64) -> Sequence[float | None]:
    """For each column, the variance of its share between rows, after divided by before."""
    before, after = _between(true), _between(published)
    return [
        None if not one or not math.isfinite(one) else float(other / one)
        for one, other in zip(before.tolist(), after.tolist(), strict=True)
    ]


def _between(table: Int64) -> npt.NDArray[np.float64]:
    """Of each column ``sum(n_g · (p_g - p)²) / (groups - 1)`` over groups with records."""
    counts = table.astype(np.float64)
    size = counts.sum(axis=1)
    kept = size > 0
    if kept.sum() < 2:
        return np.zeros(table.shape[1])
    counts, size = counts[kept], size[kept]
    share = counts / size[:, None]
    # Equal shares have no variance, whatever their mean is rounded to.
    same = (table[kept] * int(size[0]) == table[kept][0] * size.astype(np.int64)[:, None]).all(
        axis=0
    )
    away = share - counts.sum(axis=0) / size.sum()
    variance = (size[:, None] * away * away).sum(axis=0) / (kept.sum() - 1)
    return np.where(same, 0.0, variance)
