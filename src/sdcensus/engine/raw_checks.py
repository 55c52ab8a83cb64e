"""Are the ids unique, do the links lead anywhere, do rows agree? Asked before anything is counted.

Every check first counts, which is cheap; only where something is wrong are the rows looked up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sdcensus.engine.raw_encoding import Encoding, as_text
from sdcensus.engine.raw_files import RawFile
from sdcensus.engine.raw_frames import FrameReference, Frames, WantedColumns
from sdcensus.engine.raw_query import FileQuery, IdPart, column_of
from sdcensus.model.schema.file_problems import Adviser, Problem, ProblemKind
from sdcensus.model.schema.remedies import owner_adviser
from sdcensus.model.schema.schema import KeyColumn, Schema
from sdcensus.model.schema.variable import EmptyOwner, Entity, Variable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: So many rows of each problem are named, and so many values looked at for advice.
_EXAMPLES, _MOST_VALUES = 5, 100
#: Where a row stands: in which of the files, and where in it.
_WHERE = {"part": "f.part", "row": "f.row"}


#: What helps against each kind of problem of a column.
AdviserOfKind = Callable[[ProblemKind], Adviser]


class Checks:
    """Checks of the files of a census, over one connection."""

    def __init__(
        self, connection: DuckDBPyConnection, schema: Schema, files: Mapping[Entity, RawFile]
    ) -> None:
        self._connection, self._schema, self._files = connection, schema, files

    def ids(self, entity: Entity) -> list[Problem]:
        """Ids of a kind with a file of its own: complete, usable and unique."""
        frames = self._frames()
        query = frames.query(entity)
        columns = frames.id_columns(entity)
        label = " + ".join(columns)
        own_id = frames.id_of(query, entity)
        parts = frames.id_parts(entity)
        bad = _bad(query, parts)
        problems = self._wrong(frames, query, f"{own_id} IS NULL", ProblemKind.EMPTY_ID, label)
        problems += self._wrong(
            frames, query, f"{own_id} IS NOT NULL AND ({bad})", ProblemKind.BAD_ID, label
        )
        again = (
            f"SELECT id FROM ({query.sql({'id': own_id})}) AS unit WHERE id IS NOT NULL"
            " GROUP BY id HAVING count(*) > 1"
        )
        if self._count(f"SELECT count(*) FROM ({again}) AS again", frames):
            written = query.written_id(parts)
            rows = query.sql({"id": own_id, "written": written, **_WHERE}, numbered=True)
            times = (
                "SELECT part, row, row_number() OVER unit AS time,"
                " written IS DISTINCT FROM first_value(written) OVER unit AS otherwise"
                f" FROM ({rows}) AS unit WHERE id IS NOT NULL"
                " WINDOW unit AS (PARTITION BY id ORDER BY part, row)"
            )
            twice = f"SELECT part, row FROM ({times}) AS unit WHERE time > 1 AND NOT otherwise"
            problems += self._located(frames, query.file, twice, ProblemKind.DUPLICATE_ID, label)
            problems += self.spellings(entity)
        return problems

    def spellings(self, entity: Entity) -> list[Problem]:
        """Rows whose ids of a kind are one only in the form that the schema declares."""
        if not self._schema.entity(entity).form.declared:
            return []
        frames = self._frames()
        query = frames.query(entity)
        parts = frames.id_parts(entity)
        identity = {"id": query.id(parts), "written": query.written_id(parts)}
        several = (
            f"SELECT id FROM ({query.sql(identity)}) AS unit WHERE id IS NOT NULL GROUP BY id"
            " HAVING count(DISTINCT written) > 1"
        )
        if not self._count(f"SELECT count(*) FROM ({several}) AS several", frames):
            return []
        rows = query.sql({**identity, **_WHERE}, numbered=True)
        compared = (
            "SELECT *, first_value(written) OVER unit AS first, row_number() OVER unit AS time"
            f" FROM ({rows}) AS unit WHERE id IN ({several})"
            " WINDOW unit AS (PARTITION BY id ORDER BY part, row)"
        )
        wrong = f"SELECT part, row FROM ({compared}) AS unit WHERE time = 1 OR written != first"
        label = " + ".join(part.column for part in parts)
        return self._located(frames, query.file, wrong, ProblemKind.SAME_ID, label)

    def links(self, entity: Entity, parent: Entity) -> list[Problem]:
        """Links of a kind of unit: there, usable, and leading to a record."""
        frames = self._frames()
        query = frames.query(entity)
        columns = frames.link_columns(entity, parent)
        label = " + ".join(columns)
        link = frames.link_of(query, entity, parent)
        bad = _bad(query, frames.link_parts(entity, parent))
        problems: list[Problem] = []
        spec = self._schema.entity(entity)
        if parent is spec.within and not spec.optional:
            problems += self._wrong(frames, query, f"{link} IS NULL", ProblemKind.EMPTY_LINK, label)
        problems += self._wrong(
            frames, query, f"{link} IS NOT NULL AND ({bad})", ProblemKind.BAD_ID, label
        )
        if frames.home(parent) is parent:  # units without a file are those that are named
            known = (
                f"WITH known AS (SELECT id FROM ({frames.frame(parent, WantedColumns())}) AS p"
                " WHERE id IS NOT NULL) "
            )
            nowhere = f"{link} IS NOT NULL AND {link} NOT IN (SELECT id FROM known)"
            problems += self._wrong(frames, query, nowhere, ProblemKind.ORPHAN, label, before=known)
        return problems

    def keys(self, entity: Entity, existing: KeyColumn) -> list[Problem]:
        """Keys that stand in a column."""
        frames = self._frames()
        query = frames.query(entity)
        wrong = f"{query.key(existing.column, existing.digits)} IS NULL"
        return self._wrong(frames, query, wrong, ProblemKind.BAD_KEY, existing.column)

    def owners(self, entity: Entity, variable: Variable) -> list[Problem]:
        """Amounts that belong to nobody, where the schema does not say what that means."""
        source = variable.source
        if source is None or source.owner_empty is not EmptyOwner.PROBLEM:
            return []
        frames = self._frames()
        query = frames.query(entity)
        part = frames.owner_part(entity, variable)
        # Who has no land needs no owner of it.
        empty = f"{query.part(part)} IS NULL AND coalesce({query.value(variable)}, 0) != 0"
        problems = self._wrong(frames, query, empty, ProblemKind.EMPTY_OWNER, part.column)
        advice = owner_adviser(variable)((), True)
        return [replace(problem, advice=advice) for problem in problems]

    def agreement(self, entity: Entity, about: Variable | Entity) -> list[Problem]:
        """Rows that do not say the same of a unit without a file as its first row.

        Args:
            entity: The kind of unit.
            about: A variable that describes it, or the kind of unit that holds it.
        """
        frames = self._frames()
        query = frames.query(entity)
        if isinstance(about, Entity):
            columns = " + ".join(frames.link_columns(entity, about))
            said = {"link": frames.link_of(query, entity, about)}
        else:
            columns = column_of(about)
            said = {"leaf": query.leaf(about)} if about.is_axis else {}
            said |= {"value": query.value(about)} if about.continuous else {}
        own_id = {"id": frames.id_of(query, entity)}
        differ = " OR ".join(
            f"min({name}) IS DISTINCT FROM max({name}) OR count({name}) NOT IN (0, count(*))"
            for name in said
        )
        rows = query.sql({**own_id, **said})
        units = f"SELECT id FROM ({rows}) AS u WHERE id IS NOT NULL GROUP BY id HAVING {differ}"
        if not self._count(f"SELECT count(*) FROM ({units}) AS units", frames):
            return []
        first = ", ".join(
            f"{name} IS DISTINCT FROM first_value({name}) OVER (PARTITION BY id ORDER BY part, row)"
            f" AS differs_{name}"
            for name in said
        )
        rows = query.sql({**own_id, **said, **_WHERE}, numbered=True)
        compared = f"SELECT part, row, {first} FROM ({rows}) AS u WHERE id IS NOT NULL"
        wrong = " OR ".join(f"differs_{name}" for name in said)
        located = f"SELECT part, row FROM ({compared}) AS u WHERE {wrong}"
        return self._located(frames, query.file, located, ProblemKind.NOT_CONSTANT, columns)

    def reference_persons(self, reference: FrameReference, text: str) -> list[Problem]:
        """Each household has exactly one."""
        frames = Frames(self._schema, self._files)
        households = frames.frame(Entity.HOUSEHOLD, WantedColumns())
        persons = frames.reference_persons(reference)
        count = self._count(
            f"SELECT count(*) FROM ({households}) AS h LEFT JOIN ({persons}) AS p ON p.home = h.id"
            " WHERE coalesce(p.n, 0) != 1",
            frames,
        )
        file = frames.query(Entity.HOUSEHOLD).file.name
        return [Problem(ProblemKind.REFERENCE_PERSON, file, text, count)] if count else []

    def troubles(
        self, entity: Entity, column: str, encoding: Encoding, adviser: AdviserOfKind
    ) -> list[Problem]:
        """Values of a column that have no meaning, with what helps against them."""
        problems = []
        for kind, values in encoding.wrong:
            texts = [as_text(value) or "" for value in values[:_MOST_VALUES].to_pylist()]
            advice = adviser(kind)(texts, len(values) < _MOST_VALUES)
            self._connection.register("wrong", pa.table({"raw": values}))
            frames = self._frames()
            query = FileQuery(self._schema, self._files[entity], frames.parameters)
            name = query.column(column)
            condition = f"EXISTS (SELECT 1 FROM wrong WHERE wrong.raw IS NOT DISTINCT FROM {name})"
            rows = query.sql(_WHERE, numbered=True, where=condition)
            located = self._located(frames, query.file, rows, kind, column)
            problems += [replace(problem, advice=advice) for problem in located]
            self._connection.unregister("wrong")
        return problems

    def _wrong(
        self,
        frames: Frames,
        query: FileQuery,
        condition: str,
        kind: ProblemKind,
        column: str,
        *,
        before: str = "",
    ) -> list[Problem]:
        """The rows of a file for which a condition holds."""
        counted = query.sql({"n": "count(*)"}, where=condition)
        if not self._count(f"{before}{counted}", frames):
            return []
        rows = query.sql(_WHERE, numbered=True, where=condition)
        return self._located(frames, query.file, f"{before}{rows}", kind, column)

    def _located(
        self, frames: Frames, file: RawFile, rows: str, kind: ProblemKind, column: str
    ) -> list[Problem]:
        """How many rows of each file a query gives, and the first ones."""
        found = self._run(
            f"SELECT part, count(*), min(row, {_EXAMPLES}) FROM ({rows}) AS wrong GROUP BY part"
            " ORDER BY part",
            frames,
        )
        return [
            Problem(
                kind,
                file.piece_name(part),
                column,
                count,
                tuple(row + file.first_row for row in first),
            )
            for part, count, first in found
        ]

    def _count(self, sql: str, frames: Frames) -> int:
        return int(self._run(sql, frames)[0][0])

    def _run(self, sql: str, frames: Frames) -> list[Any]:
        parameters = frames.parameters.used_in(sql)
        return self._connection.sql(sql, params=parameters).fetchall()

    def _frames(self) -> Frames:
        return Frames(self._schema, self._files)


def _bad(query: FileQuery, parts: Sequence[IdPart]) -> str:
    return " OR ".join(query.bad_part(part) for part in parts)
