from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from sdcensus.errors import SecretError, SpecError
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import DeviationRow, KeyRule, PerturbationTable, Tail
from sdcensus.model.secret import Purpose, Secret
from tests.kernels.keys.plain_siphash import siphash24_bytes

SECRET = Secret(bytes(range(32)))
STAYS = DesignRow((0,), (1.0,))
#: Row 3 of the table of maximum deviation 3 and variance 1.5 (ECLAC 2020, Diagram 1 A).
LARGE = DesignRow(
    (-3, -2, -1, 0, 1, 2, 3),
    (0.02367714, 0.08686096, 0.1894619, 0.4, 0.1894619, 0.08686096, 0.02367714),
)
DESIGN = PerturbationDesign((STAYS, STAYS, STAYS, LARGE), Tail(3))


def by_hand(table: PerturbationTable, row: int, width: int, version: int = 1) -> DeviationRow:
    """The documented rule, once more and plainly."""
    pieces: list[tuple[int, int]] = []
    one = table.rows[row]
    for value, keys in sorted(zip(one.deviations, one.widths, strict=True)):
        while keys > width and keys - width >= width / 1000:
            pieces.append((value, width))
            keys -= width
        pieces.append((value, keys))
    key = SECRET.sub_key(Purpose.ORDER, version)
    counters = itertools.count()
    for at in range(len(pieces) - 1, 0, -1):
        while True:
            words = row.to_bytes(8, "little") + next(counters).to_bytes(8, "little")
            draw = siphash24_bytes(key, words)
            if draw < 2**64 // (at + 1) * (at + 1):
                break
        other = draw % (at + 1)
        pieces[at], pieces[other] = pieces[other], pieces[at]
    return DeviationRow(tuple(one for one, _ in pieces), tuple(one for _, one in pieces))


@st.composite
def tables(draw: st.DrawFn) -> PerturbationTable:
    modulus = draw(st.sampled_from([16, 256, 4095, 10**8, 2**32]))
    rows = [DeviationRow((0, 1), (modulus - 1, 1))]
    for count in range(1, draw(st.integers(2, 5))):
        values = draw(st.lists(st.integers(-count, 4), min_size=1, max_size=6))
        cuts = st.lists(
            st.integers(1, modulus - 1),
            min_size=len(values) - 1,
            max_size=len(values) - 1,
            unique=True,
        )
        ends = [0, *sorted(draw(cuts)), modulus]
        rows.append(DeviationRow(tuple(values), tuple(b - a for a, b in itertools.pairwise(ends))))
    everything = frozenset(range(len(rows)))
    return PerturbationTable(modulus, tuple(rows), Tail(len(rows) - 1), biased=everything)


PIECES = st.sampled_from([0.07, 0.1, 0.2, 0.25, 1 / 3, 0.5, 1.0])


@given(tables(), PIECES, st.integers(0, 3))
def test_not_one_probability_changes(table: PerturbationTable, piece: float, version: int) -> None:
    other = scrambled(table, SECRET, key_version=version, piece=piece)
    for row in range(len(table.rows)):
        assert other.distribution(row) == table.distribution(row)
    assert other.rows[0] == table.rows[0]
    assert (other.modulus, other.tail, other.biased) == (table.modulus, table.tail, table.biased)


@given(tables(), PIECES)
def test_no_piece_is_wider_than_asked(table: PerturbationTable, piece: float) -> None:
    for row in scrambled(table, SECRET, piece=piece).rows[1:]:
        if len(set(row.deviations)) > 1:
            assert max(row.widths) <= piece * table.modulus * 1.001


@given(tables(), PIECES)
def test_the_order_before_does_not_matter(table: PerturbationTable, piece: float) -> None:
    once = scrambled(table, SECRET, piece=piece)
    assert scrambled(once, SECRET, piece=piece) == once
    elsewhere = scrambled(table, Secret(bytes(32)), piece=0.15)
    assert scrambled(elsewhere, SECRET, piece=piece) == once


@pytest.mark.parametrize("modulus", [256, 4096, 10**8, 2**32])
@pytest.mark.parametrize("version", [1, 7])
def test_the_shuffle_is_the_documented_one(modulus: int, version: int) -> None:
    table = DESIGN.table(modulus)
    ordered = scrambled(table, SECRET, key_version=version)
    assert ordered.rows[3] == by_hand(table, 3, modulus // 5, version)


def test_the_order_of_a_known_secret_never_changes() -> None:
    """For the secret of bytes 0 to 31 and key version 1; published numbers depend on it."""
    row = scrambled(DESIGN.table(), SECRET).rows[3]
    assert (row.deviations, row.widths) == VECTOR


VECTOR = (
    (0, -3, 0, 3, 2, -2, 1, -1),
    (858993459, 101692542, 858993459, 101692542, 373064983, 373064983, 813732664, 813732664),
)


def test_every_order_is_equally_likely_and_a_careless_shuffle_would_show() -> None:
    """Three pieces have six orders. Swapping with any of three instead prefers some of them."""
    size = 6000
    third = DeviationRow((-1, 0, 1), (2**30, 2**31, 2**30))
    rows = (DeviationRow((0,), (2**32,)), *[third] * size)
    ordered = scrambled(PerturbationTable(2**32, rows, Tail(size)), SECRET, piece=1)
    found = Counter(row.deviations for row in ordered.rows[1:])
    orders = list(itertools.permutations((-1, 0, 1)))
    observed = np.array([found[order] for order in orders])
    careless = Counter(_careless(swaps) for swaps in itertools.product(range(3), repeat=3))
    assert chisquare(observed).pvalue > 1e-3
    expected = np.array([careless[order] for order in orders]) * size / 27
    assert chisquare(observed, expected).pvalue < 1e-9


def _careless(swaps: tuple[int, ...]) -> tuple[int, ...]:
    order = [-1, 0, 1]
    for at, other in enumerate(swaps):
        order[at], order[other] = order[other], order[at]
    return tuple(order)


def test_a_rest_of_a_few_keys_is_no_piece_of_its_own() -> None:
    """A probability of 0.4 that is a key more than two pieces of 0.2 is shuffled like one less."""
    fifth = 2**32 // 5
    rows = []
    for more in (-1, 0, 1):
        keys = 2 * fifth + more
        side = (2**32 - keys) // 2
        rows.append(DeviationRow((-1, 0, 1), (side, keys, 2**32 - keys - side)))
    ordered = []
    for row in rows:
        stays = DeviationRow((0,), (2**32,))
        table = PerturbationTable(2**32, (stays, row), Tail(1), biased=frozenset({1}))
        ordered.append(scrambled(table, SECRET).rows[1].deviations)
    assert ordered[0] == ordered[1] == ordered[2]


def test_other_secrets_and_versions_and_rows_have_other_orders() -> None:
    rows = (STAYS, STAYS, STAYS, *[LARGE] * 9)
    table = PerturbationDesign(rows, Tail(11)).table()
    one = scrambled(table, SECRET)
    assert len({row.deviations for row in one.rows[3:]}) == 9
    assert one != scrambled(table, SECRET, key_version=2)
    assert one != scrambled(table, Secret(bytes(32)))
    assert one == scrambled(table, Secret(bytes(range(32))))


def test_the_part_of_the_secret_for_the_order_is_enough() -> None:
    table = DESIGN.table()
    part = SECRET.sub_secret(Purpose.ORDER, 1)
    assert scrambled(table, part) == scrambled(table, SECRET)
    with pytest.raises(SecretError, match="order version 1 is needed"):
        scrambled(table, SECRET.sub_secret(Purpose.LOOKUP, 1))


def test_tables_of_folded_keys_stay_such_tables() -> None:
    plain = DESIGN.table(256)
    folded = PerturbationTable(256, plain.rows, plain.tail, key_rule=KeyRule.FOLD_BYTES)
    assert scrambled(folded, SECRET).key_rule is KeyRule.FOLD_BYTES


@pytest.mark.parametrize("piece", [0, -0.2, 1.01, float("nan")])
def test_pieces_of_impossible_width_are_refused(piece: float) -> None:
    with pytest.raises(SpecError, match="wider than 0 and at most 1"):
        scrambled(DESIGN.table(), SECRET, piece=piece)


def test_pieces_narrower_than_a_key_are_refused() -> None:
    with pytest.raises(SpecError, match="narrower than one of 256 keys"):
        scrambled(DESIGN.table(256), SECRET, piece=0.003)
