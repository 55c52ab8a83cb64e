"""Edit rules where records change: asked before a change is made, and checked after all are.

A method asks ``CandidateRules`` whether new codes of a record would break a rule about one record.
Once everything is changed, ``new_violations`` tells who breaks a rule that they kept before, alone
or together with another record; only records that a change may concern are looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import OfficeFile
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.edit_rules import EditRule, edit_rules
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import CensusStore, inside
from sdcensus.store.edit_rules import Members, breaches, rows_inside

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class CandidateRules(Confidential):
    """Whether new codes of records would break a rule about one record.

    Rules about units that the changed ones hold are asked as well: a household that moves takes
    its persons to an area in which a rule may forbid them.

    Args:
        records: The store.
        variables: The variables that would change; all of one kind of unit.
    """

    __slots__ = ("_held", "_records", "_rules", "unit")

    def __init__(self, records: CensusStore, variables: Collection[str]) -> None:
        schema = records.schema
        units = {schema.variable(name).entity for name in variables}
        if len(units) != 1:
            raise ValueError("candidates change variables of one kind of unit")
        #: The kind of unit whose codes would change.
        self.unit: Entity = units.pop()
        self._records = records
        self._rules = [
            rule
            for rule in schema.kept(edit_rules)
            if rule.second is None
            and any(variable.name in variables for variable in rule.when.variables)
        ]
        self._held: dict[Entity, tuple[Int64, Int64]] = {}

    def __repr__(self) -> str:
        return "<CandidateRules: confidential>"

    @property
    def variables(self) -> frozenset[str]:
        """The variables of the rules that a change may break; none where there is no such rule."""
        return frozenset(variable.name for rule in self._rules for variable in rule.when.variables)

    def broken(self, rows: Integers, codes: Mapping[str, Integers]) -> Mask:
        """For each record, whether its new codes would break a rule that it keeps now.

        Args:
            rows: The rows of the records; a row may stand there several times.
            codes: For each variable that changes the new code of each of them, as a position in
                its list. What is not named stays as it is.
        """
        rows = np.asarray(rows, dtype=np.int64)
        broken = np.zeros(rows.size, dtype=bool)
        for rule in self._rules:
            owner, records = self._records_of(rule.entity, rows)
            columns = [self._records.column(rule.entity, each) for each in rule.when.variables]
            before = inside(rule.when, columns, records, records.size)
            classes = tuple(
                kinds[codes[variable.name][owner] if variable.name in codes else column[records]]
                for variable, kinds, column in zip(
                    rule.when.variables, rule.when.classes, columns, strict=True
                )
            )
            broken[owner[rule.when.truth[classes] & ~before]] = True
        return broken

    def _records_of(self, entity: Entity, rows: Int64) -> tuple[Int64, Int64]:
        """The records of a kind that units hold: for each the place of its unit, and its row."""
        if entity is self.unit:
            return np.arange(rows.size), rows
        if entity not in self._held:
            holder = self._records.holder_rows(entity, self.unit)[:]
            order = np.argsort(holder, kind="stable")
            order = order[holder[order] != NO_ROW]
            starts = np.searchsorted(holder[order], np.arange(self._records.rows(self.unit) + 1))
            self._held[entity] = order, starts
        order, starts = self._held[entity]
        sizes = starts[rows + 1] - starts[rows]
        owner = np.repeat(np.arange(rows.size), sizes)
        offsets = np.arange(owner.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return owner, order[starts[rows][owner] + offsets]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NewViolations(Confidential):
    """Records that break a rule and did not, or not with this other record, before.

    Attributes:
        rule: The rule.
        rows: Their rows in the store before the changes, ascending.
        others: For a rule about two records the row of the other one.
    """

    rule: EditRule
    rows: Int64
    others: Int64 | None = None

    def __repr__(self) -> str:
        return "<NewViolations: confidential>"


def new_violations(
    derived: DerivedRecords, progress: Progress = no_progress
) -> tuple[NewViolations, ...]:
    """The rules that changes break, with the records that broke them neither before."""
    before, after = derived.store, _Changed(derived)
    changed = {name: new.rows for name, new in derived.changes.codes.items()}
    rules = before.schema.kept(edit_rules)
    violations = []
    for at, rule in enumerate(rules):
        progress("checking edit rules", at / len(rules))
        concerned = [variable for variable in rule.variables if variable.name in changed]
        if not concerned:
            continue
        touched = _touched(before, rule.entity, concerned, changed)
        touched &= ~derived.gone[rule.entity]
        if rule.second is None:
            rows = rows_inside(rule.when, after, rule.entity, touched)
            columns = [before.column(rule.entity, variable) for variable in rule.when.variables]
            new = NewViolations(rule, rows[~inside(rule.when, columns, rows, rows.size)])
        else:
            new = _new_pairs(rule, before, after, touched, derived.gone[rule.entity])
        if new.rows.size:
            violations.append(new)
    return tuple(violations)


def _touched(
    store: CensusStore,
    entity: Entity,
    variables: Iterable[Variable],
    changed: Mapping[str, Integers],
) -> Mask:
    """The records for which one of these variables may be another, their own or inherited."""
    touched = np.zeros(store.rows(entity), dtype=bool)
    above: dict[Entity, Mask] = {}
    for variable in variables:
        mask = above.setdefault(variable.entity, np.zeros(store.rows(variable.entity), dtype=bool))
        mask[changed[variable.name]] = True
    for holder, mask in above.items():
        rows = store.holder_rows(entity, holder)[:]
        held = rows != NO_ROW
        touched[held] |= mask[rows[held]]
    return touched


def _new_pairs(
    rule: EditRule, before: CensusStore, after: CensusStore, touched: Mask, gone: Mask
) -> NewViolations:
    """Pairs of records that break a rule together and did not before."""
    assert rule.second is not None
    holder = before.holder_rows(rule.entity, rule.second.within)[:]
    concerned = np.zeros(before.rows(rule.second.within), dtype=bool)
    concerned[holder[touched & (holder != NO_ROW)]] = True
    among = np.zeros(touched.size, dtype=bool)
    held = holder != NO_ROW
    among[held] = concerned[holder[held]]
    among &= ~gone
    rows = breaches(rule, after, among).rows
    if not rows.size:
        return NewViolations(rule, rows, rows)
    members, earlier = Members(rule, after, among), Members(rule, before, among)
    was_first = np.zeros(touched.size, dtype=bool)
    was_first[rows_inside(rule.when, before, rule.entity, among)] = True
    was_second = np.zeros(touched.size, dtype=bool)
    was_second[earlier.rows] = True
    found: list[tuple[Int64, Int64]] = []
    for first, second in members.pairs(rows):
        new = members.gap_broken(first, second)
        new &= ~(was_first[first] & was_second[second] & earlier.gap_broken(first, second))
        record, at = np.unique(first[new], return_index=True)
        found.append((record, second[new][at]))
    records = np.concatenate([record for record, _ in found])
    return NewViolations(rule, records, np.concatenate([other for _, other in found]))


class _Changed(CensusStore):
    """The records with what has changed, in the order of the store from which they come."""

    __slots__ = ("_derived", "_names")

    def __init__(self, derived: DerivedRecords) -> None:
        store = derived.store
        super().__init__(store.path, store.manifest, store.schema)
        self._derived = derived
        self._names = frozenset(derived.changes.codes)

    def __repr__(self) -> str:
        return "<Changed records: confidential>"

    def _check_link(self, child: Entity, parent: Entity, link: Integers) -> None:
        """Links are those of the store."""
        self._derived.store._check_link(child, parent, link)

    def raw(self, entity: Entity, column: str) -> Integers:
        """A column of the store, with what has changed."""
        if column not in self._names:
            return self._derived.store.raw(entity, column)
        if (entity, column) not in self._columns:
            self._columns[entity, column] = self._derived.column(entity, column)
        return self._columns[entity, column]


#: Where the office finds them: beside a store that has them, or without one where it was refused.
VIOLATIONS_FILE, REFUSED_FILE = "violations.csv", "refused-violations.csv"


def violations_file(
    derived: DerivedRecords, violations: Iterable[NewViolations], name: str
) -> OfficeFile:
    """Every new violation with its positions, for the office alone.

    Rows are those of the derived store, from 1; records are named by the digest of their identity.
    """
    blocks: list[dict[str, Integers]] = []
    for new in violations:
        entity = new.rule.entity
        order, digests = derived.order[entity], derived.store.digests(entity)
        places = np.zeros(digests.size, dtype=np.int64)
        places[order] = np.arange(1, order.size + 1)
        at = np.argsort(places[new.rows], kind="stable")
        rows = new.rows[at]
        block = {
            "rule": np.full(rows.size, new.rule.text, dtype=object),
            "unit": np.full(rows.size, entity.value, dtype=object),
            "row": places[rows].astype(object),
            "record": _hexadecimal(digests[rows]),
            "other_row": np.full(rows.size, "", dtype=object),
            "other_record": np.full(rows.size, "", dtype=object),
        }
        if new.others is not None:
            others = new.others[at]
            block["other_row"] = places[others].astype(object)
            block["other_record"] = _hexadecimal(digests[others])
        blocks.append(block)
    names = list(blocks[0]) if blocks else []
    columns = {name: np.concatenate([block[name] for block in blocks]) for name in names}
    return OfficeFile(name=name, columns=columns)


def _hexadecimal(digests: Integers) -> Integers:
    return np.array([f"{digest:016x}" for digest in digests.tolist()], dtype=object)


def refusal_of(violations: Iterable[NewViolations], listed: Path) -> str:
    """Why changes are refused that make records which the schema declares impossible.

    Args:
        violations: The rules that they break, and who.
        listed: The file with the positions, for the office.
    """
    rules = "\n".join(f"  {new.rule.text}: {new.rows.size:,} new" for new in violations)
    return (
        f"The method would make records that the schema declares impossible:\n{rules}\nNo store"
        f" was written. Which records they are is in {listed}, for the office only. Change the"
        " parameters of the method or the rules of the schema, or let them pass with"
        " --allow-violations."
    )
