from __future__ import annotations

from dataclasses import astuple, replace
from itertools import product

import numpy as np
import pytest

from sdcensus.errors import UnknownName
from sdcensus.methods.perturbation.coupling import Coupling, coupling_of
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.perturbation.sources import truncated_normal
from sdcensus.model.perturbation.table import (
    DeviationRow,
    KeyRule,
    Lookup,
    Perturbation,
    PerturbationTable,
    Tail,
    default_lookup,
)
from sdcensus.model.secret import Secret

#: P(no gap), P(guess a part), P(guess both), uncertainty in bits, of two large parts and their
#: total: independent noise, ascending order, and the mean of twelve scrambled orders. Computed
#: for the schemes of ECLAC (2020) on a grid of 4096 keys.
FIGURES = {
    "CP2": ((0.227, 0.457, 0.218, 1.74), (0.010, 0.446, 0.197, 1.64), (0.201, 0.464, 0.249, 1.65)),
    "CP3(EU)": (
        (0.230, 0.463, 0.224, 1.75),
        (0.010, 0.449, 0.204, 1.63),
        (0.220, 0.475, 0.251, 1.66),
    ),
    "CP3": ((0.193, 0.418, 0.178, 2.01), (0.010, 0.402, 0.169, 1.81), (0.162, 0.450, 0.239, 1.85)),
    "CP4": ((0.165, 0.356, 0.134, 2.24), (0.000, 0.354, 0.136, 2.01), (0.177, 0.398, 0.198, 2.05)),
    "CP3(1,2)": (
        (0.162, 0.357, 0.130, 2.22),
        (0.000, 0.342, 0.129, 2.03),
        (0.115, 0.406, 0.198, 1.99),
    ),
}
#: Uncertainty is printed with two digits only.
CLOSE = (0.002, 0.002, 0.002, 0.0051)


def close(found: Coupling, printed: tuple[float, ...], tolerance: tuple[float, ...]) -> bool:
    pairs = zip(astuple(found), printed, tolerance, strict=True)
    return all(abs(one - other) <= most for one, other, most in pairs)


@pytest.mark.parametrize("name", FIGURES)
def test_hashed_keys_give_the_figures_of_independent_noise(name: str) -> None:
    assert close(coupling_of(scheme(name), "hashed"), FIGURES[name][0], CLOSE)


@pytest.mark.parametrize("name", FIGURES)
def test_ascending_intervals_give_the_printed_figures(name: str) -> None:
    assert close(coupling_of(scheme(name), Lookup.ASCENDING), FIGURES[name][1], CLOSE)


@pytest.mark.parametrize("name", FIGURES)
def test_printed_figures_are_what_twelve_orders_may_well_give(name: str) -> None:
    """Single orders differ much, so means of twelve do too; ours are of many that nobody chose."""
    design = scheme(name)
    orders = [Secret(number.to_bytes(2, "big") * 16) for number in range(96)]
    of_each = np.array(
        [astuple(coupling_of(design, "scrambled", secret=secret)) for secret in orders]
    )
    spread = of_each.std(axis=0)
    printed = np.abs(of_each.mean(axis=0) - FIGURES[name][2]) / spread
    assert printed.max() < 3 * np.sqrt(1 / 12 + 1 / len(orders))
    shown = np.abs(of_each.mean(axis=0) - astuple(coupling_of(design, Lookup.SCRAMBLED))) / spread
    assert shown.max() < 3 * np.sqrt(1 / 200 + 1 / len(orders))


def by_definition(table: PerturbationTable, rows: tuple[int, int, int]) -> tuple[float, ...]:
    """Every pair of keys in turn, for a small key space."""
    first, second, total = (
        np.repeat(table.rows[row].deviations, table.rows[row].widths).tolist() for row in rows
    )
    pairs = list(product(range(table.modulus), repeat=2))
    seen = [
        (total[(a + b) % table.modulus] - first[a] - second[b], first[a], second[b])
        for a, b in pairs
    ]
    gaps: dict[int, dict[int, int]] = {}
    both: dict[int, dict[tuple[int, int], int]] = {}
    for gap, left, right in seen:
        gaps.setdefault(gap, {}).setdefault(left, 0)
        gaps[gap][left] += 1
        both.setdefault(gap, {}).setdefault((left, right), 0)
        both[gap][left, right] += 1
    bits = 0.0
    for found in gaps.values():
        whole = sum(found.values())
        bits -= sum(one * np.log2(one / whole) for one in found.values())
    return (
        sum(gaps.get(0, {}).values()) / len(pairs),
        sum(max(gap.values()) for gap in gaps.values()) / len(pairs),
        sum(max(one.values()) for one in both.values()) / len(pairs),
        bits / len(pairs),
    )


@pytest.mark.parametrize("name", ["CP1", "CP2", "CP3", "CP3(1,2)"])
@pytest.mark.parametrize("modulus", [100, 256])
def test_figures_are_those_of_the_definition(name: str, modulus: int) -> None:
    table = scheme(name).table(modulus)
    last = table.tail.start
    ordered = scrambled(table, Secret(bytes(range(32))))
    for one in (table, ordered):
        expected = by_definition(one, (last, last, last))
        assert astuple(coupling_of(one, "ascending")) == pytest.approx(expected, abs=1e-12)
    by_secret = coupling_of(table, "scrambled", secret=Secret(bytes(range(32))))
    assert by_secret == coupling_of(ordered, "ascending")


def test_rows_with_as_many_intervals_as_keys_are_gone_through_key_by_key() -> None:
    """A file of the ONS may put the deviations of a row in any order."""
    plain = scheme("CP3(EU)").table(256).rows[3]
    values = np.repeat(plain.deviations, plain.widths)
    shuffled = np.random.default_rng(20220628).permutation(values).tolist()
    row = DeviationRow(tuple(shuffled), (1,) * 256)
    stays = DeviationRow((0,), (256,))
    table = PerturbationTable(256, (stays, stays, stays, row), Tail(3))
    expected = by_definition(table, (3, 3, 3))
    assert astuple(coupling_of(table, "ascending")) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["RR3", "RR5"])
def test_in_rounding_every_combination_of_remainders_counts(name: str) -> None:
    """The figures of a table that has them all are not means of figures, so the joint is made."""
    table = scheme(name).table(60)
    base = table.tail.period
    gap = [
        by_definition(table, (a, b, (a + b) % base))[0] for a, b in product(range(base), repeat=2)
    ]
    found = coupling_of(table, "ascending")
    assert found.gap_is_zero == pytest.approx(np.mean(gap))
    hashed = coupling_of(table, "hashed")
    assert found.gap_is_zero < hashed.gap_is_zero
    # Whoever guesses the likeliest deviation without looking at the gap is right this often.
    blind = max(
        sum(dict(table.distribution(row)).get(value, 0) for row in range(base)) / base
        for value in range(1 - base, base)
    )
    assert hashed.guess_part >= float(blind)


def test_folded_keys_are_nearly_independent() -> None:
    plain = scheme("CP3(EU)").table(256)
    folded = replace(plain, key_rule=KeyRule.FOLD_BYTES)
    found, independent = coupling_of(folded, "ascending"), coupling_of(folded, "hashed")
    assert close(found, astuple(independent), (0.02, 0.02, 0.02, 0.02))
    assert found.gap_is_zero > 10 * coupling_of(plain, "ascending").gap_is_zero


@pytest.mark.parametrize("name", [*FIGURES, "CP1"])
@pytest.mark.parametrize("lookup", list(Lookup))
def test_knowing_the_gap_never_hurts_the_intruder(name: str, lookup: Lookup) -> None:
    design = scheme(name)
    large = design.tail.start
    found = coupling_of(design, lookup)
    assert found.guess_part >= design.probabilities(large).max() - 1e-9
    assert found.guess_both <= found.guess_part
    assert 0 <= found.uncertainty_bits <= design.entropy(large) + 1e-9


def test_unknown_look_ups_are_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownName, match="look-up"):
        coupling_of(scheme("CP1"), "sorted")


# ---------------------------------------------------------------------------------------------
# Which look-up suits


@pytest.mark.parametrize(
    ("perturbation", "expected"),
    [
        (scheme("CP1"), "ascending"),
        (scheme("CP2"), "ascending"),
        (scheme("RR3"), "ascending"),
        (scheme("RR5"), "ascending"),
        (scheme("CP3(EU)"), "definition"),
        (scheme("CP3"), "definition"),
        (scheme("CP4"), "definition"),
        (scheme("CP3(1,2)"), "definition"),
        (truncated_normal(2.0), "definition"),
        (scheme("CP3").table(), "definition"),
        (replace(scheme("CP3").table(256), key_rule=KeyRule.FOLD_BYTES), "definition"),
    ],
    ids=str,
)
def test_the_default_depends_on_the_scheme(perturbation: Perturbation, expected: str) -> None:
    assert default_lookup(perturbation) == expected
