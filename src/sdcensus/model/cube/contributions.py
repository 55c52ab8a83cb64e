"""Who stands behind the cells of a sum: the largest contributions, and how many there are.

Everything here is confidential: a contribution is what one person or one holding said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields as fields_of_class
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]

#: How many of the largest contributions can be kept.
MOST_LARGEST = 6

#: Names of accumulators over the contributors of a cell.
CONTRIBUTORS, CONTRIBUTOR_KEY = "contributors", "contributor_key"
LOWEST, HIGHEST, ABSOLUTE = "lowest", "highest", "absolute"
#: Lists are called by what an entry has: ``largest:amount+key``.
LARGEST, BY_AMOUNT = "largest:", "by_amount:"
#: The extremes as they are told, 0 where nobody contributes: columns of this name.
SPREAD = "spread:"
AMOUNT, ENTRY_WEIGHT, ENTRY_KEY, WAIVED = "amount", "weight", "key", "waived"

_EXTREMES = frozenset({LOWEST, HIGHEST})
#: The fields of entries.
_OF_ENTRIES = frozenset({AMOUNT, ENTRY_WEIGHT, ENTRY_KEY, WAIVED})
#: Between a list and a field of its entries, where a list is given column by column.
_COLUMN = "."

#: The type of each accumulator while it is combined.
CONTRIBUTION_TYPES: Mapping[str, npt.DTypeLike] = {
    CONTRIBUTORS: np.int64,
    CONTRIBUTOR_KEY: np.uint64,
    LOWEST: np.int64,
    HIGHEST: np.int64,
    ABSOLUTE: np.int64,
}


def is_list(name: str) -> bool:
    """Whether an accumulator is a list of largest contributions."""
    return name.startswith((LARGEST, BY_AMOUNT))


def entry_fields(name: str) -> tuple[str, ...]:
    """What an entry of a list has.

    Examples:
        >>> entry_fields("largest:amount+key")
        ('amount', 'key')
    """
    return tuple(name.partition(":")[2].split("+"))


def column_name(name: str, field: str) -> str:
    """What a field of the entries of a list is called, where it is an array of its own.

    Examples:
        >>> column_name("largest:amount+key", "key")
        'largest.key'
    """
    return f"{name.partition(':')[0]}{_COLUMN}{field}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContributionNeeds:
    """What is kept of the contributions to the cells of a sum.

    Attributes:
        largest: How many of the largest, 6 at most.
        keys: The record keys of the largest.
        waivers: Which of the largest agreed to be shown.
        spread: The smallest and the largest contribution with its sign.
        absolute: The sum of contributions without their signs.
    """

    largest: int = MOST_LARGEST
    keys: bool = True
    waivers: bool = True
    spread: bool = True
    absolute: bool = True

    def __post_init__(self) -> None:
        if not 0 <= self.largest <= MOST_LARGEST:
            raise SpecError(f"Of contributions, 0 to {MOST_LARGEST} of the largest can be kept.")


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Contributions(Confidential):
    """The contributions to each cell of a sum.

    A contributor has an amount that is neither missing nor 0. In a weighted sum the contribution
    is the amount times the weight, rounded half away from zero to the decimals of the amount.

    Attributes:
        amount: The largest contributions, one more axis behind those of the cells; the largest
            without its sign first, 0 where there are fewer.
        contributors: How many contribute.
        contributor_key: The record keys of the contributors, combined in the key space.
        key: The record key of each of the largest.
        waived: Whether each of the largest agreed to be shown.
        lowest, highest: The smallest and the largest contribution with its sign; 0 where nobody
            contributes.
        absolute: The sum of contributions without their signs.
        weight: The weight of each of the largest, in ``by_amount``.
        by_amount: For a weighted sum, the largest amounts as they are, with their weights beside
            them: for rules that count a contribution as often as its weight says.
    """

    amount: Int64
    contributors: Int64
    contributor_key: UInt32
    weight: Int64 | None = None
    key: UInt32 | None = None
    waived: Mask | None = None
    lowest: Int64 | None = None
    highest: Int64 | None = None
    absolute: Int64 | None = None
    by_amount: Contributions | None = None

    def __post_init__(self) -> None:
        for field in fields_of_class(self):
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __repr__(self) -> str:
        return "<Contributions: confidential>"

    @property
    def largest(self) -> int:
        """How many of the largest are kept."""
        return int(self.amount.shape[-1])

    def shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Name of everything that is held, and the shape of the cells in it."""
        for field in fields_of_class(self):
            array = getattr(self, field.name)
            if isinstance(array, np.ndarray):
                # Lists have one more axis.
                yield field.name, array.shape[: array.ndim - (field.name in _OF_ENTRIES)]
        if self.by_amount is not None:
            yield from self.by_amount.shapes()

    def items(self) -> Iterator[tuple[str, Integers]]:
        """Name and array of each accumulator, as they can be combined."""
        yield CONTRIBUTORS, self.contributors
        yield CONTRIBUTOR_KEY, self.contributor_key
        if self.lowest is not None and self.highest is not None:
            nobody, limits = self.contributors == 0, np.iinfo(np.int64)
            yield LOWEST, np.where(nobody, limits.max, self.lowest)
            yield HIGHEST, np.where(nobody, limits.min, self.highest)
        if self.absolute is not None:
            yield ABSOLUTE, self.absolute
        if self.largest:
            yield self._list(LARGEST)
        if self.by_amount is not None:
            yield self.by_amount._list(BY_AMOUNT)

    def _list(self, prefix: str) -> tuple[str, Int64]:
        """The list as one array, entry after entry."""
        entries = {
            AMOUNT: self.amount,
            ENTRY_WEIGHT: self.weight,
            ENTRY_KEY: self.key,
            WAIVED: self.waived,
        }
        present = {name: array for name, array in entries.items() if array is not None}
        columns = [array.astype(np.int64) for array in present.values()]
        lists = columns[0] if len(columns) == 1 else np.stack(columns, axis=-1)
        shape = (*self.amount.shape[:-1], self.largest * len(present))
        return f"{prefix}{'+'.join(present)}", lists.reshape(shape)

    def map(self, change: Callable[[Integers], Integers]) -> Contributions:
        """The same contributions with every array changed alike."""
        arrays = {name: change(array) for name, array in self.items()}
        return contributions_of(arrays)


def contributions_of(arrays: Mapping[str, Integers]) -> Contributions:
    """Contributions from accumulators by name; keys are those of the key space by now.

    A list comes as one array, as it is combined, or column by column; so do the extremes.
    """
    contributors = arrays[CONTRIBUTORS]
    shared: dict[str, Any] = {
        "contributors": contributors,
        "contributor_key": arrays[CONTRIBUTOR_KEY],
    }
    extremes = {
        name: np.where(contributors > 0, arrays[name], 0) for name in _EXTREMES & arrays.keys()
    }
    lists: dict[str, dict[str, Any]] = {SPREAD: extremes}
    for name, array in arrays.items():
        prefix, column, field = name.partition(_COLUMN)
        if is_list(name):
            lists[name.partition(":")[0] + ":"] = _entries(name, array)
        elif column:
            lists.setdefault(f"{prefix}:", {})[field] = array
    nothing = {AMOUNT: np.zeros((*contributors.shape, 0), dtype=np.int64)}
    by_amount = lists.get(BY_AMOUNT)
    return Contributions(
        **shared,
        **lists.get(LARGEST, nothing),
        **lists[SPREAD],
        absolute=arrays.get(ABSOLUTE),
        by_amount=None if by_amount is None else Contributions(**shared, **by_amount),
    )


def _entries(name: str, lists: Integers) -> dict[str, Any]:
    names = entry_fields(name)
    parts: dict[str, Any] = {}
    for at, field in enumerate(names):
        column = lists[..., at :: len(names)]
        if field == ENTRY_KEY:
            column = column.astype(np.uint32)
        elif field == WAIVED:
            column = column.astype(bool)
        parts[field] = column
    return parts
