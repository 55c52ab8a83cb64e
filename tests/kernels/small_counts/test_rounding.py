"""Small count rounding: published examples, its properties, and a plain reading of the method."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.small_counts.differences import given_away
from sdcensus.kernels.small_counts.incidence import Incidence
from sdcensus.kernels.small_counts.rounding import (
    FREE,
    RoundedCounts,
    Wishes,
    round_small_counts,
)

Int64 = npt.NDArray[np.int64]
SEEDS = range(40)


def words(size: int, seed: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(0, 2**64, size, dtype=np.uint64)


def incidence_of(cells: Sequence[Sequence[int]], size: int) -> Incidence:
    starts = np.cumsum([0, *(len(row) for row in cells)]).astype(np.int64)
    return Incidence(starts, np.array(list(itertools.chain(*cells)), dtype=np.int64), size)


def dense(incidence: Incidence) -> Int64:
    matrix = np.zeros((len(incidence), incidence.size), dtype=np.int64)
    for row in range(len(incidence)):
        matrix[row, incidence.cells[incidence.starts[row] : incidence.starts[row + 1]]] = 1
    return matrix


def margins(*shape: int) -> Incidence:
    """Every margin of one axis and the total, but not the interior."""
    firsts = np.cumsum([1, *shape])
    cells = [
        [0, *(int(first) + code for first, code in zip(firsts, place, strict=False))]
        for place in itertools.product(*(range(size) for size in shape))
    ]
    return incidence_of(cells, int(firsts[-1]))


def random_tables(seed: int, rows: int, cells: int) -> tuple[Int64, Incidence]:
    """Sparse counts in hierarchies of different depth over the same rows."""
    draw = np.random.default_rng(seed)
    counts = draw.poisson(draw.choice([0.4, 1.5, 6.0]), rows).astype(np.int64)
    columns = [np.zeros(rows, dtype=np.int64)]
    while columns[-1].max() + 1 < cells:
        parts = int(draw.integers(2, max(3, cells // 3)))
        columns.append(columns[-1].max() + 1 + draw.integers(0, parts, rows))
        columns[-1] = columns[-1].min() + np.unique(columns[-1], return_inverse=True)[1]
    matrix = np.stack(columns, axis=1)
    return counts, incidence_of(matrix.tolist(), int(matrix.max()) + 1)


def crossed(seed: int, *shape: int, mean: float = 0.4) -> tuple[Int64, Incidence]:
    """Sparse counts with every margin of two axes, of one, and the total."""
    draw = np.random.default_rng(seed)
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    columns, size = [], 0
    for kept in itertools.product([0, 1], repeat=len(shape)):
        if sum(kept) <= 2:
            number = np.zeros(len(places), dtype=np.int64)
            for at, axis in enumerate(shape):
                number = number * (axis if kept[at] else 1) + places[:, at] * kept[at]
            columns.append(size + number)
            size = int(columns[-1].max()) + 1
    counts = draw.poisson(mean, len(places)).astype(np.int64)
    return counts, incidence_of(np.stack(columns, axis=1).tolist(), size)


def rounded(
    counts: Sequence[int] | Int64, incidence: Incidence, base: int, seed: int = 1, **more: object
) -> RoundedCounts:
    wishes = Wishes(**{"base": base, "most": base - 1, **more})  # type: ignore[arg-type]
    inner = np.array(counts, dtype=np.int64)
    return round_small_counts(inner, incidence, words(inner.size, seed), wishes)


# ---------------------------------------------------------------- published examples

#: Three rows and five columns (the package SmallCountRounding tests them so).
EXAMPLE = np.array([[6, 0, 1, 3, 4], [1, 2, 3, 1, 2], [0, 1, 1, 0, 2]])


@pytest.mark.parametrize("seed", SEEDS)
def test_total_rows_and_columns_of_the_published_example(seed: int) -> None:
    incidence = margins(3, 5)
    assert incidence.sums(EXAMPLE.ravel()).tolist() == [27, 14, 9, 4, 7, 3, 5, 4, 8]
    result = rounded(EXAMPLE.ravel(), incidence, 5, seed)
    assert result.published.tolist() == [28, 15, 8, 5, 7, 5, 5, 5, 6]


@pytest.mark.parametrize("seed", SEEDS)
def test_countries_and_years_of_the_published_example(seed: int) -> None:
    """Iceland 2 and 1, Portugal 3 and 5, Spain 7 and 6, by country, union and year."""
    total, iceland, portugal, spain, union, others, first, second = range(8)
    cells = [
        [total, country, group, year]
        for country, group in ((iceland, others), (portugal, union), (spain, union))
        for year in (first, second)
    ]
    counts = [2, 1, 3, 5, 7, 6]
    incidence = incidence_of(cells, 8)
    result = rounded(counts, incidence, 5, seed)
    assert sorted(result.inner[:2].tolist()) == [0, 5]
    assert result.inner[2:].tolist() == counts[2:]
    change = result.published - incidence.sums(np.array(counts))
    assert change[[total, iceland, others]].tolist() == [2, 2, 2]
    assert change[[portugal, spain, union]].tolist() == [0, 0, 0]


# ---------------------------------------------------------------- properties

cases = st.tuples(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 25), st.integers(1, 9))


@given(cases, st.integers(0, 7))
def test_nothing_small_is_published_and_everything_adds_up(
    case: tuple[int, int, int, int], more: int
) -> None:
    seed, rows, cells, base = case
    counts, incidence = random_tables(seed, rows, cells)
    most = base - 1 + more
    result = rounded(counts, incidence, base, seed, most=most)
    assert np.array_equal(result.published, dense(incidence).T @ result.inner)
    small = (result.published > 0) & (result.published <= most)
    assert not (result.published[small] % base).any()
    assert (result.inner >= 0).all()


@given(cases)
def test_cells_that_feed_nothing_small_are_as_they_were(case: tuple[int, int, int, int]) -> None:
    seed, rows, cells, base = case
    counts, incidence = random_tables(seed, rows, cells)
    result = rounded(counts, incidence, base, seed)
    changed = result.inner != counts
    matrix = dense(incidence).astype(bool)
    if result.passes == 1:
        truth = incidence.sums(counts)
        small = (truth > 0) & (truth < base)
        assert matrix[changed][:, small].any(axis=1).all()
    # Whatever moved became a multiple next to what it was.
    assert not (result.inner[changed] % base).any()
    assert (np.abs(result.inner - counts)[changed] < base).all()
    assert (counts[changed] < base).all()
    assert (counts[changed] > 0).all()


@given(cases)
def test_the_total_stays_within_half_a_base(case: tuple[int, int, int, int]) -> None:
    seed, rows, cells, base = case
    counts, incidence = random_tables(seed, rows, cells)
    result = rounded(counts, incidence, base, seed)
    assert 2 * abs(int(result.inner.sum()) - int(counts.sum())) <= base * max(result.passes, 1)


@given(cases, st.integers(1, 2000))
def test_the_order_of_cells_and_of_tables_does_not_matter(
    case: tuple[int, int, int, int], work: int
) -> None:
    seed, rows, cells, base = case
    counts, incidence = random_tables(seed, rows, cells)
    draw = np.random.default_rng(seed + 1)
    order, renamed = draw.permutation(rows), draw.permutation(incidence.size)
    parts = np.split(incidence.cells, incidence.starts[1:-1])
    other = incidence_of([renamed[parts[row]][::-1].tolist() for row in order], incidence.size)
    wishes = Wishes(base=base, most=base - 1, most_changes=work)
    ties = words(rows, seed)
    first = round_small_counts(counts, incidence, ties, wishes)
    second = round_small_counts(counts[order], other, ties[order], wishes)
    assert np.array_equal(first.inner[order], second.inner)


def test_the_words_decide_between_equal_choices() -> None:
    """Two ones in one cell: each becomes the base under some words, never both."""
    incidence = incidence_of([[0], [0]], 1)
    outcomes = {tuple(rounded([2, 2], incidence, 5, seed).inner.tolist()) for seed in SEEDS}
    assert outcomes == {(5, 0), (0, 5)}


# ---------------------------------------------------------------- what else can be asked


def test_a_base_of_one_leaves_everything() -> None:
    result = rounded([1, 2, 0], incidence_of([[0], [0], [0]], 1), 1)
    assert result.inner.tolist() == [1, 2, 0]
    assert result.passes == 0


def test_forced_cells_become_multiples_wherever_they_are() -> None:
    counts = [7, 8, 30]
    incidence = incidence_of([[0], [0], [0]], 1)
    assert rounded(counts, incidence, 5).inner.tolist() == counts
    forced = np.array([True, True, False])
    result = rounded(counts, incidence, 5, forced=forced)
    assert sorted(result.inner.tolist()) == [5, 10, 30]
    assert result.inner[2] == 30


def test_empty_candidates_may_go_up_and_others_never_do() -> None:
    incidence = incidence_of([[0], [0]], 1)
    candidates = np.array([False, True])
    outcomes = {tuple(rounded([4, 0], incidence, 5, seed).inner.tolist()) for seed in SEEDS}
    assert outcomes == {(5, 0)}
    outcomes = {
        tuple(rounded([4, 0], incidence, 5, seed, candidates=candidates).inner.tolist())
        for seed in SEEDS
    }
    assert outcomes == {(5, 0), (0, 5)}


def test_weights_decide_which_cells_stay_near() -> None:
    """One of two cells goes up by three and the other down by two: three where it matters less."""
    counts = [2, 2, 20, 20]
    incidence = incidence_of([[0, 1], [0, 2], [1], [2]], 3)
    for seed in SEEDS:
        first = rounded(counts, incidence, 5, seed, weights=np.array([1, 9, 1]))
        second = rounded(counts, incidence, 5, seed, weights=np.array([1, 1, 9]))
        assert first.inner.tolist() == [0, 5, 20, 20]
        assert second.inner.tolist() == [5, 0, 20, 20]


def test_fixed_cells_keep_their_value_and_the_others_make_up_for_it() -> None:
    counts = [2, 2, 2, 2]
    incidence = incidence_of([[0, 1], [0, 1], [0, 2], [0, 2]], 3)
    fixed = np.array([5, FREE, FREE, FREE], dtype=np.int64)
    for seed in SEEDS:
        result = rounded(counts, incidence, 5, seed, fixed=fixed)
        assert result.inner[0] == 5
        assert result.published.tolist() in ([10, 5, 5], [5, 5, 0])


def test_fixed_values_that_contradict_are_refused() -> None:
    """The first cell would be published as 2, and nothing may change it."""
    fixed = np.array([2, FREE], dtype=np.int64)
    with pytest.raises(SpecError, match=r"1 published cells .*numbers 0.* fixed beforehand"):
        rounded([1, 7], incidence_of([[0], [1]], 2), 5, fixed=fixed)


def test_a_fixed_value_that_makes_another_cell_small_is_followed() -> None:
    """Seven become five by what is fixed, so the two beside them would be read off."""
    fixed = np.array([0, FREE], dtype=np.int64)
    result = rounded([6, 2], incidence_of([[0], [0]], 1), 5, fixed=fixed)
    assert result.inner.tolist() == [0, 5]


def test_a_small_cell_that_two_published_ones_give_away_is_rounded_too() -> None:
    """14 less 12 is a cell of two that feeds nothing small."""
    counts = [2, 12]
    incidence = incidence_of([[0], [0, 1]], 2)
    assert rounded(counts, incidence, 5).inner.tolist() == counts
    assert rounded(counts, incidence, 5, given_away=given_away).inner.tolist() in ([0, 12], [5, 12])


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"base": 0, "most": 0}, "1 or more"),
        ({"base": 5, "most": 3}, "at least the base less 1"),
        ({"weights": np.array([-1])}, "weights"),
        ({"weights": np.array([1, 1])}, "a weight is needed"),
        ({"forced": np.array([True])}, "forced is needed"),
        ({"fixed": np.array([-2, 0])}, "fixed"),
        ({"weights": np.array([2**62])}, "too large"),
    ],
)
def test_wishes_that_cannot_be_meant_are_refused(wishes: dict[str, object], message: str) -> None:
    with pytest.raises(SpecError, match=message):
        rounded([1, 2], incidence_of([[0], [0]], 1), **{"base": 5, **wishes})  # type: ignore[arg-type]


def test_negative_counts_are_refused() -> None:
    with pytest.raises(SpecError, match="0 or more"):
        rounded([1, -2], incidence_of([[0], [0]], 1), 5)


def test_huge_counts_stay_beside_small_ones() -> None:
    huge = 1 << 60
    incidence = incidence_of([[0, 1], [0, 1], [0, 2]], 3)
    result = rounded([1, 3, huge], incidence, 5)
    assert result.inner[2] == huge
    assert sorted(result.inner[:2].tolist()) == [0, 5]
    with pytest.raises(SpecError, match="too large"):
        rounded([1, huge, huge, huge, huge], incidence_of([[0]] * 5, 1), 5)


@pytest.mark.parametrize("counts", [[], [0], [4], [0, 0]])
def test_the_smallest_tables(counts: list[int]) -> None:
    result = rounded(counts, incidence_of([[0]] * len(counts), 1), 5)
    assert result.published.tolist() == [5 if sum(counts) == 4 else 0]


# ---------------------------------------------------------------- a plain reading of the method


def plain_reading(counts: Int64, matrix: Int64, base: int, seed: int, chunk: int = 1000) -> Int64:
    """The published algorithm as it is described: a dense matrix, random order, random chunks."""
    draw = np.random.default_rng(seed)
    now, truth = counts.copy(), matrix.T @ counts
    small = (truth > 0) & (truth < base)
    waiting = (counts > 0) & (counts < base) & matrix[:, small].any(axis=1)
    while waiting.any():
        rows = np.flatnonzero(waiting)
        if rows.size > chunk:
            rows = draw.choice(rows, chunk, replace=False)
        part = matrix[rows]
        kept = (part.sum(axis=0) > 0) & (part.sum(axis=0) < rows.size)
        part = part[:, kept]
        target = part.T @ now[rows] + (truth - matrix.T @ now)[kept]
        up = round((int(now[rows].sum()) + int(counts.sum()) - int(now.sum())) / base)
        taken = plain_choice(part, target, base, min(max(up, 0), rows.size), draw)
        now[rows] = base * taken
        waiting[rows] = False
        published = matrix.T @ now
        small = (published > 0) & (published < base)
        waiting |= (now > 0) & (now < base) & matrix[:, small].any(axis=1)
    return now


def plain_choice(
    part: Int64, target: Int64, base: int, up: int, draw: np.random.Generator
) -> Int64:
    order = draw.permutation(len(part)).tolist()
    shared = base * part @ part.T
    gain = part @ target
    chosen: list[int] = []
    for _ in range(up):
        best = max(order, key=lambda row: gain[row])
        order.remove(best)
        chosen.insert(0, best)
        gain = gain - shared[best]
    for _ in range(up + 100 if up else 0):
        worst = min(chosen, key=lambda row: gain[row])
        if worst == chosen[0]:
            break
        chosen.remove(worst)
        order.insert(0, worst)
        gain = gain + shared[worst]
        best = max(order, key=lambda row: gain[row])
        order.remove(best)
        chosen.insert(0, best)
        gain = gain - shared[best]
    taken = np.zeros(len(part), dtype=np.int64)
    taken[chosen] = 1
    return taken


def squares(inner: Int64, counts: Int64, matrix: Int64) -> int:
    return int(((matrix.T @ (inner - counts)) ** 2).sum())


def test_published_cells_stay_as_near_as_in_a_plain_reading() -> None:
    """The same choices and some exchanges more."""
    own = plain = 0
    for seed in range(25):
        counts, incidence = crossed(seed, 6, 5, 4)
        matrix = dense(incidence)
        own += squares(rounded(counts, incidence, 5, seed).inner, counts, matrix)
        plain += squares(plain_reading(counts, matrix, 5, seed), counts, matrix)
    assert 0.9 * plain < own < plain


def test_published_cells_stay_nearer_where_tables_have_different_universes() -> None:
    """Cells that feed few tables and cells that feed many: what they take away is counted too."""
    own = plain = 0
    for seed in range(25):
        counts, incidence = crossed(seed, 6, 5, 4)
        inside = np.random.default_rng(seed).random(len(incidence)) < 0.5
        cells = np.split(incidence.cells, incidence.starts[1:-1])
        twice = [
            [*row.tolist(), *(row + incidence.size).tolist()] if more else row.tolist()
            for row, more in zip(cells, inside, strict=True)
        ]
        incidence = incidence_of(twice, 2 * incidence.size)
        matrix = dense(incidence)
        own += squares(rounded(counts, incidence, 5, seed).inner, counts, matrix)
        plain += squares(plain_reading(counts, matrix, 5, seed), counts, matrix)
    assert own < plain


def test_one_choice_over_all_cells_is_better_than_many_small_ones() -> None:
    """The reference takes random parts of 1000; here of 20, so that there are several."""
    whole = parted = reference = 0
    for seed in range(12):
        counts, incidence = crossed(seed, 8, 6, 5)
        matrix = dense(incidence)
        whole += squares(rounded(counts, incidence, 5, seed).inner, counts, matrix)
        own = rounded(counts, incidence, 5, seed, most_changes=400)
        parted += squares(own.inner, counts, matrix)
        reference += squares(plain_reading(counts, matrix, 5, seed, 20), counts, matrix)
    assert whole < parted
    assert whole < reference
