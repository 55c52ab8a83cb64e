"""Every setting of a release document changes what comes of it; a new one needs a case here."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sdcensus.documents.release.sections import LISTS, TABLES, HeadSection
from sdcensus.documents.toml.text import toml
from sdcensus.errors import SdcensusError
from sdcensus.microdata.release.groupings import check_thresholds
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.release.assess.assessment import assess
from sdcensus.session.release.designed import designed
from sdcensus.session.release.extract import extracted, of_extract
from sdcensus.session.release.make.making import PLAN_COPY, file_of, made
from sdcensus.session.release.opened import OpenRelease, open_release
from sdcensus.testing.island import SECRET
from tests.hamlet import SCHEMA, Hamlet, rows, write_hamlet

Document = dict[str, Any]
SMALL = "small.store"
BASE: Document = {
    "store": "census.store",
    "name": "file",
    "risk": {"ladder": ["age", "sex", "tenure"], "sampled": 1},
    "acceptance": {
        "expected_matches": 1.0,
        "population_uniques": 1.0,
        "not_anonymous": 1.0,
        "household_risk": 1.0,
        "composition_uniques": 1.0,
        "expected_matches_of_file": 1.0,
        "population_uniques_of_file": 1.0,
        "not_anonymous_of_file": 1.0,
        "composition_uniques_of_file": 1.0,
    },
    "thresholds": {"persons": 0, "households": 0},
    "design": [{"name": "A", "households": "1/2"}],
    "make": {"design": "A"},
}
MAPPING = """\
[breakdown.tenure_int]
variable = "tenure"
targets = { 10 = "Owned", 20 = "Rented" }
codes = { 1 = "10", 2 = "20" }
"""
#: Two large categories and two that are too small even together.
FAITH = """
[variable.faith]
file = "person"
codes = { A = "First", B = "Second", C = "Third", D = "Fourth" }
"""
GROUPS = "variable,code,into\nsex,1,both\nsex,2,both\nage,3,young\nage,4,young\n"


# -------------------------------------------------------------------- what must differ


def assessment(opened: OpenRelease, folder: Path) -> object:
    """Everything that the page of an assessment tells."""
    return repr(asdict(assess(opened)))


def records(opened: OpenRelease, folder: Path) -> object:
    """The columns of the file that readers get."""
    design = opened.design(opened.plan.design())
    file = file_of(opened, designed(opened, design))
    columns = [
        (column.name, column.values.tobytes()) for table in file.tables for column in table.columns
    ]
    return file.name, columns


def public(opened: OpenRelease, folder: Path) -> object:
    """The bytes of all files that are handed out."""
    made(opened, folder / "out", accepted=AcceptedRisk("A. Ruiz", "trial"))
    return _digests(folder / "out")


def office(opened: OpenRelease, folder: Path) -> object:
    """What the office keeps, without its copy of the document."""
    file = made(opened, folder / "out", accepted=AcceptedRisk("A. Ruiz", "trial"))
    kept = {name: digest for name, digest in _digests(file.office).items() if name != PLAN_COPY}
    return file.office.parent.name, kept


def extract(opened: OpenRelease, folder: Path) -> object:
    """The columns of a researcher's part."""
    name = opened.plan.extracts[0].name
    told = extracted(designed(opened, opened.designs()[0]), opened.plan, name)
    file = file_of(of_extract(opened, name), told)
    tables = [(table.rows, [column.name for column in table.columns]) for table in file.tables]
    return file.name, tables


def thresholds(opened: OpenRelease, folder: Path) -> object:
    """Which categories are too small to be handed out."""
    for design in opened.designs():
        check_thresholds(opened.store, design, opened.plan.thresholds)
    return "none"


def _digests(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


@dataclass(frozen=True)
class Case:
    """Two values of a setting; ``None`` where it is not said.

    Attributes:
        values: The values.
        seen: Where they show.
        beside: What else the document says, by table.
        first: What the first table of a list says besides.
    """

    values: tuple[Any, Any]
    seen: Callable[[OpenRelease, Path], object] = assessment
    beside: Mapping[str, Any] = field(default_factory=dict)
    first: Mapping[str, Any] = field(default_factory=dict)


KEPT = {"design": [{"name": "A", "households": "1/2", "keep": ["ed@parish"]}]}
KEPT_AREA = {"design": [{"name": "A", "households": "1/2", "keep": ["ed"]}]}
TWO = {"design": [{"name": name, "households": "1/2", "keep": ["ed"]} for name in "AB"]}
BANDS = {"design": [{"name": "A", "households": "1/8", "recode": {"age": "broad"}}]}
TWO_BANDS = {"design": [{**BANDS["design"][0], "name": name} for name in "AB"]}
SWAP = {"share": 0.3}
SENSITIVE = {"risk": {"ladder": ["age", "sex"], "sampled": 1, "sensitive": ["married"]}}
KNOWN = {"keys": ["age", "sex"], "disagreeing": 0}
SIX_KEYS = ["age", "sex", "tenure", "married", "only", "faith"]
PRAM = {"method": "pram variables=married"}
GROUPED = {"treatment": [{"method": "microaggregation variables=income group=2 value=median"}]}
MODEL = {"name": "m", "formula": "married == 1 ~ age"}
LARGE = {"treatment": "perturb-ages"}
LOW, HIGH = 0.0, 1.0

CASES: dict[str, Case] = {
    "name": Case(("file", "other"), records),
    "title": Case(("One", "Two"), public),
    "abstract": Case(("One", "Two"), public),
    "producer": Case(("One", "Two"), public),
    "contact": Case(("one@example.org", "two@example.org"), public),
    "store": Case(("census.store", SMALL)),
    "office": Case(("office", "desk"), office),
    "licence": Case(("licensed-use", "public-use"), public),
    "preset": Case((None, "us-virgin-islands")),
    "risk.ladder": Case((["age", "sex"], ["sex", "age"])),
    "risk.k": Case((3, 9)),
    "risk.missing": Case(("adjust", "category")),
    "risk.known_keys": Case((1, 3)),
    "risk.composition": Case((["age"], ["sex"])),
    "risk.sensitive": Case((None, ["married"])),
    "risk.closeness": Case((LOW, HIGH), beside=SENSITIVE),
    "risk.diversity": Case((1, 9), beside=SENSITIVE),
    "risk.sampled": Case((1, "1/4")),
    "thresholds.persons": Case((0, 500), thresholds),
    "thresholds.households": Case((0, 200), thresholds),
    "thresholds.exempt": Case((None, {"age": "why"}), thresholds, {"thresholds": {"persons": 20}}),
    "thresholds.small_other": Case(
        ("merge-next", "drop"), beside={"thresholds": {"persons": 50, "households": 0}}
    ),
    "thresholds.groupings": Case(
        ("groups.csv", "others.csv"), beside={"thresholds": {"persons": 0, "approved_by": "A."}}
    ),
    "thresholds.approved_by": Case(
        ("Ana Ruiz", "Ben Li"),
        office,
        {"thresholds": {"persons": 0, "households": 0, "groupings": "groups.csv"}},
    ),
    "acceptance.expected_matches": Case((LOW, HIGH)),
    "acceptance.population_uniques": Case((LOW, HIGH)),
    "acceptance.not_anonymous": Case((LOW, HIGH)),
    "acceptance.household_risk": Case((LOW, HIGH)),
    "acceptance.composition_uniques": Case((LOW, HIGH)),
    "acceptance.expected_matches_of_file": Case((LOW, HIGH)),
    "acceptance.population_uniques_of_file": Case((LOW, HIGH)),
    "acceptance.not_anonymous_of_file": Case((LOW, HIGH)),
    "acceptance.composition_uniques_of_file": Case((LOW, HIGH)),
    "acceptance.unchanged_amounts": Case((LOW, HIGH), beside=GROUPED),
    "institutions.where": Case(("tenure == 1", "ed == 'E1'"), records),
    "large_households.above": Case((2, 5), records),
    "large_households.treatment": Case(("draw-again", "apart"), records, first={"above": 2}),
    "large_households.age_shift": Case((1, 6), records, first={"above": 2, **LARGE}),
    "swap.rate_by": Case(("household-risk", "area"), records, KEPT, SWAP),
    "swap.share": Case((0.05, 0.6), records, KEPT),
    "swap.match": Case((["children_by_sex"], ["adults_by_sex"]), records, KEPT, SWAP),
    "swap.within": Case((None, "parish"), records, KEPT_AREA, SWAP),
    "swap.age": Case(("age", "married"), records, KEPT, SWAP),
    "swap.sex": Case(("sex", "married"), records, KEPT, SWAP),
    "suppress.k": Case((2, 5), records, BANDS),
    "suppress.keys": Case((["age", "sex"], ["age", "tenure"]), records, BANDS, {"k": 5}),
    "suppress.importance": Case(({"age": 9}, {"age": "never"}), records, BANDS, {"k": 5}),
    "suppress.strata": Case((None, "married"), records, BANDS, {"k": 5}),
    "suppress.designs": Case((["A"], ["B"]), records, TWO_BANDS, {"k": 5}),
    "suppress.blanks": Case(("own", "any"), records, BANDS, {"k": 5}),
    "make.design": Case(
        ("A", "B"),
        records,
        {"design": [{"name": "A", "households": "1/2"}, {"name": "B", "households": "1/3"}]},
    ),
    "make.formats": Case((["csv"], ["csv", "parquet"]), public),
    "make.documentation": Case((["ddi"], ["nada"]), public),
    "make.layout": Case(("linked", "flat"), public),
    "make.imputation_flags": Case((None, ["age"]), records),
    "make.members_by": Case((None, "sex"), records),
    "make.nonresponse_weight": Case(("weight", "none"), records),
    "make.weight_classes": Case((1, 10), records),
    "make.delete": Case((None, "deleted.csv"), records),
    "make.harmonisation": Case((None, "mapping.toml"), records),
    "make.languages": Case((["en"], ["es"]), public),
    "design.name": Case(("A", "B"), beside={"make": {}}),
    "design.households": Case(("1/2", "1/3"), records),
    "design.persons": Case(("1/2", "1/3"), records, {"design": [{"name": "A"}]}),
    "design.keep": Case((None, ["ed@parish"]), records),
    "design.drop": Case((None, ["married"]), records),
    "design.recode": Case(({"age": "ten_year"}, {"age": "broad"}), records),
    "design.top_code": Case(({"age": 75}, {"age": 50}), records),
    "design.bottom_code": Case(({"age": 5}, {"age": 50}), records),
    "design.merge": Case((None, {"age": {"young": ["3", "4"]}}), records),
    "design.optional": Case((None, ["age"]), records, first={"top_code": {"age": 500}}),
    "treatment.method": Case(("pram variables=married", "pram variables=sex"), records),
    "treatment.designs": Case((["A"], ["B"]), records, TWO, PRAM),
    "survey.name": Case(("One", "Two"), first={"households": 90}),
    "survey.households": Case((9, 90), first={"name": "s"}),
    "survey.persons": Case((9, 90), first={"name": "s"}),
    "survey.design_effect": Case((1.0, 4.0), first={"name": "s", "persons": 90}),
    "intruder.name": Case(("one", "two")),
    "intruder.keys": Case((["age"], ["sex"])),
    "intruder.coverage": Case((0.2, 1.0), first=KNOWN),
    "intruder.file_errors": Case((None, {"age": 0.5}), first=KNOWN),
    "intruder.external_errors": Case((None, {"age": 0.5}), first=KNOWN),
    "intruder.file_error": Case((LOW, 0.5), first=KNOWN),
    "intruder.external_error": Case((LOW, 0.5), first=KNOWN),
    "intruder.years": Case((0, 5), first=KNOWN),
    "intruder.moves": Case(
        (LOW, 0.9), beside=KEPT_AREA, first={**KNOWN, "keys": ["age", "sex", "ed"], "years": 1}
    ),
    "intruder.disagreeing": Case(
        (0, 1),
        first={"keys": SIX_KEYS, "external_error": 0.2, "coverage": 0.1},
    ),
    "intruder.designs": Case((["A"], ["B"]), beside=TWO, first=KNOWN),
    "model.name": Case(("one", "two"), first={"formula": MODEL["formula"]}),
    "model.formula": Case((MODEL["formula"], "married == 1 ~ sex"), first={"name": "m"}),
    "model.where": Case((None, "age >= 40"), first=MODEL),
    "extract.name": Case(("one", "two"), extract),
    "extract.variables": Case((["age"], ["sex"]), extract, first={"name": "e"}),
    "extract.where": Case((None, "age >= 40"), extract, first={"name": "e"}),
    "roles": Case((None, {"married": "administrative"}), records),
}


def declared() -> list[str]:
    """Every setting that a document may have."""
    tables = {**TABLES, **LISTS}
    return [
        *HeadSection.model_fields,
        *(f"{table}.{name}" for table, kind in tables.items() for name in kind.model_fields),
        "roles",
    ]


def document(setting: str, case: Case, value: object) -> Document:
    whole = copy.deepcopy({**BASE, **case.beside})
    if setting == "licence":
        del whole["acceptance"]
    table, _, name = setting.partition(".")
    if not name:
        target, name = whole, table
    elif table in LISTS:
        target = whole.setdefault(table, [{}])[0]
    else:
        target = whole.setdefault(table, {})
    if name != setting:
        target.update(case.first)
    if value is None:
        target.pop(name, None)
    else:
        target[name] = value
    return whole


def written(whole: Document) -> str:
    lines = [
        f"{name} = {toml(value)}"
        for name, value in whole.items()
        if name not in (*TABLES, *LISTS, "roles")
    ]
    for name, value in whole.items():
        if name in (*TABLES, "roles"):
            lines += [f"[{name}]", *(f"{key} = {toml(own)}" for key, own in value.items())]
        for entry in value if name in LISTS else ():
            lines += [f"[[{name}]]", *(f"{key} = {toml(own)}" for key, own in entry.items())]
    return "\n".join(lines) + "\n"


def faith(at: int) -> str:
    return "CD"[at % 3 % 2] if at % 25 == 0 else "AB"[at % 2]


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    """A hamlet that says which ages were imputed, and a smaller one beside it."""
    schema = SCHEMA.replace('label = "Age"', 'label = "Age"\nimputed = "guessed"') + FAITH
    folder = tmp_path_factory.mktemp("hamlet")
    for houses, store in ((60, SMALL), (260, "census.store")):
        persons, households = rows(houses)
        flagged = [
            {**row, "guessed": str(at % 2), "faith": faith(at)} for at, row in enumerate(persons)
        ]
        place = write_hamlet(folder, schema=schema, persons=flagged, households=households)
        place.load()
        if store == SMALL:
            place.store.rename(folder / SMALL)
    named = [[row[name] for name in ("ed", "house", "number")] for row in place.persons[:60]]
    place.write("deleted.csv", "\n".join(map(",".join, [["ed", "house", "number"], *named])) + "\n")
    place.write("mapping.toml", MAPPING)
    place.write("groups.csv", GROUPS.replace("sex,1,both\nsex,2,both\n", ""))
    place.write("others.csv", GROUPS.replace("sex,1,both\nsex,2,both\n", "").replace("4", "2"))
    return place


def test_every_setting_has_a_case() -> None:
    assert sorted(CASES) == sorted(declared())


@pytest.mark.parametrize("setting", CASES)
def test_a_setting_changes_what_comes_of_the_document(
    setting: str, hamlet: Hamlet, tmp_path: Path
) -> None:
    case = CASES[setting]
    outcomes: list[object] = []
    for at, value in enumerate(case.values):
        hamlet.write("release.toml", written(document(setting, case, value)))
        folder = tmp_path / str(at)
        folder.mkdir()
        try:
            opened = open_release(hamlet.folder / "release.toml", secret=SECRET)
            outcomes.append(case.seen(opened, folder))
        except SdcensusError as error:
            outcomes.append(str(error))
    assert outcomes[0] != outcomes[1]
    # One of the two is something that an office may say.
    assert not all(isinstance(each, str) and "mistake" in each for each in outcomes), outcomes
