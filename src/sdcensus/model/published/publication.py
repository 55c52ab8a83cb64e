"""Published tables together: what anybody can read of an office. Public."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A published table as it was read from its file.

    Attributes:
        name: The name of the file.
        table: What it shows.
        provenance: How it was made, if the file says so.
    """

    name: str
    table: AnyTable
    provenance: Provenance | None = None

    def __repr__(self) -> str:
        return f"<PublishedTable {self.name}>"
