"""A file against published tables: cells that become exact, areas that are given away."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import StoreError
from sdcensus.microdata.method import FactTable
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census, open_census
from sdcensus.session.release.assess.cumulation import Cumulation, cumulation
from sdcensus.session.release.release import Release
from sdcensus.store.census_store import CensusStore
from sdcensus.store.registry import Registry
from sdcensus.testing.island import SECRET
from tests.microdata.settlement import dense
from tests.session.release.town import BANDS, H, P, document, opened, records_of, town

PRAM = '\n[[treatment]]\nmethod = "pram variables=sex stay=0.8"\n'
SMALL = {**BANDS, "share": '"1/3"', "design": ""}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    town(tmp_path / "census.store", households=150)
    return tmp_path


def counts_of(census: Census, spec: TableSpec) -> npt.NDArray[np.int64]:
    return np.asarray(dense(census.tabulate(spec)).count)


def publish(
    place: Path, by: Sequence[str], most: int = 0, *, line: str = "", of: str = "persons"
) -> Table:
    """Put a table with changes up to some number into the registry; empty cells stay 0."""
    census = open_census(place / "census.store")
    spec = TableSpec.build(census.schema, by, of=of)
    counts = counts_of(census, spec)
    noise = np.random.default_rng(1).integers(-most, most + 1, counts.shape)
    published = np.where(counts > 0, np.maximum(counts + noise, 0), 0)
    folder = place / "office" / "registry"
    registry = Registry.open(folder) if folder.exists() else Registry.create(folder)
    made = Provenance(
        method="noise",
        method_version="1",
        fingerprint=str(most),
        data_version="1",
        key_version=1,
        secret_id=SECRET.id,
        package_version="0",
        spec_hash=spec.hash(),
        lineage=line,
    )
    table = Table(spec, published)
    registry.add(table, provenance=made, name="-".join(by), allow_conflicts=True)
    return table


def held(place: Path, file: dict[str, str], more: str = "") -> Cumulation:
    release = opened(document(place, file, more=more))
    return cumulation(release.plan, release.store, records_of(release))


def facts(result: Cumulation, name: str) -> FactTable:
    return next(table for table in result.facts if table.name == f"together-{name}")


def possible_areas(
    store: CensusStore, rows: npt.NDArray[np.int64], tables: Sequence[Table]
) -> list[set[int]]:
    """For each person the areas in which no table is empty for anybody of the household."""
    home = store.household_rows(P)[slice(None)]
    leaves = {
        variable.name: store.column(P, variable)[slice(None)] for variable in store.schema.variables
    }

    def own(row: int) -> set[int]:
        areas = set(range(len(tables[0].spec.axis("area").levels[0].codes)))
        for table in tables:
            names = [axis.variable.name for axis in table.spec.axes]
            by_area = np.moveaxis(table.published, names.index("area"), -1)
            for name in (name for name in names if name != "area"):
                by_area = by_area[int(leaves[name][row])]
            areas &= set(np.flatnonzero(by_area).tolist())
        return areas

    kept = set(rows.tolist())
    members: dict[int, list[int]] = {}
    for row in kept:
        members.setdefault(int(home[row]), []).append(row)
    return [set.intersection(*map(own, members[int(home[row])])) for row in rows.tolist()]


def test_areas_that_exact_tables_give_away_are_counted(place: Path) -> None:
    by = [["area-total", "born-total"], ["age-total", "area-total", "sex-total"]]
    tables = [publish(place, axes) for axes in by]
    store = CensusStore.open(place / "census.store")
    rows = records_of(opened(document(place, SMALL))).sample.rows[P]
    areas = possible_areas(store, rows, tables)
    only = sum(len(each) == 1 for each in areas)
    assert only > 20
    result = held(place, SMALL)
    # Nothing was changed: every area that is left is the right one.
    assert facts(result, "areas").rows == (("area@area", 7, 2, rows.size, only, only, only),)
    assert [note.words for note in result.notes] == [
        "release.together.area_known",
        "release.together.area_guessed",
    ]
    assert result.refusals == ()


def test_noise_hides_areas_and_zeros_at_their_word_are_often_wrong(place: Path) -> None:
    table = publish(place, ["area-total", "born-total"], 1)
    store = CensusStore.open(place / "census.store")
    rows = records_of(opened(document(place, SMALL))).sample.rows[P]
    areas = possible_areas(store, rows, [table])
    truth = store.column(P, store.schema.variable("area"))[rows]
    pointing = [
        (each, int(area)) for each, area in zip(areas, truth, strict=True) if len(each) == 1
    ]
    right = sum(area in each for each, area in pointing)
    assert 0 < right < len(pointing)
    result = held(place, SMALL)
    expected = ("area@area", 7, 1, rows.size, 0, len(pointing), right)
    assert facts(result, "areas").rows == (expected,)
    assert [note.words for note in result.notes] == ["release.together.area_guessed"]


def test_a_file_that_tells_the_area_has_none_to_give_away(place: Path) -> None:
    table = publish(place, ["area", "sex"], 2)
    households = publish(place, ["area", "tenure"], 2, of="households")
    kept = {**SMALL, "design": 'keep = ["area"]'}
    result = held(place, kept)
    assert {fact.name for fact in result.facts} == {"together-tables"}
    records = records_of(opened(document(place, kept)))
    reached = {row[0]: row[1] for row in facts(result, "tables").rows}
    for published, entity in ((table, P), (households, H)):
        rows = records.sample.rows[entity]
        store, cells = records.store, set()
        names = [axis.variable.name for axis in published.spec.axes]
        columns = [store.column(entity, store.schema.variable(name))[slice(None)] for name in names]
        for row in rows.tolist():
            first, second = (int(column[row]) for column in columns)
            sizes = published.spec.shape
            cells |= {(a, b) for a in (first, sizes[0] - 1) for b in (second, sizes[1] - 1)}
        assert reached["-".join(names)] == len(cells)


def test_only_records_that_tell_the_truth_bound_a_cell(place: Path) -> None:
    publish(place, ["sex-total", "age-total"], 2)
    before = facts(held(place, SMALL), "tables").rows[0][1]
    changed = held(place, SMALL, PRAM)
    after = facts(changed, "tables").rows[0][1]
    assert isinstance(before, int)
    assert isinstance(after, int)
    assert 0 < after < before
    # And a file of changed records beside tables of the original ones is decided by name.
    assert [refusal.words for refusal in changed.refusals] == ["release.together.other_tables"]


def test_tables_of_another_line_are_not_taken_for_the_same_records(place: Path) -> None:
    publish(place, ["area", "sex"], line="targeted-swap 1 abc")
    result = held(place, SMALL)
    assert result.facts == ()
    assert [refusal.words for refusal in result.refusals] == ["release.together.other_tables"]
    assert "targeted-swap" in str(result.refusals[0])


def test_what_cannot_be_used_is_counted_and_no_registry_is_made(place: Path) -> None:
    assert held(place, SMALL).facts == ()
    assert not (place / "office").exists()
    publish(place, ["area", "trade"])
    census = open_census(place / "census.store")
    universe = TableSpec.build(census.schema, ["sex"], universe="area == 1")
    registry = Registry.open(place / "office" / "registry")
    registry.add(Table(universe, counts_of(census, universe)), name="north")
    result = held(place, {**SMALL, "design": 'drop = ["trade"]'})
    # The trade is not told, so only totals of it are reached; who lives in the north neither.
    assert [row[0] for row in facts(result, "tables").rows] == ["area-trade", "together"]
    (place / "office" / "registry" / "registry.json").write_text("x", encoding="utf-8")
    with pytest.raises(StoreError, match="backup"):
        held(place, SMALL)


def test_what_tables_give_away_never_reaches_the_file(place: Path) -> None:
    release = Release(document(place, SMALL, accepted="1.0"), secret=SECRET)
    release.make(place / "before")
    publish(place, ["area-total", "born-total"])
    made = release.make(place / "after")
    assert {table.name for table in made.result.cumulation} == {
        "together-tables",
        "together-areas",
    }
    public = [
        {path.name: path.read_bytes() for path in (place / name).iterdir()}
        for name in ("before", "after")
    ]
    assert public[0] == public[1]
    assert (made.office / "design-1-together-areas.csv").is_file()
