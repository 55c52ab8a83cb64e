"""What the edit rules of the schema forbid a record to become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import Impossible
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import Universe, unit_of, universe_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForbiddenValues(Confidential):
    """For each blanked record the combinations of new values that would break a rule.

    A record that broke a rule before may go on doing so: what is forbidden are new violations.

    Attributes:
        rules: The rules that the blanked variables take part in.
        forbidden: A row for each blanked record, a column for each combination of each rule.
        starts: Where the combinations of each rule begin among the columns.
    """

    rules: tuple[tuple[Impossible, Universe], ...]
    forbidden: Mask
    starts: tuple[int, ...]
    blank: tuple[Variable, ...]

    def __repr__(self) -> str:
        return "<ForbiddenValues: confidential>"

    def combinations(self, values: Mapping[str, Integers]) -> Integers:
        """For each record of which the blanked variables have these codes, a column of each rule.

        Args:
            values: The codes of each blanked variable.
        """
        rows = next(iter(values.values())).size
        columns = [
            start + _combined(universe, values, rows)
            for start, (_, universe) in zip(self.starts, self.rules, strict=True)
        ]
        if not columns:
            return np.zeros((rows, 0), dtype=np.int64)
        return np.ascontiguousarray(np.stack(columns, axis=1))


def forbidden_values(
    records: CensusStore, unit: Entity, rows: Integers, blank: Sequence[Variable]
) -> ForbiddenValues:
    """What the records at ``rows`` must not become, by the rules about blanked variables."""
    names = {variable.name for variable in blank}
    rules: list[tuple[Impossible, Universe]] = []
    parts: list[Mask] = []
    for rule in records.schema.impossible:
        universe = universe_of(rule.when, records.schema)
        if not names.isdisjoint(variable.name for variable in universe.variables):
            rules.append((rule, universe))
            parts.append(_forbidden_by(records, unit, rows, universe, names))
    sizes = [part.shape[1] for part in parts]
    starts = tuple(int(start) for start in np.cumsum([0, *sizes])[:-1]) if parts else ()
    whole = np.concatenate(parts, axis=1) if parts else np.zeros((rows.size, 1), dtype=bool)
    return ForbiddenValues(tuple(rules), np.ascontiguousarray(whole), starts, tuple(blank))


def _blank_axes(universe: Universe, names: set[str]) -> list[int]:
    return [at for at, variable in enumerate(universe.variables) if variable.name in names]


def _combined(universe: Universe, values: Mapping[str, Integers], rows: int) -> Integers:
    """The number of each record's combination of classes of the variables that have values."""
    number = np.zeros(rows, dtype=np.int64)
    for at, variable in enumerate(universe.variables):
        if variable.name in values:
            number = number * universe.truth.shape[at] + universe.classes[at][values[variable.name]]
    return number


def _forbidden_by(
    records: CensusStore, unit: Entity, rows: Integers, universe: Universe, names: set[str]
) -> Mask:
    """One rule: a row for each blanked record, a column for each combination of its classes."""
    schema = records.schema
    kind = unit_of(universe, schema)
    blank = _blank_axes(universe, names)
    others = [at for at in range(universe.truth.ndim) if at not in blank]
    truth = universe.truth.transpose([*blank, *others])
    truth = truth.reshape(int(np.prod(truth.shape[: len(blank)])), -1)
    place = np.full(records.rows(unit) + 1, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    holder = holder_rows(records, kind, unit).astype(np.int64)
    holder[holder == int(NO_ROW)] = records.rows(unit)
    members = np.flatnonzero(place[holder] >= 0)
    own = place[holder[members]]
    codes = {
        variable.name: records.column(kind, variable)[slice(0, records.rows(kind))][members]
        for variable in universe.variables
    }
    now = _combined(universe, {name: codes[name] for name in codes if name in names}, members.size)
    rest = {name: column for name, column in codes.items() if name not in names}
    other = _combined(universe, rest, members.size)
    kept = ~truth[now, other]
    own, other = own[kept], other[kept]
    forbidden = np.zeros((rows.size, truth.shape[0]), dtype=bool)
    order = np.argsort(own, kind="stable")
    own, other = own[order], other[order]
    if own.size:
        starts = np.flatnonzero(np.append(True, own[1:] != own[:-1]))
        for combination in range(truth.shape[0]):
            broken = truth[combination][other]
            forbidden[own[starts], combination] = np.logical_or.reduceat(broken, starts)
    return forbidden
