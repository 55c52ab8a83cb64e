"""A holder's copy is the registered file in another order, and none exists without a record."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow.csv as pacsv
import pytest

from sdcensus.errors import OutputError, Refused
from sdcensus.model.schema.variable import Entity
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.licence.rules import registered_file
from sdcensus.session.release.make.checking import check_folder, read_manifest
from sdcensus.session.release.release import Release
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.registered_files import FILES_FILE
from sdcensus.testing.island import SECRET
from tests.session.licence.handed import DOCUMENT, enter, licensed, prepare
from tests.session.release.file_records import settlement_store

ROOT = Path(__file__).resolve().parents[3]
NUMBERS = ("person_number", "household_number")


def lines(folder: Path, table: str = "persons") -> list[tuple[str, ...]]:
    """The records of a csv file in their order, without numbers of units."""
    read = pacsv.read_csv(folder / f"lf-{table}.csv")
    told = [name for name in read.column_names if name not in NUMBERS]
    return list(zip(*(read.column(name).to_pylist() for name in told), strict=True))


def households(folder: Path) -> Counter[tuple[object, ...]]:
    """Every household with its members, as what they say."""
    read = pacsv.read_csv(folder / "lf-persons.csv").column("household_number").to_pylist()
    own = lines(folder, "households")
    members: dict[int, list[tuple[str, ...]]] = {}
    for number, person in zip(read, lines(folder), strict=True):
        members.setdefault(number, []).append(person)
    return Counter(
        (unit, tuple(sorted(members.get(at, []), key=repr))) for at, unit in enumerate(own, start=1)
    )


def test_copies_are_the_same_file_in_orders_of_their_own(handed: tuple[Path, Release]) -> None:
    folder, _ = handed
    own, *given = (folder / name for name in ("files", *(f"copy-2026-00{at}" for at in (1, 2, 3))))
    orders = [lines(own)]
    for copy in given:
        assert check_folder(copy).sound
        assert is_owner_only(copy)
        for table in ("persons", "households"):
            assert Counter(lines(copy, table)) == Counter(lines(own, table))
        assert households(copy) == households(own)
        assert lines(copy) not in orders
        orders.append(lines(copy))
        mine = {each["name"]: each["sha256"] for each in read_manifest(copy)["files"]}
        theirs = {each["name"]: each["sha256"] for each in read_manifest(own)["files"]}
        records = {name for table in read_manifest(own)["tables"] for name in table["files"]}
        assert mine.keys() == theirs.keys()
        papers = theirs.keys() - records
        assert papers
        assert {name: mine[name] for name in papers} == {name: theirs[name] for name in papers}
        assert all(mine[name] != theirs[name] for name in records)


def test_the_register_says_which_copy_and_its_digests(handed: tuple[Path, Release]) -> None:
    folder, release = handed
    holding = release.licences.holding("2026-002")
    (event,) = holding.copies
    assert (event.file, event.copy, event.date) == ("lf", "2026-002", "2026-02-01")
    assert event.place == str(folder / "copy-2026-002")
    assert dict(event.digests).keys() == {path.name for path in Path(event.place).iterdir()}
    assert repr(release.hand_out("2026-002", event.place, date="2026-02-02")).endswith(
        "confidential>"
    )
    assert len(release.licences.holding("2026-002").copies) == 1  # recorded already, nothing new


def test_who_may_not_hold_a_copy_gets_none(handed: tuple[Path, Release]) -> None:
    folder, release = handed
    enter(folder / "office", "something-else")
    other = licensed(folder, "Olga Petrova", "something-else")
    for number, message, day in (
        (other, "is for something-else, not for lf", "2026-02-01"),
        ("2026-001", "is expired on 2100-01-01", "2100-01-01"),
    ):
        with pytest.raises(Refused, match=message):
            release.hand_out(number, folder / "none", date=day)
    applied = release.licences.apply("Ida Berg", ["lf"], project="P", date="2026-01-05").number
    with pytest.raises(Refused, match="is applied"):
        release.hand_out(applied, folder / "none", date="2026-02-01")
    with pytest.raises(OutputError, match="lies in the office folder"):
        release.hand_out("2026-001", folder / "office" / "copy", date="2026-02-01")
    with pytest.raises(OutputError, match="already exists"):
        release.hand_out("2026-001", folder / "files", date="2026-02-01")
    assert not (folder / "none").exists()


def test_a_copy_of_anything_else_than_the_registered_file_is_refused(tmp_path: Path) -> None:
    release = prepare(tmp_path, dwellings=200)
    number = licensed(tmp_path)
    document = tmp_path / "release.toml"
    changes = {
        "households = 0.5": ("households = 0.4", "the release document says something else"),
        'name = "A"': ('name = "B"', "has no such design any more"),
        'contact = "data@office.example"': ('contact = "x@y.z"', "says something else"),
        '"licensed-use"': ('"full-count"', "names another class of users"),
        'name = "lf"': ('name = "other"', "not for other"),
    }
    for before, (after, message) in changes.items():
        document.write_text(DOCUMENT.replace(before, after), encoding="utf-8")
        with pytest.raises(Refused, match=message):
            Release(document, secret=SECRET).hand_out(number, tmp_path / "copy", date="2026-02-01")
    assert release.licences.holding(number).copies == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["census.store", "files", "office", "office.secret", "release.toml"]
    )
    document.write_text(DOCUMENT, encoding="utf-8")
    given = Release(document, secret=SECRET).hand_out(number, tmp_path / "copy", date="2026-02-01")
    assert not given.settled


def test_files_that_are_not_registered_or_need_no_licence(tmp_path: Path) -> None:
    release = prepare(tmp_path, DOCUMENT.replace("licensed-use", "public-use"), dwellings=200)
    # An application of an earlier version, which looked at no register.
    enter(tmp_path / "office", "lf")
    number = licensed(tmp_path)
    (tmp_path / "office" / FILES_FILE).unlink()
    with pytest.raises(Refused, match="lf is not registered"):
        release.hand_out(number, tmp_path / "copy", date="2026-02-01")
    release.register(tmp_path / "files", names=("Ben Okafor", "Carla Díaz"), date="2026-01-01")
    with pytest.raises(Refused, match="public use file: it needs no licence"):
        release.hand_out(number, tmp_path / "copy", date="2026-02-01")
    with pytest.raises(Refused, match="not registered"):
        registered_file(tmp_path / "office", "another")


TREATMENTS = {
    "swap": '[risk]\nladder = ["sex", "age"]\n[swap]\nshare = 0.3\nmatch = ["children_by_sex"]',
    "targeted-swap": '[[treatment]]\nmethod = "targeted-swap risk_variables=sex,age rate=0.1"',
    "random-swap": '[[treatment]]\nmethod = "random-swap rate=0.1"',
    "pram": '[[treatment]]\nmethod = "pram variables=tenure stay=0.8"',
    "imputation": '[[treatment]]\nmethod = "over-imputation blank=tenure match=size rate=0.2"',
    "rank-swap": '[[treatment]]\nmethod = "rank-swap variables=income ranks=0.2"',
    "microaggregation": '[[treatment]]\nmethod = "microaggregation variables=income group=5"',
    "suppression": '[suppress]\nkeys = ["sex", "age"]\nk = 5',
    "deletion": "",
}


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_copies_of_treated_records_and_none_of_another_census(
    treatment: str, tmp_path: Path
) -> None:
    document = DOCUMENT.replace("households = 0.5", 'households = 0.5\nkeep = ["area"]')
    document += f"\n{TREATMENTS[treatment]}\n"
    if treatment == "deletion":
        document = document.replace("[make]", '[make]\ndelete = "deleted.csv"')
        settlement = settlement_store(tmp_path / "first.store", 200)
        digest = int(settlement.digests(Entity.PERSON)[7])
        (tmp_path / "deleted.csv").write_text(
            f"unit,record\nperson,{digest:016x}\n", encoding="utf-8"
        )
    release = prepare(tmp_path, document, dwellings=200)
    number = licensed(tmp_path)
    given = release.hand_out(number, tmp_path / "copy", date="2026-02-01")
    assert Counter(lines(given.folder)) == Counter(lines(tmp_path / "files"))
    copy = tmp_path / "copy" / "lf-persons.csv"
    assert release.holder(copy).holding == release.licences.holding(number)
    shutil.rmtree(tmp_path / "census.store")
    settlement_store(tmp_path / "census.store", 210)
    again = Release(tmp_path / "release.toml", secret=SECRET)
    with pytest.raises(Refused, match="the census was loaded anew since"):
        again.hand_out(number, tmp_path / "other", date="2026-02-01")


KILLED = """
import os, sys
from pathlib import Path
from sdcensus.session.licence import copies
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.release.release import Release

when, folder = sys.argv[1], Path(sys.argv[2])

def die(*arguments, **options):
    os._exit(9)

if when == "before":
    LicenceRegister.hand_out = die
elif when == "writing":
    copies.write_manifest = die
else:
    copies._put = die
release = Release(folder / "release.toml", secret=folder / "office.secret")
release.hand_out("2026-001", folder / "copy", date="2026-02-01")
"""


@pytest.mark.parametrize("when", ["writing", "before", "after"])
def test_a_killed_run_leaves_no_copy_without_a_record(tmp_path: Path, when: str) -> None:
    release = prepare(tmp_path, dwellings=200)
    licensed(tmp_path)
    run = [sys.executable, "-c", KILLED, when, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    assert subprocess.run(run, check=False, env=environment).returncode == 9
    assert not (tmp_path / "copy").exists()
    hidden = tmp_path / ".copy.being-made"
    assert hidden.is_dir()
    recorded = release.licences.holding("2026-001").copies
    assert len(recorded) == (1 if when == "after" else 0)
    # A copy for somebody else settles it, wherever that one goes.
    other = licensed(tmp_path, "Zoë Émile")
    release.hand_out(other, tmp_path / "elsewhere", date="2026-02-01")
    assert not hidden.exists()
    assert (tmp_path / "copy").exists() == (when == "after")
    again = release.hand_out("2026-001", tmp_path / "copy", date="2026-02-01")
    assert again.settled == (when == "after")
    assert check_folder(tmp_path / "copy").sound
    assert len(LicenceRegister(tmp_path / "office").holding("2026-001").copies) == 1
