"""A file with blanked keys through the whole of a release: its risk falls, its papers say so."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sdcensus.microdata.release.suppression_facts import SUPPRESSED_FILE
from sdcensus.model.release.plan import (
    Design,
    Making,
    MicrodataFormat,
    MissingValues,
    ReleasePlan,
    RiskRules,
    Suppression,
    Thresholds,
    Treatment,
)
from sdcensus.model.schema.variable import CodeKind
from sdcensus.session.release.assess.ladders import Ladders
from sdcensus.session.release.designed import designed
from sdcensus.session.release.release import Release
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    place = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    place.load()
    return place


def plan_of(hamlet: Hamlet, office: Path) -> ReleasePlan:
    return ReleasePlan(
        name="file",
        store=hamlet.store,
        office=office,
        designs=(Design(name="A", fraction=Fraction(1, 2)),),
        # The weights of the hamlet look like those of a sample; here it is a census.
        risk=RiskRules(ladder=("age", "sex"), sampled=Fraction(1)),
        thresholds=Thresholds(persons=0, households=0),
        suppression=Suppression(k=3),
        making=Making(design="A", formats=(MicrodataFormat.CSV,)),
    )


def test_the_risk_along_the_ladder_is_that_of_the_blanked_file(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    plan = plan_of(hamlet, tmp_path / "office")
    opened = Release(plan, secret=SECRET).opened
    told = designed(opened, opened.designs()[0])
    changed = [
        each
        for each in told.records.design.ladder
        if (told.records.codes[each.name] != told.before.codes[each.name]).any()
    ]
    assert changed, "a file that needs no blank shows nothing"
    held = {each.name: each for each in told.records.design.variables}
    for variable in changed:
        # What blanked records tell is a code of the ladder too.
        assert variable.level == held[variable.name].level
        assert any(code.kind is CodeKind.NOT_STATED for code in variable.level.codes)
    rows = {
        name: Ladders(records, plan.risk).rows(MissingValues.ADJUST)[-1]
        for name, records in (("before", told.before), ("after", told.records))
    }
    assert rows["after"].expected_matches < rows["before"].expected_matches
    assert rows["after"].population_uniques < rows["before"].population_uniques
    # Whoever has three alike in the file has them in the census: nobody is below 3.
    assert rows["before"].not_anonymous > rows["after"].not_anonymous == 0
    result = Release(plan, secret=SECRET).assess()
    (verdict,) = [
        each for each in result.designs[0].verdicts if each.measure == "population_uniques"
    ]
    persons = int(np.sum(opened.store.rows(told.records.design.ladder[0].entity)))
    assert verdict.value == pytest.approx(rows["after"].population_uniques / persons)


def test_public_files_do_not_tell_who_was_changed(hamlet: Hamlet, tmp_path: Path) -> None:
    plan = replace(
        plan_of(hamlet, tmp_path / "office"),
        treatments=(Treatment(method="pram variables=sex stay=0.8"),),
    )
    folders = {}
    for name, each in (
        ("plain", replace(plan, treatments=(), suppression=None)),
        ("changed", plan),
    ):
        each = replace(each, office=tmp_path / f"office-{name}")
        Release(each, secret=SECRET).make(
            tmp_path / name, accepted_by="A. Ruiz", reason="a test of the papers"
        )
        folders[name] = tmp_path / name
    names = {name: sorted(path.name for path in own.iterdir()) for name, own in folders.items()}
    assert names["plain"] == names["changed"]
    tables = [name for name in names["plain"] if name.endswith("persons.csv")]
    lines = {
        name: (own / tables[0]).read_text(encoding="utf-8").splitlines()
        for name, own in folders.items()
    }
    # The same columns and as many records: only values differ.
    assert lines["plain"][0] == lines["changed"][0]
    assert len(lines["plain"]) == len(lines["changed"])
    assert lines["plain"] != lines["changed"]
    notes = tmp_path / "office-changed" / "file-file"
    done = (notes / "what-was-done.html").read_text(encoding="utf-8")
    assert "pram variables=sex stay=0.8" in done
    assert "Companions state all that a record still states" in done
    listed = (notes / SUPPRESSED_FILE).read_text(encoding="utf-8").splitlines()[1:]
    digests = {line.split(",")[1] for line in listed}
    assert digests
    for path in folders["changed"].iterdir():
        content = path.read_text(encoding="utf-8")
        assert not any(digest in content for digest in digests), path.name
        assert "pram" not in content, path.name
    manifest = json.loads((folders["changed"] / "manifest.json").read_text(encoding="utf-8"))
    assert "suppress" not in json.dumps(manifest)
    lists = (folders["changed"] / "removed-and-recoded.html").read_text(encoding="utf-8")
    assert "Some values were changed or blanked" in lists
    plain = (folders["plain"] / "removed-and-recoded.html").read_text(encoding="utf-8")
    assert "Some values were changed or blanked" not in plain
