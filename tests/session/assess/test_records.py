"""Imputed records count as perturbed in an assessment, and an original is compared with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.constraints import interior
from sdcensus.report.assessment.counted import counted_rows
from sdcensus.report.assessment.results import Assessment
from sdcensus.session.assess.options import AssessOptions, Surroundings
from sdcensus.session.assess.tables import assess_spec
from sdcensus.session.census.census import load, open_store
from sdcensus.session.derive.derivation import derive
from sdcensus.testing.island import SECRET, island_store
from tests.session.study.test_records import SCHEMA

PLAIN = AssessOptions(compare=False, exact=False)
METHOD = CellKey(scheme("CP1"), SECRET)


def test_imputed_records_count_as_perturbed(tmp_path: Path) -> None:
    """Forty persons live alone, each with a sex of his own; every other one was imputed."""
    (tmp_path / "schema.toml").write_text(
        SCHEMA.replace(
            '{ A = "A", B = "B" }', "{ " + ", ".join(f'{n} = "{n}"' for n in range(40)) + " }"
        ),
        encoding="utf-8",
    )
    houses = [f"{n},{n},1,0" for n in range(40)]
    persons = [f"{n},1,1,{n % 2}" for n in range(40)]
    (tmp_path / "households.csv").write_text(
        "\n".join(["house,ed,tenure,tenure_flag", *houses]) + "\n", encoding="utf-8"
    )
    (tmp_path / "persons.csv").write_text(
        "\n".join(["house,number,sex,sex_flag", *persons]) + "\n", encoding="utf-8"
    )
    load(tmp_path / "schema.toml", tmp_path / "f.store", secret=SECRET)
    census = open_store(tmp_path / "f.store")
    spec = census.spec("ed", "sex")
    table = METHOD.protect(census.tabulate(spec)).table.held_for("a test")
    kept = table.published[:40, 0] == 1
    assessed = assess_spec(census, spec, METHOD, PLAIN)
    assert isinstance(assessed, Assessment)
    assert assessed.records is not None
    assert assessed.records.untouched.records == 40
    assert assessed.records.untouched.unchanged_records == kept[::2].sum()
    assert assessed.counted[0].small.unchanged_records == kept.sum() > kept[::2].sum()
    labels = [label for label, _ in counted_rows(assessed, None)]
    assert any("neither perturbed nor imputed" in label for label in labels)
    # No value of this table was imputed: there is nothing to tell.
    other = assess_spec(census, census.spec("ed"), METHOD, PLAIN)
    assert isinstance(other, Assessment)
    assert other.records is None


def test_a_derived_store_is_compared_with_its_original(tmp_path: Path) -> None:
    original = island_store(tmp_path / "i.store", 300)
    derive(
        tmp_path / "i.store",
        tmp_path / "d.store",
        "drop-records",
        {"where": "age >= 8"},
        secret=SECRET,
    )
    derived = open_store(tmp_path / "d.store")
    spec = derived.spec("area", "age")
    alone = assess_spec(derived, spec, METHOD, PLAIN)
    assert isinstance(alone, Assessment)
    assert alone.records is None
    around = Surroundings(original=tmp_path / "i.store")
    beside = assess_spec(derived, spec, METHOD, PLAIN, around)
    assert isinstance(beside, Assessment)
    figures = beside.records
    assert figures is not None
    true = original.tabulate(spec).held_for("a test").count
    counted = derived.tabulate(spec).held_for("a test")
    shown = METHOD.protect(counted).table.held_for("a test").published
    assert figures.change == pytest.approx(np.abs(shown - true)[true > 0].mean())
    inside = interior(spec)
    old, new, seen = true[inside], counted.count[inside], shown[inside]
    few = (seen >= 1) & (seen <= 2)
    assert figures.perceived is not None
    assert sum(figures.perceived.right) == (old == seen)[few].sum()
    small = (old >= 1) & (old <= 2)
    assert figures.untouched.records == old[small].sum()
    assert figures.untouched.unchanged_records == new[small & (seen == new)].sum()
    with pytest.raises(SpecError, match="not derived from"):
        assess_spec(original, spec, METHOD, PLAIN, Surroundings(original=tmp_path / "d.store"))
