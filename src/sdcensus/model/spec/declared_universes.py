"""Universes that a schema declares by name, as codes of the lattice.

A universe of one variable, such as "15 and over", becomes a level of that variable: the code of its
name, and one for all others. From then on it is a declared code like any other for tables, covers,
ancestors, policies and the look budget. A universe that is a code already adds nothing, and one of
several variables is made of codes that there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.code_lists import MISSING_CODES
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.model.text import NOT_STATED_LABEL, Text

Mask = npt.NDArray[np.bool_]

#: What the code of everybody outside a universe starts with.
OUTSIDE = "not_"
#: What everybody outside is called beside it.
OTHERS = Text.named("universes.others")
_NAME = re.compile(r"[^\W\d]\w*")
#: Words of the grammars of conditions, axes and commands, and the kinds of units.
_TAKEN = frozenset({"and", "or", "not", "in", "total", "all"}).union(
    *({entity.value, entity.plural} for entity in Entity)
)


def with_universe(schema: Schema, declared: DeclaredUniverse) -> Schema:
    """A schema with one more universe.

    Raises:
        SpecError: Its name or its condition cannot be that of a universe; the sentence goes on
            after the place where it stands.
    """
    _check_name(schema, declared.name)
    universe = universe_of(declared.condition, schema)
    if universe.everything or not universe.truth.any():
        who = "every" if universe.everything else "no"
        raise SpecError(f"the condition is true for {who} record.")
    if not is_product(universe):
        raise SpecError(
            "the condition must be codes of one variable, or of several that are joined by 'and'."
        )
    kinds = {variable.entity for variable in universe.variables}
    if not any(kinds <= set(schema.lineage(spec.entity)) for spec in schema.entities):
        raise SpecError("no unit has all of these variables.")
    missing = undeclared_sets(universe)
    if missing and len(universe.variables) > 1:
        variable, leaves = missing[0]
        raise SpecError(
            f"it is made of codes of several variables, and {set_condition(variable, leaves)} is no"
            f" code of {variable.name!r}. Declare that as a universe of its own before this one."
        )
    added = schema
    for variable, leaves in missing:
        names = {level.name for level in variable.levels()}
        if declared.name in names | {tree.name for tree in variable.hierarchies}:
            raise SpecError(f"{variable.name!r} has a level {declared.name!r} already.")
        longer = _with_level(variable, declared, leaves)
        variables = [longer if known is variable else known for known in schema.variables]
        added = replace(schema, variables=tuple(variables))
    return replace(added, universes=(*schema.universes, declared))


def with_other_variables(schema: Schema, change: Callable[[Variable], Variable]) -> Schema:
    """A schema with changed variables, in which its universes are what they say of these.

    Args:
        schema: The schema.
        change: Gives the changed variable of one that has no levels of universes.
    """
    plain = map(_without_universes, schema.variables)
    changed = replace(schema, variables=tuple(map(change, plain)), universes=())
    return reduce(with_universe, schema.universes, changed)


def undeclared_sets(universe: Universe) -> tuple[tuple[Variable, Mask], ...]:
    """Of a product of sets of leaves those that are no declared code of their variable."""
    pairs = [(variable, leaves_in(universe, variable)) for variable in universe.variables]
    return tuple(
        (variable, leaves) for variable, leaves in pairs if not is_code(leaves, variable.levels())
    )


def is_code(leaves: Mask, levels: Iterable[Level]) -> bool:
    """Whether a set of leaves, which is not empty, is a code of one of some levels."""
    first = int(np.flatnonzero(leaves)[0])
    return any(
        np.array_equal(level.group_array == level.group_array[first], leaves) for level in levels
    )


def set_condition(variable: Variable, leaves: Mask) -> str:
    """The condition that a record has one of some leaves: as a range if it is one, else by codes.

    Examples:
        >>> from sdcensus.model.schema.code_lists import range_codes
        >>> from sdcensus.model.schema.variable import Entity
        >>> age = Variable(name="age", entity=Entity.PERSON, codes=range_codes(0, 90))
        >>> set_condition(age, np.arange(91) >= 15), set_condition(age, np.arange(91) == 3)
        ('age >= 15', "age in ('3')")
    """
    inside = [code for code, held in zip(variable.codes, leaves, strict=True) if held]
    numbers = [code for code in variable.codes if not code.is_missing]
    stated = len(inside) > 1 and not any(code.is_missing for code in inside)
    if stated and all(code.lower is not None for code in numbers):
        ordered = sorted(numbers, key=lambda code: code.lower or 0)
        first = next(at for at, code in enumerate(ordered) if code in inside)
        part = ordered[first : first + len(inside)]
        if set(part) == set(inside):
            ends = []
            if first:
                ends.append(f"{variable.name} >= {part[0].lower}")
            if len(part) + first < len(ordered):
                ends.append(f"{variable.name} < {ordered[first + len(part)].lower}")
            if ends:
                return " and ".join(ends)
    outside = [code for code, held in zip(variable.codes, leaves, strict=True) if not held]
    few, sign = (inside, "in") if len(inside) <= len(outside) else (outside, "not in")
    listed = ", ".join(f'"{code.code}"' if "'" in code.code else f"'{code.code}'" for code in few)
    return f"{variable.name} {sign} ({listed})"


def _check_name(schema: Schema, name: str) -> None:
    if not _NAME.fullmatch(name) or name.lower() in _TAKEN:
        raise SpecError(
            f"{name!r} cannot be the name of a universe: letters, digits and _, such as adults."
        )
    if name in {variable.name for variable in schema.variables}:
        raise SpecError(f"{name!r} is the name of a variable.")


def _with_level(variable: Variable, declared: DeclaredUniverse, leaves: Mask) -> Variable:
    label = declared.label or Text.of(declared.name)
    languages = {language for language, _ in label.by_language}
    others = Text(tuple(pair for pair in OTHERS.by_language if pair[0] in languages)) or OTHERS
    codes = (Code(declared.name, label), Code(f"{OUTSIDE}{declared.name}", others))
    group = tuple(np.where(leaves, 0, 1).tolist())
    level = Level(declared.name, codes, group, universe=True)
    return replace(
        variable,
        hierarchies=(*variable.hierarchies, Hierarchy(declared.name, (level,))),
        level_labels=(*variable.level_labels, (declared.name, label)),
    )


def _without_universes(variable: Variable) -> Variable:
    names = {level.name for level in variable.levels() if level.universe}
    if not names:
        return variable
    kept = tuple(tree for tree in variable.hierarchies if tree.name not in names)
    labels = tuple(pair for pair in variable.level_labels if pair[0] not in names)
    return replace(variable, hierarchies=kept, level_labels=labels)


#: The leaf that a variable without a code for "not stated" gets.
UNKNOWN = Code(MISSING_CODES[CodeKind.NOT_STATED], NOT_STATED_LABEL, CodeKind.NOT_STATED)


def with_missing_codes(schema: Schema) -> Schema:
    """The schema in which every stored variable with codes has a code for "not stated".

    Variables that have such a code stay as they are. The others get one more leaf, which stays
    itself at every level, whether the data need it or not: the shape of a table depends on the
    option, never on the records. "Not applicable" is no place for a value that nobody can read;
    but points outside a grid are unallocated.
    """
    grids = {grid.variable for grid in schema.grids}
    return with_other_variables(
        schema,
        lambda variable: variable if variable.name in grids else _with_missing_code(variable),
    )


def _with_missing_code(variable: Variable) -> Variable:
    if not variable.is_axis or variable.position_of(CodeKind.NOT_STATED) is not None:
        return variable
    return replace(
        variable,
        codes=(*variable.codes, UNKNOWN),
        hierarchies=tuple(
            Hierarchy(hierarchy.name, tuple(map(_with_unknown, hierarchy.levels)))
            for hierarchy in variable.hierarchies
        ),
    )


def _with_unknown(level: Level) -> Level:
    return Level(level.name, (*level.codes, UNKNOWN), (*level.group, len(level.codes)))
