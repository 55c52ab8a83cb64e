from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import Refused, SpecError, StoreError
from sdcensus.methods.method import Method
from sdcensus.methods.rounding import ConventionalRounding
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.published.lock import EventKind
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.guard.guard import (
    REVISION_MINIMUM,
    TableChanges,
    open_guard,
    open_registry,
    read_lock,
    series_key_version,
)
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.registry import Registry
from sdcensus.testing.stores import Units
from tests.session.publish.publications import (
    BY,
    cell_key,
    corrected,
    people,
    publish,
    stored,
    without,
)

Leaves = npt.NDArray[Any]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*.*")}


def moved_everywhere(leaves: Leaves, share: int = 2) -> Leaves:
    """Every second person a year older, so that many records change behind every number."""
    made = leaves.copy()
    made[::share] = (made[::share] + 1) % 10
    return made


def test_the_same_numbers_again_change_nothing(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census)
    before = files_of(office)
    again = publish(office, census)
    assert files_of(office) == before
    assert all(change.known and not change.changed for change in again.changes)
    assert again.notes == ()


def test_the_lock_tells_how_numbers_were_made_and_no_number(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    publish(tmp_path / "office", census, date="2026-03-01")
    path = tmp_path / "office" / "publication.lock"
    assert is_owner_only(path)
    lock = read_lock(tmp_path / "office")
    assert [event.kind for event in lock.events] == [EventKind.FIRST]
    assert lock.events[0].date == "2026-03-01"
    assert len(lock.tables) == len(BY)
    (making,) = lock.makings
    assert (making.method, making.key_version, making.consistent) == ("cell-key", 1, True)
    assert making.data_version == census.store.manifest.data_version
    assert json.loads(making.settings)["lookup"] == making.lookup == lock.lookup() == "definition"
    text = path.read_text(encoding="utf-8")
    assert bytes(range(32)).hex() not in text
    assert lock == type(lock).from_json(lock.to_json())


def test_the_correction_of_one_record_is_refused(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    first = publish(office, stored(tmp_path / "a.store", units))
    age = units.leaves["age"].copy()
    age[0] = (age[0] + 5) % 10
    later = stored(tmp_path / "b.store", corrected(units, age=age))
    before = files_of(office)
    with pytest.raises(Refused, match=r"would change \d+ numbers .* published before") as refused:
        publish(office, later)
    assert "the data have changed" in str(refused.value)
    assert "--revision NAME" in str(refused.value)
    with pytest.raises(Refused, match="would show who was corrected") as refused:
        publish(office, later, revision="corrections")
    assert f"fewer than {REVISION_MINIMUM} records" in str(refused.value)
    assert "--rekey" in str(refused.value)
    assert f"parish P{units.leaves['area'][0]}" in str(refused.value)
    # What is out stays as it was, up to values put down that nobody reads.
    now = files_of(office)
    assert {name: now[name] for name in before} == before
    assert Registry.open(office / "registry").entries() == (Registry(office / "registry").entries())
    assert len(Registry.open(office / "registry").entries()) == len(BY)
    # Without the guard the difference would have been the person, and nothing else.
    for spec_hash, table in first.tables.items():
        cube = later.tabulate(table.spec)
        new = cell_key().protect(cube).table
        assert isinstance(new, Table)
        where = np.argwhere(new.published != table.published)
        holds = cells_with_first(units, age, table.spec)
        assert {tuple(one) for one in where.tolist()} <= holds
        assert spec_hash == table.spec.hash()


def cells_with_first(units: Units, age: Leaves, spec: TableSpec) -> set[tuple[int, ...]]:
    """The cells that hold the first person before or after the correction."""
    found: set[tuple[int, ...]] = set()
    for ages in (units.leaves["age"], age):
        leaves = {**units.leaves, "age": ages}
        axes = []
        for axis in spec.axes:
            leaf = int(leaves[axis.variable.name][0])
            groups = [
                0 if block.level == "_T" else axis.variable.level(block.level).group[leaf]
                for block in axis.blocks
            ]
            axes.append([block.start + at for block, at in zip(axis.blocks, groups, strict=True)])
        found |= set(itertools.product(*axes))
    return found


def test_a_revision_with_enough_changed_records_passes(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    by = (("area@parish+district", "sex"), ("sex", "married"))
    publish(office, stored(tmp_path / "a.store", units), by=by)
    # In every parish a dozen men are found to be women.
    sex = units.leaves["sex"].copy()
    for area in range(7):
        men = np.flatnonzero((units.leaves["area"] == area) & (sex == 0))[:12]
        sex[men] = 1
    later = stored(tmp_path / "b.store", corrected(units, sex=sex))
    with pytest.raises(Refused, match="would change"):
        publish(office, later, by=by)
    only = (("area@parish+district", "sex"),)
    done = publish(office, later, by=only, revision="sex corrected", date="2026-05-01")
    assert done.changes[0].changed > 0
    assert any("Revision 'sex corrected'" in note for note in done.notes)
    lock = read_lock(office)
    assert [event.kind for event in lock.events] == [EventKind.FIRST, EventKind.REVISION]
    assert (lock.events[1].name, lock.events[1].date) == ("sex corrected", "2026-05-01")
    # The registry knows both; the last one counts.
    registry = Registry.open(office / "registry")
    assert [entry.publication for entry in registry.entries()][-1] == "sex corrected"
    (table,) = done.tables.values()
    assert registry.conflicts(table) == () or all(
        conflict.entry.spec != table.spec for conflict in registry.conflicts(table)
    )
    again = publish(office, later, by=only)
    assert not again.changes[0].changed


def test_one_area_with_too_few_corrections_is_named(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    by = (("area@parish", "sex"),)
    publish(office, stored(tmp_path / "a.store", units), by=by)
    sex = units.leaves["sex"].copy()
    for area, count in ((0, 30), (1, 30), (6, 4)):
        men = np.flatnonzero((units.leaves["area"] == area) & (sex == 0))[:count]
        sex[men] = 1
    later = stored(tmp_path / "b.store", corrected(units, sex=sex))
    with pytest.raises(Refused) as refused:
        publish(office, later, by=by, revision="r")
    text = str(refused.value)
    assert "Areas with too few changed records: parish P6." in text
    assert "wait until more corrections" in text
    report = office / "revision-check.csv"
    assert is_owner_only(report)
    lines = report.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("table,area,changed_numbers,with_fewer_than_10")
    assert any(",parish P6," in line and line.endswith(",4") for line in lines)
    # The office may ask for more or less, but for one never.
    assert publish(office, later, by=by, revision="r", minimum=4).changes[0].changed
    with pytest.raises(SpecError, match="at least 2"):
        publish(office, later, by=by, revision="r2", minimum=1)


def test_rekeying_changes_numbers_everywhere(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    first = publish(office, stored(tmp_path / "a.store", units))
    age = units.leaves["age"].copy()
    age[0] = (age[0] + 5) % 10
    later = stored(tmp_path / "b.store", corrected(units, age=age))
    done = publish(office, later, revision="2026", rekey=True)
    lock = read_lock(office)
    assert [event.kind for event in lock.events] == [EventKind.FIRST, EventKind.REKEYING]
    assert lock.looks == 2
    assert lock.key_version() == 2
    assert any("drawn 2 times" in note for note in done.notes)
    # In every area about as many numbers change as in that of the corrected person.
    by_parish = first.tables[later.spec(*BY[0]).hash()]
    new = done.tables[by_parish.spec.hash()]
    shown = (by_parish.published != 0) | (new.published != 0)
    changed = (by_parish.published != new.published) & shown
    shares = changed.sum(axis=(1, 2)) / np.maximum(shown.sum(axis=(1, 2)), 1)
    assert shares.min() > 0.5
    # The key version stays where it is: the next run gives the same numbers without being told.
    assert series_key_version(office, None) == 2
    assert not any(change.changed for change in publish(office, later).changes)
    # The same command again is the same event, not one more.
    again = publish(office, later, revision="2026", rekey=True)
    assert not any(change.changed for change in again.changes)
    assert len(read_lock(office).events) == 2


def test_rekeying_that_draws_nothing_anew_is_refused(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    by = (("area@parish", "sex", "age"),)
    plain = ConventionalRounding(5)
    publish(office, stored(tmp_path / "a.store", units), by=by, method=plain)
    age = units.leaves["age"].copy()
    age[:3] = (age[:3] + 5) % 10
    later = stored(tmp_path / "b.store", corrected(units, age=age))
    with pytest.raises(Refused, match="next to no numbers"):
        publish(office, later, by=by, method=plain, revision="r", rekey=True)


@pytest.mark.parametrize("lookup", [one.value for one in Lookup])
def test_rekeying_works_for_every_look_up(tmp_path: Path, lookup: str) -> None:
    units = people()
    by = (("area@parish", "sex", "age"),)
    age = units.leaves["age"].copy()
    age[:3] = (age[:3] + 5) % 10
    later = stored(tmp_path / "b.store", corrected(units, age=age))
    before = stored(tmp_path / "a.store", units)
    publish(tmp_path / "office", before, by=by, method=cell_key(lookup=lookup))
    publish(
        tmp_path / "office",
        later,
        by=by,
        method=cell_key(2, lookup=lookup),
        revision="r",
        rekey=True,
    )
    lock = read_lock(tmp_path / "office")
    assert (lock.looks, lock.key_version()) == (2, 2)


def test_exempt_totals_show_a_correction_even_after_rekeying(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    first = stored(tmp_path / "a.store", units)
    by = (("area@parish+district", "sex"),)

    def method(census: Census, version: int) -> Method:
        return cell_key(version, exempt=[census.spec("area@district-total")])

    publish(office, first, by=by, method=method(first, 1))
    area = units.leaves["area"].copy()
    moved = np.flatnonzero(area == 0)[:3]
    area[moved] = 6
    later = stored(tmp_path / "b.store", corrected(units, area=area))
    with pytest.raises(Refused, match="New keys do not hide 3 changed numbers") as refused:
        publish(office, later, by=by, method=method(later, 2), revision="r", rekey=True)
    assert "district D2" in str(refused.value)


def test_other_settings_need_rekeying(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census)
    stronger = cell_key(scheme="CP3")
    with pytest.raises(Refused, match=r"settings of the method have changed \(.*rows") as refused:
        publish(office, census, method=stronger)
    assert "import_published" in str(refused.value)
    assert "the data have changed" not in str(refused.value)
    with pytest.raises(Refused, match="not only because of corrected records"):
        publish(office, census, method=stronger, revision="r")
    with pytest.raises(Refused, match="the method is 'conventional-rounding' instead of"):
        publish(office, census, method=ConventionalRounding(3))
    with pytest.raises(Refused, match="the key version is 2 instead of 1"):
        publish(office, census, method=cell_key(2))
    publish(office, census, method=cell_key(2, scheme="CP3"), revision="r", rekey=True)
    assert read_lock(office).looks == 2


def test_a_changed_store_with_the_same_numbers_is_allowed_and_noted(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    by = (("area@parish", "sex"),)
    publish(office, stored(tmp_path / "a.store", units), by=by)
    age = moved_everywhere(units.leaves["age"])
    later = stored(tmp_path / "b.store", corrected(units, age=age))
    done = publish(office, later, by=by)
    assert done.notes == (
        "The data are others than when 1 table was published; the published numbers are the same.",
    )


def test_further_tables_are_recorded_and_old_ones_are_remembered(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census, by=BY[:1])
    done = publish(office, census, by=BY[1:])
    assert [event.kind for event in read_lock(office).events] == [
        EventKind.FIRST,
        EventKind.ADDITION,
    ]
    assert any("no longer part of it" in note for note in done.notes)
    assert len(read_lock(office).tables) == len(BY)


def test_tables_of_another_run_are_compared_by_their_records(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    publish(office, stored(tmp_path / "a.store", units), by=(("area@district", "sex"),))
    sex = 1 - units.leaves["sex"]
    later = stored(tmp_path / "b.store", corrected(units, sex=sex))
    with pytest.raises(Refused, match=r"published in persons by area@district, sex"):
        publish(office, later, by=(("sex", "married"),), plan="other")
    done = publish(office, later, by=(("sex", "married"),), plan="other", revision="swap")
    assert any("shows other numbers for some of the same records" in note for note in done.notes)


def test_numbers_that_a_revision_has_changed_may_stand_in_further_tables(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    publish(office, stored(tmp_path / "a.store", units), by=(("sex", "married"),))
    later = stored(tmp_path / "b.store", corrected(units, sex=1 - units.leaves["sex"]))
    publish(office, later, by=(("sex", "age"),), revision="swap")
    further = (("sex", "age"), ("sex", "age@class"))
    assert all(change.changed == 0 for change in publish(office, later, by=further).changes)
    # What no later table shows is still compared with what is out.
    with pytest.raises(Refused, match="published in persons by sex, married"):
        publish(office, later, by=(*further, ("sex", "married", "age@class")))


def test_a_refused_run_leaves_nothing_in_the_registry(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    publish(office, stored(tmp_path / "a.store", units), by=(("sex", "age"),))
    before = sorted(path.name for path in (office / "registry").rglob("*"))
    later = stored(tmp_path / "b.store", corrected(units, sex=1 - units.leaves["sex"]))
    with pytest.raises(Refused):
        publish(office, later, by=(("sex", "age"), ("area@district", "married")))
    assert sorted(path.name for path in (office / "registry").rglob("*")) != before
    open_registry(office).batch().forget_others()
    assert sorted(path.name for path in (office / "registry").rglob("*")) == before


def test_without_the_old_store_only_rekeying_is_possible(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    first = stored(tmp_path / "a.store", units)
    publish(office, first)
    later = stored(
        tmp_path / "b.store", corrected(units, age=moved_everywhere(units.leaves["age"]))
    )
    (tmp_path / "a.store").replace(tmp_path / "archive.store")
    with pytest.raises(Refused, match="--old-store PATH") as refused:
        publish(office, later, revision="r")
    assert "only re-keying is possible" in str(refused.value)
    with pytest.raises(Refused, match="holds other data than were published"):
        publish(office, later, revision="r", old_store=tmp_path / "b.store")
    with pytest.raises(Refused, match="would show who"):
        publish(office, later, revision="r", old_store=tmp_path / "archive.store")
    assert publish(office, later, revision="r", rekey=True).changes[0].changed


def test_people_who_were_added_or_removed_are_changes_too(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    by = (("area@district-total",),)
    rounded = ConventionalRounding(2)
    publish(office, stored(tmp_path / "a.store", units), by=by, method=rounded)
    gone = np.flatnonzero(units.leaves["area"] == 6)
    few = stored(tmp_path / "b.store", without(units, gone[:3].tolist()))
    with pytest.raises(Refused, match="district D2"):
        publish(office, few, by=by, revision="r", method=rounded)
    many = stored(tmp_path / "c.store", without(units, gone[:15].tolist()))
    done = publish(office, many, by=by, revision="r", method=rounded)
    assert done.changes[0].changed == 1


def test_another_secret_cannot_be_compared(tmp_path: Path) -> None:
    units = people()
    office = tmp_path / "office"
    publish(office, stored(tmp_path / "a.store", units), method=ConventionalRounding(3))
    sex = 1 - units.leaves["sex"]
    later = stored(tmp_path / "b.store", corrected(units, sex=sex), secret_id="0" * 16)
    with pytest.raises(Refused, match="the secret is another one"):
        publish(office, later, method=ConventionalRounding(3), revision="r")


def test_a_killed_run_takes_up_what_it_has_looked_at(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office, other = tmp_path / "office", tmp_path / "other"
    method = cell_key()
    specs = [census.spec(*one) for one in BY]
    notes = []
    for spec in specs[:2]:
        guard = open_guard(office, census, method, plan="plan", specs=specs)
        done = method.protect(census.tabulate(spec))
        notes.append(json.dumps(guard.look(spec.title, done.table, done.provenance).to_json()))
    assert Registry.open(office / "registry").entries() == ()
    guard = open_guard(office, census, method, plan="plan", specs=specs)
    changes = [TableChanges.from_json(json.loads(note)) for note in notes]
    done = method.protect(census.tabulate(specs[2]))
    changes.append(guard.look(specs[2].title, done.table, done.provenance))
    # Beside them lies what a run of something else has left.
    rest = method.protect(census.tabulate("married"))
    guard.registry.batch().add(rest.table, provenance=rest.provenance)
    guard.decide(changes)
    folder = tmp_path / "notes"
    folder.mkdir()
    for own, name in guard.prepare(changes, folder).items():
        (folder / own).replace(office / name)
    publish(other, census)
    assert files_of(office) == files_of(other)
    broken = dict(changes[0].to_json(), entry="0" * 32)
    guard = open_guard(tmp_path / "third", census, method, plan="plan", specs=specs)
    with pytest.raises(StoreError, match="Begin the run anew"):
        guard.record([TableChanges.from_json(broken)])


def test_streamed_tables_are_known_by_a_digest(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    method = cell_key()
    spec = census.spec(*BY[0])
    made = method.protect(census.tabulate(spec)).provenance
    for digest, changed in (("a", 0), ("a", 0), ("b", spec.cells)):
        guard = open_guard(tmp_path / "office", census, method, plan="plan", specs=[spec])
        changes = [guard.look_streamed("big", spec, digest, made)]
        assert changes[0].changed == changed
        if changed:
            with pytest.raises(Refused, match="rules on what is withheld"):
                guard.decide(changes)
        else:
            assert any("keeps a digest" in one for one in guard.decide(changes))
            guard.record(changes)
    (entry,) = guard.registry.entries()
    assert not entry.has_values
    with pytest.raises(SpecError, match="streamed"):
        guard.registry.table(entry)
    assert guard.registry.conflicts(method.protect(census.tabulate(spec)).table) == ()


def test_names_of_events_are_used_once(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    office = tmp_path / "office"
    publish(office, census)
    publish(office, census, revision="r", rekey=True)
    with pytest.raises(Refused, match="another name"):
        publish(office, census, revision="r", method=cell_key(3))
    with pytest.raises(SpecError, match="needs --revision"):
        publish(office, census, rekey=True)
    with pytest.raises(SpecError, match="needs a name"):
        publish(office, census, revision=" ")
    with pytest.raises(Refused, match="makes the key version 3"):
        series_key_version(office, 1, revision="s", rekey=True)
    assert series_key_version(office, 1) == 1
    assert series_key_version(tmp_path / "new", 4) == 4


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "damaged"),
        ('{"format": "other", "version": 1}', "damaged"),
        ('{"format": "sdcensus-publication-lock", "version": 3}', "newer sdcensus"),
        ('{"format": "sdcensus-publication-lock", "version": 1, "makings": []}', "damaged"),
    ],
)
def test_a_damaged_lock_stops_everything(tmp_path: Path, text: str, match: str) -> None:
    (tmp_path / "publication.lock").write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(StoreError, match=match):
        read_lock(tmp_path)


def test_nothing_of_it_shows_figures(tmp_path: Path) -> None:
    census = stored(tmp_path / "a.store", people())
    done = publish(tmp_path / "office", census)
    for one in (
        done.changes[0],
        read_lock(tmp_path / "office"),
        read_lock(tmp_path / "office").makings[0],
    ):
        assert "confidential" in repr(one)
