"""Which records a table is about: a condition in its canonical form.

Leaves of a variable that the condition cannot tell apart fall into one class; a truth table over
the classes says which combinations belong. Classes are numbered by their first leaf, variables
sorted by name, and a variable that changes nothing is dropped: two conditions have the same
universe exactly if they are true for the same records, whatever their spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import ConditionError, Sentence, SpecError, UnknownName, both, told, unknown
from sdcensus.model.schema.encoding import whole_number
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.model.spec.axis import at_other_levels
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Condition,
    Named,
    Not,
    Or,
    comparisons,
    parse_condition,
)

Mask = npt.NDArray[np.bool_]
#: Whole numbers, however large.
Numbers = npt.NDArray[Any]
#: A condition whose truth table would be larger than this is refused.
LARGEST_TRUTH_TABLE = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Universe:
    """The records for which a condition holds.

    Attributes:
        variables: The variables that matter, sorted by name.
        classes: For each of them, for each leaf, the number of its class.
        truth: For each combination of classes, whether it belongs; a scalar if none matter.
    """

    variables: tuple[Variable, ...]
    classes: tuple[npt.NDArray[np.int64], ...]
    truth: Mask

    @property
    def everything(self) -> bool:
        """Whether every record belongs."""
        return not self.variables and bool(self.truth)

    def tells_apart(self, variable: Variable, leaves: Sequence[int]) -> bool:
        """Whether some of these leaves of a variable are treated differently from others."""
        return any(
            own.name == variable.name and np.unique(classes[list(leaves)]).size > 1
            for own, classes in zip(self.variables, self.classes, strict=True)
        )

    def canonical(self) -> list[object]:
        """The universe as plain values, equal for equal universes: leaves by their codes."""
        named: list[tuple[str, list[list[str]]]] = []
        for variable, classes in zip(self.variables, self.classes, strict=True):
            groups: dict[int, list[str]] = {}
            for code, group in zip(variable.codes, classes.tolist(), strict=True):
                groups.setdefault(group, []).append(code.code)
            named.append((variable.name, [sorted(group) for group in groups.values()]))
        # Classes are ordered by their smallest code, so that the order of a code list is no matter.
        truth = self.truth
        for axis, (name, members) in enumerate(named):
            order = [at for _, at in sorted((group, at) for at, group in enumerate(members))]
            named[axis] = (name, [members[at] for at in order])
            truth = np.take(truth, order, axis=axis)
        return [named, truth.astype(int).tolist()]


EVERYTHING = Universe((), (), np.array(True))


def universe_of(condition: str | None, schema: Schema) -> Universe:
    """Resolve a condition against a schema and bring it into canonical form."""
    if condition is None or not condition.strip():
        return EVERYTHING
    parsed = _spelt_out(parse_condition(condition), condition, schema.universes)
    masks: dict[Comparison, Mask] = {}
    known: dict[tuple[str, str], _LevelCodes] = {}
    by_variable: dict[str, list[Mask]] = {}
    for comparison in comparisons(parsed):
        if comparison not in masks:
            masks[comparison] = _matching_leaves(comparison, schema, condition, known)
            by_variable.setdefault(comparison.operand.name.text, []).append(masks[comparison])
    names = sorted(by_variable)
    classes = [classes_together(np.stack(by_variable[name])) for name in names]
    shape = tuple(int(class_.max()) + 1 for class_ in classes)
    if np.prod(shape, dtype=float) > LARGEST_TRUTH_TABLE:
        raise SpecError(
            told(
                "condition.too-many-variables",
                "The condition combines too many variables. Split it into simpler ones.",
            )
        )
    axis_of = {name: axis for axis, name in enumerate(names)}
    truth = np.broadcast_to(_truth(parsed, masks, classes, axis_of), shape)
    return _reduced([schema.variable(name) for name in names], classes, truth)


def unit_of(universe: Universe, schema: Schema) -> Entity:
    """The kind of unit to which all variables of a condition apply."""
    return unit_with(universe.variables, schema)


def unit_with(variables: Iterable[Variable], schema: Schema) -> Entity:
    """The kind of unit that has all of these variables, its own or inherited."""
    kinds = {variable.entity for variable in variables}
    # Those of the condition itself first, the innermost of them before those that hold it.
    own = sorted(kinds, key=lambda kind: -len(schema.lineage(kind)))
    every = [*own, *(spec.entity for spec in schema.entities)]
    return next(kind for kind in every if kinds <= set(schema.lineage(kind)))


def _spelt_out(condition: Condition, text: str, declared: Sequence[DeclaredUniverse]) -> Condition:
    """A condition with what the universes stand for that it names.

    A universe can be made of those that are declared before it, so that none is made of itself.
    """
    match condition:
        case Named(name, at):
            names = [declared_universe.name for declared_universe in declared]
            if name not in names:
                what = told(
                    "condition.alone",
                    "{unknown} A variable is compared with a code, as in {name} == 1.",
                    unknown=unknown("universe", name, names),
                    name=name,
                )
                where = told("where.condition", "In the condition {text!r}", text=text)
                raise ConditionError(
                    told("within", "{where}: {what}", where=where, what=what), at=at
                )
            place = names.index(name)
            inner = declared[place].condition
            return _spelt_out(parse_condition(inner), inner, declared[:place])
        case Not(part):
            return Not(_spelt_out(part, text, declared))
        case And(parts):
            return And(tuple(_spelt_out(part, text, declared) for part in parts))
        case Or(parts):
            return Or(tuple(_spelt_out(part, text, declared) for part in parts))
        case Comparison():
            return condition


def restrict(universe: Universe, variable: Variable, leaves: Mask) -> Universe:
    """The records of a universe that also have one of these leaves of ``variable``."""
    variables, classes, truth = [*universe.variables], [*universe.classes], universe.truth
    names = [variable.name for variable in variables]
    if variable.name not in names:
        axis = sum(name < variable.name for name in names)
        variables.insert(axis, variable)
        classes.insert(axis, np.zeros(leaves.size, dtype=np.int64))
        truth = np.expand_dims(truth, axis)
    else:
        axis = names.index(variable.name)
    before = classes[axis]
    classes[axis] = classes_together(np.stack([before, leaves.astype(np.int64)]))
    _, first = np.unique(classes[axis], return_index=True)
    shape = [1] * len(classes)
    shape[axis] = first.size
    truth = np.take(truth, before[first], axis=axis) & leaves[first].reshape(shape)
    return _reduced(variables, classes, truth)


def classes_together(masks: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Number the distinct columns of ``masks`` by their first occurrence."""
    _, first, inverse = np.unique(masks, axis=1, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first, kind="stable"), kind="stable")
    return rank[inverse.reshape(-1)].astype(np.int64)


def _truth(
    condition: Condition,
    masks: Mapping[Comparison, Mask],
    classes: list[npt.NDArray[np.int64]],
    axis_of: Mapping[str, int],
) -> Mask:
    """The condition over all classes, as an array that broadcasts over the others."""
    match condition:
        case Comparison(operand):
            axis = axis_of[operand.name.text]
            _, first = np.unique(classes[axis], return_index=True)
            shape = [1] * len(classes)
            shape[axis] = first.size
            return masks[condition][first].reshape(shape)
        case Not(part):
            return ~_truth(part, masks, classes, axis_of)
        case And(parts):
            return reduce(and_, (_truth(part, masks, classes, axis_of) for part in parts))
        case Or(parts):
            return reduce(or_, (_truth(part, masks, classes, axis_of) for part in parts))
        case Named(name):  # pragma: no cover - names are spelt out before
            raise AssertionError(name)


def _reduced(
    variables: list[Variable], classes: list[npt.NDArray[np.int64]], truth: Mask
) -> Universe:
    """Merge classes that the truth table cannot tell apart; drop variables left with one."""
    for axis in range(len(variables)):
        slices = np.moveaxis(truth, axis, -1).reshape(-1, truth.shape[axis])
        merged = classes_together(slices)
        _, first = np.unique(merged, return_index=True)
        truth = np.take(truth, first, axis=axis)
        classes[axis] = merged[classes[axis]]
    keep = [axis for axis in range(len(variables)) if truth.shape[axis] > 1]
    truth = truth.reshape([truth.shape[axis] for axis in keep])
    truth.flags.writeable = False
    return Universe(
        tuple(variables[axis] for axis in keep), tuple(classes[axis] for axis in keep), truth
    )


class _LevelCodes:
    """The codes of a level, looked through once however many comparisons name it."""

    def __init__(self, level: Level) -> None:
        codes = level.codes
        self.group = level.group_array
        self.codes = codes
        self.positions: dict[str, int] = {}
        for at, code in enumerate(codes):
            self.positions.setdefault(code.code, at)
        self._alike: dict[int, list[int]] | None = None
        self._bounds: tuple[Mask, Mask, Numbers, Numbers, Mask] | None = None

    @property
    def alike(self) -> dict[int, list[int]]:
        """The positions of codes that are the same number."""
        if self._alike is None:
            self._alike = {}
            for at, code in enumerate(self.codes):
                number = whole_number(code.code)
                if number is not None:
                    self._alike.setdefault(number, []).append(at)
        return self._alike

    @property
    def bounds(self) -> tuple[Mask, Mask, Numbers, Numbers, Mask]:
        """Which codes are missing, which are no numbers, and from where to where the others go.

        The last says which have no upper end.
        """
        if self._bounds is None:
            pairs = [bounds(code) for code in self.codes]
            missing = np.array([code.is_missing for code in self.codes], dtype=bool)
            none = np.array([lower is None for lower, _ in pairs], dtype=bool)
            open_ = np.array([upper is None for _, upper in pairs], dtype=bool)
            lows = [lower or 0 for lower, _ in pairs]
            highs = [upper or 0 for _, upper in pairs]
            # Codes of twenty digits are numbers too.
            small = all(abs(bound) < 1 << 62 for bound in (*lows, *highs))
            kind: type = np.int64 if small else object
            self._bounds = missing, none, np.array(lows, kind), np.array(highs, kind), open_
        return self._bounds


def _matching_leaves(
    comparison: Comparison,
    schema: Schema,
    text: str,
    known: dict[tuple[str, str], _LevelCodes],
) -> Mask:
    """Which leaves of its variable a comparison selects."""
    operand, operator = comparison.operand, comparison.operator
    variable = schema.variable(operand.name.text)
    where = told("where.condition", "In the condition {text!r}", text=text)
    if not variable.is_axis:
        what = told(
            "condition.no-codes",
            "{variable!r} has no codes to compare with.",
            variable=variable.name,
        )
        remedy = told("condition.give-ranges", "Give it levels (ranges) in the schema.")
        raise _mistake(where, both(what, remedy if variable.continuous else None))
    level = variable.level(operand.levels[0].text if operand.levels else None)
    key = (variable.name, level.name)
    if key not in known:
        known[key] = _LevelCodes(level)
    codes = known[key]
    if operator in ("<", "<=", ">", ">="):
        chosen = _compared(codes, operator, comparison.values[0].text, variable, where)
    else:
        positions = [
            _position(value.text, codes, variable, level, where) for value in comparison.values
        ]
        chosen = np.full(len(level.codes), operator in ("!=", "not in"))
        chosen[positions] = operator in ("==", "in")
    return chosen[codes.group]


def _mistake(where: Sentence, what: Sentence) -> SpecError:
    return SpecError(told("within", "{where}: {what}", where=where, what=what))


def _position(
    value: str, codes: _LevelCodes, variable: Variable, level: Level, where: Sentence
) -> int:
    if value in codes.positions:
        return codes.positions[value]
    number = whole_number(value)
    if number is not None:  # 01 and 1 are the same number, where only one of them exists
        alike = codes.alike.get(number, [])
        if len(alike) == 1:
            return alike[0]
    known = [code.code for code in codes.codes]
    at = told("within", "{where}: {what}", where=where, what=repr(variable.name))
    hint = at_other_levels(variable, level, value)
    raise UnknownName("code", value, known=known, where=at, hint=hint)


def _compared(
    codes: _LevelCodes, operator: str, value: str, variable: Variable, where: Sentence
) -> Mask:
    """Which codes lie on the asked side of a number; missing codes lie on neither."""
    missing, none, lower, upper, open_ = codes.bounds
    if missing.all():
        return np.zeros(missing.size, dtype=bool)
    try:
        limit = int(value)
    except ValueError:
        what = told(
            "condition.needs-number",
            "{variable!r} can only be compared with a whole number by {operator!r}.",
            variable=variable.name,
            operator=operator,
        )
        raise _mistake(where, what) from None
    limit = limit if lower.dtype == object else max(min(limit, (1 << 62)), -(1 << 62))
    if operator in ("<", ">="):  # both ask whether the code starts below the limit
        below = ~open_ & (upper < limit)
        cut = ~below & (lower < limit)
    else:
        below = ~open_ & (upper <= limit)
        cut = ~below & (lower <= limit)
    wrong = np.flatnonzero(~missing & (none | np.asarray(cut, dtype=bool)))
    if wrong.size:
        if none[wrong[0]]:
            what = told(
                "condition.no-numbers",
                "The codes of {variable!r} are not numbers; use == or in instead of {operator!r}.",
                variable=variable.name,
                operator=operator,
            )
            raise _mistake(where, what)
        raise _mistake(where, _cut(limit, codes.codes[int(wrong[0])], variable))
    below = np.asarray(below, dtype=bool)
    return ~missing & (below if operator in ("<", "<=") else ~below)


def _cut(limit: int, code: Code, variable: Variable) -> Sentence:
    what = told(
        "condition.cuts",
        "{limit} cuts through the code {code!r}.",
        limit=str(limit),
        code=code.code,
    )
    if not variable.continuous:
        return what
    levels = tuple(level.name for level in variable.levels() if level.name != variable.leaf_level)
    why = told(
        "condition.no-ranges",
        "Amounts are told apart by the levels of {variable!r} only, and the schema gives it none.",
        variable=variable.name,
    )
    if levels:
        why = told(
            "condition.ranges",
            "Amounts are told apart by the levels of {variable!r} only: {levels}.",
            variable=variable.name,
            levels=levels,
        )
    return both(what, why)


def bounds(code: Code) -> tuple[int | None, int | None]:
    """The numbers that a code stands for: its declared ones, or itself if it is a number."""
    if code.lower is not None:
        return code.lower, code.upper
    number = whole_number(code.code)
    return number, number
