from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.demo.words import DemoUnits, Draws, Shares, philox, share_out


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        (
            [0, 0, 0, 0],
            [0, 0],
            [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8],
        ),
        (
            [0xFFFFFFFF] * 4,
            [0xFFFFFFFF] * 2,
            [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        ),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_philox_gives_the_published_words(
    counter: list[int], key: list[int], words: list[int]
) -> None:
    """The known answers of Random123, the library of the authors of Philox (philox4x32, 10)."""
    found = philox(*(np.uint64(part) for part in counter + key))
    assert [int(word) for word in found] == words


def _units(count: int) -> DemoUnits:
    return DemoUnits(np.full(count, 3, np.int32), np.arange(count, dtype=np.int32))


def test_a_draw_depends_on_the_unit_and_not_on_its_company() -> None:
    draws, units = Draws(7), _units(1000)
    some = np.arange(0, 1000, 7)
    assert (draws.words("age", units)[some] == draws.words("age", units.take(some))).all()


def test_draws_differ_by_seed_purpose_district_and_number() -> None:
    units = _units(1000)
    elsewhere = DemoUnits(units.ed + np.int32(1), units.number)
    later = DemoUnits(units.ed, units.number + np.int32(1))
    streams = [
        Draws(7).words("age", units),
        Draws(8).words("age", units),
        Draws(7 + (1 << 32)).words("age", units),
        Draws(7).words("sex", units),
        Draws(7).words("age", elsewhere),
        Draws(7).words("age", later),
    ]
    for i, stream in enumerate(streams):
        for other in streams[:i]:
            assert (stream == other).mean() < 0.01


def _distance(found: npt.NDArray[np.integer], weights: list[int]) -> float:
    """Chi-squared distance of categories from what their weights say."""
    expected = np.array(weights) / sum(weights) * found.size
    observed = np.bincount(found, minlength=len(weights))
    return float(((observed - expected) ** 2 / expected).sum())


def test_categories_occur_as_often_as_their_weights_say_and_no_other() -> None:
    found = Draws(1).choose("x", _units(40_000), Shares([60, 30, 9, 1]))
    assert _distance(found, [60, 30, 9, 1]) < 20
    assert _distance(found, [57, 33, 9, 1]) > 20


def test_each_unit_follows_the_row_of_its_own_conditions() -> None:
    table = Shares([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 1]]])
    units = _units(4000)
    first, second = units.number % 2, units.number // 2 % 2
    found = Draws(1).choose("x", units, table, first, second)
    assert (found[(first == 0) & (second == 0)] == 0).all()
    assert (found[(first == 0) & (second == 1)] == 1).all()
    assert (found[(first == 1) & (second == 0)] == 2).all()
    assert set(found[(first == 1) & (second == 1)].tolist()) == {0, 2}


def test_numbers_below_a_bound_are_even() -> None:
    found = Draws(1).below("x", _units(50_000), 10)
    assert _distance(found, [1] * 10) < 35


@pytest.mark.parametrize("weights", [[1, -1], [0, 0], [[1, 0], [0, 0]]])
def test_impossible_weights_are_refused(weights: list[int]) -> None:
    with pytest.raises(ValueError, match="Weights"):
        Shares(weights)


def test_conditions_outside_the_table_are_refused() -> None:
    with pytest.raises(ValueError, match="outside"):
        Draws(1).choose("x", _units(3), Shares([[1, 1], [1, 1]]), np.array([0, 1, 2]))


def test_shares_add_up_exactly_and_differ_from_proportion_by_less_than_one() -> None:
    weights = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    shares = share_out(1001, weights)
    assert shares.sum() == 1001
    assert (np.abs(shares - weights * 1001 / weights.sum()) < 1).all()
    assert share_out(20, weights, least=2).min() >= 2
