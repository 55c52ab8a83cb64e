"""Trees of codes, intervals of numbers, cells of a grid."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.code_lists import (
    continuous_codes,
    interval_level,
    nested_hierarchies,
    onto_leaves,
    range_codes,
    stated_code,
    tree_levels,
    tree_problems,
)
from sdcensus.model.schema.grids import LARGEST_GRID, UNALLOCATED, grid_codes
from sdcensus.model.schema.number_codes import LARGEST_NUMBER, parse_bounds
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.schema.variable import Code, CodeKind, Hierarchy, Level
from sdcensus.model.text import Text

NOT_STATED = Code("99", Text.of("Not stated"), CodeKind.NOT_STATED)


def nodes(text: str) -> list[Node]:
    """``A<P B<P P<R R`` as a list of codes with parents."""
    made = []
    for word in text.split():
        code, _, parent = word.partition("<")
        made.append(Node(code, Text.of(code), parent))
    return made


def shown(level: Level) -> list[str]:
    """For each leaf the code at which the level shows it."""
    return [level.codes[at].code for at in level.group]


# ---------------------------------------------------------------- trees


def test_a_list_without_parents_has_leaves_and_no_levels() -> None:
    tree = tree_levels(nodes("A B C"))
    assert [code.code for code in tree.leaves] == ["A", "B", "C"]
    assert tree.levels == ()


def test_levels_go_from_just_above_the_leaves_upwards() -> None:
    tree = tree_levels(nodes("R P1<R P2<R a<P1 b<P2 c<P1"), ["parish", "region"])
    assert [code.code for code in tree.leaves] == ["a", "b", "c"]
    assert [level.name for level in tree.levels] == ["parish", "region"]
    assert shown(tree.levels[0]) == ["P1", "P2", "P1"]
    assert shown(tree.levels[1]) == ["R", "R", "R"]


def test_levels_without_names_are_numbered() -> None:
    tree = tree_levels(nodes("R P<R a<P"))
    assert [level.name for level in tree.levels] == ["level_1", "level_2"]


def test_a_leaf_high_up_stands_for_itself_at_the_levels_below_it() -> None:
    tree = tree_levels(nodes("1 11<1 111<11 112<11 12<1 0"))
    assert [code.code for code in tree.leaves] == ["111", "112", "12", "0"]
    assert shown(tree.levels[0]) == ["11", "11", "12", "0"]
    assert shown(tree.levels[1]) == ["1", "1", "1", "0"]


def test_a_column_of_levels_names_them_and_the_leaves() -> None:
    rows = [
        Node("a", parent="P", level="ed"),
        Node("P", parent="D", level="parish"),
        Node("D", level="district"),
        Node("Q", parent="D", level="parish"),  # a parish without parts
        Node("b", parent="D", level="ed"),  # in no parish
    ]
    tree = tree_levels(rows)
    assert tree.leaf_level == "ed"
    assert [code.code for code in tree.leaves] == ["a", "Q", "b"]
    assert [level.name for level in tree.levels] == ["parish", "district"]
    assert shown(tree.levels[0]) == ["P", "Q", "b"]
    assert shown(tree.levels[1]) == ["D", "D", "D"]


def test_missing_codes_come_last_and_stay_themselves_unless_they_have_a_parent() -> None:
    kinds = {
        "9": CodeKind.NOT_STATED,
        "8": CodeKind.NOT_APPLICABLE,
        "7": CodeKind.NOT_STATED,
        "6": CodeKind.NOT_STATED,
    }
    tree = tree_levels(nodes("9 A a<A 8 N 7<N b<A 6<A"), ["group"], kinds=kinds)
    assert [code.code for code in tree.leaves] == ["a", "b", "8", "9", "7", "6"]
    (level,) = tree.levels
    assert shown(level) == ["A", "A", "8", "9", "N", "A"]
    assert {code.code: code.kind for code in level.codes} == {
        "A": CodeKind.VALID,  # also holds a missing code
        "8": CodeKind.NOT_APPLICABLE,
        "9": CodeKind.NOT_STATED,
        "N": CodeKind.NOT_STATED,
    }
    assert [code.code for code in level.codes] == ["A", "8", "9", "N"]


@pytest.mark.parametrize(
    ("text", "names", "at", "words"),
    [
        ("a a", [], 1, "'a' stands twice"),
        ("a<X b", [], 0, "parent of 'a' is missing"),
        ("a<a", [], 0, "'a' > 'a'"),
        ("a<b b<c c<a d<a", [], 0, "'a' > 'b' > 'c' > 'a'"),
        ("a<P P", ["x", "y"], None, r"2 levels named \(x, y\), but the code list has 1 level"),
        ("a b", ["x"], None, "no level above its leaves"),
    ],
)
def test_problems_of_trees_name_the_row(
    text: str, names: list[str], at: int | None, words: str
) -> None:
    (problem,) = tree_problems(nodes(text), names)
    assert problem.at == at
    with pytest.raises(SpecError, match=words):
        tree_levels(nodes(text), names)


def test_all_problems_of_a_tree_are_found_at_once() -> None:
    found = tree_problems(nodes("a<X a b<Y"))
    assert sorted(problem.at or 0 for problem in found) == [0, 1, 2]
    assert len(tree_problems(nodes("a<b b<a c<d d<c"))) == 2


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([Node("a", parent="P", level="ed"), Node("P", level="ed")], "both of level 'ed'"),
        ([Node("a", parent="P", level="ed"), Node("P")], "'P' has a parent or children but no"),
        (
            [
                Node("a", parent="P", level="x"),
                Node("P", level="y"),
                Node("b", parent="Q", level="y"),
                Node("Q", level="x"),
            ],
            "both ways round",
        ),
    ],
)
def test_levels_that_contradict_the_tree_are_refused(rows: list[Node], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        tree_levels(rows)


def test_names_that_differ_from_the_column_are_refused() -> None:
    rows = [Node("a", parent="P", level="ed"), Node("P", level="parish")]
    with pytest.raises(SpecError, match=r"named \(district\) are not .* parish"):
        tree_levels(rows, ["district"])
    assert tree_levels(rows, ["parish"]).levels[0].name == "parish"


@st.composite
def trees(draw: st.DrawFn) -> list[Node]:
    """Any forest: each code's parent is one of the codes before it; then shuffled."""
    size = draw(st.integers(1, 25))
    rows = [Node("0")]
    for number in range(1, size):
        parent = draw(st.integers(-1, number - 1))
        rows.append(Node(str(number), Text.of(f"n{number}"), "" if parent < 0 else str(parent)))
    return draw(st.permutations(rows))


@given(trees())
def test_every_level_is_a_partition_that_nests_in_the_next(rows: list[Node]) -> None:
    tree = tree_levels(rows)
    Hierarchy("tree", tree.levels)  # refuses levels that do not nest
    parents = {node.code: node.parent for node in rows}
    assert {leaf.code for leaf in tree.leaves} == set(parents) - set(parents.values())
    for level in tree.levels:
        assert set(level.group) == set(range(len(level.codes)))
        for leaf, code in zip(tree.leaves, shown(level), strict=True):
            above = leaf.code
            while above != code:  # a leaf is shown as itself or as something above it
                above = parents[above]
                assert above
    if tree.levels:  # the topmost level shows the roots
        assert {code.code for code in tree.levels[-1].codes} == {
            node.code for node in rows if not node.parent
        }


@given(trees())
def test_another_tree_is_laid_over_the_leaves_in_their_order(rows: list[Node]) -> None:
    tree = tree_levels(rows)
    assume(tree.levels)
    leaves = (*tree.leaves[::-1], NOT_STATED)
    levels = onto_leaves(tree, leaves)
    for level, original in zip(levels, tree.levels, strict=True):
        by_leaf = dict(zip((leaf.code for leaf in tree.leaves), shown(original), strict=True))
        assert shown(level) == [by_leaf.get(leaf.code, "99") for leaf in leaves]
        assert level.codes[-1] == NOT_STATED


def test_trees_over_other_leaves_are_refused_and_the_differences_named() -> None:
    tree = tree_levels(nodes("P a<P x<P"))
    with pytest.raises(SpecError, match=r"does not have the codes 'b'\. It has leaves .* 'x'"):
        onto_leaves(tree, [Code("a"), Code("b"), NOT_STATED])


# ---------------------------------------------------------------- numbers


def test_a_range_has_a_code_for_each_number() -> None:
    codes = range_codes(-1, 2)
    assert [(code.code, code.lower, code.upper) for code in codes] == [
        ("-1", -1, -1),
        ("0", 0, 0),
        ("1", 1, 1),
        ("2", 2, 2),
    ]


def test_ranges_that_go_down_or_are_amounts_are_refused() -> None:
    with pytest.raises(SpecError, match="goes down"):
        range_codes(5, 4)
    with pytest.raises(SpecError, match="continuous = true"):
        range_codes(0, 10**6)


def test_intervals_are_coded_and_missing_codes_stay() -> None:
    codes = (*range_codes(0, 9), NOT_STATED)
    level = interval_level("groups", "0,1,5,8+", codes)
    assert [code.code for code in level.codes] == ["0", "1-4", "5-7", "8+", "99"]
    assert [(code.lower, code.upper) for code in level.codes] == [
        (0, 0),
        (1, 4),
        (5, 7),
        (8, None),
        (None, None),
    ]
    assert shown(level) == ["0", *["1-4"] * 4, *["5-7"] * 3, *["8+"] * 2, "99"]


def test_bounds_can_be_filled_up_and_spelt_out() -> None:
    assert parse_bounds("0,5,...,20+").lows == [0, 5, 10, 15, 20]
    assert parse_bounds("0, 1, …, 4").lows == [0, 1, 2, 3, 4]
    assert parse_bounds("0..3,4+").lows == [0, 1, 2, 3, 4]
    level = interval_level("single", "0..95,96+", range_codes(0, 120))
    assert len(level.codes) == 97
    assert level.codes[-1].code == "96+"


def test_the_last_interval_without_a_plus_ends_at_the_highest_code() -> None:
    level = interval_level("groups", "0,5", range_codes(0, 9))
    assert [code.code for code in level.codes] == ["0-4", "5-9"]


def test_negative_intervals_are_readable() -> None:
    level = interval_level("groups", "-10,-5,0+", range_codes(-10, 3))
    assert [code.code for code in level.codes] == ["-10..-6", "-5..-1", "0+"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0,10,5", "5 does not lie above 10"),
        ("0,0,5", "0 does not lie above 0"),
        ("0,a", "'a' is no number"),
        ("0,,5", "number is missing"),
        ("", "number is missing"),
        ("0+,5", "only the last can be open"),
        ("5,10+", "first bound is 5, but the lowest code is 0"),
        ("-5,0,10+", "first bound is -5"),
        ("0,50,200+", "200 lies above the highest code, 99"),
        ("0..50", "go up to 99, but the bounds end at 50"),
        ("0..50,60+", "after 50 the next number is 51, not 60"),
        ("0,5,...,12+", "steps of 5 from 5 do not reach 12"),
        ("0,...,12+", "between two numbers"),
        ("0,5,...", "between two numbers"),
        ("9..0", "goes down"),
    ],
)
def test_wrong_bounds_are_refused_in_plain_words(text: str, words: str) -> None:
    with pytest.raises(SpecError, match=f"(?i){words}"):
        interval_level("groups", text, range_codes(0, 99))


def test_intervals_without_a_code_are_refused() -> None:
    with pytest.raises(SpecError, match="no code in '2-3'"):
        interval_level("groups", "0,2,4+", [Code("0"), Code("1"), Code("4")])


def test_intervals_need_numbers() -> None:
    with pytest.raises(SpecError, match="'a' is no whole number"):
        interval_level("groups", "0,2+", [Code("0"), Code("a")])
    with pytest.raises(SpecError, match="no numbers"):
        interval_level("groups", "0,2+", [NOT_STATED])


ASCENDING = st.lists(st.integers(1, 60), max_size=8, unique=True).map(lambda one: [0, *sorted(one)])


@given(ASCENDING, st.integers(60, 80), st.booleans())
def test_intervals_cover_every_number_once(bounds: list[int], top: int, is_open: bool) -> None:
    text = ",".join(map(str, bounds)) + "+" * is_open
    level = interval_level("groups", text, range_codes(0, top))
    assert len(level.codes) == len(bounds)
    for number, at in enumerate(level.group):
        code = level.codes[at]
        assert code.lower is not None
        assert code.lower <= number <= (top if code.upper is None else code.upper)
    assert (level.codes[-1].upper is None) is is_open


@given(st.lists(ASCENDING, min_size=1, max_size=4))
def test_leaves_of_a_continuous_variable_are_the_common_refinement(
    several: list[list[int]],
) -> None:
    texts = [",".join(map(str, bounds)) + "+" for bounds in several]
    leaves = continuous_codes(texts)
    assert [leaf.lower for leaf in leaves] == sorted(set().union(*several))
    assert all(
        fine.upper is not None and coarse.lower == fine.upper + 1
        for fine, coarse in pairwise(leaves)
    )
    assert leaves[-1].upper is None
    for text, bounds in zip(texts, several, strict=True):
        assert len(interval_level("level", text, leaves).codes) == len(bounds)


def test_levels_of_a_continuous_variable_are_open_and_start_together() -> None:
    with pytest.raises(SpecError, match='write "10\\+" at the end'):
        continuous_codes(["0,10"])
    with pytest.raises(SpecError, match="start at the same number, not at 0, 5"):
        continuous_codes(["0,10+", "5,10+"])


def test_the_code_for_any_number_holds_every_number() -> None:
    code = stated_code()
    assert code.lower == -LARGEST_NUMBER
    assert code.upper is None
    assert not code.is_missing


@given(st.lists(ASCENDING, min_size=1, max_size=5))
def test_levels_fall_into_hierarchies_whatever_their_order(several: list[list[int]]) -> None:
    codes = range_codes(0, 60)
    levels = [
        interval_level(f"level_{number}", ",".join(map(str, bounds)) + "+", codes)
        for number, bounds in enumerate(several)
    ]
    hierarchies = nested_hierarchies("age", levels)
    names = [level.name for hierarchy in hierarchies for level in hierarchy.levels]
    assert sorted(names) == sorted(level.name for level in levels)
    for hierarchy in hierarchies:
        assert all(fine.refines(coarse) for fine, coarse in pairwise(hierarchy.levels))
    assert hierarchies[0].name == "age"
    if all(fine.refines(coarse) or coarse.refines(fine) for fine in levels for coarse in levels):
        assert len(hierarchies) == len(nested_hierarchies("age", levels[::-1])) == 1


def test_levels_that_do_not_nest_get_hierarchies_of_their_own() -> None:
    codes = range_codes(0, 99)
    five, ten, odd = (
        interval_level(name, text, codes)
        for name, text in [("five", "0,5,...,95"), ("ten", "0,10,...,90"), ("odd", "0,7,20+")]
    )
    found = nested_hierarchies("age", [odd, ten, five])
    assert [(one.name, [level.name for level in one.levels]) for one in found] == [
        ("age", ["five", "ten"]),
        ("odd", ["odd"]),
    ]


# ---------------------------------------------------------------- grids


def test_cells_start_at_multiples_and_cover_the_extent() -> None:
    codes = grid_codes(3035, 1000, (500, -200, 2000, 900))
    assert [code.code for code in codes] == [
        "CRS3035RES1000mN-1000E0",
        "CRS3035RES1000mN-1000E1000",
        "CRS3035RES1000mN0E0",
        "CRS3035RES1000mN0E1000",
        UNALLOCATED,
    ]
    assert [code.kind for code in codes[:-1]] == [CodeKind.VALID] * 4
    assert codes[-1].kind is CodeKind.NOT_APPLICABLE


@given(
    st.integers(1, 50),
    st.tuples(*[st.integers(-200, 200)] * 2),
    st.tuples(*[st.integers(1, 99)] * 2),
)
def test_every_point_of_the_extent_has_its_cell(
    cell: int, corner: tuple[int, int], size: tuple[int, int]
) -> None:
    (x, y), (width, height) = corner, size
    codes = {code.code for code in grid_codes(1, cell, (x, y, x + width, y + height))}
    for east, north in [(x, y), (x + width - 1, y + height - 1), (x, y + height - 1)]:
        assert f"CRS1RES{cell}mN{north // cell * cell}E{east // cell * cell}" in codes
    assert f"CRS1RES{cell}mN{y // cell * cell}E{(x + width - 1) // cell * cell + cell}" not in codes


def test_empty_and_immense_grids_are_refused() -> None:
    with pytest.raises(SpecError, match="extent is empty"):
        grid_codes(3035, 1000, (0, 0, 0, 1000))
    with pytest.raises(SpecError, match=f"at most {LARGEST_GRID:,}"):
        grid_codes(3035, 1, (0, 0, 10_000, 10_000))
