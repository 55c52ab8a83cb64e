"""How often things occur in the demo country: ``data/shares_*.toml``, and the kinds of its people.

Shares say for each condition how often each category occurs; numbers are ages, chances and sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.demo.documents.questionnaire import data_table
from sdcensus.demo.words import Shares

Numbers: TypeAlias = npt.NDArray[np.int64]

PRIVATE, INSTITUTION, HOMELESS = range(3)

#: What a private household is made of.
ALONE, COUPLE, COUPLE_CHILDREN, LONE_MOTHER, LONE_FATHER = range(5)
COUPLE_OTHERS, MOTHER_OTHERS, GENERATIONS, NO_FAMILY = range(5, 9)

#: Who somebody is in a household.
HEAD, PARTNER, CHILD, SECOND_PARENT, SECOND_PARTNER = range(5)
GRANDCHILD, OTHER, RESIDENT, WITHOUT_HOME = range(5, 9)

#: Kinds of couples.
MARRIED, CONSENSUAL, MARRIED_SAME, CONSENSUAL_SAME = range(4)

#: Kinds of members outside the family.
PARENT, SIBLING, LONE_GRANDCHILD, NEPHEW, RELATIVE, LODGER, DOMESTIC = range(7)

#: Kinds of institutions, in the order of their living quarters.
HOTEL, ELDERLY, PRISON, BARRACKS, STUDENTS, CONVENT, CHILDREN = range(7)

#: Classes of work: public service, schools and health, managers, farms, trades, homes, others.
PUBLIC, SCHOOLS_HEALTH, MANAGERS, FARMS, TRADES, HOMES, REST = range(7)

#: Years between the head and a parent, sibling, grandchild, nephew: lowest, and how many follow.
YEARS_APART = {PARENT: (18, 23), SIBLING: (-14, 29), LONE_GRANDCHILD: (38, 26), NEPHEW: (12, 28)}
#: Men among parents of the head, lodgers and domestic workers, per million.
MEN_BY_KIND = {PARENT: 240_000, LODGER: 590_000, DOMESTIC: 80_000}


@cache
def _entries() -> dict[str, Any]:
    tables = [data_table(f"shares_{topic}") for topic in ("households", "housing", "people")]
    return {name: entry for table in tables for name, entry in table.items()}


@cache
def shares_of(name: str) -> Shares:
    """How often each category occurs, under each condition."""
    return Shares(_entries()[name])


@cache
def numbers_of(name: str) -> Numbers:
    """The numbers of a table."""
    return np.array(_entries()[name])


def number_of(name: str) -> int:
    """A number by its name."""
    return int(_entries()[name])


def not_stated() -> Mapping[str, int]:
    """Answers that are missing, per million of those who were asked, by variable."""
    rates: Mapping[str, int] = _entries()["not_stated"]
    return rates


def _at_home() -> Numbers:
    """How many of 1000 sons and daughters of an age from 0 to 90 live with their parents."""
    ages, share = _entries()["at_home_ages"], _entries()["at_home"]
    pieces = [
        low + (high - low) * np.arange(end - begin) // (end - begin)
        for (begin, end), (low, high) in zip(pairwise(ages), pairwise(share), strict=True)
    ]
    return np.concatenate([*pieces, [share[-1]]])


@cache
def child_ages(youngest: int) -> Shares:
    """Ages of children at home who are ``youngest`` or older, by the age of the mother from 0."""
    home, fertility, oldest = _at_home(), numbers_of("fertility"), number_of("oldest")
    weights = np.zeros((oldest + 1, home.size), dtype=np.int64)
    for mother in range(oldest + 1):
        births = mother - number_of("first_birth") - np.arange(fertility.size)
        fits = (births >= youngest) & (births < home.size)
        weights[mother, births[fits]] = fertility[fits] * home[births[fits]]
        if not fits.any():
            weights[mother, youngest] = 1
    return Shares(weights)


@cache
def schooling_shares() -> Shares:
    """Levels of education by the wealth of the district, age and sex."""
    levels, wealth = numbers_of("schooling")[None], numbers_of("schooling_by_wealth")
    percent = np.repeat(np.insert(wealth, 1, 100, axis=1), [4, 3, 4], axis=1)
    return Shares(levels * percent[:, None, None, :])


@cache
def activity_shares() -> Shares:
    """Activities by schooling, age and sex."""
    employed, otherwise = numbers_of("employed_by_band"), numbers_of("otherwise_by_band")
    percent = np.stack([employed, *[otherwise] * 5], axis=1)
    return Shares(numbers_of("activity")[None] * percent[:, None, None, :])
