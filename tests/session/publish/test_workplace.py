"""Where a publication is made: it goes on after a kill, and comes into its place whole."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from sdcensus.errors import OutputError, Refused
from sdcensus.formats.write import new_file
from sdcensus.session.publish.workplace import MANIFEST, Finished, Workplace, WrittenFile
from sdcensus.store.owner_only import is_owner_only

IDENTITY = {"the plan": "a", "the store": "b"}


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "published", tmp_path / "published.office", "X plan")


def made(workplace: Workplace, name: str, text: str = "1\n") -> Finished:
    path = workplace.hidden / f"{name}.csv"
    path.write_text(text, encoding="utf-8", newline="")
    product = Finished(name, (WrittenFile.of(path),), {"cells": 1}, {"tables": []})
    workplace.finish(product)
    return product


def published(workplace: Workplace, name: str, publication: str = "X plan") -> None:
    workplace.begin(IDENTITY)
    product = made(workplace, name)
    listed = {
        "format": "sdcensus-publication",
        "publication": publication,
        "tables": [{"name": name}],
        "files": [file.to_json() for file in product.files],
    }
    path = workplace.hidden / MANIFEST
    path.write_text(json.dumps(listed), encoding="utf-8", newline="")
    workplace.commit({})


def test_a_run_goes_on_with_what_is_finished_and_whole(workplace: Workplace) -> None:
    with workplace.taken():
        assert workplace.begin(IDENTITY) == {}
        made(workplace, "one")
        made(workplace, "two")
        (workplace.hidden / ".half.part").write_bytes(b"half")
        (workplace.hidden / "two.csv").write_bytes(b"damaged")
        found = workplace.begin(IDENTITY)
        assert set(found) == {"one"}
        assert [path.name for path in workplace.hidden.iterdir()] == ["one.csv"]
        assert found["one"].public == {"cells": 1}


def test_a_run_about_something_else_is_refused_and_loses_nothing(workplace: Workplace) -> None:
    with workplace.taken():
        workplace.begin(IDENTITY)
        made(workplace, "one")
        with pytest.raises(Refused, match=r"the store changed since.*--restart"):
            workplace.begin({**IDENTITY, "the store": "c"})
        assert set(workplace.begin(IDENTITY)) == {"one"}
        assert workplace.begin({**IDENTITY, "the store": "c"}, restart=True) == {}
        assert not list(workplace.hidden.iterdir())


def test_two_runs_do_not_meet(workplace: Workplace) -> None:
    with workplace.taken():
        other = Workplace(workplace.published, workplace.office, "X plan")
        with pytest.raises(OutputError, match="Another run"), other.taken():
            pass
    with other.taken():
        pass


def test_the_folder_is_replaced_as_a_whole(workplace: Workplace) -> None:
    with workplace.taken():
        published(workplace, "first")
        assert {one.name for one in workplace.published.iterdir()} == {"first.csv", MANIFEST}
        published(workplace, "second")
    assert {one.name for one in workplace.published.iterdir()} == {"second.csv", MANIFEST}
    assert sorted(one.name for one in workplace.published.parent.iterdir()) == [
        "published",
        "published.office",
    ]
    assert is_owner_only(workplace.office)


@pytest.mark.parametrize("step", ["nothing moved", "old one away", "new one there"])
def test_a_kill_while_folders_are_renamed_is_finished_later(
    workplace: Workplace, step: str
) -> None:
    with workplace.taken():
        published(workplace, "first")
        workplace.begin(IDENTITY)
        made(workplace, "second")
        note = workplace.notes / "kept.json"
        note.write_text("{}", encoding="utf-8", newline="")
        commit = workplace.notes / "commit.json"
        commit.write_text('{"office": [["kept.json", "kept.json"]]}', encoding="utf-8", newline="")
        before = workplace.published.parent / ".published.before"
        if step != "nothing moved":
            workplace.published.replace(before)
        if step == "new one there":
            workplace.hidden.replace(workplace.published)
        assert workplace.complete()
        assert not workplace.complete()
    assert [one.name for one in workplace.published.iterdir()] == ["second.csv"]
    assert (workplace.office / "kept.json").is_file()
    assert not before.exists()
    assert not workplace.hidden.exists()


def test_folders_of_something_else_are_left_alone(workplace: Workplace) -> None:
    workplace.check_published(["first"])
    workplace.published.mkdir()
    workplace.check_published(["first"])
    mine = workplace.published / "letter.txt"
    mine.write_text("mine", encoding="utf-8", newline="")
    with pytest.raises(OutputError, match="not made by sdcensus publish"):
        workplace.check_published(["first"])
    mine.unlink()
    workplace.published.rmdir()
    with workplace.taken():
        published(workplace, "first", publication="X other")
    with pytest.raises(OutputError, match="holds the publication 'X other'"):
        workplace.check_published(["first"])
    other = Workplace(workplace.published, workplace.office, "X other")
    other.check_published(["first"])
    with pytest.raises(OutputError, match="another plan of the same name"):
        other.check_published(["second"])
    other.check_published(["second"], same_plan=True)
    mine.write_text("mine", encoding="utf-8", newline="")
    with pytest.raises(OutputError, match=r"letter\.txt"):
        other.check_published(["first"])
    assert mine.read_text(encoding="utf-8") == "mine"


def test_a_file_in_the_place_of_the_folder_is_told(workplace: Workplace) -> None:
    workplace.published.write_text("", encoding="utf-8", newline="")
    with pytest.raises(OutputError, match="is a file"):
        workplace.check_published(["first"])


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_nobody_but_the_office_can_change_what_is_published(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        workplace = Workplace(tmp_path / "new" / "published", tmp_path / "office", "X plan")
        with workplace.taken():
            workplace.begin(IDENTITY)
            (workplace.hidden / "inner").mkdir()
            (workplace.hidden / "inner" / "page.html").write_text("x", encoding="utf-8")
            with new_file(workplace.hidden / "t.csv") as file:
                file.write(b"1")
            workplace.commit({})
    finally:
        os.umask(before)
    folder = tmp_path / "new"
    found = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert found == {
        "new": 0o755,
        "published": 0o755,
        "inner": 0o755,
        "page.html": 0o644,
        "t.csv": 0o644,
    }
