"""What a program becomes: questions, and what is computed from their published answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from sdcensus.model.spec.question import Question
from sdcensus.model.text import Text
from sdcensus.session.commands.syntax import Script
from sdcensus.session.figures.computation import Computed


class Show(StrEnum):
    """What a table shows."""

    COUNT = "count"
    SHARE_ROW = "share-row"
    SHARE_COLUMN = "share-column"
    SHARE_TOTAL = "share-total"
    SHARE = "share"
    RATIO = "ratio"
    MEAN = "mean"
    MEDIAN = "median"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandTable:
    """One table of a program.

    Attributes:
        name: How the program calls it.
        title: The title that the program gives it; empty for none.
        question: What is asked. It is answered, judged and protected like any other.
        show: What the table shows of the answer.
        computed: How that is computed from published counts; ``None`` for counts.
        variables: The variables of the axes of the answer, in order.
        condition: For whom the table is, in words; empty for everybody.
        rows, columns, layers: Which of them stand where, for a page that shows the table.
        at: The offset of the statement in the program.
    """

    name: str
    title: str
    question: Question
    show: Show = Show.COUNT
    computed: Computed | None = None
    variables: tuple[str, ...] = ()
    condition: Text = Text()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    at: int = field(default=0, compare=False)

    @property
    def share(self) -> str | None:
        """``row``, ``column`` or ``total``, where counts are shown as percentages of these."""
        return self.show.value.partition("-")[2] or None

    def to_json(self) -> dict[str, Any]:
        """The table as plain values, for an answer over HTTP."""
        return {
            "name": self.name,
            "title": self.title,
            "question": self.question.to_json(),
            "show": self.show.value,
            "share": self.share,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "layers": list(self.layers),
            "at": self.at,
        }


@dataclass(frozen=True, slots=True)
class Program:
    """A program that fits the census.

    Attributes:
        tables: Its tables.
        script: What it says, as a tree.
    """

    tables: tuple[CommandTable, ...]
    script: Script

    def table(self, name: str) -> CommandTable | None:
        """The table of that name, in any case."""
        for table in self.tables:
            if table.name.casefold() == name.casefold():
                return table
        return None
