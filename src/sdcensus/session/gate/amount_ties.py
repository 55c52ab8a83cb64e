"""Amounts that tell each other, and amounts of both signs: both decide how far noise protects sums.

Sums of two amounts have noise of their own. Where one amount is a copy, a fixed share or the sum of
others (income by month and by year, wages and all income), tables of one are further looks at the
other. Found in the records, at design time; what is said of it names amounts only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.session.census.census import Census
from sdcensus.store.census_store import RecordSource

Float64 = npt.NDArray[np.float64]

#: About how many records are compared, evenly over the census.
COMPARED = 200_000
#: Amounts are tied if of at least so many records this share agrees so nearly.
FEWEST, SHARE, NEAR = 10, 0.9, 0.01
_ROWS = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class AmountFacts(Confidential):
    """What the records say about some amounts.

    Attributes:
        tied: For each amount those that tell it, itself among them; amounts of one kind of unit.
        both_signs: Amounts of which some are above and some below 0.
    """

    tied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    both_signs: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return "<AmountFacts: confidential>"

    def group(self, amount: str) -> tuple[str, ...]:
        """An amount with those that tell it."""
        return self.tied.get(amount, (amount,))


def amount_facts(census: Census, names: Sequence[str]) -> AmountFacts:
    """Look at the records of some amounts; nothing is known where only an engine can read them."""
    records = census.records
    if records is None:
        return AmountFacts()
    tied: dict[str, tuple[str, ...]] = {}
    both_signs: set[str] = set()
    by_units: dict[Entity, list[Variable]] = {}
    for name in dict.fromkeys(names):
        variable = census.schema.variable(name)
        by_units.setdefault(variable.entity, []).append(variable)
    for of, amounts in by_units.items():
        both_signs |= {each.name for each in amounts if _has_both_signs(records, of, each)}
        columns = {each.name: _compared(records, of, each) for each in amounts}
        for group in _groups(columns):
            tied |= dict.fromkeys(group, group)
    return AmountFacts(tied, frozenset(both_signs))


def _has_both_signs(records: RecordSource, of: Entity, amount: Variable) -> bool:
    column, rows = records.values(of, amount).without_blanks(NO_VALUE), records.rows(of)
    below = above = False
    for start in range(0, rows, _ROWS):
        values = column[start : min(start + _ROWS, rows)]
        below, above = below or bool((values < 0).any()), above or bool((values > 0).any())
    return below and above


def _compared(records: RecordSource, of: Entity, amount: Variable) -> Float64:
    """An amount of records that lie evenly over the census; 0 where there is none."""
    rows = records.rows(of)
    at = np.arange(0, rows, max(rows // COMPARED, 1))
    return records.values(of, amount).without_blanks(NO_VALUE)[at].astype(np.float64)


def _groups(columns: Mapping[str, Float64]) -> list[tuple[str, ...]]:
    """Amounts that are tied to one another, directly or through others."""
    group = {name: {name} for name in columns}

    def join(*names: str) -> None:
        whole = set().union(*(group[name] for name in names))
        for name in whole:
            group[name] = whole

    for first, second in itertools.combinations(columns, 2):
        if _is_share(columns[first], columns[second]):
            join(first, second)
    for whole in columns:
        for parts in itertools.combinations([name for name in columns if name != whole], 2):
            if _is_share(columns[whole], columns[parts[0]] + columns[parts[1]], of_one=True):
                join(whole, *parts)
    order = list(columns)
    found = {tuple(sorted(names, key=order.index)) for names in group.values() if len(names) > 1}
    return sorted(found)


def _is_share(first: Float64, second: Float64, *, of_one: bool = False) -> bool:
    """Whether one amount is the same share of another for nearly all who have both."""
    both = (first != 0) & (second != 0)
    if both.sum() < FEWEST:
        return False
    shares = first[both] / second[both]
    usual = 1.0 if of_one else float(np.median(shares))
    return bool((np.abs(shares - usual) <= NEAR * abs(usual)).mean() >= SHARE)
