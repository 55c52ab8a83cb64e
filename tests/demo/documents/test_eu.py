"""Every breakdown of the European census programme can be made from the demo country."""

from __future__ import annotations

import csv

import pytest

from sdcensus.demo import eu_mapping, make_country
from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.questionnaire import DemoQuestion, Questionnaire
from tests.conftest import ROOT


def _numbered(prefix: str, last: int, *, digits: int = 2) -> list[str]:
    return [f"{prefix}{number:0{digits}}" for number in range(1, last + 1)]


#: Leaves of the finest breakdowns, Commission Implementing Regulation (EU) 2017/543, Annex.
LEAVES = {
    "SEX": "1 2",
    "LMS.H": "1 2.1 2.2 3 4 5",
    "CAS.H": "1.1 1.2 2.1 2.2 2.3 2.4 3",
    "OCC": "1 2 3 4 5 6 7 8 9 10 11 12",
    "IND.H": "1 2.1 2.2 2.3 2.4 3 4.1 4.2 4.3 5 6 7 8.1 8.2 9.1 9.2 9.3 10.1 10.2 10.3 10.4 11 12",
    "SIE": "1 2 3 4 5 6",
    "EDU": "1 2 3 4 5 6 7 8 9 10 11",
    "YAE.H": "1.1.1 1.1.2 1.2.1 1.2.2 1.2.3 1.2.4 1.2.5 1.3.1 1.3.2 1.3.3 1.3.4 1.3.5"
    " 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.5 1.6 1.7 1.8 1.9 2 3",
    "ROY": "1 2.1.1 2.1.2 2.2 3 4",
    "LPW.N": "1 2 3 4 5",
    "FST.H": "1.1.1 1.1.2 1.2 2 3.1 3.2 4 5",
    "HST.H": "1.1 1.2.1 1.2.2 1.3 2.1 2.2",
    "HAR": "1.1 1.2 2 3",
    "LOC": "1 2 3 4 5 6 7 8 9 10 11 12 13",
    "TPH.H": "1.1 1.2 2.1.1 2.1.2 2.1.3 2.2.1 2.2.2 2.3.1 2.3.2 3",
    "SPH": "1 2 3.1 3.2 3.3 4 5",
    "TSH": "1 2 3 4",
    "TFN.H": "1.1.1 1.1.2 1.2.1 1.2.2 1.3.1 1.3.2 2.1 2.2 2.3 3.1 3.2 4.1 4.2",
    "SFN": "1 2.1 2.2 2.3 3.1 3.2",
    "TLQ": "1 2 3 4",
    "OCS": "1 2 3",
    "OWS": "1 2 3 4 5",
    "NOC": "1 2 3.1 3.2 3.3 4.1.1 4.1.2 4.1.3 4.1.4 4.1.5 4.2",
    "NOR": "1 2 3 4 5 6 7 8 9 10",
    "DRM": "1 2 3 4 5 6 7 8 9",
    "WSS": "1 2 3",
    "TOI": "1 2 3",
    "BAT": "1 2 3",
    "TOH": "1 2 3",
    "TOB": "1.1 1.2 1.3 2 3",
    "POC": "1 2 3 4 5 6 7 8 9",
}
#: Single years to 99 in groups of five within groups of ages, then 100 and over.
AGES = [
    f"{group}.{five}.{year}"
    for group, fives in ((1, 3), (2, 3), (3, 4), (4, 3), (5, 4), (6, 3))
    for five in range(1, fives + 1)
    for year in range(1, 6)
] + ["6.4"]
#: Countries by part of the world: how many there are, for birth and for citizenship.
BIRTH = {"2.1.": 28, "2.2.1.": 26, "2.2.2.": 57, "2.2.3.": 45, "2.2.4.": 6, "2.2.5.": 48}
BIRTH |= {"2.2.6.": 21}
CITIZENS = {"2.1.": 28, "2.2.1.": 21, "2.2.2.": 56, "2.2.3.": 37, "2.2.4.": 3, "2.2.5.": 48}
CITIZENS |= {"2.2.6.": 15}
COUNTRIES = {
    name: ["1", "3", "4", *(code for part, last in parts.items() for code in _numbered(part, last))]
    for name, parts in (("POB.H", BIRTH), ("COC.H", CITIZENS))
}
ALL = {name: codes.split() for name, codes in LEAVES.items()} | {"AGE.H": AGES} | COUNTRIES

#: What the issue asks for, by the unit that is counted.
ASKED = {
    "SEX", "AGE", "LMS", "CAS", "OCC", "IND", "SIE", "EDU", "POB", "COC", "YAE", "ROY", "LPW",
    "FST", "HST", "HAR", "LOC", "TPH", "SPH", "TSH", "TFN", "SFN", "TLQ", "OCS", "OWS", "NOC",
    "NOR", "DRM", "WSS", "TOI", "BAT", "TOH", "TOB", "POC",
}  # fmt: skip


@pytest.fixture(scope="module")
def questionnaire() -> Questionnaire:
    return DemoCensus(make_country(2_000), seed=1).questionnaire


def test_the_lists_of_this_test_have_the_numbers_of_the_regulation() -> None:
    counts = {"AGE.H": 101, "IND.H": 23, "POB.H": 234, "COC.H": 211, "YAE.H": 24, "NOC": 11}
    assert {name: len(ALL[name]) for name in counts} == counts


def test_every_breakdown_that_was_asked_for_has_a_variable() -> None:
    assert {row.breakdown.split(".")[0] for row in eu_mapping()} == ASKED


def eu_code_of_leaves(breakdown: str, question: DemoQuestion) -> dict[str, str]:
    """For each leaf of a variable its code in a breakdown; leaves without one are left out."""
    direct = {
        row.code: row.eu_code
        for row in eu_mapping()
        if row.breakdown == breakdown and row.variable == question.name
    }
    parent = {code.code: code.parent for code in (*question.groups, *question.codes)}
    codes = {}
    for leaf in question.texts:
        code = leaf
        while code and code not in direct:
            code = parent.get(code, "")
        if code:
            codes[leaf] = direct[code]
    return codes


@pytest.mark.parametrize("breakdown", sorted(ALL))
def test_every_leaf_of_a_variable_has_exactly_one_european_code(
    questionnaire: Questionnaire, breakdown: str
) -> None:
    rows = [row for row in eu_mapping() if row.breakdown == breakdown]
    (variable,) = {row.variable for row in rows}
    question = questionnaire[variable]
    found = eu_code_of_leaves(breakdown, question)
    assert set(found) == set(question.texts)
    assert {code for code in found.values() if code} <= set(ALL[breakdown])
    # Outside the population of a breakdown is only what does not apply, or nobody at all.
    outside = {leaf for leaf, code in found.items() if not code}
    assert outside <= {question.not_applicable, "00" if breakdown == "NOC" else ""}
    known = {code.code for code in (*question.groups, *question.codes)}
    assert {row.code for row in rows} <= known
    assert len({row.code for row in rows}) == len(rows)


@pytest.mark.parametrize("breakdown", sorted(set(ALL) - set(COUNTRIES)))
def test_every_european_leaf_has_a_source(breakdown: str) -> None:
    found = {row.eu_code for row in eu_mapping() if row.breakdown == breakdown}
    assert found - {""} == set(ALL[breakdown])


@pytest.mark.parametrize("breakdown", sorted(COUNTRIES))
def test_every_part_of_the_world_has_a_source(breakdown: str) -> None:
    found = {row.eu_code for row in eu_mapping() if row.breakdown == breakdown}
    assert {"1", "3", "4"} <= found
    parts = {code.rsplit(".", 1)[0] for code in COUNTRIES[breakdown] if "." in code}
    assert {code.rsplit(".", 1)[0] for code in found if "." in code} == parts
    assert len(found) > 45


def test_the_mapping_names_codes_of_the_published_lists() -> None:
    path = ROOT.parent / "shared" / "reference" / "eu_breakdown_categories.csv"
    if not path.is_file():
        pytest.skip("the reference material (../shared/reference) is not here")
    with path.open(encoding="utf-8", newline="") as file:
        leaves = {
            (row["breakdown"], row["code"]) for row in csv.DictReader(file) if row["is_leaf"] == "1"
        }
    used = {(row.breakdown, row.eu_code) for row in eu_mapping() if row.eu_code}
    assert used <= leaves
    ours = {(breakdown, code) for breakdown, codes in ALL.items() for code in codes}
    assert ours == {pair for pair in leaves if pair[0] in ALL}
