"""Values of raw files as leaves and amounts: each distinct value is encoded once, by one rule.

DuckDB is asked for the distinct values of a column and how often each occurs; what it gets back is
a small relation from a value to its leaf. A column of a hundred million rows has a few hundred.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.engine.raw_files import Parameters, RawFile
from sdcensus.model.schema.encoding import (
    NO_VALUE,
    CodeEncoder,
    Trouble,
    fixed_point,
    weight_trouble,
)
from sdcensus.model.schema.file_problems import ProblemKind, problem_of
from sdcensus.model.schema.grids import COORDINATE, GridSpec
from sdcensus.model.schema.variable import Role, Variable

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Columns that are asked for in one scan of a file.
_COLUMNS_AT_ONCE = 16
_FARTHEST = 1e15


@dataclass(frozen=True, slots=True)
class Encoding:
    """A relation from what stands in a column to what it means.

    Attributes:
        table: ``raw`` as it is read, ``leaf`` its position in the code list (or, for one
            coordinate of a grid, its column or row of cells), ``value`` its amount; null where
            there is none.
        troubles: How many records have each kind of problem.
        wrong: The values with a problem, to find out where they stand.
    """

    table: pa.Table
    troubles: tuple[tuple[ProblemKind, int], ...]
    wrong: tuple[tuple[ProblemKind, pa.Array], ...]


def distinct_values(
    connection: DuckDBPyConnection, file: RawFile, columns: Sequence[str]
) -> dict[str, tuple[pa.Array, list[int]]]:
    """The distinct values of some columns of a file, and how many records have each."""
    found: dict[str, tuple[pa.Array, list[int]]] = {}
    for start in range(0, len(columns), _COLUMNS_AT_ONCE):
        some = columns[start : start + _COLUMNS_AT_ONCE]
        parameters = Parameters()
        source = file.relation(some, parameters)
        names = [f"k{at}" for at in range(len(some))]
        query = (
            f"SELECT GROUPING({', '.join(names)}) AS which, {', '.join(names)}, count(*) AS n"
            f" FROM {source} AS f"
            f" GROUP BY GROUPING SETS ({', '.join(f'({name})' for name in names)})"
        )
        rows = connection.sql(query, params=parameters.values).to_arrow_table()
        every = (1 << len(some)) - 1
        for at, column in enumerate(some):
            # The bit of each column that is not grouped by is set, the first column's highest.
            which = every ^ 1 << len(some) - 1 - at
            own = rows.filter(pc.equal(rows.column("which"), which))
            values = own.column(names[at]).combine_chunks()
            if isinstance(values, pa.ChunkedArray):
                values = pa.concat_arrays(values.chunks) if values.num_chunks else values
            found[column] = values, own.column("n").to_pylist()
    return found


def encode(
    variable: Variable, values: pa.Array, counts: Sequence[int], *, decimal_mark: str
) -> Encoding:
    """The meaning of each distinct value of a variable's column.

    A value without a meaning gets the leaf for missing values: whether that is allowed is decided
    by whoever asks for it.
    """
    encoder = CodeEncoder(variable, decimal_mark=decimal_mark)
    missing = variable.missing_position or 0
    leaves: list[int] = []
    amounts: list[int | None] = []
    kinds: list[ProblemKind | None] = []
    for raw in values.to_pylist():
        text = as_text(raw)
        position = encoder.position(text) if variable.is_axis else 0
        amount: int | Trouble = NO_VALUE
        if variable.continuous:
            amount = _amount(text, variable, encoder, decimal_mark)
        trouble = Trouble(position) if position < 0 else amount
        kinds.append(problem_of(variable, trouble) if isinstance(trouble, Trouble) else None)
        leaves.append(missing if position < 0 else position)
        amounts.append(None if isinstance(amount, Trouble) or amount == NO_VALUE else amount)
    return _encoding(values, counts, leaves, amounts, kinds)


def encode_coordinate(
    grid: GridSpec,
    values: pa.Array,
    counts: Sequence[int],
    *,
    across: bool,
    decimal_mark: str,
) -> Encoding:
    """For each distinct coordinate the column (``across``) or row of cells in which it lies.

    Cells start at multiples of their size; a coordinate without a cell has none.
    """
    first = grid.first_column if across else grid.first_row
    last = first + (grid.across if across else grid.up) - 1
    cells: list[int | None] = []
    kinds: list[ProblemKind | None] = []
    for raw in values.to_pylist():
        text = as_text(raw)
        number = _coordinate(text, decimal_mark)
        cell = None if number is None else int(number // grid.cell)
        if cell is not None and first <= cell <= last:
            cells.append(cell - first)
            kinds.append(None)
        else:
            cells.append(None)
            empty = text is None or not text.strip()
            kinds.append(
                None
                if empty
                else ProblemKind.NOT_A_NUMBER
                if cell is None
                else ProblemKind.OUT_OF_RANGE
            )
    return _encoding(values, counts, cells, [None] * len(cells), kinds)


def _encoding(
    values: pa.Array,
    counts: Sequence[int],
    leaves: Sequence[int | None],
    amounts: Sequence[int | None],
    kinds: Sequence[ProblemKind | None],
) -> Encoding:
    table = pa.table(
        {
            "raw": values,
            "leaf": pa.array(leaves, pa.int64()),
            "value": pa.array(amounts, pa.int64()),
        }
    )
    records: Counter[ProblemKind] = Counter()
    for kind, count in zip(kinds, counts, strict=True):
        if kind is not None:
            records[kind] += count
    wrong = tuple(
        (kind, values.take(pa.array([at for at, one in enumerate(kinds) if one is kind])))
        for kind in records
    )
    return Encoding(table, tuple(records.items()), wrong)


def _amount(
    text: str | None, variable: Variable, encoder: CodeEncoder, decimal_mark: str
) -> int | Trouble:
    position = encoder.position(text)
    if position >= 0 and variable.codes[position].is_missing:
        return NO_VALUE
    amount = fixed_point(text, variable.decimals, decimal_mark=decimal_mark)
    if variable.role is Role.WEIGHT and not isinstance(amount, Trouble):
        return weight_trouble(amount) or amount
    return amount


def _coordinate(text: str | None, decimal_mark: str) -> float | None:
    """A coordinate as the number that a load takes; what is beyond all maps is far away."""
    pattern = COORDINATE.replace("[.]", f"[{decimal_mark}]")
    if text is None or not re.fullmatch(pattern, text.strip(), re.ASCII):
        return None
    number = float(text.strip().replace(decimal_mark, "."))
    return max(-_FARTHEST, min(_FARTHEST, number))


def as_text(value: Any) -> str | None:
    """A value as a file would write it: whole numbers without a fraction.

    Examples:
        >>> as_text(1.0), as_text(2.5), as_text(7), as_text(None)
        ('1', '2.5', '7', None)
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return str(value)
