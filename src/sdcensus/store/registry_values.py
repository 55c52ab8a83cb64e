"""The values of one publication as columns of a file, and how cells are looked up in it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.model.cell_hashes import cell_hashes
from sdcensus.model.provenance import Provenance
from sdcensus.model.table import SparseTable, Table
from sdcensus.model.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """For each cell that was looked for, whether it was found, and its value."""

    seen: npt.NDArray[np.bool_]
    values: Int64


def lookup(own: Numbers, values: Int64, wanted: Numbers) -> Found:
    """The values of cells by their hashes."""
    order = np.argsort(own[:, 0], kind="stable")
    first = own[order, 0]
    place = np.searchsorted(first, wanted[:, 0])
    seen = np.zeros(wanted.shape[0], dtype=bool)
    found = np.zeros(wanted.shape[0], dtype=np.int64)
    inside = np.flatnonzero((place < first.size) & wanted.any(axis=1))
    at = order[place[inside]]
    same = (own[at] == wanted[inside]).all(axis=1)
    seen[inside[same]] = True
    found[inside[same]] = values[at[same]]
    return Found(seen, found)


def cells_of(table: Table | SparseTable) -> tuple[Numbers, Int64, npt.NDArray[np.uint8]]:
    """The cells that a table holds: numbers, values, flags."""
    if isinstance(table, SparseTable):
        return table.numbers, table.published, np.zeros(table.numbers.size, dtype=np.uint8)
    numbers = np.arange(table.spec.cells, dtype=np.uint64)
    flags = np.zeros(numbers.size, dtype=np.uint8)
    if table.flags is not None:
        flags = table.flags.reshape(-1).astype(np.uint8)
    return numbers, table.published.reshape(-1), flags


def content_of(table: Table | SparseTable, provenance: Provenance | None) -> pa.Table:
    """The values of a publication as columns."""
    numbers, values, flags = cells_of(table)
    hashes = np.ascontiguousarray(cell_hashes(table.spec, cells=numbers).astype("<u8"))
    rows = numbers.size

    def same(text: str) -> pa.Array:
        index = pa.array(np.zeros(rows, dtype=np.int8))
        return pa.DictionaryArray.from_arrays(index, pa.array([text]))

    method = "" if provenance is None else f"{provenance.method} {provenance.method_version}"
    version = 0 if provenance is None else provenance.key_version
    cells = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(16), rows, [None, pa.py_buffer(hashes.tobytes())]
    )
    return pa.table(
        {
            "spec": same(table.spec.hash()),
            "cell": cells,
            "number": pa.array(numbers),
            "value": pa.array(values, mask=flags != 0),
            "flag": pa.array(flags),
            "method": same(method),
            "key_version": pa.array(np.full(rows, version, dtype=np.int64)),
        }
    )


def hashes_in(columns: pa.Table) -> Numbers:
    """The hashes of cells in a file of values, two numbers for each."""
    joined = columns.column("cell").combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        joined = (
            pa.concat_arrays(joined.chunks) if joined.num_chunks else pa.array([], pa.binary(16))
        )
    data = joined.buffers()[1]
    if data is None or len(joined) == 0:
        return np.zeros((0, 2), dtype=np.uint64)
    whole = np.frombuffer(data, dtype="<u8", count=2 * len(joined), offset=16 * joined.offset)
    return whole.astype(np.uint64).reshape(-1, 2)


def identity_of(spec: TableSpec, provenance: Provenance | None, content: pa.Table) -> str:
    """A digest of what was published, and how."""
    digest = hashlib.blake2b(digest_size=16, person=b"publication")
    made = None if provenance is None else provenance.to_json()
    if made is not None:
        del made["package_version"]  # the same numbers from a newer package are the same
    digest.update(json.dumps([spec.hash(), made], sort_keys=True).encode())
    values = content.column("value")
    hashes = hashes_in(content)
    order = np.lexsort((hashes[:, 1], hashes[:, 0]))  # the order of axes is no matter
    digest.update(np.ascontiguousarray(hashes[order].astype("<u8")).tobytes())
    digest.update(values.fill_null(0).to_numpy()[order].astype("<i8").tobytes())
    digest.update(content.column("flag").to_numpy()[order].tobytes())
    return digest.hexdigest()
