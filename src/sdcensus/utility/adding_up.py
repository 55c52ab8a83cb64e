"""Totals that equal the sum of their parts, as every reader can see. Public."""

from __future__ import annotations

from functools import partial

from sdcensus.model.measure import PublicMeasure, PublicRow
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import figure, in_every_language, sentence


class AddingUpMeasure(PublicMeasure):
    """The share of totals that add up, and what readers should do where some do not."""

    name = "adding-up"

    def rows(self, table: Table, claims: Claims) -> tuple[PublicRow, ...]:
        """Nothing where the table has no totals."""
        compared = gaps(table)
        share, lines = compared.share_that_adds_up, compared.flat()[0].size
        if share is None:
            return ()
        warning = ""
        if share < 1:
            rest = in_every_language(partial(share_text, 1 - share, digits=0))
            warning = sentence("assess.public.does_not_add_up", share=rest, n=lines)
        value = figure(partial(share_text, share, digits=0))
        return (PublicRow(sentence("assess.public.adds_up", n=lines), value, warning),)
