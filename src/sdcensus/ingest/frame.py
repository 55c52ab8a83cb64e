"""A data frame as encoded records, for notebooks: any frame that speaks Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError, UnknownName
from sdcensus.ingest.encode import ColumnEncoder
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.code_lists import MISSING_CODES
from sdcensus.model.schema.encoding import LARGEST_FIXED_POINT, Trouble
from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Role,
    Variable,
    smallest_width,
)
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import NOT_STATED_LABEL, Text
from sdcensus.store.in_memory import InMemoryRecords

#: A variable with more distinct values than this is no axis of a table.
_MOST_CODES = 1 << 16
#: What Arrow can tell apart and sort, beside text and numbers with a fraction.
_PLAIN = (
    *(pa.types.is_boolean, pa.types.is_integer, pa.types.is_decimal),
    *(pa.types.is_date, pa.types.is_time, pa.types.is_timestamp, pa.types.is_duration),
)
_DECIMAL_BITS = 128
_AS_TEXT = (
    "Turn it into text or numbers, leave it out of the frame, or name the columns to use:"
    " variables=[...]."
)
#: Rows that a message names.
_MOST_ROWS = 5
_RESERVED = {
    TOTAL: "totals",
    MISSING_CODES[CodeKind.NOT_STATED]: "'not stated'",
    MISSING_CODES[CodeKind.NOT_APPLICABLE]: "'not applicable'",
}


def records_from_frame(
    frame: Any,
    *,
    key: str,
    variables: Sequence[str] | None = None,
    weight: str | None = None,
    of: str | Entity = Entity.PERSON,
    key_space: KeySpace | None = None,
) -> InMemoryRecords:
    """Encode a frame whose rows are records and which has a column of record keys.

    The code list of each variable is what stands in the column, in order, an empty field being
    "not stated". That is for exploring: tables to be published take theirs from a schema.

    Args:
        frame: Anything with the Arrow interface: pandas, polars, DuckDB, pyarrow.
        key: The column with the record keys, whole numbers below the modulus.
        variables: The columns to encode; all others than key and weight by default.
        weight: A column of weights.
        of: What the rows are.
        key_space: How keys add up; modulo 2**32 by default.
    """
    table = _as_table(frame)
    space = key_space or KeySpace()
    names = (
        list(variables)
        if variables is not None
        else [name for name in table.column_names if name not in (key, weight)]
    )
    _check_names(table, key, names, weight)
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    with ThreadPoolExecutor() as threads:  # Arrow lets go of the interpreter while it encodes
        encoded = list(threads.map(lambda name: _encode(name, table.column(name), entity), names))
    described = [variable for variable, _ in encoded]
    codes = {variable.name: positions for variable, positions in encoded}
    values: dict[str, npt.NDArray[Any]] = {}
    if weight is not None:
        variable = Variable(name=weight, entity=entity, role=Role.WEIGHT, decimals=6)
        numbers = ColumnEncoder(variable).numbers(_decoded(weight, table.column(weight)))
        if numbers.trouble is not None:
            raise InputError(_about_weights(weight, numbers.trouble, variable.decimals))
        described.append(variable)
        values[weight] = numbers.values
    schema = Schema(
        census=CensusInfo(name="frame"),
        entities=(EntitySpec(entity=entity, id=(key,)),),
        variables=tuple(described),
        keys=KeyRules(space=space),
    )
    keys = _keys(table.column(key), key, space)
    return InMemoryRecords(
        schema, entity, codes=codes, keys=keys, values=values, origin=Origin(space)
    )


def _as_table(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return frame
    if not (hasattr(frame, "__arrow_c_stream__") or hasattr(frame, "__arrow_c_array__")):
        raise InputError(
            "A frame must speak the Arrow interface: pandas, polars, DuckDB, pyarrow. Collect a"
            " lazy frame first; give a query of DuckDB as connection.sql(...)."
        )
    # pandas itself refuses two columns of one name, without saying which.
    _check_twice([str(name) for name in getattr(frame, "columns", ())])
    try:
        return pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = ". ".join(map(str, error.args)).splitlines()[0].rstrip(".")
        names = _not_handed_over(frame)
        what = f"The column {names[0]!r} of the frame" if names else "The frame"
        raise InputError(
            f"{what} cannot be handed over: {reason}. Give every column one type, such as text:"
            " frame[column].astype(str) in pandas, frame[column].cast(pl.String) in polars."
        ) from None


def _not_handed_over(frame: Any) -> list[str]:
    """The columns that do not become Arrow, where the frame can be taken apart."""
    names = []
    for name in getattr(frame, "columns", ()):
        try:
            pa.table(frame[[name]])
        except (pa.ArrowException, ValueError, TypeError, KeyError):
            names.append(str(name))
    return names


def _check_twice(names: Sequence[str]) -> None:
    for twice, places in _places(names).items():
        if len(places) > 1:
            numbers = " and ".join(str(place + 1) for place in places)
            raise InputError(
                f"The frame has {len(places)} columns that are called {twice!r} (columns"
                f" {numbers}). Give every column a name of its own, or leave all but one out."
            )


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for at, name in enumerate(names):
        places.setdefault(name, []).append(at)
    return places


def _check_names(table: pa.Table, key: str, names: Sequence[str], weight: str | None) -> None:
    """Each column is there, once, and is asked for once."""
    _check_twice(table.column_names)
    asked = [(key, "key"), *((name, "variables") for name in names)]
    asked += [(weight, "weight")] if weight is not None else []
    seen: dict[str, str] = {}
    for name, use in asked:
        if name not in table.column_names:
            raise UnknownName("column", name, known=table.column_names, where="The frame: ")
        if name in seen:
            where = f"{use!r}" if seen[name] == use else f"{seen[name]!r} and in {use!r}"
            raise InputError(
                f"The column {name!r} is named twice, in {where}. A column is one of: the key, a"
                " variable, the weight."
            )
        seen[name] = use


def _about_weights(column: str, trouble: npt.NDArray[Any], decimals: int) -> str:
    """What is wrong with weights, by kind, with the first rows of each and what to do."""
    largest = LARGEST_FIXED_POINT // 10**decimals
    kinds = {
        Trouble.EMPTY: "is empty or NaN; fill it, or leave the row out",
        Trouble.NOT_A_NUMBER: "is not a number; correct it",
        Trouble.ZERO: f"is 0, as kept with {decimals} decimals; leave out rows that stand for"
        " nobody",
        Trouble.NEGATIVE: "is below 0; correct it, since nobody stands for fewer than none",
        Trouble.OUT_OF_RANGE: f"is above {largest:,}, the largest that can be summed exactly with"
        f" {decimals} decimals; divide all weights by a constant",
    }
    lines = []
    for kind, words in kinds.items():
        rows = np.flatnonzero(trouble == kind)
        if rows.size:
            lines.append(f"  the weight {words} ({_rows(rows)})")
    return "\n".join(
        [
            f"The column {column!r} must hold a weight, a number above 0, in every row:",
            *lines,
            "Rows are counted from 0.",
        ]
    )


def _rows(rows: npt.NDArray[np.int64]) -> str:
    named = ", ".join(f"{row:,}" for row in rows[:_MOST_ROWS].tolist())
    more = f" and {rows.size - _MOST_ROWS:,} more" if rows.size > _MOST_ROWS else ""
    return f"row{'s' if rows.size > 1 else ''} {named}{more}"


def _one_chunk(name: str, column: pa.ChunkedArray) -> pa.Array:
    """A column in one piece, of values (of a dictionary: too) that can be told apart and sorted."""
    chunks = [_plain(name, chunk) for chunk in column.chunks]
    if not chunks:
        return _plain(name, pa.nulls(0, column.type))
    if len(chunks) == 1:
        return chunks[0]
    # Dictionaries of several pieces may differ.
    return pa.concat_arrays(
        [
            chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk
            for chunk in chunks
        ]
    )


def _plain(name: str, array: pa.Array) -> pa.Array:
    """An array in a type that Arrow can sort: the many ways to hold text become one."""
    kind = array.type
    if pa.types.is_run_end_encoded(kind):
        return _plain(name, pc.run_end_decode(array))
    if pa.types.is_dictionary(kind):
        return pa.DictionaryArray.from_arrays(array.indices, _plain(name, array.dictionary))
    if pa.types.is_null(kind):
        return array.cast(pa.large_string())
    if _is_text(kind):
        try:
            return array.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid:
            raise InputError(
                f"The column {name!r} holds bytes that are no text in UTF-8. {_AS_TEXT}"
            ) from None
    if pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    elif pa.types.is_decimal(kind) and kind.bit_width < _DECIMAL_BITS:
        return array.cast(pa.decimal128(kind.precision, kind.scale))
    if pa.types.is_floating(kind):  # NaN is how data frames write "no value"
        return pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    if not any(is_plain(kind) for is_plain in _PLAIN):
        raise InputError(
            f"The column {name!r} holds {kind}; a variable holds text, numbers or dates. {_AS_TEXT}"
        )
    return array


def _is_text(kind: pa.DataType) -> bool:
    return any(
        holds(kind)
        for holds in (
            *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
            *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view),
        )
    )


def _distinct(array: pa.Array) -> tuple[pa.Array, npt.NDArray[np.int32]]:
    """The values that stand in a column, and the position of each row's; -1 where it has none."""
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
        return array.dictionary, _positions(array)
    # A list of categories may have some that stand nowhere, twice, or that are no value.
    listed = _positions(array)
    used = np.flatnonzero(np.bincount(listed[listed >= 0], minlength=len(array.dictionary)))
    values, places = _distinct(array.dictionary.take(pa.array(used)))
    lookup = np.full(len(array.dictionary) + 1, -1, dtype=np.int32)
    lookup[used] = places
    return values, lookup[listed]


def _decoded(name: str, column: pa.ChunkedArray) -> pa.Array:
    array = _one_chunk(name, column)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _positions(array: pa.DictionaryArray) -> npt.NDArray[np.int32]:
    positions: npt.NDArray[np.int32] = pc.fill_null(array.indices.cast(pa.int32()), -1).to_numpy()
    return positions


def _encode(
    name: str, column: pa.ChunkedArray, entity: Entity
) -> tuple[Variable, npt.NDArray[Any]]:
    """A variable with the values of a column as its codes, and the position of each row's."""
    distinct, rows = _distinct(_one_chunk(name, column))
    if len(distinct) > _MOST_CODES:
        raise InputError(
            f"The column {name!r} has {len(distinct):,} distinct values, too many for an axis."
            " Name the columns to use: variables=[...]."
        )
    order = pc.sort_indices(distinct).to_numpy()
    texts = [str(value) for value in distinct.take(pa.array(order)).to_pylist()]
    _check_reserved(name, texts, order, rows)
    codes = [Code(text, Text.of(text)) for text in texts]
    place = np.empty(len(order) + 1, dtype=smallest_width(len(order) + 1))
    place[order] = np.arange(len(order))
    if (rows < 0).any():
        place[len(order)] = len(codes)  # the place behind the last, which -1 finds
        codes.append(Code("_U", NOT_STATED_LABEL, CodeKind.NOT_STATED))
    return Variable(name=name, entity=entity, codes=tuple(codes)), place[rows]


def _check_reserved(
    name: str, texts: Sequence[str], order: npt.NDArray[Any], places: npt.NDArray[np.int32]
) -> None:
    """No value is one of the codes that tables use themselves."""
    for at, text in enumerate(texts):
        if text in _RESERVED:
            rows = np.flatnonzero(places == order[at])
            remedy = (
                "Leave totals out: tables make them"
                if text == TOTAL
                else "Empty the field: it is then counted as 'not stated'"
                if text == MISSING_CODES[CodeKind.NOT_STATED]
                else "Give it another code"
            )
            raise InputError(
                f"The column {name!r} holds {text!r}, which is kept for {_RESERVED[text]}"
                f" ({_rows(rows)}, counted from 0). {remedy}."
            )


def _keys(column: pa.ChunkedArray, name: str, space: KeySpace) -> npt.NDArray[np.uint32]:
    array = _decoded(name, column)
    if pa.types.is_decimal(array.type) and array.type.scale == 0:  # large integers of databases
        try:
            array = array.cast(pa.int64())
        except pa.ArrowInvalid:
            array = pa.nulls(1)
    if not pa.types.is_integer(array.type) or array.null_count:
        raise InputError(f"The key column {name!r} must hold a whole number in every row.")
    keys = array.to_numpy()
    if keys.size and (int(keys.min()) < 0 or int(keys.max()) >= space.modulus):
        raise InputError(
            f"The key column {name!r} must lie from 0 to {space.modulus - 1}. Pass"
            " key_space=KeySpace(modulus=...) for the modulus that your keys were drawn for."
        )
    small: npt.NDArray[np.uint32] = keys.astype(np.uint32)
    return small
