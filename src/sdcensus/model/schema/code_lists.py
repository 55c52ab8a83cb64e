"""Code lists and the levels over them: trees of parents here, numbers in ``number_codes``.

Pure functions. What an office wrote is checked here in full: a tree with mistakes gives the list of
them, each with the position of the row that it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError, unknown
from sdcensus.model.schema.number_codes import (
    LARGEST_GRID,
    LONGEST_RANGE,
    UNALLOCATED,
    continuous_codes,
    grid_codes,
    interval_level,
    nested_hierarchies,
    range_codes,
    stated_code,
)
from sdcensus.model.schema.variable import Code, CodeKind, Level
from sdcensus.model.text import NOT_STATED_LABEL, Text

__all__ = [
    "LARGEST_GRID",
    "LONGEST_RANGE",
    "MISSING_CODES",
    "MISSING_LABELS",
    "UNALLOCATED",
    "ListProblem",
    "Node",
    "Tree",
    "continuous_codes",
    "grid_codes",
    "in_code_order",
    "interval_level",
    "nested_hierarchies",
    "onto_leaves",
    "range_codes",
    "stated_code",
    "tree_levels",
    "tree_problems",
]

#: The label of a code for "does not apply" where a schema has none of its own.
NOT_APPLICABLE_LABEL = Text.named("labels.not_applicable")
#: The labels of missing codes that a code list does not name.
MISSING_LABELS = {
    CodeKind.NOT_APPLICABLE: NOT_APPLICABLE_LABEL,
    CodeKind.NOT_STATED: NOT_STATED_LABEL,
}
#: The codes for an empty field where the file has no code of its own for it.
MISSING_CODES = {CodeKind.NOT_APPLICABLE: "_Z", CodeKind.NOT_STATED: "_U"}

#: Looking for similar codes takes long in long lists.
_MOST_HINTS = 20
_LONGEST_HINTED = 5_000
_NO_TEXT = Text()
_ORDER_OF_KINDS = {CodeKind.VALID: 0, CodeKind.NOT_APPLICABLE: 1, CodeKind.NOT_STATED: 2}


@dataclass(frozen=True, slots=True)
class Node:
    """One row of a code list: a leaf, or a group of other rows that name it as their parent."""

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
class Tree:
    """The leaves of a code list, valid ones first, and its levels from the finest up."""

    leaves: tuple[Code, ...]
    levels: tuple[Level, ...] = ()
    leaf_level: str = ""


def in_code_order(codes: Iterable[Code]) -> tuple[Code, ...]:
    """Values as they stand, then "not applicable", then "not stated"."""
    return tuple(sorted(codes, key=lambda code: _ORDER_OF_KINDS[code.kind]))


def tree_problems(nodes: Sequence[Node], names: Sequence[str] = ()) -> tuple[ListProblem, ...]:
    """Everything that keeps a code list from being a tree with levels of these names."""
    first_at: dict[str, int] = {}
    problems = []
    for at, node in enumerate(nodes):
        if node.code in first_at:
            problems.append(ListProblem(at, f"The code {node.code!r} stands twice in the list."))
        first_at.setdefault(node.code, at)
    for at, node in enumerate(nodes):
        if node.parent and node.parent not in first_at:
            text = f"There is no code {node.parent!r}."
            if len(problems) < _MOST_HINTS and len(first_at) < _LONGEST_HINTED:
                text = unknown("code", node.parent, first_at)
            problems.append(ListProblem(at, f"The parent of {node.code!r} is missing: {text}"))
    if problems:
        return tuple(problems)
    problems += [ListProblem(first_at[code], text) for code, text in _cycles(nodes).items()]
    if problems:
        return tuple(problems)
    return tuple(_level_problems(nodes, names))


def _cycles(nodes: Sequence[Node]) -> dict[str, str]:
    """For each cycle, its first code and what it looks like."""
    parent_of = {node.code: node.parent for node in nodes}
    done: set[str] = set()
    found: dict[str, str] = {}
    for node in nodes:
        chain: dict[str, None] = {}
        code = node.code
        while code and code not in done and code not in chain:
            chain[code] = None
            code = parent_of[code]
        if code in chain:
            members = list(chain)[list(chain).index(code) :]
            shown = " > ".join(map(repr, [*members[:6], *(["…"] if len(members) > 6 else [])]))
            found[code] = f"These codes are parents of each other: {shown} > {code!r}."
        done.update(chain)
    return found


def _level_problems(nodes: Sequence[Node], names: Sequence[str]) -> list[ListProblem]:
    named = [at for at, node in enumerate(nodes) if node.level]
    groups = {node.parent for node in nodes if node.parent}
    if not named:
        depth = max(_depths(nodes).values(), default=0)
        if names and len(names) != depth:
            has = f"{depth} level{'s' * (depth != 1)} above its leaves"
            if not depth:
                has = "no level above its leaves: give it a column 'parent'"
            listed = ", ".join(names)
            return [
                ListProblem(
                    None,
                    f"{len(names)} level{'s' * (len(names) != 1)} named ({listed}), but the code"
                    f" list has {has}.",
                )
            ]
        return []
    by_code = {node.code: node for node in nodes}
    problems = [
        ListProblem(at, f"The code {node.code!r} has a parent or children but no level.")
        for at, node in enumerate(nodes)
        if not node.level and (node.parent or node.code in groups)
    ]
    for at in named:
        parent = by_code.get(nodes[at].parent)
        if parent is not None and parent.level == nodes[at].level:
            problems.append(
                ListProblem(
                    at,
                    f"The code {nodes[at].code!r} and its parent are both of level"
                    f" {parent.level!r}.",
                )
            )
    if problems:
        return problems
    ordered = _ordered_levels(nodes)
    if ordered is None:
        return [ListProblem(None, "Levels lie inside each other both ways round.")]
    if names and list(names) != ordered[1:]:
        return [
            ListProblem(
                None,
                f"The levels named ({', '.join(names)}) are not those in the column 'level':"
                f" {', '.join(ordered[1:]) or 'none above the leaves'}.",
            )
        ]
    return []


def _depths(nodes: Sequence[Node]) -> dict[str, int]:
    """How many codes stand above each code."""
    parent_of = {node.code: node.parent for node in nodes}
    depth: dict[str, int] = {}
    for node in nodes:
        chain = []
        code = node.code
        while code and code not in depth:
            chain.append(code)
            code = parent_of[code]
        above = depth[code] if code else -1
        for link in reversed(chain):
            above += 1
            depth[link] = above
    return depth


def _ordered_levels(nodes: Sequence[Node]) -> list[str] | None:
    """The level names of a list, finest first; ``None`` if they contradict each other."""
    by_code = {node.code: node for node in nodes}
    names = list(dict.fromkeys(node.level for node in nodes if node.level))
    coarser: dict[str, set[str]] = {name: set() for name in names}
    for node in nodes:
        if node.parent:
            coarser[node.level].add(by_code[node.parent].level)
    depths = _depths(nodes)
    deepest = dict.fromkeys(names, 0)
    for node in nodes:
        if node.level:
            deepest[node.level] = max(deepest[node.level], depths[node.code])
    ordered: list[str] = []
    left = set(names)
    while left:
        # Nothing left may lie inside the next one, so that the next one is the coarsest of them.
        free = [name for name in names if name in left and not coarser[name] & left]
        if not free:
            return None
        coarsest = min(free, key=lambda name: deepest[name])
        ordered.append(coarsest)
        left.remove(coarsest)
    return ordered[::-1]


def tree_levels(
    nodes: Sequence[Node],
    names: Sequence[str] = (),
    *,
    kinds: Mapping[str, CodeKind] | None = None,
    prefix: str = "level",
) -> Tree:
    """Turn a list of codes with parents into leaves and levels.

    A code that is nobody's parent is a leaf. A leaf high up in the tree stands for itself at the
    levels below it. Levels are called by the column ``level``; else by ``names``, from the level
    just above the leaves upwards; else ``level_1``, ``level_2`` and so on.

    Args:
        nodes: The rows, in the order in which codes are to be shown.
        names: Names of the levels above the leaves.
        kinds: The codes that are missing codes, and of which kind.
        prefix: What the levels without names are called.

    Raises:
        SpecError: The list has problems; ``tree_problems`` has them one by one.

    Examples:
        >>> tree = tree_levels([Node("P1"), Node("A", parent="P1"), Node("B", parent="P1")],
        ...                    ["parish"])
        >>> [code.code for code in tree.leaves], tree.levels[0].name, tree.levels[0].group
        (['A', 'B'], 'parish', (0, 0))
    """
    problems = tree_problems(nodes, names)
    if problems:
        raise SpecError("\n".join(problem.text for problem in problems))
    kinds = kinds or {}
    groups = {node.parent for node in nodes if node.parent}
    codes = {
        node.code: Code(node.code, node.label, kinds.get(node.code, CodeKind.VALID))
        for node in nodes
    }
    leaves = in_code_order(codes[node.code] for node in nodes if node.code not in groups)
    heights, titles = _heights(nodes, names, prefix)
    chains = _chains(nodes, [leaf.code for leaf in leaves])
    levels = []
    for height, title in enumerate(titles[1:], start=1):
        # The last code on the way up that is not above this level; the leaf if it is above itself.
        shown = [
            [code for code in chain if heights[code] <= height][-1:] or chain[:1]
            for chain in chains
        ]
        levels.append(_level(title, [one[0] for one in shown], nodes, codes, leaves))
    return Tree(leaves, tuple(levels), titles[0] if titles else "")


def _heights(
    nodes: Sequence[Node], names: Sequence[str], prefix: str
) -> tuple[dict[str, int], list[str]]:
    """How far above the leaves each code stands, and what the levels are called."""
    if any(node.level for node in nodes):
        ordered = _ordered_levels(nodes) or []
        rank = {name: height for height, name in enumerate(ordered)}
        top = len(ordered)
        return {node.code: rank.get(node.level, top) for node in nodes}, ordered
    depths = _depths(nodes)
    deepest = max(depths.values(), default=0)
    titles = list(names) or [f"{prefix}_{number}" for number in range(1, deepest + 1)]
    return {code: deepest - depth for code, depth in depths.items()}, ["", *titles]


def _chains(nodes: Sequence[Node], leaves: Sequence[str]) -> list[list[str]]:
    """For each leaf, itself and everything above it."""
    parent_of = {node.code: node.parent for node in nodes}
    chains = []
    for leaf in leaves:
        chain = [leaf]
        while parent := parent_of[chain[-1]]:
            chain.append(parent)
        chains.append(chain)
    return chains


def _level(
    name: str,
    shown: Sequence[str],
    nodes: Sequence[Node],
    made: Mapping[str, Code],
    leaves: Sequence[Code],
) -> Level:
    """The level at which each leaf is shown as the given code."""
    kinds_in: dict[str, set[CodeKind]] = {}
    for code, leaf in zip(shown, leaves, strict=True):
        kinds_in.setdefault(code, set()).add(leaf.kind)
    codes = in_code_order(
        Code(node.code, made[node.code].label, _kind_of_group(kinds_in[node.code]))
        for node in nodes
        if node.code in kinds_in
    )
    at = {code.code: position for position, code in enumerate(codes)}
    return Level(name, codes, tuple(at[code] for code in shown))


def _kind_of_group(kinds: set[CodeKind]) -> CodeKind:
    """A group is missing only if all that it holds is."""
    if CodeKind.VALID in kinds:
        return CodeKind.VALID
    return kinds.pop() if len(kinds) == 1 else CodeKind.NOT_STATED


def onto_leaves(tree: Tree, leaves: Sequence[Code]) -> tuple[Level, ...]:
    """The levels of another tree over the same leaves, in the order of ``leaves``.

    Missing codes that the other tree does not name stay themselves.

    Raises:
        SpecError: The trees have different leaves; all differences are named.
    """
    position = {code.code: at for at, code in enumerate(tree.leaves)}
    lacking = [code.code for code in leaves if code.code not in position and not code.is_missing]
    known = {code.code for code in leaves}
    extra = [code.code for code in tree.leaves if code.code not in known]
    if lacking or extra:
        raise SpecError(
            " ".join(
                f"It {verb} {_shown(codes)}."
                for verb, codes in (
                    ("does not have the codes", lacking),
                    ("has leaves that are no codes of the variable:", extra),
                )
                if codes
            )
        )
    levels = []
    for level in tree.levels:
        codes = list(level.codes)
        group = []
        for leaf in leaves:
            if leaf.code in position:
                group.append(level.group[position[leaf.code]])
            else:
                group.append(len(codes))
                codes.append(leaf)
        levels.append(_reordered(Level(level.name, tuple(codes), tuple(group))))
    return tuple(levels)


def _reordered(level: Level) -> Level:
    codes = in_code_order(level.codes)
    at = {code.code: position for position, code in enumerate(codes)}
    return Level(level.name, codes, tuple(at[level.codes[one].code] for one in level.group))


def _shown(codes: Sequence[str]) -> str:
    first_codes = ", ".join(map(repr, codes[:5]))
    return first_codes if len(codes) <= 5 else f"{first_codes} and {len(codes) - 5} more"
