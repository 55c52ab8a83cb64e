"""Records whose draw would break an edit rule keep their value, until no rule is newly broken.

A rule that several changes break together takes back all of them that it names. Taking one back can
break another rule: it is looked again, and the more is taken back the fewer rules can break, so it
ends; at the latest where everything is as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.edit_rules import new_violations
from sdcensus.microdata.method import Changes, NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress
from sdcensus.model.schema.edit_rules import EditRule, edit_rules
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Breach(Confidential):
    """A rule that changes break, and who would.

    Attributes:
        variables: The variables of the rule.
        entity: The kind of unit that breaks it.
        rows: The rows of the units that do and did not before.
    """

    variables: frozenset[str]
    entity: Entity
    rows: Rows

    def __repr__(self) -> str:
        return "<Breach: confidential>"


def ruled(schema: Schema) -> frozenset[str]:
    """The variables that edit rules name."""
    return frozenset(name for rule in schema.kept(edit_rules) for name in _named(rule))


def _named(rule: EditRule) -> frozenset[str]:
    return frozenset(variable.name for variable in rule.variables)


def breaches(
    records: CensusStore, codes: Mapping[str, NewValues], progress: Progress
) -> Iterator[Breach]:
    """The rules that new codes break, each with the units that kept it before."""
    for new in new_violations(DerivedRecords(records, Changes(codes=codes)), progress):
        rows = new.rows if new.others is None else np.union1d(new.rows, new.others)
        yield Breach(_named(new.rule), new.rule.entity, rows)


def units_above(records: CensusStore, entity: Entity, rows: Rows, holder: Entity) -> Rows:
    """The rows of the units of a kind that hold some records, or are they."""
    child, above = entity, rows
    for parent in records.schema.path(entity, holder) or ():
        link = records.raw(child, link_column(parent))[above]
        above = link[link != NO_ROW].astype(np.int64)
        child = parent
    return np.unique(above)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ChangeSet(Confidential):
    """New codes that are made or taken back together.

    Attributes:
        codes: New codes by variable, all of the same rows.
        units: For each row the number of the unit that changes whole; ``None`` where every record
            is one.
    """

    codes: Mapping[str, NewValues]
    units: Integers | None = None

    def __repr__(self) -> str:
        return "<ChangeSet: confidential>"

    @property
    def rows(self) -> Rows:
        """The rows of the records that change."""
        return next(iter(self.codes.values())).rows

    def without(self, kept: Mask) -> dict[str, NewValues]:
        """The new codes without those of some rows."""
        return {
            name: NewValues(new.rows[~kept], new.values[~kept]) for name, new in self.codes.items()
        }

    def back(self, records: CensusStore, breach: Breach) -> Mask:
        """The rows that are taken back because of a breach."""
        back = np.zeros(self.rows.size, dtype=bool)
        if breach.variables & set(self.codes):
            holder = records.schema.variable(next(iter(self.codes))).entity
            back = np.isin(self.rows, units_above(records, breach.entity, breach.rows, holder))
        return back if self.units is None else np.isin(self.units, self.units[back])


def kept_by_rules(
    records: CensusStore, changes: Sequence[ChangeSet], progress: Progress
) -> list[Mask]:
    """For each set of changes which of its rows keep their values.

    Args:
        records: The store.
        changes: What would change.
        progress: Told how far it is.
    """
    kept = [np.zeros(change.rows.size, dtype=bool) for change in changes]
    names = {name for change in changes for name in change.codes}
    if not ruled(records.schema) & names:
        return kept
    while True:
        left: dict[str, NewValues] = {}
        for change, mask in zip(changes, kept, strict=True):
            left |= change.without(mask)
        before = sum(int(mask.sum()) for mask in kept)
        for breach in breaches(records, left, progress):
            for change, mask in zip(changes, kept, strict=True):
                mask |= change.back(records, breach)
        if sum(int(mask.sum()) for mask in kept) == before:
            return kept
