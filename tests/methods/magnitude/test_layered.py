"""Layered perturbation, experimental: what its layers do; its claims are tested with the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.magnitude.layered import ExperimentalLayered
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.testing.island import SECRET
from tests.methods.magnitude.incomes import by_hand

PLAIN = ExperimentalLayered(secret=SECRET)
#: Layers that move by their whole share.
EXACT = ExperimentalLayered(layer_shares="0.3, 0.2, 0.1", layer_spread=0, secret=SECRET)


def changes(
    method: ExperimentalLayered,
    cells: list[list[int]],
    keys: list[list[int]],
    space: KeySpace | None = None,
) -> list[int]:
    cube = by_hand(cells, [0] * len(cells), record_keys=keys, key_space=space)
    table = method.protect(cube).table
    assert isinstance(table, Table)
    changed = table.published - cube.values.sum_of("income")
    return [int(change) for change in changed[: len(cells)]]


def test_it_says_that_it_is_experimental() -> None:
    assert PLAIN.name.startswith("experimental")
    assert PLAIN.summary.startswith("Experimental")
    assert not PLAIN.claims().for_publication
    assert any(caution.startswith("Experimental") for caution in PLAIN.claims().cautions)


def test_layers_of_ranks_move_by_their_shares() -> None:
    """Rank 1, ranks 2 and 3, ranks 4 to 6; what is smaller does not move."""
    sizes = [10**6, 10**5, 10**4, 10**3, 10**2, 10]
    (change,) = changes(EXACT, [[*sizes, 1, 1]], [[11, 12, 13, 14, 15, 16]])
    shares = [0.3, 0.2, 0.2, 0.1, 0.1, 0.1]
    moves = [round(size * share) for size, share in zip(sizes, shares, strict=True)]
    signs = []
    for move in moves:  # each is larger than all that follow together
        signs.append(1 if change > 0 else -1)
        change -= signs[-1] * move
    assert change == 0


def test_a_contributor_moves_the_same_way_everywhere() -> None:
    cells = [[5_000], [5_000, 1], [5_000, 2, 1]]
    for key in range(20):
        moved = changes(EXACT, cells, [[key], [key, 7], [key, 8, 9]])
        assert len(set(np.sign(moved).tolist())) == 1


def test_another_member_of_a_layer_changes_its_scale_and_no_other() -> None:
    sizes = [10**6, 10**5, 10**5]
    first, second, third = changes(PLAIN, [sizes, sizes, sizes], [[1, 2, 3], [1, 2, 3], [1, 2, 4]])
    assert first == second
    assert first != third
    assert abs(first - third) <= 2 * 0.15 * 1.5 * 2 * 10**5  # the first layer is the same


@given(
    st.lists(st.integers(-(10**9), 10**9).filter(bool), min_size=1, max_size=8),
    st.integers(0, 2**31),
)
def test_a_change_is_bounded_by_the_shares_of_layers(cell: list[int], own: int) -> None:
    keys = [(own * (at + 1)) % 2**32 for at in range(len(cell))]
    (change,) = changes(PLAIN, [cell], [keys])
    ranked = sorted(map(abs, cell), reverse=True)
    shares = (0.3, 0.15, 0.15, 0.05, 0.05, 0.05)
    bound = sum(1.5 * size * share for size, share in zip(ranked, shares, strict=False))
    assert abs(change) <= bound + 6


def test_keys_of_every_space_are_combined_as_the_space_says() -> None:
    sizes, keys = [10**6, 10**5, 10**5], [1, 2, 3]
    summed = KeySpace(256)
    xor = KeySpace(256, Combine.XOR)
    # The second layer has 2 + 3 = 5, or 2 xor 3 = 1.
    assert changes(PLAIN, [sizes], [keys], summed) != changes(PLAIN, [sizes], [keys], xor)
    assert changes(PLAIN, [sizes], [keys], KeySpace.from_decimals(3)) != [0]


def test_another_version_of_keys_is_another_series() -> None:
    cell, keys = [[10**6, 10**5]], [[1, 2]]
    assert changes(PLAIN, cell, keys) != changes(replace(PLAIN, key_version=2), cell, keys)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"layer_shares": "0.1, 0.2"}, "none larger than the one before"),
        ({"layer_shares": "0.1, 0.1, 0.1, 0.1"}, "1 to 3 shares"),
        ({"layer_shares": "0"}, "above 0"),
        ({"layer_spread": 2}, "between 0 and 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        ExperimentalLayered(secret=SECRET, **settings)


def test_it_needs_the_secret() -> None:
    with pytest.raises(SecretError, match="needs the office secret"):
        ExperimentalLayered()
