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
from sdcensus.model.text import NOT_STATED_LABEL, Text
from sdcensus.store.in_memory import InMemoryRecords

#: A variable with more distinct values than this is no axis of a table.
_MOST_CODES = 1 << 16


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
    for name in [key, *names, *([weight] if weight else [])]:
        if name not in table.column_names:
            raise UnknownName("column", name, known=table.column_names, where="The frame: ")
    entity = of if isinstance(of, Entity) else Entity.parse(of)
    with ThreadPoolExecutor() as threads:  # Arrow lets go of the interpreter while it encodes
        encoded = list(threads.map(lambda name: _encode(name, table.column(name), entity), names))
    described = [variable for variable, _ in encoded]
    codes = {variable.name: positions for variable, positions in encoded}
    values: dict[str, npt.NDArray[Any]] = {}
    if weight is not None:
        variable = Variable(name=weight, entity=entity, role=Role.WEIGHT, decimals=6)
        numbers = ColumnEncoder(variable).numbers(_one_chunk(table.column(weight)))
        if numbers.trouble is not None:
            raise InputError(f"The column {weight!r} must hold a number above 0 in every row.")
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
    if hasattr(frame, "__arrow_c_stream__"):
        return pa.table(frame)
    raise InputError("A frame must speak the Arrow interface: pandas, polars, DuckDB, pyarrow.")


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return (
            pa.concat_arrays(combined.chunks) if combined.num_chunks else pa.array([], column.type)
        )
    return combined


def _encode(
    name: str, column: pa.ChunkedArray, entity: Entity
) -> tuple[Variable, npt.NDArray[Any]]:
    """A variable with the values of a column as its codes, and the position of each row's."""
    array = _one_chunk(column)
    if not pa.types.is_dictionary(array.type):
        array = pc.dictionary_encode(array)
    distinct = array.dictionary
    if len(distinct) > _MOST_CODES:
        raise InputError(
            f"The column {name!r} has {len(distinct):,} distinct values, too many for an axis."
            " Name the columns to use: variables=[...]."
        )
    order = pc.sort_indices(distinct).to_numpy()
    texts = [str(value) for value in distinct.take(pa.array(order)).to_pylist()]
    codes = [Code(text, Text.of(text)) for text in texts]
    place = np.empty(len(order) + 1, dtype=smallest_width(len(order) + 1))
    place[order] = np.arange(len(order))
    indices = array.indices
    if array.null_count:
        place[len(order)] = len(codes)
        codes.append(Code("_U", NOT_STATED_LABEL, CodeKind.NOT_STATED))
        indices = pc.fill_null(indices, len(order))
    return Variable(name=name, entity=entity, codes=tuple(codes)), place[indices.to_numpy()]


def _keys(column: pa.ChunkedArray, name: str, space: KeySpace) -> npt.NDArray[np.uint32]:
    array = _one_chunk(column)
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
