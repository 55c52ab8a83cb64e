"""What a plan publishes, one product at a time: the tables it needs, and what becomes of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.published.delivery import (
    DeliveredAxis,
    DeliveredTable,
    deliver,
    delivered_axis,
    delivered_cells,
)
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.headings import units_text
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text


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


Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What stands above and below every table of a publication.

    Attributes:
        source: The office.
        date: The date of the publication.
        signs: The office's own signs for marks.
    """

    source: Text = Text()
    date: str = ""
    signs: tuple[tuple[Mark, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PublishedPart(Confidential):
    """One protected table, as a product takes it.

    Attributes:
        table: What is published.
        provenance: How it was made.
        refused: Cells that the policy does not show at all; ``None`` where there are none.
        populated: For products that must tell it: where the true count is not 0.
        records: Of a weighted table, the published numbers of records behind its values.
    """

    table: Table
    provenance: Provenance
    refused: Mask | None = None
    populated: Mask | None = None
    records: npt.NDArray[np.int64] | None = None

    def __repr__(self) -> str:
        return f"<PublishedPart {self.table.spec.title}: confidential>"

    @property
    def marks(self) -> npt.NDArray[np.uint8] | None:
        """What stands in the place of values, with what the policy does not show."""
        flags = self.table.flags
        if self.refused is None:
            return flags
        marks = np.zeros(self.table.shape, dtype=np.uint8) if flags is None else flags.copy()
        marks[self.refused] = Mark.REFUSED
        return marks


class Product(Protocol):
    """Something that a plan publishes under a name of its own."""

    @property
    def name(self) -> str:
        """How its files are called."""
        ...

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The tables that have to be counted and protected for it."""
        ...

    @property
    def own(self) -> bool:
        """Whether it is one of the plan's own, not one of a programme."""
        ...

    @property
    def title(self) -> Text:
        """What stands above it; empty for what it shows, in words."""
        ...

    @property
    def cells(self) -> int:
        """How many cells are delivered."""
        ...

    @property
    def needs_populated(self) -> bool:
        """Whether it must know where the true count is not 0."""
        ...

    def delivered(self, parts: Sequence[PublishedPart], heading: Heading) -> DeliveredTable:
        """What is delivered, from its tables in the order of ``specs``."""
        ...


class _OfTable:
    """What a product has from its table."""

    __slots__ = ()
    table: Publishable

    @property
    def name(self) -> str:
        """How its files are called."""
        return self.table.name

    @property
    def title(self) -> Text:
        """What stands above it."""
        return self.table.title

    @property
    def cells(self) -> int:
        """How many cells are delivered."""
        return self.table.cells


@dataclass(frozen=True, slots=True, eq=False)
class TableProduct(_OfTable):
    """One table of counts."""

    table: PublishableTable
    own: bool = True
    needs_populated: bool = False

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The table itself."""
        return (self.table.spec,)

    def delivered(self, parts: Sequence[PublishedPart], heading: Heading) -> DeliveredTable:
        """The table, with its marks."""
        (part,) = parts
        delivered_table = deliver(
            part.table,
            name=self.name,
            title=self.table.title,
            axes=self.table.axes,
            provenance=part.provenance,
            rows=self.table.rows,
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
        )
        if part.refused is None:
            return delivered_table
        return with_marks(
            delivered_table, delivered_cells(part.refused, self.table.axes), Mark.REFUSED
        )


@dataclass(frozen=True, slots=True, eq=False)
class StatisticsProduct(_OfTable):
    """A list of figures for each of many small areas."""

    table: StatisticsTable
    own: bool = False

    @property
    def needs_populated(self) -> bool:
        """Whether the true count decides about a mark."""
        return self.table.populated

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The tables that the figures stand in, each once."""
        return tuple(
            {id(statistic.spec): statistic.spec for statistic in self.table.statistics}.values()
        )

    def delivered(self, parts: Sequence[PublishedPart], heading: Heading) -> DeliveredTable:
        """The figures side by side, with the marks that the regulation asks for."""
        by_spec = {id(spec): part for spec, part in zip(self.specs, parts, strict=True)}
        areas = self.table.areas.positions
        size = (len(self.table.areas), len(self.table.statistics))
        values = np.zeros(size, dtype=np.int64)
        marks = np.zeros(size, dtype=np.uint8)
        for at, statistic in enumerate(self.table.statistics):
            part = by_spec[id(statistic.spec)]

            def column(
                array: npt.NDArray[Any], position: int = statistic.position
            ) -> npt.NDArray[Any]:
                chosen = array if array.ndim == 1 else array[:, position]
                return np.take(chosen, areas)

            values[:, at] = column(part.table.published)
            if part.table.flags is not None:
                marks[:, at] = column(part.table.flags)
            if part.refused is not None:
                hidden = column(part.refused)
                values[hidden, at] = 0
                marks[hidden, at] = Mark.REFUSED
            if at == 0 and part.populated is not None:
                self._check_shown(marks[:, at])
                marks[column(part.populated), at] = Mark.POPULATED
        notes = [note for part in parts for note in part.table.notes]
        return DeliveredTable(
            name=self.name,
            title=self.table.title,
            axes=(self.table.areas, self._axis()),
            values=values,
            marks=marks,
            unit=Text.of({language: units_text(self.specs[0], language) for language in LANGUAGES}),
            notes=tuple(dict.fromkeys(notes)),
            source=heading.source,
            date=heading.date,
            signs=heading.signs,
        )

    def _check_shown(self, marks: npt.NDArray[np.uint8]) -> None:
        """Refuse to hold back the figure that must be there for every area."""
        hidden = int(np.count_nonzero(marks))
        if hidden:
            raise Refused(
                f"{self.name}: {self.table.statistics[0].label} would be held back for {hidden:,}"
                f" of {marks.size:,} areas, and must be shown for all of them. Protect it by a"
                " method that changes numbers, such as cell-key, and by a policy that does not hold"
                " them back; in a plan of its own if other tables need another one."
            )

    def _axis(self) -> DeliveredAxis:
        figures = self.table.statistics
        count = len(figures)
        return DeliveredAxis(
            column=self.table.column,
            label=self.table.label,
            positions=np.arange(count, dtype=np.int64),
            codes=tuple(figure.code for figure in figures),
            labels=tuple(figure.label for figure in figures),
            levels=(self.table.column,) * count,
            parents=(-1,) * count,
        )


def with_marks(table: DeliveredTable, cells: Mask, mark: Mark) -> DeliveredTable:
    """The same table with a mark in some cells; where it stands for a number, that is taken out."""
    marks = np.zeros(table.shape, dtype=np.uint8) if table.marks is None else table.marks.copy()
    marks[cells] = mark
    values = table.values if mark.has_number else np.where(cells, 0, table.values)
    return replace(table, values=values, marks=marks)


def spec_key(spec: TableSpec) -> str:
    """The same for tables with the same cells in the same order.

    Axes in another order are other cells.
    """
    axes = [
        [axis.variable.name, [block.level for block in axis.blocks], axis.digest()]
        for axis in spec.axes
    ]
    text = json.dumps(axes, sort_keys=True, ensure_ascii=False)
    return f"{spec.hash()} {hashlib.blake2b(text.encode(), digest_size=16).hexdigest()}"
