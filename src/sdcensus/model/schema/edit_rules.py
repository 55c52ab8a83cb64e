"""The edit rules of a schema, resolved: about one record, or about two that one unit holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import Impossible, Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import Universe, bounds, unit_with, universe_of

Int64 = npt.NDArray[np.int64]

#: Numbers of codes that are not known: "and over", not stated, no number at all.
UNKNOWN = np.iinfo(np.int64).min
_LARGEST = 1 << 60


@dataclass(frozen=True, slots=True, eq=False)
class NumberRange:
    """From where to where the numbers go that each code of a variable stands for.

    Attributes:
        variable: The variable.
        lower, upper: For each code; ``UNKNOWN`` where there is no such number.
    """

    variable: Variable
    lower: Int64
    upper: Int64

    @classmethod
    def of(cls, variable: Variable) -> NumberRange:
        """The numbers of the codes of a variable."""
        lower = np.full(len(variable.codes), UNKNOWN)
        upper = lower.copy()
        for at, code in enumerate(variable.codes):
            low, high = (None, None) if code.is_missing else bounds(code)
            for numbers, number in ((lower, low), (upper, high)):
                if number is not None and abs(number) < _LARGEST:
                    numbers[at] = number
        return cls(variable, lower, upper)

    @property
    def has_numbers(self) -> bool:
        """Whether any code stands for a number."""
        return bool((self.lower != UNKNOWN).any())


@dataclass(frozen=True, slots=True, eq=False)
class OtherRecord:
    """The second record of a rule, resolved against a schema.

    Attributes:
        other: Which records they are.
        within: The kind of unit that holds both.
        gap: The numbers whose difference counts; ``None`` for a rule without.
        less_than, more_than: The limits of the difference.
    """

    other: Universe
    within: Entity
    gap: NumberRange | None = None
    less_than: int | None = None
    more_than: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class EditRule:
    """A rule of the schema, resolved against it.

    Attributes:
        rule: What the schema says.
        entity: The kind of unit whose records break it.
        when: The condition of the record.
        second: The other record, for a rule about two.
    """

    rule: Impossible
    entity: Entity
    when: Universe
    second: OtherRecord | None = None

    @property
    def text(self) -> str:
        """What messages call it: its label, or what it says."""
        return rule_text(self.rule)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that decide whether it is broken."""
        second = self.second
        more = () if second is None else second.other.variables
        gap = () if second is None or second.gap is None else (second.gap.variable,)
        named = {variable.name: variable for variable in (*self.when.variables, *more, *gap)}
        return tuple(named.values())


def rule_text(rule: Impossible) -> str:
    """What messages call a rule: its label, or what it says."""
    said = rule.when if rule.relation is None else f"{rule.when}, {rule.relation}"
    return rule.label.show() or said


def edit_rules(schema: Schema) -> tuple[EditRule, ...]:
    """The rules of a schema, resolved."""
    return tuple(resolved_rule(rule, schema) for rule in schema.impossible)


def resolved_rule(rule: Impossible, schema: Schema) -> EditRule:
    """A rule with its conditions and the units that it is about.

    Raises:
        SpecError: A condition cannot be understood, or no unit holds two such records.
    """
    when, relation = universe_of(rule.when, schema), rule.relation
    if relation is None:
        return EditRule(rule, unit_with(when.variables, schema), when)
    other = universe_of(relation.beside, schema)
    gap = NumberRange.of(schema.variable(relation.gap)) if relation.gap else None
    variables = [*when.variables, *other.variables, *([gap.variable] if gap else [])]
    entity = unit_with(variables, schema)
    second = OtherRecord(
        other, holder_of(entity, relation, schema), gap, relation.less_than, relation.more_than
    )
    return EditRule(rule, entity, when, second)


def holder_of(entity: Entity, relation: Relation, schema: Schema) -> Entity:
    """The kind of unit that holds both records of a relation.

    Raises:
        SpecError: There is none.
    """
    holders = [kind for kind in schema.lineage(entity) if kind is not entity]
    within = relation.within or next(iter(schema.parents(entity)), None)
    if within is None or within not in holders:
        known = ", ".join(holder.value for holder in holders)
        remedy = f"What holds them: {known}." if known else "Nothing holds them."
        what = "any unit" if within is None else f"a {within}"
        raise SpecError(f"{entity.plural} do not lie in {what}. {remedy}")
    return within
