"""Findings: cells that tell something about somebody, with a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.parts import TablePart, region
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.risk.detection.wording import sentence_language

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]


class FindingKind(StrEnum):
    """What a finding tells."""

    IDENTIFICATION = "identification"
    PAIR = "pair"
    INDIVIDUAL_ATTRIBUTE = "individual-attribute"
    GROUP_ATTRIBUTE = "group-attribute"
    COALITION = "coalition"
    NO_VALUE = "no-value"
    DIFFERENCE = "difference"
    WITHHELD = "withheld"
    CUT_CELL = "cut-cell"

    @property
    def meaning(self) -> Text:
        """What findings of this kind are, for the head of a list."""
        return Text.named(f"findings.meaning.{self.name.lower()}")


class Wording(Protocol):
    """Puts one finding into words."""

    def sentence(self, at: int, language: str | None) -> str:
        """The finding of that number as a sentence."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Findings:
    """Findings of one kind in a table, the least that one has to know about the group first.

    These are what a reader would think who takes published numbers for the truth; whether it is
    true is another matter. Findings from true counts are ``ConfidentialFindings``.

    Attributes:
        kind: What they tell.
        spec: The table.
        cells: For each finding the number of its cell, the last axis running fastest. Of an
            attribute, the cell that holds everyone; of a difference, the larger cell.
        values: How many units each finding is about.
        axes: For each finding the axis along which something is told; -1 where there is none.
        scope: Which tables the findings rest on, and what was taken for known.
        wording: What makes sentences.
    """

    kind: FindingKind
    spec: TableSpec
    cells: Numbers
    values: Int64
    axes: Int64
    scope: Text
    wording: Wording

    def __post_init__(self) -> None:
        for array in (self.cells, self.values, self.axes):
            if array.shape != self.cells.shape or array.ndim != 1:
                raise SpecError("Every finding has one cell, one value and one axis.")
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.kind} in {self.spec.title}>"

    def __len__(self) -> int:
        return int(self.cells.size)

    def __bool__(self) -> bool:
        return bool(self.cells.size)

    @property
    def count(self) -> int:
        """How many findings there are."""
        return len(self)

    def count_in(self, part: TablePart) -> int:
        """How many of them stand in cells of a part of the table."""
        return int(region(self.spec, part).holds(self.cells, self.spec.shape).sum())

    @property
    def units(self) -> int | None:
        """How many units the findings are about at most; ``None`` if there is no finding.

        A unit counts once for each finding: totals repeat what stands in their parts.
        """
        return int(self.values.sum()) if self else None

    def mask(self) -> npt.NDArray[np.bool_]:
        """For each cell of the table, whether a finding is about it."""
        if self.spec.cells > LARGEST_DENSE_GRID:
            raise SpecError(
                f"{self.spec.title}: the table is too large for a mask. Use the numbers in cells."
            )
        mask = np.zeros(self.spec.cells, dtype=bool)
        mask[self.cells.astype(np.int64)] = True
        return mask.reshape(self.spec.shape)

    def sentences(self, limit: int | None = None, language: str | None = None) -> tuple[str, ...]:
        """The first findings as sentences, all of them without a limit."""
        if limit is not None and limit < 0:
            raise SpecError("The number of sentences is 0 or more.")
        spoken = sentence_language(language)
        return tuple(self._sentences(len(self) if limit is None else limit, spoken))

    def _sentences(self, limit: int, language: str | None) -> Iterator[str]:
        for at in range(min(limit, len(self))):
            yield self.wording.sentence(at, language)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfidentialFindings(Confidential, Findings):
    """Findings from true counts: what is really so."""

    def __repr__(self) -> str:
        return f"<ConfidentialFindings {self.kind} in {self.spec.title}: confidential>"
