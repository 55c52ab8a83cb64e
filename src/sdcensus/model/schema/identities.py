"""Identities between units: where a count of one kind of unit is a multiple of another's.

Persons in households of size k are k times those households. Whoever sees both, each with noise of
its own, sees one number more than once, and the more often the larger k is. What ties two kinds of
units is a code of a variable under which the larger units all hold the same number of the smaller
ones; a class of codes with different numbers does not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.levels_told_apart import Partition, uses_of
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Tie:
    """Counts of held units that are a fixed multiple of counts of what holds them.

    Attributes:
        each: The larger units.
        holds: What lies in them.
        times: How many of these lie in each.
        leaves: The condition: leaves of some variables, combined freely.
    """

    each: Entity
    holds: Entity
    times: int
    leaves: tuple[tuple[Variable, Mask], ...]

    def __repr__(self) -> str:
        return f"<Tie of {self.holds.plural} to {self.each.plural}, times {self.times}>"

    def shared(self, schema: Schema) -> tuple[tuple[Variable, Mask], ...]:
        """The part of the condition that the larger units have as well."""
        lineage = schema.lineage(self.each)
        return tuple(part for part in self.leaves if part[0].entity in lineage)

    def deciding(self, schema: Schema) -> tuple[tuple[Variable, Mask], ...]:
        """What has to be shown of the held units to see the tie.

        Variables of their own, where the condition has some: reference persons of private
        households are found by what makes them reference persons.
        """
        shared = {variable.name for variable, _ in self.shared(schema)}
        own = tuple(part for part in self.leaves if part[0].name not in shared)
        return own or self.leaves


@dataclass(frozen=True, slots=True)
class OpenTie:
    """Codes of a variable through which tables of two kinds of units show one count.

    Attributes:
        each, holds: The units.
        variable: The variable that is shown of the held units.
        codes: These codes; none where only classes together give such counts.
        times: How many of the held units lie in each larger one, under these codes.
        tables: Names of the tables that show them, where it is about tables.
        mixing: The finest levels of the variable that have no such codes.
    """

    each: Entity
    holds: Entity
    variable: str
    codes: tuple[str, ...] = ()
    times: tuple[int, ...] = ()
    tables: tuple[str, ...] = ()
    mixing: tuple[str, ...] = ()


def number_of(variable: Variable, code: Code) -> int | None:
    """How many units a code of a counting variable stands for; ``None`` for no single number."""
    if code.is_missing or code.code in variable.counts_open:
        return None
    if code.lower is not None:
        number = code.lower if code.lower == code.upper else None
    else:
        number = int(code.code) if code.code.isascii() and code.code.isdigit() else None
    return number if number is not None and number >= 1 else None


def ties_of(schema: Schema) -> tuple[Tie, ...]:
    """Everything that a schema declares, those of one variable and number together."""
    ties: list[Tie] = []
    for variable in schema.variables:
        if variable.counts is None or not variable.is_axis:
            continue
        numbers = [number_of(variable, code) for code in variable.codes]
        for times in sorted({number for number in numbers if number is not None}):
            leaves = np.array([number == times for number in numbers], dtype=bool)
            ties.append(Tie(variable.entity, variable.counts, times, ((variable, leaves),)))
    for identity in schema.identities:
        universe = universe_of(identity.when, schema)
        leaves_by_variable = tuple(
            (variable, leaves_in(universe, variable)) for variable in universe.variables
        )
        ties.append(Tie(identity.each, identity.holds, identity.times, leaves_by_variable))
    return tuple(_together(ties))


def _together(ties: Iterable[Tie]) -> Iterator[Tie]:
    """Ties of the same single variable and number as one: classes of both are tied as well."""
    alike: dict[tuple[Entity, Entity, int, str], Tie] = {}
    for tie in ties:
        if len(tie.leaves) != 1:
            yield tie
            continue
        variable, leaves = tie.leaves[0]
        key = (tie.each, tie.holds, tie.times, variable.name)
        if key in alike:
            leaves = leaves | alike[key].leaves[0][1]
        alike[key] = Tie(tie.each, tie.holds, tie.times, ((variable, leaves),))
    yield from alike.values()


def tied_parts(leaves: Mask, partition: Partition) -> tuple[int, ...]:
    """The parts of a partition that lie within some leaves.

    Examples:
        >>> tied_parts(np.array([True, False, False]), np.array([0, 1, 1]))
        (0,)
        >>> tied_parts(np.array([True, False, False]), np.array([0, 0, 1]))
        ()
    """
    outside = set(partition[~leaves].tolist())
    return tuple(sorted(set(partition[leaves].tolist()) - outside))


def mixing_levels(ties: Sequence[Tie], holds: Entity, variable: Variable) -> tuple[Level, ...]:
    """The levels of a variable at which no code of the held units is tied to larger ones."""
    masks = [
        leaves
        for tie in ties
        if tie.holds is holds
        for named, leaves in tie.leaves
        if named.name == variable.name
    ]
    return tuple(
        level
        for level in variable.levels()
        if not any(tied_parts(leaves, level.group_array) for leaves in masks)
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """One way in which a variable is shown: a level, or what a condition tells apart."""

    partition: Partition
    level: Level | None = None
    table: str = ""


_ShownOf = Mapping[Entity, Mapping[str, Sequence[_Shown]]]


def open_in_menus(
    schema: Schema, offered: Mapping[Entity, Mapping[str, Sequence[Level]]]
) -> tuple[OpenTie, ...]:
    """The ties that tables of persons show where tables of what holds them are offered as well.

    Args:
        schema: What declares them.
        offered: For each kind of unit that may be asked for, its variables with their levels.
    """
    shown = {
        holds: {
            name: [_Shown(level.group_array, level) for level in levels]
            for name, levels in variables.items()
        }
        for holds, variables in offered.items()
    }
    return tuple(_open(schema, shown))


def open_in_tables(schema: Schema, specs: Sequence[TableSpec]) -> tuple[OpenTie, ...]:
    """The ties that some tables show together: of persons, and of what holds them.

    A condition counts with all that it tells apart: what it leaves out is the total less the rest.
    """
    shown: dict[Entity, dict[str, list[_Shown]]] = {}
    for spec in specs:
        variables = shown.setdefault(spec.of, {})
        table = spec.name or spec.title
        for use in uses_of(spec):
            levels = () if use.axis is None else use.axis.levels
            ways = variables.setdefault(use.variable.name, [])
            ways += [_Shown(level.group_array, level, table) for level in levels]
            if use.condition is not None:
                ways += [_Shown(partition, None, table) for partition in use.partitions]
    return tuple(_open(schema, shown))


def _judged(schema: Schema, units: Collection[Entity]) -> tuple[Tie, ...]:
    """The ties that can be seen in tables of these units.

    Only those of persons: they have many variables of their own, and tables by each of them look at
    the larger units once more. Tables of other units have much the same variables as what holds
    them; such a tie is one more look, which budgets count.
    """
    return tuple(
        tie
        for tie in ties_of(schema)
        if tie.holds is Entity.PERSON and tie.holds in units and tie.each in units
    )


def _open(schema: Schema, shown: _ShownOf) -> Iterator[OpenTie]:
    ties = _judged(schema, shown.keys())
    found: dict[tuple[Entity, Entity, str], list[tuple[_Shown, tuple[int, ...]]]] = {}
    times: dict[tuple[Entity, Entity, str], set[int]] = {}
    for tie in ties:
        variables = shown[tie.holds]
        deciding = [part for part in tie.deciding(schema) if part[0].name in variables]
        tied = {
            variable.name: _tied(leaves, variables[variable.name]) for variable, leaves in deciding
        }
        if tied and all(tied.values()):
            for name, ways in tied.items():
                key = (tie.each, tie.holds, name)
                found.setdefault(key, []).extend(ways)
                times.setdefault(key, set()).add(tie.times)
    for key, ways in found.items():
        each, holds, name = key
        variable = schema.variable(name)
        yield OpenTie(
            each=each,
            holds=holds,
            variable=name,
            times=tuple(sorted(times[key])),
            codes=tuple(dict.fromkeys(_codes(variable, ways))),
            tables=tuple(dict.fromkeys(way.table for way, _ in ways if way.table)),
            mixing=tuple(level.name for level in mixing_levels(ties, holds, variable)),
        )


def _tied(leaves: Mask, ways: Sequence[_Shown]) -> list[tuple[_Shown, tuple[int, ...]]]:
    """The ways in which a variable is shown that give counts of these leaves alone, with parts.

    Classes that mix one by one may not do so together: sizes 1 to 3 less sizes 1 and 2 are size 3.
    Some sum and difference of classes lies within the leaves exactly if the classes, cut to the
    other leaves, depend on each other more than the classes themselves.
    """
    tied = [(way, tied_parts(leaves, way.partition)) for way in ways]
    if any(parts for _, parts in tied):
        return [(way, parts) for way, parts in tied if parts]
    classes = np.concatenate(
        [way.partition == np.unique(way.partition)[:, None] for way in ways]
    ).astype(np.float64)
    together = np.linalg.matrix_rank(classes)
    return tied if np.linalg.matrix_rank(classes[:, ~leaves]) < together else []


def _codes(variable: Variable, ways: Sequence[tuple[_Shown, tuple[int, ...]]]) -> Iterator[str]:
    for way, parts in ways:
        for part in parts:
            if way.level is not None:
                yield way.level.codes[part].code
            else:
                yield from (variable.codes[at].code for at in np.flatnonzero(way.partition == part))


def tie_sentence(tie: OpenTie) -> str:
    """What a tie gives away, for the office."""
    which = "classes together"
    if tie.codes:
        which = f"code{'s' if len(tie.codes) != 1 else ''} {joined(tie.codes)}"
    looks = max(tie.times) ** 2
    worth = "one more look" if looks == 1 else f"up to {looks:,} more looks"
    return (
        f"{tie.holds.plural} by {tie.variable} ({which}) are a known multiple of the"
        f" {tie.each.plural} there, and both are shown: each table of such {tie.holds.plural} is"
        f" worth {worth} at counts of {tie.each.plural}."
    )


def remedy_sentence(tie: OpenTie) -> str:
    """What would help, as lines of a policy."""
    table = f"[variable.{tie.variable}]"
    only = f'{table} units = ["{tie.each.plural}"]'
    if not tie.mixing:
        return f"Offer it on tables of {tie.each.plural} only: {only}."
    return (
        f'Offer it in classes that mix: {table} finest_level = "{tie.mixing[0]}"; or on tables of'
        f" {tie.each.plural} only: {only}."
    )
