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
    """The most that a class accepts, as shares of the country and of the file.

    Of the country, because that is how many people can be found, and several files of one census
    add up against one level. Of the file, because a small sample of everything passes any share of
    the country, and whoever is in it is found.

    Attributes:
        expected_matches: Expected correct matches on sample uniques (E), of all persons.
        population_uniques: Records that are unique in the population, of all persons.
        not_anonymous: Records that share their keys with fewer than k in the population, of all
            persons.
        household_risk: Households with a member who is found with a chance of a half or more, of
            all households.
        composition_uniques: Households that are alone in the population with their size and the
            ages and sexes of their members, of all households.
        expected_matches_of_file, population_uniques_of_file, not_anonymous_of_file: The same, of
            the persons of the file.
        composition_uniques_of_file: The same, of the households of the file.
        unchanged_amounts: Amounts that are still the true ones after microaggregation or rank
            swapping, of all that the file tells of a variable.
    """

    expected_matches: float
    population_uniques: float
    not_anonymous: float
    household_risk: float
    composition_uniques: float
    expected_matches_of_file: float
    population_uniques_of_file: float
    not_anonymous_of_file: float
    composition_uniques_of_file: float
    unchanged_amounts: float = 0.25

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if not 0 <= getattr(self, name) <= 1:
                raise SpecError(f"The accepted share {name} should lie between 0 and 1.")


#: What follows the name of a measure whose share is one of the file.
OF_FILE = "_of_file"

#: For offices that have decided nothing. Shares of the country are ours. Shares of the persons of a
#: file are those of two files that ECLAC's study of 2016 accepts for Grenada, by eight keys and
#: k = 3 (its Table 2): public use, a tenth with single years of age (1,416 uniques, 1,943 expected
#: matches, 2,020 records below k, of 9,833 persons); licensed use, a fifth with single years
#: (14.6 % and 20.7 %; its expected matches, 18.5 %, are below those for public use, which hold for
#: both). The study judges no households: their shares are ours. A full count is the country.
ACCEPTANCE: Mapping[LicenceClass, Acceptance] = {
    LicenceClass.PUBLIC_USE: Acceptance(
        expected_matches=0.001,
        population_uniques=0.001,
        not_anonymous=0.003,
        household_risk=0.005,
        composition_uniques=0.02,
        expected_matches_of_file=0.198,
        population_uniques_of_file=0.144,
        not_anonymous_of_file=0.205,
        composition_uniques_of_file=0.01,
    ),
    LicenceClass.LICENSED_USE: Acceptance(
        expected_matches=0.01,
        population_uniques=0.01,
        not_anonymous=0.03,
        household_risk=0.05,
        composition_uniques=0.10,
        expected_matches_of_file=0.198,
        population_uniques_of_file=0.146,
        not_anonymous_of_file=0.207,
        composition_uniques_of_file=0.10,
        unchanged_amounts=0.5,
    ),
    LicenceClass.FULL_COUNT: Acceptance(
        expected_matches=0.50,
        population_uniques=0.50,
        not_anonymous=1.0,
        household_risk=1.0,
        composition_uniques=1.0,
        expected_matches_of_file=0.50,
        population_uniques_of_file=0.50,
        not_anonymous_of_file=1.0,
        composition_uniques_of_file=1.0,
        unchanged_amounts=1.0,
    ),
}
