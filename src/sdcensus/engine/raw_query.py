"""Expressions over the rows of one raw file, in SQL.

Ids are those of the loader: trimmed text, joined by ``|``, numbers padded to their declared width;
an id with an empty part is no id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sdcensus.engine.raw_files import Parameters, RawFile, RawFileKind
from sdcensus.engine.sql import DUCKDB
from sdcensus.errors import InputError, SpecError
from sdcensus.model.schema.schema import GridSpec, Schema
from sdcensus.model.schema.variable import Entity, Variable

#: What Python and Arrow strip from the ends of a text; none of it lies above the first plane.
BLANKS = "".join(chr(code) for code in range(0x10000) if chr(code).isspace())
#: The function from a decimal key of another tool to our integer.
DECIMAL_KEY = "decimal_key"


def key_function(entity: Entity) -> str:
    """The name of the function from a canonical id to a record key."""
    return f"record_key_{entity.tag}"


def map_name(variable: str, schema: Schema, *, second: bool = False) -> str:
    """The relation that holds the encoding of a variable (of a grid: of one coordinate)."""
    at = [variable.name for variable in schema.variables].index(variable)
    return f"map_{at}{'_y' if second else ''}"


class FileQuery:
    """Expressions over the rows of one file; remembers which columns and relations they need."""

    def __init__(self, schema: Schema, file: RawFile, parameters: Parameters) -> None:
        self.file = file
        self._schema = schema
        self._parameters = parameters
        self._columns: dict[str, None] = {}
        self._joins: dict[str, str] = {}
        self._blanks = ""

    def column(self, name: str) -> str:
        """A column as it is read."""
        self._columns.setdefault(name)
        return f"f.k{list(self._columns).index(name)}"

    def leaf(self, variable: Variable) -> str:
        """The leaf of a variable of this file."""
        grid = next((grid for grid in self._schema.grids if grid.variable == variable.name), None)
        if grid is not None:
            return self._grid_leaf(grid, variable)
        return f"{self._mapped(variable)}.leaf"

    def value(self, variable: Variable) -> str:
        """The amount of a variable of this file; null where there is none."""
        return f"{self._mapped(variable)}.value"

    def _mapped(self, variable: Variable) -> str:
        return self._join(map_name(variable.name, self._schema), column_of(variable))

    def _grid_leaf(self, grid: GridSpec, variable: Variable) -> str:
        x = self._join(map_name(variable.name, self._schema), grid.x)
        y = self._join(map_name(variable.name, self._schema, second=True), grid.y)
        across = -(-grid.extent[2] // grid.cell) - grid.extent[0] // grid.cell
        return f"coalesce({y}.leaf * {across:d} + {x}.leaf, {len(variable.codes) - 1:d})"

    def _join(self, relation: str, column: str) -> str:
        self._joins[relation] = (
            f"LEFT JOIN {DUCKDB.name(relation)} ON {relation}.raw {DUCKDB.same} "
            f"{self.column(column)}"
        )
        return relation

    def id(self, columns: Sequence[str], widths: Sequence[int | None]) -> str:
        """The id in some columns; null if a part of it is empty."""
        parts = [self.part(column, width) for column, width in zip(columns, widths, strict=True)]
        return f"({' || chr(124) || '.join(parts)})"

    def part(self, column: str, width: int | None) -> str:
        """One part of an id as text; null where it is empty."""
        kind = self.file.kind(column)
        name = self.column(column)
        if kind is RawFileKind.TEXT:
            if not self._blanks:
                self._blanks = self._parameters.add(BLANKS)
            return f"nullif(trim({name}, {self._blanks}), '')"
        if width is None or kind is RawFileKind.DECIMAL:
            what = "decimal numbers" if kind is RawFileKind.DECIMAL else "numbers"
            raise InputError(
                f"{self.file.name}: the id column {column!r} holds {what}, whose text is not fixed."
                f' Declare how wide it is written: [variable.{column}] role = "record-id", width ='
                " 4; or store it as text."
            )
        whole = name if kind is RawFileKind.INTEGER else f"CAST({name} AS BIGINT)"
        # lpad would cut off what is too long.
        text = f"CAST({whole} AS VARCHAR)"
        return f"lpad({text}, CAST(greatest({width:d}, length({text})) AS INTEGER), '0')"

    def bad_part(self, column: str, width: int | None) -> str:
        """Whether a part of an id cannot be used."""
        part = self.part(column, width)
        wrong = f"contains({part}, chr(124)) OR starts_with({part}, '-')"
        if self.file.kind(column) is not RawFileKind.TEXT and width is not None:
            wrong += f" OR length({part}) > {width:d}"
        if self.file.kind(column) is RawFileKind.FLOAT:
            name = self.column(column)
            wrong += f" OR {name} != trunc({name})"
        return f"coalesce({wrong}, false)"

    def key(self, column: str, digits: int | None) -> str:
        """Keys that another system drew; null where one cannot be used."""
        name, kind = self.column(column), self.file.kind(column)
        text = (
            name if kind in (RawFileKind.TEXT, RawFileKind.DECIMAL) else f"CAST({name} AS VARCHAR)"
        )
        if digits is not None:
            return f"{DECIMAL_KEY}(trim({text}), {digits:d})"
        modulus = self._schema.keys.space.modulus
        whole = f"TRY_CAST(regexp_extract(trim({text}), '^([0-9]{{1,10}})([.]0*)?$', 1) AS BIGINT)"
        return f"CASE WHEN {whole} < {modulus:d} THEN {whole} END"

    def sql(self, selected: Mapping[str, str], *, numbered: bool = False, where: str = "") -> str:
        """A query with these expressions as its columns."""
        source = self.file.relation(list(self._columns), self._parameters, numbered=numbered)
        shown = ", ".join(f"{expression} AS {name}" for name, expression in selected.items())
        condition = f" WHERE {where}" if where else ""
        return f"SELECT {shown} FROM {source} AS f {' '.join(self._joins.values())}{condition}"


def column_of(variable: Variable) -> str:
    """The column from which a variable is read."""
    if variable.source is None:
        raise SpecError(f"The schema does not say from which column {variable.name!r} is read.")
    return variable.source.column


def leaf_name(variable: Variable, schema: Schema) -> str:
    """The column of a frame with the leaves of a variable."""
    return f"leaf_{_place(variable, schema)}"


def value_name(variable: Variable, schema: Schema) -> str:
    """The column of a frame with the amounts of a variable."""
    return f"value_{_place(variable, schema)}"


def link_name(parent: Entity) -> str:
    """The column of a frame with the id of a parent."""
    return f"link_{parent.tag.lower()}"


def _place(variable: Variable, schema: Schema) -> int:
    return [variable.name for variable in schema.variables].index(variable.name)
