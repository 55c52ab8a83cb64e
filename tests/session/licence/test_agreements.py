"""The agreement is filled from application and file, for its owner alone, and never overwritten."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from sdcensus.errors import InputError, OutputError, Refused, SpecError
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.sentences import speak
from sdcensus.session.licence.agreements import write_agreement
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.session.release.release import Release
from sdcensus.store.owner_only import is_owner_only
from sdcensus.store.registered_files import FILES_FILE
from tests.session.licence.handed import enter

ABSTRACT = "Why <people> move, & where to. " * 200


@pytest.fixture(scope="module")
def number(handed: tuple[Path, Release]) -> str:
    _, release = handed
    applied = release.licences.apply(
        "Núria Ávila",
        ["lf"],
        project="Migración y vejez",
        abstract=ABSTRACT,
        kind="team",
        members=["Wole Àkàn", "Ma Li"],
        organisation="Universität Köln",
        email="n@uni.example",
        date="2026-03-01",
    )
    return applied.number


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("release", ["release.toml", "files"])
def test_it_says_who_for_what_which_file_and_when(
    handed: tuple[Path, Release], number: str, tmp_path: Path, language: str, release: str
) -> None:
    folder, _ = handed
    out = tmp_path / "agreement.html"
    write_agreement(
        folder / "office", number, folder / release, out, date="2026-03-02", language=language
    )
    page = html.unescape(out.read_text(encoding="utf-8"))
    said = (number, "Núria Ávila", "Wole Àkàn, Ma Li", "Universität Köln", "Migración y vejez")
    more = ("Licensed file", "Office of the Settlement", "2026-03-02", "2028-03-01", "lf")
    for text in (*said, *more, ABSTRACT.strip(), "data@office.example"):
        assert text in page
    assert speak("release_papers.class.licensed-use", language) in page
    assert is_owner_only(out)
    with pytest.raises(OutputError, match="already exists"):
        write_agreement(folder / "office", number, folder / release, out)
    assert html.unescape(out.read_text(encoding="utf-8")) == page


def test_the_office_has_words_of_its_own(
    handed: tuple[Path, Release], number: str, tmp_path: Path
) -> None:
    folder, _ = handed
    template = tmp_path / "terms.txt"
    template.write_text(
        "# Act 7\n\n{person} of {organisation} uses {title} until {ends}. For us: {for_office}\n",
        encoding="utf-8-sig",
    )
    out = tmp_path / "a.html"
    given = (folder / "office", number, folder / "release.toml", out)
    write_agreement(*given, template=template, expires="2027-01-01", date="2026-03-02")
    page = out.read_text(encoding="utf-8")
    assert "Núria Ávila of Universität Köln uses Licensed file until 2027-01-01." in page
    assert f"For us: {'_' * 20}" in page
    elsewhere = (*given[:3], tmp_path / "b.html")
    template.write_text("{nobody}", encoding="utf-8")
    with pytest.raises(SpecError, match=r"gap \{nobody\}"):
        write_agreement(*elsewhere, template=template)
    template.write_bytes(b"\xff\xfe\xff")
    with pytest.raises(InputError, match="UTF-8"):
        write_agreement(*elsewhere, template=template)
    with pytest.raises(SpecError, match="cannot expire"):
        write_agreement(*elsewhere, expires="2026-01-01", date="2026-03-02")
    assert not elsewhere[3].exists()


def test_nobody_signs_what_is_refused_or_for_another_file(
    handed: tuple[Path, Release], tmp_path: Path
) -> None:
    folder, release = handed
    register, day = release.licences, "2026-03-01"
    refused = register.apply("Ole Dahl", ["lf"], project="P", date=day).number
    register.decide(refused, "Ben Okafor", granted=False, reason="no", date=day)
    enter(folder / "office", "elsewhere")
    other = register.apply("Ole Dahl", ["elsewhere"], project="P", date=day).number
    for number, message in ((refused, "is refused"), (other, "is for elsewhere, not for lf")):
        with pytest.raises(Refused, match=message):
            write_agreement(folder / "office", number, folder / "files", tmp_path / "a.html")
    enter(tmp_path / "office", "lf")
    elsewhere = LicenceRegister(tmp_path / "office")
    number = elsewhere.apply("Ole Dahl", ["lf"], project="P", date=day).number
    (elsewhere.office / FILES_FILE).unlink()
    with pytest.raises(Refused, match=r"lf is not registered.*sdcensus release register FOLDER"):
        write_agreement(elsewhere.office, number, folder / "files", tmp_path / "a.html")
    assert not (tmp_path / "a.html").exists()
