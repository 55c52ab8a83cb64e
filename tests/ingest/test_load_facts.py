"""What a report on a load shows is what stands in the files, counted here one by one."""

from __future__ import annotations

import pickle
import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import Refused
from sdcensus.ingest.load import LoadReport, load_census
from sdcensus.ingest.load_facts import MOST_HELD, LinkFacts, VariableFacts
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.file_problems import OnProblem, ProblemKind
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from tests.ingest.small_census import DWELLINGS, HOUSEHOLDS, PERSONS, SECRET_BYTES, load_small

SCHEMA = """\
[census]
name = "Facts"
code = "FA"
[files.person]
path = "persons.csv"
entity = "person"
[files.household]
path = "households.csv"
entity = "household"
[entity.person]
id = ["pn"]
within = "household"
OPTIONAL
[entity.household]
id = ["hh"]
[variable.sex]
file = "person"
codes = { 1 = "Male", 2 = "Female", 3 = "Other" }
not_stated = [9]
not_applicable = [8]
[variable.age]
file = "person"
range = [0, 30]
[variable.pay]
file = "person"
continuous = true
decimals = 1
empty = "not_stated"
imputed = "flag"
[variable.area]
file = "household"
role = "geography"
codes = "areas.csv"
levels = ["region"]
not_applicable = ["none"]
[variable.weight]
file = "household"
role = "weight"
decimals = 2
[variable.rooms]
file = "household"
codes = { 1 = "One", 2 = "Two" }
not_applicable = [8]
"""
AREAS = "code,label,parent\na,Anse,R\nb,Bay,R\nc,Cay,S\nR,North,\nS,South,\nnone,None,\n"

Person = tuple[int, str, str, int, str, int]
persons_strategy = st.lists(
    st.tuples(
        st.integers(1, 9).map(int),
        st.sampled_from(["1", "2", "9", "8"]),
        st.integers(0, 30).map(str),
        st.integers(0, 1),
        st.sampled_from(["", "0", "12.5", "-3", "100"]),
        st.just(0),
    ),
    min_size=1,
    max_size=25,
)
households_strategy = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from(["1", "2.5", "0.25"]), st.sampled_from("12")),
    min_size=1,
    max_size=9,
)


def load(
    folder: Path,
    persons: list[Person],
    households: list[tuple[str, str, str]],
    *,
    optional: bool,
    on_problem: OnProblem,
) -> tuple[CensusStore, LoadReport]:
    """Persons name a household from 1 to 9, whether it is there or not; 9 is no name."""
    lines = ["pn,hh,sex,age,pay,flag"]
    for at, (household, sex, age, flag, pay, _) in enumerate(persons):
        named = "" if household == 9 else str(household)
        lines.append(f"{at},{named},{sex},{age},{pay},{flag}")
    (folder / "persons.csv").write_text("\n".join(lines) + "\n", newline="\n")
    lines = ["hh,area,weight,rooms"]
    lines += [f"{at + 1},{','.join(household)}" for at, household in enumerate(households)]
    (folder / "households.csv").write_text("\n".join(lines) + "\n", newline="\n")
    (folder / "areas.csv").write_text(AREAS, newline="\n")
    text = SCHEMA.replace("OPTIONAL", "optional = true" if optional else "")
    (folder / "census.toml").write_text(text, newline="\n")
    out = folder / "census.store"
    report = load_census(
        read_schema(folder / "census.toml"),
        out,
        secret=Secret(SECRET_BYTES),
        on_problem=on_problem,
    )
    return CensusStore.open(out), report


def of(report: LoadReport, name: str) -> VariableFacts:
    return next(facts for facts in report.facts.variables if facts.variable.name == name)


@settings(max_examples=25, deadline=None)
@given(persons_strategy, households_strategy, st.booleans())
def test_facts_are_those_of_the_files(
    persons: list[Person], households: list[tuple[str, str, str]], optional: bool
) -> None:
    folder = Path(tempfile.mkdtemp())
    try:
        store, report = load(
            folder, persons, households, optional=optional, on_problem=OnProblem.MISSING
        )
        check(store, report, persons, households)
    finally:
        shutil.rmtree(folder)


def check(
    store: CensusStore,
    report: LoadReport,
    persons: list[Person],
    households: list[tuple[str, str, str]],
) -> None:
    facts = report.facts
    assert dict(facts.rows) == {Entity.HOUSEHOLD: len(households), Entity.PERSON: len(persons)}
    named = [person[0] for person in persons]
    there = [household for household in named if household <= len(households)]
    empty = sum(
        (household == 9 and household > len(households)) or household == 9 for household in named
    )
    there = [household for household in there if household != 9]
    (link,) = facts.links
    assert (link.linked, link.empty) == (len(there), empty)
    assert link.lost == len(persons) - len(there) - empty
    sizes = Counter(Counter(there)[at + 1] for at in range(len(households)))
    assert link.sizes == tuple(
        sum(times for held, times in sizes.items() if min(held, MOST_HELD) == size)
        for size in range(MOST_HELD + 1)
    )
    assert link.largest == max(sizes)
    sexes = Counter(person[1] for person in persons)
    assert (of(report, "sex").not_stated, of(report, "sex").not_applicable) == (
        sexes["9"],
        sexes["8"],
    )
    assert [code.code for code in of(report, "sex").never] == [
        code for code in "123" if not sexes[code]
    ]
    ages = [int(person[2]) for person in persons]
    assert (of(report, "age").lowest, of(report, "age").highest) == (min(ages), max(ages))
    pays = [round(float(person[4]) * 10) for person in persons if person[4]]
    pay = of(report, "pay")
    assert (pay.lowest, pay.highest) == (min(pays, default=None), max(pays, default=None))
    assert pay.not_stated == sum(not person[4] for person in persons)
    assert pay.imputed == sum(person[3] for person in persons)
    weights = [round(float(weight) * 100) for _, weight, _ in households]
    by_kind = {weight.entity: weight for weight in facts.weights}
    assert by_kind[Entity.HOUSEHOLD].total == sum(weights)
    assert (by_kind[Entity.HOUSEHOLD].lowest, by_kind[Entity.HOUSEHOLD].highest) == (
        min(weights),
        max(weights),
    )
    # Who lies in no household counts as 1.
    alone = len(persons) - len(there)
    assert by_kind[Entity.PERSON].total == sum(weights[at - 1] for at in there) + 100 * alone
    (geography,) = facts.geographies
    areas = Counter(households[at - 1][0] for at in there)
    assert [records for _, records in geography.levels[0].areas] == [areas[code] for code in "abc"]
    assert geography.nowhere == alone
    spec = TableSpec.build(store.schema, ["area@region"])
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec))
    assert isinstance(cube, Cube)
    assert [cube.select(area=code.code).count for code, _ in geography.levels[1].areas] == [
        records for _, records in geography.levels[1].areas
    ]


# ---------------------------------------------------------------- what orphans become


@pytest.mark.parametrize("optional", [False, True])
def test_orphans_become_what_the_message_says(tmp_path: Path, optional: bool) -> None:
    """An orphan was said to be "not stated" and counted as "not applicable"."""
    persons: list[Person] = [(1, "1", "3", 0, "", 0), (7, "2", "4", 0, "", 0)]
    store, report = load(
        tmp_path, persons, [("a", "2.5", "1")], optional=optional, on_problem=OnProblem.MISSING
    )
    (problem,) = report.problems
    assert problem.kind is ProblemKind.ORPHAN
    spec = TableSpec.build(store.schema, ["rooms-total"])
    cube = MemoryEngine(store).tabulate(Tabulate(spec=spec, weights=True))
    assert isinstance(cube, Cube)
    rooms = {cell.codes[0]: cell.count for cell in cube.cells()}
    become = "8" if optional else "_U"
    assert rooms == {"1": 1, "2": 0, "8": int(optional), "_U": int(not optional)}
    said = problem.effect.show("en")
    assert ('"not applicable" where there is such a code' in said) == optional
    assert '"not stated"' in said
    assert "without households" in said
    assert "they count as 1 in weighted tables" in said
    assert cube.weight is not None
    position = [code.code for code in store.schema.variable("rooms").codes].index(become)
    assert cube.weight[position] == 100
    assert problem.passed.startswith("persons.csv: hh: no parent record in 1 record (row 3). These")


def test_values_that_do_not_fit_are_not_stated_also_beside_not_applicable(tmp_path: Path) -> None:
    """A variable with a code for "not applicable" only took that one."""
    households = [("a", "1", "1"), ("b", "1", "5")]
    persons: list[Person] = [(1, "1", "3", 0, "", 0), (2, "2", "4", 0, "", 0)]
    store, report = load(
        tmp_path, persons, households, optional=False, on_problem=OnProblem.MISSING
    )
    assert [problem.effect.show("en") for problem in report.problems] == [
        'Now "Not stated" (code _U)'
    ]
    assert of(report, "rooms").not_stated == 1
    assert of(report, "rooms").not_applicable == 0
    assert [code.code for code in store.schema.variable("rooms").codes] == ["1", "2", "8", "_U"]


# ---------------------------------------------------------------- records that say the same


def test_households_that_were_loaded_twice_are_found(tmp_path: Path) -> None:
    again = PERSONS.splitlines()[1:4]
    copies = "\n".join(line.replace("0412,0007", "0412,0099") for line in again)
    _, once = load_small(tmp_path)
    shutil.rmtree(tmp_path / "census.store")
    _, twice = load_small(
        tmp_path,
        persons=f"{PERSONS}{copies}\n",
        households=f"{HOUSEHOLDS}0412,0099,1,o,1.25\n",
        dwellings=DWELLINGS,
    )
    for report, households in ((once, 0), (twice, 1)):
        alike = {facts.entity: facts for facts in report.facts.alike}
        assert alike[Entity.HOUSEHOLD].records == households
        assert alike[Entity.HOUSEHOLD].holding is Entity.PERSON
        assert alike[Entity.PERSON].records == 0
    twins = PERSONS + "0412,0007,04,1,1,Cyd,1,4,1,0,0\n"
    shutil.rmtree(tmp_path / "census.store")
    _, report = load_small(tmp_path, persons=twins)
    assert {facts.entity: facts.records for facts in report.facts.alike}[Entity.PERSON] == 1


# ---------------------------------------------------------------- confidential


def test_facts_show_and_give_away_nothing(tmp_path: Path) -> None:
    _, report = load_small(tmp_path)
    every = [report, report.facts, *report.facts.links, *report.facts.variables]
    every += [*report.facts.weights, *report.facts.geographies, *report.facts.alike]
    for facts in every:
        for text in (repr(facts), str(facts), f"{facts}"):
            assert "confidential" in text
            assert not any(character.isdigit() for character in text)
        with pytest.raises(Refused):
            pickle.dumps(facts)
    assert isinstance(report.facts.links[0], LinkFacts)
