from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods import CellKey
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.methods.perturbation.schemes import random_rounding, scheme
from sdcensus.methods.perturbation.sources import per_unit_deviations
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.table import (
    DeviationRow,
    KeyRule,
    Lookup,
    Perturbation,
    PerturbationTable,
    Tail,
)
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import Combine, KeySpace
from sdcensus.model.secret import Secret
from sdcensus.risk.constellations import (
    constellation_probability,
    constellation_risk,
    lines_of,
)
from sdcensus.testing.island import SECRET, island, island_cube

# ---------------------------------------------------------------------------------------------
# The probability of one published line


@pytest.mark.parametrize(
    ("published", "ascending", "independent"),
    [
        ((-1, -1, +1), 0.0, 1 / 64),
        ((+1, +1, -1), 0.0, 1 / 64),
        ((-1, -1, -1), 0.0313, 1 / 64),
        ((0, 0, 0), 0.0625, 1 / 8),
    ],
)
def test_constellations_of_large_counts_under_cp1(
    published: tuple[int, int, int], ascending: float, independent: float
) -> None:
    design = scheme("CP1")
    values = [true + noise for true, noise in zip((9, 8, 17), published, strict=True)]
    found = constellation_probability(design, (9, 8), values, "ascending")
    assert found == pytest.approx(ascending, abs=5e-5)
    product_of_cells = constellation_probability(design, (9, 8), values, "hashed")
    assert product_of_cells == pytest.approx(independent)


def test_keys_can_make_a_disclosive_constellation_more_likely() -> None:
    """CP2, (1, 1 | 2) published as (1, 1 | 0): the product is no upper bound (STACE 2024)."""
    design = scheme("CP2")
    product_of_cells = constellation_probability(design, (1, 1), (1, 1, 0), Lookup.HASHED)
    with_keys = constellation_probability(design, (1, 1), (1, 1, 0), Lookup.ASCENDING)
    assert product_of_cells == pytest.approx(0.008954, abs=5e-7)
    assert with_keys == pytest.approx(0.020024, abs=5e-7)


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("CP1", 3.1e-2),
        ("CP2", 5.9e-4),
        ("CP3", 2.7e-5),
        ("CP3(1,2)", 1.7e-4),
        ("CP4", 8e-7),
        ("CP3(EU)", 1.9e-7),
    ],
)
def test_all_parts_at_one_end_and_the_total_at_the_other(name: str, printed: float) -> None:
    """Independent noise gives a line away completely with probability 2 p**3."""
    design = scheme(name)
    most = design.max_deviation
    found = sum(
        constellation_probability(
            design, (50, 60), (50 + s * most, 60 + s * most, 110 - s * most), "hashed"
        )
        for s in (-1, 1)
    )
    assert found == pytest.approx(printed, rel=0.16 if name == "CP4" else 0.03)


@pytest.mark.parametrize("parts", [(3,), (1, 2), (1, 1, 2), (1, 0, 2, 1)])
@pytest.mark.parametrize("lookup", ["ascending", "hashed"])
def test_probabilities_of_all_constellations_sum_to_one(
    parts: tuple[int, ...], lookup: str
) -> None:
    table = scheme("CP2").table(256)
    cells = [table.targets(count).tolist() for count in (*parts, sum(parts))]
    whole = sum(constellation_probability(table, parts, one, lookup) for one in product(*cells))
    assert whole == pytest.approx(1)


@pytest.mark.parametrize("lookup", ["ascending", "hashed"])
def test_the_variance_of_the_gap_is_three_times_that_of_the_table(lookup: str) -> None:
    """Any two of the three keys are independent, however the third follows from them."""
    table = scheme("CP2").table(1000)
    noise = table.deviations(9).tolist()
    found = sum(
        constellation_probability(table, (9, 9), (9 + a, 9 + b, 18 + c), lookup) * (c - a - b) ** 2
        for a, b, c in product(noise, repeat=3)
    )
    assert found == pytest.approx(3 * table.variance(9))


def test_a_line_of_one_part_is_the_same_cell_twice() -> None:
    """The key of the total is that of the part, and so is its deviation."""
    design = scheme("CP3")
    same = constellation_probability(design, (7,), (8, 8), "ascending")
    assert same == pytest.approx(design.probabilities(7)[4])
    assert constellation_probability(design, (7,), (8, 7), "ascending") == 0


def test_constellations_of_scrambled_tables_use_all_their_pieces() -> None:
    table = scrambled(scheme("CP2").table(100), Secret(bytes(range(32))))
    deviations = np.repeat(table.rows[2].deviations, table.rows[2].widths)
    keys = np.arange(100)
    both = deviations[(keys[:, None] + keys[None, :]) % 100]
    chosen = (deviations[:, None] == 0) & (deviations[None, :] == 1) & (both == -1)
    found = constellation_probability(table, (5, 6), (5, 7, 10), "ascending")
    assert found == pytest.approx(chosen.mean())


@pytest.mark.parametrize(
    ("counts", "published"), [((), (1,)), ((1,) * 5, (1,) * 6), ((1, 2), (1, 2)), ((1,), (1, 2, 3))]
)
def test_lines_that_are_none_are_refused(
    counts: tuple[int, ...], published: tuple[int, ...]
) -> None:
    with pytest.raises(SpecError, match="one to 4 parts"):
        constellation_probability(scheme("CP1"), counts, published, "ascending")


@pytest.mark.parametrize("counts", [(-1, 2), (1.5, 2)])
def test_true_counts_of_a_line_are_counts(counts: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="whole numbers, 0 or more"):
        constellation_probability(scheme("CP1"), counts, (1, 1, 1), "ascending")


def test_constellations_of_scrambled_orders_need_the_order() -> None:
    with pytest.raises(SpecError, match="the scrambled table itself"):
        constellation_probability(scheme("CP1"), (1, 1), (1, 1, 2), "scrambled")


def test_folded_keys_have_no_exact_constellations() -> None:
    folded = replace(scheme("CP1").table(256), key_rule=KeyRule.FOLD_BYTES)
    with pytest.raises(SpecError, match="keys that add up"):
        constellation_probability(folded, (1, 1), (1, 1, 2), "ascending")


def test_unknown_look_ups_are_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownName, match="look-up"):
        constellation_probability(scheme("CP1"), (1, 1), (1, 1, 2), "hash")


def test_a_total_with_one_part_that_is_not_empty_has_its_noise() -> None:
    """The same records have the same key, and an empty part has no key to add."""
    design = scheme("CP2")
    for lookup in ("ascending", "hashed"):
        same = constellation_probability(design, (3, 0), (4, 0, 4), lookup)
        assert same == pytest.approx(design.probabilities(3)[3], abs=1e-9)
        assert constellation_probability(design, (3, 0), (4, 0, 3), lookup) == 0
    fresh = constellation_probability(design, (3, 0), (4, 0, 3), "independent")
    assert fresh == pytest.approx(design.probabilities(3)[3] * design.probabilities(3)[2])


def test_empty_parts_leave_the_coupling_of_the_others_as_it_is() -> None:
    design = scheme("CP2")
    with_empty = constellation_probability(design, (1, 0, 1), (1, 0, 1, 0), "ascending")
    assert with_empty == constellation_probability(design, (1, 1), (1, 1, 0), "ascending")


# ---------------------------------------------------------------------------------------------
# The risk of lines


def by_definition(
    perturbation: Perturbation, lookup: str, parts: tuple[int, ...], knowledge: Knowledge
) -> float:
    """Every published line in turn: its probability, and whether the shuttle gives a cell away."""
    true = (*parts, sum(parts))
    risk = 0.0
    for published in product(*(perturbation.targets(count).tolist() for count in true)):
        low, high = knowledge.bounds_of_values(np.array(published))
        for _ in range(8):  # such short lines settle sooner
            total_low, total_high = max(low[-1], low[:-1].sum()), min(high[-1], high[:-1].sum())
            others_low, others_high = low[:-1].sum() - low[:-1], high[:-1].sum() - high[:-1]
            low = np.append(np.maximum(low[:-1], total_low - others_high), total_low)
            high = np.append(np.minimum(high[:-1], total_high - others_low), total_high)
        given = (low == high) | ((low == 0) & (high == 1))
        if (given & (np.array(true) > 0)).any():
            risk += constellation_probability(perturbation, parts, published, lookup)
    return risk


@pytest.mark.parametrize("lookup", ["ascending", "hashed", "independent"])
@pytest.mark.parametrize("parts", [(1,), (1, 1), (0, 2), (2, 9), (1, 0, 2), (1, 40, 3)])
@pytest.mark.parametrize("name", ["CP1", "CP2", "RR3"])
def test_risk_is_that_of_the_definition(name: str, parts: tuple[int, ...], lookup: str) -> None:
    table = scheme(name).table(1000)
    knowledge = Knowledge(max_deviation=table.max_deviation)
    found = constellation_risk(table, lookup, {parts: 1}, knowledge)
    expected = by_definition(table, lookup, parts, knowledge)
    assert found.share == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("parts", [(1, 1, 0, 2), (3, 1, 1, 30)])
def test_four_parts_are_those_of_the_definition(parts: tuple[int, ...]) -> None:
    table = scheme("CP1").table(256)
    knowledge = Knowledge(max_deviation=1)
    found = constellation_risk(table, "ascending", {parts: 2}, knowledge)
    expected = by_definition(table, "ascending", parts, knowledge)
    assert found.expected == pytest.approx(2 * expected, abs=1e-9)


def test_the_line_of_the_guidelines_is_among_the_risky_ones() -> None:
    """(1, 1 | 2) published as (1, 1 | 0) gives both ones away where zeros are known (STACE)."""
    knowledge = Knowledge(max_deviation=2, zeros_known=True)
    for lookup, least in (("independent", 0.008954), ("ascending", 0.020024)):
        found = constellation_risk(scheme("CP2"), lookup, {(1, 1): 1}, knowledge)
        assert found.expected_small >= least - 1e-6
        assert found.expected == pytest.approx(
            by_definition(scheme("CP2"), lookup, (1, 1), knowledge), abs=1e-9
        )


@pytest.mark.parametrize("name", ["CP1", "CP2", "CP3", "CP3(1,2)", "CP4", "CP3(EU)"])
def test_large_lines_are_given_away_at_the_edge_only(name: str) -> None:
    """Independent noise: only all parts at one end and the total at the other, 2 p**3."""
    design = scheme(name)
    edge = float(design.probabilities(99)[0])
    found = constellation_risk(design, "independent", {(50, 60): 1})
    assert found.share == pytest.approx(2 * edge**3, rel=1e-6)
    assert found.small_share == 0


def test_keys_take_the_edge_away_from_cp1() -> None:
    assert constellation_risk(scheme("CP1"), "ascending", {(50, 60): 1}).expected == 0
    assert constellation_risk(scheme("CP1"), "hashed", {(50, 60): 1}).expected == 1 / 32


def test_large_counts_stand_for_each_other() -> None:
    one = constellation_risk(scheme("CP3"), "ascending", {(1, 500): 3, (1, 70): 2, (1, 1): 1})
    assert sorted(each.lines for each in one.constellations) == [1, 5]
    assert one.lines == 6
    exact = constellation_risk(scheme("CP3"), "ascending", {(1, 70): 5, (1, 1): 1})
    assert one.expected == pytest.approx(exact.expected)
    rounding = constellation_risk(random_rounding(5), "hashed", {(2, 500): 1, (2, 501): 1})
    assert len(rounding.constellations) == 2  # rows take turns


@given(
    parts=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    name=st.sampled_from(["CP1", "CP2", "RR3"]),
    zeros_known=st.booleans(),
)
def test_whoever_knows_less_learns_less(parts: list[int], name: str, zeros_known: bool) -> None:
    design = scheme(name)
    most = design.max_deviation
    line = {tuple(parts): 1.0}
    knows = Knowledge(max_deviation=most, zeros_known=zeros_known)
    less = Knowledge(max_deviation=most + 1, zeros_known=zeros_known)
    for lookup in ("ascending", "hashed", "independent"):
        more_risk = constellation_risk(design, lookup, line, knows)
        assert 0 <= more_risk.expected_small <= more_risk.expected <= 1 + 1e-9
        assert constellation_risk(design, lookup, line, less).expected <= more_risk.expected + 1e-9


def true_lines(cube: Cube) -> dict[tuple[int, ...], int]:
    """Lines of two sexes in a table of districts or parishes by sex, in plain loops."""
    found: dict[tuple[int, ...], int] = {}
    for row in cube.count.tolist():
        parts = tuple(sorted(row[:2]))
        if 1 in parts or 2 in parts:
            found[parts] = found.get(parts, 0) + 1
    return found


def test_lines_of_a_cube_are_those_with_few_parts_and_a_small_one() -> None:
    cube = island_cube("area", "sex", people=60)
    # Seven parishes are too many parts for a line; only sex has few.
    assert lines_of(cube) == true_lines(cube)


def test_levels_make_lines_too() -> None:
    """Parishes in districts: two districts of three parishes; a single parish makes no line."""
    cube = island_cube("area+district-total", people=12)
    counts = cube.count.tolist()
    lines = [tuple(sorted(counts[0:3])), tuple(sorted(counts[3:6]))]
    expected = [line for line in lines if 1 in line or 2 in line]
    assert sum(lines_of(cube).values()) == len(expected)
    assert set(lines_of(cube)) == set(expected)


def test_the_risk_of_a_cube_is_what_its_tables_show() -> None:
    """Protected many times under different keys, as many lines give a cell away as expected."""
    knowledge = Knowledge(max_deviation=1)
    design = scheme("CP1")
    disclosed, expected = 0, 0.0
    for seed in range(40):
        cube = island_cube("area-total", "sex", people=40, seed=seed)
        expected += constellation_risk(design, "hashed", cube, knowledge).expected
        published = CellKey(design, secret=SECRET, lookup="hashed").protect(cube).table
        assert isinstance(published, Table)
        intervals = shuttle(cube.spec, *knowledge.bounds(published))
        small = np.any((cube.count[:, :2] >= 1) & (cube.count[:, :2] <= 2), axis=1)
        given = np.any(intervals.disclosed & (cube.count > 0), axis=1)
        disclosed += int((given & small).sum())
    assert expected > 20
    assert abs(disclosed - expected) < 4 * np.sqrt(expected)


def test_rows_with_as_many_intervals_as_keys_are_gone_through_key_by_key() -> None:
    plain = scheme("CP2").table(256)
    draw = np.random.default_rng(20220628)
    rows = [plain.rows[0]]
    for row in plain.rows[1:]:
        values = draw.permutation(np.repeat(row.deviations, row.widths)).tolist()
        rows.append(DeviationRow(tuple(values), (1,) * 256))
    table = PerturbationTable(256, tuple(rows), Tail(len(rows) - 1))
    knowledge = Knowledge(max_deviation=2)
    found = constellation_risk(table, "ascending", {(1, 1): 1}, knowledge).expected
    deviations = [np.repeat(row.deviations, row.widths) for row in table.rows]
    keys = np.arange(256)
    first, second = deviations[1][keys][:, None], deviations[1][keys][None, :]
    total = deviations[2][(keys[:, None] + keys[None, :]) % 256]
    risk = 0
    for line in product(range(-1, 3), range(-1, 3), range(-2, 3)):
        published = (1 + line[0], 1 + line[1], 2 + line[2])
        if shuttled_gives_away(published, knowledge):
            risk += int(((first == line[0]) & (second == line[1]) & (total == line[2])).sum())
    assert found == pytest.approx(risk / 256**2, abs=1e-9)


def shuttled_gives_away(published: tuple[int, ...], knowledge: Knowledge) -> bool:
    """By the shuttle of whole tables, on a table with two sexes and their total."""
    cube = island_cube("sex", people=5)
    table = Table(cube.spec, np.array(published))
    return bool(shuttle(cube.spec, *knowledge.bounds(table)).disclosed.any())


def test_no_lines_have_no_share() -> None:
    none = constellation_risk(scheme("CP1"), "hashed", {})
    assert (none.lines, none.expected, none.share, none.small_share) == (0, 0, None, None)
    empty = island_cube("sex", people=0)
    assert constellation_risk(scheme("CP1"), "hashed", empty).share is None
    one_cell = island_cube(people=1)
    assert constellation_risk(scheme("CP1"), "ascending", one_cell).share is None


@pytest.mark.parametrize("line", [(), (1,) * 5, (-1, 2), (1.5, 2)])
def test_lines_without_counts_are_refused(line: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="one to 4 parts"):
        constellation_risk(scheme("CP1"), "hashed", {line: 1})


def test_what_cannot_be_computed_is_refused_with_the_reason() -> None:
    with pytest.raises(SpecError, match="frequency"):
        constellation_risk(scheme("CP1"), "hashed", {(1, 1): -1})
    with pytest.raises(SpecError, match="not true of this perturbation"):
        constellation_risk(scheme("CP2"), "hashed", {(1, 1): 1}, Knowledge(max_deviation=1))
    with pytest.raises(SpecError, match="too many"):
        constellation_risk(per_unit_deviations(6), "hashed", {(50, 50, 50): 1})
    xor = island(30, key_space=KeySpace(combine=Combine.XOR)).tabulate("area", "sex")
    assert isinstance(xor, Cube)
    with pytest.raises(SpecError, match="keys that add up"):
        constellation_risk(scheme("CP1"), "ascending", xor)
    with pytest.raises(SpecError, match="held whole"):
        constellation_risk(scheme("CP1"), "hashed", [(1, 1)])  # type: ignore[arg-type]


def test_nothing_is_shown_of_the_results() -> None:
    found = constellation_risk(scheme("CP1"), "hashed", {(1, 2): 7})
    assert repr(found) == "<ConstellationRisk: confidential>"
    assert repr(found.constellations[0]) == "<Constellation: confidential>"
