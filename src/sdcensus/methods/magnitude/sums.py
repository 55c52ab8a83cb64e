"""What methods of sums have in common: the sums of a table, and who contributes to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.magnitude.settings import MeasuredBy
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import ContributionNeeds, Contributions
from sdcensus.model.cube.cube import Accumulators
from sdcensus.model.spec.record_sets import digest
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
Array = TypeVar("Array", bound=npt.NDArray[Any])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summed(Confidential):
    """The amount of a table of sums, its sums and its contributions."""

    amount: str
    total: Int64
    contributions: Contributions

    def __repr__(self) -> str:
        return "<Summed: confidential>"

    @property
    def keys(self) -> UInt32:
        """The record keys of the largest contributions."""
        return present(self.contributions.key)


def summed(cells: Accumulators, spec: TableSpec, needs: ContributionNeeds) -> Summed:
    """What a method of sums looks at.

    Raises:
        SpecError: The table was tabulated without what the method needs of its contributions.
    """
    known = cells.contributions
    if spec.amount is None or known is None:
        raise SpecError(_lacks(spec, "contributions"))
    lacking = {
        f"{needs.largest} largest contributions": known.largest < needs.largest,
        "record keys of the largest contributions": needs.keys and known.key is None,
        "smallest and largest contributions": needs.spread and known.lowest is None,
        "contributions without their signs": needs.absolute and known.absolute is None,
    }
    for what, missing in lacking.items():
        if missing:
            raise SpecError(_lacks(spec, what))
    return Summed(spec.amount.name, cells.sum_of(spec.amount.name), known)


def _lacks(spec: TableSpec, what: str) -> str:
    return (
        f"{spec.title}: the table was tabulated without its {what}, which the method needs."
        " Tabulate it by its measure, such as sum(income), with what the method asks for:"
        " contributions=method.needs_contributions."
    )


def present(array: Array | None) -> Array:
    """An array that was found to be there."""
    if array is None:
        raise TypeError("The contributions lack what the method needs.")
    return array


def amount_digest(amount: str, *, weighted: bool = False) -> int:
    """What an amount adds to the definition of a cell: sums of two amounts have two noises.

    A weighted sum is another question than the plain one. With one noise for both, who knows the
    weights could take it off: of two contributors, the difference is what the second one has.
    """
    return int(digest([amount, *(["weighted"] if weighted else [])], b"amount", 1)[0])


def sizes_of(measured_by: MeasuredBy, cells: Summed) -> Int64:
    """By what the noise of each sum is measured, one more axis behind the cells."""
    total, known = cells.total, cells.contributions
    if measured_by is MeasuredBy.TOP:
        return known.amount
    if measured_by is MeasuredBy.SUM:
        return total[..., np.newaxis]
    if measured_by is MeasuredBy.MEAN:
        contributors = np.maximum(known.contributors, 1)
        # Rounded, and never 0 where somebody contributes.
        mean: Int64 = np.maximum((present(known.absolute) + contributors // 2) // contributors, 1)
        return mean[..., np.newaxis]
    highest = present(known.highest)
    spread = highest - present(known.lowest)
    return np.where(spread == 0, np.abs(highest), spread)[..., np.newaxis]
