"""The rows of a code list and which row is the parent of which, also where codes repeat.

Official lists number each level by itself: 11 is a region and a province. A row is therefore known
by its level and its code together. The parent of a row is named by its code alone where that is
clear, and as ``level:code`` where it is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from sdcensus.errors import unknown
from sdcensus.model.text import Text

#: Looking for similar codes takes long in long lists.
_MOST_HINTS = 20
_LONGEST_HINTED = 5_000
_NO_TEXT = Text()
#: The place of the parent of a row that has none.
NO_ROW = -1


@dataclass(frozen=True, slots=True)
class Node:
    """One row of a code list: a leaf, or a group of other rows that name it as their parent.

    Attributes:
        code: Its code; two rows have the same one at different levels only.
        label: What it is called.
        parent: The code of its parent, or ``level:code``; empty for none.
        level: Its level; empty in lists that do not name any.
    """

    code: str
    label: Text = _NO_TEXT
    parent: str = ""
    level: str = ""


@dataclass(frozen=True, slots=True)
class ListProblem:
    """What is wrong with a code list, and at which of its rows (``None``: the list as a whole)."""

    at: int | None
    text: str


@dataclass(frozen=True, slots=True)
class RowParents:
    """For each row of a code list the place of its parent, or ``NO_ROW``; and what is wrong."""

    places: tuple[int, ...]
    problems: tuple[ListProblem, ...] = ()


def row_parents(nodes: Sequence[Node], names: Sequence[str] = ()) -> RowParents:
    """Find the parent of every row.

    A code that stands at several levels is a parent at one of them: not at the row's own level or
    at one inside it, at the level in which other rows of the row's level lie, else at the finest.

    Args:
        nodes: The rows.
        names: The levels above the leaves, finest first, where the schema names them.
    """
    problems: list[ListProblem] = []
    rows: dict[tuple[str, str], int] = {}
    by_code: dict[str, list[int]] = {}
    for at, node in enumerate(nodes):
        if (node.level, node.code) in rows:
            problems.append(ListProblem(at, _twice(node)))
            continue
        rows[node.level, node.code] = at
        by_code.setdefault(node.code, []).append(at)
    candidates: dict[int, list[int]] = {}
    for at, node in enumerate(nodes):
        if node.parent:
            candidates[at] = _named(node, rows, by_code, nodes)
            if not candidates[at]:
                problems.append(ListProblem(at, _missing(node, by_code, len(problems))))
    if problems:
        return RowParents((), tuple(problems))
    _narrow(candidates, nodes, names)
    for at, several in candidates.items():
        if len(several) > 1:
            levels = [nodes[place].level for place in several]
            listed = " and ".join(map(repr, levels))
            problems.append(
                ListProblem(
                    at,
                    f"The parent {nodes[at].parent!r} of {nodes[at].code!r} stands at the levels"
                    f" {listed}. Write {levels[0]}:{nodes[at].parent} in the column 'parent'.",
                )
            )
    places = [candidates[at][0] if at in candidates else NO_ROW for at in range(len(nodes))]
    return RowParents(tuple(places), tuple(problems))


def leaf_codes(nodes: Sequence[Node], names: Sequence[str] = ()) -> set[str]:
    """The codes of the rows that are nobody's parent, as far as parents can be told."""
    inner = set(row_parents(nodes, names).places)
    return {node.code for at, node in enumerate(nodes) if at not in inner}


def _twice(node: Node) -> str:
    if node.level:
        return f"The code {node.code!r} stands twice at the level {node.level!r}."
    return (
        f"The code {node.code!r} stands twice in the list. If two levels share their codes, say in"
        " a column 'level' which row is of which."
    )


def _named(
    node: Node,
    rows: Mapping[tuple[str, str], int],
    by_code: Mapping[str, list[int]],
    nodes: Sequence[Node],
) -> list[int]:
    """The rows that the parent of a row can be, by what it is called."""
    if node.parent in by_code:
        every = by_code[node.parent]
        others = [at for at in every if not node.level or nodes[at].level != node.level]
        return others or every
    level, _, code = node.parent.partition(":")
    return [rows[level, code]] if (level, code) in rows else []


def _missing(node: Node, known: Mapping[str, object], hints: int) -> str:
    text = f"There is no code {node.parent!r}."
    if hints < _MOST_HINTS and len(known) < _LONGEST_HINTED:
        text = unknown("code", node.parent, known)
    return f"The parent of {node.code!r} is missing: {text}"


def _narrow(candidates: dict[int, list[int]], nodes: Sequence[Node], names: Sequence[str]) -> None:
    """Strike out candidates until each row has one, as far as the other rows tell which."""
    while unclear := [at for at, several in candidates.items() if len(several) > 1]:
        parents = _parent_levels(candidates, nodes, names)
        above = {level: _above(level, parents) for level in parents}
        # The first way that strikes out anything: what it tells may help the others.
        for way in (_not_inside, _usual, _finest):
            struck = False
            for at in unclear:
                levels = {nodes[place].level for place in candidates[at]}
                kept = way(nodes[at].level, levels, parents, above) or levels
                if kept != levels:
                    struck = True
                    candidates[at] = [at for at in candidates[at] if nodes[at].level in kept]
            if struck:
                break
        else:
            return


#: For some levels the levels in which they lie.
_Above = Mapping[str, set[str]]


def _not_inside(own: str, levels: set[str], _: _Above, above: _Above) -> set[str]:
    """Levels that do not lie inside the row's own."""
    return {level for level in levels if own not in above.get(level, ())}


def _usual(own: str, levels: set[str], parents: _Above, _: _Above) -> set[str]:
    """Levels in which other rows of the row's level lie."""
    return levels & parents.get(own, set())


def _finest(_own: str, levels: set[str], _: _Above, above: _Above) -> set[str]:
    """The level that lies inside all the others."""
    return {level for level in levels if levels - {level} <= above.get(level, set())}


def _parent_levels(
    candidates: Mapping[int, Sequence[int]], nodes: Sequence[Node], names: Sequence[str]
) -> dict[str, set[str]]:
    """For each level the levels in which its rows lie for sure."""
    parents: dict[str, set[str]] = {}
    for at, several in candidates.items():
        if len(several) == 1:
            parents.setdefault(nodes[at].level, set()).add(nodes[several[0]].level)
    for level in dict.fromkeys(node.level for node in nodes):
        if names and level and level not in names:
            parents.setdefault(level, set()).add(names[0])
    for finer, coarser in pairwise(names):
        parents.setdefault(finer, set()).add(coarser)
    return parents


def _above(level: str, parents: Mapping[str, set[str]]) -> set[str]:
    """Every level that a level lies in, through others or not."""
    above: set[str] = set()
    left = [level]
    while left:
        for parent in parents.get(left.pop(), set()) - above:
            above.add(parent)
            left.append(parent)
    return above


def cycles(nodes: Sequence[Node], parents: Sequence[int]) -> dict[int, str]:
    """For each cycle of parents its first row, and what it looks like."""
    done: set[int] = set()
    described: dict[int, str] = {}
    for start in range(len(nodes)):
        chain: dict[int, None] = {}
        at = start
        while at != NO_ROW and at not in done and at not in chain:
            chain[at] = None
            at = parents[at]
        if at in chain:
            members = [nodes[place].code for place in list(chain)[list(chain).index(at) :]]
            shown = " > ".join(map(repr, [*members[:6], *(["…"] if len(members) > 6 else [])]))
            text = f"These codes are parents of each other: {shown} > {nodes[at].code!r}."
            described[at] = text
        done.update(chain)
    return described


def depths(parents: Sequence[int]) -> list[int]:
    """How many rows stand above each row."""
    depth: dict[int, int] = {NO_ROW: -1}
    for start in range(len(parents)):
        chain = []
        at = start
        while at not in depth:
            chain.append(at)
            at = parents[at]
        above = depth[at]
        for link in reversed(chain):
            above += 1
            depth[link] = above
    return [depth[at] for at in range(len(parents))]
