"""From a question to what is counted for it, and how its cells are put together.

A question becomes three things: the table that the policy judges (axes and condition as they were
asked for), the table that is counted (declared codes only, without any condition), and for every
code of the answer the counted codes whose published values it is the sum of.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import ConditionError, QuestionError, SpecError, UnknownName, unknown
from sdcensus.model.axis import TOTAL, Axis, AxisCode, make_axis
from sdcensus.model.delivery import NO_PARENT, parents_of
from sdcensus.model.entity import Entity
from sdcensus.model.policy import Policy
from sdcensus.model.policy_levels import uses_of
from sdcensus.model.question import OwnGroup, Question
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.universe import Universe, restrict
from sdcensus.model.variable import Level, Variable
from sdcensus.session.answering.covers import (
    WHOLE,
    Counted,
    Covering,
    Mask,
    Part,
    Term,
    counted,
    needed_levels,
    terms_of,
)
from sdcensus.session.answering.words import IN_PART, OWN_GROUP, filled

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
class AnswerAxis:
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
    counted: Counted

    @property
    def total(self) -> int | None:
        """The place of the total, if it is shown."""
        return len(self.codes) - 1 if self.codes and self.codes[-1].level == TOTAL else None


@dataclass(frozen=True, slots=True, eq=False)
class FilterAxis:
    """A variable of the condition that is no axis of the answer: one sum for each term."""

    variable: Variable
    parts: tuple[tuple[Part, ...], ...]
    counted: Counted


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Compiled:
    """A question that fits the schema.

    Attributes:
        question: The question.
        spec: The table that the policy judges.
        watched: The same, narrowed to the codes that are shown.
        axes, filters: What the answer shows, and what its condition needs besides.
        counted: The table that is counted: no condition, declared codes only.
        terms: How many products of sets of codes the condition is.
    """

    question: Question
    spec: TableSpec
    watched: TableSpec
    axes: tuple[AnswerAxis, ...]
    filters: tuple[FilterAxis, ...]
    counted: TableSpec
    terms: int

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each axis of the answer shows."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells the answer has."""
        return math.prod(self.shape)

    @property
    def dimensions(self) -> int:
        """How many variables it has, those of the condition included."""
        return len(uses_of(self.spec))

    @property
    def declared(self) -> bool:
        """Whether the answer is a table of declared codes, as a plan would publish it."""
        one_part = all(len(parts) == 1 for one in self.filters for parts in one.parts)
        return self.terms == 1 and one_part and all(axis.whole for axis in self.axes)


def compile_question(question: Question, policy: Policy) -> Compiled:
    """Check a question against the schema and find out what it needs.

    Raises:
        QuestionError: It names something that does not exist or cannot be combined.
    """
    asked = _spec(question, policy)
    terms, ways = terms_of(asked.universe), _Ways(policy)
    codes, groups = dict(question.codes), dict(question.groups)
    names = [axis.variable.name for axis in asked.axes]
    for part, members in (("codes", codes), ("groups", groups)):
        for name in members:
            if name not in names:
                missing = UnknownName("axis", name, known=names)
                raise QuestionError(str(missing), place=f"{part}.{name}") from missing
    for name in codes:
        if name in groups:
            raise QuestionError(
                "Name codes or groups of a variable, not both.", place=f"codes.{name}"
            )
    axes = tuple(
        _answer_axis(axis, terms, ways, codes.get(name), groups.get(name))
        for axis, name in zip(asked.axes, names, strict=True)
    )
    filters = tuple(
        _filter_axis(one, terms, ways) for one in asked.universe.variables if one.name not in names
    )
    spec = asked.with_axes(axis.judged for axis in axes)
    return Compiled(
        question=question,
        spec=spec,
        watched=_watched(spec, axes, codes),
        axes=axes,
        filters=filters,
        counted=TableSpec(
            of=asked.of,
            axes=(
                *(one.counted.axis for one in axes),
                *(one.counted.axis for one in filters),
            ),
        ),
        terms=len(terms),
    )


def compile_total(spec: TableSpec, policy: Policy) -> Compiled:
    """What is counted for the number of units that the condition of a table chooses.

    It is a sum of published values like every answer: a rule that read a count of the condition
    itself would tell, by what it refuses, about a number that is published nowhere.
    """
    terms, ways = terms_of(spec.universe), _Ways(policy)
    filters = tuple(_filter_axis(one, terms, ways) for one in spec.universe.variables)
    total = spec.with_axes(())
    return Compiled(
        question=Question(of=spec.of.plural),
        spec=total,
        watched=total,
        axes=(),
        filters=filters,
        counted=TableSpec(of=spec.of, axes=tuple(one.counted.axis for one in filters)),
        terms=len(terms),
    )


def _spec(question: Question, policy: Policy) -> TableSpec:
    """The table that was asked for; mistakes say which part of the question they are in."""
    schema = policy.schema
    try:
        entity = Entity.parse(question.of)
        schema.entity(entity)
    except SpecError as error:
        raise QuestionError(str(error), place="of") from None
    for at, text in enumerate(question.by):
        try:
            TableSpec.build(schema, [text], of=entity)
        except SpecError as error:
            raise QuestionError(str(error), place=f"by[{at}]") from None
    try:
        TableSpec.build(schema, [], of=entity, universe=question.where or None)
    except ConditionError as error:
        raise QuestionError(str(error), place="where", at=error.at) from None
    except SpecError as error:
        raise QuestionError(str(error), place="where") from None
    try:
        return TableSpec.build(schema, question.by, of=entity, universe=question.where or None)
    except SpecError as error:
        raise QuestionError(str(error), place="by") from None


class _Ways:
    """How sets of leaves are put together from declared codes, for one question."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._known: dict[str, tuple[Covering, ...]] = {}

    def covered(self, variable: Variable, mask: Mask) -> tuple[Part, ...]:
        """Declared codes for a set of leaves: allowed ones, else any; the policy then says no."""
        if not mask.any():
            return ()
        known = self._known.get(variable.name)
        if known is None:
            allowed = Covering(self._policy.allowed_levels(variable))
            known = self._known[variable.name] = (allowed, Covering(tuple(variable.levels())))
        for one in known:
            found = one.cover(mask)
            if found is not None:
                return found
        raise QuestionError(  # pragma: no cover
            f"{variable.name!r} has no codes for what is asked."
        )


def _filter_axis(variable: Variable, terms: Sequence[Term], ways: _Ways) -> FilterAxis:
    parts = []
    for term in terms:
        mask = term.get(variable.name)
        parts.append((WHOLE,) if mask is None else ways.covered(variable, mask))
    return FilterAxis(variable, tuple(parts), counted(variable, _all(parts)))


def _answer_axis(
    axis: Axis,
    terms: Sequence[Term],
    ways: _Ways,
    codes: tuple[str, ...] | None,
    groups: tuple[OwnGroup, ...] | None,
) -> AnswerAxis:
    variable = axis.variable
    free = all(variable.name not in term for term in terms)
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
            kept = [at for at, one in enumerate(shown) if any(one.parts)]
            places, shown = [places[at] for at in kept], [shown[at] for at in kept]
        parents = _parents(axis, places)
    parts = [parts for one in shown for parts in one.parts]
    levels = needed_levels(variable, _all(parts))
    if groups is None and codes is None and free:
        levels = axis.levels
    whole = groups is None and codes is None and free
    return AnswerAxis(
        asked=axis,
        judged=make_axis(variable, levels or axis.levels, total=axis.total),
        codes=tuple(shown),
        parents=tuple(parents),
        whole=whole,
        counted=_counted_whole(axis) if whole else counted(variable, _all(parts)),
    )


def _all(parts: Sequence[tuple[Part, ...]]) -> set[Part]:
    return {one for some in parts for one in some}


def _counted_whole(axis: Axis) -> Counted:
    places = {
        Part(block.level, at): block.start + at for block in axis.blocks for at in range(block.size)
    }
    return Counted(axis, places)


def _declared(
    axis: Axis, places: Sequence[int], terms: Sequence[Term], ways: _Ways
) -> list[ShownCode]:
    """Codes of an axis as they are declared, cut to what the condition chooses of them."""
    variable = axis.variable
    masks = [term.get(variable.name) for term in terms]
    made: list[ShownCode] = []
    starts = {block.level: block.start for block in axis.blocks}
    groups = {level.name: level.group_array for level in axis.levels}
    inside = [_inside(axis, mask) for mask in masks]
    for place in places:
        one = axis.codes[place]
        own = Part(one.level, place - starts[one.level])
        parts: list[tuple[Part, ...]] = []
        for mask, states in zip(masks, inside, strict=True):
            if mask is None or states[place] == 2:
                parts.append((own,))
            elif states[place] == 0:
                parts.append(())
            elif one.level == TOTAL:
                parts.append(ways.covered(variable, mask))
            else:
                leaves = (groups[one.level] == own.at) & mask
                parts.append(ways.covered(variable, leaves))
        # The total of a condition is what the condition is about: it is not cut.
        cut = one.level != TOTAL and any(part != (own,) for part in parts if part)
        label = _starred(one) if cut else one.label
        made.append(ShownCode(one.code, label, one.level, tuple(parts), cut=cut))
    return made


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
    for at, one in enumerate(axis.codes):
        by_code.setdefault(one.code, []).append(at)
        by_code.setdefault(f"{one.level}:{one.code}", []).append(at)
    found = {len(axis.codes) - 1} if axis.total else set()
    for at, code in enumerate(codes):
        if code not in by_code:
            known = [one.code for one in axis.codes]
            raise QuestionError(
                unknown(f"code of {axis.name}", code, known),
                place=f"codes.{axis.variable.name}[{at}]",
            )
        found.update(by_code[code])
    return sorted(found)


def _parents(axis: Axis, places: Sequence[int]) -> list[int]:
    """For each shown position the place of the nearest one above it that is shown."""
    above = parents_of(axis)
    at = {place: number for number, place in enumerate(places)}
    made = []
    for place in places:
        parent = above[place]
        while parent != NO_PARENT and parent not in at:
            parent = above[parent]
        made.append(at.get(parent, NO_PARENT))
    return made


def _grouped(
    axis: Axis, groups: tuple[OwnGroup, ...], terms: Sequence[Term], ways: _Ways
) -> Iterator[ShownCode]:
    """Groups of somebody's own, each as a sum of declared codes."""
    variable = axis.variable
    if len(groups) * len(terms) > MOST_SUMS:
        raise QuestionError(
            "So many groups are too many for a condition that combines so many codes. Ask for fewer"
            " groups, or for a simpler condition.",
            place=f"groups.{variable.name}",
        )
    codes = _codes_of(axis)
    arrays = {level.name: level.group_array for level in variable.levels()}
    for number, group in enumerate(groups):
        place = f"groups.{variable.name}[{number}]"
        mask = np.zeros(len(variable.codes), dtype=bool)
        for at, code in enumerate(group.codes):
            here = f"{place}.codes[{at}]"
            if code not in codes:
                raise QuestionError(unknown(f"code of {variable.name}", code, codes), place=here)
            level, position = codes[code]
            leaves = arrays[level.name] == position
            if (mask & leaves).any():
                raise QuestionError(
                    f"{code!r} is in the group already, or in another of its codes.", place=here
                )
            mask |= leaves
        if not mask.any():
            raise QuestionError("The codes of the group stand for nothing.", place=place)
        parts = [
            ways.covered(variable, mask & term.get(variable.name, np.ones_like(mask)))
            for term in terms
        ]
        label = filled(OWN_GROUP, label=group.label)
        yield ShownCode(f"{OWN}{number + 1}", label, OWN, tuple(parts), own=True)


def _codes_of(axis: Axis) -> Mapping[str, tuple[Level, int]]:
    """Codes by what users write: those of the axis first, then those of other levels."""
    variable = axis.variable
    shown = [level.name for level in axis.levels]
    levels = sorted(variable.levels(), key=lambda one: one.name not in shown)
    found: dict[str, tuple[Level, int]] = {}
    for level in levels:
        for at, code in enumerate(level.codes):
            found.setdefault(code.code, (level, at))
            found.setdefault(f"{level.name}:{code.code}", (level, at))
    return found


def _watched(
    spec: TableSpec, axes: Sequence[AnswerAxis], codes: Mapping[str, tuple[str, ...]]
) -> TableSpec:
    """The table with its condition narrowed to the codes that are shown."""
    universe: Universe = spec.universe
    for axis in axes:
        variable = axis.asked.variable
        if variable.name not in codes:
            continue
        mask = np.zeros(len(variable.codes), dtype=bool)
        for one in axis.codes:
            if one.level == TOTAL:
                continue
            for part in _all(list(one.parts)):
                if part == WHOLE:
                    mask[:] = True
                else:
                    mask |= variable.level(part.level).group_array == part.at
        universe = restrict(universe, variable, mask)
    if universe is spec.universe:
        return spec
    return TableSpec(of=spec.of, axes=spec.axes, universe=universe)


__all__ = [
    "AnswerAxis",
    "Compiled",
    "FilterAxis",
    "ShownCode",
    "compile_question",
    "compile_total",
]
