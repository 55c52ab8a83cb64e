"""Uniques with missing values straight from the definitions, slowly, in fractions."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn

#: A value: a code, ``MISSING``, or a pair that says that it is not applicable.
Value = object
Key = tuple[Value, ...]
MISSING = "?"


@dataclass(frozen=True)
class NotApplicable:
    """A value that says that there is none."""

    code: int = 0


@dataclass(frozen=True)
class Plain:
    """What methods 9.3 defines, and each cell's (f, F, f*, F*)."""

    sample_uniques: int
    sample_uniques_confounded: int
    population_uniques: int
    population_uniques_confounded: int
    not_anonymous: int
    expected_matches: Fraction
    global_risk: Fraction
    cells: dict[Key, tuple[int, int, Fraction, Fraction]]


def has_gaps(cell: Key) -> bool:
    """Whether a key is missing, of a record or of a member of a household."""
    return any(value == MISSING or (isinstance(value, tuple) and has_gaps(value)) for value in cell)


def may_be(gap: Key, cell: Key) -> bool:
    """Whether a record that does not state everything may be one that does."""
    return all(
        not isinstance(value, NotApplicable) if wanted == MISSING else value == wanted
        for value, wanted in zip(cell, gap, strict=True)
    )


def plain_uniques(
    population: Sequence[Key],
    sample: Sequence[Key],
    k: int,
    may_be: Callable[[Key, Key], bool] = may_be,
) -> Plain:
    """SU, PU, K, E, R with records that do not state all keys."""
    big, small = Counter(population), Counter(sample)
    complete = [cell for cell in big if not has_gaps(cell)]
    gaps = [cell for cell in small if has_gaps(cell)]
    fits = {gap: [cell for cell in complete if may_be(gap, cell)] for gap in gaps}
    stars: dict[Key, tuple[Fraction, Fraction]] = {}
    for gap in gaps:
        stars[gap] = (
            Fraction(small[gap] + sum(small[cell] for cell in fits[gap])),
            Fraction(big[gap] + sum(big[cell] for cell in fits[gap])),
        )
    for cell in small:
        if has_gaps(cell):
            continue
        share = Fraction(0)
        for gap in gaps:
            total = sum(small[each] for each in fits[gap])
            if cell in fits[gap] and total:
                share += Fraction(small[cell] * small[gap], total)
        stars[cell] = (small[cell] + share, big[cell] + share)
    alone = [cell for cell in small if (stars[cell][0] if has_gaps(cell) else small[cell]) == 1]
    lonely = [cell for cell in small if (stars[cell][1] if has_gaps(cell) else big[cell]) == 1]
    return Plain(
        sample_uniques=len(alone),
        sample_uniques_confounded=sum(stars[cell][0] > 1 for cell in alone),
        population_uniques=len(lonely),
        population_uniques_confounded=sum(stars[cell][1] > 1 for cell in lonely),
        not_anonymous=sum(small[cell] for cell in small if stars[cell][1] < k),
        expected_matches=sum((1 / stars[cell][1] for cell in alone), Fraction(0)),
        global_risk=sum((small[cell] / stars[cell][1] for cell in small), Fraction(0)),
        cells={cell: (small[cell], big[cell], *stars[cell]) for cell in small},
    )


def key_values(columns: Sequence[KeyColumn], *, category: bool = False) -> list[Key]:
    """The keys of each record; every code is a value of its own if missing is a category."""

    def value(column: KeyColumn, code: int) -> Value:
        kind = column.kinds[code]
        if kind is CodeKind.VALID or category:
            return code
        return MISSING if kind is CodeKind.NOT_STATED else NotApplicable(code)

    by_key = [[value(column, code) for code in column.values.tolist()] for column in columns]
    return list(zip(*by_key, strict=True))


def taken(keys: Sequence[Key], sampled: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[Key]:
    """The keys of the records that are in the file."""
    return list(itertools.compress(keys, sampled.tolist()))
