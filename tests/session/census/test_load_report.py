"""The report on a load: written beside the store, for its owner only, and never for the public."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sdcensus.errors import DataProblems, OutputError, UnknownName
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.secret import Secret
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.census.census import load as load_only
from sdcensus.session.census.load_report import LoadedCensus, LoadReporting
from sdcensus.store.owner_only import is_owner_only
from tests.ingest.small_census import (
    HOUSEHOLDS,
    PERSONS,
    SCHEMA,
    SECRET_BYTES,
    write_census,
)
from tests.report.reading import read_page

MARKS = dict(Text.named("load.report.mark").by_language)
#: So many households without persons, and so many persons without a household.
WITHOUT_PERSONS, WITHOUT_HOUSEHOLD = 991, 37


def load(
    schema: Path,
    reporting: LoadReporting,
    on_problem: OnProblem = OnProblem.REFUSE,
) -> LoadedCensus:
    return reporting.load(schema, secret=Secret(SECRET_BYTES), on_problem=on_problem)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A census with many households without persons, persons without households, and a map."""
    folder = tmp_path / "files"
    folder.mkdir()
    empty = "".join(f"0412,{at},1,o,1\n" for at in range(1000, 1000 + WITHOUT_PERSONS))
    lost = "".join(
        f"0413,{at},01,1,2,Zyxomma,2,30,1,10,0\n" for at in range(2000, 2000 + WITHOUT_HOUSEHOLD)
    )
    square = {"0412": 0, "0411": 1, "0413": 2}
    features = [
        {
            "type": "Feature",
            "properties": {"code": code},
            "geometry": {
                "type": "Polygon",
                "coordinates": [[[x, 0], [x + 1, 0], [x + 1, 1], [x, 1], [x, 0]]],
            },
        }
        for code, x in square.items()
    ]
    document = {"type": "FeatureCollection", "features": features}
    (folder / "areas.geojson").write_text(json.dumps(document), encoding="utf-8")
    return write_census(
        folder,
        schema=SCHEMA.replace('role = "geography"', 'role = "geography"\nmap = "areas.geojson"'),
        households=HOUSEHOLDS + empty,
        persons=PERSONS + lost,
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_passes_in_silence(tmp_path: Path, files: Path, language: str) -> None:
    store = tmp_path / "census.store"
    reporting = LoadReporting(store, language=language)
    loaded = load(files, reporting, OnProblem.MISSING)
    page_file, text_file = loaded.files
    assert [path.name for path in loaded.files] == [
        "census.store.report.html",
        "census.store.report.txt",
    ]
    text = text_file.read_text(encoding="utf-8")
    page = read_page(page_file.read_text(encoding="utf-8"))
    assert page.of("html")[0].attributes["lang"] == language
    assert text.startswith(MARKS[language])
    assert Text.named("load.report.stamp").show(language) in page.text
    for number in (str(WITHOUT_PERSONS), str(WITHOUT_HOUSEHOLD)):
        assert any(
            sentence.endswith(f": {number}") or f" {number}" in sentence
            for sentence in loaded.findings
        )
        assert number in text
        assert number in page.text
    # Everything that the text says, the page says as well.
    said = {word for word in re.findall(r"\w{3,}", text) if word not in page.text}
    assert not said - set(re.findall(r"\w{3,}", MARKS[language]))
    effects = [problem.effect.show(language) for problem in loaded.report.problems]
    assert effects
    assert all(effect in page.text for effect in effects)
    assert len(page.of("svg")) == 2  # the map, and the tree of areas
    assert "Zyxomma" not in text + page.text


def test_every_language_says_it_in_its_own_words(tmp_path: Path, files: Path) -> None:
    texts = {}
    for language in LANGUAGES:
        reporting = LoadReporting(tmp_path / language, language=language)
        load(files, reporting, OnProblem.MISSING)
        texts[language] = (tmp_path / f"{language}.report.txt").read_text(encoding="utf-8")
    headings = [
        {
            line
            for line, below in zip(text.splitlines(), text.splitlines()[1:], strict=False)
            if set(below) == {"-"}
        }
        for text in texts.values()
    ]
    assert len({frozenset(lines) for lines in headings}) == len(LANGUAGES)
    with pytest.raises(UnknownName):
        LoadReporting(tmp_path / "x", language="xx").load(files, secret=Secret(SECRET_BYTES))


def test_a_report_is_for_its_owner_only(tmp_path: Path, files: Path) -> None:
    loaded = load(files, LoadReporting(tmp_path / "census.store"), OnProblem.MISSING)
    assert all(is_owner_only(path) for path in loaded.files)
    assert not any(character.isdigit() for character in repr(loaded))


def test_refused_files_have_a_report_that_goes_when_they_fit(tmp_path: Path, files: Path) -> None:
    store = tmp_path / "census.store"
    with pytest.raises(DataProblems, match=r"census\.store\.problems\.html") as caught:
        load(files, LoadReporting(store, language="es"))
    problems = [tmp_path / f"census.store.problems{ending}" for ending in (".html", ".txt")]
    assert all(is_owner_only(path) for path in problems)
    page = read_page(problems[0].read_text(encoding="utf-8"))
    assert "sin registro superior" in page.text
    assert "añada los registros de hogares que nombra" in page.text
    assert "Zyxomma" not in page.text + str(caught.value)
    assert not store.exists()
    loaded = load(files, LoadReporting(store), OnProblem.MISSING)
    assert not any(path.exists() for path in problems)
    # A later try that fails leaves the report of the store that still stands.
    before = loaded.files[0].read_bytes()
    with pytest.raises(DataProblems):
        load(files, LoadReporting(store, replace=True))
    assert loaded.files[0].read_bytes() == before
    assert all(path.exists() for path in problems)


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_report_never_stands_in_a_published_folder(
    tmp_path: Path, files: Path, named: bool, below: str
) -> None:
    published = tmp_path / "published"
    inside = published / below
    inside.mkdir(parents=True)
    manifest = {"format": "sdcensus-publication", "version": 1}
    (published / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    link = tmp_path / "link"
    try:
        link.symlink_to(inside, target_is_directory=True)
    except OSError:  # Windows asks for a right that few have
        link = inside
    before = sorted(published.rglob("*"))
    for folder in (inside, link):
        report = folder / "load.html" if named else None
        store = tmp_path / "census.store" if named else folder / "census.store"
        with pytest.raises(OutputError, match="is a published folder"):
            LoadReporting(store, report)
    assert sorted(published.rglob("*")) == before


def test_python_writes_a_report_where_it_is_asked_to(tmp_path: Path, files: Path) -> None:
    secret, report = Secret(SECRET_BYTES), tmp_path / "load.html"
    answer = load_only(
        files,
        tmp_path / "census.store",
        secret=secret,
        on_problem="missing",
        report=report,
        language="nl",
    )
    assert is_owner_only(report)
    assert "Verslag van het laden" in read_page(report.read_text(encoding="utf-8")).text
    assert "confidential" in repr(answer)
    load_only(files, tmp_path / "b.store", secret=secret, on_problem="missing")
    assert not (tmp_path / "b.store.report.html").exists()


def test_a_report_takes_the_place_of_a_report_only(tmp_path: Path, files: Path) -> None:
    store, report = tmp_path / "census.store", tmp_path / "load.txt"
    loaded = load(files, LoadReporting(store, report), OnProblem.MISSING)
    assert loaded.files == (report,)
    with pytest.raises(OutputError, match="already exists"):
        LoadReporting(store, report)
    load(files, LoadReporting(store, report, replace=True), OnProblem.MISSING)
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="already exists"):
        LoadReporting(store, thesis, replace=True)
    with pytest.raises(OutputError, match=r"ends with \.html or \.txt"):
        LoadReporting(store, tmp_path / "load.pdf")
    with pytest.raises(OutputError, match="does not exist"):
        LoadReporting(store, tmp_path / "nowhere" / "load.html")
    other = load(files, LoadReporting(tmp_path / "b.store", wanted=False), OnProblem.MISSING)
    assert (other.files, other.written) == ((), "")
    assert not (tmp_path / "b.store.report.html").exists()
