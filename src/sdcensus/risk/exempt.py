"""Cells that the office exempts: they are published exactly, on purpose."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.model.confidential import Confidential
from sdcensus.model.measure import Measure, MeasureContext, Row, Side
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.headings import units_words
from sdcensus.risk.feasibility import SMALL


@dataclass(frozen=True, slots=True, repr=False)
class ExemptCells(Confidential):
    """Of all non-empty cells, those published exactly on purpose; how many of them hold 1 or 2."""

    cells: int
    small: int
    nonempty: int

    def __repr__(self) -> str:
        return "<ExemptCells: confidential>"


class ExemptMeasure(Measure[ExemptCells]):
    """Exempt cells as a row of a report."""

    name = "exempt-cells"
    title = sentence("assess.measure.exempt_title")
    side = Side.RISK
    meaning = (("exempt cells", "cells that hold anyone and are published exactly on purpose"),)

    def measure(self, context: MeasureContext) -> ExemptCells | None:
        """Of the cells that hold anyone; nothing where none is exempt."""
        if context.exempt is None:
            return None
        counts = context.cube.count[context.exempt]
        counts = counts[counts > 0]
        if not counts.size:
            return None
        nonempty = int(np.count_nonzero(context.cube.count))
        return ExemptCells(counts.size, int((counts <= SMALL).sum()), nonempty)

    def rows(self, result: ExemptCells, context: MeasureContext) -> tuple[Row, ...]:
        """How many there are; a warning where small ones are among them."""
        warning = ""
        if result.small:
            warning = sentence(
                f"assess.measure.exempt_{'one' if result.small == 1 else 'more'}",
                n=result.small,
                units=units_words(context.table.spec),
            )
        return (
            Row(
                sentence("assess.measure.exempt"),
                sentence("assess.risk.of", n=result.cells, cells=result.nonempty),
                warning,
                (("exempt cells", result.cells),),
            ),
        )
