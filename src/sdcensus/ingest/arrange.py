"""Second half of a load: links between records, their order, and the columns of the store."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.ingest.id_parts import LinkMatches, form_adviser, part_after, ranked_digests
from sdcensus.ingest.owners import owner_numbers
from sdcensus.ingest.reading import ColumnParts
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.kernels.keys.links import RowIndex
from sdcensus.kernels.keys.record_keys import record_keys
from sdcensus.model.progress import Progress
from sdcensus.model.schema.file_problems import Adviser, ProblemKind, ProblemLog
from sdcensus.model.schema.id_forms import LinkRule
from sdcensus.model.schema.remedies import link_adviser
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, EntitySpec, Variable, smallest_width
from sdcensus.store.manifest import (
    DIGEST_COLUMN,
    KEY_COLUMN,
    link_column,
    owner_column,
    value_column,
)
from sdcensus.store.writer import StoreWriter

Integers = npt.NDArray[Any]
UInt32 = npt.NDArray[np.uint32]

#: Rows of a column that are put in order and written at a time.
_WRITE_ROWS = 1 << 21


@dataclass(slots=True)
class ArrangedRecords:
    """The records of one kind: where they stand in the parts, and in which order they will lie.

    Attributes:
        parts: The columns, in the order of the file.
        rows: For a derived entity, the row of the parts that speaks for each record.
        digests: The digest of each record, in the order of the parts (or of ``rows``).
        links: The row of each parent in the parent's own ``Records``, before ordering.
        matches: How the links to each kind that has records of its own were found.
        order: Which record comes at each place of the store.
        place: At which place of the store each record comes.
    """

    parts: ColumnParts
    digests: npt.NDArray[np.uint64]
    rows: UInt32 | None = None
    links: dict[Entity, UInt32] = field(default_factory=dict)
    matches: dict[Entity, LinkMatches] = field(default_factory=dict)
    order: UInt32 = field(default_factory=lambda: np.zeros(0, np.uint32))
    place: UInt32 = field(default_factory=lambda: np.zeros(0, np.uint32))

    @property
    def size(self) -> int:
        """How many records there are."""
        return int(self.digests.size)

    def column(self, name: str) -> Integers:
        """A column of the parts, one value for each record."""
        values = self.parts.read(name)
        return values if self.rows is None else values[self.rows]

    def part_row(self, record: int) -> int:
        """The row of the parts on which a record stands."""
        return record if self.rows is None else int(self.rows[record])


def link_records(
    schema: Schema,
    parts: dict[Entity, ColumnParts],
    secret: bytes,
    log: ProblemLog,
    progress: Progress,
) -> dict[Entity, ArrangedRecords]:
    """Make the records of every kind and find the parent of each, parents first."""
    records: dict[Entity, ArrangedRecords] = {}
    members: dict[tuple[Entity, Entity], UInt32] = {}
    entities = schema.top_down
    for at, entity in enumerate(entities):
        progress("linking records", at / len(entities))
        origin = schema.entity(entity).derived_from
        if origin is not None:
            records[entity], members[origin, entity] = _derive(parts[origin], entity)
            _check_one_spelling(schema, entity, records[entity], members[origin, entity], log)
        elif entity in parts:
            spec = schema.entity(entity)
            digests = parts[entity].read(DIGEST_COLUMN)
            if spec.from_content:
                digests = ranked_digests(digests, secret=secret, tag=entity.tag)
            records[entity] = ArrangedRecords(parts[entity], digests)
            _check_unique(records[entity], spec, log)
    for entity, own in records.items():
        for parent in schema.parents(entity):
            if parent in records:
                own.links[parent] = _link(schema, entity, parent, records, members, log)
    for entity, own in records.items():
        if own.rows is not None:
            _check_constant(schema, entity, own, members, log)
    progress("linking records", 1.0)
    return records


def _check_unique(records: ArrangedRecords, spec: EntitySpec, log: ProblemLog) -> None:
    first = RowIndex(records.digests).first
    again = np.flatnonzero((first != np.arange(first.size)) & (records.digests != 0))
    column = " + ".join(spec.id)
    if again.size and spec.form.declared:
        written = records.parts.read(part_after(DIGEST_COLUMN, LinkRule.AS_WRITTEN))
        differs = written[again] != written[first[again]]
        _add_pairs(log, records.parts, first[again[differs]], again[differs], column)
        again = again[~differs]
    _add_by_file(log, ProblemKind.DUPLICATE_ID, records.parts, again, column)


def _check_one_spelling(
    schema: Schema, entity: Entity, own: ArrangedRecords, member: UInt32, log: ProblemLog
) -> None:
    """Rows of one derived unit write its id alike: else two units may have become one."""
    spec = schema.entity(entity)
    origin = schema.entity(spec.derived_from or entity)
    if not spec.form.declared or own.rows is None:
        return
    written = own.parts.read(part_after(link_column(entity), LinkRule.AS_WRITTEN))
    held = np.flatnonzero(member != NO_ROW)
    speaker = own.rows[member[held]]
    differs = written[held] != written[speaker]
    columns = origin.link if origin.within is entity and origin.link else spec.id
    _add_pairs(log, own.parts, speaker[differs], held[differs], " + ".join(columns))


def _add_pairs(
    log: ProblemLog, parts: ColumnParts, one: Integers, other: Integers, column: str
) -> None:
    """Report rows whose ids are the same only in the form that the schema declares."""
    rows = np.unique(np.concatenate([one, other]).astype(np.int64))
    _add_by_file(log, ProblemKind.SAME_ID, parts, rows, column)


def _add_by_file(
    log: ProblemLog,
    kind: ProblemKind,
    parts: ColumnParts,
    rows: Integers,
    column: str,
    adviser: Adviser | None = None,
) -> None:
    """Report rows of the parts as rows of the files that they come from."""
    starts = np.array([first for _, first, _ in parts.pieces], dtype=np.int64)
    piece = np.searchsorted(starts, rows, side="right") - 1
    for at, (name, first, number) in enumerate(parts.pieces):
        log.add(kind, name, column, rows[piece == at] - first + number, adviser=adviser)


def _derive(parts: ColumnParts, entity: Entity) -> tuple[ArrangedRecords, UInt32]:
    """One record for each distinct id in the rows of another kind, and each row's record."""
    digests = parts.read(link_column(entity))
    first = RowIndex(digests).first
    held = digests != 0
    rows = np.flatnonzero(held & (first == np.arange(first.size))).astype(np.uint32)
    number = np.full(first.size, NO_ROW, dtype=np.uint32)
    number[rows] = np.arange(rows.size, dtype=np.uint32)
    member = np.where(held, number[first], NO_ROW)
    return ArrangedRecords(parts, digests[rows], rows), member


def _link(
    schema: Schema,
    entity: Entity,
    parent: Entity,
    records: dict[Entity, ArrangedRecords],
    members: dict[tuple[Entity, Entity], UInt32],
    log: ProblemLog,
) -> UInt32:
    known = members.get((entity, parent))
    if known is not None:
        return known
    own = records[entity]
    wanted = own.column(_link_part(own, entity, parent))
    row = RowIndex(records[parent].digests).find(wanted)
    row[wanted == 0] = NO_ROW
    own.matches[parent] = _matches(schema, entity, parent, records, row)
    orphans = np.flatnonzero((row == NO_ROW) & (wanted != 0))
    spec = schema.entity(entity)
    # The rows that a unit is derived from speak for themselves where they link to the same kind.
    if spec.derived_from is None or parent not in schema.parents(spec.derived_from):
        rows = orphans if own.rows is None else own.rows[orphans]
        columns = spec.link or schema.entity(parent).id
        usual = link_adviser(schema, entity, parent, ProblemKind.ORPHAN)
        adviser = form_adviser(schema, entity, parent, usual)
        place = " + ".join(columns)
        _add_by_file(log, ProblemKind.ORPHAN, own.parts, rows, place, adviser)
    return row


def _matches(
    schema: Schema,
    entity: Entity,
    parent: Entity,
    records: dict[Entity, ArrangedRecords],
    row: UInt32,
) -> LinkMatches:
    """By which rules the links from one kind to another were found."""
    own, above = records[entity], records[parent]
    form = schema.entity(parent).form
    part = _link_part(own, entity, parent)
    found = np.flatnonzero(row != NO_ROW)
    matches: list[tuple[LinkRule, int]] = []
    for rule in form.rules[:-1]:
        mine = own.column(part_after(part, rule))[found]
        theirs = above.column(part_after(_id_part(above, parent), rule))[row[found]]
        same = mine == theirs
        matches.append((rule, int(same.sum())))
        found = found[~same]
    matches.append((form.rules[-1], found.size))
    named = int((own.column(part) != 0).sum())
    spec = schema.entity(entity)
    return LinkMatches(
        child=entity,
        parent=parent,
        columns=spec.link or schema.entity(parent).id,
        form=form,
        matches=tuple(matches),
        unmatched=named - sum(count for _, count in matches),
        unnamed=own.size - named,
        alone=above.size - np.unique(row[row != NO_ROW]).size,
    )


def _id_part(records: ArrangedRecords, entity: Entity) -> str:
    """The column of the parts with the digests of the records themselves."""
    return DIGEST_COLUMN if records.rows is None else link_column(entity)


def _link_part(own: ArrangedRecords, entity: Entity, parent: Entity) -> str:
    """The column of the parts with the digests of the parents."""
    name = link_column(parent)
    through = f"{link_column(entity)}{name}"
    return through if own.rows is not None and through in own.parts.types else name


def _check_constant(
    schema: Schema,
    entity: Entity,
    own: ArrangedRecords,
    members: dict[tuple[Entity, Entity], UInt32],
    log: ProblemLog,
) -> None:
    """Variables and the parent of a derived unit must be the same in every row of it."""
    origin = schema.entity(entity).derived_from
    if origin is None or own.rows is None:
        return
    member = members[origin, entity]
    held = np.flatnonzero(member != NO_ROW)
    speaker = own.rows[member[held]]
    spec = schema.entity(entity)
    if spec.within in own.links:
        above = own.parts.read(_link_part(own, entity, spec.within))
        differs = above[held] != above[speaker]
        columns = " + ".join(spec.link or schema.entity(spec.within).id)
        _add_by_file(log, ProblemKind.NOT_CONSTANT, own.parts, held[differs], columns)
    for variable in schema.variables:
        if variable.entity is not entity:
            continue
        differs = np.zeros(held.size, dtype=bool)
        for name in (variable.name, value_column(variable.name), owner_column(variable.name)):
            if name in own.parts.types:
                values = own.parts.read(name)
                differs |= values[held] != values[speaker]
        source = variable.source
        column = variable.name if source is None else source.column
        _add_by_file(log, ProblemKind.NOT_CONSTANT, own.parts, held[differs], column)


def order_records(schema: Schema, records: dict[Entity, ArrangedRecords]) -> None:
    """Put the records in order of area, and below it in the order of what holds them."""
    geography = schema.geography
    for entity in schema.top_down:
        if entity not in records:
            continue
        own = records[entity]
        order = np.arange(own.size, dtype=np.uint32)
        within = schema.entity(entity).within
        parent = within if within in own.links else next(iter(own.links), None)
        if parent is not None:
            above = np.full(own.size, NO_ROW, dtype=np.uint32)
            if records[parent].size:
                inherit(own.links[parent], records[parent].place, int(NO_ROW), above)
            order = _stable_order(above, order)
        if geography is not None and entity is geography.entity:
            order = _stable_order(own.column(geography.name), order)
        own.order = order
        own.place = np.empty(own.size, dtype=np.uint32)
        own.place[order] = np.arange(own.size, dtype=np.uint32)


def _stable_order(key: Integers, order: UInt32) -> UInt32:
    """``order`` rearranged so that ``key`` ascends, keeping what is equal as it was."""
    current = key[order].astype(np.uint64)
    largest = int(current.max()) if current.size else 0
    _, moved = sort_cells(current, largest=largest)
    return order[moved]


def write_records(
    schema: Schema, records: dict[Entity, ArrangedRecords], writer: StoreWriter, progress: Progress
) -> None:
    """Write every column in the order of the store."""
    work: list[tuple[Entity, str, Integers]] = []
    for entity in schema.top_down:
        own = records.get(entity)
        writer.add_entity(entity, own.size if own else 0)
        if own is None:
            continue
        work.append((entity, DIGEST_COLUMN, own.digests))
        work.append((entity, KEY_COLUMN, _keys(schema, entity, own)))
        for parent, link in own.links.items():
            places = np.full(own.size, NO_ROW, dtype=np.uint32)
            if records[parent].size:
                inherit(link, records[parent].place, int(NO_ROW), places)
            work.append((entity, link_column(parent), places))
        for name in sorted(own.parts.types):
            if _belongs(schema, entity, name):
                column = own.column(name)
                owners = name.endswith(owner_column(""))
                work.append((entity, name, owner_numbers(column) if owners else column))
        area = _inherited_area(schema, entity, records)
        if area is not None:
            work.append((entity, area[0].name, area[1]))
    done = 0

    def write(item: tuple[Entity, str, Integers]) -> None:
        nonlocal done
        entity, name, values = item
        writer.write(entity, name, _ordered(values, records[entity].order))
        done += 1
        progress("writing columns", done / len(work))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, work))


def _keys(schema: Schema, entity: Entity, own: ArrangedRecords) -> Integers:
    if KEY_COLUMN in own.parts.types and own.rows is None:
        return own.column(KEY_COLUMN)
    return record_keys(own.digests, modulus=schema.keys.space.modulus)


def _belongs(schema: Schema, entity: Entity, column: str) -> bool:
    """Whether a column of the parts describes records of this kind."""
    name = column.partition(".")[0]
    return not name.startswith("_") and schema.variable(name).entity is entity


def _ordered(values: Integers, order: UInt32) -> Iterator[Integers]:
    for start in range(0, max(order.size, 1), _WRITE_ROWS):
        yield values[order[start : start + _WRITE_ROWS]]


def _inherited_area(
    schema: Schema, entity: Entity, records: dict[Entity, ArrangedRecords]
) -> tuple[Variable, Integers] | None:
    """The finest area of records that inherit it: nearly every table asks for it."""
    geography = schema.geography
    if geography is None or geography.entity is entity:
        return None
    path = schema.path(entity, geography.entity)
    if path is None or any(kind not in records for kind in path):
        return None
    inherited = schema.inherited_missing(entity, geography)
    missing = (geography.missing_position if inherited is None else inherited) or 0
    rows = np.arange(records[entity].size, dtype=np.uint32)
    child = entity
    for parent in path:
        above = np.full(rows.size, NO_ROW, dtype=np.uint32)
        if records[child].size:
            inherit(rows, records[child].links[parent], int(NO_ROW), above)
        rows, child = above, parent
    area = np.full(rows.size, missing, dtype=smallest_width(len(geography.codes)))
    if records[child].size:
        inherit(rows, records[child].column(geography.name), missing, area)
    return geography, area
