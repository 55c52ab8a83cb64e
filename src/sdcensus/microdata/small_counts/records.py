"""The records behind the smallest groups of some tables, and how groups grow and shrink."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.keys.record_keys import record_keys
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.sparse_cube import LARGEST_GRID
from sdcensus.model.linked.atoms import Atoms, joint_spec
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore, all_rows_of

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: Draws for the order of records in a group, and for the digests of copies. The first number, 0,
#: is that of the words of groups, as in the method for tables.
_ORDER, _COPY = 1, 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupedRecords(Confidential):
    """The records that tables count, by the smallest groups that they tell apart.

    Attributes:
        store: The store.
        entity: What the tables count.
        tables: The tables.
        atoms: The groups.
        rows: The rows of the records that are in any table, ascending.
        group: For each of them the number of its group.
    """

    store: CensusStore
    entity: Entity
    tables: LinkedTables
    atoms: Atoms
    rows: Int64
    group: Int64

    def __repr__(self) -> str:
        return "<GroupedRecords: confidential>"

    @classmethod
    def of(cls, store: CensusStore, entity: Entity, tables: LinkedTables) -> GroupedRecords:
        """Find the groups of the records of a store.

        Raises:
            SpecError: The tables tell more apart than can be numbered.
        """
        joint = joint_spec(tables.specs)
        if joint.cells >= LARGEST_GRID:
            raise SpecError(
                "The tables tell more combinations of codes apart than can be numbered (2**63)."
                " List fewer variables, or coarser levels."
            )
        rows = np.asarray(all_rows_of(joint.universe, store, entity), dtype=np.int64)
        number = np.zeros(rows.size, dtype=np.uint64)
        for axis in joint.axes:
            codes = store.column(entity, axis.variable)[rows]
            number = number * np.uint64(axis.base_size) + axis.base[codes].astype(np.uint64)
        numbers, group, counts = np.unique(number, return_inverse=True, return_counts=True)
        keys = np.zeros(numbers.size, dtype=np.uint32)  # nothing here is drawn by cell keys
        atoms = Atoms.from_numbers(tables, joint, numbers, counts.astype(np.int64), keys)
        return cls(store, entity, tables, atoms, rows, group.reshape(-1).astype(np.int64))

    def resized(self, sizes: Int64, draws: Draws, repetition: int) -> ResizedRecords:
        """Leave records out and copy others until each group has its size.

        Which of a group go or are copied is decided by draws for each record. Groups that keep
        their size keep their records.

        Args:
            sizes: The new size of each group; 0 stays 0.
            draws: Draws of the office secret.
            repetition: How often this was done to the records before.
        """
        change = sizes - self.atoms.counts
        moved = np.flatnonzero(change[self.group])
        digests = np.asarray(self.store.digests(self.entity), dtype=np.uint64)
        own = digests[self.rows[moved]]
        words = draws.words(own, _ORDER, repetition)
        order = moved[np.lexsort((own, words, self.group[moved]))]
        place = _places(self.group[order])
        wanted = change[self.group[order]]
        times = np.ones(self.store.rows(self.entity), dtype=np.int64)
        held = self.atoms.counts[self.group[order]]
        # Of a group that grows, each record is copied as often as goes, the first once more.
        grown = np.maximum(wanted, 0)
        times[self.rows[order]] += grown // held + (place < grown % held)
        times[self.rows[order[place < -wanted]]] = 0
        kept = np.repeat(np.arange(times.size), times)
        copy = _places(kept).astype(np.uint64)
        new = digests[kept]
        at = np.flatnonzero(copy)
        new[at] = draws.words(new[at], _COPY, repetition, copy[at])
        modulus = self.store.manifest.key_space.modulus
        keys = np.asarray(self.store.record_keys(self.entity))[kept]
        keys[at] = record_keys(new[at], modulus=modulus).astype(keys.dtype)
        return ResizedRecords(kept, new, keys, np.flatnonzero(times == 0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResizedRecords(Confidential):
    """Records after some were left out and others copied.

    Attributes:
        rows: For each record the row that it is, or is a copy of; ascending.
        digests, keys: Those of each record.
        dropped: The rows that are left out.
    """

    rows: Int64
    digests: UInt64
    keys: UInt32
    dropped: Int64

    def __repr__(self) -> str:
        return "<ResizedRecords: confidential>"

    @property
    def copies(self) -> int:
        """How many records are copies."""
        return int((self.rows[1:] == self.rows[:-1]).sum())


def _places(sorted_values: Int64) -> Int64:
    """For each of some values in order, how many equal ones stand before it."""
    first = np.ones(sorted_values.size, dtype=bool)
    first[1:] = sorted_values[1:] != sorted_values[:-1]
    starts = np.maximum.accumulate(np.where(first, np.arange(sorted_values.size), 0))
    return np.asarray(np.arange(sorted_values.size) - starts, dtype=np.int64)
