"""Which row of a code list is the parent of which, where levels share their codes."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.code_lists import tree_levels, tree_problems
from sdcensus.model.schema.tree_rows import NO_ROW, Node, row_parents

LEVELS = ("commune", "province", "region")


def rows(text: str) -> list[Node]:
    """``r:1 p:11<1 c:1101<11``: the letter of the level, the code, the parent."""
    names = {name[0]: name for name in LEVELS}
    nodes = []
    for word in text.split():
        own, _, parent = word.partition("<")
        level, _, code = own.partition(":")
        nodes.append(Node(code, parent=parent, level=names[level]))
    return nodes


def test_a_code_of_two_levels_is_two_rows() -> None:
    tree = tree_levels(rows("r:1 r:11 p:11<1 p:111<11 c:1101<11 c:1102<11 c:11101<111"))
    assert [leaf.code for leaf in tree.leaves] == ["1101", "1102", "11101"]
    province, region = tree.levels
    assert [code.code for code in province.codes] == ["11", "111"]
    assert (province.group, region.group) == ((0, 0, 1), (0, 0, 1))
    assert [code.code for code in region.codes] == ["1", "11"]


def test_every_row_can_have_a_code_of_every_level() -> None:
    """Leaves 1 to 4, provinces 1 to 3, regions 1 and 2: only the levels tell them apart."""
    tree = tree_levels(rows("r:1 r:2 p:1<1 p:2<1 p:3<2 c:1<1 c:2<1 c:3<2 c:4<3"))
    assert [level.group for level in tree.levels] == [(0, 0, 1, 2), (0, 0, 0, 1)]


def test_levels_that_the_schema_names_decide() -> None:
    nodes = rows("r:1 p:1<1 c:1<1")
    (problem, *_) = tree_problems(nodes)
    assert "stands at the levels" in problem.text
    assert "Write " in problem.text
    tree = tree_levels(nodes, ["province", "region"])
    assert [level.name for level in tree.levels] == ["province", "region"]


def test_a_parent_can_be_written_with_its_level() -> None:
    nodes = rows("r:1 p:1<region:1 c:1<province:1")
    assert row_parents(nodes).places == (NO_ROW, 0, 1)


def test_one_level_has_a_code_once_and_the_remedy_is_told() -> None:
    (problem,) = tree_problems(rows("r:1 p:11<1 p:11<1"))
    assert (problem.at, problem.text) == (2, "The code '11' stands twice at the level 'province'.")
    (problem,) = tree_problems([Node("11"), Node("11", parent="11")])
    assert "column 'level'" in problem.text


def test_what_has_no_parts_stands_for_itself_and_must_not_meet_its_like() -> None:
    with pytest.raises(SpecError, match="would stand twice at the level 'province'") as caught:
        tree_levels(rows("r:1 r:11 p:11<1 c:1101<11"))
    assert "the region '11' has nothing below it" in str(caught.value)


@st.composite
def unique_trees(draw: st.DrawFn) -> list[Node]:
    """Two to four levels, each row in some row of the next one; codes tell the level."""
    sizes = sorted(draw(st.lists(st.integers(1, 6), min_size=2, max_size=4)))
    nodes: list[Node] = []
    for depth, size in enumerate(sizes):
        for number in range(size):
            parent = ""
            if depth:
                # Every row has a part, so that none stands for itself at a level below.
                above = number if number < sizes[depth - 1] else None
                above = draw(st.integers(0, sizes[depth - 1] - 1)) if above is None else above
                parent = f"L{depth - 1}:{depth - 1}_{above}"
            nodes.append(Node(f"{depth}_{number}", parent=parent, level=f"L{depth}"))
    return draw(st.permutations(nodes))


@given(unique_trees())
def test_codes_that_repeat_give_the_same_tree(nodes: list[Node]) -> None:
    """The same list with its codes numbered anew at every level."""

    def short(text: str) -> str:
        return text.partition("_")[2]

    repeated = [
        Node(
            short(node.code),
            parent=f"{node.parent.partition(':')[0]}:{short(node.parent)}" if node.parent else "",
            level=node.level,
        )
        for node in nodes
    ]
    tree, other = tree_levels(nodes), tree_levels(repeated)
    assert [level.group for level in tree.levels] == [level.group for level in other.levels]
    for level, alike in zip(tree.levels, other.levels, strict=True):
        assert [short(code.code) for code in level.codes] == [code.code for code in alike.codes]
    # Parents without their level are the same, where the levels are named.
    names = [level.name for level in tree.levels]
    bare = [
        Node(node.code, parent=node.parent.partition(":")[2], level=node.level) for node in repeated
    ]
    assert tree_levels(bare, names).levels == other.levels
