"""Published tables in the shape in which they are delivered: columns, codes, labels. Public.

A table is computed on the levels of its axes, where a code that has no parts stands at several
levels. Who receives it wants each code once, in an order and under a name of his own. A delivered
table says so, and every format is written from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.frames import Columns, Framed, facts_of, first_positions, with_decimals
from sdcensus.model.published.area_outlines import AreaOutlines, OutlinesOf
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.figures import DEFAULT_LIMITS, FigureLimits, Support
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import IN_PLACE, Mark, Table, marks_in
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.headings import table_heading, units_text, variable_heading
from sdcensus.model.spec.levels_told_apart import is_area
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text

Int64 = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]
Number = TypeVar("Number", bound=np.generic)

#: No parent, where positions of parents are given.
NO_PARENT = -1


@dataclass(frozen=True, slots=True, eq=False)
class DeliveredAxis:
    """One axis as it is delivered.

    Attributes:
        column: How files call it.
        label: Its heading.
        positions: For each code that is delivered, where it stands on the axis of the table.
        codes, labels: The codes, and what they are called.
        levels: The level of each code (``_T`` for the total).
        parents: For each code the place of the code above it among ``codes``, or ``NO_PARENT``.
        total: The place of the total among ``codes``, if it is there.
        geography: Whether its codes are areas.
    """

    column: str
    label: Text
    positions: Int64
    codes: tuple[str, ...]
    labels: tuple[Text, ...]
    levels: tuple[str, ...]
    parents: tuple[int, ...]
    total: int | None = None
    geography: bool = False

    def __post_init__(self) -> None:
        size = self.positions.size
        if not len(self.codes) == len(self.labels) == len(self.levels) == len(self.parents) == size:
            raise SpecError(f"Column {self.column!r}: every code needs a label, level and parent.")
        self.positions.flags.writeable = False

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def unique(self) -> bool:
        """Whether a code alone tells the position; else its level is needed as well."""
        return len(set(self.codes)) == len(self.codes)

    def label_of(self, at: int, language: str | None = None) -> str:
        """The label of a code, or the code itself where it has none."""
        return self.labels[at].show(language) or self.codes[at]

    def depth(self, at: int) -> int:
        """How many codes stand above one, the total not counted; for indents."""
        above, depth = self.parents[at], 0
        while above != NO_PARENT and above != self.total:
            above, depth = self.parents[above], depth + 1
        return depth


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class DeliveredTable(Framed):
    """A published table, or figures computed from published tables, ready to be written.

    Attributes:
        name: How its files are called.
        title: What stands above it.
        axes: Its axes; ``values`` has one dimension for each.
        values: Published numbers as integers with ``decimals`` digits behind the point; 0 where a
            mark says that there is none.
        marks: A ``Mark`` for every cell, or ``None`` if there are none.
        decimals: How many of the digits of a value stand behind the point.
        unit: What is counted or measured.
        contents: What the numbers are called where that is not their unit, such as a median age.
        rows: How many of the axes stand in rows where a table is laid out; ``None`` for the first.
        notes: What readers should know.
        provenance: How the numbers were made; ``None`` for figures from several tables.
        spec: The table that was published, where the cells are those of one.
        source: Whose numbers these are.
        date: The date of the publication as ISO text; empty for none.
        signs: The office's own signs for marks, where it does not use ours.
        support: What values rest on that are sums of several published ones; ``None`` where each
            is one.
        census: Which census the numbers are from, where the file says it.
        limits: When figures that are computed from the values are unreliable.
        outlines: Where areas lie, by column and level, for formats that draw them.
    """

    name: str
    title: Text
    axes: tuple[DeliveredAxis, ...]
    values: Int64
    marks: Marks | None = None
    decimals: int = 0
    unit: Text = Text()
    contents: Text = Text()
    rows: int | None = None
    notes: tuple[Text, ...] = ()
    provenance: Provenance | None = None
    spec: TableSpec | None = None
    source: Text = Text()
    date: str = ""
    signs: tuple[tuple[Mark, str], ...] = ()
    support: Support | None = None
    census: CensusFacts | None = None
    limits: FigureLimits = DEFAULT_LIMITS
    outlines: Mapping[tuple[str, str], AreaOutlines] | None = None

    def __post_init__(self) -> None:
        if self.values.shape != self.shape:
            raise SpecError(f"{self.name}: values need the shape {self.shape}.")
        if self.values.dtype != np.int64:
            raise SpecError(f"{self.name}: values are whole numbers of 64 bits.")
        if self.marks is not None:
            if self.marks.shape != self.shape:
                raise SpecError(f"{self.name}: marks need the shape {self.shape}.")
            if not self.marks.any():
                object.__setattr__(self, "marks", None)
            elif self.values[~self.numbered].any():
                raise SpecError("A cell whose mark stands for a number holds none.")
            if self.signs:
                self._check_signs()
        columns = [axis.column for axis in self.axes]
        if len(set(columns)) != len(columns):
            raise SpecError(f"{self.name}: two columns have the same name.")

    def _check_signs(self) -> None:
        """Refuse signs by which an estimate could not be told from something else.

        Plans compare all other signs when they are read.
        """
        seen: dict[str, Mark] = {}
        for mark in self.used_marks():
            first = seen.setdefault(self.sign(mark), mark)
            if first is not mark and mark in (Mark.MODERATE_ERROR, Mark.UNRELIABLE):
                raise SpecError(
                    f"{self.name}: {first.name.lower()!r} and {mark.name.lower()!r} would have the"
                    " same sign. Give one of them another: symbols in [office] of the plan."
                )

    def __repr__(self) -> str:
        return f"<DeliveredTable {self.name}: {'×'.join(map(str, self.shape)) or 'one cell'}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each axis has."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def cells(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def numbered(self) -> npt.NDArray[np.bool_]:
        """Where a number stands."""
        if self.marks is None:
            return np.ones(self.shape, dtype=bool)
        return np.isin(self.marks, IN_PLACE, invert=True)

    def used_marks(self) -> tuple[Mark, ...]:
        """The marks that stand in the table."""
        return marks_in(self.marks)

    def sign(self, mark: Mark) -> str:
        """The sign of a mark: the office's own, or ours."""
        return dict(self.signs).get(mark, mark.sign)

    def _rows(self) -> int:
        return self.cells

    def _first(self, rows: int, language: str | None = None) -> Columns:
        positions = first_positions(self.shape, rows)
        columns: Columns = {}
        for kind in ("", "_level", "_label"):
            for axis, at in zip(self.axes, positions, strict=True):
                words = axis.levels if kind == "_level" else axis.codes
                if kind == "_label":
                    words = tuple(axis.label_of(place, language) for place in range(len(axis)))
                if kind != "_level" or not axis.unique:
                    columns[f"{axis.column}{kind}"] = np.array(words, dtype=object)[at].tolist()
        marks = self.marks
        signs = None if marks is None else [Mark(one) for one in marks.reshape(-1)[:rows].tolist()]
        numbered = None if signs is None else [mark.has_number for mark in signs]
        numbers = self.values.reshape(-1)[:rows].tolist()
        columns["published"] = with_decimals(numbers, self.decimals, numbered)
        if signs is not None:
            columns["flag"] = [self.sign(mark) for mark in signs]
        return columns

    def _numbers(self) -> dict[str, int]:
        return {"published": self.decimals}

    def _about(self, language: str | None = None) -> dict[str, str]:
        return facts_of(
            self.title.show(language),
            self.unit.show(language),
            [(self.sign(mark), mark.meaning.show(language)) for mark in self.used_marks()],
            [note.show(language) for note in self.notes],
        )

    def languages(self) -> tuple[str, ...]:
        """The languages of title and labels."""
        texts = [self.title, *(axis.label for axis in self.axes)]
        texts += [label for axis in self.axes for label in axis.labels]
        return tuple(dict.fromkeys(key for text in texts for key, _ in text.by_language))

    @property
    def dated(self) -> str:
        """The day that a file names as its own: of the publication, else that of the census.

        Files are the same whenever they are written. Where neither is known, none is named.
        """
        return self.date or ("" if self.census is None else self.census.reference_date)

    def with_notes(self, *notes: Text) -> Self:
        """The same table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def with_outlines(self, outlines_of: OutlinesOf) -> Self:
        """The same table, which knows where its areas lie."""
        known: dict[tuple[str, str], AreaOutlines] = {}
        variables = [axis.column for axis in self.axes]
        if self.spec is not None and len(self.spec.axes) == len(self.axes):
            variables = [axis.variable.name for axis in self.spec.axes]
        for axis, variable in zip(self.axes, variables, strict=True):
            for level in sorted(set(axis.levels) - {TOTAL}) if axis.geography else ():
                outlines = outlines_of(variable, level)
                if outlines is not None:
                    known[axis.column, level] = outlines
        return replace(self, outlines=known)


def delivered_axis(axis: Axis, *, column: str = "", label: Text | None = None) -> DeliveredAxis:
    """An axis as it is: every position, under the name of its variable."""
    codes = axis.codes
    return DeliveredAxis(
        column=column or axis.variable.name,
        label=label or axis.variable.label or Text.of(variable_heading(axis.variable)),
        positions=np.arange(len(codes), dtype=np.int64),
        codes=tuple(code.code for code in codes),
        labels=tuple(code.label for code in codes),
        levels=tuple(code.level for code in codes),
        parents=parents_of(axis),
        total=len(codes) - 1 if axis.total else None,
        geography=is_area(axis.variable),
    )


def parents_of(axis: Axis) -> tuple[int, ...]:
    """For each position of an axis, the position at the next coarser level that it lies in.

    Where trees do not nest, a code has the first coarser group that holds all of it.
    """
    parents: list[int] = []
    for at, block in enumerate(axis.blocks):
        parent = np.full(block.size, NO_PARENT, dtype=np.int64)
        for above in axis.blocks[at + 1 :]:
            low = np.full(block.size, above.size, dtype=np.int64)
            high = np.full(block.size, -1, dtype=np.int64)
            np.minimum.at(low, block.group, above.group)
            np.maximum.at(high, block.group, above.group)
            fits = (low == high) & (parent == NO_PARENT)
            parent[fits] = above.start + low[fits]
        if axis.total and block.level != TOTAL:
            parent[parent == NO_PARENT] = len(axis.codes) - 1  # codes without leaves
        parents += parent.tolist()
    return tuple(parents)


def delivered_cells(
    array: npt.NDArray[Number], axes: Sequence[DeliveredAxis]
) -> npt.NDArray[Number]:
    """What an array holds for the cells of a table, for those that are delivered."""
    for at, axis in enumerate(axes):
        if not np.array_equal(axis.positions, np.arange(array.shape[at])):
            array = np.take(array, axis.positions, axis=at)
    # A single cell is contiguous, and would get an axis of its own.
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def heading_of(spec: TableSpec, axes: Sequence[DeliveredAxis]) -> Text:
    """What a table shows, in words: in the languages of its labels, then in our own.

    The first language is shown where one is asked for that is not there; it is that of the labels.
    """
    labels = {key for axis in axes for label in axis.labels for key, _ in label.by_language}
    spoken = (*sorted(labels), *(language for language in LANGUAGES if language not in labels))
    return Text.of({language: table_heading(spec, language) for language in spoken})


def deliver(
    table: Table,
    *,
    name: str = "",
    title: Text | None = None,
    axes: Sequence[DeliveredAxis] | None = None,
    provenance: Provenance | None = None,
    rows: int | None = None,
    source: Text = Text(),
    date: str = "",
    signs: tuple[tuple[Mark, str], ...] = (),
) -> DeliveredTable:
    """A published table in the shape in which it is delivered.

    Args:
        table: The table.
        name: How its files are called.
        title: What stands above it; by default what it shows, in words.
        axes: Its axes in the order of those of the table; by default each as it is.
        provenance: How it was made.
        rows: How many of the axes stand in rows where the table is laid out.
        source: Whose numbers these are.
        date: The date of the publication.
        signs: The office's own signs for marks.
    """
    spec = table.spec
    shown = tuple(delivered_axis(axis) for axis in spec.axes) if axes is None else tuple(axes)
    if len(shown) != len(spec.axes):
        raise SpecError(f"{spec.title}: every axis of the table is delivered, and no other.")
    return DeliveredTable(
        name=name or spec.name or "table",
        title=title or heading_of(spec, shown),
        axes=shown,
        values=delivered_cells(table.published, shown),
        marks=None if table.marks is None else delivered_cells(table.marks, shown),
        decimals=spec.decimals,
        unit=Text.of({language: units_text(spec, language) for language in LANGUAGES}),
        rows=rows,
        notes=table.notes,
        provenance=provenance,
        spec=spec,
        source=source,
        date=date,
        signs=signs,
    )
