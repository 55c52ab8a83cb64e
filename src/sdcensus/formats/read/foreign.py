"""Tables that another tool wrote: columns of codes and a column of values, without code lists.

Code lists are what stands in the files: all codes of the columns of one name, in all files that
are read together. A code of the total is recognised by its name. A combination that a file does
not list is taken as withheld: nothing is known about it, also not that it is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from sdcensus.errors import InputError
from sdcensus.formats.read.raw import Int64, RawTable, positions_of, values_and_flags
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.schema.variable import Code, Entity, Variable
from sdcensus.model.spec.axis import TOTAL, Axis, make_axis
from sdcensus.model.spec.table_spec import TableSpec

#: What columns of values are called, in the order in which they are looked for.
VALUE_NAMES = ("published", "value", "count", "obs_value")
#: What the code of a total is called, in small letters.
TOTAL_NAMES = ("_t", "total")
_FLAG = "flag"
#: Files of which fewer cells are listed than one in so many are no tables.
_MOST_ABSENT = 200
_MOST_CELLS = 50_000_000
#: No published table is read by more; an array has no more axes.
_MOST_COLUMNS = 32


@dataclass(frozen=True, slots=True, eq=False)
class ForeignTable:
    """A table before its code lists are known: they may need other files as well.

    Attributes:
        name: The name of the file.
        raw: Its columns.
        codes: The names of the columns of codes.
        values, flags: What is published in each row.
    """

    name: str
    raw: RawTable
    codes: tuple[str, ...]
    values: Int64
    flags: Int64


def foreign_table(raw: RawTable, name: str) -> ForeignTable:
    """Find out which columns are codes and which one holds the values."""
    column = _value_column(raw)
    signs = raw.columns.get(_FLAG) if column != _FLAG else None
    labels = {f"{column}_label" for column in raw.columns}
    codes = tuple(one for one in raw.columns if one not in (column, _FLAG) and one not in labels)
    for code in codes:
        if f"{code}_level" in codes:
            raise InputError(
                f"{raw.path} shows several levels of {code!r} and does not say how they nest: the"
                " file NAME.about.json that belongs beside it is missing."
            )
        empty = np.asarray(pc.equal(raw.columns[code], "").to_numpy(zero_copy_only=False))
        if empty.any():
            row = int(np.flatnonzero(empty)[0])
            raise raw.mistake(row, f"the column {code!r} has no code.")
    if not raw.rows:
        raise InputError(f"{raw.path} has no rows.")
    if len(codes) > _MOST_COLUMNS:
        raise InputError(
            f"{raw.path} has {len(codes):,} columns beside its values; a table has at most"
            f" {_MOST_COLUMNS} columns of codes. Take out columns that hold no codes."
        )
    values, flags = values_and_flags(raw, column, signs)
    return ForeignTable(name, raw, codes, values, flags)


def _value_column(raw: RawTable) -> str:
    by_name = {column.lower(): column for column in raw.columns}
    for name in VALUE_NAMES:
        if name in by_name:
            return by_name[name]
    for name in reversed(raw.columns):
        number = pc.match_substring_regex(raw.columns[name], "^ *[0-9.]+ *$")
        if raw.rows and pc.any(number).as_py() and pc.mean(number.cast("int8")).as_py() > 0.5:
            return name
    raise InputError(
        f"{raw.path} has no column of numbers. A published table has columns of codes and one of"
        f" values, called {', '.join(VALUE_NAMES[:3])} or standing last."
    )


def foreign_tables(found: Sequence[ForeignTable]) -> list[PublishedTable]:
    """Tables of other tools with the code lists that all of them have together."""
    lists: dict[str, dict[str, None]] = {}
    for foreign_table in found:
        for name in foreign_table.codes:
            words = pc.unique(foreign_table.raw.columns[name]).to_pylist()
            lists.setdefault(name, {}).update(dict.fromkeys(words))
    variables = {name: _variable(name, list(words)) for name, words in lists.items()}
    return [
        PublishedTable(foreign_table.name, _table(foreign_table, variables))
        for foreign_table in found
    ]


def is_total(code: str) -> bool:
    """Whether a code stands for the total of its column.

    Examples:
        >>> is_total("Total"), is_total("_T"), is_total("1")
        (True, True, False)
    """
    return code.strip().lower() in TOTAL_NAMES


def _variable(name: str, words: list[str]) -> Variable:
    codes = tuple(Code(word) for word in words if not is_total(word))
    return Variable(name=name, entity=Entity.PERSON, codes=codes or (Code("all"),))


def _table(one: ForeignTable, variables: dict[str, Variable]) -> Table:
    axes: list[Axis] = []
    positions = []
    for name in one.codes:
        column = one.raw.columns[name]
        found = pc.unique(column).to_pylist()
        totals = [word for word in found if is_total(word)]
        if len(totals) > 1:
            raise InputError(
                f"{one.raw.path}: the column {name!r} has several codes of a total:"
                f" {', '.join(map(repr, totals))}. Keep one of them."
            )
        variable = variables[name]
        axis = make_axis(variable, [variable.level()], total=bool(totals))
        words = [totals[0] if code.code == TOTAL else code.code for code in axis.codes]
        axes.append(axis)
        positions.append(positions_of(column, words))
    spec = TableSpec(of=Entity.PERSON, axes=tuple(axes), name=one.name)
    cells = math.prod(spec.shape)
    if cells > max(_MOST_ABSENT * one.raw.rows, 10_000) or cells > _MOST_CELLS:
        raise InputError(
            f"{one.raw.path}: its columns of codes ({', '.join(one.codes)}) have {cells:,}"
            f" combinations, and it lists {one.raw.rows:,}. It does not look like a table; take"
            " out columns that hold no codes."
        )
    published = np.zeros(spec.shape, dtype=np.int64)
    flags = np.full(spec.shape, Mark.WITHHELD, dtype=np.uint8)
    at: Any = tuple(positions)
    if not axes and one.raw.rows > 1:
        raise one.raw.mistake(1, "a table without columns of codes has one row.")
    _check_once(one, spec, positions)
    published[at] = one.values if axes else one.values[0]
    flags[at] = one.flags if axes else one.flags[0]
    return Table(spec, published, flags)


def _check_once(one: ForeignTable, spec: TableSpec, positions: list[Int64]) -> None:
    if not positions:
        return
    numbers = np.ravel_multi_index(tuple(positions), spec.shape)
    order = np.argsort(numbers, kind="stable")
    again = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
    if again.size:
        row = int(order[again + 1].min())
        raise one.raw.mistake(
            row, f"this combination of {', '.join(one.codes)} stands in the file twice."
        )
