"""The mark of the people of a store: by what records say, under whatever name."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import CensusInfo
from sdcensus.model.schema.variable import Entity
from sdcensus.store.people import SIGNS, PeopleMark, people_mark
from sdcensus.testing.island import island_schema, island_units
from sdcensus.testing.stores import Units, write_store

P = Entity.PERSON


def mark(path: Path, units: Units, name: str = "a", code: tuple[str, ...] = ()) -> PeopleMark:
    schema = replace(island_schema(), census=CensusInfo(name=name, code=code))
    return people_mark(write_store(path, schema, {P: units}))


def rows(units: Units, order: np.ndarray) -> Units:
    return replace(
        units,
        keys=units.keys[order],
        leaves={name: leaf[order] for name, leaf in units.leaves.items()},
        values={name: value[order] for name, value in units.values.items()},
    )


def test_it_depends_on_what_records_say_and_on_nothing_else(tmp_path: Path) -> None:
    units = island_units(500)
    draw = np.random.default_rng(3)
    other_keys = replace(units, keys=draw.integers(0, 2**32, 500, dtype=np.uint64))
    first = mark(tmp_path / "1", units)
    assert mark(tmp_path / "2", rows(units, draw.permutation(500))) == first
    assert mark(tmp_path / "3", other_keys, "b", ("B", "2021")) == first
    assert PeopleMark.parse(str(first)) == first


@given(row=st.integers(0, 499), name=st.sampled_from(["sex", "age", "area"]))
def test_one_corrected_record_is_seen_and_still_the_same_people(
    tmp_path_factory: pytest.TempPathFactory, row: int, name: str
) -> None:
    units, folder = island_units(500), tmp_path_factory.mktemp("marks")
    leaves = {key: leaf.copy() for key, leaf in units.leaves.items()}
    leaves[name][row] = (leaves[name][row] + 1) % 2
    first, second = mark(folder / "1", units), mark(folder / "2", replace(units, leaves=leaves))
    same = bool((units.leaves[name] == leaves[name]).all())
    assert (first.exact == second.exact) is same
    assert first.is_nearly(second)


def test_the_share_of_changed_signs_follows_the_share_of_changed_records(tmp_path: Path) -> None:
    """By the angle between both censuses: arccos(1 - c) / pi, here for c = .1, .5 and 1."""
    units = island_units(4_000)
    draw = np.random.default_rng(5)
    first = mark(tmp_path / "first", units)
    for share, expected, same in ((0.1, 0.144, True), (0.5, 1 / 3, False), (1.0, 0.5, False)):
        values = {"weight": units.values["weight"].copy()}
        changed = draw.permutation(4_000)[: int(share * 4_000)]
        values["weight"][changed] += 1_000_000
        other = mark(tmp_path / f"{share}", replace(units, values=values))
        differ = (int(first.outline, 16) ^ int(other.outline, 16)).bit_count() / SIGNS
        assert abs(differ - expected) < 4 * (expected * (1 - expected) / SIGNS) ** 0.5
        assert first.is_nearly(other) is same


def test_a_damaged_mark_is_said_to_be_damaged() -> None:
    assert PeopleMark.parse("") is None
    with pytest.raises(SpecError, match="damaged"):
        PeopleMark.parse("abc")
