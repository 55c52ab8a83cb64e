"""Expressions over the rows of one raw file, in SQL.

Ids are those of the loader: trimmed text, joined by ``|``, numbers padded to their declared width,
all of it in the form that the schema declares; an id with an empty part is no id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sdcensus.engine.raw_files import Parameters, RawFile, RawFileKind
from sdcensus.engine.sql import DUCKDB
from sdcensus.errors import InputError, SpecError
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.id_forms import EMPTY_FRACTION, LARGEST_FLOAT_ID, WHOLE_NUMBER
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable

#: What Python and Arrow strip from the ends of a text; none of it lies above the first plane.
BLANKS = "".join(chr(code) for code in range(0x10000) if chr(code).isspace())
#: The function from a decimal key of another tool to our integer.
DECIMAL_KEY = "decimal_key"
_SMALL = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class IdPart:
    """One part of an id: its column, how wide numbers of it are written, and its form.

    Attributes:
        column: The column.
        width: How many digits a column that is stored as a number has as text, if declared.
        fill: How many digits a whole number has in the form of the id; 0 for "as written".
        any_case: Whether small and capital letters are the same.
    """

    column: str
    width: int | None = None
    fill: int = 0
    any_case: bool = False


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
        return f"coalesce({y}.leaf * {grid.across:d} + {x}.leaf, {len(variable.codes) - 1:d})"

    def _join(self, relation: str, column: str) -> str:
        self._joins[relation] = (
            f"LEFT JOIN {DUCKDB.name(relation)} ON {relation}.raw {DUCKDB.same} "
            f"{self.column(column)}"
        )
        return relation

    def id(self, parts: Sequence[IdPart]) -> str:
        """The id in some columns; null if a part of it is empty."""
        return f"({' || chr(124) || '.join(self.part(part) for part in parts)})"

    def written_id(self, parts: Sequence[IdPart]) -> str:
        """The id as the file writes it, whatever form it is compared in."""
        return f"({' || chr(124) || '.join(self._written(part) for part in parts)})"

    def part(self, part: IdPart) -> str:
        """One part of an id in its form; null where it is empty."""
        text = self._written(part)
        if part.fill:
            digits = f"ltrim(regexp_replace({text}, '{EMPTY_FRACTION}', ''), '0')"
            # lpad would cut off what is too long.
            wide = f"CAST(greatest({part.fill:d}, length({digits})) AS INTEGER)"
            whole = f"regexp_matches({text}, '{WHOLE_NUMBER}')"
            text = f"(CASE WHEN {whole} THEN lpad({digits}, {wide}, '0') ELSE {text} END)"
        return f"translate({text}, '{_SMALL}', '{_SMALL.upper()}')" if part.any_case else text

    def _written(self, part: IdPart) -> str:
        kind = self.file.kind(part.column)
        name = self.column(part.column)
        if kind is RawFileKind.TEXT:
            if not self._blanks:
                self._blanks = self._parameters.add(BLANKS)
            return f"nullif(trim({name}, {self._blanks}), '')"
        if kind is RawFileKind.DECIMAL and part.fill:
            return name
        if (part.width is None and not part.fill) or kind is RawFileKind.DECIMAL:
            what = "decimal numbers" if kind is RawFileKind.DECIMAL else "numbers"
            raise InputError(
                f"{self.file.name}: the id column {part.column!r} holds {what}, whose text is not"
                " fixed. Declare how many digits it has, in the entry of the units that it"
                " identifies: id_width = 4 (a list with a number for each column of the id); or"
                f" store {part.column!r} as text."
            )
        # What is too large for an id is found by its own check, whatever its text.
        whole = name if kind is RawFileKind.INTEGER else f"TRY_CAST({name} AS BIGINT)"
        text = f"coalesce(CAST({whole} AS VARCHAR), CAST({name} AS VARCHAR))"
        if part.width is None:
            return text
        return f"lpad({text}, CAST(greatest({part.width:d}, length({text})) AS INTEGER), '0')"

    def bad_part(self, part: IdPart) -> str:
        """Whether a part of an id cannot be used."""
        text, kind = self._written(part), self.file.kind(part.column)
        wrong = f"contains({text}, chr(124)) OR starts_with({text}, '-')"
        if kind is not RawFileKind.TEXT and part.width is not None:
            wrong += f" OR length({text}) > {part.width:d}"
        if part.fill:
            compared = self.part(part)
            wide = f"length({compared}) > {part.fill:d}"
            wrong += f" OR (regexp_matches({compared}, '{WHOLE_NUMBER}') AND {wide})"
        if kind is RawFileKind.FLOAT:
            name = self.column(part.column)
            wrong += f" OR {name} != trunc({name}) OR abs({name}) > {LARGEST_FLOAT_ID:d}"
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
