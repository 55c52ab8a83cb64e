"""Stores without small counts: whoever makes a table beyond the list is told, at every door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.small_counts.small_count_rounding import SmallCountRounding
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.record_changes import cautions_of_records, notes_of_records
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import TableService
from sdcensus.session.assess.assessment import assess
from sdcensus.session.census.census import Census, open_census, open_store
from sdcensus.session.census.export import export
from sdcensus.session.derive import derive, prepared
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.run import PublishOptions, publish
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET, island_store
from tests.hamlet import Hamlet, write_hamlet

LISTED = ["ed,sex,age@broad", "ed@parish,tenure"]
UNLISTED_NOTE = "This table is not one of those that were planned so"
METHOD = SmallCountRounding(5, secret=SECRET)


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    said = {"tables": LISTED, "base": 5}
    derive(made.store, made.folder / "rounded.store", METHOD.name, said, secret=SECRET)
    return made


@pytest.fixture(scope="module")
def rounded(hamlet: Hamlet) -> Census:
    return open_store(hamlet.folder / "rounded.store")


def cautioned(census: Census, *by: str, where: str | None = None) -> bool:
    origin = census.origin
    spec = census.spec(*by, universe=where)
    said = cautions_of_records(origin.lineage, origin.listed, [spec])
    noted = notes_of_records(origin.lineage, origin.listed, [spec])
    assert bool(said) == any(UNLISTED_NOTE in str(note) for note in noted)
    return bool(said)


@pytest.mark.parametrize(
    ("by", "where"),
    [
        (("ed", "sex", "age@broad"), None),
        (("age@broad", "ed"), None),
        (("ed-total", "sex-total"), None),
        (("tenure", "ed@parish"), None),
        ((), None),
        (("ed",), "sex == 2"),
        (("sex",), "age@broad == '0-14' and ed == 'E1'"),
        (("ed@parish",), "tenure == 1"),
        (("ed@parish", "sex"), None),
        (("sex",), "ed in ('E1', 'E3') or age@broad == '0-14'"),
        (("age@broad-total",), "sex == 1 or ed == 'E2'"),
    ],
)
def test_cells_of_listed_tables_and_their_sums_are_known_in_every_spelling(
    rounded: Census, by: tuple[str, ...], where: str | None
) -> None:
    assert not cautioned(rounded, *by, where=where)
    counts = rounded.tabulate(*by, universe=where).held_for("a test").count
    assert not ((counts > 0) & (counts < 5)).any()


@pytest.mark.parametrize(
    ("by", "where"),
    [
        (("ed", "sex", "age@ten_year"), None),
        (("ed", "tenure"), None),
        (("ed@parish", "tenure", "sex"), None),
        (("sex",), "age < 30"),
        (("sex",), "tenure == 1"),
    ],
)
def test_other_cells_are_told_apart(
    rounded: Census, by: tuple[str, ...], where: str | None
) -> None:
    assert cautioned(rounded, *by, where=where)


AXES = {
    "area": ("area", "area@district", "area@parish+district-total"),
    "sex": ("sex", "sex-total"),
    "age": ("age@class", "age@half", "age@class+half", "age@age+class-total"),
    "married": ("married",),
}
CONDITIONS = ("", "sex == 1", "age >= 5", "age < 3 or married == 1", "area@district == 'D1'")


@st.composite
def table_texts(draw: st.DrawFn, most: int = 3) -> str:
    variables = draw(st.permutations(sorted(AXES)))[: draw(st.integers(1, most))]
    return ",".join(draw(st.sampled_from(AXES[name])) for name in variables)


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return island_store(tmp_path_factory.mktemp("island") / "a", 200).store


@settings(max_examples=60)
@given(
    st.lists(table_texts(), min_size=1, max_size=2, unique=True),
    st.lists(table_texts(2), min_size=1, max_size=4),
    st.sampled_from(CONDITIONS),
    st.sampled_from(CONDITIONS),
)
def test_what_is_covered_has_no_small_counts(
    island: CensusStore, tables: list[str], asked: list[str], where: str, condition: str
) -> None:
    said = {"tables": tables, "base": 6} | ({"where": where} if where else {})
    try:
        trial = prepared(island, METHOD.name, said, secret=SECRET).trial()
    except SpecError:  # the same table in two spellings
        return
    assert trial.origin.listed is not None
    original = Census(island.schema, island)
    for text in asked:
        spec = original.spec(*text.split(","), universe=condition or None)
        if trial.origin.listed.covers(spec):
            counts = trial.tabulate(spec).held_for("a test").count
            assert not ((counts > 0) & (counts < 6)).any()


def test_the_original_and_other_lines_say_nothing(hamlet: Hamlet) -> None:
    origin = hamlet.census().origin
    spec = hamlet.census().spec("ed", "tenure")
    assert not cautions_of_records(origin.lineage, origin.listed, [spec])
    assert not notes_of_records(origin.lineage, origin.listed, [spec])


def test_a_protected_table_tells_its_readers(rounded: Census) -> None:
    for by, told in ((("ed", "sex"), False), (("ed", "tenure"), True)):
        table = protect_table(rounded, rounded.spec(*by), METHOD).table
        assert any(UNLISTED_NOTE in str(note) for note in table.notes) is told
        if not told:
            counts = rounded.tabulate(*by).held_for("a test").count
            assert (table.whole().published == counts).all()


def test_an_assessment_tells_the_office(rounded: Census) -> None:
    for by, told in ((("ed", "sex"), False), (("ed", "tenure"), True)):
        cube = rounded.tabulate(*by).held_for("a test")
        protected = METHOD.protect(cube)
        assessment = assess(cube, protected.table, method=METHOD).assessment
        assert any("list of tables" in caution for caution in assessment.cautions) is told


def test_a_publication_tells_the_office_and_readers(hamlet: Hamlet) -> None:
    plan = hamlet.write(
        "plan.toml",
        """\
store = "rounded.store"
[[table]]
name = "listed"
rows = ["ed"]
columns = ["sex"]
[[table]]
name = "other"
rows = ["ed"]
columns = ["tenure"]
[protect]
method = "cell-key"
strength = "strong"
[output]
folder = "published"
date = 2026-03-01
formats = ["csv"]
""",
    )
    report = publish(plan, PublishOptions(secret=hamlet.secret))
    (caution,) = [caution for caution in report.cautions if "list of tables" in caution]
    assert "'other'" in caution
    assert "'listed'" not in caution
    for name, told in (("listed", False), ("other", True)):
        notes = read_published(hamlet.folder / "published" / f"{name}.csv").table.notes
        assert any(UNLISTED_NOTE in str(note) for note in notes) is told


def test_a_builder_tells_the_office_and_visitors(rounded: Census) -> None:
    method = CellKey(scheme("CP4"), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))
    limits = Limits(dimensions=5, cells=100_000)
    policy = Policy(name="p", schema=rounded.schema, limits=limits, online=OnlineRules())
    service = TableService(rounded, policy, {Entity.PERSON: method})
    assert any("Visitors can ask for other tables" in caution for caution in service.cautions)
    for by, told in ((["ed", "sex"], False), (["ed", "tenure"], True)):
        answer = service.answer(Question.from_json({"of": "persons", "by": by}))
        assert answer.table is not None
        assert any(UNLISTED_NOTE in str(note) for note in answer.table.notes) is told


def test_an_export_remembers_the_list(hamlet: Hamlet, tmp_path: Path) -> None:
    export(hamlet.folder / "rounded.store", tmp_path / "c.parquet")
    census = open_census(tmp_path / "c.parquet")
    assert not cautioned(census, "ed", "sex")
    assert cautioned(census, "ed", "tenure")


def test_after_any_further_change_no_table_is_safe(hamlet: Hamlet, tmp_path: Path) -> None:
    store = hamlet.folder / "rounded.store"
    derive(store, tmp_path / "d.store", "drop-records", {"where": "age > 90"}, secret=SECRET)
    census = open_store(tmp_path / "d.store")
    origin = census.origin
    (caution,) = cautions_of_records(origin.lineage, origin.listed, [census.spec("ed", "sex")])
    assert "changed again since" in caution
    assert cautioned(census, "ed", "sex")


def test_a_store_of_before_has_no_list_in_its_manifest(hamlet: Hamlet) -> None:
    manifest = json.loads((hamlet.store / "manifest.json").read_text("utf-8"))
    assert "listed" not in manifest
    own = json.loads((hamlet.folder / "rounded.store" / "manifest.json").read_text("utf-8"))
    assert own["listed"] == {"of": "person", "tables": LISTED, "where": ""}
