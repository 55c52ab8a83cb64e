"""Tables as products of an office: what each shows, what it closes. Public: no counts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.published.closing import Closing as Closing
from sdcensus.model.published.table import AnyTable, Mark, SparseTable
from sdcensus.model.spec.table_spec import TableSpec

Mask = npt.NDArray[np.bool_]

#: What stands in cells that a method has closed. Others are not shown for reasons of their own.
CLOSED = (Mark.WITHHELD, Mark.BELOW_THRESHOLD)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ProductTable:
    """A table that is published or would be.

    Attributes:
        name: What the office calls it.
        spec: What it shows.
        closing: What it asks for the cells that it withholds.
        together: The same word for tables that were protected together; empty where it closes
            nothing.
        closed: The cells that it closes, in its shape; ``None`` for none.
        missing: The cells that have no number, for whatever reason; ``None`` for none.
    """

    name: str
    spec: TableSpec
    closing: Closing = Closing.NOTHING
    together: str = ""
    closed: Mask | None = None
    missing: Mask | None = None

    @classmethod
    def of(
        cls,
        name: str,
        table: AnyTable,
        *,
        closing: Closing = Closing.NOTHING,
        together: str = "",
    ) -> ProductTable:
        """From a published table."""
        flags = None if isinstance(table, SparseTable) else table.flags
        if flags is None:
            return cls(name=name, spec=table.spec)
        missing = np.asarray(flags != 0)
        closed = np.isin(flags, CLOSED) if closing else None
        if closed is None or not closed.any():
            return cls(name=name, spec=table.spec, missing=missing)
        return cls(
            name=name,
            spec=table.spec,
            closing=closing,
            together=together or together_word([table.spec]),
            closed=closed,
            missing=missing,
        )

    def __repr__(self) -> str:
        return f"<ProductTable {self.name}>"

    @property
    def closes(self) -> bool:
        """Whether it has cells that must stay closed everywhere."""
        return self.closed is not None

    def is_with(self, other: ProductTable) -> bool:
        """Whether both were protected together."""
        return bool(self.together) and self.together == other.together


def together_word(specs: Iterable[TableSpec]) -> str:
    """The same for the same tables, in whatever order."""
    text = " ".join(sorted({spec.hash() for spec in specs}))
    return hashlib.blake2b(text.encode(), digest_size=12, person=b"together").hexdigest()
