"""Code lists and the levels over them: trees of parents here, numbers in ``number_codes``.

Pure functions. What an office wrote is checked here in full: a tree with mistakes gives the list of
them, each with the position of the row that it concerns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sdcensus.errors import SpecError
from sdcensus.model.schema.number_codes import (
    LONGEST_RANGE,
    continuous_codes,
    interval_level,
    nested_hierarchies,
    range_codes,
    stated_code,
)
from sdcensus.model.schema.tree_rows import (
    NO_ROW,
    ListProblem,
    Node,
    cycles,
    depths,
    row_parents,
)
from sdcensus.model.schema.variable import Code, CodeKind, Level
from sdcensus.model.text import NOT_STATED_LABEL, Text

__all__ = [
    "LONGEST_RANGE",
    "MISSING_CODES",
    "MISSING_LABELS",
    "Tree",
    "continuous_codes",
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

_ORDER_OF_KINDS = {CodeKind.VALID: 0, CodeKind.NOT_APPLICABLE: 1, CodeKind.NOT_STATED: 2}


@dataclass(frozen=True, slots=True)
class Tree:
    """The leaves of a code list, valid ones first, and its levels from the finest up."""

    leaves: tuple[Code, ...]
    levels: tuple[Level, ...] = ()
    leaf_level: str = ""


def in_code_order(codes: Iterable[Code]) -> tuple[Code, ...]:
    """Values as they stand, then "not applicable", then "not stated"."""
    return tuple(sorted(codes, key=_kind_order))


def _kind_order(code: Code) -> int:
    return _ORDER_OF_KINDS[code.kind]


def tree_problems(nodes: Sequence[Node], names: Sequence[str] = ()) -> tuple[ListProblem, ...]:
    """Everything that keeps a code list from being a tree with levels of these names."""
    parents = row_parents(nodes, names)
    if parents.problems:
        return parents.problems
    if described := cycles(nodes, parents.places):
        return tuple(ListProblem(at, text) for at, text in described.items())
    problems = _level_problems(nodes, parents.places, names)
    return tuple(problems or _repeated(nodes, parents.places, names))


def _level_problems(
    nodes: Sequence[Node], parents: Sequence[int], names: Sequence[str]
) -> list[ListProblem]:
    named = [at for at, node in enumerate(nodes) if node.level]
    if not named:
        depth = max(depths(parents), default=0)
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
    groups = set(parents)
    problems = [
        ListProblem(at, f"The code {node.code!r} has a parent or children but no level.")
        for at, node in enumerate(nodes)
        if not node.level and (node.parent or at in groups)
    ]
    for at in named:
        parent = None if parents[at] == NO_ROW else nodes[parents[at]]
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
    ordered = _ordered_levels(nodes, parents)
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


def _repeated(
    nodes: Sequence[Node], parents: Sequence[int], names: Sequence[str]
) -> list[ListProblem]:
    """Rows that would show one code twice at one level: what has no parts stands for itself."""
    grown = _grown(nodes, parents, names, "level")
    problems: dict[int, ListProblem] = {}
    shown_at = [(grown.titles[0] if grown.titles else "", grown.leaves)]
    shown_at += list(zip(grown.titles[1:], grown.shown, strict=True))
    for title, rows in shown_at:
        first: dict[str, int] = {}
        for at in dict.fromkeys(rows):
            other = first.setdefault(nodes[at].code, at)
            if other != at:
                alone, twin = (at, other) if nodes[at].level != title else (other, at)
                problems.setdefault(
                    alone,
                    ListProblem(
                        alone,
                        f"The code {nodes[at].code!r} would stand twice at the level"
                        f" {title!r}: {_called(nodes[alone])} has nothing below it and stands for"
                        f" itself there, beside {_called(nodes[twin])}. Give it another code, or a"
                        " row of its own at every level below it.",
                    ),
                )
    return list(problems.values())


def _called(node: Node) -> str:
    return f"the {node.level} {node.code!r}" if node.level else f"the code {node.code!r}"


def _ordered_levels(nodes: Sequence[Node], parents: Sequence[int]) -> list[str] | None:
    """The level names of a list, finest first; ``None`` if they contradict each other."""
    names = list(dict.fromkeys(node.level for node in nodes if node.level))
    coarser: dict[str, set[str]] = {name: set() for name in names}
    deepest = dict.fromkeys(names, 0)
    for node, parent, depth in zip(nodes, parents, depths(parents), strict=True):
        if parent != NO_ROW:
            coarser[node.level].add(nodes[parent].level)
        if node.level:
            deepest[node.level] = max(deepest[node.level], depth)
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
    grown = _grown(nodes, row_parents(nodes, names).places, names, prefix)
    codes = [Code(node.code, node.label) for node in nodes]
    for at in grown.leaves:
        codes[at] = replace(codes[at], kind=kinds.get(nodes[at].code, CodeKind.VALID))
    order = sorted(range(len(grown.leaves)), key=lambda at: _kind_order(codes[grown.leaves[at]]))
    leaves = tuple(codes[grown.leaves[at]] for at in order)
    levels = [
        _level(title, [shown[at] for at in order], codes, leaves)
        for title, shown in zip(grown.titles[1:], grown.shown, strict=True)
    ]
    return Tree(leaves, tuple(levels), grown.titles[0] if grown.titles else "")


@dataclass(frozen=True, slots=True)
class _GrownRows:
    """A tree by the places of its rows.

    Attributes:
        leaves: The rows that are nobody's parent.
        titles: The names of the levels, that of the leaves first.
        shown: For each level above the leaves, the row as which each leaf is shown.
    """

    leaves: tuple[int, ...]
    titles: tuple[str, ...]
    shown: tuple[tuple[int, ...], ...]


def _grown(
    nodes: Sequence[Node], parents: Sequence[int], names: Sequence[str], prefix: str
) -> _GrownRows:
    groups = set(parents)
    leaves = tuple(at for at in range(len(nodes)) if at not in groups)
    heights, titles = _heights(nodes, parents, names, prefix)
    chains = []
    for leaf in leaves:
        chain = [leaf]
        while (parent := parents[chain[-1]]) != NO_ROW:
            chain.append(parent)
        chains.append(chain)
    # The last row on the way up that is not above a level; the leaf if it is above itself.
    shown = [
        tuple(([at for at in chain if heights[at] <= height] or chain[:1])[-1] for chain in chains)
        for height in range(1, len(titles))
    ]
    return _GrownRows(leaves, tuple(titles), tuple(shown))


def _heights(
    nodes: Sequence[Node], parents: Sequence[int], names: Sequence[str], prefix: str
) -> tuple[list[int], list[str]]:
    """How far above the leaves each row stands, and what the levels are called."""
    if any(node.level for node in nodes):
        ordered = _ordered_levels(nodes, parents) or []
        rank = {name: height for height, name in enumerate(ordered)}
        top = len(ordered)
        return [rank.get(node.level, top) for node in nodes], ordered
    depth = depths(parents)
    deepest = max(depth, default=0)
    titles = list(names) or [f"{prefix}_{number}" for number in range(1, deepest + 1)]
    return [deepest - above for above in depth], ["", *titles]


def _level(name: str, shown: Sequence[int], codes: Sequence[Code], leaves: Sequence[Code]) -> Level:
    """The level at which each leaf is shown as the code of the given row."""
    kinds_in: dict[int, set[CodeKind]] = {}
    for row, leaf in zip(shown, leaves, strict=True):
        kinds_in.setdefault(row, set()).add(leaf.kind)
    of_level = {
        row: replace(codes[row], kind=_kind_of_group(kinds_in[row])) for row in sorted(kinds_in)
    }
    ordered = sorted(of_level, key=lambda row: _kind_order(of_level[row]))
    at = {row: position for position, row in enumerate(ordered)}
    return Level(name, tuple(of_level[row] for row in ordered), tuple(at[row] for row in shown))


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
