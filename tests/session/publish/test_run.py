"""Publishing a plan: whole or not at all, the same bytes every time, nothing left over."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import sdcensus as sc
from sdcensus.errors import (
    DocumentError,
    OutputError,
    Refused,
    SecretError,
    SpecError,
    StoreError,
)
from sdcensus.model.secret import Secret
from sdcensus.session.publish.approval import verify
from sdcensus.session.publish.lock import taken
from sdcensus.session.publish.run import PublishOptions
from sdcensus.session.publish.workplace import MANIFEST, WrittenFile
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import island_units
from tests.session.publish.plans import (
    TABLES,
    Office,
    Stop,
    contents,
    copy_of,
    new_office,
    stopped_after,
)
from tests.session.publish.publications import corrected

ONE_TABLE = """
[[table]]
name = "ages"
rows = ["age@class"]
"""
SETTLED = {"census.store", "office.secret", "plan.toml", "published", "published.office"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Office:
    """An office that has published its plan; tests do not change it."""
    office = new_office(tmp_path_factory.mktemp("office"), formats=["csv", "xlsx", "px"])
    office.publish()
    return office


@pytest.fixture
def office(made: Office, tmp_path: Path) -> Office:
    """The same office before it has published."""
    return copy_of(made, tmp_path / "own")


# -------------------------------------------------------------------------------- what is made


def test_the_manifest_lists_every_file_with_its_digest(made: Office) -> None:
    manifest = json.loads((made.published / MANIFEST).read_text(encoding="utf-8"))
    listed = {one["name"]: one for one in manifest["files"]}
    assert set(listed) | {MANIFEST} == set(made.files())
    for name, one in listed.items():
        assert WrittenFile.of(made.published / name).to_json() == one
    assert [one["name"] for one in manifest["tables"]] == ["marital", "ages", "wed", "men"]
    of_tables = [file for one in manifest["tables"] for file in one["files"]]
    assert set(listed) - set(of_tables) == {"notes.html"}
    assert manifest["date"] == "2026-03-01"
    assert verify(made.published, office=made.office).sound


def test_a_table_without_a_title_says_what_it_shows(made: Office) -> None:
    manifest = json.loads((made.published / MANIFEST).read_text(encoding="utf-8"))
    titles = {one["name"]: one["title"]["en"] for one in manifest["tables"]}
    assert titles["ages"] == "Ages of the islanders"
    assert titles["marital"] == "Persons by area (parish, district), married and sex"


def test_what_the_office_keeps_is_for_its_owner_only(made: Office) -> None:
    assert is_owner_only(made.office)
    for path in made.office.rglob("*"):
        assert is_owner_only(path), path
    assert {path.name for path in made.own.iterdir()} == {
        *("published.json", "evaluation.html", "evaluation.xlsx")
    }
    assert made.beside() == SETTLED


def test_a_second_run_has_nothing_to_do(made: Office) -> None:
    before = {path: path.stat().st_mtime_ns for path in made.published.iterdir()}
    report = made.publish()
    assert report.unchanged
    assert report.products == ("marital", "ages", "wed", "men")
    assert report.files == len(before)
    assert {path: path.stat().st_mtime_ns for path in made.published.iterdir()} == before
    assert made.beside() == SETTLED


@pytest.mark.parametrize(
    "settings",
    [
        {"threads": 1},
        {"threads": 3, "memory": "1GB"},
        {"engine": "duckdb"},
        {"engine": "duckdb", "threads": 1, "memory": "700MB"},
    ],
    ids=str,
)
def test_neither_place_nor_threads_nor_memory_nor_engine_changes_a_byte(
    made: Office, office: Office, settings: dict[str, Any]
) -> None:
    for path in [office.plan, *office.store.rglob("*")]:
        os.utime(path, (1_000_000_000, 1_000_000_000))
    office.publish(**settings)
    assert office.files() == made.files()
    pages = ("evaluation.html", "evaluation.xlsx")
    assert all((office.own / page).read_bytes() == (made.own / page).read_bytes() for page in pages)


def test_another_folder_may_be_named(office: Office, tmp_path: Path) -> None:
    report = office.publish(out=tmp_path / "elsewhere" / "out")
    assert report.published == tmp_path / "elsewhere" / "out"
    assert {one.name for one in (tmp_path / "elsewhere").iterdir()} == {"out", "out.office"}
    assert not office.published.exists()


def test_files_that_were_lost_or_changed_are_made_again(made: Office, office: Office) -> None:
    office.publish()
    (office.published / "ages.csv").write_bytes(b"changed")
    (office.published / "marital.px").unlink()
    (office.own / "evaluation.html").unlink()
    report = office.publish()
    assert not report.unchanged
    assert report.changed == 0
    assert office.files() == made.files()
    assert (office.own / "evaluation.html").is_file()
    shutil.rmtree(office.published)
    office.publish()
    assert office.files() == made.files()


# -------------------------------------------------------------------------------- plans that change


def test_a_plan_may_grow_and_shrink(made: Office, office: Office) -> None:
    office.publish()
    office.write_plan(
        TABLES + ONE_TABLE.replace('"ages"', '"classes"'), formats=["csv", "xlsx", "px"]
    )
    report = office.publish()
    assert (report.made, report.changed) == (5, 0)
    now = office.files()
    same = set(made.files()) - {MANIFEST, "notes.html"}
    assert {name: now[name] for name in same} == {name: made.files()[name] for name in same}
    assert "classes.csv" in now
    office.write_plan(ONE_TABLE.replace('"ages"', '"classes"'))
    report = office.publish()
    assert set(office.files()) == {"classes.csv", "classes.about.json", "notes.html", MANIFEST}
    assert any("no longer part of it" in warning for warning in report.warnings)
    assert office.beside() == SETTLED


def test_two_plans_may_share_an_office_folder(office: Office) -> None:
    first = office.write_plan(output='office_folder = "office"\n', formats=["csv"])
    second = office.write_plan(
        ONE_TABLE.replace('"ages"', '"classes"'), output='office_folder = "office"\n', name="b.toml"
    )
    office.publish(first)
    office.publish(second, out=office.folder / "second")
    assert {"plan", "b"} <= {path.name for path in (office.folder / "office").iterdir()}
    before = contents(office.folder)
    assert office.publish(first).unchanged
    assert office.publish(second, out=office.folder / "second").unchanged
    assert contents(office.folder) == before
    assert verify(office.published, office=office.folder / "office").sound
    assert verify(office.folder / "second", office=office.folder / "office").sound


def test_an_interrupted_plan_survives_another_one_of_the_same_office(
    made: Office, office: Office
) -> None:
    office.write_plan(formats=["csv", "xlsx", "px"], output='office_folder = "office"\n')
    second = office.write_plan(ONE_TABLE, output='office_folder = "office"\n', name="b.toml")
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(2), threads=1)
    office.publish(second, out=office.folder / "second")
    with pytest.raises(Refused, match="what was published before changed since"):
        office.publish()
    assert office.publish(restart=True).made == 4
    assert {**office.files(), MANIFEST: b""} == {**made.files(), MANIFEST: b""}


def test_numbers_that_are_out_do_not_change_without_a_name(office: Office) -> None:
    office.publish()
    before = office.files()
    old = office.folder / "old.store"
    shutil.copytree(office.store, old)
    other_people(office)
    settled = contents(office.folder)
    with pytest.raises(Refused, match="This run would change"):
        office.publish()
    assert contents(office.folder) == settled
    with pytest.raises(Refused, match="--old-store"):
        office.publish(revision="corrections")
    assert contents(office.folder) == settled
    report = office.publish(revision="corrections", old_store=old)
    shutil.rmtree(old)
    assert report.changed > 0
    assert office.files() != before
    assert office.beside() == SETTLED
    assert office.publish().unchanged
    assert office.publish(revision="corrections").unchanged


def test_new_keys_are_an_event_with_a_name(office: Office) -> None:
    office.publish()
    before = office.files()
    with pytest.raises(SpecError, match="--rekey needs --revision"):
        office.publish(rekey=True)
    assert office.publish(rekey=True, revision="new-keys").changed > 0
    after = office.files()
    assert after != before
    assert office.publish().unchanged
    assert office.publish(rekey=True, revision="new-keys").unchanged
    assert office.files() == after


# -------------------------------------------------------------------------------- interruptions


def test_an_interrupted_run_goes_on_with_the_same_bytes(made: Office, office: Office) -> None:
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(2), threads=1)
    assert not office.published.exists()
    report = office.publish()
    assert 1 <= report.made <= 2
    assert office.files() == made.files()
    assert office.beside() == SETTLED
    assert not list(office.office.rglob("*.part"))


def test_files_of_an_interrupted_run_that_were_damaged_are_made_again(
    made: Office, office: Office
) -> None:
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(3), threads=1)
    hidden = office.folder / ".published.part"
    first = sorted(hidden.glob("*.csv"))[0]
    first.write_bytes(first.read_bytes()[:-1] + b"9")
    (hidden / "stray.txt").write_bytes(b"")
    for path in (office.own / ".part" / "finished").iterdir():
        path.write_bytes(path.read_bytes()[:100])
        break
    office.publish()
    assert office.files() == made.files()


def other_people(office: Office) -> None:
    units = island_units(2000)
    office.replace_store(corrected(units, sex=1 - units.leaves["sex"]))


def other_plan(office: Office) -> None:
    office.write_plan(ONE_TABLE)


def other_method(office: Office) -> None:
    text = office.plan.read_text(encoding="utf-8")
    office.plan.write_text(text.replace("strong", "light"), encoding="utf-8", newline="")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (other_people, "the store changed since"),
        (other_plan, "the plan and the tables changed since"),
        (other_method, "the plan and the method changed since"),
    ],
)
def test_what_changed_since_the_interruption_is_told(
    office: Office, change: object, what: str
) -> None:
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(1), threads=1)
    assert callable(change)
    change(office)
    left = contents(office.folder)
    with pytest.raises(Refused, match=f"{what}.*--restart"):
        office.publish()
    assert contents(office.folder) == left
    office.publish(restart=True)
    assert verify(office.published, office=office.office).sound
    assert office.beside() == SETTLED


def test_earlier_outputs_are_untouched_until_the_end(office: Office) -> None:
    office.publish()
    before = office.files()
    other_people(office)
    with pytest.raises(Stop):
        office.publish(revision="r", progress=stopped_after(3), threads=1)
    assert office.files() == before
    assert verify(office.published, office=office.office).sound


def test_what_an_interruption_left_goes_when_there_is_nothing_to_do(office: Office) -> None:
    office.publish()
    before = contents(office.folder)
    text = office.plan.read_bytes()
    office.write_plan(TABLES + ONE_TABLE.replace('"ages"', '"classes"'))
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(4), threads=1)
    assert contents(office.folder) != before
    office.plan.write_bytes(text)
    assert office.publish().unchanged
    # A list of codes that no table has any more may stay.
    lists = "published.office/registry/lists/"
    left = {name: content for name, content in contents(office.folder).items() if name in before}
    assert left == before
    assert all(name.startswith(lists) for name in set(contents(office.folder)) - set(before))


def test_two_runs_at_the_same_time_do_not_meet(office: Office) -> None:
    with (
        taken(office.office),
        pytest.raises(OutputError, match="Another run is publishing"),
    ):
        office.publish()
    office.publish()


# -------------------------------------------------------------------------------- folders


def test_the_folder_of_another_plan_is_left_alone(office: Office) -> None:
    office.publish()
    before = contents(office.folder)
    other = office.folder / "other"
    other.mkdir()
    text = office.plan.read_text(encoding="utf-8")
    text = text.replace('store = "census.store"', 'store = "../census.store"')
    text = text.replace('folder = "published"', 'folder = "../published"')
    renamed = other / "second.toml"
    renamed.write_text(text, encoding="utf-8", newline="")
    with pytest.raises(OutputError, match=r"holds the publication 'plan'.*'second'"):
        office.publish(renamed)
    same_name = other / "plan.toml"
    fewer = text.replace('name = "marital"', 'name = "marriages"')
    same_name.write_text(fewer, encoding="utf-8", newline="")
    with pytest.raises(OutputError, match=r"another plan of the same name.*'marital'"):
        office.publish(same_name)
    shutil.rmtree(other)
    assert contents(office.folder) == before


def test_a_plan_that_was_moved_is_the_same_plan(office: Office) -> None:
    office.publish()
    moved = office.folder / "moved"
    moved.mkdir()
    text = office.plan.read_text(encoding="utf-8").replace('"census.store"', '"../census.store"')
    (moved / "plan.toml").write_text(
        text.replace('"published"', '"../published"'), encoding="utf-8", newline=""
    )
    assert office.publish(moved / "plan.toml").changed == 0


@pytest.mark.parametrize("name", ["letter.txt", MANIFEST])
@pytest.mark.parametrize("content", ["{}", "[1]", "not json", '{"publication": "plan"}'])
def test_a_folder_of_somebody_else_is_left_alone(office: Office, name: str, content: str) -> None:
    office.published.mkdir()
    (office.published / name).write_text(content, encoding="utf-8", newline="")
    before = contents(office.folder)
    with pytest.raises(OutputError, match="was not made by sdcensus publish"):
        office.publish()
    assert contents(office.folder) == before


def test_a_stray_file_is_never_thrown_away(office: Office) -> None:
    office.publish()
    stray = office.published / "readme.txt"
    stray.write_text("mine", encoding="utf-8", newline="")
    (office.published / "ages.csv").unlink()
    with pytest.raises(OutputError, match=r"holds 'readme.txt'"):
        office.publish()
    assert stray.is_file()


def test_a_file_in_the_way_is_told(office: Office, tmp_path: Path) -> None:
    office.published.write_bytes(b"")
    with pytest.raises(OutputError, match="is a file"):
        office.publish()
    (tmp_path / "file").write_bytes(b"")
    for out in (tmp_path / "file" / "out", tmp_path / "file" / "deep" / "out"):
        with pytest.raises(OutputError, match="file"):
            office.publish(out=out)
    assert (tmp_path / "file").read_bytes() == b""


def test_folders_never_lie_in_each_other(office: Office, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for inside in (office.store, office.store / "out", office.store.parent):
        with pytest.raises(OutputError, match="cannot lie in each other"):
            office.publish(out=inside)
    plan = office.write_plan(output=f"office_folder = '{(out / 'office').as_posix()}'\n")
    with pytest.raises(OutputError, match="cannot lie inside"):
        office.publish(plan, out=out)
    with pytest.raises(OutputError, match="is for everybody"):
        office.publish(plan, out=out / "office" / "public")
    link = tmp_path / "link"
    try:
        link.symlink_to(out, target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    with pytest.raises(OutputError, match="cannot lie inside"):
        office.publish(plan, out=link)
    assert not out.exists()


def test_a_link_keeps_leading_to_what_is_published(office: Office, tmp_path: Path) -> None:
    real = tmp_path / "disk" / "tables"
    real.mkdir(parents=True)
    link = tmp_path / "public"
    try:
        link.symlink_to(real, target_is_directory=True)
    except OSError:
        pytest.skip("links cannot be made here")
    office.publish(out=link)
    assert link.is_symlink()
    assert (real / MANIFEST).is_file()
    assert office.publish(out=link).unchanged


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_a_folder_without_a_name_is_refused(
    office: Office, out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(office.folder)
    with pytest.raises(OutputError):
        office.publish(out=out)


# -------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"memory": "4XB"}, "The memory '4XB' cannot be read"),
        ({"memory": "20MB"}, "is too small"),
        ({"threads": 0}, "at least one thread"),
        ({"engine": "abacus"}, "There is no engine 'abacus'"),
        ({"revision": " "}, "A revision needs a name"),
        ({"revision_minimum": 1, "revision": "r"}, "at least 2"),
    ],
)
def test_settings_that_make_no_sense(
    office: Office, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        office.publish(**settings)
    assert not office.published.exists()


def test_settings_may_be_said_by_name(made: Office, office: Office) -> None:
    options = PublishOptions(threads=1, memory="3GB")
    sc.publish(office.plan, options, secret=office.secret, threads=2, restart=True)
    assert office.files() == made.files()


def test_a_setting_that_does_not_exist_is_refused_with_those_that_do(office: Office) -> None:
    with pytest.raises(SpecError, match=r"There is no setting 'revison'.*revision"):
        sc.publish(office.plan, secret=office.secret, revison="2022")
    assert not office.published.exists()


def test_the_secret_must_be_the_one_of_the_store(office: Office, tmp_path: Path) -> None:
    with pytest.raises(SecretError):
        office.publish(secret=tmp_path / "missing.secret")
    other = tmp_path / "other.secret"
    write_secret(Secret(bytes(32)), other)
    with pytest.raises(SecretError):
        office.publish(secret=other)
    assert office.beside() == SETTLED - {"published", "published.office"}


def test_a_missing_or_damaged_store_is_told_at_its_line(office: Office) -> None:
    column = next(path for path in sorted(office.store.rglob("*")) if "sex" in path.name)
    data = column.read_bytes()
    column.write_bytes(data[: len(data) // 2])
    with pytest.raises((DocumentError, StoreError), match="damaged"):
        office.publish()
    shutil.rmtree(office.store)
    with pytest.raises(DocumentError, match="line 1"):
        office.publish()
    assert not office.published.exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("notes", "b"), "'notes'"),
        (("Manifest", "b"), "'Manifest'"),
        (("ages", "AGES"), "AGES"),
        (("stra\u00dfe", "STRASSE"), "STRASSE"),
        (("a.about", "a"), "a.about.json"),
        (("a.sdmx", "a"), "a.sdmx.csv"),
    ],
)
def test_names_that_would_be_one_file_somewhere(
    office: Office, names: tuple[str, str], message: str
) -> None:
    tables = "".join(ONE_TABLE.replace('"ages"', f'"{name}"') for name in names)
    office.write_plan(tables, formats=["csv", "json-stat", "sdmx-csv"])
    with pytest.raises((SpecError, DocumentError), match=message):
        office.publish()


@pytest.mark.parametrize("name", ["x" * 101, "../x", "a/b", "nul", ".hidden", "a b", ""])
def test_names_that_are_no_names_of_files(office: Office, name: str) -> None:
    office.write_plan(ONE_TABLE.replace('"ages"', json.dumps(name)))
    with pytest.raises(DocumentError, match="name"):
        office.publish()


def test_a_long_name_in_a_script_of_many_bytes_is_refused(office: Office) -> None:
    office.write_plan(ONE_TABLE.replace("ages", "\u6f22" * 99))
    with pytest.raises(SpecError, match="too long"):
        office.publish()


def test_the_lock_of_somebody_who_cannot_be_understood(office: Office) -> None:
    office.office.mkdir()
    (office.office / "running.lock").write_bytes(b"this is no database, but long enough" * 99)
    with pytest.raises(OutputError, match=r"running\.lock cannot be used"):
        office.publish()


def test_a_damaged_lock_stops_everything(office: Office) -> None:
    office.publish()
    before = office.files()
    (office.office / "publication.lock").write_text("{}", encoding="utf-8", newline="")
    with pytest.raises(StoreError):
        office.publish()
    assert office.files() == before


def test_half_written_files_of_a_killed_run_are_removed(office: Office) -> None:
    office.publish()
    before = contents(office.folder)
    for folder in (office.office, office.own, office.office / "registry" / "published"):
        (folder / ".0123456789abcdef.part").write_bytes(b"half")
    mine = office.office / ".notes.part"
    mine.write_bytes(b"mine")
    assert office.publish().unchanged
    assert mine.is_file()
    mine.unlink()
    assert contents(office.folder) == before
