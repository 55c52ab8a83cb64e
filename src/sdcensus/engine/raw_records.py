"""The records of parquet and csv files, encoded while they are read and never stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sdcensus.engine.raw_checks import Checks
from sdcensus.engine.raw_encoding import Encoding, distinct_values, encode, encode_coordinate
from sdcensus.engine.raw_files import RawFile
from sdcensus.engine.raw_frames import REFERENCE, FrameReference, Frames, takes_reference_keys
from sdcensus.engine.raw_query import (
    DECIMAL_KEY,
    column_of,
    key_function,
    leaf_name,
    map_name,
    value_name,
)
from sdcensus.engine.records import QuerySource, register_universe, registering
from sdcensus.engine.requests import Needs, Tabulate
from sdcensus.errors import EngineError, InputError, SdcensusError, SecretError, SpecError
from sdcensus.kernels.keys.decimal_keys import keys_from_decimals
from sdcensus.kernels.keys.record_keys import record_digests, record_keys
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.file_problems import (
    Adviser,
    OnProblem,
    Problem,
    ProblemKind,
    refuse_if,
)
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.remedies import coordinate_adviser, extent_adviser, value_adviser
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.declared_universes import with_missing_codes
from sdcensus.model.spec.universe import universe_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class FileRecords(Confidential):
    """The files of a schema as encoded records.

    What was found out about the files (distinct values, problems) is remembered for the next
    request; the files must not change meanwhile.
    """

    def __init__(self, schema: Schema, secret: Secret | None, *, on_problem: str) -> None:
        self._on_problem = OnProblem.parse(on_problem)
        if self._on_problem is OnProblem.MISSING:
            schema = with_missing_codes(schema)
        if not schema.files:
            raise SpecError("The schema names no files. Read it from its document.")
        self._schema = schema
        self._secret = secret
        self._files: dict[Entity, RawFile] = {}
        for file in schema.files:
            if file.entity in self._files:
                raise SpecError(
                    f"Two files hold {file.entity.plural}. Name them both in one file:"
                    ' path = ["one.csv", "two.csv"].'
                )
            self._files[file.entity] = RawFile(file)
        self._fingerprint = self._current()
        self._encodings: dict[str, Encoding] = {}
        self._problems: dict[tuple[object, ...], list[Problem]] = {}

    def __repr__(self) -> str:
        return f"<files of {self._schema.census.name!r}: confidential>"

    @property
    def schema(self) -> Schema:
        """The schema for which tables are made."""
        return self._schema

    @property
    def origin(self) -> Origin:
        """Which secret made the keys. Files that were not loaded have no version of their data."""
        secret_id = "" if self._secret is None else self._secret.id
        return Origin(self._schema.keys.space, secret_id, rules=self._schema.kept(declared_rules))

    def check_unchanged(self) -> None:
        """Refuse an answer over files that were written meanwhile."""
        if self._current() != self._fingerprint:
            raise EngineError(
                "The census files were changed, moved or removed since they were first read. Open"
                " them again when they are complete."
            )

    def known_rows(self, entity: Entity) -> int | None:
        """Only the query can say."""
        return None

    def _current(self) -> tuple[object, ...]:
        return tuple(file.fingerprint() for file in self._files.values())

    def hand_over(
        self, connection: DuckDBPyConnection, request: Tabulate, needs: Needs
    ) -> QuerySource:
        """Check and encode what the request needs; the query over it."""
        if request.replicates:
            raise EngineError(
                "Sampling errors go by the keys that households have in a store. Load the files"
                " first: sdcensus load SCHEMA --out STORE"
            )
        self.check_unchanged()
        schema, of = self._schema, request.spec.of
        reference = self._reference(connection, of)
        also = () if reference is None else reference.variables
        named = {variable.name: variable for variable in (*needs.codes, *needs.values, *also)}
        variables = tuple(named.values())
        refuse_scaled(variables)
        self._check_secret(of, reference)
        self._register_functions(connection)
        self._encode(connection, variables)
        kinds = self._kinds(request, variables, reference)
        self._check_identity(kinds)
        owner = needs.amount if needs.owner else None
        differing = self._check(connection, of, kinds, variables, reference, owner)
        frames = Frames(schema, self._files, differing=differing, reference=reference)
        query = frames.records(
            of,
            leaves=needs.codes,
            values=needs.values,
            key=True,
            household=request.households,
            owner=owner,
        )
        return QuerySource(
            relation=f"({query})",
            leaves={code.name: leaf_name(code, schema) for code in needs.codes},
            values={variable.name: value_name(variable, schema) for variable in needs.values},
            parameters=frames.parameters.used_in(query),
        )

    def _reference(self, connection: DuckDBPyConnection, of: Entity) -> FrameReference | None:
        """Who is a reference person, where households are counted and take the keys of those."""
        schema = self._schema
        if of is not Entity.HOUSEHOLD or not takes_reference_keys(schema):
            return None
        condition = universe_of(schema.keys.reference_person, schema)
        leaves = {variable.name: leaf_name(variable, schema) for variable in condition.variables}
        mapped = register_universe(registering(connection), condition, leaves, prefix=REFERENCE)
        return FrameReference(condition.variables, mapped)

    def _check_secret(self, of: Entity, reference: FrameReference | None) -> None:
        keyed = {of} if reference is None else {of, Entity.PERSON}
        spec = self._schema.entity(of)
        read = spec.derived_from is None and self._schema.keys.column_of(of) is not None
        if self._secret is None and not (read and len(keyed) == 1):
            raise SecretError(
                f"The files have no keys for {of.plural}; they come from the office secret. Name"
                " its file: --secret FILE, or SDCENSUS_SECRET_FILE."
            )

    def _check_identity(self, kinds: Sequence[Entity]) -> None:
        for kind in kinds:
            if self._schema.entity(kind).from_content:
                raise SpecError(
                    f"The {kind.plural} have no id; theirs is made from all that a record says,"
                    " which needs loading: sdcensus load SCHEMA --out STORE"
                )

    def _kinds(
        self, request: Tabulate, variables: Sequence[Variable], reference: FrameReference | None
    ) -> list[Entity]:
        """The kinds of units that the records pass through, the counted one first."""
        schema, of = self._schema, request.spec.of
        starts = [of] if reference is None else [of, Entity.PERSON]
        kinds = list(starts)
        wanted = [variable.entity for variable in variables]
        if request.households:
            wanted.append(Entity.HOUSEHOLD)
        for start in starts:
            for entity in wanted:
                kinds += schema.path(start, entity) or ()
        return list(dict.fromkeys(kinds))

    def _encode(self, connection: DuckDBPyConnection, variables: Sequence[Variable]) -> None:
        """Find the meaning of every distinct value of the needed columns, and register it."""
        grids = {grid.variable: grid for grid in self._schema.grids}
        columns: dict[Entity, dict[str, None]] = {}
        for variable in variables:
            entity = self._home_of(variable)
            _check_grid(grids.get(variable.name))
            if map_name(variable.name, self._schema) not in self._encodings:
                grid = grids.get(variable.name)
                read = [grid.x, grid.y] if grid else [column_of(variable)]
                columns.setdefault(entity, {}).update(dict.fromkeys(read))
        found = {
            entity: distinct_values(connection, self._files[entity], list(names))
            for entity, names in columns.items()
        }
        for variable in variables:
            first = map_name(variable.name, self._schema)
            if first not in self._encodings:
                values = found[self._home_of(variable)]
                self._add_encodings(connection, variable, grids.get(variable.name), values)
            second = map_name(variable.name, self._schema, second=True)
            for name in (first, second):
                if name in self._encodings:
                    connection.register(name, self._encodings[name].table)

    def _add_encodings(
        self,
        connection: DuckDBPyConnection,
        variable: Variable,
        grid: GridSpec | None,
        values: dict[str, tuple[pa.Array, list[int]]],
    ) -> None:
        entity = self._home_of(variable)
        first = map_name(variable.name, self._schema)
        if grid is None:
            column = column_of(variable)
            mark = self._files[entity].decimal_mark(column)
            made = {first: (column, encode(variable, *values[column], decimal_mark=mark))}
        else:
            second = map_name(variable.name, self._schema, second=True)
            made = {}
            for name, column in ((first, grid.x), (second, grid.y)):
                mark = self._files[entity].decimal_mark(column)
                across = name == first
                made[name] = (
                    column,
                    encode_coordinate(grid, *values[column], across=across, decimal_mark=mark),
                )
        checks = Checks(connection, self._schema, self._files)
        for name, (column, encoding) in made.items():
            self._encodings[name] = encoding
            adviser = partial(self._adviser, variable, grid, column)
            self._problems["values", name] = checks.troubles(entity, column, encoding, adviser)

    def _adviser(
        self, variable: Variable, grid: GridSpec | None, column: str, kind: ProblemKind
    ) -> Adviser:
        """What helps against values of a column: the same as in a load."""
        assert variable.source is not None
        file = self._schema.file(variable.source.file)
        if grid is None:
            return value_adviser(variable, file, kind)
        outside = kind is ProblemKind.OUT_OF_RANGE
        return extent_adviser(grid) if outside else coordinate_adviser(column, file)

    def _home_of(self, variable: Variable) -> Entity:
        """The kind of unit in whose file a variable stands."""
        if variable.source is None:
            raise SpecError(f"The schema does not say where {variable.name!r} is read.")
        entity = self._schema.file(variable.source.file).entity
        spec = self._schema.entity(variable.entity)
        if entity is not (spec.derived_from or spec.entity):
            raise SpecError(
                f"{variable.name!r} describes {variable.entity.plural}, which have a file of their"
                f" own, but is read from that of {entity.plural}. Read it from their own file."
            )
        return entity

    def _check(
        self,
        connection: DuckDBPyConnection,
        of: Entity,
        kinds: list[Entity],
        variables: Sequence[Variable],
        reference: FrameReference | None,
        owner: Variable | None,
    ) -> set[Entity]:
        """Refuse files that do not fit; the kinds whose rows do not agree about their units."""
        schema = self._schema
        checks = Checks(connection, schema, self._files)
        asked: list[tuple[object, ...]] = [
            ("values", name)
            for variable in variables
            for name in (
                map_name(variable.name, schema),
                map_name(variable.name, schema, second=True),
            )
        ]

        def once(mark: tuple[object, ...], check: Callable[[], list[Problem]]) -> None:
            asked.append(mark)
            if mark not in self._problems:
                self._problems[mark] = check()

        differing: set[Entity] = set()
        for kind in kinds:
            origin = schema.entity(kind).derived_from
            parents = [parent for parent in schema.parents(kind) if parent in kinds]
            once(("ids", origin or kind), partial(checks.ids, origin or kind))
            for parent in parents:
                # Where both link to the same kind, the rows of the origin speak for themselves.
                through = origin is not None and schema.entity(origin).within is parent
                child = origin if origin is not None and through else kind
                once(("links", child, parent), partial(checks.links, child, parent))
            if origin is not None:
                once(("links", origin, kind), partial(checks.links, origin, kind))
                once(("spellings", kind), partial(checks.spellings, kind))
                described: list[Variable | Entity] = [*parents]
                described += [variable for variable in variables if variable.entity is kind]
                for about in described:
                    mark = ("agreement", kind, type(about).__name__, about.name)
                    once(mark, partial(checks.agreement, kind, about))
                    if self._problems[mark]:
                        differing.add(kind)
                continue
            existing = schema.keys.column_of(kind)
            if existing is not None and (kind is of or reference is not None):
                once(("key", kind), partial(checks.keys, kind, existing))
        if owner is not None:
            once(("owner", owner.name), partial(checks.owners, of, owner))
        if reference is not None:
            text = schema.keys.reference_person
            once(("reference",), partial(checks.reference_persons, reference, text))
        refuse_if(
            (problem for mark in asked for problem in self._problems.get(mark, ())),
            self._on_problem,
            afterwards="",
            otherwise="count such values as 'not stated' with on_problem = \"missing\"",
        )
        return differing

    def _register_functions(self, connection: DuckDBPyConnection) -> None:
        """Functions from ids, and from decimals, to record keys."""
        from duckdb.func import FunctionNullHandling, PythonUDFType

        modulus = self._schema.keys.space.modulus
        for spec in self._schema.entities:
            connection.create_function(
                key_function(spec.entity),
                _key_maker(self._secret, spec.entity, modulus),
                ["varchar"],
                "bigint",
                type=PythonUDFType.ARROW,
            )
        connection.create_function(
            DECIMAL_KEY,
            _decimal_keys,
            ["varchar", "integer"],
            "bigint",
            type=PythonUDFType.ARROW,
            null_handling=FunctionNullHandling.SPECIAL,
        )


def refuse_scaled(variables: Sequence[Variable]) -> None:
    """Refuse amounts of files with different units: values are looked up, whatever their file."""
    for variable in variables:
        scales = () if variable.source is None else variable.source.scales
        if any(scale != 1 for _, scale in scales):
            raise InputError(
                f"{variable.name!r} is in other units in some files, which cannot be read without"
                " loading. Load the census: sdcensus load SCHEMA --out STORE"
            )


def _key_maker(
    secret: Secret | None, entity: Entity, modulus: int
) -> Callable[[pa.ChunkedArray], pa.Array]:
    material = None if secret is None else secret.reveal_for_record_keys()

    def keys(ids: pa.ChunkedArray) -> pa.Array:
        if material is None:
            raise SecretError("no secret")
        parts = []
        for chunk in ids.chunks:
            _, places, data = chunk.buffers()
            offsets = np.frombuffer(places, dtype=np.int32)
            digests = record_digests(
                offsets[chunk.offset : chunk.offset + len(chunk) + 1],
                np.frombuffer(data, dtype=np.uint8) if data else np.zeros(0, dtype=np.uint8),
                secret=material,
                entity_tag=entity.tag,
            )
            parts.append(record_keys(digests, modulus=modulus).astype(np.int64))
        return pa.array(np.concatenate([np.zeros(0, np.int64), *parts]))

    return keys


def _decimal_keys(texts: pa.ChunkedArray, digits: pa.ChunkedArray) -> pa.Array:
    """Keys from decimals; null for what is none."""
    size = int(digits[0].as_py()) if len(digits) else 1
    values = np.array(texts.fill_null("").to_pylist(), dtype=np.str_)
    try:
        return pa.array(keys_from_decimals(values, size).astype(np.int64))
    except SdcensusError:
        return pa.array([_decimal_key(value, size) for value in values], pa.int64())


def _decimal_key(text: Any, digits: int) -> int | None:
    try:
        return int(keys_from_decimals(np.array([text]), digits)[0])
    except SdcensusError:
        return None


def _check_grid(grid: GridSpec | None) -> None:
    """Refuse grids that need all points of a file at once."""
    if grid is not None and grid.coordinates_epsg is not None:
        raise SpecError(
            f"The coordinates of {grid.variable!r} are transformed once, when they are loaded, so"
            " that every table has the same squares. Load the census: sdcensus load SCHEMA --out"
            " STORE"
        )
    if grid is not None and grid.inhabited:
        raise SpecError(
            f"Which squares of {grid.variable!r} are inhabited is found when the census is loaded:"
            " sdcensus load SCHEMA --out STORE"
        )
