"""A derived store that is never written: for trials, comparisons and attacks before a decision."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.model.progress import Progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import ColumnInfo

Integers = npt.NDArray[Any]


class DerivedView(CensusStore):
    """The records of a derived store in the order that they would have on disk.

    Everything that reads a store reads it. Columns are made when they are first asked for. Its data
    version names the parent and the step, as there are no files whose digests could.
    """

    __slots__ = ("_derived",)

    def __init__(self, derived: DerivedRecords, derivation: Derivation) -> None:
        parent = derived.store
        marks = hashlib.blake2b(f"view of {derivation}".encode(), digest_size=16).hexdigest()
        columns = {
            entity: {
                name: ColumnInfo(derived.dtype(entity, name).name, marks)
                for name in derived.columns(entity)
            }
            for entity in derived.kinds
        }
        manifest = replace(
            parent.manifest,
            rows={entity: int(derived.order[entity].size) for entity in derived.kinds},
            columns=columns,
            lineage=(*parent.manifest.lineage, derivation),
            listed=derived.listed,
        )
        super().__init__(parent.path, manifest, derived.schema)
        self._derived = derived

    def __repr__(self) -> str:
        return f"<DerivedView of {self.path.name!r}: confidential>"

    def verify_once(self, progress: Progress) -> None:
        """Compare the columns of the store behind it."""
        self._derived.store.verify_once(progress)

    def raw(self, entity: Entity, column: str) -> Integers:
        """A column as it would lie on disk."""
        known = self._columns.get((entity, column))
        if known is not None:
            return known
        info = self.manifest.columns.get(entity, {}).get(column)
        if info is None:
            return super().raw(entity, column)
        array = self._derived.as_written(entity, column)
        if array is None:
            values = self._derived.column(entity, column).astype(np.dtype(info.type), copy=False)
            array = values[self._derived.order[entity]]
        self._columns[entity, column] = array
        return array
