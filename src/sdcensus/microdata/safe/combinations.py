"""Combinations of the listed variables that occur, and the units that have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.imputation.variables import mixed_classes
from sdcensus.microdata.method import Draws
from sdcensus.microdata.safe.variables import ListedVariables, spelled
from sdcensus.model.confidential import Confidential
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Counter of the draws by which units of a combination stand in order.
_ORDER = 1
#: How many groups of codes a message names.
_MOST_NAMED = 10
#: How many codes it names of a class.
_MOST_CODES = 3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Combinations(Confidential):
    """The combinations that occur, in the order of their codes; those of a block lie together.

    Attributes:
        listed: The listed variables.
        codes: For each combination the code of each of them, as its position at the listed level.
        counts: How many units each combination has.
        blocks: For each combination the number of its block: equal codes of what stays, and equal
            classes of what identities count by.
        rows: The rows of the units: by combination, inside it in a drawn order.
        homes: For each of these units its combination.
    """

    listed: ListedVariables
    codes: Integers
    counts: Int64
    blocks: Int64
    rows: Int64
    homes: Int64

    def __repr__(self) -> str:
        return "<Combinations: confidential>"

    @property
    def starts(self) -> Int64:
        """Where the units of each combination begin, and the last ones end."""
        return np.append(0, np.cumsum(self.counts)).astype(np.int64)

    @property
    def block_starts(self) -> Int64:
        """Where each block begins, and the last one ends."""
        number = int(self.blocks[-1]) + 1 if self.blocks.size else 0
        return np.searchsorted(self.blocks, np.arange(number + 1)).astype(np.int64)

    def small(self, least: int) -> npt.NDArray[np.bool_]:
        """Which combinations have fewer units than that."""
        return np.asarray(self.counts < least)

    def too_small_blocks(self, least: int) -> Int64:
        """Blocks that have fewer units than that: nothing can be done inside them."""
        units = np.bincount(self.blocks, weights=self.counts)
        return np.flatnonzero(units < least)

    def name_of_block(self, block: int) -> str:
        """The codes of what stays, as a message names them."""
        first = int(self.block_starts[block])
        parts = []
        for at, each in enumerate(self.listed.all):
            own = int(self.codes[first, at])
            classes = self.listed.tied.get(each.variable.name)
            named = [own] if classes is None else np.flatnonzero(classes == classes[own]).tolist()
            if at < len(self.listed.fixed) or classes is not None:
                codes = [each.level.codes[code].code for code in named[:_MOST_CODES]]
                more = "/…" if len(named) > _MOST_CODES else ""
                parts.append(f"{spelled(each)} {'/'.join(codes)}{more}")
        return " and ".join(parts)

    def check_blocks(self, least: int) -> None:
        """Refuse blocks that cannot be made safe.

        Raises:
            SpecError: There are some.
        """
        blocks = self.too_small_blocks(least)
        if not blocks.size:
            return
        unit = self.listed.unit
        if not self.listed.fixed and not self.listed.tied:
            raise SpecError(
                f"The census has fewer than {least} {unit.plural}: every combination of codes would"
                " occur too seldom."
            )
        named = [self.name_of_block(int(block)) for block in blocks[:_MOST_NAMED]]
        more = f" and {blocks.size - _MOST_NAMED:,} more" if blocks.size > _MOST_NAMED else ""
        raise SpecError(
            f"These groups have fewer than {least} {unit.plural}, and nobody can leave or join"
            f" them: {'; '.join(named)}{more}. {self._remedy()}"
        )

    def _remedy(self) -> str:
        """What can be done about variables that stay."""
        coarser = []
        bound = [
            each
            for each in self.listed.all
            if each in self.listed.fixed or each.variable.name in self.listed.tied
        ]
        for each in bound:
            levels = [
                level
                for level in each.variable.plain_levels
                if level is not each.level and each.level.refines(level)
            ]
            if levels:
                nearest = max(levels, key=lambda level: len(level.codes))
                coarser.append(f"{each.variable.name}@{nearest.name}")
        names = ", ".join(each.variable.name for each in bound)
        larger = f"List a coarser level ({', '.join(coarser)}), or leave" if coarser else "Leave"
        return f"{larger} one of these out of --variables: {names}."


def combinations_of(
    records: CensusStore, listed: ListedVariables, draws: Draws | None
) -> Combinations:
    """Count the combinations that occur.

    Args:
        records: The store.
        listed: The listed variables.
        draws: The draws that put the units of a combination in order; in that of their identity
            without.
    """
    unit, rows = listed.unit, records.rows(listed.unit)
    columns = [each.codes(records, unit) for each in listed.all]
    sizes = [len(each.level.codes) for each in listed.all]
    own = list(zip(columns, sizes, strict=True))
    fixed = len(listed.fixed)
    tied = [
        (listed.tied[each.variable.name][codes], size)
        for each, (codes, size) in zip(listed.all, own, strict=True)
        if each.variable.name in listed.tied
    ]
    numbers = mixed_classes([*own[:fixed], *tied, *own[fixed:]], rows)
    digests = records.digests(unit)
    words = digests if draws is None else draws.words(digests, _ORDER)
    order = np.lexsort((digests, words, numbers))
    ordered = numbers[order]
    is_first = np.ones(rows, dtype=bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    firsts = np.flatnonzero(is_first)
    homes = np.cumsum(is_first) - 1
    codes = np.stack([column[order[firsts]] for column in columns], axis=1).astype(np.int32)
    return Combinations(
        listed=listed,
        codes=codes,
        counts=np.diff(np.append(firsts, rows)).astype(np.int64),
        blocks=_blocks(listed, codes),
        rows=order.astype(np.int64),
        homes=homes.astype(np.int64),
    )


def _blocks(listed: ListedVariables, codes: Integers) -> Int64:
    """For each combination the number of its block; they are sorted by what stays."""
    if not codes.shape[0]:
        return np.zeros(0, dtype=np.int64)
    names = [each.variable.name for each in listed.all]
    kept = [codes[:, at] for at in range(len(listed.fixed))]
    kept += [
        listed.tied[name][codes[:, at]] for at, name in enumerate(names) if name in listed.tied
    ]
    differs = np.zeros(codes.shape[0] - 1, dtype=bool)
    for column in kept:
        differs |= column[1:] != column[:-1]
    return np.append(0, np.cumsum(differs)).astype(np.int64)


def neighbour_orders(
    found: Combinations, profiles: Int64, most: int
) -> tuple[Integers, tuple[int, ...]]:
    """Combinations in several orders, each sorted by one free variable last.

    Neighbours in such an order often differ in that variable alone. Where rules matter there are
    two for each variable; in the second one combinations lie together that units can go between.

    Args:
        found: The combinations.
        profiles: For each combination by which rules units may come.
        most: For how many variables there are orders at most.

    Returns:
        The orders, and for each the place of its last variable among the listed ones.
    """
    fixed, width = len(found.listed.fixed), len(found.listed.all)
    free = list(range(fixed, width))
    orders, lasts = [], []
    for last in free[-most:]:
        # The others begin behind the last one, so that each of them leads now and then.
        turned = [at for at in free if at > last] + [at for at in free if at < last]
        for first in (np.zeros_like(profiles), profiles) if profiles.any() else (profiles,):
            orders.append(_sorted_by(found, first, [*turned, last]))
            lasts.append(last)
    return np.stack(orders).astype(np.int32), tuple(lasts)


def _sorted_by(found: Combinations, profiles: Int64, columns: Sequence[int]) -> Int64:
    sizes = [len(each.level.codes) for each in found.listed.all]
    keys = [(each, int(each.max(initial=0)) + 1) for each in (found.blocks, profiles)]
    keys += [(found.codes[:, at].astype(np.int64), sizes[at]) for at in columns]
    return np.argsort(mixed_classes(keys, found.blocks.size), kind="stable").astype(np.int64)
