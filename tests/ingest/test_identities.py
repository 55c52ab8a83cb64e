"""Identities that the records show are proposed, in lines that can be pasted, without counts."""

from __future__ import annotations

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.ingest.identities import undeclared_identities
from sdcensus.model.schema.schema import Schema
from sdcensus.session.census.census import Census
from sdcensus.store.census_store import CensusStore
from tests.attack.housed import housed, housed_schema, without_identities


def proposed(census: Census) -> list[str]:
    return [str(identity) for identity in undeclared_identities(census.store)]


@pytest.fixture
def plain() -> Schema:
    return without_identities(housed_schema())


def test_what_the_records_show_is_proposed(tmp_path: Path, plain: Schema) -> None:
    found = proposed(housed(tmp_path / "census.store", schema=plain))
    assert found == [
        '[variable.size]\ncounts = "persons"\ncounts_open = ["06"]',
        '[[identity]]\neach = "household"\nholds = "person"\nwhen = "place == \'0\'"',
    ]
    for text in found:
        tomllib.loads(text)
        # Numbers are those of codes alone.
        assert set(re.findall(r"\d+", text)) <= {"06", "0"}


def test_what_is_declared_is_not_proposed_again(tmp_path: Path) -> None:
    assert proposed(housed(tmp_path / "census.store")) == []


def test_one_household_that_does_not_fit_is_enough(tmp_path: Path, plain: Schema) -> None:
    """The near miss: one household of size 2 is said to have 3 persons."""
    census = housed(tmp_path / "census.store", schema=plain)
    column = tmp_path / "census.store" / "household" / "size.bin"
    files = [one for one in (tmp_path / "census.store").rglob("size*") if one.is_file()]
    column = files[0]
    sizes = np.fromfile(column, dtype=np.uint8)
    sizes[int(np.flatnonzero(sizes == 1)[0])] = 2
    sizes.tofile(column)
    # Not verified: what is looked at are numbers of another census.
    store = CensusStore.open(tmp_path / "census.store")
    found = proposed(Census(store.schema, store))
    assert not any("counts" in one for one in found)
    # The other sizes still hold the same number each.
    assert any("times = 4" in one for one in found)
    del census


def test_few_units_say_nothing(tmp_path: Path, plain: Schema) -> None:
    assert proposed(housed(tmp_path / "census.store", 20, schema=plain)) == []


def test_codes_of_other_variables_with_one_number_are_found(tmp_path: Path) -> None:
    """A kind of household that is always one person, beside the size."""
    schema = without_identities(housed_schema())
    renamed = replace(
        schema,
        variables=tuple(
            replace(
                variable,
                codes=tuple(replace(code, code=f"k{code.code}") for code in variable.codes),
            )
            if variable.name == "size"
            else variable
            for variable in schema.variables
        ),
    )
    found = proposed(housed(tmp_path / "census.store", schema=renamed))
    assert '[[identity]]\neach = "household"\nholds = "person"\nwhen = "size == \'k01\'"' in found
    assert any("times = 5" in one and "k05" in one for one in found)
    assert not any("k06" in one for one in found)
