"""Code lists that depend on the country: areas, ethnic groups, places of birth and of work."""

from __future__ import annotations

from itertools import product

from sdcensus.demo.country import FOREIGN_GROUPS, Country
from sdcensus.demo.geography import Geography
from sdcensus.demo.questionnaire import Code, CodeList, Questionnaire, Tree, rows

CULTURES = ("afro", "latin", "indian", "european", "chinese", "levant", "maya", "mennonite")
#: Where migrants of a culture come from follows another culture for the last two.
ORIGINS = ("afro", "latin", "indian", "european", "chinese", "levant", "latin", "european")

NOT_STATED = ("Not stated", "No declarado")
WORLD = (
    Code("HOME", "This country", "Este país"),
    Code("ABROAD", "Other country", "Otro país"),
    Code("EU", "Member state of the EU", "Estado miembro de la UE", "ABROAD"),
    Code("EUROPE", "Other country in Europe", "Otro país de Europa", "ABROAD"),
    Code("AFRICA", "Africa", "África", "ABROAD"),
    Code(
        "AMERICA",
        "Caribbean, Central or South America",
        "Caribe, América Central o del Sur",
        "ABROAD",
    ),
    Code("NORTHAM", "North America", "América del Norte", "ABROAD"),
    Code("ASIA", "Asia", "Asia", "ABROAD"),
    Code("OCEANIA", "Oceania", "Oceanía", "ABROAD"),
    Code("OTHER", "Other", "Otro", "ABROAD"),
)
FAITHS = (
    Code("C", "Christian", "Cristiana"),
    Code("R", "Rastafarian", "Rastafari"),
    Code("O", "Other religion", "Otra religión"),
    Code("N", "No religion", "Sin religión"),
)
REGION_NAMES = (
    ("Leeward Region", "Región de Sotavento"),
    ("Central Region", "Región Central"),
    ("Windward Region", "Región de Barlovento"),
    ("Northern Region", "Región Norte"),
    ("Southern Region", "Región Sur"),
    ("Highland Region", "Región Alta"),
    ("Bay Region", "Región de la Bahía"),
    ("River Region", "Región de los Ríos"),
)
SURROUNDINGS = (
    ("", ""),
    (" Bay", " de la Bahía"),
    (" Hills", " de los Montes"),
    (" River", " del Río"),
    (" North", " del Norte"),
    (" South", " del Sur"),
    (" East", " del Este"),
    (" West", " del Oeste"),
    (" Valley", " del Valle"),
    (" Point", " de la Punta"),
    (" Plain", " del Llano"),
    (" Forest", " del Bosque"),
)


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
    missing = Code("99", *NOT_STATED)
    ethnic = [Code(row["code"], row["label"], row["label_es"]) for row in ethnic_rows(country)]
    religions = [
        Code(row["code"], row["label"], row["label_es"], row["faith"]) for row in rows("religions")
    ]
    return Questionnaire(
        {
            "areas": _areas(geography),
            "ethnicity": CodeList((*ethnic, missing)),
            "religion": CodeList((*religions, missing), FAITHS),
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


def _parish_names(count: int) -> list[tuple[str, str]]:
    saints = next(row["names"] for row in rows("names") if row["kind"] == "saint").split(";")
    every = [
        (f"Saint {saint.split('=')[0]}{suffix}", saint.split("=")[1] + suffix_es)
        for (suffix, suffix_es), saint in product(SURROUNDINGS, saints)
    ]
    return [
        every[i] if i < len(every) else (f"Parish {i + 1}", f"Parroquia {i + 1}")
        for i in range(count)
    ]


def _region_name(region: int) -> tuple[str, str]:
    if region < len(REGION_NAMES):
        return REGION_NAMES[region]
    return f"Region {region + 1}", f"Región {region + 1}"


def _district_name(district: int) -> tuple[str, str]:
    town = names("surname")[district * 37 % 140]
    return f"{town} District", f"Distrito de {town}"


def _areas(geography: Geography) -> CodeList:
    country = geography.country
    district_of, region_of = geography.parent_of_parish(), geography.parent_of_district()
    groups = [Code(region_code(i), *_region_name(i)) for i in range(country.regions)]
    groups += [
        Code(district_code(i), *_district_name(i), region_code(int(region_of[i])))
        for i in range(country.districts)
    ]
    groups += [
        Code(parish_code(i), *name, district_code(int(district_of[i])))
        for i, name in enumerate(_parish_names(country.parishes))
    ]
    codes = ed_codes(geography)
    leaves = [
        Code(code, f"ED {code}", f"DE {code}", parish_code(parish))
        for code, parish in zip(codes, geography.parish.tolist(), strict=True)
    ]
    votes = [
        Code(constituency_code(i), f"Constituency {i + 1}", f"Circunscripción {i + 1}")
        for i in range(country.constituencies)
    ]
    votes += [
        Code(leaf.code, leaf.label, leaf.label_es, constituency_code(constituency))
        for leaf, constituency in zip(leaves, geography.constituency.tolist(), strict=True)
    ]
    tree = Tree("constituency", ("constituency",), tuple(votes))
    return CodeList(tuple(leaves), tuple(groups), (tree,))


def _birthplaces(geography: Geography) -> CodeList:
    """Natives by district of birth, then other countries; and the grouping of the study."""
    country = geography.country
    native = [
        Code(district_code(i), *_district_name(i), "NATIVE") for i in range(country.districts)
    ]
    foreign = [
        Code(row["code"], row["label"], row["label_es"], row["area"]) for row in rows("countries")
    ]
    born_here = Code("NATIVE", "Born in the country", "Nacido en el país", "HOME")
    groups = (*WORLD[:2], born_here, *WORLD[2:])
    missing = Code("999", *NOT_STATED)

    label = {code.code: (code.label, code.label_es) for code in WORLD}
    parent = {}
    study: list[Code] = []
    by_region = country.birth_level == "region"
    region_of = geography.parent_of_district()
    for i in range(country.native_groups):
        name = _region_name(i) if by_region else _district_name(i)
        study.append(Code(f"IN-{i + 1:02}", f"Born in {name[0]}", f"Nacido en {name[1]}"))
    for i, code in enumerate(native):
        parent[code.code] = f"IN-{(int(region_of[i]) if by_region else i) + 1:02}"
    for areas in FOREIGN_GROUPS[country.foreign_groups]:
        code_of_group = f"FROM-{areas[0]}"
        spelled = [" / ".join(label[area][language] for area in areas) for language in (0, 1)]
        study.append(Code(code_of_group, *spelled))
        parent |= {code.code: code_of_group for code in foreign if code.parent in areas}
    study += [
        Code(code.code, code.label, code.label_es, parent[code.code]) for code in native + foreign
    ]
    tree = Tree("study", ("study",), (*study, missing))
    return CodeList((*native, *foreign, missing), groups, (tree,))


def _citizenships(country: Country) -> CodeList:
    own = Code("OWN", country.name, country.name, "NATIONAL")
    allowed = citizenships()
    foreign = [
        Code(row["code"], row["label"], row["label_es"], row["area"])
        for row in rows("countries")
        if row["code"] in allowed
    ]
    citizens = Code("NATIONAL", "Citizens", "Ciudadanos", "HOME")
    none = Code("NONE", "No citizenship", "Sin ciudadanía", "ABROAD")
    groups = (*WORLD[:2], citizens, *WORLD[2:-1], none)
    stateless = Code("XXX", "Stateless", "Apátrida", "NONE")
    return CodeList((own, *foreign, stateless, Code("999", *NOT_STATED)), groups)


def _occupations() -> CodeList:
    every = [
        Code(row["code"], row["label"], row["label_es"], row["code"][:-1])
        for row in rows("occupations")
    ]
    groups = [code for length in (1, 2, 3) for code in every if len(code.code) == length]
    missing = (Code("9998", "Not employed", "No ocupado"), Code("9999", *NOT_STATED))
    return CodeList(tuple(code for code in every if len(code.code) == 4) + missing, tuple(groups))


def _industries() -> CodeList:
    every = [
        Code(row["code"], row["label"], row["label_es"], row["parent"])
        for row in rows("industries")
    ]
    missing = (Code("998", "Not employed", "No ocupado"), Code("999", *NOT_STATED))
    leaves = tuple(code for code in every if code.parent)
    return CodeList(leaves + missing, tuple(code for code in every if not code.parent))


def _places_of_work(geography: Geography) -> CodeList:
    districts = [
        Code(district_code(i), *_district_name(i), "IN") for i in range(geography.country.districts)
    ]
    return CodeList(
        (
            *districts,
            Code("D00", "In the country, not known where", "En el país, sin precisar", "IN"),
            Code("ABR", "Abroad", "En el exterior", "OUT"),
            Code("NOF", "No fixed place", "Sin lugar fijo", "VARIES"),
            Code("98", "Not employed", "No ocupado"),
            Code("99", *NOT_STATED),
        ),
        (
            Code("IN", "In the country", "En el país"),
            Code("OUT", "Outside the country", "Fuera del país"),
            Code("VARIES", "No fixed place of work", "Sin lugar fijo de trabajo"),
        ),
    )
