"""The units of a census as queries over its raw files: identity, links, leaves, values, keys.

A *frame* is a query with one row for each unit of a kind. Units without a file of their own are the
distinct ids in the file of another kind. Records are the units of one kind joined with everything
that they inherit.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from sdcensus.engine.raw_files import Parameters, RawFile
from sdcensus.engine.raw_query import (
    FileQuery,
    IdPart,
    key_function,
    leaf_name,
    link_name,
    value_name,
)
from sdcensus.engine.sql import DUCKDB, Mapped, from_records
from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.schema.id_forms import OWNER_FORM
from sdcensus.model.schema.schema import HouseholdKey, KeyScope, Schema
from sdcensus.model.schema.variable import Entity, EntitySpec, Role, Variable

#: The relation with the combinations of classes that make a reference person.
REFERENCE = "reference"


@dataclass(slots=True)
class WantedColumns:
    """What a frame is to hold besides the ids of its units.

    Attributes:
        leaves, values: Variables that describe the units.
        borrowed: Variables of parents without a file, read from the units' own rows.
        links: Parents whose ids are needed.
        key: Whether record keys are needed.
        owner: A variable to whose owners amounts belong.
        row: Whether units are to be numbered.
    """

    leaves: dict[str, Variable] = field(default_factory=dict)
    values: dict[str, Variable] = field(default_factory=dict)
    borrowed: dict[str, Variable] = field(default_factory=dict)
    links: dict[Entity, None] = field(default_factory=dict)
    key: bool = False
    owner: Variable | None = None
    row: bool = False


@dataclass(frozen=True, slots=True)
class FrameReference:
    """Who the reference person of a household is: a registered condition over its leaves."""

    variables: tuple[Variable, ...]
    mapped: tuple[Mapped, ...] | None


class Frames:
    """Writes the frames of one query.

    Args:
        schema: The census.
        files: Its files, by the kind of unit whose records their rows are.
        differing: Kinds without a file whose rows do not agree on what is asked: the first row
            speaks for the unit.
        reference: Who is a reference person, where households take the keys of those.
    """

    def __init__(
        self,
        schema: Schema,
        files: Mapping[Entity, RawFile],
        *,
        differing: Collection[Entity] = (),
        reference: FrameReference | None = None,
    ) -> None:
        self.schema = schema
        self.parameters = Parameters()
        self._files = files
        self._differing = differing
        self._reference = reference

    def home(self, entity: Entity) -> Entity:
        """The kind of unit whose file shows which units there are."""
        return self.schema.entity(entity).derived_from or entity

    def query(self, entity: Entity) -> FileQuery:
        """Expressions over the file that shows the units of a kind."""
        home = self.home(entity)
        if home not in self._files:
            raise SpecError(f"No file of the schema holds {entity.plural}.")
        return FileQuery(self.schema, self._files[home], self.parameters)

    def id_of(self, query: FileQuery, entity: Entity) -> str:
        """The id of a kind of unit, in the file that shows its units."""
        return query.id(self.id_parts(entity))

    def id_parts(self, entity: Entity) -> list[IdPart]:
        """The parts of the id of a kind of unit, in the file that shows its units."""
        return self._parts(entity, entity, self.id_columns(entity))

    def id_columns(self, entity: Entity) -> tuple[str, ...]:
        """The columns that hold the id of a kind of unit, in the file that shows its units."""
        spec, home = self.schema.entity(entity), self.schema.entity(self.home(entity))
        return spec.id if home is spec else _named_by(home, spec)

    def link_of(self, query: FileQuery, entity: Entity, parent: Entity) -> str:
        """The id of a parent, in the file that shows the units of a kind."""
        return query.id(self.link_parts(entity, parent))

    def link_parts(self, entity: Entity, parent: Entity) -> list[IdPart]:
        """The parts of the id of a parent, in the file that shows the units of a kind."""
        return self._parts(entity, parent, self.link_columns(entity, parent))

    def link_columns(self, entity: Entity, parent: Entity) -> tuple[str, ...]:
        """The columns that name a parent, in the file that shows the units of a kind."""
        spec, above = self.schema.entity(entity), self.schema.entity(parent)
        home = self.schema.entity(self.home(entity))
        if home is not spec and home.within is not parent:
            return spec.link or above.id
        return _named_by(home, above)

    def _parts(self, entity: Entity, named: Entity, columns: Sequence[str]) -> list[IdPart]:
        """Columns in the file that shows the units of a kind, as parts of an id of another."""
        home = self.home(entity)
        file = next(file.name for file in self.schema.files if file.entity is home)
        declared = {
            variable.source.column: variable.source.width
            for variable in self.schema.variables
            if variable.source is not None and variable.source.file == file
        }
        form = self.schema.entity(named).form
        return [
            IdPart(column, declared.get(column), form.width(at), form.any_case)
            for at, column in enumerate(columns)
        ]

    def owner_part(self, entity: Entity, variable: Variable) -> IdPart:
        """The column that says to whom amounts belong, as the id that it is."""
        source = variable.source
        if source is None or source.owner is None:
            raise SpecError(f"The schema does not say where the owners of {variable.name!r} are.")
        (part,) = self._parts(entity, entity, [source.owner])
        return IdPart(part.column, part.width, OWNER_FORM.width(0), OWNER_FORM.any_case)

    def frame(self, entity: Entity, wanted: WantedColumns) -> str:
        """A query with a row for each unit of a kind."""
        query = self.query(entity)
        schema = self.schema
        derived = self.home(entity) is not entity
        selected = {"id": self.id_of(query, entity)}
        for parent in wanted.links:
            selected[link_name(parent)] = self.link_of(query, entity, parent)
        for leaf in wanted.leaves.values():
            selected[leaf_name(leaf, schema)] = query.leaf(leaf)
        for value in wanted.values.values():
            selected[value_name(value, schema)] = query.value(value)
        for variable in wanted.borrowed.values():
            there = f"{self.link_of(query, entity, variable.entity)} IS NOT NULL"
            if variable.is_axis:
                selected[leaf_name(variable, schema)] = (
                    f"CASE WHEN {there} THEN {query.leaf(variable)} END"
                )
            if variable.continuous:
                selected[value_name(variable, schema)] = (
                    f"CASE WHEN {there} THEN {query.value(variable)} END"
                )
            selected[link_name(variable.entity)] = self.link_of(query, entity, variable.entity)
        if wanted.owner is not None:
            selected["owner"] = query.part(self.owner_part(entity, wanted.owner))
        existing = None if derived else schema.keys.column_of(entity)
        if wanted.key and existing is not None:
            selected["key"] = query.key(existing.column, existing.digits)
        in_order = derived and entity in self._differing
        if wanted.row or in_order:
            selected["row"] = "row_number() OVER () - 1"
        sql = query.sql(selected)
        if derived:
            sql = _one_for_each_id(sql, list(selected), in_order=in_order)
        if wanted.key and existing is None:
            sql = f"SELECT *, {self._key(entity)} AS key FROM ({sql}) AS unit"
        if wanted.key and entity is Entity.HOUSEHOLD and self._reference is not None:
            sql = (
                "SELECT h.* EXCLUDE (key), CASE WHEN p.n = 1 THEN p.key ELSE h.key END AS key"
                f" FROM ({sql}) AS h LEFT JOIN ({self.reference_persons(self._reference)}) AS p"
                " ON p.home = h.id"
            )
        return sql

    def _key(self, entity: Entity) -> str:
        by_number = entity is Entity.PERSON and self.schema.keys.scope is KeyScope.PERSON_NUMBER
        code = () if by_number else self.schema.census.code
        prefix = self.parameters.add("".join(f"{part}|" for part in code))
        return f"{key_function(entity)}(CAST({prefix} AS VARCHAR) || id)"

    def reference_persons(self, reference: FrameReference) -> str:
        """For each household with a reference person: how many it has, and a key of theirs."""
        persons = self.records(
            Entity.PERSON, leaves=reference.variables, home=Entity.HOUSEHOLD, key=True
        )
        joined = from_records(f"({persons})", (), reference.mapped, REFERENCE, DUCKDB)
        return (
            f"SELECT r.home AS home, count(*) AS n, min(r.key) AS key {joined}"
            " WHERE r.home IS NOT NULL GROUP BY r.home"
        )

    def records(
        self,
        of: Entity,
        *,
        leaves: Sequence[Variable] = (),
        values: Sequence[Variable] = (),
        key: bool = False,
        household: bool = False,
        owner: Variable | None = None,
        home: Entity | None = None,
    ) -> str:
        """A query with a row for each unit: what it is, what it inherits, its key.

        Args:
            of: The kind of unit.
            leaves: Variables whose leaves are needed, own or inherited.
            values: Variables whose amounts are needed; 0 where there is none.
            key: Whether record keys are needed (``key``).
            household: Whether the number of the household is needed (``household``).
            owner: A variable whose owners are needed (``owner``); a unit that names none is its
                own.
            home: A parent whose id is needed (``home``).
        """
        tree = _Tree(self, of)
        shown = [self._leaf(tree, of, leaf) for leaf in leaves]
        shown += [self._value(tree, of, value) for value in values]
        tree.nodes[()].key = key
        if key:
            shown.append("e0.key AS key")
        if household:
            path = self._path(of, Entity.HOUSEHOLD)
            tree.node(path).row = True
            shown.append(f"coalesce({tree.alias(path)}.row, {int(NO_ROW):d}) AS household")
        if owner is not None:
            tree.nodes[()].owner = owner
            shown.append("coalesce(e0.owner, chr(124) || e0.id) AS owner")
        if home is not None:
            tree.nodes[()].links.setdefault(home)
            shown.append(f"e0.{link_name(home)} AS home")
        return f"SELECT {', '.join(shown or ['1 AS one'])} {tree.sql()}"

    def _path(self, of: Entity, ancestor: Entity) -> tuple[Entity, ...]:
        path = self.schema.path(of, ancestor)
        if path is None:
            raise SpecError(f"{of.plural.capitalize()} do not lie in {ancestor.plural}.")
        return path

    def _leaf(self, tree: _Tree, of: Entity, variable: Variable) -> str:
        name = leaf_name(variable, self.schema)
        place, there = self._place(tree, of, variable, values=False)
        if there is None:
            return f"{place}.{name} AS {name}"
        inherited = self.schema.inherited_missing(of, variable)
        missing = (variable.missing_position if inherited is None else inherited) or 0
        return f"CASE WHEN {there} THEN {place}.{name} ELSE {missing:d} END AS {name}"

    def _value(self, tree: _Tree, of: Entity, variable: Variable) -> str:
        name = value_name(variable, self.schema)
        place, there = self._place(tree, of, variable, values=True)
        amount = f"coalesce({place}.{name}, 0)"
        if there is None or variable.role is not Role.WEIGHT:
            return f"{amount} AS {name}"
        return f"CASE WHEN {there} THEN {amount} ELSE {10**variable.decimals:d} END AS {name}"

    def _place(
        self, tree: _Tree, of: Entity, variable: Variable, *, values: bool
    ) -> tuple[str, str | None]:
        """Where a variable is read, and a condition for there being a unit that it describes."""
        path = self._path(of, variable.entity)
        if self._is_borrowed(of, variable, path):
            own = tree.nodes[()]
            own.borrowed[variable.name] = variable
            return "e0", f"e0.{link_name(variable.entity)} IS NOT NULL"
        node = tree.node(path)
        (node.values if values else node.leaves)[variable.name] = variable
        return tree.alias(path), f"{tree.alias(path)}.id IS NOT NULL" if path else None

    def _is_borrowed(self, of: Entity, variable: Variable, path: tuple[Entity, ...]) -> bool:
        """Whether the rows of ``of`` themselves say what their parent is."""
        return (
            path == (variable.entity,)
            and self.schema.entity(variable.entity).derived_from is of
            and variable.entity not in self._differing
        )


class _Tree:
    """The frames that are joined to the units of one kind, each by the path that leads to it."""

    def __init__(self, frames: Frames, of: Entity) -> None:
        self._frames, self._of = frames, of
        self.nodes: dict[tuple[Entity, ...], WantedColumns] = {(): WantedColumns()}

    def node(self, path: tuple[Entity, ...]) -> WantedColumns:
        """What is wanted at the end of a path; every step on the way gets its link."""
        for steps in range(len(path)):
            self.nodes[path[:steps]].links.setdefault(path[steps])
            self.nodes.setdefault(path[: steps + 1], WantedColumns())
        return self.nodes[path]

    def alias(self, path: tuple[Entity, ...]) -> str:
        return f"e{list(self.nodes).index(path)}"

    def sql(self) -> str:
        lines = []
        for path, wanted in self.nodes.items():
            entity = path[-1] if path else self._of
            frame = f"({self._frames.frame(entity, wanted)}) AS {self.alias(path)}"
            if path:
                child = self.alias(path[:-1])
                link = f"{child}.{link_name(entity)} = {self.alias(path)}.id"
                lines.append(f"LEFT JOIN {frame} ON {link}")
            else:
                lines.append(f"FROM {frame}")
        return " ".join(lines)


def takes_reference_keys(schema: Schema) -> bool:
    """Whether households take the keys of their reference persons."""
    return schema.keys.household is HouseholdKey.REFERENCE_PERSON


def _named_by(spec: EntitySpec, above: EntitySpec) -> tuple[str, ...]:
    """The columns of a file that name a parent."""
    return spec.link if above.entity is spec.within and spec.link else above.id


def _one_for_each_id(sql: str, columns: Sequence[str], *, in_order: bool) -> str:
    """The units of a kind without a file; the first row speaks for a unit if rows may differ."""
    chosen = [
        f"arg_min({column}, row) AS {column}"
        if in_order and column != "row"
        else f"min({column}) AS {column}"
        for column in columns
        if column != "id"
    ]
    shown = ", ".join(["id", *chosen])
    return f"SELECT {shown} FROM ({sql}) AS unit WHERE id IS NOT NULL GROUP BY id"
