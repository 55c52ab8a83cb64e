"""Small cells that are published as they are: what is left for an intruder who trusts a table.

The measure of the study of the Office for National Statistics (ONS) for the census of 2011, with
one denominator at a time: cells among cells, or records among records. The study divides records
by cells, which can exceed 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, counts_of_values, pair_of, pair_of_values
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import AnyTable

Int64 = npt.NDArray[np.int64]

#: Cells with 1 to so many records are small.
SMALL = 2


@dataclass(frozen=True, slots=True, repr=False)
class Unperturbed(Confidential):
    """Small cells, and those of them that are published as they are.

    Numbers of unchanged cells and records are expected ones, and so may be fractions, where they
    follow from a design.

    Attributes:
        cells: How many cells are small.
        records: How many records are in them.
        unchanged_cells: How many of the cells are published with their true count.
        unchanged_records: How many records are in those.
        withheld_cells: How many of the small cells have no published number; they count as changed.
    """

    cells: int
    records: int
    unchanged_cells: float
    unchanged_records: float
    withheld_cells: int = 0

    def __repr__(self) -> str:
        return "<Unperturbed: confidential>"

    @property
    def share_of_cells(self) -> float | None:
        """Unchanged small cells among small cells; ``None`` if no cell is small."""
        return self.unchanged_cells / self.cells if self.cells else None

    @property
    def share_of_records(self) -> float | None:
        """Records of unchanged small cells among those of small cells; ``None`` without any."""
        return self.unchanged_records / self.records if self.records else None


def unperturbed_small(
    counts: npt.ArrayLike,
    published: npt.ArrayLike,
    *,
    small: int = SMALL,
    shown: npt.ArrayLike | None = None,
) -> Unperturbed:
    """How many small cells are published as they are.

    Args:
        counts: True counts of cells.
        published: Their published values, in the same shape.
        small: The largest count of a small cell.
        shown: Which cells have a published number. A small cell that is withheld is not published
            as it is.
    """
    return _unchanged(pair_of_values(counts, published, shown=shown), small)


def unperturbed_small_of(
    cube: AnyCube,
    table: AnyTable,
    *,
    small: int = SMALL,
    part: TablePart | str = TablePart.INTERIOR,
) -> Unperturbed:
    """``unperturbed_small`` of a part of a table: its interior cells unless another is named."""
    pair = pair_of(cube, table, part, counts_only=True)
    return _unchanged(pair, small)


def unperturbed_or_imputed(
    counts: Int64,
    untouched: Int64,
    derived: Int64,
    published: Int64,
    *,
    small: int = SMALL,
    shown: npt.NDArray[np.bool_] | None = None,
) -> Unperturbed:
    """Small cells and their records that are neither perturbed nor imputed.

    A record is untouched if it still stands in its cell with the weight that it had, and none of
    the values that put it there was imputed. Where its cell is changed or withheld afterwards, it
    is perturbed all the same. A cell is unperturbed if all of its records are, and nobody has
    joined them.

    Args:
        counts: True counts of cells.
        untouched: How many of these records are untouched.
        derived: Counts of the records that were tabulated; the true ones where no method changed
            records.
        published: What is published for the cells.
        small: The largest count of a small cell.
        shown: Which cells have a published number.
    """
    few = (counts >= 1) & (counts <= _checked(small))
    visible = np.ones(counts.shape, dtype=bool) if shown is None else shown
    kept = few & visible & (published == derived)
    whole = kept & (untouched == counts) & (derived == counts)
    return Unperturbed(
        int(few.sum()),
        int(counts[few].sum()),
        int(whole.sum()),
        int(untouched[kept].sum()),
        int((few & ~visible).sum()),
    )


def unperturbed_small_expected(
    perturbation: Perturbation, counts: npt.ArrayLike, *, small: int = SMALL
) -> Unperturbed:
    """How many small cells are expected to be published as they are, from the noise alone."""
    true = counts_of_values(counts).true
    sizes = np.arange(1, _checked(small) + 1)
    cells = np.bincount(true[(true >= 1) & (true <= small)], minlength=small + 1)[1:]
    stay = np.array([perturbation.stay(int(size)) for size in sizes])
    return Unperturbed(
        int(cells.sum()),
        int((cells * sizes).sum()),
        float((cells * stay).sum()),
        float((cells * sizes * stay).sum()),
    )


def _unchanged(pair: Pair, small: int) -> Unperturbed:
    largest = _checked(small)
    few = (pair.true >= 1) & (pair.true <= largest)
    hidden = pair.hidden[(pair.hidden >= 1) & (pair.hidden <= largest)]
    same = few & (pair.published == pair.true)
    return Unperturbed(
        int(few.sum()) + hidden.size,
        int(pair.true[few].sum()) + int(hidden.sum()),
        int(same.sum()),
        int(pair.true[same].sum()),
        hidden.size,
    )


def _checked(small: int) -> int:
    if type(small) is not int or small < 1:
        raise SpecError("The largest count of a small cell is a whole number, 1 or more.")
    return small
