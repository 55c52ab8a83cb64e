"""Code lists that depend on the country: areas, ethnic groups, places of birth and of work."""

from __future__ import annotations

from itertools import product

from sdcensus.demo.country import FOREIGN_GROUPS, Country
from sdcensus.demo.documents.questionnaire import (
    LANGUAGES,
    DemoCode,
    DemoCodeList,
    DemoTree,
    Questionnaire,
    Words,
    codes_of,
    label_of,
    rows,
    words,
)
from sdcensus.demo.land.geography import Geography

CULTURES = ("afro", "latin", "indian", "european", "chinese", "levant", "maya", "mennonite")
#: Where migrants of a culture come from follows another culture for the last two.
ORIGINS = ("afro", "latin", "indian", "european", "chinese", "levant", "latin", "european")


#: The skills that the major groups of occupations ask for, by their first digit.
_SKILLS = ("FORCES", *("HIGH",) * 3, *("MEDIUM",) * 5, "LOW")


def names(kind: str) -> list[str]:
    """Names of a kind: ``male``, ``female`` or ``surname``."""
    return next(row["names"] for row in rows("names") if row["kind"] == kind).split()


def region_code(region: int) -> str:
    """The code of a region by its number from 0."""
    return f"R{region + 1}"


def district_code(district: int) -> str:
    """The code of a district."""
    return f"D{district + 1:02}"


def parish_code(parish: int) -> str:
    """The code of a parish."""
    return f"P{parish + 1:03}"


def constituency_code(constituency: int) -> str:
    """The code of a constituency."""
    return f"C{constituency + 1:03}"


def ed_codes(geography: Geography) -> list[str]:
    """The codes of the enumeration districts: the number of the parish and their own."""
    pairs = zip(geography.parish.tolist(), geography.number.tolist(), strict=True)
    return [f"{parish + 1:03}{number:04}" for parish, number in pairs]


def make_questionnaire(geography: Geography) -> Questionnaire:
    """All variables of a country with their codes."""
    country = geography.country
    missing = DemoCode("99", words("missing")["not_stated"])
    ethnic = [DemoCode(row["code"], label_of(row)) for row in ethnic_rows(country)]
    religions = [DemoCode(row["code"], label_of(row), row["faith"]) for row in rows("religions")]
    return Questionnaire(
        {
            "areas": _areas(geography),
            "ethnicity": DemoCodeList((*ethnic, missing)),
            "religion": DemoCodeList((*religions, missing), codes_of("faith")),
            "birthplace": _birthplaces(geography),
            "citizenship": _citizenships(country),
            "occupation": _occupations(),
            "industry": _industries(),
            "place_of_work": _places_of_work(geography),
        }
    )


def ethnic_rows(country: Country) -> list[dict[str, str]]:
    """The ethnic groups of a country, the largest first; without "not stated"."""
    profile = country.ethnic_profile
    found = [row for row in rows("ethnicities") if int(row[profile]) and row["code"] != "99"]
    return sorted(found, key=lambda row: -int(row[profile]))


def citizenships() -> list[str]:
    """Codes of the countries whose citizen one can be, after the country's own."""
    return [row["code"] for row in rows("countries") if row["citizenship"] == row["code"]]


def _filled(forms: Words, **values: str | Words) -> Words:
    """Labels with something put in: the same in all languages, or in each its own."""
    return tuple(
        form.format(
            **{
                name: value if isinstance(value, str) else value[at]
                for name, value in values.items()
            }
        )
        for at, form in enumerate(forms)
    )


def _area(kind: str, **values: str | Words) -> Words:
    return _filled(words("area")[kind], **values)


def _parish_names(count: int) -> list[Words]:
    saints = [label_of(row) for row in rows("saints")]
    every = [
        _filled(form, saint=saint)
        for form, saint in product(words("surroundings").values(), saints)
    ]
    return [
        every[i] if i < len(every) else _area("parish", number=str(i + 1)) for i in range(count)
    ]


def _region_name(region: int) -> Words:
    named = words("region").get(str(region + 1))
    return named or _area("region", number=str(region + 1))


def _district_name(district: int) -> Words:
    return _area("district", town=names("surname")[district * 37 % 140])


def _areas(geography: Geography) -> DemoCodeList:
    country = geography.country
    district_of, region_of = geography.parent_of_parish(), geography.parent_of_district()
    groups = [DemoCode(region_code(i), _region_name(i)) for i in range(country.regions)]
    groups += [
        DemoCode(district_code(i), _district_name(i), region_code(int(region_of[i])))
        for i in range(country.districts)
    ]
    groups += [
        DemoCode(parish_code(i), name, district_code(int(district_of[i])))
        for i, name in enumerate(_parish_names(country.parishes))
    ]
    form = words("area")["ed"]
    leaves = [
        DemoCode(code, _filled(form, number=code), parish_code(parish))
        for code, parish in zip(ed_codes(geography), geography.parish.tolist(), strict=True)
    ]
    votes = [
        DemoCode(constituency_code(i), _area("constituency", number=str(i + 1)))
        for i in range(country.constituencies)
    ]
    votes += [
        DemoCode(leaf.code, leaf.label, constituency_code(constituency))
        for leaf, constituency in zip(leaves, geography.constituency.tolist(), strict=True)
    ]
    tree = DemoTree("constituency", ("constituency",), tuple(votes))
    return DemoCodeList(tuple(leaves), tuple(groups), (tree,))


def _birthplaces(geography: Geography) -> DemoCodeList:
    """Natives by district of birth, then other countries; and the grouping of the study."""
    country = geography.country
    native = [
        DemoCode(district_code(i), _district_name(i), "NATIVE") for i in range(country.districts)
    ]
    foreign = [DemoCode(row["code"], label_of(row), row["area"]) for row in rows("countries")]
    world = codes_of("world")
    groups = (*world[:2], *codes_of("birth"), *world[2:])
    missing = DemoCode("999", words("missing")["not_stated"])

    label = {code.code: code.label for code in world}
    parent = {}
    study: list[DemoCode] = []
    by_region = country.birth_level == "region"
    region_of = geography.parent_of_district()
    for i in range(country.native_groups):
        name = _region_name(i) if by_region else _district_name(i)
        study.append(DemoCode(f"IN-{i + 1:02}", _area("birth", place=name)))
    for i, code in enumerate(native):
        parent[code.code] = f"IN-{(int(region_of[i]) if by_region else i) + 1:02}"
    for areas in FOREIGN_GROUPS[country.foreign_groups]:
        code_of_group = f"FROM-{areas[0]}"
        together = zip(*(label[area] for area in areas), strict=True)
        study.append(DemoCode(code_of_group, tuple(" / ".join(one) for one in together)))
        parent |= {code.code: code_of_group for code in foreign if code.parent in areas}
    study += [DemoCode(code.code, code.label, parent[code.code]) for code in native + foreign]
    tree = DemoTree("study", ("study",), (*study, missing))
    return DemoCodeList((*native, *foreign, missing), groups, (tree,))


def _citizenships(country: Country) -> DemoCodeList:
    own = DemoCode("OWN", (country.name,) * len(LANGUAGES), "NATIONAL")
    allowed = citizenships()
    foreign = [
        DemoCode(row["code"], label_of(row), row["area"])
        for row in rows("countries")
        if row["code"] in allowed
    ]
    world = codes_of("world")
    citizens, none, stateless = codes_of("citizen")
    groups = (*world[:2], citizens, *world[2:-1], none)
    missing = DemoCode("999", words("missing")["not_stated"])
    return DemoCodeList((own, *foreign, stateless, missing), groups)


def _not_working(not_applicable: str, not_stated: str) -> tuple[DemoCode, DemoCode]:
    missing = words("missing")
    return DemoCode(not_applicable, missing["not_employed"]), DemoCode(
        not_stated, missing["not_stated"]
    )


def _occupations() -> DemoCodeList:
    every = [
        DemoCode(row["code"], label_of(row), _wider(row["code"])) for row in rows("occupations")
    ]
    skills = [code for code in every if not code.code.isdigit()]
    numbered = [code for code in every if code.code.isdigit()]
    groups = [code for length in (1, 2, 3) for code in numbered if len(code.code) == length]
    groups = [*skills, *groups]
    leaves = [code for code in numbered if len(code.code) == 4]
    return DemoCodeList((*leaves, *_not_working("9998", "9999")), tuple(groups))


def _wider(occupation: str) -> str:
    """The group that holds an occupation: one digit less, then its skills, then none."""
    if not occupation.isdigit():
        return ""
    return occupation[:-1] or _SKILLS[int(occupation)]


def _industries() -> DemoCodeList:
    every = [DemoCode(row["code"], label_of(row), row["parent"]) for row in rows("industries")]
    leaves = [code for code in every if code.code.isdigit()]
    groups = tuple(code for code in every if not code.code.isdigit())
    return DemoCodeList((*leaves, *_not_working("998", "999")), groups)


def _places_of_work(geography: Geography) -> DemoCodeList:
    districts = [
        DemoCode(district_code(i), _district_name(i), "IN")
        for i in range(geography.country.districts)
    ]
    return DemoCodeList(
        (*districts, *codes_of("work"), *_not_working("98", "99")), codes_of("work_place")
    )
