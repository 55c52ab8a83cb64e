"""Treatments of a release: methods on a view, records that are left out by name, refusals."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import DocumentError, Refused, SdcensusError, SpecError
from sdcensus.microdata.edit_rules import REFUSED_FILE
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import Design, Making, ReleasePlan, Treatment
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.variable import Entity
from sdcensus.session.derive import derive
from sdcensus.session.release.make.shown import rows_of
from sdcensus.session.release.release import Release
from sdcensus.session.release.treatments import treated
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

P, H = Entity.PERSON, Entity.HOUSEHOLD


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    place.load()
    return place


@pytest.fixture(scope="module")
def store(hamlet: Hamlet) -> CensusStore:
    return CensusStore.open(hamlet.store)


def plan_of(store: CensusStore, office: Path, **said: Any) -> ReleasePlan:
    designs = (
        Design(name="A", fraction=Fraction(1, 10)),
        Design(name="C", fraction=Fraction(1, 10), keep=("ed@parish",)),
    )
    named = {"name": "file", "store": store.path, "office": office, "designs": designs}
    return ReleasePlan(**{**named, **said})


def design_of(plan: ReleasePlan, store: CensusStore, name: str = "A") -> FileDesign:
    return file_design(plan, plan.design(name), store.schema)


PRAM = {"variables": ["sex"], "stay": ["0.8"]}
SWAP = "random-swap rate=0.2 members=sex within=anywhere"


def test_methods_are_applied_in_order_as_a_derived_store_would_be(
    hamlet: Hamlet, store: CensusStore, tmp_path: Path
) -> None:
    plan = plan_of(
        store,
        tmp_path / "office",
        treatments=(
            Treatment(method=SWAP, designs=("C",)),
            Treatment(method="pram variables=sex stay=0.8"),
        ),
    )
    with_areas = treated(store, plan, design_of(plan, store, "C"), SECRET)
    without = treated(store, plan, design_of(plan, store), SECRET)
    swap = {"rate": 0.2, "members": ["sex"], "within": "anywhere", "between": "parish"}
    derive(hamlet.store, tmp_path / "1", "random-swap", swap, secret=SECRET)
    derive(tmp_path / "1", tmp_path / "2", "pram", PRAM, secret=SECRET)
    written = CensusStore.open(tmp_path / "2")
    for entity in (P, H):
        for name in written.manifest.columns[entity]:
            assert (with_areas.store.raw(entity, name) == written.raw(entity, name)).all()
    assert [step.method for step in with_areas.store.manifest.lineage] == ["random-swap", "pram"]
    assert [step.method for step in without.store.manifest.lineage] == ["pram"]
    assert with_areas.facts
    assert {file.name for file in with_areas.files} >= {"1-random-swap-pairs.csv"}
    assert "confidential" in repr(with_areas)
    nothing = treated(store, plan_of(store, tmp_path), design_of(plan, store), SECRET)
    assert nothing.store is store


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (SWAP, "only for files that tell where people live"),
        ("geographic-pram move=ed=0.1", "only for files that tell where people live"),
        ("systematic-sample every=3", "weighed by its sample"),
        ("pram variables='sex", "a quotation mark is missing"),
        ("prum variables=sex", "pram"),
        ("", "method"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_remedy(
    store: CensusStore, tmp_path: Path, method: str, words: str
) -> None:
    plan = plan_of(store, tmp_path, treatments=(Treatment(method=method),))
    with pytest.raises(SdcensusError, match=re.escape(words)):
        treated(store, plan, design_of(plan, store), SECRET)


def test_changes_that_break_edit_rules_are_refused(store: CensusStore, tmp_path: Path) -> None:
    method = "pram variables=married stay=0.5 edit_rules=refuse"
    plan = plan_of(store, tmp_path / "office", treatments=(Treatment(method=method),))
    with pytest.raises(Refused, match=r"married == 1: \d+ new") as refusal:
        treated(store, plan, design_of(plan, store), SECRET)
    listed = tmp_path / "office" / REFUSED_FILE
    assert str(listed) in str(refusal.value)
    assert listed.read_text(encoding="utf-8").count("\n") > 1


def write_list(path: Path, lines: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(lines)
    return path


def test_records_are_left_out_by_digest_and_by_id(
    hamlet: Hamlet, store: CensusStore, tmp_path: Path
) -> None:
    person = hamlet.persons[5]
    by_id = write_list(
        tmp_path / "ids.csv",
        [["ED", "house", "number"], [str(person[name]) for name in ("ed", "house", "number")]],
    )
    household = int(store.digests(H)[3])
    by_digest = write_list(
        tmp_path / "digests.csv", [["unit", "record"], ["household", f"{household:016x}"], ["", ""]]
    )
    for path, kind, number in ((by_id, P, 1), (by_digest, H, 1)):
        plan = plan_of(store, tmp_path / "office", making=Making(delete=path))
        result = treated(store, plan, design_of(plan, store), SECRET)
        gone = np.setdiff1d(store.digests(kind), result.store.digests(kind))
        assert gone.size == number
        assert result.notes
        again = treated(store, plan, design_of(plan, store), SECRET)
        assert (again.store.digests(P) == result.store.digests(P)).all()
    assert gone.tolist() == [household]
    members = int((store.household_rows(P)[:] == 3).sum())
    assert store.rows(P) - result.store.rows(P) == members
    assert f"and {members} more" in str(result.notes[0])


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([], "The file is empty"),
        ([["name"], ["Ann"]], "line 1: The columns do not name persons"),
        ([["record"], ["xyz"]], "line 2: 'xyz' is no digest"),
        ([["record"], ["0" * 16]], "line 2: The census has no person of this name"),
        ([["unit", "record"], ["castle", "0" * 16]], "line 2: .*castle"),
        ([["ed", "house", "number"], ["", "1", "1"]], "line 2: The id .* is not complete"),
    ],
)
def test_mistakes_in_the_list_are_told_with_their_lines(
    store: CensusStore, tmp_path: Path, lines: list[list[str]], words: str
) -> None:
    path = write_list(tmp_path / "list.csv", lines)
    plan = plan_of(store, tmp_path, making=Making(delete=path))
    with pytest.raises(DocumentError, match=words) as refusal:
        treated(store, plan, design_of(plan, store), SECRET)
    assert "list.csv" in str(refusal.value)


def test_somebody_has_to_be_left(store: CensusStore, tmp_path: Path) -> None:
    lines = [["record"], *([f"{digest:016x}"] for digest in store.digests(P).tolist())]
    path = write_list(tmp_path / "all.csv", lines)
    plan = plan_of(store, tmp_path, making=Making(delete=path))
    with pytest.raises(SpecError, match="names everybody"):
        treated(store, plan, design_of(plan, store), SECRET)


BETWEEN = (
    "random-swap rate=0.4 members=sex",
    "proportional-swap risk_variables=age,sex rate=0.3 members=sex",
    "targeted-swap risk_variables=age,sex k=3 rate=0.2 profiles=persons",
)


def areas(store: CensusStore, treated: CensusStore) -> tuple[np.ndarray, np.ndarray]:
    """The areas of households before and after: units that move stand elsewhere in a store."""
    variable = store.schema.variable("ed")
    rows, _ = rows_of(store, treated.digests(H)[slice(None)], H)
    before = store.column(H, variable)[slice(None)][rows]
    return before, treated.column(H, variable)[slice(None)]


@pytest.mark.parametrize("method", BETWEEN)
@pytest.mark.parametrize("kept", ["ed@parish", "ed"])
def test_places_are_exchanged_between_areas_that_the_file_tells(
    store: CensusStore, tmp_path: Path, method: str, kept: str
) -> None:
    design = Design(name="C", fraction=Fraction(1, 10), keep=(kept,))
    plan = plan_of(store, tmp_path, designs=(design,), treatments=(Treatment(method=method),))
    result = treated(store, plan, design_of(plan, store, "C"), SECRET)
    told = store.schema.variable("ed").level(kept.partition("@")[2] or None).group_array
    before, after = areas(store, result.store)
    moved = before != after
    assert moved.sum() > 10
    assert (told[before[moved]] != told[after[moved]]).all()


@pytest.mark.parametrize(
    ("method", "kept", "words"),
    [
        ("random-swap rate=0.2 members=sex within=parish", "ed@parish", "leave within out"),
        ("random-swap rate=0.2 members=sex within=ed", "ed", "or name parish"),
        ("random-swap rate=0.2 members=sex within=ed@parish", "ed@parish", "one area that the"),
        ("proportional-swap risk_variables=age within=parish", "ed@parish", "leave within out"),
        ("targeted-swap k=1 rate=0.2 within=parish", "ed@parish", "leave within out"),
        ("targeted-swap k=1 rate=0.2 levels=ed", "ed@parish", "Leave the level out"),
        ("random-swap rate=0.2 between=ed within=anywhere", "ed@parish", "Leave the level out"),
        ("geographic-pram move=ed=0.1", "ed@parish", "move=parish=0.06"),
    ],
)
def test_exchanges_inside_one_area_of_the_file_are_refused(
    store: CensusStore, tmp_path: Path, method: str, kept: str, words: str
) -> None:
    design = Design(name="C", fraction=Fraction(1, 10), keep=(kept,))
    plan = plan_of(store, tmp_path, designs=(design,), treatments=(Treatment(method=method),))
    with pytest.raises(SpecError, match=re.escape(words)):
        treated(store, plan, design_of(plan, store, "C"), SECRET)


@pytest.mark.parametrize("method", ["within=parish", "within=anywhere"])
def test_regions_that_hold_several_areas_of_the_file_are_kept(
    store: CensusStore, tmp_path: Path, method: str
) -> None:
    design = Design(name="C", fraction=Fraction(1, 10), keep=("ed",))
    swap = Treatment(method=f"random-swap rate=0.4 members=sex {method}")
    plan = plan_of(store, tmp_path, designs=(design,), treatments=(swap,))
    result = treated(store, plan, design_of(plan, store, "C"), SECRET)
    parish = store.schema.variable("ed").level("parish").group_array
    before, after = areas(store, result.store)
    crossed = parish[before] != parish[after]
    assert crossed.any() == (method == "within=anywhere")
    assert (before != after).any()


def test_a_swap_section_inside_the_areas_of_the_file_is_refused(hamlet: Hamlet) -> None:
    text = (
        'store = "census.store"\n[risk]\nsampled = 1\nladder = ["age", "sex"]\n'
        '[[design]]\nname = "A"\nhouseholds = 0.5\nkeep = ["ed@parish"]\n[swap]\nshare = 0.2\n'
    )
    path = hamlet.write("inside.toml", text + 'within = "parish"\n')
    with pytest.raises(SpecError, match="leave within out"):
        Release(path, secret=SECRET).assess()
    path = hamlet.write("between.toml", text)
    (result,) = Release(path, secret=SECRET).assess().designs
    (moved,) = [table for table in result.further if table.name == "moved-records"]
    number, elsewhere, share = (float(str(fact)) for fact in moved.rows[0][1:])
    assert 0 < elsewhere < number
    assert share == pytest.approx(elsewhere / number, abs=1e-6)
    assert float(str(moved.rows[1][1])) > 0
    assert any("another area than their own" in str(note) for note in result.notes)
