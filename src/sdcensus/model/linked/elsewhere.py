"""Cells that other products or earlier releases show or close. Public: no counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.linked.products import ProductTable
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.model.spec.shared_cells import shared_cells
from sdcensus.model.spec.table_spec import TableSpec

UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: Tables of more cells are known by the cells that they share with others only.
MOST_CELLS = 5_000_000
_WORDS = np.dtype([("first", np.uint64), ("second", np.uint64)])


def _no_cells() -> UInt64:
    return np.zeros((0, 2), dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class CellsElsewhere:
    """What is known of cells from elsewhere; a method keeps to it, or says why it cannot.

    A cell that is shown in one table and closed in another one counts as closed.

    Attributes:
        shown: The hashes of cells that have a number elsewhere: closing them hides nothing.
        closed: The hashes of cells that are closed elsewhere: showing them would undo it.
    """

    shown: UInt64
    closed: UInt64

    def __post_init__(self) -> None:
        closed = _distinct(self.closed)
        shown = _distinct(self.shown)
        object.__setattr__(self, "closed", closed)
        object.__setattr__(self, "shown", shown[~_among(shown, closed)])
        for array in (self.shown, self.closed):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<CellsElsewhere: {len(self.shown):,} shown, {len(self.closed):,} closed>"

    def __bool__(self) -> bool:
        return bool(self.shown.size or self.closed.size)

    @classmethod
    def of(
        cls, products: Iterable[ProductTable], specs: Sequence[TableSpec] | None = None
    ) -> CellsElsewhere:
        """What products show and close.

        Args:
            products: The products.
            specs: Only cells of these tables are wanted.

        Raises:
            SpecError: A table has too many cells, and nobody says which are wanted.
        """
        shown, closed = [_no_cells()], [_no_cells()]
        for product in products:
            if specs is None and product.spec.cells > MOST_CELLS:
                raise SpecError(
                    f"{product.name}: the table has {product.spec.cells:,} cells, too many to keep"
                    " to all of them. Name releases of the tables that are protected."
                )
            for hashes, theirs in _cells(product.spec, specs):
                possible = hashes.any(axis=1)
                gone = np.zeros(theirs.size, dtype=bool)
                if product.missing is not None:
                    gone = product.missing.reshape(-1)[theirs.astype(np.int64)]
                shown.append(hashes[possible & ~gone])
                if product.closed is not None:
                    inside = product.closed.reshape(-1)[theirs.astype(np.int64)]
                    closed.append(hashes[possible & inside])
        return cls(np.concatenate(shown), np.concatenate(closed))

    def also(self, other: CellsElsewhere) -> CellsElsewhere:
        """What is known from both."""
        return CellsElsewhere(
            np.concatenate([self.shown, other.shown]), np.concatenate([self.closed, other.closed])
        )

    def masks(self, tables: LinkedTables) -> tuple[Mask, Mask]:
        """Which cells of some tables are shown elsewhere, and which are closed there."""
        return _among(tables.hashes, self.shown), _among(tables.hashes, self.closed)

    def digest(self) -> str:
        """The same for the same cells; for what decides the numbers of a method."""
        digest = hashlib.blake2b(digest_size=16, person=b"cells-elsewhere")
        for array in (self.shown, self.closed):
            digest.update(len(array).to_bytes(8, "little"))
            digest.update(np.ascontiguousarray(array.astype("<u8")).data)
        return digest.hexdigest()


def _cells(
    spec: TableSpec, specs: Sequence[TableSpec] | None
) -> Iterable[tuple[UInt64, npt.NDArray[np.uint64]]]:
    """Hashes of the cells of a table, and their numbers in it: all, or those of other tables."""
    own = spec.compared
    if specs is None:
        yield cell_hashes(own), np.arange(own.cells, dtype=np.uint64)
        return
    for wanted in specs:
        shared = shared_cells(wanted.compared, own)
        if shared is not None:
            mine, theirs = shared.all()
            yield cell_hashes(wanted.compared, cells=mine), theirs


def _words(hashes: UInt64) -> npt.NDArray[np.void]:
    return np.ascontiguousarray(hashes).view(_WORDS).reshape(-1)


def _distinct(hashes: UInt64) -> UInt64:
    return np.unique(_words(hashes)).view(np.uint64).reshape(-1, 2)


def _among(hashes: UInt64, known: UInt64) -> Mask:
    if not len(known) or not len(hashes):
        return np.zeros(len(hashes), dtype=bool)
    return np.asarray(np.isin(_words(hashes), _words(known)))


#: Nothing is known from elsewhere.
NOTHING_ELSEWHERE = CellsElsewhere(_no_cells(), _no_cells())
