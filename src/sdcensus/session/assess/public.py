"""What may be told to anyone about a published table: computed from what is published alone.

Nothing here takes a cube, so nothing in it can depend on a true count.
"""

from __future__ import annotations

from dataclasses import replace

from sdcensus.methods.method import Method
from sdcensus.methods.notes import notes_for
from sdcensus.model.cube.parts import TablePart, parts_of, region
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.results import PublicAssessment, PublicPart
from sdcensus.risk.posterior import shown_values, visible_small
from sdcensus.session.assess.measures import public_rows

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
        lineage = "" if provenance is None else provenance.lineage
        table = table.with_notes(*notes_for(table, claims, lineage=lineage))
    shows = table_heading(replace(spec, name=""), language)
    called = provenance.method if provenance is not None else ""
    if not called and method is not None:
        called = method.described_name
    return PublicAssessment(
        table=table,
        title=title or shows,
        shows=shows,
        parts=tuple(_public_part(table, part) for part in parts_of(spec)),
        method=called,
        promises=tuple(
            sentence(_promise(name, spec)) for name in claims.names() if name in _FOR_READERS
        ),
        provenance=provenance,
        rows=public_rows(table, claims),
    )


#: Promises that are said otherwise of sums.
_OF_SUMS = ("unbiased", "zeros_kept", "bounded", "never_negative")


def _promise(name: str, spec: TableSpec) -> str:
    """The words of a promise."""
    of_sums = spec.amount is not None and name in _OF_SUMS
    return f"sums.promise.{name}" if of_sums else f"assess.promise.{name}"


def _public_part(table: Table, part: TablePart) -> PublicPart:
    """What a reader sees in the cells of a part."""
    cells, shown = region(table.spec, part).cells, shown_values(table, part)
    return PublicPart(
        part=part,
        cells=cells,
        withheld=cells - shown.size,
        zeros=int((shown == 0).sum()),
        visible=sum(visible_small(table, part=part).visible),
    )
