from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from sdcensus.errors import SdcensusError, SecretError, SpecError
from sdcensus.kernels.perturbation.lookup import LookupRows, publish as look_up
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.kernels.perturbation.rounding import first_keys_up
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import CellMethod
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.rounding import ConventionalRounding, RandomRounding
from sdcensus.model.cube.cube import Origin
from sdcensus.model.perturbation.table import DeviationRow, PerturbationTable, Tail
from sdcensus.model.published.table import SparseTable
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.secret import Purpose
from tests.methods.rounding_tables import (
    FULL,
    OTHER_SECRET,
    SECRET,
    assert_consistent,
    assert_takes_sparse,
    cells,
    census,
    cube,
    published,
    sparse,
)

SPACES = (KeySpace(), KeySpace(256), KeySpace(10**8), KeySpace(4096, Combine.XOR))
DRAWN = st.lists(
    st.tuples(st.integers(0, 10**6), st.integers(0, 2**32 - 1)), min_size=1, max_size=30
)
BASES = st.integers(2, 100)
SPEC = cube(*FULL).spec

METHODS: list[Callable[[int], CellMethod]] = [
    RandomRounding,
    lambda base: RandomRounding(base, lookup="hashed", secret=SECRET),
    lambda base: RandomRounding(base, draw="independent", generator=np.random.default_rng(base)),
    ConventionalRounding,
    lambda base: ConventionalRounding(base, tie="up"),
]
IDS = ["fixed", "hashed", "independent", "conventional", "ties-up"]
EVERY = pytest.mark.parametrize("make", METHODS, ids=IDS)


def outcome(
    method: CellMethod, drawn: list[tuple[int, int]], space: KeySpace = KeySpace()
) -> tuple[Any, Any]:
    made = cells([one for one, _ in drawn], [one % space.modulus for _, one in drawn])
    return made.count, method.publish(made, SPEC, Origin(space)).published


def rounding_table(base: int, modulus: int) -> PerturbationTable:
    """Random rounding written as a perturbation table, by hand."""
    rows = [DeviationRow((0,), (modulus,))]
    for rest in range(1, base):
        shares = (Fraction(base - rest, base), Fraction(rest, base))
        widths = quantise(shares, (-rest, base - rest), modulus)
        kept = [(v, w) for v, w in zip((-rest, base - rest), widths, strict=True) if w]
        rows.append(DeviationRow(tuple(v for v, _ in kept), tuple(w for _, w in kept)))
    return PerturbationTable(
        modulus=modulus,
        rows=tuple(rows),
        tail=Tail(0, period=base),
        blocked_up_to=base - 1,
        name=f"RR{base}",
    )


# --- Claims -----------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("modulus", [256, 1000, 4096])
def test_unbiased_over_all_keys(base: int, modulus: int) -> None:
    """The mean over every key is the count itself, to half a base in all keys together."""
    keys = np.arange(modulus)
    for count in range(2 * base + 1):
        made = cells(np.full(modulus, count), keys)
        result = RandomRounding(base).publish(made, SPEC, Origin(KeySpace(modulus))).published
        off = int(result.sum()) - count * modulus
        assert 2 * abs(off) <= base
        if count * modulus % base == 0:
            assert off == 0


@pytest.mark.parametrize("base", [3, 5, 10, 100])
def test_unbiased_from_the_thresholds_of_the_largest_key_space(base: int) -> None:
    firsts = first_keys_up(base, 2**32)
    for rest in range(1, base):
        mean = Fraction(-rest * firsts[rest] + (base - rest) * (2**32 - firsts[rest]), 2**32)
        assert abs(mean) <= Fraction(base, 2**33)


@pytest.mark.parametrize(
    ("base", "variances"), [(3, [0, 2, 2]), (5, [0, 4, 6, 6, 4]), (10, [0, 9, 16, 21, 24, 25])]
)
def test_the_variance_of_a_remainder_is_itself_times_what_is_missing(
    base: int, variances: list[int]
) -> None:
    """ABS (2005) prints 4 for every remainder in base 5; that holds for 1 and 4 only."""
    firsts = first_keys_up(base, 2**32)
    for rest, variance in enumerate(variances):
        up = Fraction(2**32 - firsts[rest], 2**32)
        exact = rest**2 * (1 - up) + (base - rest) ** 2 * up
        assert abs(exact - variance) < Fraction(base**2, 2**32)
    mean = Fraction(sum(rest * (base - rest) for rest in range(base)), base)
    assert mean == Fraction(base**2 - 1, 6)


@EVERY
@given(base=BASES, drawn=DRAWN)
def test_bounded_by_the_base(
    make: Callable[[int], CellMethod], base: int, drawn: list[tuple[int, int]]
) -> None:
    method = make(base)
    count, result = outcome(method, drawn)
    largest = base // 2 if isinstance(method, ConventionalRounding) else base - 1
    assert (abs(result - count) <= largest).all()
    assert (result[count % base == 0] == count[count % base == 0]).all()


@EVERY
@given(base=BASES, drawn=DRAWN)
def test_blocked_counts_never_appear_only_multiples_do(
    make: Callable[[int], CellMethod], base: int, drawn: list[tuple[int, int]]
) -> None:
    _, result = outcome(make(base), drawn)
    assert (result % base == 0).all()


@EVERY
@given(base=BASES, keys=st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=20))
def test_zeros_kept_whatever_the_key(
    make: Callable[[int], CellMethod], base: int, keys: list[int]
) -> None:
    _, result = outcome(make(base), [(0, key) for key in keys])
    assert not result.any()


@EVERY
@given(base=BASES, drawn=DRAWN)
def test_never_negative(
    make: Callable[[int], CellMethod], base: int, drawn: list[tuple[int, int]]
) -> None:
    _, result = outcome(make(base), drawn)
    assert (result >= 0).all()


@pytest.mark.parametrize("space", SPACES, ids=lambda one: f"{one.combine}-{one.modulus}")
@pytest.mark.parametrize(
    "method",
    [
        RandomRounding(3),
        RandomRounding(5),
        RandomRounding(5, lookup="hashed", secret=SECRET),
        RandomRounding(5, lookup="definition", secret=SECRET),
        ConventionalRounding(5),
        ConventionalRounding(10),
    ],
    ids=["base-3", "base-5", "hashed", "definition", "conventional-5", "conventional-10"],
)
def test_consistent_however_the_cell_is_reached(method: CellMethod, space: KeySpace) -> None:
    assert_consistent(method, space)


def test_consistent_is_not_claimed_of_independent_draws_and_does_not_hold() -> None:
    method = RandomRounding(3, draw="independent", generator=np.random.default_rng(3))
    assert not method.claims().consistent
    assert published(method, cube(*FULL)).tolist() != published(method, cube(*FULL)).tolist()


@pytest.mark.parametrize("method", [RandomRounding(3), ConventionalRounding(4)], ids=repr)
def test_takes_sparse_cubes(method: CellMethod) -> None:
    assert method.claims().takes_sparse
    assert_takes_sparse(method, cube(*FULL, people=60))


def test_takes_sparse_cubes_with_independent_draws() -> None:
    whole = cube(*FULL, people=60)
    made = RandomRounding(3, draw="independent").protect(sparse(whole)).table
    assert isinstance(made, SparseTable)
    true = whole.count.reshape(-1)[made.numbers.astype(np.int64)]
    assert (true > 0).all()
    assert (abs(made.published - true) <= 2).all()


@pytest.mark.parametrize(
    ("shift", "rejected"), [(0.0, False), (0.01, True), (-0.01, True)], ids=str
)
@pytest.mark.parametrize("which", [0, 1, 2], ids=IDS[:3])
def test_distribution_accepts_the_design_and_rejects_a_near_miss(
    which: int, shift: float, rejected: bool
) -> None:
    size = 200_000
    keys = np.random.default_rng(20270101).integers(0, 2**32, size, dtype=np.uint32)
    for rest in range(1, 5):
        made = cells(np.full(size, 20 + rest), keys)
        result = METHODS[which](5).publish(made, SPEC, Origin(KeySpace())).published
        ups = int((result == 25).sum())
        assert int((result == 20).sum()) == size - ups
        share = rest / 5 + shift
        p = chisquare([ups, size - ups], [share * size, (1 - share) * size]).pvalue
        assert bool(p < 1e-6) is rejected


def test_for_publication_unless_draws_are_independent() -> None:
    assert RandomRounding().claims().for_publication
    independent = RandomRounding(draw="independent").claims()
    assert not independent.for_publication
    assert any("22 repetitions" in caution for caution in independent.cautions)
    assert ConventionalRounding().claims().for_publication
    assert any("only protection" in caution for caution in ConventionalRounding().claims().cautions)


def test_the_mean_of_seventy_independent_draws_gives_the_count_away() -> None:
    """The averaging attack of the ABS review of 2005: most counts are known after 70 tables."""
    table = cube(*FULL)
    method = RandomRounding(3, draw="independent", generator=np.random.default_rng(70))
    mean = np.mean([published(method, table) for _ in range(70)], axis=0)
    known = np.rint(mean) == table.count
    assert known[table.count % 3 != 0].mean() > 0.98


@pytest.mark.parametrize("make", METHODS, ids=IDS)
def test_every_claim_has_a_test_of_its_name(make: Callable[[int], CellMethod]) -> None:
    for name in make(3).claims().names():
        assert any(one.startswith(f"test_{name}") for one in globals()), name


# --- The same numbers as a look-up ------------------------------------------------------------


@given(BASES, st.sampled_from([256, 4096, 65521, 10**8, 2**32]), DRAWN)
def test_the_numbers_are_those_of_a_look_up_in_the_perturbation_table(
    base: int, modulus: int, drawn: list[tuple[int, int]]
) -> None:
    table = rounding_table(base, modulus)
    rows = LookupRows.build(
        [(row.deviations, row.widths) for row in table.rows], modulus, start=0, period=base
    )
    made = cells([one for one, _ in drawn], [one % modulus for _, one in drawn])
    result = RandomRounding(base).publish(made, SPEC, Origin(KeySpace(modulus))).published
    assert result.tolist() == look_up(made.count, made.key, rows).tolist()


@pytest.mark.parametrize("base", [3, 5])
@pytest.mark.parametrize("lookup", ["ascending", "hashed", "definition"])
def test_the_numbers_are_those_of_the_cell_key_method(base: int, lookup: str) -> None:
    table = cube(*FULL)
    by_table = CellKey(rounding_table(base, 2**32), secret=SECRET, lookup=lookup)
    rounding = RandomRounding(base, secret=SECRET, lookup=lookup)
    assert published(rounding, table).tolist() == published(by_table, table).tolist()


@pytest.mark.parametrize("space", SPACES, ids=lambda one: f"{one.combine}-{one.modulus}")
@pytest.mark.parametrize("base", [3, 5])
def test_the_numbers_are_those_of_the_named_schemes_in_ascending_order(
    base: int, space: KeySpace
) -> None:
    table = cube(*FULL, space=space)
    named = CellKey(scheme(f"RR{base}"), lookup="ascending")
    assert published(RandomRounding(base), table).tolist() == published(named, table).tolist()


def test_hashed_and_ascending_differ_and_so_do_secrets_and_versions() -> None:
    table = cube(*FULL, people=3000)
    numbers = {
        tuple(published(method, table).reshape(-1).tolist())
        for method in (
            RandomRounding(3),
            RandomRounding(3, secret=SECRET),
            RandomRounding(3, secret=SECRET, lookup="hashed"),
            RandomRounding(3, secret=OTHER_SECRET, lookup="hashed"),
            RandomRounding(3, secret=SECRET, lookup="hashed", key_version=2),
            RandomRounding(3, secret=SECRET, key_version=2),
            RandomRounding(3, secret=SECRET, lookup="definition"),
            RandomRounding(3, secret=SECRET, lookup="definition", key_version=2),
        )
    }
    assert len(numbers) == 7  # the secret alone changes nothing where no key is hashed


def test_part_of_the_secret_for_look_ups_is_enough() -> None:
    table = cube(*FULL)
    part = SECRET.sub_secret(Purpose.LOOKUP, 1)
    assert (
        published(RandomRounding(3, secret=part, lookup="hashed"), table).tolist()
        == published(RandomRounding(3, secret=SECRET, lookup="hashed"), table).tolist()
    )


@pytest.mark.parametrize("lookup", ["ascending", "hashed", "definition"])
def test_the_audit_replays_every_number(lookup: str) -> None:
    table = cube(*FULL)
    protected = RandomRounding(5, secret=SECRET, lookup=lookup).protect(table)
    assert protected.audit.effective_keys is not None
    numbers = np.arange(table.spec.cells, dtype=np.uint64).reshape(table.shape)
    keys = protected.audit.effective_keys(table.key, numbers).astype(np.int64)
    rest = table.count % 5
    up = keys >= np.array(first_keys_up(5, 2**32))[rest]
    replayed = table.count - rest + 5 * (up & (rest > 0))
    assert (replayed == published(RandomRounding(5, secret=SECRET, lookup=lookup), table)).all()


@pytest.mark.parametrize(
    "method", [RandomRounding(draw="independent"), ConventionalRounding()], ids=repr
)
def test_the_audit_names_no_keys_where_none_decide(method: CellMethod) -> None:
    assert method.protect(cube("sex")).audit.effective_keys is None


# --- Conventional rounding --------------------------------------------------------------------


def test_conventional_rounding_takes_the_nearest_multiple() -> None:
    counts = list(range(13))
    drawn = [(count, 0) for count in counts]
    assert outcome(ConventionalRounding(5), drawn)[1].tolist() == [
        *[0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10, 10, 10]
    ]
    assert outcome(ConventionalRounding(4), drawn)[1].tolist() == [
        *[0, 0, 0, 4, 4, 4, 8, 8, 8, 8, 8, 12, 12]
    ]
    assert outcome(ConventionalRounding(4, tie="up"), drawn)[1].tolist() == [
        *[0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12]
    ]


# --- What is refused, and what shows ----------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "says"),
    [
        (lambda: RandomRounding(1), SpecError, "from 2 to 100"),
        (lambda: RandomRounding(101), SpecError, "from 2 to 100"),
        (lambda: RandomRounding(3.0), SpecError, "whole number"),  # type: ignore[arg-type]
        (lambda: RandomRounding(True), SpecError, "whole number"),
        (lambda: RandomRounding(draw="fixd"), SpecError, "Did you mean 'fixed'"),
        (lambda: RandomRounding(lookup="scrambled"), SpecError, "'hashed' and 'definition'"),
        (lambda: RandomRounding(lookup="hash"), SpecError, "Did you mean 'hashed'"),
        (lambda: RandomRounding(lookup="hashed"), SecretError, "needs the office secret"),
        (lambda: RandomRounding(secret="file"), SecretError, "not its file"),  # type: ignore[arg-type]
        (lambda: RandomRounding(key_version=-1), SpecError, "0 or more"),
        (
            lambda: RandomRounding(draw="independent", lookup="hashed", secret=SECRET),
            SpecError,
            "no key",
        ),
        (
            lambda: RandomRounding(generator=np.random.default_rng(1)),
            SpecError,
            "draw='independent'",
        ),
        (
            lambda: RandomRounding(draw="independent", generator=7),  # type: ignore[arg-type]
            SpecError,
            "numpy.random.Generator",
        ),
        (lambda: ConventionalRounding(0), SpecError, "from 2 to 100"),
        (lambda: ConventionalRounding(tie="even"), SpecError, "half-even-multiple"),
    ],
)
def test_wrong_parameters_are_refused(
    make: Callable[[], object], error: type[SdcensusError], says: str
) -> None:
    with pytest.raises(error, match=says):
        make()


def test_more_multiples_than_keys_are_refused() -> None:
    with pytest.raises(SpecError, match="with 16 keys"):
        RandomRounding(17).protect(cube("sex", space=KeySpace(16)))


@pytest.mark.parametrize("method", [RandomRounding(), ConventionalRounding()], ids=repr)
def test_weighted_counts_are_refused(method: CellMethod) -> None:
    with pytest.raises(SpecError, match="counts of records"):
        method.protect(census().tabulate("sex", measure="weighted"))


def test_another_secret_than_that_of_the_record_keys_is_refused() -> None:
    made = census(secret_id=SECRET.id).tabulate("sex")
    RandomRounding(lookup="hashed", secret=SECRET).protect(made)
    with pytest.raises(SecretError, match=OTHER_SECRET.id):
        RandomRounding(lookup="hashed", secret=OTHER_SECRET).protect(made)


def test_methods_are_frozen_and_show_no_secret() -> None:
    method = RandomRounding(3, lookup="hashed", secret=SECRET)
    with pytest.raises(FrozenInstanceError):
        method.base = 5  # type: ignore[misc]
    assert repr(method) == "<RandomRounding to multiples of 3, fixed: other parameters hidden>"
    assert repr(ConventionalRounding(4)) == (
        "<ConventionalRounding to multiples of 4, ties half-even-multiple>"
    )
    assert method.parameters() == {"base": 3, "draw": "fixed", "lookup": "hashed"}
    made = method.protect(cube("sex")).provenance
    assert made.method == "random-rounding"
    assert made.fingerprint
    assert (
        made.fingerprint
        != RandomRounding(5, lookup="hashed", secret=SECRET)
        .protect(cube("sex"))
        .provenance.fingerprint
    )


def test_a_table_of_one_cell_is_published() -> None:
    for make in METHODS:
        assert published(make(7), cube()).shape == ()
        assert int(published(make(7), cube())) in {294, 301}
