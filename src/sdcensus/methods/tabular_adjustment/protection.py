"""What is asked of every cell, from the settings of the method and the rules of the office."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.methods.tabular_adjustment.cell_file import CellFile, CellLine, CellStatus
from sdcensus.methods.tabular_adjustment.requirements import Int64, Mask, Requirements, named
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.table_spec import TableSpec

#: What the office says of single cells.
_Said = Sequence[tuple[int, CellLine]]
#: No cell grows by more than this.
_NO_BOUND = 1 << 40
#: Weights are whole parts of the largest: so many, unless all are equal.
WEIGHTS = 1_000


class Kept(StrEnum):
    """Which totals stay as they are, unless they may not be shown themselves."""

    NOTHING = "nothing"
    TOTAL = "total"
    MARGINS = "margins"


class Zeros(StrEnum):
    """Whether empty cells stay empty, unless they may not be shown themselves."""

    KEEP = "keep"
    CHANGE = "change"


class SmallCounts(StrEnum):
    """Whether counts from 1 to below the minimum may be published, where others moved there."""

    AVOID = "avoid"
    ALLOW = "allow"


class Weights(StrEnum):
    """What one unit of change costs: the same everywhere, less in large cells, or more in them."""

    EQUAL = "equal"
    INVERSE = "inverse"
    VALUE = "value"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ProtectionSettings:
    """What a method says about how far cells move; its attributes are explained there."""

    minimum: int
    lower_protection: int | None
    upper_protection: int | None
    small: SmallCounts
    zeros: Zeros
    keep: Kept
    fixed: tuple[TableSpec, ...]
    largest_change: Fraction | None
    weights: Weights
    cells: CellFile | None

    def __repr__(self) -> str:
        return "<ProtectionSettings: confidential>"


def requirements(
    linked: LinkedCubes, sensitive: Mask, impossible: Mask, settings: ProtectionSettings
) -> Requirements:
    """What is asked of every cell.

    Args:
        linked: The tables.
        sensitive: Cells that may not be shown, by the rules.
        impossible: Cells in which no record can be: they stay empty.
        settings: What the method says.

    Raises:
        SpecError: A cell is to stay as it is and may not be shown, or bounds leave the truth out.
    """
    tables, counts = linked.tables, linked.counts
    sensitive = sensitive & tables.published & ~impossible
    fixed = cells_of(tables, settings.fixed)
    said = [] if settings.cells is None else list(settings.cells.cells(tables))
    sensitive, fixed = _decided(sensitive, fixed, said)
    contradiction = sensitive & fixed
    if contradiction.any():
        raise SpecError(
            "Some cells are to stay as they are and may not be shown as they are:"
            f" {named(tables, np.flatnonzero(contradiction))}. Do not fix them, or decide that they"
            " are safe."
        )
    down, up = _levels(counts, sensitive, settings, said)
    least, most = _bounds(counts, sensitive, settings, said)
    if settings.small is SmallCounts.AVOID:
        least, down, up = _without_small(counts, sensitive, settings.minimum, (least, down, up))
    stays = fixed | (_kept(tables, settings.keep) & ~sensitive)
    stays |= impossible
    if settings.zeros is Zeros.KEEP:
        stays |= (counts == 0) & ~sensitive
    least[stays], most[stays] = 0, 0
    _check_bounds(tables, least, most)
    return Requirements(
        counts=counts,
        least=least,
        most=most,
        sensitive=sensitive,
        down=np.where(sensitive, down, 0),
        up=np.where(sensitive, up, 0),
        weight=_weights(tables, counts, settings.weights, said),
    )


def cells_of(tables: LinkedTables, specs: Sequence[TableSpec]) -> Mask:
    """The cells of some tables that also stand in others, such as those that are fixed.

    Raises:
        SpecError: A table has none in common with them.
    """
    for spec in specs:
        if not cells_in_common(tables, [spec]).any():
            titles = ", ".join(table.title for table in tables.specs)
            raise SpecError(
                f"{spec.title!r} has no cell in common with {titles}: nothing of it can stay as it"
                " is. Name levels and totals that are shown."
            )
    return cells_in_common(tables, specs)


def cells_in_common(tables: LinkedTables, specs: Sequence[TableSpec]) -> Mask:
    """The cells of some tables that also stand in others."""
    chosen = np.zeros(tables.size, dtype=bool)
    if not specs:
        return chosen
    known = {pair: at for at, pair in enumerate(map(tuple, tables.hashes.tolist()))}
    for spec in specs:
        pairs = map(tuple, cell_hashes(spec).tolist())
        chosen[[known[pair] for pair in pairs if pair in known]] = True
    return chosen


def _decided(sensitive: Mask, fixed: Mask, said: _Said) -> tuple[Mask, Mask]:
    """Which cells must change and which must not, by rules and by what is said of single ones."""
    sensitive, fixed = sensitive.copy(), fixed.copy()
    for cell, line in said:
        if line.status is not None:
            sensitive[cell] = line.status is CellStatus.SENSITIVE
            fixed[cell] |= line.status is CellStatus.FIXED
    return sensitive, fixed


def _levels(
    counts: Int64, sensitive: Mask, settings: ProtectionSettings, said: _Said
) -> tuple[Int64, Int64]:
    """How far sensitive cells go down and up at least.

    Where nothing is said, a small count goes to 0 or to the minimum, any other as far as the
    minimum is.
    """
    small = counts < settings.minimum
    far = np.full(counts.size, max(settings.minimum, 1), dtype=np.int64)
    down = np.where(small, np.maximum(counts, 1), far)
    up = np.where(small, np.maximum(settings.minimum - counts, 1), far)
    if settings.lower_protection is not None:
        down = np.full(counts.size, settings.lower_protection, dtype=np.int64)
    if settings.upper_protection is not None:
        up = np.full(counts.size, settings.upper_protection, dtype=np.int64)
    for cell, line in said:
        if line.lower_protection is not None:
            down[cell] = line.lower_protection
        if line.upper_protection is not None:
            up[cell] = line.upper_protection
    return down, up


def _bounds(
    counts: Int64, sensitive: Mask, settings: ProtectionSettings, said: _Said
) -> tuple[Int64, Int64]:
    """The lowest and the highest change of each cell."""
    least, most = -counts, np.full(counts.size, _NO_BOUND, dtype=np.int64)
    share = settings.largest_change
    if share is not None:
        # Whole numbers: a float would let a cell move by one more or one less.
        limit = np.array(
            [int(count) * share.numerator // share.denominator for count in counts.tolist()],
            dtype=np.int64,
        )
        bound = np.where(sensitive, _NO_BOUND, limit)
        least, most = np.maximum(least, -bound), np.minimum(most, bound)
    for cell, line in said:
        if line.lower is not None:
            least[cell] = line.lower - counts[cell]
        if line.upper is not None:
            most[cell] = line.upper - counts[cell]
    return least, most


def _without_small(
    counts: Int64, sensitive: Mask, minimum: int, levels: tuple[Int64, Int64, Int64]
) -> tuple[Int64, Int64, Int64]:
    """Bounds and protection levels that lead to no count from 1 to below the minimum.

    A cell goes down to 0 or to the minimum, whichever it reaches; one that is not sensitive does
    not fall below the minimum.
    """
    least, down, up = levels
    large = counts >= minimum
    # A sensitive cell that is far above the minimum stays there; any other can only become empty.
    above = large & (~sensitive | (counts - down >= minimum))
    least = np.where(above, np.maximum(least, minimum - counts), least)
    emptied = sensitive & ~above
    down = np.where(emptied, np.maximum(down, counts), down)
    up = np.where(sensitive & ~large, np.maximum(up, minimum - counts), up)
    return least, down, up


def _kept(tables: LinkedTables, keep: Kept) -> Mask:
    """Totals that stay as they are."""
    kept = np.zeros(tables.size, dtype=bool)
    if keep is Kept.NOTHING:
        return kept
    sums = tables.equations
    kept[sums.columns[sums.values < 0]] = True
    if keep is Kept.TOTAL:
        kept[sums.columns[sums.values > 0]] = False
    return kept & tables.published


def _check_bounds(tables: LinkedTables, least: Int64, most: Int64) -> None:
    outside = (least > 0) | (most < 0)
    if outside.any():
        raise SpecError(
            "Bounds leave out what was counted, so that every number would have to change:"
            f" {named(tables, np.flatnonzero(outside))}. Widen them, or say that the cells are"
            " sensitive and how far they are to be moved."
        )


def _weights(tables: LinkedTables, counts: Int64, weights: Weights, said: _Said) -> Int64:
    """What one unit of change costs in each cell, in whole numbers; nothing where nobody sees it.

    A file's weights stand beside those of the other cells as they are written: beside equal ones
    a weight of 2 is twice as dear.
    """
    named_weights = {cell: line.weight for cell, line in said if line.weight is not None}
    if weights is Weights.EQUAL and not named_weights:
        return tables.published.astype(np.int64)
    size = np.maximum(counts, 1).astype(np.float64)
    dear = {Weights.EQUAL: np.ones(counts.size), Weights.INVERSE: 1 / size, Weights.VALUE: size}
    cost = dear[weights].copy()
    for cell, weight in named_weights.items():
        cost[cell] = float(weight)
    largest = float(cost[tables.published].max(initial=1.0))
    whole = np.maximum(np.round(cost / largest * WEIGHTS), 1).astype(np.int64)
    return np.where(tables.published, whole, 0)
