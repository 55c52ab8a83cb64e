"""Identification: cells with so few units that these can be recognised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.layout import positions_of
from sdcensus.model.cube.parts import known_axes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.findings import ConfidentialFindings, FindingKind, Findings
from sdcensus.risk.detection.held_cells import HeldCells
from sdcensus.risk.detection.wording import (
    PERCEIVED,
    PERCEIVED_SCOPE,
    TRUE_SCOPE,
    group_of,
    spanish,
)

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IdentificationWording:
    """Sentences about cells with few units."""

    spec: TableSpec
    cells: Numbers
    values: Int64
    published: bool

    def sentence(self, at: int, language: str | None) -> str:
        """The units of the cell, and what they have in common."""
        value = int(self.values[at])
        group = group_of(self.spec, positions_of(self.spec.shape, int(self.cells[at])), language)
        text = group.there_are(value)
        if value == 2:
            if spanish(language):
                each, other = ("uno", "al otro") if group.masculine else ("una", "a la otra")
                text += f"; cada {each} puede reconocer {other}"
            else:
                text += "; each of them can recognise the other"
        lead = PERCEIVED.show(language) if self.published else ""
        return f"{lead}{text}."


def identification(
    cells: HeldCells, *, known: list[int], threshold: int = 1
) -> tuple[Findings, ...]:
    """Cells of 1 to ``threshold`` units, and apart from them cells of two.

    Args:
        cells: The cells of the table.
        known: The axes that identify; the others stand at their totals.
        threshold: The largest number of units that counts as few.
    """
    others = [at for at in range(len(cells.spec.axes)) if at not in known]
    seen = cells.at_totals(others)
    kinds = [(FindingKind.IDENTIFICATION, seen & (cells.values <= threshold))]
    if threshold < 2:
        kinds.append((FindingKind.PAIR, seen & (cells.values == 2)))
    return tuple(_findings(cells, kind, mask) for kind, mask in kinds)


def _findings(cells: HeldCells, kind: FindingKind, mask: npt.NDArray[np.bool_]) -> Findings:
    numbers, values = cells.numbers[mask], cells.values[mask]
    order = np.lexsort((numbers, known_axes(cells.spec, numbers)))
    numbers, values = numbers[order], values[order]
    nowhere = np.full(numbers.size, -1, dtype=np.int64)
    wording = IdentificationWording(cells.spec, numbers, values, cells.published)
    made, scope = (
        (Findings, PERCEIVED_SCOPE) if cells.published else (ConfidentialFindings, TRUE_SCOPE)
    )
    return made(kind, cells.spec, numbers, values, nowhere, scope, wording)
