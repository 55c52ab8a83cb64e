"""What may be told to anyone about a published table: computed from what is published alone.

Nothing here takes a cube, so nothing in it can depend on a true count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.interior import is_interior
from sdcensus.model.published.claims import SENTENCES, Claims
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.spec.headings import table_heading
from sdcensus.risk.posterior import VisibleSmall, visible_small

#: Promises that say something to readers; others concern the office, or tell of parameters.
_FOR_READERS = (
    "unbiased",
    "bounded",
    "zeros_kept",
    "zeros_are_true",
    "never_negative",
    "consistent",
    "additive",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PublicAssessment:
    """A published table in figures that every reader could compute.

    Attributes:
        table: The table, with its notes.
        title: What stands above it.
        shows: What it shows, in words.
        cells, interior_cells: How many cells it has, and of how many all others are sums.
        published_units: The sum of the published interior cells.
        zeros: How many interior cells are published as 0.
        withheld: How many cells have no number.
        visible: How many interior cells are published as 1 or 2.
        share_that_adds_up: The share of totals that equal the sum of their parts.
        largest_gap: The largest difference between a total and the sum of its parts.
        method: The name of the method.
        promises: What the method promises, as sentences.
        provenance: How it was made, if that is known.
    """

    table: Table
    title: str
    shows: str
    cells: int
    interior_cells: int | None
    published_units: int | None
    zeros: int | None
    withheld: int
    visible: VisibleSmall
    share_that_adds_up: float | None
    largest_gap: int | None
    method: str
    promises: tuple[str, ...]
    provenance: Provenance | None

    def __repr__(self) -> str:
        return f"<PublicAssessment of {self.table.spec.title}>"


def public_assessment(
    table: AnyTable,
    *,
    method: Method | None = None,
    provenance: Provenance | None = None,
    title: str = "",
    language: str | None = None,
) -> PublicAssessment:
    """Describe a published table to its readers, by what they can see themselves.

    Args:
        table: The published table.
        method: How it was protected, as far as that is public: its name and what it promises.
        provenance: How it was made.
        title: What stands above it; by default what it shows, in words.
        language: The language of labels.
    """
    table = table.held_for("its description")
    spec = table.spec
    claims = Claims(for_publication=False) if method is None else method.claims()
    if method is not None and not table.notes:
        table = table.with_notes(*notes_for(table, claims))
    has_interior = all(axis.base_is_shown for axis in spec.axes)
    shown = np.ones(spec.shape, dtype=bool) if table.flags is None else table.flags == 0
    inside = table.published[is_interior(spec) & shown] if has_interior else None
    between = gaps(table)
    shows = table_heading(replace(spec, name=""), language)
    name = provenance.method if provenance is not None else ""
    if not name and method is not None:
        name = method.described_name
    return PublicAssessment(
        table=table,
        title=title or shows,
        shows=shows,
        cells=spec.cells,
        interior_cells=None if inside is None else spec.base_cells,
        published_units=None if inside is None else int(inside.sum()),
        zeros=None if inside is None else int((inside == 0).sum()),
        withheld=int((~shown).sum()),
        visible=visible_small(table, margins=not has_interior),
        share_that_adds_up=between.share_that_adds_up,
        largest_gap=between.largest,
        method=name,
        promises=tuple(SENTENCES[one] for one in claims.names() if one in _FOR_READERS),
        provenance=provenance,
    )
