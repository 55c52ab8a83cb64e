"""Tables of a plan or a programme before they are counted: what, and how it is delivered."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PublishableTable:
    """A table to be counted, protected and delivered.

    Attributes:
        name: How its files are called.
        title: What stands above it; empty for what it shows, in words.
        spec: What is counted.
        axes: How each axis is delivered, in the order of those of ``spec``.
        rows: How many of the axes stand in rows where the table is laid out.
        group: The part of a programme that it belongs to.
    """

    name: str
    title: Text = Text()
    spec: TableSpec
    axes: tuple[DeliveredAxis, ...] = ()
    rows: int | None = None
    group: str = ""

    def __post_init__(self) -> None:
        if not self.axes:
            object.__setattr__(self, "axes", tuple(delivered_axis(axis) for axis in self.spec.axes))
        if len(self.axes) != len(self.spec.axes):
            raise SpecError(f"{self.name}: every axis of the table is delivered, and no other.")

    @property
    def cells(self) -> int:
        """How many cells are delivered."""
        cells = 1
        for axis in self.axes:
            cells *= len(axis)
        return cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """One figure of each small area: a code of one axis of a table that has the areas as another.

    Attributes:
        code, label: What it is called.
        spec: A table whose first axis is that of the areas; a second one if the figure is about
            some of the people only.
        position: Where on the second axis the figure stands.
    """

    code: str
    label: Text
    spec: TableSpec
    position: int = 0


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StatisticsTable:
    """A list of figures for each of many small areas, such as those on a grid.

    Attributes:
        name, title, group: As of a ``PublishableTable``.
        areas: How the areas are delivered.
        statistics: The figures; the first is the number of people.
        column, label: What the axis of the figures is called.
        populated: Whether the first figure is marked where the true count is not 0. A regulation
            may ask for it; it gives away that one bit for each area. It is then never held back.
    """

    name: str
    title: Text = Text()
    areas: DeliveredAxis
    statistics: tuple[Statistic, ...]
    column: str = "STAT"
    label: Text = Text()
    populated: bool = False
    group: str = ""

    @property
    def cells(self) -> int:
        """How many cells are delivered."""
        return len(self.areas) * len(self.statistics)


Publishable = PublishableTable | StatisticsTable
