"""What is said to a question: before anything is counted, and in the end. Public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sdcensus.errors import Refused
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer.cells import WorkedExample
from sdcensus.session.policy import Verdict


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Checked:
    """What can be said of a question before anything is counted.

    Attributes:
        question: The question.
        spec: The table in the sense of the policy.
        cells, limit: How many cells it has, and how many it may have.
        dimensions, most_dimensions: The same for its variables.
        verdict: What rules on code lists say.
    """

    question: Question
    spec: TableSpec
    cells: int
    limit: int | None
    dimensions: int
    most_dimensions: int | None
    verdict: Verdict


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Answer:
    """What the public is told. Public.

    Attributes:
        question: The question.
        spec: The table in the sense of the policy and of the watch: axes as they were asked for,
            the condition narrowed to the codes that are shown.
        table: The table; ``None`` where the policy refuses it.
        parts: How many published values each cell is the sum of; ``None`` where each is one.
        cells, limit: How many cells it has, and how many it may have.
        dimensions, most_dimensions: The same for its variables.
        verdict: What the policy says.
        example: A place where published parts do not add up, if there is one.
    """

    question: Question
    spec: TableSpec
    table: DeliveredTable | None
    parts: np.ndarray[Any, np.dtype[np.int64]] | None
    cells: int
    limit: int | None
    dimensions: int
    most_dimensions: int | None
    verdict: Verdict
    example: WorkedExample | None = None

    def to_arrow(self) -> Any:
        """The cells of the table as a table of pyarrow, one row for each."""
        return self._published().to_arrow()

    def to_pandas(self) -> Any:
        """The cells of the table as a data frame of pandas, one row for each."""
        return self._published().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """The cells of the table for libraries that speak Arrow."""
        return self._published().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        """The columns of the table for libraries that speak Arrow."""
        return self._published().__arrow_c_schema__()

    def _repr_html_(self) -> str | None:
        """What notebooks show; nothing of a table that the policy refuses."""
        return None if self.table is None else self.table._repr_html_()

    def _published(self) -> DeliveredTable:
        if self.table is None:
            raise Refused("The policy refuses this table, so that it has no cells.")
        return self.table

    @property
    def areas(self) -> int | None:
        """How many areas the table shows or would show."""
        return self.verdict.areas

    @property
    def available(self) -> int | None:
        """How many of them have numbers."""
        return self.verdict.available


@dataclass(frozen=True, slots=True, kw_only=True)
class DataVersions:
    """Which numbers these are. Public."""

    data: str
    keys: int
    method: str
    package: str
    policy: str
    secret_id: str
    smallest_group: int = 0
