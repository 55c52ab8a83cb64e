"""Intruders in release documents: read, written back, mistakes with their lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.release.document import read_release
from sdcensus.documents.release.text import release_text
from sdcensus.errors import SdcensusError
from sdcensus.model.release.plan import IntruderRules
from sdcensus.testing.island import island_schema

HEAD = """\
store = "census.store"

[[design]]
name = "A"
households = "1/3"
"""
TWO = """
[[intruder]]
name = "employer"
keys = ["age", "sex", "area@district"]
coverage = 0.07
file_errors = { age = 0.02 }
external_error = 0.01
years = 3
moves = 0.08
disagreeing = 2
designs = ["A"]

[[intruder]]
name = "neighbour"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "release.toml"
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def test_intruders_are_read_and_written_back(tmp_path: Path) -> None:
    plan = read_release(written(tmp_path, TWO), lambda _: island_schema())
    assert plan.intruder == (
        IntruderRules(
            name="employer",
            keys=("age", "sex", "area@district"),
            coverage=0.07,
            file_errors={"age": 0.02},
            external_error=0.01,
            years=3,
            moves=0.08,
            disagreeing=2,
            designs=("A",),
        ),
        IntruderRules(name="neighbour"),
    )
    again = tmp_path / "again.toml"
    again.write_text(release_text(plan, tmp_path), encoding="utf-8")
    assert read_release(again).intruder == plan.intruder


def test_one_intruder_may_stand_alone(tmp_path: Path) -> None:
    plan = read_release(written(tmp_path, "\n[intruder]\ncoverage = 0.3\n"))
    assert plan.intruder == (IntruderRules(coverage=0.3),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("coverage = 0", "covers nobody"),
        ("coverage = 1.5", "between 0 and 1"),
        ('keys = ["shoe_size"]', "shoe_size"),
        ("file_errors = { shoe_size = 0.1 }", "shoe_size"),
        ("external_errors = { age = 2 }", "between 0 and 1"),
        ("external_errors = 0.1", "should be a table"),
        ('designs = ["Z"]', "'Z'"),
        ("years = 1.5", "years"),
        ("coverag = 0.1", "coverag"),
    ],
)
@pytest.mark.parametrize("brackets", ["[intruder]", "[[intruder]]"])
def test_mistakes_are_named_with_their_line(
    tmp_path: Path, text: str, words: str, brackets: str
) -> None:
    path = written(tmp_path, f"\n{brackets}\n{text}\n")
    with pytest.raises(SdcensusError) as caught:
        read_release(path, lambda _: island_schema())
    assert words in str(caught.value)
    assert "line" in str(caught.value) or ":8" in str(caught.value)
