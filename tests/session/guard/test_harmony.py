from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.additivity import Additivity
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.rounding import ConventionalRounding
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.schema.variable import Entity
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.guard.guard import open_guard, open_registry, read_lock
from sdcensus.session.guard.harmony import check_importable, imported
from sdcensus.store.registry import Registry
from sdcensus.testing.island import SECRET, island, island_schema
from sdcensus.testing.stores import write_store
from tests.session.publish.publications import cell_key, people, publish, stored


def table(*by: str, universe: str | None = None, shift: int = 0) -> Table:
    cube = island(people=200).tabulate(*by, universe=universe)
    assert isinstance(cube, Cube)
    return Table(cube.spec, cube.count + shift)


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry.create(tmp_path / "registry")


def dated(path: Path, info: CensusInfo, secret_id: str = SECRET.id, *, seed: int = 7) -> Census:
    schema = replace(island_schema(), census=info)
    write_store(path, schema, {Entity.PERSON: people(seed=seed)}, secret_id=secret_id)
    return open_store(path)


def test_another_programme_gives_the_same_number_for_the_same_records(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census, by=(("area@parish+district", "sex", "age"),))
    done = publish(office, census, by=(("sex", "age@half"), ("area@district",)), plan="other")
    assert done.notes == ()
    registry = open_registry(office)
    for made in done.tables.values():
        assert registry.conflicts(made) == ()
        assert all(
            registry.value(made.spec, at) == value
            for at, value in enumerate(made.published.reshape(-1).tolist())
        )


def test_published_numbers_are_taken_over(registry: Registry) -> None:
    registry.add(table("sex", "age"), name="first")
    other = table("area@district", "sex", shift=1)
    found = imported(other, registry)
    # Totals over areas were published before: two sexes and everybody.
    assert (found.cells, found.changed, found.sources) == (3, 3, ("first",))
    assert found.table.published[-1].tolist() == (other.published[-1] - 1).tolist()
    assert (found.table.published[:-1] == other.published[:-1]).all()
    assert registry.conflicts(found.table) == ()
    again = imported(found.table, registry)
    assert (again.cells, again.changed) == (3, 0)
    assert again.table == found.table


def test_the_last_publication_is_taken_over(registry: Registry) -> None:
    registry.add(table("sex", "age"))
    registry.add(table("sex", "married", shift=2), allow_conflicts=True)
    found = imported(table("sex"), registry)
    assert (found.table.published == table("sex").published + 2).all()


def test_what_was_withheld_stays_withheld_and_what_is_withheld_too(registry: Registry) -> None:
    before = table("sex")
    registry.add(Table(before.spec, np.array([5, 0, 9]), np.array([0, 1, 0], dtype=np.uint8)))
    now = Table(before.spec, np.array([0, 7, 8]), np.array([2, 0, 0], dtype=np.uint8))
    found = imported(now, registry)
    assert found.table.flags is not None
    assert found.table.flags.tolist() == [Mark.BELOW_THRESHOLD, Mark.WITHHELD, Mark.NONE]
    assert found.table.published.tolist() == [0, 0, 9]
    assert (found.cells, found.changed) == (2, 2)


def test_a_run_with_another_method_passes_when_it_takes_numbers_over(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census, by=(("sex", "age"),))
    method = cell_key(scheme="CP3")
    spec = census.spec("area@district", "sex", "age")
    with pytest.raises(Refused, match="import_published"):
        publish(office, census, specs=[spec], method=method, plan="other")
    guard = open_guard(office, census, method, plan="other", specs=[spec])
    done = method.protect(census.tabulate(spec))
    assert isinstance(done.table, Table)
    found = guard.imported(done.table, done.provenance)
    changes = guard.look("by district", found.table, done.provenance, imported=found.cells)
    assert changes.changed == 0
    notes = guard.decide([changes])
    assert any("33 numbers were taken over" in note for note in notes)
    guard.record([changes])
    entry = open_registry(office).entries()[-1]
    assert not entry.consistent  # its numbers are not all of one making


def test_numbers_are_not_taken_over_where_totals_have_to_add_up() -> None:
    check_importable(cell_key())
    with pytest.raises(SpecError, match="add up"):
        check_importable(Pipeline(cell_key(), Additivity()))


def test_rounded_true_counts_beside_noise_are_warned_of(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census, by=(("sex", "age"),), method=ConventionalRounding(5))
    guard = open_guard(office, census, cell_key(), plan="b", specs=[census.spec("sex", "married")])
    (warning,) = guard.decide([])
    assert "published by 'conventional-rounding'" in warning
    assert "narrow the noise down" in warning
    same = ConventionalRounding(3)
    guard = open_guard(office, census, same, plan="b", specs=[census.spec("sex", "married")])
    assert guard.decide([]) == ()


def test_exempt_totals_beside_noise_are_warned_of(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    exempt = cell_key(exempt=[census.spec("area@district-total")])
    publish(office, census, by=(("area@district", "sex"),))
    guard = open_guard(office, census, exempt, plan="b", specs=[census.spec("married")])
    assert any("exactly that persons by area@district" in one for one in guard.decide([]))
    other = tmp_path / "other"
    publish(other, census, by=(("area@district", "sex"),), method=exempt)
    guard = open_guard(other, census, cell_key(), plan="b", specs=[census.spec("married")])
    assert any("keep the exemption" in one for one in guard.decide([]))


def test_groups_that_are_nearly_the_same_are_warned_of(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census, specs=[census.spec("married", "age")])
    for universe, warned in (("age != 3", True), ("age >= 5", False), (None, False)):
        spec = census.spec("sex", universe=universe)
        guard = open_guard(office, census, cell_key(), plan="b", specs=[spec])
        assert any("nearly, but not quite" in one for one in guard.decide([])) is warned


def test_another_census_has_other_records(tmp_path: Path) -> None:
    office = tmp_path / "office"

    def census(name: str, code: str, date: str, seed: int) -> Census:
        info = CensusInfo(name=name, code=(code,), reference_date=date)
        return dated(tmp_path / code, info, seed=seed)

    first = census("C", "21", "2021-05-09", 7)
    later = census("C", "31", "2031-05-09", 8)
    close = census("D", "D", "2021-12-31", 9)
    publish(office, first)
    # Ten years later the same tables are other tables; the registry keeps both.
    stronger = cell_key(scheme="CP3")
    done = publish(office, later, method=stronger)
    assert not any(change.changed or change.known for change in done.changes)
    assert done.notes == ()
    assert len(read_lock(office).tables) == 2 * len(done.tables)
    assert not any(change.changed for change in publish(office, first).changes)
    done = publish(office, close, method=cell_key(scheme="RR3"), plan="demography")
    assert any("only 236 days from the reference date" in note for note in done.notes)


def test_a_corrected_reference_date_hides_nothing(tmp_path: Path) -> None:
    office = tmp_path / "office"
    publish(office, dated(tmp_path / "a", CensusInfo(name="C", reference_date="2021-05-09")))
    for date in ("2021-05-10", "", "May"):
        again = dated(tmp_path / f"b{date}", CensusInfo(name="C", reference_date=date))
        with pytest.raises(Refused, match="settings of the method have changed"):
            publish(office, again, method=cell_key(scheme="CP3"))
