"""RECODE: computed categories, each a group of declared codes."""

from __future__ import annotations

import numpy as np

from sdcensus.errors import told
from sdcensus.model.schema.encoding import whole_number
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.predicate import Value
from sdcensus.model.spec.question import LONGEST_CODE, LONGEST_LABEL, MOST_GROUPS, OwnGroup
from sdcensus.model.spec.universe import bounds
from sdcensus.session.commands.conditions import Conditions, axis_name, codes_of
from sdcensus.session.commands.names import (
    Category,
    Mask,
    NamedThing,
    ProgramNames,
    Recoded,
    axis_text,
)
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.syntax import Define, RestCategory, RestKind, Span


def recode(define: Define, conditions: Conditions) -> Recoded:
    """The categories that a statement defines.

    Raises:
        QuestionError: A code is not declared, is cut by a range or stands in two categories.
    """
    return _Recoder(define, conditions).made()


def groups_of(
    names: ProgramNames, recoded: Recoded, *, total: bool
) -> tuple[str, tuple[OwnGroup, ...]]:
    """The axis and the groups of a question that show computed categories."""
    return own_groups(
        names,
        recoded.variable,
        [(category.label, category.leaves) for category in recoded.categories],
        total=total,
    )


def own_groups(
    names: ProgramNames, variable: Variable, wanted: list[tuple[str, Mask]], *, total: bool
) -> tuple[str, tuple[OwnGroup, ...]]:
    """Groups of leaves as groups of few declared codes, and the axis that has these."""
    labelled = [(label, codes_of(variable, leaves)) for label, leaves in wanted]
    used = {level for _, codes in labelled for level in codes}
    levels = [level for level in names.levels(variable) if level.name in used]
    where: dict[str, int] = {}
    for level in levels:
        for code in {each.code for each in level.codes}:
            where[code] = where.get(code, 0) + 1
    groups = tuple(
        OwnGroup(
            label,
            tuple(
                code if where[code] == 1 else f"{level}:{code}"
                for level, members in codes.items()
                for code in members
            ),
        )
        for label, codes in labelled
    )
    return axis_text(variable, levels, total=total), groups


class _Recoder:
    """Goes through the categories of one statement."""

    def __init__(self, define: Define, conditions: Conditions) -> None:
        self.define, self.conditions = define, conditions
        self.source = conditions.names.source
        self.found: NamedThing = conditions.names.find(define.source)
        if self.found.recoded is not None:
            refuse(
                self.source,
                define.source.name.at,
                told(
                    "recode.of-recode",
                    "{name!r} was made by RECODE. Recode the variable itself: {variable}.",
                    name=define.source.name.text,
                    variable=self.found.variable.name,
                ),
            )
        self.variable: Variable = self.found.variable
        self.level: Level = self.found.levels[0]
        self.taken: list[str | None] = [None] * len(self.level.codes)

    def made(self) -> Recoded:
        groups = self.define.groups
        if len(groups) > MOST_GROUPS:
            refuse(
                self.source,
                groups[MOST_GROUPS].at,
                told("recode.too-many", "At most {most} categories.", most=MOST_GROUPS),
            )
        spans = sum(not isinstance(item, Value) for group in groups for item in group.items)
        many = len(self.level.codes) * (1 + spans) + len(self.variable.codes) * len(groups) // 10
        self.conditions.names.look_at(many, self.define.source.at)
        labels = self._labels()
        positions: list[list[int]] = [[] for _ in groups]
        rests: dict[RestKind, tuple[int, RestCategory]] = {}
        for number, group in enumerate(groups):
            for item in group.items:
                if isinstance(item, RestCategory):
                    if item.kind in rests:
                        refuse(
                            self.source,
                            item.at,
                            told("recode.twice", "{word} stands twice.", word=item.kind.value),
                        )
                    rests[item.kind] = (number, item)
                else:
                    positions[number] += self._take(item, labels[number])
        for kind, (number, rest) in sorted(rests.items()):
            positions[number] += self._rest(kind, rest, labels[number])
        held = self.level.group_array
        categories = []
        for number, definition in enumerate(groups):
            leaves = np.isin(held, positions[number])
            if not leaves.any():
                refuse(
                    self.source,
                    definition.at,
                    told(
                        "recode.empty",
                        "The category {label!r} holds no code.",
                        label=labels[number],
                    ),
                )
            categories.append(Category(definition.code.text, labels[number], leaves))
        return Recoded(self.define.target.name.text, self.variable, tuple(categories))

    def _labels(self) -> list[str]:
        """The names of the categories, each once."""
        labels: list[str] = []
        codes: set[str] = set()
        for group in self.define.groups:
            if len(group.code.text) > LONGEST_CODE or not group.code.text.strip():
                refuse(
                    self.source,
                    group.code.at,
                    told("recode.needs-number", "A category needs a short number or code."),
                )
            if group.code.text in codes:
                refuse(
                    self.source,
                    group.code.at,
                    told(
                        "recode.numbers-alike",
                        "Two categories have the number {number!r}. Give each its own, or put their"
                        " codes into one.",
                        number=group.code.text,
                    ),
                )
            codes.add(group.code.text)
            text = (group.label.text if group.label else group.code.text).strip()
            at = group.label.at if group.label else group.code.at
            if not 0 < len(text) <= LONGEST_LABEL:
                refuse(
                    self.source,
                    at,
                    told(
                        "recode.name-length",
                        "The name of a category has from 1 to {most} characters.",
                        most=LONGEST_LABEL,
                    ),
                )
            if text in labels:
                refuse(
                    self.source,
                    at,
                    told("recode.names-alike", "Two categories have the name {name!r}.", name=text),
                )
            labels.append(text)
        return labels

    def _take(self, item: Value | Span, label: str) -> list[int]:
        if isinstance(item, Value):
            positions = [self.conditions.position(item, self.variable, self.level)]
        else:
            positions = self._within(item)
        for at in positions:
            before = self.taken[at]
            if before is not None:
                code = self.level.codes[at].code
                refuse(
                    self.source,
                    item.at,
                    told(
                        "recode.code-taken",
                        "The code {code!r} is in {label!r} already.",
                        code=code,
                        label=before,
                    ),
                )
            self.taken[at] = label
        return positions

    def _within(self, span: Span) -> list[int]:
        """The codes whose numbers lie in a range, missing ones excepted."""
        low, high = (self._limit(value) for value in (span.low, span.high))
        if low is not None and high is not None and low > high:
            what = told(
                "recode.empty-range",
                "The range from {low} to {high} is empty.",
                low=str(low),
                high=str(high),
            )
            refuse(self.source, span.at, what)
        name = axis_name(self.variable, self.level)
        positions = []
        for at, code in enumerate(self.level.codes):
            if code.is_missing:
                continue
            first, last = bounds(code)
            if first is None:
                refuse(
                    self.source,
                    span.at,
                    told(
                        "recode.no-numbers",
                        "The codes of {variable} are not numbers: {code!r}. Name codes one by one.",
                        variable=name,
                        code=code.code,
                    ),
                )
            under = low is not None and last is not None and last < low
            over = high is not None and first > high
            if under or over:
                continue
            if low is not None and first < low:
                self._cut(low, code.code, span.low)
            if high is not None and (last is None or last > high):
                self._cut(high, code.code, span.high)
            positions.append(at)
        if not positions:
            what = told(
                "recode.nothing-in-range",
                "No code of {variable} lies in this range.",
                variable=name,
            )
            refuse(self.source, span.at, what)
        return positions

    def _cut(self, limit: int, code: str, value: Value | None) -> None:
        at = self.define.at if value is None else value.at
        refuse(
            self.source,
            at,
            told(
                "recode.cuts",
                "{limit} cuts through the code {code!r} of {variable}.",
                limit=str(limit),
                code=code,
                variable=axis_name(self.variable, self.level),
            ),
        )

    def _limit(self, value: Value | None) -> int | None:
        if value is None:
            return None
        number = whole_number(value.text)
        if number is None:
            refuse(
                self.source,
                value.at,
                told(
                    "recode.range-of-texts",
                    "Ranges go from number to number, and {value!r} is none. Name codes one by one,"
                    " with commas.",
                    value=value.text,
                ),
            )
        return number

    def _rest(self, kind: RestKind, rest: RestCategory, label: str) -> list[int]:
        missing = kind is RestKind.MISSING
        positions = [
            at
            for at, code in enumerate(self.level.codes)
            if code.is_missing is missing and self.taken[at] is None
        ]
        if not positions:
            what = told("recode.nothing-else", "No code is left for ELSE.")
            if missing:
                what = told(
                    "recode.nothing-missing", "No code for a missing value is left for MISSING."
                )
            refuse(self.source, rest.at, what)
        for at in positions:
            self.taken[at] = label
        return positions
