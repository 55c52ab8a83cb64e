"""Totals that equal the sum of their parts, as every reader can see. Public."""

from __future__ import annotations

from sdcensus.model.measure import PublicMeasure, PublicRow
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text


class AddingUpMeasure(PublicMeasure):
    """The share of totals that add up, and what readers should do where some do not."""

    name = "adding-up"

    def rows(self, table: Table, claims: Claims) -> tuple[PublicRow, ...]:
        """Nothing where the table has no totals."""
        share = gaps(table).share_that_adds_up
        if share is None:
            return ()
        sentence = ""
        if share < 1:
            sentence = (
                f"In {share_text(1 - share, digits=0)} of its lines the total is not the sum of its"
                " parts: use published totals rather than sums of your own."
            )
        label = "of totals equal the sum of their parts"
        return (PublicRow(label, share_text(share, digits=0), sentence),)
