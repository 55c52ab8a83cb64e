"""The published values of one table as columns of a file, by the numbers of its cells."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import values_at
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.spec.shared_cells import same_layout, shared_cells
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Flags = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What was published for the cells of a table.

    Attributes:
        numbers: The cells that are listed, ascending; ``None`` where all are. Cells that are not
            listed were published as 0.
        published: Their values; 0 where a flag stands instead of a number.
        flags: A flag for each of them; ``None`` where all have numbers.
    """

    numbers: Numbers | None
    published: Int64
    flags: Flags | None

    @classmethod
    def of(cls, table: AnyTable) -> Values:
        """The values of a table."""
        if isinstance(table, SparseTable):
            if table.small is not None:
                raise SpecError(
                    f"{table.spec.title}: the registry cannot keep which cells of so large a table"
                    " are not shown because small groups are not broken down. Take fewer or"
                    " coarser axes."
                )
            return cls(table.numbers, table.published, None)
        flags = None if table.flags is None else table.flags.reshape(-1).astype(np.uint8)
        return cls(None, table.published.reshape(-1), flags)

    def at(self, cells: Numbers) -> Int64:
        """The published values of cells by their numbers."""
        if self.numbers is None:
            return self.published[cells.astype(np.int64)]
        return values_at(self.numbers, self.published, cells)

    def flags_at(self, cells: Numbers) -> Flags:
        """The flags of cells by their numbers."""
        if self.flags is None:
            return np.zeros(cells.size, dtype=np.uint8)
        return self.flags[cells.astype(np.int64)]

    def table(self, spec: TableSpec) -> AnyTable:
        """The same as a table."""
        if self.numbers is not None:
            return SparseTable(spec, self.numbers, self.published)
        flags = None if self.flags is None else self.flags.reshape(spec.shape)
        return Table(spec, self.published.reshape(spec.shape), flags)

    def columns(self) -> pa.Table:
        """The same as columns of a file; small numbers take little room."""
        columns: dict[str, pa.Array] = {}
        if self.numbers is not None:
            columns["number"] = pa.array(self.numbers)
        largest = int(np.abs(self.published).max(initial=0))
        narrow = np.int32 if largest < 1 << 31 else np.int64
        columns["value"] = pa.array(self.published.astype(narrow, copy=False))
        if self.flags is not None:
            columns["flag"] = pa.array(self.flags)
        return pa.table(columns)

    @classmethod
    def from_columns(cls, columns: pa.Table) -> Values:
        """Read what ``columns`` made, or what the first version of the registry wrote."""
        names = columns.column_names
        numbers: Numbers | None = None
        if "number" in names:
            numbers = columns.column("number").to_numpy().astype(np.uint64)
        published = columns.column("value").fill_null(0).to_numpy().astype(np.int64)
        flags = columns.column("flag").to_numpy().astype(np.uint8) if "flag" in names else None
        return cls(numbers, published, flags if flags is not None and flags.any() else None)

    def dense(self, cells: int) -> Values:
        """The same without numbers, where every cell is listed."""
        if self.numbers is None:
            return self
        if self.numbers.size != cells:
            raise ValueError("cells are missing")
        order = np.argsort(self.numbers, kind="stable")
        flags = None if self.flags is None else self.flags[order]
        return Values(None, self.published[order], flags)


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """Cells that were published before, and those of them that had something else.

    Attributes:
        compared: How many cells both tables have.
        cells: Those that differ, by their numbers in the new table, ascending.
        values, flags: What stands in them now.
        before, flags_before: What stood in them before.
    """

    compared: int
    cells: Numbers
    values: Int64
    before: Int64
    flags: Flags
    flags_before: Flags


def differences(
    spec: TableSpec, values: Values, before_spec: TableSpec, before: Values
) -> Differences | None:
    """Compare a table with one that was published, cell by cell; ``None`` if they share none."""
    if same_layout(spec, before_spec):
        if values.numbers is None and before.numbers is None:
            return _same_cells(values, before)
        listed = [part.numbers for part in (values, before) if part.numbers is not None]
        mine = theirs = np.unique(np.concatenate(listed)) if len(listed) == 2 else _every(spec)
    else:
        shared = shared_cells(spec, before_spec)
        if shared is None:
            return None
        if values.numbers is not None and shared.size > MOST_UNLISTED:
            kept, theirs = shared.of(values.numbers)
            mine = values.numbers[kept]
        else:
            mine, theirs = shared.all()
    now, then = values.at(mine), before.at(theirs)
    flags, flags_then = values.flags_at(mine), before.flags_at(theirs)
    other = np.flatnonzero((now != then) | (flags != flags_then))
    return Differences(
        int(mine.size),
        mine[other],
        now[other],
        then[other],
        flags[other],
        flags_then[other],
    )


#: A sparse table that shares more cells is compared by the cells that it lists only.
MOST_UNLISTED = 5_000_000


def _every(spec: TableSpec) -> Numbers:
    return np.arange(spec.cells, dtype=np.uint64)


def _same_cells(values: Values, before: Values) -> Differences:
    other = values.published != before.published
    if values.flags is not None or before.flags is not None:
        zero = np.zeros(values.published.size, dtype=np.uint8)
        mine = zero if values.flags is None else values.flags
        theirs = zero if before.flags is None else before.flags
        other |= mine != theirs
    cells = np.flatnonzero(other).astype(np.uint64)
    return Differences(
        int(values.published.size),
        cells,
        values.at(cells),
        before.at(cells),
        values.flags_at(cells),
        before.flags_at(cells),
    )


def values_digest(spec: TableSpec, values: Values) -> str:
    """A digest of published values in the order of their table."""
    digest = hashlib.blake2b(digest_size=16, person=b"published-values")
    layout = [
        [axis.variable.name, [[block.level, block.size] for block in axis.blocks]]
        for axis in spec.axes
    ]
    digest.update(json.dumps(layout, ensure_ascii=False).encode())
    for array, kind in ((values.numbers, "<u8"), (values.published, "<i8"), (values.flags, "u1")):
        digest.update(b"-" if array is None else np.ascontiguousarray(array.astype(kind)).data)
    return digest.hexdigest()


def making_of(provenance: Provenance | None) -> dict[str, str | int] | None:
    """What decides the numbers of every table of a publication; the same gives the same."""
    if provenance is None:
        return None
    document = provenance.to_json()
    del document["package_version"]  # the same numbers from a newer package are the same
    del document["spec_hash"]
    return document


def identity_of(
    spec: TableSpec, provenance: Provenance | None, digest: str, series: str = ""
) -> str:
    """A digest of what was published, and how."""
    content = json.dumps([spec.hash(), making_of(provenance), digest, series], sort_keys=True)
    return hashlib.blake2b(content.encode(), digest_size=16, person=b"publication").hexdigest()
