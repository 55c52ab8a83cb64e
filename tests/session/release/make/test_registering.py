"""Registering files that go out: two names, the file that was made, what went out since."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sdcensus.cli.release.release import app
from sdcensus.errors import InputError, Refused
from sdcensus.session.release.make.registering import register_file
from sdcensus.session.release.release import Release
from sdcensus.store.registered_files import read_registered
from sdcensus.testing.island import SECRET
from tests.session.release.town import BANDS, NAMES, YEARS, document, opened, put_out, town


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both files, made while nothing was out."""
    place = tmp_path_factory.mktemp("town")
    town(place / "census.store", households=200)
    for file in (YEARS, BANDS):
        path = document(place, file, accepted="1.0")
        Release(path, secret=SECRET).make(place / file["name"])
    return place


@pytest.fixture
def place(made: Path, tmp_path: Path) -> Path:
    for name in ("office", "years", "bands"):
        shutil.copytree(made / name, tmp_path / name)
    return tmp_path


def test_two_different_people_decide(place: Path) -> None:
    for names in ((), ("A. Ruiz",), ("A. Ruiz", " "), ("A. Ruiz", "a. ruiz ")):
        with pytest.raises(Refused):
            register_file(place / "years", place / "office", names=names)
    assert read_registered(place / "office") == ()
    (entry,) = register_file(place / "years", place / "office", names=NAMES, date="2026-02-01")
    assert (entry.names, entry.date, entry.census) == (NAMES, "2026-02-01", "T1")
    with pytest.raises(Refused, match="registered already"):
        register_file(place / "years", place / "office", names=NAMES)


def test_a_file_is_made_again_if_another_one_went_out_since(made: Path, place: Path) -> None:
    register_file(place / "years", place / "office", names=NAMES)
    with pytest.raises(Refused, match=r"years: registered since bands was made.*--replace"):
        register_file(place / "bands", place / "office", names=NAMES)
    assert len(read_registered(place / "office")) == 1
    # What the message says works, and measures both together.
    path = document(place, BANDS, accepted="1.0", store=made / "census.store")
    again = Release(path, secret=SECRET)
    result = again.make(place / "bands", replace=True)
    assert "together-files" in {table.name for table in result.result.cumulation}
    assert [entry.name for entry in again.register(place / "bands", names=NAMES)] == [
        "years",
        "bands",
    ]


def test_what_was_registered_is_kept_when_a_file_is_made_anew(made: Path, place: Path) -> None:
    (entry,) = register_file(place / "years", place / "office", names=NAMES)
    coarser = {**YEARS, "design": 'recode = { age = "ten_year" }'}
    path = document(place, coarser, accepted="1.0", store=made / "census.store")
    Release(path, secret=SECRET).make(place / "years", replace=True)
    assert (place / "office" / entry.folder / entry.shown).is_file()
    both = register_file(place / "years", place / "office", names=NAMES)
    assert len({each.shown for each in both}) == 2


def test_each_design_that_was_made_can_be_registered(made: Path, tmp_path: Path) -> None:
    path = document(tmp_path, YEARS, accepted="1.0", store=made / "census.store")
    second = '[[design]]\nname = "B"\nhouseholds = "1/20"\n'
    path.write_text(path.read_text(encoding="utf-8") + second, encoding="utf-8")
    release = Release(path, secret=SECRET)
    release.make(tmp_path / "first")
    release.make(tmp_path / "second", design="B")
    # The one that was not made last, as what it is; what was done is kept with each of them.
    (entry,) = release.register(tmp_path / "first", names=NAMES)
    assert entry.design != "B"
    kept = sorted((tmp_path / "office" / entry.folder).glob("entry-*.json"))
    assert [json.loads(each.read_bytes())["done"]["design"] for each in kept].count("B") == 1
    assert len(kept) == 2
    # It was not measured beside the first one: the command that is named makes that good.
    with pytest.raises(Refused, match=r"registered since.*--design B --out .*second --replace"):
        release.register(tmp_path / "second", names=NAMES)
    release.make(tmp_path / "second", design="B", replace=True)
    assert release.register(tmp_path / "second", names=NAMES)[-1].design == "B"


@pytest.mark.parametrize("field", ["content", "beside", "licence", "records", ""])
def test_an_entry_of_another_version_is_told_with_the_remedy(place: Path, field: str) -> None:
    (path,) = (place / "office").glob("*years*/entry-*.json")
    entry = json.loads(path.read_bytes())
    if field:
        del entry[field]
    else:
        entry["records"] = "many"
    path.write_text(json.dumps(entry), encoding="utf-8")
    with pytest.raises(InputError, match=r"Make the file again: .*--replace"):
        register_file(place / "years", place / "office", names=NAMES)
    # As if an earlier sdcensus had kept one entry for all.
    path.rename(path.with_name("entry.json"))
    with pytest.raises(InputError, match=r"make the file again: .*--replace"):
        register_file(place / "years", place / "office", names=NAMES)
    assert read_registered(place / "office") == ()


def test_files_of_another_census_do_not_stand_in_the_way(made: Path, place: Path) -> None:
    other = document(place, YEARS, accepted="1.0", store=made / "census.store")
    put_out(opened(other), census="T0", shown="records-0.parquet")
    assert register_file(place / "bands", place / "office", names=NAMES)[-1].name == "bands"


def test_only_the_file_that_was_made_is_registered_in_its_own_office(place: Path) -> None:
    with pytest.raises(InputError, match=r"knows nothing of the file 'years'.*--office"):
        register_file(place / "years", place / "another", names=NAMES)
    csv = next((place / "years").glob("*.csv"))
    csv.write_bytes(csv.read_bytes() + b"1")
    with pytest.raises(Refused, match="is not as it was made"):
        register_file(place / "years", place / "office", names=NAMES)
    runner = CliRunner()
    arguments = ["register", str(place / "bands"), "--name", "A", "--name", "B"]
    wrong = runner.invoke(app, [*arguments, "--office", str(place / "another")])
    assert isinstance(wrong.exception, InputError)
    right = runner.invoke(app, arguments)
    assert right.exit_code == 0
    assert "Files that are out: 1." in right.output
