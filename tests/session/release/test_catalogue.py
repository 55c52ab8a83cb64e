"""The page of registered files: papers of all, records of public use files only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sdcensus.errors import InputError, OutputError, Refused
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.sentences import speak
from sdcensus.session.release.catalogue import write_site
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.session.licence.handed import DOCUMENT, prepare

RECORDS = {".csv", ".parquet", ".sav", ".dta"}
BESIDE = ("-variables.csv", "-codes.csv")


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A licensed file and one of public use, both registered, and one that is not."""
    folder = tmp_path_factory.mktemp("catalogue")
    prepare(folder, dwellings=150)
    for name in ("puf", "draft"):
        document = folder / f"{name}.toml"
        text = DOCUMENT.replace('"lf"', f'"{name}"').replace("licensed-use", "public-use")
        document.write_text(f"{text}documentation = ['ddi', 'html', 'nada']\n", encoding="utf-8")
        release = Release(document, secret=SECRET)
        release.make(folder / name, accepted_by="Ben Okafor", reason="a test")
        if name == "puf":
            names = ("Ben Okafor", "Carla Díaz")
            release.register(folder / name, names=names, date="2026-01-01")
    return folder


def records(folder: Path) -> set[str]:
    return {
        path.name
        for path in folder.iterdir()
        if path.suffix in RECORDS
        and not path.name.endswith(BESIDE)
        and not path.name.startswith("removed-and-recoded")
    }


def test_the_site_of_an_office(office: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert write_site([office / "office"], site) == ("lf", "puf")
    assert records(site / "lf") == set()
    assert not (site / "lf" / "manifest.json").exists()
    assert records(site / "puf") == records(office / "puf") != set()
    assert {path.name for path in site.iterdir() if path.is_dir()} == {"lf", "puf"}
    for language in LANGUAGES:
        page = (site / f"catalogue.{language}.html").read_text(encoding="utf-8")
        for licence in ("licensed-use", "public-use"):
            assert speak(f"release_papers.class.{licence}", language) in page
            apply = speak(f"release_papers.catalogue.apply.{licence}", language)
            assert apply.replace("'", "&#x27;") in page or apply in page
        for text in ("Licensed file", "mailto:data@office.example", "income", "tenure"):
            assert text in page
        links = re.findall(r'href="([^"#:]+)"', page)
        assert {"lf/lf.ddi.xml", "lf/terms.html", "puf/puf-persons.csv"} <= set(links)
        assert any(link.startswith("lf/codebook") for link in links)
        for link in links:
            assert (site / link).is_file(), link
    assert (site / "index.html").read_bytes() == (site / "catalogue.en.html").read_bytes()


def test_it_replaces_what_it_wrote_and_nothing_else(office: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert write_site([office / "puf"], site, languages=["es"]) == ("puf",)
    assert (site / "catalogue.html").is_file()
    assert write_site([office / "files", office / "puf"], site) == ("lf", "puf")
    assert not (site / "catalogue.html").exists()
    (site / "puf" / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"puf/mine\.txt"):
        write_site([office / "puf"], site)
    assert (site / "lf").is_dir()
    with pytest.raises(OutputError, match="not empty"):
        write_site([office / "puf"], office)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["site"]


def test_only_registered_files_as_they_were_made(office: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with pytest.raises(Refused, match="is not registered"):
        write_site([office / "draft"], site)
    with pytest.raises(InputError, match="Two folders"):
        write_site([office / "puf", office / "puf"], site)
    with pytest.raises(InputError, match="does not exist"):
        write_site([office / "nowhere"], site)
    terms = office / "puf" / "terms.txt"
    before = terms.read_bytes()
    terms.write_bytes(before + b"x")
    try:
        with pytest.raises(Refused, match="not as it was made"):
            write_site([office / "puf"], site)
    finally:
        terms.write_bytes(before)
    assert not site.exists()
