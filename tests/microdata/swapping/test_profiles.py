"""Units are alike in a profile exactly if its variables say so."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.profiles import similarity_profiles
from sdcensus.microdata.swapping.units import unit_table
from tests.microdata.swapping.villages import H, P, Village, write_units


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(0, 4))
def test_alike_is_what_the_variables_say(seed: int, width: int) -> None:
    with TemporaryDirectory() as folder:
        store = Village(seed, households=25).write(Path(folder) / "a")
        units = unit_table(store)
        text = f"size~{width}, heating~1,tenure" if width else "size,heating~1,tenure"
        profile = similarity_profiles(units, [text])[0]
        size, heating, tenure = (
            units.codes(store.schema.variable(name)).astype(int)
            for name in ("size", "heating", "tenure")
        )
        first, second = (each.ravel() for each in np.meshgrid(np.arange(25), np.arange(25)))
        expected = (
            (np.abs(size[first] - size[second]) <= width)
            & (np.abs(heating[first] - heating[second]) <= 1)
            & (tenure[first] == tenure[second])
        )
        assert np.array_equal(profile.similar(first, second), expected)


def test_the_number_of_persons_needs_no_variable(tmp_path: Path) -> None:
    units = unit_table(Village(4).write(tmp_path / "a"))
    by_count, by_size = similarity_profiles(units, ["persons", "size"])
    assert np.array_equal(by_count.classes, by_size.classes)


def test_levels_of_the_geography_can_be_in_a_profile(tmp_path: Path) -> None:
    units = unit_table(Village(4, holder=P).write(tmp_path / "a"))
    profile = similarity_profiles(units, ["persons,ed@parish"])[0]
    parish = units.store.schema.variable("ed").level("parish").group_array[units.leaf]
    first, second = np.arange(len(units)), np.roll(np.arange(len(units)), 1)
    assert (parish[first] == parish[second])[profile.similar(first, second)].all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age", "describes persons, of which households may have several"),
        ("rent", "Give it levels in the schema"),
        ("sice", "Did you mean 'size'"),
        ("size~", "cannot be read"),
        ("heating@broad", "no level 'broad'"),
        (" , ", "is empty"),
    ],
)
def test_what_a_profile_cannot_have(tmp_path: Path, text: str, message: str) -> None:
    units = unit_table(Village(4).write(tmp_path / "a"))
    with pytest.raises(SpecError, match=message):
        similarity_profiles(units, [text])


def test_missing_values_are_refused_or_match_each_other(tmp_path: Path) -> None:
    village = Village(5)
    units = village.units()
    units[H].leaves["tenure"][:4] = 2
    table = unit_table(write_units(tmp_path / "a", village.schema(), units))
    with pytest.raises(SpecError, match=r"4 households have no value of 'tenure'.*missing-match"):
        similarity_profiles(table, ["size,tenure"])
    tenure = table.codes(table.store.schema.variable("tenure"))
    for text in ("tenure", "tenure~1"):
        profile = similarity_profiles(table, [text], missing_match=True)[0]
        lacking = np.flatnonzero(tenure == 2)
        others = np.flatnonzero(tenure != 2)
        assert profile.similar(lacking, np.roll(lacking, 1)).all()
        assert not profile.similar(lacking, others[: lacking.size]).any()


def test_combinations_are_numbered_exactly_however_many_there_could_be() -> None:
    draw = np.random.default_rng(1)
    columns = [draw.integers(0, 1 << 30, 300) for _ in range(5)]
    columns = [np.concatenate([column, column[:50]]) for column in columns]
    number, count = combined(columns, 350)
    rows = np.stack(columns, axis=1)
    assert count == len(np.unique(rows, axis=0))
    same = (rows[:, None] == rows[None]).all(axis=2)
    assert np.array_equal(number[:, None] == number[None], same)
