"""How strongly two variables seem related: in the census, as the file tells them, in the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.utility.association import weighted_cramers_v

Integers = npt.NDArray[Any]
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
    weights: Integers | None = None

    def __repr__(self) -> str:
        return "<PairColumns: confidential>"

    def table(self) -> npt.NDArray[np.float64] | None:
        """The weighted two-way table; ``None`` where it would be too large."""
        rows, columns = self.sizes
        if rows * columns > MOST_CELLS:
            return None
        first, second = self.first.astype(np.int64), self.second.astype(np.int64)
        weights = self.weights
        both = (first >= 0) & (second >= 0)
        if not both.all():
            first, second = first[both], second[both]
            weights = None if weights is None else weights[both]
        cells = np.bincount(first * columns + second, weights=weights, minlength=rows * columns)
        return cells.astype(np.float64).reshape(rows, columns)


def pair_change(
    names: tuple[str, str],
    *,
    census: PairColumns | None,
    recoded: PairColumns,
    sample: PairColumns,
    file: PairColumns,
) -> PairChange | None:
    """The association of two variables at the four stations; ``None`` where it is too large.

    Args:
        names: The two variables.
        census: Codes of the census; ``None`` where they are those of the file.
        recoded: All records of the census with the codes of the file.
        sample: The sampled records before they were changed.
        file: The same as they go out.
    """
    tables = [columns.table() for columns in (recoded, sample, file)]
    whole, before, after = tables
    if whole is None or before is None or after is None:
        return None
    finest = whole if census is None else census.table()
    total, published = float(whole.sum()), float(after.sum())
    apart = (
        0.5 * float(np.abs(whole / total - after / published).sum())
        if total > 0 and published > 0
        else 1.0
    )
    return PairChange(
        names=names,
        census=None if finest is None else weighted_cramers_v(finest).value,
        recoded=weighted_cramers_v(whole).value,
        sample=weighted_cramers_v(before).value,
        file=weighted_cramers_v(after).value,
        total_variation=apart,
    )
