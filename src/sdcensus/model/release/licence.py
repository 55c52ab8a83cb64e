"""For whom a file is made, and how much risk that class of users accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import SpecError


class LicenceClass(StrEnum):
    """Who gets a file, the strictest class first."""

    PUBLIC_USE = "public-use"
    LICENSED_USE = "licensed-use"
    FULL_COUNT = "full-count"

    @property
    def strictness(self) -> int:
        """0 for the strictest class."""
        return list(LicenceClass).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """The most that a class accepts, as shares of the population.

    Of the population, not of the records: a smaller sample gives fewer people away, and several
    files of one census add up against one level.

    Attributes:
        expected_matches: Expected correct matches on sample uniques (E), of all persons.
        population_uniques: Records that are unique in the population, of all persons.
        not_anonymous: Records that share their keys with fewer than k in the population, of all
            persons.
        household_risk: Households with a member who is found with a chance of a half or more, of
            all households.
        composition_uniques: Households that are alone in the population with their size and the
            ages and sexes of their members, of all households.
        unchanged_amounts: Amounts that are still the true ones after microaggregation or rank
            swapping, of all that the file tells of a variable.
    """

    expected_matches: float
    population_uniques: float
    not_anonymous: float
    household_risk: float
    composition_uniques: float
    unchanged_amounts: float = 0.25

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= 1:
                raise SpecError(f"The accepted share {name} should lie between 0 and 1.")


#: Ours, for offices that have decided nothing. The file that the study accepts for Grenada (89 and
#: 97 uniques in about 105,000 persons, methods 9.1) stands just below that of public use.
ACCEPTANCE: Mapping[LicenceClass, Acceptance] = {
    LicenceClass.PUBLIC_USE: Acceptance(
        expected_matches=0.001,
        population_uniques=0.001,
        not_anonymous=0.003,
        household_risk=0.005,
        composition_uniques=0.02,
    ),
    LicenceClass.LICENSED_USE: Acceptance(
        expected_matches=0.01,
        population_uniques=0.01,
        not_anonymous=0.03,
        household_risk=0.05,
        composition_uniques=0.10,
        unchanged_amounts=0.5,
    ),
    LicenceClass.FULL_COUNT: Acceptance(
        expected_matches=0.50,
        population_uniques=0.50,
        not_anonymous=1.0,
        household_risk=1.0,
        composition_uniques=1.0,
        unchanged_amounts=1.0,
    ),
}
