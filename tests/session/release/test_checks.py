"""What a check finds, and that a file that fails it is never put into its place."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyreadstat
import pytest

from sdcensus.errors import InputError, OutputError, Refused
from sdcensus.formats.microdata import write as writers
from sdcensus.session.publish.workplace import MANIFEST
from sdcensus.session.release.make.checking import check_folder
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.hamlet import write_hamlet

DOCUMENT = """\
store = "{store}"
name = "file"

[risk]
ladder = ["age", "sex"]

[[design]]
name = "A"
households = "1/2"
recode = {{ age = "ten_year" }}

[thresholds]
persons = 1
households = 1
exempt = {{ unasked = "nobody was asked" }}

[make]
formats = ["csv", "sav"]
languages = ["en"]
"""
ACCEPTED: dict[str, Any] = {"accepted_by": "Ana Ruiz", "reason": "a test"}
PERSONS, HOUSEHOLDS = "file-persons.csv", "file-households.csv"
PLACE = "sdcensus.session.release.make.papers.write_microdata"
Lines = list[dict[str, str]]


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    path = tmp_path_factory.mktemp("plan") / "release.toml"
    path.write_text(DOCUMENT.format(store=hamlet.store.as_posix()), encoding="utf-8")
    return Release(path, secret=SECRET)


@pytest.fixture(scope="module")
def file(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "file"
    release.make(folder, **ACCEPTED)
    assert check_folder(folder).sound
    return folder


def changed(folder: Path, name: str, change: Callable[[Lines], Lines]) -> None:
    """Change the lines of a csv file, as somebody would who keeps to its form."""
    path = folder / name
    text = path.read_bytes().decode("utf-8-sig")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    lines = change([*reader])
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, reader.fieldnames or [])
    writer.writeheader()
    writer.writerows(lines)
    path.write_bytes(out.getvalue().encode())


def digested(folder: Path) -> None:
    """Write the digests of a folder anew, so that only its content can give a change away."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for line in manifest["files"]:
        content = (folder / line["name"]).read_bytes()
        line |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def only_csv(folder: Path) -> None:
    """Leave the other formats out, so that nothing can be compared with them."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for path in folder.glob("*.sav"):
        path.unlink()
    manifest["files"] = [line for line in manifest["files"] if not line["name"].endswith(".sav")]
    for table in manifest["tables"]:
        table["files"] = [name for name in table["files"] if not name.endswith(".sav")]
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def first_with(name: str, value: str) -> Callable[[Lines], Lines]:
    return lambda lines: [{**lines[0], name: value}, *lines[1:]]


def without_household(lines: Lines) -> Lines:
    return [line for line in lines if line["household_number"] != lines[0]["household_number"]]


CHANGES: dict[str, tuple[str, Callable[[Lines], Lines]]] = {
    "a row is gone": (PERSONS, lambda lines: lines[:-1]),
    "a household in part": (PERSONS, without_household),
    "numbered anew": (PERSONS, first_with("person_number", "77")),
    "of no household": (PERSONS, first_with("household_number", "99999")),
    "a weight of 0": (PERSONS, first_with("weight", "0")),
    "no weight": (PERSONS, first_with("weight", "")),
    "a negative weight": (HOUSEHOLDS, first_with("weight", "-2")),
    "a number twice": (HOUSEHOLDS, first_with("household_number", "2")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_check_finds_what_was_changed(file: Path, tmp_path: Path, change: str) -> None:
    folder = tmp_path / "file"
    shutil.copytree(file, folder)
    name, edit = CHANGES[change]
    changed(folder, name, edit)
    assert [str(problem) for problem in check_folder(folder).problems if name in str(problem)]
    # Whoever writes the digests anew is found by the other format, ...
    digested(folder)
    assert not check_folder(folder).sound
    # ... and, without it, by the numbers and the weights.
    only_csv(folder)
    assert not check_folder(folder).sound, change


def test_a_check_finds_a_changed_byte_and_another_code_and_a_format_that_differs(
    file: Path, tmp_path: Path
) -> None:
    paths = sorted(path.name for path in file.iterdir() if path.name != MANIFEST)
    folder = tmp_path / "bytes"
    shutil.copytree(file, folder)
    for name in paths:
        content = bytearray((file / name).read_bytes())
        content[len(content) // 2] ^= 1
        (folder / name).write_bytes(bytes(content))
        assert [str(problem) for problem in check_folder(folder).problems if name in str(problem)]
        (folder / name).write_bytes((file / name).read_bytes())
    assert check_folder(folder).sound
    changed(folder, PERSONS, lambda lines: first_with("sex", "12"[lines[0]["sex"] == "1"])(lines))
    digested(folder)
    assert "sex" in str(check_folder(folder).problems[0])
    frame, _ = pyreadstat.read_sav(file / "file-persons.sav")
    frame.loc[0, "weight"] += 1
    shutil.copy(file / PERSONS, folder / PERSONS)
    pyreadstat.write_sav(frame, folder / "file-persons.sav")
    digested(folder)
    assert "file-persons.sav" in str(check_folder(folder).problems[0])
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    assert any("notes.txt" in str(problem) for problem in check_folder(folder).problems)


def test_a_writer_that_is_damaged_puts_nothing_into_its_place(
    release: Release, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "file"
    shutil.copytree(file, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    office = {path: path.read_bytes() for path in release.plan.office.rglob("*") if path.is_file()}
    real = writers.write_microdata

    def damaged(suffix: str, *given: object, **named: object) -> object:
        result = real(*given, **named)  # type: ignore[arg-type]
        for path in Path(str(given[1])).glob(f"*{suffix}"):
            if suffix == ".sav":
                frame, _ = pyreadstat.read_sav(path)
                frame["weight"] *= 2
                pyreadstat.write_sav(frame, path)
            else:
                changed(path.parent, path.name, first_with("weight", "5"))
        return result

    for suffix in ("households.csv", "persons.csv", ".sav"):
        monkeypatch.setattr(PLACE, partial(damaged, suffix))
        for out, replaced in ((folder, True), (tmp_path / "new", False)):
            with pytest.raises(Refused, match="fails its own check and is not put into its place"):
                release.make(out, replace=replaced, **ACCEPTED)
            assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
            assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert office == {
        path: path.read_bytes() for path in release.plan.office.rglob("*") if path.is_file()
    }


def test_open_papers_of_everybody_tell_no_count(release: Release, tmp_path: Path) -> None:
    """A file of all units under a licence: its papers are open, and its records true counts."""
    text = DOCUMENT.format(store=release.plan.store.as_posix()).replace('"1/2"', "1")
    path = tmp_path / "release.toml"
    path.write_text(f'licence = "licensed-use"\n{text}', encoding="utf-8")
    made = Release(path, secret=SECRET).make(tmp_path / "file", **ACCEPTED)
    assert made.file.whole
    papers = [made.folder / "file.ddi.xml", *made.folder.glob("*.html"), *made.folder.glob("t*")]
    sizes = {str(table.rows) for table in made.file.tables}
    for paper in papers:
        words = set(re.findall(r"\d+", paper.read_text(encoding="utf-8").replace(",", "")))
        assert not sizes & words, paper.name
    ddi = papers[0].read_text(encoding="utf-8")
    assert not re.search("catStat|sumStat|caseQnty", ddi)


def test_folders_that_are_no_place_for_a_file_are_refused_before_any_work(
    release: Release, file: Path, tmp_path: Path
) -> None:
    stages: list[str] = []

    def refused(out: Path, words: str, **options: Any) -> None:
        with pytest.raises(OutputError, match=words):
            release.make(out, progress=lambda stage, _: stages.append(stage), **options, **ACCEPTED)

    refused(file, "Say --replace")
    refused(release.plan.office, "lies inside")
    refused(release.plan.office.parent, "lies inside")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear", encoding="utf-8")
    refused(tmp_path / "mine", "was not made by sdcensus release make", replace=True)
    refused(tmp_path / "mine" / "letter.txt", "is a file")
    (tmp_path / "link").symlink_to(release.plan.office)
    refused(tmp_path / "link", "lies inside")
    refused(release.plan.office / "file", "lies inside the office folder")
    assert not stages
    with pytest.raises(InputError, match="has no manifest"):
        check_folder(tmp_path / "mine")
