"""A researcher's part of a file: by what the file tells, with whole households, under its name."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.microdata.release.records import NO_HOLDER
from sdcensus.model.schema.variable import Entity
from sdcensus.session.release.designed import DesignedRecords, designed
from sdcensus.session.release.extract import extracted
from sdcensus.session.release.make.checking import check_folder
from sdcensus.session.release.opened import OpenRelease
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

P, H = Entity.PERSON, Entity.HOUSEHOLD
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

[[intruder]]
name = "neighbour"
keys = ["age"]

[large_households]
above = 3
treatment = "perturb-ages"

{extracts}
"""
EXTRACTS = {
    "old": 'where = "age >= 60"',
    "women": 'variables = ["sex", "tenure"]\nwhere = "sex == 2 and tenure == 1"',
    "few": 'variables = ["tenure"]\nwhere = "age@ten_year == \'30-39\'"',
    "all": 'variables = ["age"]',
    "hidden": "where = \"ed == 'E1'\"",
    "fine": 'where = "age >= 63"',
    "nobody": 'where = "age < 10 and age >= 60"',
    "unknown": 'variables = ["ed"]',
}


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    place.load()
    return place


@pytest.fixture(scope="module")
def release(hamlet: Hamlet, tmp_path_factory: pytest.TempPathFactory) -> Release:
    lines = [f'[[extract]]\nname = "{name}"\n{said}\n' for name, said in EXTRACTS.items()]
    path = tmp_path_factory.mktemp("plan") / "release.toml"
    document = DOCUMENT.format(store=hamlet.store.as_posix(), extracts="\n".join(lines))
    path.write_text(document, encoding="utf-8")
    return Release(path, secret=SECRET)


@pytest.fixture(scope="module")
def told(release: Release) -> DesignedRecords:
    opened: OpenRelease = release.opened
    return designed(opened, opened.design(opened.plan.design("A")))


def ages(records: DesignedRecords) -> list[str]:
    variable = records.design.variable("age")
    return [variable.level.codes[code].code for code in records.records.codes["age"]]


def test_who_is_in_follows_from_what_the_file_tells_and_households_stay_whole(
    release: Release, told: DesignedRecords
) -> None:
    extract = extracted(told, release.plan, "old")
    old = np.array([code.startswith(("6", "7", "8", "9")) and code != "999" for code in ages(told)])
    # Ages of large households were moved: the file decides, not the census.
    assert not np.array_equal(told.before.codes["age"], told.records.codes["age"])
    holder = told.records.holders[P, H]
    households = np.unique(holder[old])
    inside = np.isin(holder, households[households != NO_HOLDER]) | old
    assert 0 < inside.sum() < inside.size
    for part in (extract.records, extract.before):
        assert part.sample.rows[P].tolist() == told.records.sample.rows[P][inside].tolist()
        kept = told.records.sample.rows[H][households[households != NO_HOLDER]]
        assert part.sample.rows[H].tolist() == kept.tolist()
        again = part.holders[P, H]
        rows = part.sample.rows[H][again[again != NO_HOLDER]]
        before = holder[inside]
        assert rows.tolist() == told.records.sample.rows[H][before[before != NO_HOLDER]].tolist()
    assert extract.records.sample.weights[P].size == inside.sum()


def test_an_extract_holds_its_variables_and_its_risk_counts_what_its_condition_tells(
    release: Release, told: DesignedRecords
) -> None:
    extract = extracted(told, release.plan, "few")
    assert [variable.name for variable in extract.design.variables] == ["tenure"]
    assert set(extract.records.codes) == {"tenure"}
    assert [key.name for key in extract.design.ladder] == ["age"]
    removed = [each.variable.name for each in extract.design.removed]
    assert {"age", "sex"} <= set(removed)
    assert len(removed) == len(set(removed))
    assert not extracted(told, release.plan, "all").records.codes.keys() - {"age"}
    assert extracted(told, release.plan, "") is told


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("hidden", SpecError, "is about 'ed', which the file does not tell"),
        ("fine", SpecError, "asks more of 'age' than the file tells, in the column 'age'"),
        ("nobody", Refused, "Nobody is in the extract 'nobody'"),
        ("unknown", SpecError, "The extract 'unknown': There is no variable of the file 'ed'"),
        ("nix", SpecError, "There is no extract 'nix'"),
    ],
)
def test_an_extract_that_cannot_be_made_is_refused_and_nothing_is_left(
    release: Release, tmp_path: Path, name: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        release.make(tmp_path / "file", extract=name, accepted_by="A", reason="b")
    assert not list(tmp_path.iterdir())
    assert not list(release.plan.office.glob("file-*"))


def test_an_extract_is_a_file_of_its_own(release: Release, tmp_path: Path) -> None:
    accepted: dict[str, Any] = {"accepted_by": "A", "reason": "b"}
    orders = {}
    for name in ("", "women", "few"):
        made = release.make(tmp_path / f"file{name}", extract=name, **accepted)
        assert made.file.name == (f"file-{name}" if name else "file")
        assert made.office.name == f"file-{made.file.name}"
        assert check_folder(made.folder).sound
        households = made.folder / f"{made.file.name}-households.csv"
        with households.open(encoding="utf-8-sig", newline="") as file:
            orders[name] = [line["tenure"] for line in csv.DictReader(file)]
        # The plan that the office keeps is the one that was used: it makes the same file again.
        assert 'name = "file"' in (made.office / "release.toml").read_text(encoding="utf-8")
        assert ("Of these, the households" in codebook(made.folder)) is bool(name)
        # Each can be registered when it was held against those before it.
        out = release.register(made.folder, names=("Ana Ruiz", "Ben Okafor"))
        assert out[-1].name == made.file.name
    assert len(orders["women"]) < len(orders[""])
    assert len(out) == 3


def codebook(folder: Path) -> str:
    return (folder / "codebook.en.html").read_text(encoding="utf-8")
