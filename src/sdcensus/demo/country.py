"""What a demo country looks like: its size, its areas, and the axes of the founding study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.vocabulary import DemoCountry

MOST_PERSONS = 20_000_000
FEWEST_PERSONS = 100
#: Persons in an enumeration district, as long as there are not too many districts.
PERSONS_IN_ED = 450
MOST_EDS = 20_000
#: On average, so that a district fits into memory many times.
MOST_PERSONS_IN_ED = 5_000

ETHNIC_PROFILES = ("ten", "fifteen", "six")
BIRTH_LEVELS = ("region", "district")
#: How countries of birth are grouped in the study: the level ``birthplace@study``.
FOREIGN_GROUPS = MappingProxyType(
    {
        3: (
            ("AMERICA",),
            ("NORTHAM", "EU", "EUROPE"),
            ("ASIA", "AFRICA", "OCEANIA", "OTHER"),
        ),
        6: (
            ("AMERICA",),
            ("NORTHAM",),
            ("EU", "EUROPE"),
            ("ASIA",),
            ("AFRICA",),
            ("OCEANIA", "OTHER"),
        ),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Country:
    """A fictional island country.

    Attributes:
        persons: Exactly how many persons live there.
        name: What it is called.
        regions, districts, parishes: How many areas of each level; parishes are municipalities.
        eds: How many enumeration districts; 0 for one in about 450 persons.
        constituencies: How many areas of the second tree; 0 for about two for three parishes.
        ethnic_profile: ``ten``, ``fifteen`` or ``six`` ethnic groups ("not stated" included).
        birth_level: Whether ``birthplace@study`` shows natives by region or by district.
        foreign_groups: Into how many groups it puts other countries, 3 or 6.
    """

    persons: int
    name: str = "Isla Demo"
    regions: int = 2
    districts: int = 5
    parishes: int = 14
    eds: int = 0
    constituencies: int = 0
    ethnic_profile: str = "ten"
    birth_level: str = "region"
    foreign_groups: int = 3

    def __post_init__(self) -> None:
        if not FEWEST_PERSONS <= self.persons <= MOST_PERSONS:
            raise SpecError(
                f"A demo country has {FEWEST_PERSONS:,} to {MOST_PERSONS:,} persons,"
                f" not {self.persons:,}."
            )
        if not 1 <= self.regions <= self.districts <= self.parishes <= 999:
            raise SpecError(
                "A demo country has 1 to 999 parishes, no more districts than parishes and no"
                " more regions than districts."
            )
        if self.districts > 99:
            raise SpecError("A demo country has at most 99 districts.")
        if not self.eds:
            wanted = min(self.persons // PERSONS_IN_ED, MOST_EDS)
            object.__setattr__(self, "eds", max(wanted, self.parishes))
        if not self.constituencies:
            object.__setattr__(self, "constituencies", max(1, self.parishes * 2 // 3))
        if not self.parishes <= self.eds <= min(MOST_EDS, self.persons // 5):
            raise SpecError(
                f"A demo country of {self.persons:,} persons has {self.parishes:,}"
                f" (one in a parish) to {min(MOST_EDS, self.persons // 5):,} enumeration districts,"
                f" not {self.eds:,}. Ask for fewer parishes or for more persons."
            )
        if self.persons > MOST_PERSONS_IN_ED * self.eds:
            raise SpecError(
                f"A demo country of {self.persons:,} persons has at least"
                f" {-(-self.persons // MOST_PERSONS_IN_ED):,} enumeration districts,"
                f" not {self.eds:,}."
            )
        if not 1 <= self.constituencies <= min(self.eds, 999):
            raise SpecError("A demo country has 1 to 999 constituencies, no more than districts.")
        _among("ethnic profile", self.ethnic_profile, ETHNIC_PROFILES)
        _among("level of birth", self.birth_level, BIRTH_LEVELS)
        _among("number of foreign groups", str(self.foreign_groups), map(str, FOREIGN_GROUPS))

    @property
    def native_groups(self) -> int:
        """How many places inside the country ``birthplace@study`` tells apart."""
        return self.regions if self.birth_level == "region" else self.districts


def _among(kind: str, value: str, known: Iterable[str]) -> None:
    names = tuple(known)
    if value not in names:
        raise UnknownName(kind, value, known=names)


#: Countries of the sizes of the founding study: Saint Kitts and Nevis 2011, Belize 2010 and
#: Jamaica 2011. Persons by ``study_axes`` have its numbers of interior cells: 162,960, 346,290
#: and 228,144.
PRESETS: Mapping[str, Country] = MappingProxyType(
    {
        DemoCountry.SMALL: Country(persons=47_142),
        DemoCountry.MID: Country(
            persons=303_222,
            name="Tierra Coral",
            regions=3,
            districts=6,
            parishes=17,
            ethnic_profile="fifteen",
        ),
        DemoCountry.LARGE: Country(
            persons=2_200_000,
            name="Gran Coral",
            regions=3,
            districts=7,
            parishes=14,
            ethnic_profile="six",
            birth_level="district",
            foreign_groups=6,
        ),
    }
)


def make_country(preset: str | int = "small-island", **changes: object) -> Country:
    """A preset by its name, or a country with that many persons; ``changes`` are its attributes.

    Areas of a country of another size follow from its persons: about 400 parishes for 20
    million.

    Examples:
        >>> make_country("small-island").parishes
        14
        >>> country = make_country(17_500_000)
        >>> country.regions, country.districts, country.parishes
        (6, 31, 369)
        >>> make_country(2000, name="Cayo Demo").eds
        4
    """
    if isinstance(preset, str):
        if preset not in PRESETS:
            raise UnknownName("demo country", preset, known=PRESETS)
        # Districts and constituencies follow from the size again where the size is changed.
        again = {"eds": 0, "constituencies": 0} if changes else {}
        return replace(PRESETS[preset], **(again | changes))  # type: ignore[arg-type]
    parishes = _by_size(preset)
    areas: dict[str, object] = {
        "parishes": parishes,
        "districts": max(1, min(parishes, 1 + parishes // 4, 3 + parishes // 13)),
        "regions": max(1, min(2, parishes // 4), parishes // 60),
    }
    return Country(persons=preset, **(areas | changes))  # type: ignore[arg-type]


def _by_size(persons: int) -> int:
    """Parishes for a country of that size: few people share one, many do not need many more."""
    steps = ((47_000, 14), (2_200_000, 60), (20_000_000, 420))
    below_persons, below = 0, 2
    for upto, parishes in steps:
        if persons <= upto:
            more = (parishes - below) * (persons - below_persons) // (upto - below_persons)
            return below + more
        below_persons, below = upto, parishes
    return steps[-1][1]


def study_axes(country: Country) -> tuple[str, ...]:
    """The axes of the founding study, for a table of persons.

    Age in 97 categories (single years to 95, then 96 and over), sex in 2, ethnic group with
    "not stated", place of residence (the parish), and place of birth: natives by region or
    district of birth, other countries in groups, and "not stated". ``study_shape`` gives the
    numbers of categories.

    Examples:
        >>> from math import prod
        >>> [prod(study_shape(one)) for one in PRESETS.values()]
        [162960, 346290, 228144]
    """
    return ("age@study", "sex", "ethnicity", "ed@parish", "birthplace@study")


def study_shape(country: Country) -> tuple[int, ...]:
    """How many categories each of the ``study_axes`` has.

    Examples:
        >>> study_shape(PRESETS["small-island"])
        (97, 2, 10, 14, 6)
    """
    groups = {"ten": 10, "fifteen": 15, "six": 6}[country.ethnic_profile]
    births = country.native_groups + country.foreign_groups + 1
    return (97, 2, groups, country.parishes, births)
