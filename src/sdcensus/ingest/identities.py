"""Identities between units that the records show and the schema does not declare.

They are proposed, never taken: what a schema declares decides what may be published, and that must
not depend on the data. No count is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.documents.toml.text import toml
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.records.holding import extremes, held_once
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.identities import Tie, number_of, ties_of
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Fewer units than this may hold the same number by chance.
_LEAST = 50
#: Between larger units, a tie of a smaller share of them is a coincidence, or hardly matters.
_LEAST_SHARE = 0.2
#: Variables with more codes do not say which units have a reference person.
_MOST_CODES = 30


@dataclass(frozen=True, slots=True)
class ProposedIdentity:
    """An identity that the records show, as lines for the schema."""

    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


def undeclared_identities(
    store: CensusStore, progress: Progress = no_progress
) -> tuple[ProposedIdentity, ...]:
    """Every identity between units of a store that its schema does not declare."""
    schema = store.schema
    declared = ties_of(schema)
    pairs = [
        (spec.entity, each)
        for spec in schema.entities
        for each in schema.lineage(spec.entity)[1:]
        if store.rows(each)
    ]
    found: dict[tuple[str, ...], None] = {}
    # Each variable is looked at by itself, in loops that let other threads work.
    with ThreadPoolExecutor(os.cpu_count() or 1) as threads:
        for at, (holds, each) in enumerate(pairs):
            progress("looking for identities between units", at / len(pairs))
            search = _Search(store, declared, holds, each, threads)
            for lines in (*search.by_larger_units(), *search.by_one_of_them()):
                found.setdefault(lines)
    return tuple(ProposedIdentity(lines) for lines in found)


class _Search:
    """What ties units of one kind to those that hold them."""

    def __init__(
        self,
        store: CensusStore,
        declared: Sequence[Tie],
        holds: Entity,
        each: Entity,
        threads: ThreadPoolExecutor,
    ) -> None:
        self.store = store
        self.schema: Schema = store.schema
        self.holds, self.each = holds, each
        self.declared = [tie for tie in declared if (tie.holds, tie.each) == (holds, each)]
        self.rows = store.rows(each)
        self.place = store.holder_rows(holds, each)[: store.rows(holds)]
        held = self.place[self.place != NO_ROW]
        self.numbers = np.bincount(held, minlength=self.rows).astype(np.int64, copy=False)
        self.threads = threads
        self._unit_counts: dict[str, Integers] = {}

    def by_larger_units(self) -> Iterator[tuple[str, ...]]:
        """Codes of the larger units under which each holds the same number."""
        whole: list[tuple[int, Variable, list[str]]] = []
        variables = [
            variable for variable in self._variables(self.each) if variable.counts is not self.holds
        ]
        extremes_of = self.threads.map(self._extremes, variables)
        for variable, (least, most, units) in zip(variables, extremes_of, strict=True):
            counting = self._counting(variable, least, most, units)
            if counting is not None:
                yield counting
                continue
            same = (least == most) & (most >= 1) & (units >= _LEAST) & _valid(variable)
            for times in np.unique(most[same]).tolist():
                chosen = same & (most == times) & ~self._known(variable, times)
                codes = [variable.codes[at].code for at in np.flatnonzero(chosen)]
                if not codes:
                    continue
                if self.holds is Entity.PERSON:
                    yield self._lines(_is_in(variable, codes), times)
                elif times == 1 and units[chosen].sum() >= _LEAST_SHARE * self.rows:
                    whole.append((int(units[chosen].sum()), variable, codes))
        if whole and not self.declared:
            # Whatever else the larger units have follows from the variable that says most.
            _, variable, codes = max(whole, key=lambda entry: (entry[0], -len(entry[2])))
            yield self._lines(_is_in(variable, codes), 1)

    def by_one_of_them(self) -> Iterator[tuple[str, ...]]:
        """Codes that exactly one of the held units has: reference persons."""
        if self.holds is not Entity.PERSON or self.rows < _LEAST:
            return
        named = {variable.name for tie in self.declared for variable, _ in tie.leaves}
        variables = [
            variable for variable in self._variables(self.holds) if variable.name not in named
        ]
        for lines in self.threads.map(self._single, variables):
            yield from lines

    def _single(self, variable: Variable) -> list[tuple[str, ...]]:
        """The lines for codes of a variable of which no larger unit holds two."""
        column = self._column(self.holds, variable)
        counts, once = held_once(self.place, column, len(variable.codes))
        lines = []
        for at in np.flatnonzero(once & (counts >= _LEAST) & _valid(variable)).tolist():
            above = self.place[column == at]
            only = self._where_one(above[above != NO_ROW])
            if only is not None:
                when = _is_in(variable, [variable.codes[at].code])
                lines.append(self._lines(f"{when} and {only}" if only else when, 1))
        return lines

    def _where_one(self, above: Integers) -> str | None:
        """The condition on larger units that are just these, each of them once; empty for all."""
        if above.size == self.rows:
            return ""
        for variable in self._variables(self.each):
            if len(variable.codes) > _MOST_CODES:
                continue
            column, size = self._column(self.each, variable), len(variable.codes)
            units = self._units(variable)
            ones = np.bincount(column[above], minlength=size)
            with_one = (ones == units) & (units > 0)
            if bool((with_one | (ones == 0)).all()) and bool((with_one & _valid(variable)).any()):
                codes = [variable.codes[at].code for at in np.flatnonzero(with_one)]
                return _is_in(variable, codes)
        return None

    def _units(self, variable: Variable) -> Integers:
        """How many of the larger units have each code."""
        if variable.name not in self._unit_counts:
            column = self._column(self.each, variable)
            self._unit_counts[variable.name] = np.bincount(column, minlength=len(variable.codes))
        return self._unit_counts[variable.name]

    def _column(self, entity: Entity, variable: Variable) -> Integers:
        """The codes of a variable that these units have themselves; none is beyond its list."""
        return self.store.column(entity, variable)[: self.store.rows(entity)]

    def _variables(self, entity: Entity) -> Iterator[Variable]:
        grids = {grid.variable for grid in self.schema.grids}
        for variable in self.schema.variables:
            if (
                variable.entity is entity
                and variable.is_axis
                and variable.role is not Role.GEOGRAPHY
                and variable.name not in grids
                and self.store.has(entity, variable.name)
            ):
                yield variable

    def _extremes(self, variable: Variable) -> tuple[Int64, Int64, Int64]:
        """For each code the least and the largest number held, and how many units have it."""
        return extremes(self._column(self.each, variable), self.numbers, len(variable.codes))

    def _counting(
        self, variable: Variable, least: Int64, most: Int64, units: Int64
    ) -> tuple[str, ...] | None:
        """The lines for a variable whose codes are the numbers of units held."""
        said = [number_of(variable, code) for code in variable.codes]
        right, more = 0, []
        for at, number in enumerate(said):
            if number is None or not units[at]:
                continue
            if least[at] < number:
                return None
            if least[at] == most[at] == number:
                right += 1
            else:
                more.append(variable.codes[at].code)
        enough = right >= 2 and right > len(more)
        if not enough or int(units[[number is not None for number in said]].sum()) < _LEAST:
            return None
        lines = [f"[variable.{variable.name}]", f'counts = "{self.holds.plural}"']
        if more:
            lines.append(f"counts_open = {toml(more)}")
        return tuple(lines)

    def _known(self, variable: Variable, times: int) -> Mask:
        """The leaves for which the schema says so already."""
        known = np.zeros(len(variable.codes), dtype=bool)
        for tie in self.declared:
            if tie.times == times and len(tie.leaves) == 1:
                named, leaves = tie.leaves[0]
                known |= leaves if named.name == variable.name else False
        return known

    def _lines(self, when: str, times: int) -> tuple[str, ...]:
        lines = ["[[identity]]", f'each = "{self.each.value}"', f'holds = "{self.holds.value}"']
        lines += [f"times = {times}"] if times != 1 else []
        return (*lines, f"when = {toml(when)}")


def _valid(variable: Variable) -> Mask:
    return np.array([not code.is_missing for code in variable.codes], dtype=bool)


def _is_in(variable: Variable, codes: Sequence[str]) -> str:
    quoted = ", ".join(f"'{code}'" for code in codes)
    return f"{variable.name} == {quoted}" if len(codes) == 1 else f"{variable.name} in ({quoted})"
