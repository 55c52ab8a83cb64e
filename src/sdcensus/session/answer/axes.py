"""The axes of an answer: what each of its codes is the sum of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.errors import QuestionError, told, unknown
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.delivery import NO_PARENT, parents_of
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.axis import (
    TOTAL,
    Axis,
    AxisCode,
    make_axis,
    several_levels,
    spellings,
)
from sdcensus.model.spec.covers import (
    WHOLE,
    CountedAxis,
    Mask,
    Part,
    Term,
    codes_by_name,
    counted_axis,
    covering,
    needed_levels,
)
from sdcensus.model.spec.question import OwnGroup
from sdcensus.model.text import Text

#: How groups of somebody's own are called, so that nobody takes them for codes of the office. The
#: first characters are ours: what users write never starts a cell of a spreadsheet.
OWN_GROUP = Text.named("answers.own_group")
#: What a total is called beside codes that were chosen: it is not the total of those.
WHOLE_COUNTRY = Text.named("answers.whole_country")
ALL_AREAS = Text.named("answers.all_areas")
ALL_CATEGORIES = Text.named("answers.all_categories")
#: A code of which the condition chooses a part only.
IN_PART = "{label} *"


#: Groups of somebody's own, times the products of sets of codes that a condition falls into.
MOST_SUMS = 2_000
#: How codes of somebody's own groups start in files.
OWN = "own_"


@dataclass(frozen=True, slots=True)
class ShownCode:
    """A code of the answer.

    Attributes:
        code, label, level: What it is called.
        parts: For each term of the condition the declared codes that it is the sum of.
        own: Whether it is a group of somebody's own.
        cut: Whether the condition leaves only a part of it.
    """

    code: str
    label: Text
    level: str
    parts: tuple[tuple[Part, ...], ...]
    own: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ShownAxis:
    """An axis of the answer.

    Attributes:
        asked: The axis that was asked for.
        judged: The axis that the policy judges: with every level that its codes are made of.
        codes: What is shown.
        parents: For each code the place of the one above it, or ``NO_PARENT``.
        whole: Whether exactly the codes that were asked for are shown, as they are declared.
        counted: What is counted for it.
    """

    asked: Axis
    judged: Axis
    codes: tuple[ShownCode, ...]
    parents: tuple[int, ...]
    whole: bool
    counted: CountedAxis

    @property
    def total(self) -> int | None:
        """The place of the total, if it is shown."""
        return len(self.codes) - 1 if self.codes and self.codes[-1].level == TOTAL else None


@dataclass(frozen=True, slots=True, eq=False)
class FilterAxis:
    """A variable of the condition that is no axis of the answer: one sum for each term."""

    variable: Variable
    parts: tuple[tuple[Part, ...], ...]
    counted: CountedAxis


class Ways:
    """How sets of leaves are put together from the codes that a policy allows, for one question."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def covered(self, variable: Variable, mask: Mask) -> tuple[Part, ...]:
        """Declared codes for a set of leaves: allowed ones, else any; the policy then says no."""
        if not mask.any():
            return ()
        allowed = covering(variable, self._policy.allowed_levels(variable))
        parts = allowed.cover(mask) or covering(variable).cover(mask)
        assert parts is not None  # the leaves themselves are declared
        return parts


def filter_axis(variable: Variable, terms: Sequence[Term], ways: Ways) -> FilterAxis:
    """A variable of the condition, with what each term chooses of it."""
    parts = []
    for term in terms:
        mask = term.get(variable.name)
        parts.append((WHOLE,) if mask is None else ways.covered(variable, mask))
    return FilterAxis(variable, tuple(parts), counted_axis(variable, all_parts(parts)))


def answer_axis(
    axis: Axis,
    terms: Sequence[Term],
    ways: Ways,
    codes: tuple[str, ...] | None,
    groups: tuple[OwnGroup, ...] | None,
    total_name: Text,
) -> ShownAxis:
    """What an axis shows, and what is counted for it.

    Args:
        axis: The axis that was asked for.
        terms: The condition.
        ways: How sets of leaves are put together.
        codes: The codes that were named, if any were.
        groups: Groups of somebody's own, if there are some.
        total_name: What its total is called where a part of its codes is shown beside it.

    Raises:
        QuestionError: There is no such code, or a group holds nothing or one code twice.
    """
    variable = axis.variable
    free = all(variable.name not in term for term in terms)
    if free and codes is None and groups is None:
        return _whole_axis(axis, len(terms))
    if groups is not None:
        shown = list(_grouped(axis, groups, terms, ways))
        parents = [len(shown) if axis.total else NO_PARENT] * len(shown)
        if axis.total:
            shown += _declared(axis, [len(axis.codes) - 1], terms, ways)
            parents.append(NO_PARENT)
    else:
        places = list(range(len(axis.codes)))
        if codes is not None:
            places = _chosen(axis, codes)
        shown = _declared(axis, places, terms, ways)
        if not free:
            kept = [at for at, code in enumerate(shown) if any(code.parts)]
            places, shown = [places[at] for at in kept], [shown[at] for at in kept]
        parents = _parents(axis, places)
    if free and axis.total:
        shown[-1] = replace(shown[-1], label=total_name)
    parts = [parts for code in shown for parts in code.parts]
    levels = needed_levels(variable, all_parts(parts))
    return ShownAxis(
        asked=axis,
        judged=make_axis(variable, levels or axis.levels, total=axis.total),
        codes=tuple(shown),
        parents=tuple(parents),
        whole=False,
        counted=counted_axis(variable, all_parts(parts)),
    )


def _whole_axis(axis: Axis, terms: int) -> ShownAxis:
    """An axis as it is declared, which no condition cuts; kept, since a grid has 100,000 codes."""
    variable = axis.variable

    def make() -> ShownAxis:
        shown_codes = []
        for block in axis.blocks:
            for at, axis_code in enumerate(axis.codes[block.start : block.start + block.size]):
                parts = ((Part(block.level, at),),) * terms
                shown_codes.append(
                    ShownCode(axis_code.code, axis_code.label, axis_code.level, parts)
                )
        return ShownAxis(
            asked=axis,
            judged=make_axis(variable, axis.levels, total=axis.total),
            codes=tuple(shown_codes),
            parents=tuple(_parents(axis, list(range(len(axis.codes))))),
            whole=True,
            counted=CountedAxis.of(axis),
        )

    levels = tuple(level.name for level in axis.levels)
    return variable.kept(("shown axis", levels, axis.total, terms), make)


def all_parts(parts: Sequence[tuple[Part, ...]]) -> set[Part]:
    """Every declared code of some sums, each once."""
    return {declared for part in parts for declared in part}


def _declared(
    axis: Axis, places: Sequence[int], terms: Sequence[Term], ways: Ways
) -> list[ShownCode]:
    """Codes of an axis as they are declared, cut to what the condition chooses of them."""
    variable = axis.variable
    masks = [term.get(variable.name) for term in terms]
    shown_codes: list[ShownCode] = []
    starts = {block.level: block.start for block in axis.blocks}
    groups = {level.name: level.group_array for level in axis.levels}
    inside = [_inside(axis, mask) for mask in masks]
    for place in places:
        axis_code = axis.codes[place]
        own = Part(axis_code.level, place - starts[axis_code.level])
        parts: list[tuple[Part, ...]] = []
        for mask, states in zip(masks, inside, strict=True):
            if mask is None or states[place] == 2:
                parts.append((own,))
            elif states[place] == 0:
                parts.append(())
            elif axis_code.level == TOTAL:
                parts.append(ways.covered(variable, mask))
            else:
                leaves = (groups[axis_code.level] == own.at) & mask
                parts.append(ways.covered(variable, leaves))
        # The total of a condition is what the condition is about: it is not cut.
        cut = axis_code.level != TOTAL and any(part != (own,) for part in parts if part)
        label = _starred(axis_code) if cut else axis_code.label
        shown_codes.append(ShownCode(axis_code.code, label, axis_code.level, tuple(parts), cut=cut))
    return shown_codes


def _inside(axis: Axis, mask: Mask | None) -> np.ndarray[tuple[int], np.dtype[np.int8]]:
    """For each position of an axis whether the mask holds nothing (0), some (1), all of it (2)."""
    states = np.full(len(axis.codes), 2, dtype=np.int8)
    if mask is None:
        return states
    for block, level in zip(axis.blocks, axis.levels, strict=False):
        group, size = level.group_array, block.size
        held = np.bincount(group[mask], minlength=size)
        there = np.bincount(group, minlength=size)
        state = np.where(held == 0, 0, np.where(held == there, 2, 1))
        states[block.start : block.start + size] = state
    if axis.total:
        states[-1] = 2 if mask.all() else 1
    return states


def _starred(code: AxisCode) -> Text:
    label = code.label or Text.of(code.code)
    return Text.of({key: IN_PART.format(label=text) for key, text in label.by_language})


def _chosen(axis: Axis, codes: tuple[str, ...]) -> list[int]:
    """The positions of the codes that were named, and the total."""
    by_code: dict[str, list[int]] = {}
    for at, axis_code in enumerate(axis.codes):
        by_code.setdefault(axis_code.code, []).append(at)
        for text in spellings(axis_code.code, axis_code.level):
            by_code.setdefault(text, []).append(at)
    positions = {len(axis.codes) - 1} if axis.total else set()
    for at, code in enumerate(codes):
        if code not in by_code:
            known = [code.code for code in axis.codes]
            raise QuestionError(
                unknown("code", code, known, of=axis.name),
                place=f"codes.{axis.variable.name}[{at}]",
            )
        positions.update(by_code[code])
    return sorted(positions)


def _parents(axis: Axis, places: Sequence[int]) -> list[int]:
    """For each shown position the place of the nearest one above it that is shown."""
    above = parents_of(axis)
    at = {place: number for number, place in enumerate(places)}
    parents = []
    for place in places:
        parent = above[place]
        while parent != NO_PARENT and parent not in at:
            parent = above[parent]
        parents.append(at.get(parent, NO_PARENT))
    return parents


def _grouped(
    axis: Axis, groups: tuple[OwnGroup, ...], terms: Sequence[Term], ways: Ways
) -> Iterator[ShownCode]:
    """Groups of somebody's own, each as a sum of declared codes."""
    variable = axis.variable
    if len(groups) * len(terms) > MOST_SUMS:
        raise QuestionError(
            told(
                "question.too-many-sums",
                "So many groups are too many for a condition that combines so many codes. Ask for"
                " fewer groups, or for a simpler condition.",
            ),
            place=f"groups.{variable.name}",
        )
    named = codes_by_name(axis)
    codes = named.codes
    arrays = {level.name: level.group_array for level in variable.levels()}
    for number, group in enumerate(groups):
        place = f"groups.{variable.name}[{number}]"
        mask = np.zeros(len(variable.codes), dtype=bool)
        for at, code in enumerate(group.codes):
            here = f"{place}.codes[{at}]"
            if code in named.unclear:
                raise QuestionError(several_levels(code, named.unclear[code]), place=here)
            if code not in codes:
                raise QuestionError(unknown("code", code, codes, of=variable.name), place=here)
            level, position = codes[code]
            leaves = arrays[level.name] == position
            if (mask & leaves).any():
                raise QuestionError(
                    told(
                        "question.code-twice",
                        "{code!r} is in the group already, or in another of its codes.",
                        code=code,
                    ),
                    place=here,
                )
            mask |= leaves
        if not mask.any():
            raise QuestionError(
                told("question.empty-group", "The codes of the group stand for nothing."),
                place=place,
            )
        parts = [
            ways.covered(variable, mask & term.get(variable.name, np.ones_like(mask)))
            for term in terms
        ]
        label = OWN_GROUP.filled(label=group.label)
        yield ShownCode(f"{OWN}{number + 1}", label, OWN, tuple(parts), own=True)
