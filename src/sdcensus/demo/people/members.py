"""The persons of a household in the demo country: who they are there, their age and their sex.

Ages follow from the head: a partner is of a similar age, children were born when their mother
was of an age to bear them, a parent of the head is a generation older.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.demo.people.households import Households
from sdcensus.demo.people.shares import (
    ALONE,
    CHILD,
    DOMESTIC,
    GENERATIONS,
    GRANDCHILD,
    HEAD,
    HOMELESS,
    INSTITUTION,
    LODGER,
    LONE_FATHER,
    LONE_MOTHER,
    MARRIED_SAME,
    MEN_BY_KIND,
    MOTHER_OTHERS,
    NO_FAMILY,
    OTHER,
    PARENT,
    PARTNER,
    RELATIVE,
    RESIDENT,
    SECOND_PARENT,
    SECOND_PARTNER,
    SIBLING,
    WITHOUT_HOME,
    YEARS_APART,
    child_ages,
    number_of,
    numbers_of,
    shares_of,
)
from sdcensus.demo.words import DemoUnits, Draws, Ints, runs

MALE, FEMALE = range(2)
#: A mother is at least so old when a child is born; a father too.
YOUNGEST_PARENT = 15


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """The persons of some households, household by household.

    ``household`` is the index of the household, ``number`` the number in it, from 0;
    ``other_kind`` is what somebody outside the family is to the head, -1 for everybody else.
    """

    units: DemoUnits
    household: npt.NDArray[np.int64]
    number: Ints
    role: Ints
    other_kind: Ints
    sex: Ints
    age: Ints


def group(age: Ints, ends: npt.NDArray[np.integer]) -> Ints:
    """In which group an age is, when each group ends before the next bound.

    Examples:
        >>> group(np.array([3, 20, 99]), np.array([20, 65]))
        array([0, 1, 2], dtype=int32)
    """
    return np.searchsorted(ends, age, side="right").astype(np.int32)


def make_members(draws: Draws, homes: Households, persons: Ints) -> tuple[Households, Members]:
    """The persons of the households, and the households with the kind of each couple.

    Args:
        draws: The draws of the country.
        homes: The households.
        persons: How many live in each of their districts.
    """
    household = np.repeat(np.arange(len(homes)), homes.size)
    number = runs(homes.size)
    units = DemoUnits(homes.units.ed[household], runs(persons))
    heads = _Heads.of(draws, homes)
    cast = _Cast(draws, homes, heads, units, household, number, _roles(homes, household, number))
    other_kind = cast.other_kinds()
    age = cast.ages(other_kind)
    members = Members(
        units, household, number, cast.role, other_kind, cast.sexes(other_kind, age), age
    )
    return replace(homes, couple=heads.couple), members


def _roles(homes: Households, household: npt.NDArray[np.int64], number: Ints) -> Ints:
    """Head, partner, children, second parents, grandchildren, others: in this order."""
    ends = np.cumsum(
        [
            np.ones(len(homes), np.int32),
            homes.partner,
            homes.children,
            np.minimum(homes.second, 1),
            np.maximum(homes.second - 1, 0),
            homes.grandchildren,
        ],
        axis=0,
    )
    role = np.zeros(household.size, np.int32)
    for end in ends:
        role += number >= end[household]
    kind = homes.kind[household]
    role = np.where(kind == INSTITUTION, RESIDENT, role)
    return np.where(kind == HOMELESS, WITHOUT_HOME, role).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class _Heads:
    """Heads and partners, and the parents of a second family: ages and sexes by household.

    ``mother_age`` is that of the mother of children, ``youngest`` that of their younger parent;
    the same for a second family.
    """

    age: Ints
    sex: Ints
    couple: Ints
    partner_age: Ints
    partner_sex: Ints
    mother_age: Ints
    youngest: Ints
    second_age: Ints
    second_sex: Ints
    second_partner_age: Ints
    second_mother_age: Ints
    second_youngest: Ints

    @classmethod
    def of(cls, draws: Draws, homes: Households) -> _Heads:
        """Draw them."""
        units, has_partner = homes.units, homes.partner > 0
        age = _head_age(draws, homes)
        sex = _head_sex(draws, homes, age)
        couple = draws.choose(
            "couple", units, shares_of("couple_kind"), group(age, numbers_of("couple_ages"))
        )
        couple = np.where(has_partner, couple, -1)
        partner_sex = np.where(couple >= MARRIED_SAME, sex, 1 - sex)
        older = number_of("older_from") + draws.choose("older", units, shares_of("older_by"))
        lowest = np.where(homes.structure == GENERATIONS, 34, 18)
        partner_age = np.clip(
            age - np.where(sex == MALE, older, -older), lowest, number_of("oldest")
        )

        # Without a woman the father's age stands in for the mother's.
        other_is_woman = has_partner & (partner_sex == FEMALE)
        mother = np.where(sex == FEMALE, age, np.maximum(age - 3, 16))
        mother = np.where((sex == MALE) & other_is_woman, partner_age, mother)
        youngest = np.where(has_partner, np.minimum(age, partner_age), age)

        two = homes.second > 1
        second_age = draws.choose("second age", units, child_ages(17), mother)
        second_age = np.clip(second_age, 17, np.maximum(youngest - YOUNGEST_PARENT, 17))
        woman = np.where(two, 500_000, 780_000)
        second_sex = np.where(draws.happens("second woman", units, woman), FEMALE, MALE)
        older = number_of("older_from") + draws.choose("second older", units, shares_of("older_by"))
        second_partner = second_age - np.where(second_sex == MALE, older, -older)
        second_partner = np.clip(second_partner, 17, number_of("oldest"))
        columns = (
            age,
            sex,
            couple,
            partner_age,
            partner_sex,
            mother,
            youngest,
            second_age,
            second_sex,
            second_partner,
            np.where((second_sex == MALE) & two, second_partner, second_age),
            np.where(two, np.minimum(second_age, second_partner), second_age),
        )
        return cls(*(column.astype(np.int32) for column in columns))


def _head_age(draws: Draws, homes: Households) -> Ints:
    five = draws.choose("head age", homes.units, shares_of("head_age"), homes.structure)
    year = _year_in_group(draws, "head year", homes.units, five + 3)
    age = 15 + 5 * five + year
    youngest = np.where(np.isin(homes.structure, (LONE_MOTHER, MOTHER_OTHERS)), 16, 18)
    return np.where(age < youngest, youngest + year % 2, age).astype(np.int32)


def _head_sex(draws: Draws, homes: Households, age: Ints) -> Ints:
    structure = homes.structure
    man = np.where(
        homes.partner > 0, number_of("head_is_man"), number_of("lone_grandparent_is_man")
    )
    alone = np.isin(structure, (ALONE, NO_FAMILY))
    man = np.where(alone, numbers_of("men_alone")[group(age, numbers_of("sex_ages"))], man)
    man = np.where(np.isin(structure, (LONE_MOTHER, MOTHER_OTHERS)), 0, man)
    man = np.where(structure == LONE_FATHER, 1_000_000, man)
    return np.where(draws.happens("head is a man", homes.units, man), MALE, FEMALE)


def _year_in_group(draws: Draws, purpose: str, units: DemoUnits, five: Ints) -> Ints:
    """The year within a group of five years, counted from birth."""
    steepness = np.where(five >= 17, 2, np.where(five >= 14, 1, 0))
    return draws.choose(purpose, units, shares_of("year_in_group"), steepness)


@dataclass(frozen=True, slots=True, eq=False)
class _Cast:
    """The persons of the households before they have an age and a sex."""

    draws: Draws
    homes: Households
    heads: _Heads
    units: DemoUnits
    household: npt.NDArray[np.int64]
    number: Ints
    role: Ints

    def other_kinds(self) -> Ints:
        """What members outside the family are to the head; -1 for everybody else."""
        is_other = self.role == OTHER
        home = self.household[is_other]
        kind = self.draws.choose(
            "other kind",
            self.units.take(is_other),
            shares_of("other_kind"),
            (self.homes.structure[home] == NO_FAMILY).astype(np.int32),
            group(self.heads.age[home], numbers_of("other_ages")),
        )
        # Two parents of the head would be a family, and a head has only so many.
        first = self.number[is_other] == self.homes.size[home] - self.homes.others[home]
        kind = np.where((kind == PARENT) & ~first, RELATIVE, kind)
        found = np.full(self.role.size, -1, np.int32)
        found[is_other] = kind
        return found

    def ages(self, other_kind: Ints) -> Ints:
        """The age of every member."""
        heads = self.heads
        age = np.zeros(self.role.size, dtype=np.int32)
        for role, ages in (
            (HEAD, heads.age),
            (PARTNER, heads.partner_age),
            (SECOND_PARENT, heads.second_age),
            (SECOND_PARTNER, heads.second_partner_age),
        ):
            found = self.role == role
            age[found] = ages[self.household[found]]
        for role, mother, youngest in (
            (CHILD, heads.mother_age, heads.youngest),
            (GRANDCHILD, heads.second_mother_age, heads.second_youngest),
        ):
            found = self.role == role
            home = self.household[found]
            drawn = self.draws.choose(
                "child age", self.units.take(found), child_ages(0), mother[home]
            )
            age[found] = np.minimum(drawn, np.maximum(youngest[home] - YOUNGEST_PARENT, 0))
        for kind, (least, more) in YEARS_APART.items():
            found = other_kind == kind
            apart = least + self.draws.below("years apart", self.units.take(found), more)
            sign = 1 if kind in (PARENT, SIBLING) else -1
            # A grandchild who would not be born yet is as many years old instead.
            age[found] = np.abs(heads.age[self.household[found]] + sign * apart)
        return self._ages_of_strangers(other_kind, age)

    def _ages_of_strangers(self, other_kind: Ints, age: Ints) -> Ints:
        """Ages of those whose age has nothing to do with that of the head."""
        five = np.zeros(self.role.size, dtype=np.int32)
        institution = self.homes.institution[self.household]
        for found, shares, given in (
            (other_kind >= RELATIVE, shares_of("stranger_age"), other_kind - RELATIVE),
            (self.role == RESIDENT, shares_of("institution_age"), institution),
            (self.role == WITHOUT_HOME, shares_of("homeless_age"), np.zeros_like(age)),
        ):
            units = self.units.take(found)
            five[found] = self.draws.choose("age group", units, shares, given[found])
        strangers = (other_kind >= RELATIVE) | (self.role >= RESIDENT)
        units = self.units.take(strangers)
        year = _year_in_group(self.draws, "age year", units, five[strangers])
        age[strangers] = 5 * five[strangers] + year
        grown = (other_kind == LODGER) | (other_kind == DOMESTIC) | (self.role == WITHOUT_HOME)
        age = np.where(grown, np.maximum(age, 18), age)
        return np.clip(age, 0, number_of("oldest")).astype(np.int32)

    def sexes(self, other_kind: Ints, age: Ints) -> Ints:
        """The sex of every member."""
        men = numbers_of("men")[group(age, numbers_of("sex_ages"))]
        for kind, share in MEN_BY_KIND.items():
            men = np.where(other_kind == kind, share, men)
        institution = self.homes.institution[self.household]
        men = np.where(self.role == RESIDENT, numbers_of("institution_men")[institution], men)
        men = np.where(self.role == WITHOUT_HOME, number_of("homeless_men"), men)
        sex = np.where(self.draws.happens("man", self.units, men), MALE, FEMALE)
        for role, sexes in (
            (HEAD, self.heads.sex),
            (PARTNER, self.heads.partner_sex),
            (SECOND_PARENT, self.heads.second_sex),
            (SECOND_PARTNER, 1 - self.heads.second_sex),
        ):
            sex = np.where(self.role == role, sexes[self.household], sex)
        return sex.astype(np.int32)
