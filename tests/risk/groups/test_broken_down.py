"""What tables break down, against loops over all cells of small random censuses."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.record_sets import is_product, leaves_in, leaves_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.groups.broken_down import (
    BrokenDown,
    GroupNoise,
    measure_broken_down,
    sample_of_kinds,
)
from sdcensus.risk.groups.shown_cells import kinds_of_menu, kinds_of_tables
from sdcensus.risk.groups.unit_records import UnitRecords
from sdcensus.testing.island import island
from tests.examples import at_least

#: A cell by what it is about: for each variable that it names, the leaves.
Definition = frozenset[tuple[str, frozenset[int]]]

AREA = Variable(
    name="area",
    entity=Entity.PERSON,
    role=Role.GEOGRAPHY,
    codes=tuple(Code(f"a{at}") for at in range(4)),
    hierarchies=(Hierarchy("areas", (Level("district", (Code("x"), Code("y")), (0, 0, 1, 1)),)),),
)
OTHERS = tuple(
    Variable(
        name=name, entity=Entity.PERSON, codes=tuple(Code(f"{name}{at}") for at in range(size))
    )
    for name, size in (("sex", 2), ("faith", 3), ("work", 2), ("tongue", 3))
)
VARIABLES = (AREA, *OTHERS)


def menu(dimensions: int, *, never: tuple[tuple[tuple[str, str], ...], ...] = ()) -> Menu:
    """All tables of the small census by so many variables."""
    variables = tuple(MenuVariable(one, finest_first(list(one.levels()))) for one in VARIABLES)
    return Menu(Entity.PERSON, variables, dimensions, never_together=never)


@st.composite
def censuses(draw: st.DrawFn) -> UnitRecords:
    """Up to 30 units in up to 15 households."""
    units = draw(st.integers(1, 30))
    codes = {
        one.name: np.array(
            draw(st.lists(st.integers(0, len(one.codes) - 1), min_size=units, max_size=units)),
            dtype=np.uint8,
        )
        for one in VARIABLES
    }
    households = draw(st.lists(st.integers(-1, 14), min_size=units, max_size=units))
    return UnitRecords(codes, np.array(households, dtype=np.int64), units)


def shown_of_menu(allowed: Menu) -> set[Definition]:
    """Every cell that some table of a menu shows."""
    shown: set[Definition] = set()
    for number in range(1, allowed.dimensions + 1):
        for own in itertools.combinations(VARIABLES, number):
            for levels in itertools.product(*(list(one.levels()) for one in own)):
                chosen = {one.name: level for one, level in zip(own, levels, strict=True)}
                if not allowed.allows(chosen):
                    continue
                codes = [
                    [
                        (one.name, frozenset(np.flatnonzero(level.group_array == at).tolist()))
                        for at in range(len(level.codes))
                    ]
                    for one, level in zip(own, levels, strict=True)
                ]
                shown.update(frozenset(cell) for cell in itertools.product(*codes))
    return shown


def finer_of(cell: Definition, shown: Iterable[Definition]) -> set[str]:
    """The variables of which some shown cell inside this one tells more."""
    own = dict(cell)
    finer: set[str] = set()
    for other in shown:
        theirs = dict(other)
        if all(name in theirs and theirs[name] <= leaves for name, leaves in own.items()):
            finer |= {
                name for name, leaves in theirs.items() if name not in own or leaves < own[name]
            }
    return finer


def members(cell: Definition, records: UnitRecords) -> frozenset[int]:
    """The units of a cell."""
    return frozenset(
        unit
        for unit in range(records.units)
        if all(int(records.codes[name][unit]) in leaves for name, leaves in cell)
    )


def by_hand(dimensions: int, records: UnitRecords) -> Mapping[Definition, set[str]]:
    """Every shown cell with units that is broken down, with the variables by which it is."""
    return {
        cell: finer for cell, finer in FINER[dimensions].items() if finer and members(cell, records)
    }


def lives_alone(units: frozenset[int], records: UnitRecords, largest: int) -> bool:
    """Whether units all live in one private household."""
    assert records.households is not None
    homes = {int(records.households[unit]) for unit in units}
    home = next(iter(homes))
    return len(homes) == 1 and home >= 0 and int((records.households == home).sum()) <= largest


SHOWN = {number: shown_of_menu(menu(number)) for number in (2, 3)}
FINER = {number: {cell: finer_of(cell, shown) for cell in shown} for number, shown in SHOWN.items()}
KINDS = {number: kinds_of_menu(menu(number)) for number in (2, 3)}


def measured(records: UnitRecords, dimensions: int, **options: int) -> BrokenDown:
    """The measure on a menu of the small census."""
    return measure_broken_down(
        records,
        KINDS[dimensions],
        of=Entity.PERSON,
        noise=GroupNoise(),
        **options,  # type: ignore[arg-type]
    )


@settings(max_examples=at_least(25))
@given(censuses(), st.sampled_from([2, 3]), st.integers(3, 6))
def test_cells_that_are_broken_down_are_counted(
    records: UnitRecords, dimensions: int, largest: int
) -> None:
    broken = by_hand(dimensions, records)
    found = measured(records, dimensions, largest=largest, largest_household=4)
    sizes = {cell: members(cell, records) for cell in broken}
    assert found.small == sum(len(size) <= largest for size in sizes.values())
    assert found.households == sum(lives_alone(size, records, 4) for size in sizes.values())
    assert not found.sampled


@settings(max_examples=at_least(25))
@given(censuses(), st.sampled_from([2, 3]))
def test_units_and_their_attributes_are_put_together(records: UnitRecords, dimensions: int) -> None:
    broken = by_hand(dimensions, records)
    told: dict[int, set[str]] = {unit: set() for unit in range(records.units)}
    for cell, finer in broken.items():
        units = members(cell, records)
        if len(units) == 1:
            told[next(iter(units))] |= finer | {name for name, _ in cell}
    found = measured(records, dimensions).assembled
    assert found is not None
    sizes = [len(one) for one in told.values()]
    assert list(found.alone) == np.bincount(sizes, minlength=len(VARIABLES) + 1).tolist()
    assert found.units == sum(size > 0 for size in sizes)
    assert found.at_least(3) == sum(size >= 3 for size in sizes)
    assert found.mean == pytest.approx(sum(sizes) / max(found.units, 1))


@settings(max_examples=at_least(25))
@given(censuses(), st.sampled_from([2, 3]))
def test_twins_are_all_pairs_that_differ_by_one_unit_or_one_household(
    records: UnitRecords, dimensions: int
) -> None:
    broken = by_hand(dimensions, records)
    cells = [members(cell, records) for cell, finer in broken.items() if len(finer) > 2]
    sets = set(cells)
    large = [one for one in sets if len(one) > 3]
    one = sum(len(a - b) == 1 and b < a for a in large for b in large)
    assert records.households is not None
    households = 0
    for a, b in itertools.permutations(large, 2):
        rest = a - b
        if b < a and len(rest) >= 2:
            homes = {int(records.households[unit]) for unit in rest}
            home = next(iter(homes))
            whole = {unit for unit in a if records.households[unit] == home}
            if len(homes) == 1 and home >= 0 and rest == whole:
                households += int((records.households == home).sum()) <= 15
    twins = measured(records, dimensions).twins
    assert twins is not None
    assert (twins.one, twins.household) == (one, households)
    assert twins.same == sum(len(cell) > 3 for cell in cells) - len(large)


@settings(max_examples=at_least(20))
@given(censuses(), st.integers(3, 6))
def test_nested_pairs_that_differ_by_few_are_counted(records: UnitRecords, largest: int) -> None:
    broken = by_hand(3, records)
    divided = {cell: members(cell, records) for cell, finer in broken.items() if len(finer) > 2}
    pairs = 0
    for cell, units in divided.items():
        for dropped in cell:
            parent = divided.get(cell - {dropped})
            if parent is not None and len(units) > largest:
                pairs += 1 <= len(parent) - len(units) <= largest
    twins = measured(records, 3, largest=largest).twins
    assert twins is not None
    assert twins.nested == pairs
    assert sum(number for _, number in twins.by_level) == sum(twins.by_kind)


@settings(max_examples=at_least(20))
@given(censuses(), st.sampled_from(["CP3(EU)", "CP4", "RR3", "CP3(1,2)"]), st.integers(1, 12))
def test_the_share_is_what_the_noise_lets_through(
    records: UnitRecords, name: str, smallest_group: int
) -> None:
    noise = scheme(name)
    broken = by_hand(3, records)
    seen = claimed = 0.0
    for cell, finer in broken.items():
        size = len(members(cell, records))
        if size <= 3 and len(finer) > 2:
            for value, chance in zip(noise.targets(size), noise.probabilities(size), strict=True):
                seen += float(chance) * bool(value >= 1)
                claimed += float(chance) * bool(value >= smallest_group)
    found = measure_broken_down(
        records,
        KINDS[3],
        of=Entity.PERSON,
        noise=GroupNoise.of(noise, smallest_group=smallest_group),
        twins=False,
    )
    assert found.share == pytest.approx(claimed / seen if seen else 0.0)
    assert found.share <= GroupNoise.of(noise, smallest_group=smallest_group).largest_share + 1e-12
    if smallest_group > 3 + noise.max_deviation:
        assert found.share == 0


@given(st.sampled_from(["CP3(EU)", "CP4", "RR3", "RR5", "CP3(1,2)"]), st.integers(1, 40))
def test_no_group_up_to_the_proven_one_can_be_published_at_the_smallest_group(
    name: str, smallest_group: int
) -> None:
    noise = scheme(name)
    for size in range(1, GroupNoise.of(noise, smallest_group=smallest_group).proven + 1):
        assert int(noise.targets(size).max()) < smallest_group


def test_without_the_rule_every_visible_group_counts() -> None:
    records = UnitRecords(
        {one.name: np.arange(4, dtype=np.uint8) % len(one.codes) for one in VARIABLES}, None, 4
    )
    weak = measure_broken_down(
        records, KINDS[3], of=Entity.PERSON, noise=GroupNoise.of(scheme("CP3(EU)")), twins=False
    )
    assert weak.share == 1.0
    assert weak.exceeds(0.02)
    strong = measure_broken_down(
        records,
        KINDS[3],
        of=Entity.PERSON,
        noise=GroupNoise.of(design_perturbation(8, 7.0), smallest_group=12, definition_keys=True),
    )
    assert strong.proven
    assert not strong.exceeds(0.0)
    almost = measure_broken_down(
        records,
        KINDS[3],
        of=Entity.PERSON,
        noise=GroupNoise.of(design_perturbation(8, 7.0), smallest_group=10),
        twins=False,
    )
    assert 0 < almost.share < 0.02


def test_what_a_menu_forbids_breaks_nothing_down() -> None:
    free, limited = menu(3), menu(3, never=((("faith", ""), ("area", "")),))
    finer = {one.title: one.finer for one in kinds_of_menu(limited)}
    assert {one.title: one.finer for one in kinds_of_menu(free)}["faith"] > finer["faith"]
    assert "area" not in finer["faith"]
    assert "faith" not in finer["area"]
    assert finer["area@district"] == {"area", "sex", "work", "tongue"}
    shown = shown_of_menu(limited)
    for kind in kinds_of_menu(limited):
        chosen = frozenset(
            (part.variable.name, frozenset(np.flatnonzero(part.group == 0).tolist()))
            for part in kind.parts
        )
        assert finer_of(chosen, shown) == kind.finer


TABLES = (
    (("area@parish+district", "sex", "age@class"), ""),
    (("area", "married"), ""),
    (("sex", "married"), "age >= 5"),
    (("area@district", "age"), "sex == 1"),
    (("area@district", "sex"), "age >= 5 or married == 1"),
    (("area-total", "sex-total", "age@half-total"), ""),
)


@pytest.mark.parametrize("chosen", list(itertools.combinations(range(len(TABLES)), 2)))
def test_tables_of_a_plan_break_down_what_their_cells_say(chosen: tuple[int, ...]) -> None:
    census = island(60)
    specs = [
        census.spec(*by, universe=where or None) for by, where in (TABLES[at] for at in chosen)
    ]
    shown: dict[str, set[Definition]] = {}
    for spec in specs:
        condition = "" if is_product(spec.universe) else spec.title
        shown.setdefault(condition, set()).update(cells_of_spec(spec, product=not condition))
    kinds = {kind.key: kind for kind in kinds_of_tables(specs)}
    for kind in kinds.values():
        cells = shown["" if kind.universe.everything else next(k for k in shown if k)]
        finer: set[str] = set()
        for places in itertools.product(*(range(part.size) for part in kind.parts)):
            cell = frozenset(
                (part.variable.name, frozenset(np.flatnonzero(part.group == at).tolist()))
                for part, at in zip(kind.parts, places, strict=True)
            )
            finer |= finer_of(cell, cells)
        assert finer == kind.finer, kind.title
    for cells in shown.values():
        for cell in cells:
            if finer_of(cell, cells):
                names = {name for name, _ in cell}
                assert any(kind.own == names for kind in kinds.values())


def cells_of_spec(spec: TableSpec, *, product: bool) -> set[Definition]:
    """Every cell of a table; its condition is part of it where it is a product of codes."""
    selected = {
        variable.name: leaves_in(spec.universe, variable)
        for variable in spec.universe.variables
        if product
    }
    options = []
    for axis in spec.axes:
        inside = selected.pop(axis.variable.name, np.ones(len(axis.variable.codes), dtype=bool))
        options.append(
            [(axis.variable.name, leaves_of(axis, at) & inside) for at in range(len(axis.codes))]
        )
    options += [[(name, mask)] for name, mask in selected.items()]
    return {
        frozenset(
            (name, frozenset(np.flatnonzero(mask).tolist()))
            for name, mask in cell
            if not mask.all() and mask.any()
        )
        for cell in itertools.product(*options)
        if all(mask.any() for _, mask in cell)
    }


def test_a_sample_of_kinds_is_the_same_each_time_and_said() -> None:
    kinds = KINDS[3]
    some = sample_of_kinds(kinds, 30, 300)
    assert some == sample_of_kinds(kinds, 30, 300)
    assert len(some) == 10
    assert len(sample_of_kinds(kinds, 10**9, 1)) == 1
    records = UnitRecords({one.name: np.zeros(30, dtype=np.uint8) for one in VARIABLES}, None, 30)
    found = measure_broken_down(
        records, kinds, of=Entity.PERSON, noise=GroupNoise(), most_work=300, twins=False
    )
    assert found.sampled
    assert len(found.kinds) == 10
    assert found.kinds_in_all == len(kinds)


def test_groups_below_three_cannot_be_asked_for() -> None:
    records = UnitRecords({}, None, 1)
    with pytest.raises(SpecError, match="up to 3"):
        measure_broken_down(records, (), of=Entity.PERSON, noise=GroupNoise(), largest=2)


def test_nothing_shows_its_content() -> None:
    records = UnitRecords({}, None, 7)
    found = measure_broken_down(records, (), of=Entity.PERSON, noise=GroupNoise())
    for one in (records, found, found.twins, found.assembled):
        assert "confidential" in repr(one)
        assert "7" not in repr(one)
