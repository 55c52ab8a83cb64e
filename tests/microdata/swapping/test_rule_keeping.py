"""Exchanges that would break an edit rule are not made, and earlier pairs give the same pairs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings, strategies as st

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.edit_rules import new_violations
from sdcensus.model.schema.schema import Impossible
from sdcensus.model.schema.variable import Entity
from sdcensus.session.derive.office_files import write_office_file
from tests.microdata.swapping.test_targeted import changes_of, pairs_of
from tests.microdata.swapping.villages import D, H, Village, write_units


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), holder=st.sampled_from([H, D]))
def test_the_same_census_has_the_same_pairs_once_they_are_earlier_ones(
    seed: int, holder: Entity
) -> None:
    village = Village(seed, holder=holder, households=120)
    schema = village.schema()
    geography = schema.geography
    assert geography is not None
    first, second = (geography.codes[at].code for at in (0, 5))
    rules = (
        Impossible(f"ed in ('{first}', '{second}') and heating == 1"),
        Impossible(f"ed == '{second}' and age == 3"),
    )
    said = {"risk_variables": ("sex", "age"), "k": 2, "rate": 0.3, "farther": True}
    with TemporaryDirectory() as folder:
        store = write_units(Path(folder) / "a", replace(schema, impossible=rules), village.units())
        changes = changes_of(store, **said)
        assert new_violations(DerivedRecords(store, changes)) == ()
        write_office_file(changes.files[0], Path(folder))
        again = changes_of(store, **said, earlier=Path(folder) / "pairs.csv")
        assert set(pairs_of(again)) == set(pairs_of(changes))
