"""The noise of sums: published figures, and the specification in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.kernels.magnitude.draws import DEFINED, HASHED, ROTATED, SumKeys, sum_keys
from sdcensus.kernels.magnitude.numeric_rows import BILLION, NumericRows
from sdcensus.kernels.magnitude.sum_noise import (
    Magnitude,
    SmallValues,
    SumNoise,
    magnitudes,
    publish_sums,
)
from sdcensus.kernels.perturbation.lookup import frozen
from tests.kernels.magnitude.plain_sums import LookUp, PlainSettings, magnitude, published

#: Deviations and how many of 1,000 keys each has, by anchor: the rows of three different tables.
ROWS = {
    "plain": {1: ((-1, 0, 2), (400, 400, 200)), 2: ((-2, -1, 1, 2), (250, 250, 250, 250)),
              3: ((-3, -1, 1, 3), (100, 400, 400, 100))},
    "odd": {1: ((-1, 1), (500, 500)), 2: ((-2, 0, 2), (300, 400, 300)), 3: ((-3, 3), (500, 500))},
    "small": {1: ((-1, 0, 1), (250, 500, 250)), 2: ((-1, 1), (500, 500)),
              3: ((-2, -1, 1, 2), (200, 300, 300, 200))},
}  # fmt: skip
STEP = 4
SHARES = (Fraction(1), Fraction(1, 2), Fraction(3, 10))


def rows(step: int = STEP) -> NumericRows:
    tables = [((1, 2, 3), [ROWS[name][anchor] for anchor in (1, 2, 3)], step) for name in ROWS]
    # Deviations of small values are whole.
    tables[2] = (*tables[2][:2], 1)
    return NumericRows.build(tables, 1_000)


def noise(
    share: Fraction = Fraction(1, 5),
    *,
    flexible: bool = False,
    shares: tuple[Fraction, ...] = SHARES,
    small: SmallValues | None = None,
    extra: Fraction = Fraction(0),
    parity: bool = False,
) -> SumNoise:
    size = int(share * BILLION)
    return SumNoise(
        rows(),
        SumKeys.build(ROTATED, 1_000, same_key=True),
        Magnitude.build(size, size // 5, 1_000, 2) if flexible else Magnitude.build(size),
        small or SmallValues.build(0, [0] * len(shares), 1),
        frozen(np.array([int(part * BILLION) for part in shares], dtype=np.uint64)),
        np.uint64(int(extra * BILLION)),
        parity,
    )


def looked_up(key: int, step: int) -> LookUp:
    def look_up(table: str, place: int, row: int) -> Fraction:
        turned = key
        for _ in range(place):
            turned = turned % 100 * 10 + turned // 100
        deviations, widths = ROWS[table][row]
        ends = np.cumsum(widths)
        value = deviations[int(np.searchsorted(ends, turned, side="right"))]
        return Fraction(value, 1 if table == "small" else step)

    return look_up


def test_the_flexible_function_has_its_published_values() -> None:
    flexible = Magnitude.build(BILLION // 5, 3 * BILLION // 100, flex_point=1_000, power=2)
    at = np.array([1, 999, 1_000, 2_000, 10_000, 10**12])
    values = magnitudes(at, flexible) / BILLION
    assert values[:3].tolist() == [0.2, 0.2, 0.2]
    assert values[3] == pytest.approx(0.19444, abs=5e-6)
    assert values[4] == pytest.approx(0.09512, abs=5e-6)
    assert values[5] == pytest.approx(0.03, abs=1e-6)


def test_a_power_of_one_rises_to_the_large_share_and_twice_the_small_one() -> None:
    rising = Magnitude.build(BILLION // 5, 3 * BILLION // 100, flex_point=1_000, power=1)
    assert magnitudes(np.array([10**15]), rising)[0] / BILLION == pytest.approx(0.43, abs=1e-6)


@given(st.integers(1, 10**15), st.integers(1, 10**12), st.integers(2, 10))
def test_the_flexible_function_is_the_published_formula(size: int, flex: int, power: int) -> None:
    shares = Fraction(1, 5), Fraction(3, 100)
    exact = magnitude(Fraction(size), PlainSettings(shares[0], shares[1], flex, power))
    ready = Magnitude.build(int(shares[0] * BILLION), int(shares[1] * BILLION), flex, power)
    # Every rounding of the ratio and of its powers is half a billionth.
    assert abs(magnitudes(np.array([size]), ready)[0] - exact * BILLION) <= power + 2


@pytest.mark.parametrize(("factor", "expected"), [(Fraction(1, 2), 400), (Fraction(3, 5), 360)])
def test_the_example_of_the_handbook(factor: Fraction, expected: int) -> None:
    """A sum of 300 with a largest contribution of 200, the key .8 and the fictional table.

    With the factor .5 the sum is three times what noise is measured by, and row 3 adds 1 for the
    keys from .7 on. With .6 it is two and a half times, halfway to a row that adds 0 there.
    """
    fictional = ((1, 2, 3), [((0,), (10,)), ((-1, 0, 1), (1, 8, 1)), ((-1, 0, 1), (3, 4, 3))], 1)
    ready = noise(factor, shares=(Fraction(1),))._replace(
        rows=NumericRows.build([fictional] * 3, 10), keys=SumKeys.build(ROTATED, 10, same_key=True)
    )
    key = np.array([8], dtype=np.uint32)
    result = publish_sums(np.array([300]), np.array([[200]]), np.array([3]), key, ready)
    assert result.tolist() == [expected]


CONTRIBUTIONS = st.lists(st.integers(-(10**9), 10**9).filter(bool), min_size=1, max_size=7).map(
    lambda cell: sorted(cell, key=abs, reverse=True)
)


@settings(max_examples=300)
@given(
    CONTRIBUTIONS,
    st.integers(0, 999),
    st.booleans(),
    st.sampled_from([0, 400, 10**6]),
    st.sampled_from([Fraction(0), Fraction(3, 2)]),
    st.booleans(),
)
def test_the_kernel_does_what_the_specification_says(
    cell: list[int], key: int, flexible: bool, small_bound: int, extra: Fraction, parity: bool
) -> None:
    share = Fraction(1, 5)
    shares = SHARES[:1] if parity else SHARES
    plain = PlainSettings(
        share,
        share / 5 if flexible else None,
        1_000,
        epsilon=shares,
        small_square=Fraction(small_bound**2),
        extra=extra,
    )
    restart = [-((-small_bound * part * share) // 1) for part in shares]
    ready = noise(
        share,
        flexible=flexible,
        shares=shares,
        small=SmallValues.build(small_bound, [int(one) for one in restart], 1),
        extra=extra,
        parity=parity,
    )
    total, number = sum(cell), len(cell)
    result = publish_sums(
        np.array([total]),
        np.array([(cell + [0] * 6)[:6]]),
        np.array([number]),
        np.array([key], dtype=np.uint32),
        ready,
        sensitive=np.array([True]),
    )
    exact, bound = published(
        total,
        cell[: len(shares)],
        plain,
        looked_up(key, STEP),
        sensitive=True,
        odd=parity and number % 2 == 1,
    )
    change = abs(int(result[0]) - total)
    assert abs(result[0] - exact) <= 2 + len(shares) * max(map(abs, cell)) / 10**6
    assert change <= bound + 2 + len(shares)
    assert (result[0] == 0) if total == 0 else np.sign(result[0]) in (0, np.sign(total))


def near_zero(draw: np.random.Generator) -> list[int]:
    """Contributions of all sizes and both signs, of which hardly anything is left together."""
    cell = (draw.integers(1, 10 ** draw.integers(1, 7), draw.integers(1, 5))).tolist()
    if len(cell) > 1 and draw.random() < 0.6:
        cell[-1] = draw.integers(0, cell[0] // 3 + 2) - sum(cell[:-1])
    return sorted((size for size in cell if size), key=abs, reverse=True) or [1]


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(7, 10), Fraction(1)], ids=str)
@pytest.mark.parametrize("anchors", [(1, 2, 3), (1, 3)], ids=str)
@pytest.mark.parametrize("small", [False, True])
def test_deviations_are_spread_and_drawn_as_the_specification_says(
    share: Fraction, anchors: tuple[int, ...], small: bool
) -> None:
    """Many small cells with hashed keys: where little is left, of both kinds of noise."""
    draw = np.random.default_rng(12)
    cells = [near_zero(draw) for _ in range(150)]
    keys = draw.integers(0, 2**32, len(cells), dtype=np.uint64)
    tables = [
        (anchors, [ROWS[name][anchor] for anchor in anchors], step)
        for name, step in (("plain", STEP), ("odd", STEP), ("small", 1))
    ]
    wide = [
        (at, [(values, [width << 22 for width in widths]) for values, widths in table], step)
        for at, table, step in tables
    ]
    for _, table, _ in wide:
        for values, widths in table:
            widths[len(values) - 1] += 2**32 - sum(widths)
    bound = 40 if small else 0
    ready = noise(share, extra=Fraction(1, 2))._replace(
        rows=NumericRows.build(wide, 2**32),
        keys=SumKeys.build(HASHED, 2**32, hash_key=bytes(range(16))),
        small=SmallValues.build(bound, [-((-bound * part * share) // 1) for part in SHARES], 1),
    )
    plain = PlainSettings(
        share,
        epsilon=SHARES,
        anchors=anchors,
        small_anchors=anchors,
        small_square=Fraction(bound**2),
        extra=Fraction(1, 2),
        half_step=Fraction(1, 2 * STEP),
    )
    result = publish_sums(
        np.array([sum(cell) for cell in cells]),
        np.array([(cell + [0] * 6)[:6] for cell in cells]),
        np.array([len(cell) for cell in cells]),
        keys.astype(np.uint32),
        ready,
        sensitive=np.ones(len(cells), dtype=np.bool_),
    )

    def words(key: int, place: int) -> int:
        words = np.array([[key, place]], dtype=np.uint64)
        return int(siphash24(bytes(range(16)), words)[0]) >> 32

    for cell, key, value in zip(cells, keys.tolist(), result.tolist(), strict=True):

        def look_up(table: str, place: int, row: int, key: int = key) -> Fraction:
            at = ("plain", "odd", "small").index(table)
            values, widths = wide[at][1][anchors.index(row)]
            ends = np.cumsum(widths)
            return Fraction(
                values[int(np.searchsorted(ends, words(key, place + 1), side="right"))], wide[at][2]
            )

        def spread(place: int, key: int = key) -> Fraction:
            return Fraction(words(key, 8 + place), 2**32)

        exact, _ = published(sum(cell), cell, plain, look_up, sensitive=True, spread=spread)
        assert abs(value - exact) <= 2 + len(SHARES) * max(map(abs, cell)) / 10**6, (cell, key)


@given(CONTRIBUTIONS, st.integers(0, 999), st.sampled_from([10, 1_000, 10**6]))
def test_scaling_values_and_units_scales_what_is_published(
    cell: list[int], key: int, scale: int
) -> None:
    def at(factor: int) -> int:
        share = Fraction(1, 5)
        ready = noise(share)._replace(
            magnitude=Magnitude.build(200_000_000, 40_000_000, 1_000 * factor, 2),
            small=SmallValues.build(400 * factor, [80 * factor, 40 * factor, 24 * factor], factor),
        )
        sizes = np.array([[size * factor for size in (cell + [0] * 6)[:6]]])
        keys = np.array([key], dtype=np.uint32)
        total = np.array([sum(cell) * factor])
        return int(publish_sums(total, sizes, np.array([len(cell)]), keys, ready)[0])

    # Each of three changes is rounded to a whole amount, and shares to billionths.
    assert abs(at(scale) - scale * at(1)) <= scale * (2 + 6 * max(map(abs, cell)) / BILLION)


def test_nobody_and_nothing_stay_as_they_are() -> None:
    ready = noise()
    sizes = np.array([[5, 5, 0], [0, 0, 0]])
    keys = np.array([7, 7], dtype=np.uint32)
    result = publish_sums(np.array([0, 0]), sizes, np.array([2, 0]), keys, ready)
    assert result.tolist() == [0, 0]


def test_keys_of_contributions_turn_the_digits_of_the_cell_key() -> None:
    keys = np.array([123, 7], dtype=np.uint32)
    own = SumKeys.build(ROTATED, 1_000)
    assert sum_keys(keys, own, place=0).tolist() == [231, 70]
    assert sum_keys(keys, own, place=1).tolist() == [312, 700]
    same = SumKeys.build(ROTATED, 1_000, same_key=True)
    assert [sum_keys(keys, same, place=at).tolist() for at in (0, 1)] == [[123, 7], [231, 70]]


def test_drawn_keys_are_hashes_of_the_key_and_the_place() -> None:
    secret = bytes(range(16))
    keys = np.array([1888058353, 0], dtype=np.uint32)
    for place in (0, 1):
        words = np.array([[int(key), place + 1] for key in keys], dtype=np.uint64)
        drawn = sum_keys(keys, SumKeys.build(HASHED, 2**32, hash_key=secret), place=place)
        assert (drawn == siphash24(secret, words) >> np.uint64(32)).all()
    definition = np.array([3, 4], dtype=np.uint64)
    defined = SumKeys.build(DEFINED, 2**32, hash_key=secret, amount=10, same_key=True)
    words = np.stack([keys.astype(np.uint64), definition], axis=1)
    first = sum_keys(keys, defined, place=0, definition=definition)
    assert (first == siphash24(secret, words) >> np.uint64(32)).all()
    words = np.stack(
        [keys.astype(np.uint64), definition + np.uint64(10), np.full(2, 2, np.uint64)], axis=1
    )
    second = sum_keys(keys, defined, place=1, definition=definition)
    assert (second == siphash24(secret, words) >> np.uint64(32)).all()


def test_what_cannot_be_computed_is_refused() -> None:
    ready = noise()
    beyond = np.array([999 + 1], dtype=np.uint32)
    with pytest.raises(SpecError, match="does not fit the perturbation table"):
        publish_sums(np.array([5]), np.array([[5, 0, 0]]), np.array([1]), beyond, ready)
    huge = np.iinfo(np.int64).max
    key = np.array([999], dtype=np.uint32)
    with pytest.raises(SpecError, match="beyond 64 bits"):
        publish_sums(np.array([huge]), np.array([[huge, 0, 0]]), np.array([1]), key, ready)
    by_definition = ready._replace(keys=SumKeys.build(DEFINED, 2**32))
    with pytest.raises(TypeError, match="definition"):
        publish_sums(np.array([5]), np.array([[5, 0, 0]]), np.array([1]), key, by_definition)


def test_threads_and_shapes_change_nothing() -> None:
    draw = np.random.default_rng(3)
    cells = (4, 60_000)
    sizes = -np.sort(-draw.integers(0, 10**6, (*cells, 3)), axis=-1)
    total = sizes.sum(axis=-1)
    numbers = (sizes > 0).sum(axis=-1)
    keys = draw.integers(0, 1_000, cells, dtype=np.uint32)
    ready = noise()
    many = publish_sums(total, sizes, numbers, keys, ready, threads=3)
    one = publish_sums(
        total.reshape(-1),
        sizes.reshape(-1, 3),
        numbers.reshape(-1),
        keys.reshape(-1),
        ready,
        threads=1,
    )
    assert many.shape == cells
    assert (many.reshape(-1) == one).all()
