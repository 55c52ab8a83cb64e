"""Records that an office leaves out of a file by name: by digest, or by the ids of the census."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.documents.workbooks.small_tables import Row, small_table
from sdcensus.errors import DocumentError, Mistake, Sentence, SpecError, unknown
from sdcensus.ingest.id_parts import IdParts
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Changes, Mask, left_empty
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import KeyScope, Schema
from sdcensus.model.schema.variable import Entity, EntitySpec
from sdcensus.model.secret import Secret
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column

Integers = npt.NDArray[Any]

#: Headings of the file: the kind of unit, and the digest of a record as office files write it.
UNIT, RECORD = "unit", "record"
_DIGEST_LENGTH = 16
#: So many mistakes are listed.
_MOST_MISTAKES = 20


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Deletion(Confidential):
    """Records that go, and what the office is told about it.

    Attributes:
        derived: The records that stay.
        notes: What it tells.
    """

    derived: DerivedRecords
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return "<Deletion: confidential>"


def deleted(store: CensusStore, path: Path, secret: Secret) -> Deletion:
    """Leave out the records that a file names, with everything that they hold.

    The file is a table with headings. ``record`` holds digests as office files write them, or the
    columns are those of the id in the census; ``unit`` says the kind of each record, persons if
    there is no such column.

    Raises:
        DocumentError: The file names what the census does not have; each mistake with its line.
        SpecError: Nobody would be left.
    """
    rows = _named_rows(store, path, secret)
    changes = Changes(dropped=rows)
    derived = DerivedRecords(store, changes)
    gone = derived.gone
    if all(mask.all() for entity, mask in gone.items() if entity is Entity.PERSON):
        raise SpecError(f"{path} names everybody: no person would be left in the file.")
    own = sum(each.size for each in rows.values())
    held = sum(int(mask.sum()) for mask in gone.values()) - own
    notes = [sentence("release_treat.deletion.deleted", n=own, held=held)]
    counting = [
        variable
        for variable in store.schema.variables
        if variable.counts is not None and variable.counts in gone and gone[variable.counts].any()
    ]
    shrunk = max((_shrunk(store, each.entity, each.counts, gone) for each in counting), default=0)
    if shrunk:
        names = ", ".join(variable.name for variable in counting)
        notes.append(sentence("release_treat.deletion.sizes", variables=names, n=shrunk))
    emptied = sum(left_empty(store, gone).values())
    if emptied:
        notes.append(sentence("release_treat.deletion.empty", n=emptied))
    return Deletion(derived=derived, notes=tuple(notes))


def _shrunk(
    store: CensusStore, holder: Entity, held: Entity | None, gone: Mapping[Entity, Mask]
) -> int:
    """How many units stay and have lost some of a kind that they hold."""
    if held is None or not store.has(held, link_column(holder)):
        return 0
    link = store.raw(held, link_column(holder))
    lost = link[gone[held] & (link != NO_ROW)]
    units = np.unique(lost)
    return int((~gone[holder][units]).sum())


def _named_rows(store: CensusStore, path: Path, secret: Secret) -> dict[Entity, Integers]:
    table = [
        (line, fields) for line, fields in small_table(path, what="list of records") if any(fields)
    ]
    if not table:
        raise DocumentError(
            str(path), [Mistake(1, f"The file is empty. Its first line has headings: {RECORD}.")]
        )
    (head_line, headings), lines = table[0], table[1:]
    reading = _Reading(store.schema, path, head_line, [each.casefold() for each in headings])
    units = [reading.unit(line, fields) for line, fields in lines]
    rows: dict[Entity, Integers] = {}
    for entity in dict.fromkeys(unit for unit in units if unit is not None):
        own = [row for row, unit in zip(lines, units, strict=True) if unit is entity]
        digests, lines_of_digests = reading.digests(entity, own, secret)
        known = store.digests(entity)
        order = np.argsort(known, kind="stable")
        at = np.searchsorted(known[order], digests)
        there = (at < known.size) & (known[order][np.minimum(at, known.size - 1)] == digests)
        for line in np.asarray(lines_of_digests)[~there].tolist():
            reading.mistake(
                line,
                f"The census has no {entity.value} of this name. Take the line out, or name the"
                f" kind of unit in a column {UNIT!r}.",
            )
        rows[entity] = np.unique(order[at[there]])
    reading.check()
    return rows


@dataclass(slots=True)
class _Reading:
    """A file of records, line by line, with what is wrong in it."""

    schema: Schema
    path: Path
    head_line: int
    headings: list[str]
    mistakes: list[Mistake] = field(default_factory=list)

    def mistake(self, line: int, text: str) -> None:
        """Note what is wrong in a line."""
        self.mistakes.append(Mistake(line, text))

    def check(self) -> None:
        """Tell all mistakes.

        Raises:
            DocumentError: There are some.
        """
        if self.mistakes:
            listed = sorted(self.mistakes, key=lambda mistake: mistake.line or 0)
            raise DocumentError(str(self.path), listed[:_MOST_MISTAKES])

    def unit(self, line: int, fields: Sequence[str]) -> Entity | None:
        """The kind of unit of a line."""
        kinds = [spec.entity for spec in self.schema.entities]
        word = self._field(fields, UNIT) if UNIT in self.headings else Entity.PERSON.value
        try:
            entity = Entity.parse(word)
        except SpecError as error:
            self.mistake(line, str(error))
            return None
        if entity not in kinds:
            known = [kind.plural for kind in kinds]
            self.mistake(line, unknown("kind of unit", word, known))
            return None
        return entity

    def digests(
        self, entity: Entity, rows: Sequence[Row], secret: Secret
    ) -> tuple[npt.NDArray[np.uint64], list[int]]:
        """The digests of records of one kind, and their lines."""
        if RECORD in self.headings:
            pairs = list(self._hexadecimal(rows))
            numbers = np.array([number for number, _ in pairs], dtype=np.uint64)
            return numbers, [line for _, line in pairs]
        spec = self.schema.entity(entity)
        self._check_id(spec)
        columns = {
            name: pa.array(
                [self._field(fields, name.casefold()) for _, fields in rows], pa.string()
            )
            for name in spec.id
        }
        by_number = entity is Entity.PERSON and self.schema.keys.scope is KeyScope.PERSON_NUMBER
        parts = IdParts(
            spec.id,
            prefix=() if by_number else self.schema.census.code,
            widths={},
            form=spec.form,
            file=str(self.path),
            secret=secret.reveal_for_record_keys(),
            tag=entity.tag,
        )
        ids = parts.digests(pa.RecordBatch.from_pydict(columns))
        wrong = ids.empty | ids.bad
        for (line, _), bad in zip(rows, wrong.tolist(), strict=True):
            if bad:
                self.mistake(line, f"The id ({', '.join(spec.id)}) is not complete.")
        lines = [line for (line, _), bad in zip(rows, wrong.tolist(), strict=True) if not bad]
        return ids.digests[~wrong], lines

    def _check_id(self, spec: EntitySpec) -> None:
        absent = [name for name in spec.id if name.casefold() not in self.headings]
        if not spec.id or spec.from_content or absent:
            ids = "" if not spec.id or spec.from_content else f", or {', '.join(spec.id)} (the id)"
            self.mistake(
                self.head_line,
                f"The columns do not name {spec.entity.plural}. A column {RECORD!r} has digests as"
                f" files of the office write them{ids}; {UNIT!r} says the kind of unit.",
            )
            self.check()

    def _hexadecimal(self, rows: Sequence[Row]) -> Iterator[tuple[int, int]]:
        """The digest of each line that has one, with the line."""
        for line, fields in rows:
            text = self._field(fields, RECORD)
            try:
                if len(text) != _DIGEST_LENGTH:
                    raise ValueError
                number = int(text, 16)
            except ValueError:
                self.mistake(
                    line, f"{text!r} is no digest: {_DIGEST_LENGTH} digits from 0 to 9 and a to f."
                )
                continue
            yield number, line

    def _field(self, fields: Sequence[str], heading: str) -> str:
        at = self.headings.index(heading)
        return fields[at] if at < len(fields) else ""
