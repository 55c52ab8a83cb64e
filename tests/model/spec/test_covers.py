"""One choice of codes for a set of leaves: the fewest, by brute force, and by a stated rule."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec import fewest_parts as search
from sdcensus.model.spec.covers import (
    WHOLE,
    Covering,
    Part,
    counted_axis,
    covering,
    needed_levels,
)
from sdcensus.model.spec.fewest_parts import fewest_parts


def level(name: str, group: Sequence[int], size: int | None = None) -> Level:
    """A level whose codes are called like it, with a number."""
    codes = tuple(Code(f"{name}{at}") for at in range(size or max(group) + 1))
    return Level(name, codes, tuple(group))


def universe(name: str, leaves: Sequence[bool]) -> Level:
    """A level that a universe makes: the code of its name, and all others."""
    group = tuple(0 if held else 1 for held in leaves)
    return Level(name, (Code(name), Code(f"not_{name}")), group, universe=True)


def mask(text: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Leaves that are wanted, as 1 and 0."""
    return np.array([sign == "1" for sign in text])


@st.composite
def families(draw: st.DrawFn) -> list[Level]:
    """Levels of a few leaves that nest or cross, with codes without leaves, and universes."""
    leaves = draw(st.integers(1, 7))
    levels = [level("leaf", range(leaves))]
    for number in range(draw(st.integers(1, 4))):
        groups = st.lists(st.integers(0, 3), min_size=leaves, max_size=leaves)
        group = draw(groups)
        if draw(st.booleans()):  # nests in the one before
            above = draw(st.lists(st.integers(0, 3), min_size=8, max_size=8))
            group = [above[place] for place in levels[-1].group]
        levels.append(level(f"l{number}", group, 4))
    chosen = st.lists(st.booleans(), min_size=leaves, max_size=leaves)
    sets = draw(st.lists(chosen, max_size=3))
    levels = levels if draw(st.booleans()) else levels[1:]  # a policy may forbid the leaves
    return [*levels, *(universe(f"s{at}", each) for at, each in enumerate(sets))]


def leaves_of(part: Part, levels: Iterable[Level]) -> frozenset[int]:
    """What a part stands for, by its definition."""
    held = next(each for each in levels if each.name == part.level)
    return frozenset(np.flatnonzero(held.group_array == part.at).tolist())


def by_brute_force(
    wanted: frozenset[int], levels: Sequence[Level]
) -> tuple[frozenset[int], ...] | None:
    """The first of all choices of codes, the fewest first and then in the order that is stated."""
    parts = [Part(each.name, at) for each in levels for at in range(len(each.codes))]
    usable = {leaves_of(part, levels) for part in parts}
    ordered = sorted(
        (each for each in usable if each and each <= wanted),
        key=lambda each: (-len(each), sorted(each)),
    )
    for number in range(len(wanted) + 1):
        for choice in itertools.combinations(ordered, number):
            if sum(map(len, choice)) == len(wanted) and frozenset().union(*choice) == wanted:
                return choice
    return None


@given(families(), st.data())
def test_the_choice_is_the_first_of_the_fewest_however_levels_are_ordered(
    levels: list[Level], data: st.DataObject
) -> None:
    size = len(levels[0].group)
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    wanted = frozenset(np.flatnonzero(chosen).tolist())
    parts = Covering(levels).cover(chosen)
    if chosen.all():
        assert parts == (WHOLE,)
        return
    best = by_brute_force(wanted, levels)
    if parts is None or best is None:
        assert parts is None
        assert best is None
        return
    members = [leaves_of(part, levels) for part in parts]
    assert sum(map(len, members)) == len(wanted)
    assert set(members) == set(best)
    assert len(parts) == len(best)
    shuffled = Covering(data.draw(st.permutations(levels)))
    assert shuffled.cover(chosen) == parts


LEAVES = level("leaf", range(12))
#: Two hierarchies that cross: 0-3, 4-7, 8-11 and 0-1, 2-5, 6-9, 10-11.
FOURS = level("four", [0] * 4 + [1] * 4 + [2] * 4)
SHIFTED = level("shifted", [0] * 2 + [1] * 4 + [2] * 4 + [3] * 2)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        # One code of a coarser level instead of its leaves, from either hierarchy.
        ("111100000000", ["four0"]),
        ("001111000000", ["shifted1"]),
        # 2 to 9: two of the shifted ones, where the others leave four leaves over.
        ("001111111100", ["shifted1", "shifted2"]),
        # The first codes of four would leave two leaves over.
        ("111111000000", ["shifted0", "shifted1"]),
        ("111111111100", ["shifted0", "shifted1", "shifted2"]),
        # Codes of both hierarchies beside each other.
        ("111100111111", ["four0", "shifted2", "shifted3"]),
        ("101000000000", ["leaf0", "leaf2"]),
        ("000000000000", []),
    ],
)
def test_golden_choices(wanted: str, expected: list[str]) -> None:
    levels = {each.name: each for each in (LEAVES, FOURS, SHIFTED)}
    parts = Covering(levels.values()).cover(mask(wanted))
    assert parts is not None
    assert sorted(levels[part.level].codes[part.at].code for part in parts) == expected


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        # 0-2 and 3, or 0-1 and 2-3: both take two codes, and the larger code comes first.
        (([0, 0, 0, 1, 2], [0, 0, 1, 1, 2]), {(0, 1, 2), (3,)}),
        # 0-2 and 3, or 0 and 1-3: as large, and the one that stands first in the code list.
        (([0, 0, 0, 1, 2], [0, 1, 1, 1, 2]), {(0, 1, 2), (3,)}),
        (([0, 1, 1, 1, 2], [0, 0, 1, 1, 2]), {(0,), (1, 2, 3)}),
    ],
)
def test_ties_go_to_the_larger_code_and_then_to_the_first(
    groups: tuple[list[int], list[int]], expected: set[tuple[int, ...]]
) -> None:
    levels = [level(f"l{at}", group) for at, group in enumerate(groups)]
    for order in itertools.permutations(levels):
        parts = Covering(order).cover(mask("11110"))
        assert parts is not None
        assert {tuple(sorted(leaves_of(part, levels))) for part in parts} == expected


def test_the_order_of_leaves_is_that_of_the_code_list_however_long_it_is() -> None:
    """1 and 256 beside 257, or 1 beside 256 and 257: leaf 1 stands before leaf 256."""
    size = 300
    first, second = (
        level(name, [int(leaf in pair) for leaf in range(size)])
        for name, pair in (("a", (1, 256)), ("b", (256, 257)))
    )
    wanted = np.isin(np.arange(size), [1, 256, 257])
    parts = Covering([level("leaf", range(size)), second, first]).cover(wanted)
    assert parts == (Part("a", 1), Part("leaf", 257))


@given(st.lists(st.integers(1, 127), min_size=1, max_size=14, unique=True), st.integers(1, 7))
def test_any_sets_at_all_are_chosen_as_by_brute_force(sets: list[int], pieces: int) -> None:
    """Also where three and more families of sets cross, as no two hierarchies do."""
    whole = (1 << pieces) - 1
    usable = [members for members in sets if members & whole == members]
    expected = None
    for number in range(1, len(usable) + 1):
        for choice in itertools.combinations(range(len(usable)), number):
            members = [usable[at] for at in choice]
            if sum(each.bit_count() for each in members) == pieces and not whole & ~_union(members):
                expected = expected or choice
        if expected:
            break
    assert fewest_parts(usable, whole) == expected


def _union(members: Iterable[int]) -> int:
    union = 0
    for each in members:
        union |= each
    return union


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        # Three sets that cross one another, and single pieces: the first of them is taken.
        ([0b011, 0b110, 0b101, 0b001, 0b010, 0b100], (0, 5)),
        ([0b110, 0b101, 0b011, 0b001, 0b010, 0b100], (0, 3)),
        # Five in a ring: two of them and a piece, and the earliest two that fit.
        ([0b00011, 0b00110, 0b01100, 0b11000, 0b10001, 1, 2, 4, 8, 16], (0, 2, 9)),
        ([0b00110, 0b00011, 0b10001, 0b01100, 0b11000, 1, 2, 4, 8, 16], (0, 2, 8)),
        # Taking the set that crosses most is not always best.
        ([0b0111110, 0b1111000, 0b1100011, 0b0000111, 1, 2, 4, 8, 16, 32, 64], (1, 3)),
    ],
)
def test_sets_of_three_families_that_cross(sets: list[int], expected: tuple[int, ...]) -> None:
    assert fewest_parts(sets, _union(sets)) == expected


def test_the_same_leaves_are_called_as_in_the_level_with_the_fewest_codes() -> None:
    fine, coarse, alike = (
        level("a", [0, 0, 1, 2]),
        level("z", [0, 0, 1, 1]),
        level("y", [1, 1, 0, 0]),
    )
    adults = universe("adults", mask("1100").tolist())
    for levels in itertools.permutations((fine, coarse, alike, adults)):
        assert Covering(levels).cover(mask("1100")) == (Part("y", 1),)
    assert Covering([adults, fine, coarse]).cover(mask("1100")) == (Part("z", 0),)
    assert Covering([adults, fine]).cover(mask("1100")) == (Part("a", 0),)  # the finer one as well
    assert Covering([level("leaf", range(4)), adults]).cover(mask("1100")) == (Part("adults", 0),)


def test_a_universe_stands_beside_the_codes_that_are_left() -> None:
    leaves = level("leaf", range(5))
    wider = Covering([universe("adults", mask("11100").tolist()), leaves])
    assert wider.cover(mask("11110")) == (Part("leaf", 3), Part("adults", 0))
    assert wider.cover(mask("00011")) == (Part("adults", 1),)
    single = Covering([universe("adults", mask("11110").tolist()), leaves])
    assert single.cover(mask("00001")) == (Part("leaf", 4),)  # what has a name is called by it


def test_thousands_of_areas_in_two_hierarchies_that_cross() -> None:
    side = 50
    places = np.arange(side * side)
    row, column = places // side, places % side
    districts = level("district", (row // 7 * 10 + column // 5).tolist())
    wards = level("ward", ((row + 3) // 6 * 10 + (column + 2) // 6).tolist())
    codes = Covering([level("ed", range(side * side)), districts, wards])
    wanted = np.ones(side * side, dtype=bool)
    wanted[side * side // 2 + 20] = False
    parts = codes.cover(wanted)
    assert parts is not None
    held = np.zeros(side * side, dtype=int)
    groups = {"ed": places, "district": districts.group_array, "ward": wards.group_array}
    for part in parts:
        held += groups[part.level] == part.at
    np.testing.assert_array_equal(held, wanted)
    # Districts alone take all of themselves but one, and 34 areas of that.
    assert len(parts) < np.unique(districts.group_array).size - 1 + 34
    assert {part.level for part in parts} == {"ed", "district", "ward"}


def test_what_cannot_be_proved_to_be_the_fewest_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pairs = [1 << first | 1 << second for first in range(6) for second in range(first)]
    assert fewest_parts(pairs, 0b111111) is not None
    monkeypatch.setattr(search, "MOST_BRANCHES", 2)
    with pytest.raises(SpecError, match="cross each other"):
        fewest_parts(pairs, 0b111111)


def test_an_axis_is_counted_for_the_parts_only() -> None:
    leaves = tuple(Code(str(at)) for at in range(6))
    variable = Variable(
        name="age",
        entity=Entity.PERSON,
        codes=leaves,
        hierarchies=(
            Hierarchy("h", (level("class", [0, 0, 1, 1, 2, 2]),)),
            Hierarchy("adults", (universe("adults", mask("011111").tolist()),)),
        ),
    )
    parts = covering(variable).cover(mask("011111"))
    assert parts == (Part("adults", 0),)
    narrow = counted_axis(variable, [*parts, Part("class", 1), WHOLE])
    shown = [(code.level, code.code) for code in narrow.axis.codes]
    places = narrow.positions([*parts, Part("class", 1), WHOLE]).tolist()
    assert [shown[place] for place in places] == [
        ("adults", "adults"),
        ("class", "class1"),
        ("_T", "_T"),
    ]
    assert len(shown) == 2 + 2 + 1
    assert needed_levels(variable, [Part("class", 1), WHOLE]) == (variable.level("class"),)
    assert counted_axis(variable, [WHOLE]).positions([WHOLE]).tolist() == [1]
