"""How strongly two variables seem related: in the census, as the file tells them, in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.pairs import two_way_table
from sdcensus.model.confidential import Confidential
from sdcensus.utility.association import weighted_cramers_v

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
#: Two-way tables with more cells are not made: nobody could read them.
MOST_CELLS = 4_000_000


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class PairChange(Confidential):
    """Cramér's V of two variables at each station on the way from the census to the file.

    Attributes:
        names: The two variables.
        census: With the codes of the census; ``None`` where it has no meaning, or where the
            two-way table would be too large.
        recoded: The whole census with the codes of the file.
        sample: The sample, weighted, before its records were changed.
        file: The file as it goes out, weighted.
        total_variation: The distance of the two-way distributions of ``recoded`` and ``file``.
    """

    names: tuple[str, str]
    census: float | None
    recoded: float | None
    sample: float | None
    file: float | None
    total_variation: float

    def __repr__(self) -> str:
        return f"<PairChange of {self.names[0]} and {self.names[1]}: confidential>"

    @property
    def by_recodes(self) -> float | None:
        """What recodes change."""
        return _difference(self.census, self.recoded)

    @property
    def by_sampling(self) -> float | None:
        """What the sample changes."""
        return _difference(self.recoded, self.sample)

    @property
    def by_changes(self) -> float | None:
        """What suppression, swapping and other changes of records change."""
        return _difference(self.sample, self.file)

    @property
    def change(self) -> float | None:
        """The file against the census with the same codes."""
        return _difference(self.recoded, self.file)


def _difference(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairColumns(Confidential):
    """Two columns of the same records, with their numbers of codes and their weights.

    Records without one of the two (a person without a household) have -1 there.
    """

    first: Integers
    second: Integers
    sizes: tuple[int, int]
    weights: Float64 | None = None

    def __repr__(self) -> str:
        return "<PairColumns: confidential>"

    def table(self) -> Float64 | None:
        """The weighted two-way table; ``None`` where it would be too large."""
        if self.sizes[0] * self.sizes[1] > MOST_CELLS:
            return None
        return two_way_table(self.first, self.second, self.sizes, self.weights)


def grouped_table(
    table: Float64, groups: tuple[Integers, Integers], sizes: tuple[int, int]
) -> Float64:
    """A two-way table with coarser codes.

    Args:
        table: With fine codes.
        groups: For each fine code of both variables its coarser one.
        sizes: How many coarser codes there are of each.

    Examples:
        >>> fine = np.array([[1.0, 2.0], [3.0, 4.0]])
        >>> grouped_table(fine, (np.array([0, 0]), np.array([0, 1])), (1, 2))
        array([[4., 6.]])
    """
    rows, columns = (np.asarray(group, dtype=np.int64) for group in groups)
    cells = rows[:, None] * sizes[1] + columns[None, :]
    sums = np.bincount(cells.ravel(), weights=table.ravel(), minlength=sizes[0] * sizes[1])
    return sums.astype(np.float64).reshape(sizes)


def pair_change(
    names: tuple[str, str],
    *,
    census: Float64 | None,
    recoded: Float64,
    sample: Float64,
    file: Float64,
) -> PairChange:
    """The association of two variables at the four stations.

    Args:
        names: The two variables.
        census: The two-way table with the codes of the census; the next one where they are those
            of the file, and ``None`` where it would be too large.
        recoded: That of all records of the census with the codes of the file.
        sample: That of the sampled records before they were changed.
        file: That of the same as they go out; the one before where nothing was changed.
    """
    total, published = float(recoded.sum()), float(file.sum())
    apart = (
        0.5 * float(np.abs(recoded / total - file / published).sum())
        if total > 0 and published > 0
        else 1.0
    )
    of_census = weighted_cramers_v(recoded).value
    of_sample = weighted_cramers_v(sample).value
    finest = of_census
    if census is not recoded:
        finest = None if census is None else weighted_cramers_v(census).value
    return PairChange(
        names=names,
        census=finest,
        recoded=of_census,
        sample=of_sample,
        file=of_sample if file is sample else weighted_cramers_v(file).value,
        total_variation=apart,
    )
