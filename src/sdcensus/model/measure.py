"""A measure of risk or loss: it says where it stands in a report, and gives its rows there.

A measure sees true counts, so everything that it gives back is confidential. What readers may see
is measured by a ``PublicMeasure``, which is handed the published table and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import Schema

Result = TypeVar("Result")


class Side(StrEnum):
    """The part of a report in which a measure stands."""

    RISK = "risk"
    LOSS = "loss"


class Need(StrEnum):
    """What a measure needs besides true counts and the published table: fields of its context."""

    SCHEMA = "schema"
    CLAIMS = "claims"
    KNOWLEDGE = "knowledge"
    PERTURBATION = "perturbation"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MeasureContext(Confidential):
    """What a measure is given.

    Attributes:
        cube: True counts.
        table: What is published of them.
        schema: The schema of the census, if it is known.
        claims: What the method promises, if it is known.
        knowledge: What an intruder is taken to know about the largest change.
        perturbation: The noise of the method, if it has one.
        exempt: Cells that the office publishes exactly on purpose, if there are any.
    """

    cube: Cube
    table: Table
    schema: Schema | None = None
    claims: Claims | None = None
    knowledge: Knowledge | None = None
    perturbation: Perturbation | None = None
    exempt: npt.NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        return f"<MeasureContext of {self.table.spec.title}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Row(Confidential):
    """A row of a report.

    Attributes:
        label: What was measured.
        value: The figure in words.
        sentence: What the head of the office should know before signing; empty for nothing.
        figures: The same for the evaluation sheet: headings of columns, each with a number or
            ``None`` where it has no meaning. A heading with the word "share" is shown in percent.
    """

    label: str
    value: str
    sentence: str = ""
    figures: tuple[tuple[str, float | int | None], ...] = ()

    def __repr__(self) -> str:
        return f"<Row {self.label}: confidential>"


class Measure(ABC, Generic[Result]):
    """One measure; a subclass is all that has to be written.

    Attributes:
        name: What it is called where it is registered, such as ``composite-risk``.
        title: What it is called in sentences.
        side: The part of the report in which it stands.
        needs: What it cannot be measured without; the report says so where that is missing.
        meaning: What the headings of its figures mean, for the evaluation sheet.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    side: ClassVar[Side]
    needs: ClassVar[tuple[Need, ...]] = ()
    meaning: ClassVar[tuple[tuple[str, str], ...]] = ()

    @abstractmethod
    def measure(self, context: MeasureContext) -> Result | None:
        """Measure; ``None`` where there is nothing to say, and an error where it has no meaning."""

    @abstractmethod
    def rows(self, result: Result, context: MeasureContext) -> tuple[Row, ...]:
        """What stands in the report."""

    def cautions(self, result: Result) -> tuple[str, ...]:
        """What to know before reading the figures."""
        return ()


@dataclass(frozen=True, slots=True, repr=False)
class Measured(Confidential):
    """What a measure found: its result, its rows, and what to know before reading them."""

    measure: Measure[object]
    result: object
    rows: tuple[Row, ...]
    cautions: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Measured {self.measure.name}: confidential>"


@dataclass(frozen=True, slots=True)
class PublicRow:
    """A figure that every reader could compute: its value in words, what it is, a sentence."""

    label: str
    value: str
    sentence: str = ""


class PublicMeasure(ABC):
    """A measure of what is published, for the page that anybody may read."""

    name: ClassVar[str]

    @abstractmethod
    def rows(self, table: Table, claims: Claims) -> tuple[PublicRow, ...]:
        """What stands on the page; nothing where it has no meaning."""
