"""What commands say of shares of the file and of the worst record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdcensus.model.catalogue import LANGUAGES
from tests.cli.conftest import Run
from tests.hamlet import Hamlet, write_hamlet

DOCUMENT = """\
store = "census.store"
name = "file"

[risk]
ladder = ["age", "sex", "tenure"]
sampled = 1

[acceptance]
expected_matches = 1
population_uniques = 1
not_anonymous = 1
household_risk = 1
composition_uniques = 1

[thresholds]
persons = 0
households = 0

[[design]]
name = "A"
households = 0.2

[make]
documentation = ["ddi"]
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    place.load()
    place.write("release.toml", DOCUMENT)
    return place


@pytest.mark.parametrize("language", LANGUAGES)
def test_assess_tells_the_worst_record(
    run: Run, hamlet: Hamlet, tmp_path: Path, language: str
) -> None:
    out = tmp_path / "assessment"
    said = ("--out", str(out), "--secret", str(hamlet.secret), "-l", language)
    answer = run("release", "assess", str(hamlet.folder / "release.toml"), *said)
    assert answer.code == 0, answer.err
    assert "{" not in answer.out.replace("{ age", "").replace("{ tenure", "")
    first, persons, households = (out / "worst.csv").read_text("utf-8").splitlines()
    assert first == "design,kind_of_unit,share_prosecutor,share_journalist,share_marketer"
    assert persons.split(",")[2:4] == ["1", "1"]
    assert households.split(",")[2:4] == ["1", "1"]
    if language == "en":
        told = " ".join(answer.out.split())
        assert "Worst record: who claims to know it is right with a chance of 100 %" in told
        assert "Worst household, by its members: 100 %" in told
        verdicts = (out / "verdicts.csv").read_text("utf-8")
        assert "households alone in the population with the ages and sexes of their" in verdicts
        assert "(file)" in verdicts


def test_make_names_the_base_that_failed_and_an_acceptance_by_name_is_kept(
    run: Run, hamlet: Hamlet, tmp_path: Path
) -> None:
    document, out = str(hamlet.folder / "release.toml"), str(tmp_path / "out")
    said = ("--out", out, "--secret", str(hamlet.secret))
    refused = run("release", "make", document, *said)
    assert refused.code != 0
    told = " ".join(refused.err.split())
    assert "of the households of the file, and 1.00 % are accepted." in told
    assert "of all of the country" not in told
    assert "It passes with this change" in told or "It would be" in told
    named = ("--accept-risk", "A. Ruiz", "--reason", "a trial")
    made = run("release", "make", document, *said, *named)
    assert made.code == 0, made.err
    (done,) = hamlet.folder.rglob("what-was-done.json")
    steps = json.loads(done.read_text("utf-8"))["steps"]
    titles = [step["title"] for step in steps]
    measured = steps[titles.index("The risk was measured")]
    assert "(> 0.01)" in measured["parameters"]["composition_uniques_of_file"]
    assert "(<= 1)" in measured["parameters"]["composition_uniques"]
    assert "A risk was accepted" in titles
    public = "".join(
        path.read_text("utf-8") for path in (tmp_path / "out").iterdir() if path.suffix != ".csv"
    )
    assert "journalist" not in public
    assert "composition_uniques" not in public
