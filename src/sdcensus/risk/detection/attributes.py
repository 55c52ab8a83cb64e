"""Attribute disclosure: everyone of a group has the same code along an axis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.constraints import level_steps
from sdcensus.model.cube.layout import mixed_radix, positions_of
from sdcensus.model.cube.parts import known_axes
from sdcensus.model.schema.variable import CodeKind, Role
from sdcensus.model.spec.axis import Axis, Block
from sdcensus.model.spec.headings import code_label, variable_heading
from sdcensus.model.spec.leaf_groups import leaf_blocks
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import said
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind, Findings
from sdcensus.risk.detection.held_cells import HeldCells
from sdcensus.risk.detection.wording import (
    PERCEIVED,
    PERCEIVED_SCOPE,
    TRUE_SCOPE,
    GroupWords,
    group_of,
    quoted,
    sentence_text,
)

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]
_LineOf = Callable[[Numbers], tuple[Numbers, Int64]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Lines:
    """Members of lines: cells above 0, each with what stands beside it on its line.

    Attributes:
        cells: The cell of each member.
        values: What it holds.
        size: How many units its line has.
        others: How many of them stand in other cells of the line; -1 where that is not to be seen.
        parents: The position of the code that holds the line; -1 for the whole axis.
        axis: The axis along which the lines run.
    """

    cells: Numbers
    values: Int64
    size: Int64
    others: Int64
    parents: Int64
    axis: int

    def where(self, told: Mask) -> _Lines:
        """Those members that may be told."""
        return _Lines(
            self.cells[told],
            self.values[told],
            self.size[told],
            self.others[told],
            self.parents[told],
            self.axis,
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AttributeWording:
    """Sentences about groups of which everyone, or all but a few, have the same code."""

    spec: TableSpec
    cells: Numbers
    sizes: Int64
    others: Int64
    parents: Int64
    axes: Int64
    published: bool

    def sentence(self, at: int, language: str | None) -> str:
        """The group, and what is told of it."""
        axis = self.spec.axes[int(self.axes[at])]
        own = positions_of(self.spec.shape, int(self.cells[at]))
        positions: list[int | None] = list(own)
        parent = int(self.parents[at])
        positions[int(self.axes[at])] = None if parent < 0 else parent
        group = group_of(self.spec, positions, language)
        learned = _told(axis, own[int(self.axes[at])], language)
        size, others = int(self.sizes[at]), int(self.others[at])
        text = _learned(group, size, others, learned, axis.variable.role is Role.GEOGRAPHY)
        lead = PERCEIVED.show(language) if self.published else ""
        return f"{lead}{sentence_text(text)}"


def _told(axis: Axis, position: int, language: str | None) -> str:
    label = quoted(code_label(axis, position, language), language)
    if axis.codes[position].kind is not CodeKind.VALID:
        label = said("findings.no_value_label", language, label=label)
    if axis.variable.role is Role.GEOGRAPHY:
        return label
    return f"{variable_heading(axis.variable, language)} {label}"


def _learned(group: GroupWords, size: int, others: int, told: str, area: bool) -> str:
    """What is told of a group, or by some of its members of the rest."""
    have = size - others
    one = "is_in" if area else "has"
    verb = said(f"findings.{one if have == 1 else 'are_in' if area else 'have'}", group.language)
    if size == 1:
        return f"{group.there_are(1)}, {group.word('that')} {verb} {told}"
    if others == 0:
        every = group.word("both" if size == 2 else "all", number=group.number(size))
        return group.clause(every, verb, told)
    key = "one_of" if have == 1 else "some_of"
    members = group.word(key, have=group.number(have), number=group.number(size))
    whom = "one" if have == 1 else "them"
    key = f"other_of_{whom}" if others == 1 else f"others_of_{whom}"
    rest = group.word(key, others=group.number(others))
    return f"{group.clause(members, verb, told)}; {rest}"


def attributes(
    cells: HeldCells,
    *,
    told: list[int],
    known: list[int],
    coalition: int = 0,
    structural: Mask | None = None,
) -> tuple[Findings, ...]:
    """What lines with one cell above 0 tell of a unit, of a group, and to members of a group.

    Args:
        cells: The cells of the table.
        told: The axes along which something is told.
        known: The axes that say who belongs to a group; the others stand at their totals.
        coalition: How many members of a group may put together what they know.
        structural: Cells that cannot hold a unit: what must be so is not told by the table.
    """
    parts = [
        _kept(lines, cells, coalition, structural)
        for at in told
        for lines in _lines_along(cells, at, [one for one in known if one != at])
    ]
    kept = _joined(parts)
    missing = _missing(cells, kept)
    whole = kept.others == 0
    kinds = [
        (FindingKind.INDIVIDUAL_ATTRIBUTE, whole & (kept.size == 1) & ~missing),
        (FindingKind.GROUP_ATTRIBUTE, whole & (kept.size > 1) & ~missing),
    ]
    if coalition:
        kinds.append((FindingKind.COALITION, ~whole & ~missing))
    kinds.append((FindingKind.NO_VALUE, missing))
    return tuple(_findings(cells, kind, kept, mask) for kind, mask in kinds)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Kept:
    """Members of lines of any axes that tell something."""

    cells: Numbers
    size: Int64
    others: Int64
    parents: Int64
    axes: Int64


def _joined(parts: list[_Kept]) -> _Kept:
    empty = np.zeros(0, dtype=np.int64)
    parts = [_Kept(empty.astype(np.uint64), empty, empty, empty, empty), *parts]
    return _Kept(
        np.concatenate([part.cells for part in parts]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.others for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.axes for part in parts]),
    )


def _kept(lines: _Lines, cells: HeldCells, coalition: int, structural: Mask | None) -> _Kept:
    whole = lines.others == 0
    some = (lines.others > 0) & (lines.others <= coalition) & (lines.size > 1)
    chosen = np.flatnonzero(whole | some)
    if structural is not None and chosen.size:
        chosen = chosen[_open_cells(lines, chosen, cells, structural) > 1]
    axes = np.full(chosen.size, lines.axis, dtype=np.int64)
    return _Kept(
        lines.cells[chosen], lines.size[chosen], lines.others[chosen], lines.parents[chosen], axes
    )


def _open_cells(lines: _Lines, chosen: Int64, cells: HeldCells, structural: Mask) -> Int64:
    """How many cells of the line of each chosen member can hold a unit."""
    axis = cells.spec.axes[lines.axis]
    weight = mixed_radix(cells.spec.shape)[lines.axis]
    position = cells.position(lines.axis, lines.cells[chosen])
    first = lines.cells[chosen].astype(np.int64) - position * weight
    closed = structural.reshape(-1)
    valid = _is_value(axis)
    found = np.zeros(chosen.size, dtype=np.int64)
    for block in axis.blocks:
        here = np.flatnonzero((position >= block.start) & (position < block.start + block.size))
        parents = lines.parents[chosen[here]]
        for parent in np.unique(parents):
            rows = here[parents == parent]
            for child in _children(axis, block, int(parent)):
                counts = ~closed[first[rows] + child * weight]
                found[rows] += counts & (valid[child] | ~valid[position[rows]])
    return found


def _children(axis: Axis, fine: Block, parent: int) -> Int64:
    """The positions of a level below one code; all of them if there is none."""
    if parent < 0:
        return fine.start + np.arange(fine.size, dtype=np.int64)
    coarse = next(block for block in reversed(axis.blocks) if block.start <= parent)
    return fine.start + np.unique(fine.group[coarse.group == parent - coarse.start])


def _lines_along(cells: HeldCells, at: int, known: list[int]) -> Iterator[_Lines]:
    """Every line along an axis that holds a unit and where units could stand in two cells."""
    spec = cells.spec
    axis = spec.axes[at]
    others = [one for one in range(len(spec.axes)) if one != at and one not in known]
    seen = cells.at_totals(others)
    leaves = {block.start: block.leaves for block in leaf_blocks(spec, axis.variable)}
    for fine, coarse in _levels(axis):
        parent = np.zeros(fine.size, dtype=np.int64)
        if coarse is not None:
            parent[fine.group] = coarse.group
        chosen = _choices(axis, fine, leaves[fine.start] > 0, parent)
        position = cells.position(at) - fine.start
        members = np.flatnonzero(seen & (position >= 0) & (position < fine.size))
        # Every cell of a line is counted, also one that by itself tells nothing.
        told = chosen[position[members]] > 1
        yield _lines(cells, at, fine, coarse, parent, members).where(told)


def _choices(axis: Axis, fine: Block, possible: Mask, parent: Int64) -> Int64:
    """For each code of a level, among how many a unit of its line could be, itself included.

    That a value was stated at all tells little: of a value only other values are alternatives.
    """
    valid = _is_value(axis)[fine.start : fine.start + fine.size]
    size = int(parent.max(initial=0)) + 1
    every = np.bincount(parent[possible], minlength=size)
    values = np.bincount(parent[possible & valid], minlength=size)
    return np.where(valid, values[parent], every[parent]).astype(np.int64)


def _is_value(axis: Axis) -> Mask:
    return np.array([code.kind is CodeKind.VALID for code in axis.codes], dtype=bool)


def _levels(axis: Axis) -> Iterator[tuple[Block, Block | None]]:
    """Levels of an axis with the ones directly above; the topmost alone without a total."""
    below: set[int] = set()
    for step in level_steps(axis.blocks):
        below.add(step.fine.start)
        yield step.fine, step.coarse
    for block in axis.blocks:
        if block.start not in below and block.size > 1:
            yield block, None


def _lines(
    cells: HeldCells,
    at: int,
    fine: Block,
    coarse: Block | None,
    parent: Int64,
    members: npt.NDArray[np.intp],
) -> _Lines:
    weight = mixed_radix(cells.spec.shape)[at]
    # Without a code above, the first code stands for the whole line.
    start = fine.start if coarse is None else coarse.start

    def line_of(numbers: Numbers) -> tuple[Numbers, Int64]:
        position = cells.position(at, numbers)
        above = start + parent[position - fine.start]
        moved = numbers.astype(np.uint64) - position.astype(np.uint64) * np.uint64(weight)
        return moved + above.astype(np.uint64) * np.uint64(weight), above

    numbers, values = cells.numbers[members], cells.values[members]
    line, above = line_of(numbers)
    lines, member_of = np.unique(line, return_inverse=True)
    sums = np.zeros(lines.size, dtype=np.int64)
    np.add.at(sums, member_of, values)
    size, others = sums, sums[member_of] - values
    if cells.published:
        unseen = _unseen(cells, at, fine, line_of, lines)
        margin = np.zeros(lines.size, dtype=np.int64)
        if coarse is not None:
            margin = np.where(np.isin(lines, cells.hidden), 0, cells.at(lines))
        size = np.where(margin > 0, margin, sums)
        # Of a line with withheld cells the total alone can tell how much stands beside a cell.
        rest = np.where(margin[member_of] > 0, np.maximum(margin[member_of] - values, 0), -1)
        others = np.where(unseen[member_of], rest, others)
    size = np.where(others > 0, values + others, size[member_of])
    parents = above if coarse is not None else np.full(numbers.size, -1, dtype=np.int64)
    return _Lines(numbers, values, size, others, parents, at)


def _unseen(cells: HeldCells, at: int, fine: Block, line_of: _LineOf, lines: Numbers) -> Mask:
    """Which lines have a cell that is withheld."""
    position = cells.position(at, cells.hidden) - fine.start
    inside = cells.hidden[(position >= 0) & (position < fine.size)]
    hidden, _ = line_of(inside)
    return np.isin(lines, hidden)


def _missing(cells: HeldCells, made: _Kept) -> Mask:
    """Whether the code that is told says that there is no value."""
    missing = np.zeros(made.cells.size, dtype=bool)
    for at, axis in enumerate(cells.spec.axes):
        here = made.axes == at
        missing[here] = ~_is_value(axis)[cells.position(at, made.cells[here])]
    return missing


def _findings(cells: HeldCells, kind: FindingKind, made: _Kept, mask: Mask) -> Findings:
    chosen = np.flatnonzero(mask)
    depth = known_axes(cells.spec, made.cells[chosen])
    order = chosen[np.lexsort((made.axes[chosen], made.cells[chosen], depth))]
    numbers, size, axes = made.cells[order], made.size[order], made.axes[order]
    wording = AttributeWording(
        cells.spec, numbers, size, made.others[order], made.parents[order], axes, cells.published
    )
    made_of, scope = (
        (Findings, PERCEIVED_SCOPE) if cells.published else (ConfidentialFindings, TRUE_SCOPE)
    )
    return made_of(kind, cells.spec, numbers, size, axes, scope, wording)
