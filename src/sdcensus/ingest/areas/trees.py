"""The areas of a country with their levels, as rows of a code list."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True)
class AreaTree:
    """Areas, each with the one that holds it.

    Attributes:
        levels: The names of its levels, the finest first.
        nodes: The areas; parents are written as ``level:code``.
    """

    levels: tuple[str, ...]
    nodes: tuple[Node, ...]

    def codes(self, level: str) -> dict[str, Text]:
        """The codes of a level with their labels."""
        return {node.code: node.label for node in self.nodes if node.level == level}

    def above(self, level: str) -> AreaTree:
        """The tree whose finest areas are those of a level."""
        levels = self.levels[self.levels.index(level) :]
        return AreaTree(levels, tuple(node for node in self.nodes if node.level in levels))

    def ancestors(self) -> dict[str, dict[str, str]]:
        """For each of the finest areas the codes of those that hold it, by their levels."""
        by_place = {(node.level, node.code): node for node in self.nodes}
        holders: dict[str, dict[str, str]] = {}
        for code in self.codes(self.levels[0]):
            node: Node | None = by_place[self.levels[0], code]
            holders[code] = {}
            while node is not None and node.parent:
                level, _, parent = node.parent.partition(":")
                holders[code][level] = parent
                node = by_place.get((level, parent))
        return holders

    def written_as(self, codes: Collection[str]) -> AreaTree:
        """The tree with its finest codes as a file writes them: ``01101`` for ``1101``."""
        forms = {code.lstrip("0"): code for code in codes if code.isdecimal()}
        own = self.codes(self.levels[0])
        if set(codes) <= own.keys() or not forms.keys() <= {code.lstrip("0") for code in own}:
            return self
        widths = {len(code) for code in forms.values()}
        width = max(widths) if len(widths) == 1 else 0
        nodes = []
        for node in self.nodes:
            plain = node.code.lstrip("0")
            if node.level == self.levels[0] and plain.isdecimal():
                node = replace(node, code=forms.get(plain, plain.zfill(width)))
            nodes.append(node)
        return AreaTree(self.levels, tuple(nodes))

    def with_others(self, others: Mapping[str, str]) -> AreaTree:
        """The tree with codes that lie in nothing, such as those of other countries."""
        added = [Node(code, Text.of(label), "", self.levels[0]) for code, label in others.items()]
        return AreaTree(self.levels, (*self.nodes, *added))


def tree_of_rows(levels: Sequence[str], rows: Collection[tuple[str, ...]]) -> AreaTree | None:
    """The tree of areas whose codes at every level stand in one row, the finest level first.

    ``None`` if an area lies in two others.
    """
    nodes: dict[tuple[str, str], Node] = {}
    for codes in sorted(rows):
        for at in reversed(range(len(levels))):
            above = at + 1 < len(levels)
            parent = f"{levels[at + 1]}:{codes[at + 1]}" if above else ""
            node = Node(codes[at], Text(), parent, levels[at])
            if nodes.setdefault((levels[at], codes[at]), node) != node:
                return None
    ordered = sorted(nodes.values(), key=lambda node: _order(node, levels))
    return AreaTree(tuple(levels), tuple(ordered))


def with_labels(tree: AreaTree, labels: Mapping[str, Mapping[str, str]], language: str) -> AreaTree:
    """The tree with labels by level and code, and with labelled codes that did not occur.

    An area that did not occur lies where its code says, if codes of all others begin with that of
    the area above them. One that holds nothing, or stands high up with the code of another level,
    is left out: it would be an area of its own at levels where it is none.
    """
    known = {(node.level, node.code): node for node in tree.nodes}
    occurred = set(known)
    for at in reversed(range(len(tree.levels))):
        level = tree.levels[at]
        for code, label in labels.get(level, {}).items():
            node = known.get((level, code))
            if node is None:
                above = tree.levels[at + 1] if at + 1 < len(tree.levels) else ""
                node = Node(code, Text(), _likely_parent(tree, level, above, code, known), level)
            known[level, code] = replace(node, label=Text.of(label or code, language=language))
    for at, level in enumerate(tree.levels):
        holding = {node.parent for node in known.values()}
        for place, node in list(known.items()):
            if node.level != level or place in occurred:
                continue
            repeated = any((other, node.code) in known for other in tree.levels[at + 1 :])
            empty = at > 0 and f"{level}:{node.code}" not in holding
            if empty or (not node.parent and repeated):
                del known[place]
    ordered = sorted(known.values(), key=lambda node: _order(node, tree.levels))
    return AreaTree(tree.levels, tuple(ordered))


def _order(node: Node, levels: Sequence[str]) -> tuple[int, int, str]:
    """Coarse levels first; numbers by their size."""
    return -levels.index(node.level), len(node.code) if node.code.isdecimal() else 0, node.code


def _likely_parent(
    tree: AreaTree, level: str, above: str, code: str, known: Mapping[tuple[str, str], Node]
) -> str:
    lengths = set()
    for node in tree.nodes:
        if node.level == level and node.parent:
            parent = node.parent.partition(":")[2]
            lengths.add(len(node.code) - len(parent) if node.code.startswith(parent) else 0)
    if len(lengths) != 1 or not above or 0 in lengths:
        return ""
    parent = code[: -lengths.pop()]
    return f"{above}:{parent}" if (above, parent) in known else ""


def _parent(tree: AreaTree, node: Node) -> str:
    """The code above, with its level only where readers would not look for it first."""
    level, _, code = node.parent.partition(":")
    next_above = tree.levels[tree.levels.index(node.level) + 1 :][:1]
    return code if (level,) == tuple(next_above) else node.parent


def code_table(tree: AreaTree, languages: Sequence[str]) -> str:
    """The tree as the text of a code list; a list of one level needs none of it."""
    stream = io.StringIO(newline="")
    table = csv.writer(stream, lineterminator="\n")
    first, *others = languages
    leveled = len(tree.levels) > 1
    heads = ["code", "label", *(f"label_{language}" for language in others), "parent"]
    table.writerow([*heads, "level"] if leveled else heads)
    for node in tree.nodes:
        labels = [dict(node.label.by_language).get(language, "") for language in others]
        row = [node.code, node.label.show(first) or node.code, *labels, _parent(tree, node)]
        table.writerow([*row, node.level] if leveled else row)
    return stream.getvalue()
