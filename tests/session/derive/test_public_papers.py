"""A matrix leaves the office only where it was said, and tells true counts only by name."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from sdcensus.errors import OutputError, Refused
from sdcensus.microdata.method import Changes, PublicPaper
from sdcensus.microdata.pram.method import Pram
from sdcensus.microdata.pram.papers import papers_of
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.transition_matrix import TransitionMatrix
from sdcensus.model.progress import no_progress
from sdcensus.model.published.transitions import PublishedMatrix
from sdcensus.model.text import LANGUAGES
from sdcensus.session.derive import derive
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import is_owner_only
from sdcensus.testing.island import SECRET
from tests.microdata.pram.town import P, changes_of, town

#: A probability that occurs nowhere else, and what becomes of it in whole numbers.
STAY = "0.8371946"
SAID: dict[str, Any] = {"variables": ["sex", "age"], "stay": [STAY], "similar": ["equal"]}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> CensusStore:
    return town(tmp_path_factory.mktemp("town") / "a.store", 600)


def files_with(folder: Path, *texts: str) -> set[str]:
    return {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*")
        if path.is_file() and any(text.encode() in path.read_bytes() for text in texts)
    }


def test_without_the_option_the_matrix_is_in_no_file_but_the_offices(
    store: CensusStore, tmp_path: Path
) -> None:
    report = derive(store.path, tmp_path / "b", "pram", SAID, secret=SECRET)
    assert report.public_papers is None
    assert files_with(tmp_path, "0.8371", "0.1628") == {"b.office"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "b.office"]
    assert all(map(is_owner_only, (tmp_path / "b.office").glob("pram-*.csv")))
    shown = f"{report!r}{CensusStore.open(tmp_path / 'b')!r}{report.public()}"
    assert "0.83" not in shown


def test_with_the_option_everybody_gets_it_and_nothing_that_depends_on_counts(
    store: CensusStore, tmp_path: Path
) -> None:
    other = town(tmp_path / "other.store", 900, seed=7)
    contents = []
    for census, name in ((store, "b"), (other, "c")):
        said = {**SAID, "publish_matrix": True}
        report = derive(census.path, tmp_path / name, "pram", said, secret=SECRET)
        assert report.public_papers == tmp_path / f"{name}.public"
        contents.append(
            {path.name: path.read_text(encoding="utf-8") for path in report.public_papers.iterdir()}
        )
    # Two censuses with other counts and the same design have the same papers, byte for byte.
    assert contents[0] == contents[1]
    assert set(contents[0]) == {
        "pram-matrix-sex.csv",
        "pram-matrix-age.csv",
        "pram-matrix.json",
        *(f"pram-matrix.{language}.txt" for language in LANGUAGES),
    }
    rows = list(csv.reader(contents[0]["pram-matrix-sex.csv"].splitlines()))
    assert rows[0] == ["from/to", "0", "1", "99"]
    assert float(rows[1][1]) == pytest.approx(float(STAY), abs=2**-32)
    assert rows[3] == ["99", "0", "0", "1"]
    matrices = json.loads(contents[0]["pram-matrix.json"])["matrices"]
    assert [matrix["variables"] for matrix in matrices] == [["sex"], ["age"]]
    texts = {language: contents[0][f"pram-matrix.{language}.txt"] for language in LANGUAGES}
    assert len(set(texts.values())) == len(LANGUAGES)
    for text in texts.values():
        assert "sdcensus pram estimate" in text
        assert "age" in text.split("\n\n")[-2]  # an edit rule names it
    # The store and its manifest hold it as little as before.
    assert files_with(tmp_path, "0.8371", "0.1628") == {
        "b.office",
        "c.office",
        "b.public",
        "c.public",
    }


@pytest.mark.parametrize(
    ("more", "remedy"),
    [
        ({"similar": ["frequency"]}, {"similar": ["equal"]}),
        ({"similar": ["equal"], "invariant": True}, {"similar": ["equal"]}),
        ({"similar": ["frequency"]}, {"publish_frequencies": ["sex"]}),
        ({"invariant": True}, {"invariant": True, "publish_frequencies": ["sex"]}),
    ],
)
def test_matrices_that_tell_counts_are_refused_and_every_remedy_works(
    store: CensusStore, tmp_path: Path, more: dict[str, Any], remedy: dict[str, Any]
) -> None:
    said = {"variables": ["sex"], "stay": [STAY], "publish_matrix": True}
    with pytest.raises(Refused, match=r"true counts.*--publish-frequencies sex"):
        derive(store.path, tmp_path / "b", "pram", {**said, **more}, secret=SECRET)
    assert not list(tmp_path.iterdir())
    derive(store.path, tmp_path / "b", "pram", {**said, **remedy}, secret=SECRET)
    assert (tmp_path / "b.public").is_dir()


def test_combinations_are_refused_as_well(store: CensusStore, tmp_path: Path) -> None:
    said = {"together": ["sex,married"], "stay": ["0.9"], "similar": ["equal"]}
    with pytest.raises(Refused, match=r"instead of --together.*--publish-frequencies married\+sex"):
        derive(store.path, tmp_path / "b", "pram", {**said, "publish_matrix": True}, secret=SECRET)
    allowed = {**said, "publish_matrix": True, "publish_frequencies": ["sex+married"]}
    derive(store.path, tmp_path / "b", "pram", allowed, secret=SECRET)
    assert (tmp_path / "b.public" / "pram-matrix-married+sex.csv").is_file()


def test_public_papers_never_meet_older_ones_or_the_office(
    store: CensusStore, tmp_path: Path
) -> None:
    said = {**SAID, "publish_matrix": True}
    derive(store.path, tmp_path / "b", "pram", said, secret=SECRET)
    # The same papers stay where they are; others do not take their place.
    before = {path.name: path.read_bytes() for path in (tmp_path / "b.public").iterdir()}
    derive(store.path, tmp_path / "b", "pram", said, secret=SECRET, replace=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "b.public").iterdir()} == before
    said["stay"] = ["0.9"]
    with pytest.raises(OutputError, match=r"b\.public already exists.*Move it"):
        derive(store.path, tmp_path / "b", "pram", said, secret=SECRET, replace=True)
    (tmp_path / "b.public").rename(tmp_path / "older")
    derive(store.path, tmp_path / "b", "pram", said, secret=SECRET, replace=True)
    assert (tmp_path / "b.public").is_dir()
    for office in (tmp_path / "c.public", tmp_path / "c.public" / "office"):
        with pytest.raises(OutputError, match="cannot lie in"):
            derive(store.path, tmp_path / "c", "pram", said, secret=SECRET, office=office)


def test_the_confidential_and_the_public_matrix_have_different_types(store: CensusStore) -> None:
    assert issubclass(TransitionMatrix, Confidential)
    assert not issubclass(PublishedMatrix, Confidential)
    assert not issubclass(PublicPaper, Confidential)
    method = Pram(variables=("sex",), stay=("0.9",))
    ((said, matrix, _),) = method._matrices(store, no_progress)
    papers = papers_of([(said.target, matrix)], ())
    assert all(isinstance(paper, PublicPaper) for paper in papers)
    changes: Changes = changes_of(method, store)
    assert changes.public == ()
    assert changes.codes["sex"].rows.size < store.rows(P)
