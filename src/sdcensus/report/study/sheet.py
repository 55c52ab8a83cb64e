"""A sheet of a study: columns with headings for people and names for programs, and rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.report.study.results import Study
from sdcensus.report.study.words import say

Value = str | int | float | None


class Form(StrEnum):
    """How a column is shown."""

    TEXT = "text"
    COUNT = "#,##0"
    PERCENT = "0.00"
    SHORT = "0.0"
    RISK = "0.000"
    SMALL = "0.00000"


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column: its heading for people, its name for programs, and how it is shown."""

    heading: str
    name: str
    form: Form = Form.TEXT


@dataclass(frozen=True, slots=True, repr=False)
class StudySheet:
    """Rows of figures under one title.

    Attributes:
        key: By which it is known; the csv file has its name from it.
        name: Of the sheet.
        title: What it shows.
        columns: In their order.
        rows: Plain values; ``None`` where a figure has no meaning.
        frozen: Columns that stay in sight.
    """

    key: str
    name: str
    title: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    frozen: int = 2

    def __repr__(self) -> str:
        return f"<Sheet {self.name}: confidential>"

    @property
    def file(self) -> str:
        """The name of its csv file."""
        return f"{self.key}.csv"


def made_sheet(
    study: Study,
    key: str,
    columns: Sequence[SheetColumn],
    rows: Sequence[tuple[Value, ...]],
    *,
    title: str | None = None,
    frozen: int = 2,
) -> StudySheet:
    """A sheet by its key, with the name and the title of the catalogue."""
    name = say(study, f"sheet.{key}")
    title = say(study, f"sheet_title.{key}") if title is None else title
    return StudySheet(key, name, title, tuple(columns), tuple(rows), frozen)


def sheet_column(
    study: Study, name: str, form: Form = Form.TEXT, *, heading: str | None = None
) -> SheetColumn:
    """A column by its name for programs; its heading has another key where one name has two."""
    return SheetColumn(say(study, f"column.{heading or name}"), name, form)


def sheet_columns(study: Study, *columns: tuple[str, Form]) -> list[SheetColumn]:
    """Columns by their names for programs."""
    return [sheet_column(study, name, form) for name, form in columns]


def text_columns(study: Study, *names: str) -> list[SheetColumn]:
    """Columns of words."""
    return [sheet_column(study, name) for name in names]
