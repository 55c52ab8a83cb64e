"""Published tables. Public: what is in them may be shown to anyone."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import NoReturn, Self

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.cube.layout import mixed_radix, positions_on, values_at
from sdcensus.model.frames import Columns, FramedBySpec, first_positions, with_decimals
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.spec.table_spec import TableSpec, too_large
from sdcensus.model.text import Text


class Mark(IntEnum):
    """Why a published cell has no number, or what is to be known about the one that it has.

    Of several that could stand in the place of a sum, the largest does: that a group is not broken
    down tells nothing about the values below it.
    """

    NONE = 0
    WITHHELD = 1
    BELOW_THRESHOLD = 2
    REFUSED = 3
    NOT_AVAILABLE = 4
    LOW_RELIABILITY = 5
    POPULATED = 6
    NOT_BROKEN_DOWN = 7
    MODERATE_ERROR = 8
    UNRELIABLE = 9

    @property
    def has_number(self) -> bool:
        """Whether a number stands in the cell."""
        return self is Mark.NONE or self in BESIDE or self is Mark.POPULATED

    @property
    def sign(self) -> str:
        """What files show: instead of a number, or beside it in a column of its own."""
        return _SIGNS[self.value]

    @property
    def meaning(self) -> Text:
        """What the sign means, for a legend."""
        return Text.named(f"marks.{self.name.lower()}") if self else Text()


#: The marks of how far an estimate can be relied on, which stand beside its number.
BESIDE = (Mark.LOW_RELIABILITY, Mark.MODERATE_ERROR)

#: The marks that stand in the place of a number.
IN_PLACE = tuple(mark for mark in Mark if not mark.has_number)


def marks_in(marks: npt.NDArray[np.uint8] | None) -> tuple[Mark, ...]:
    """The marks that stand in some cells.

    Examples:
        >>> [mark.name for mark in marks_in(np.array([0, 7, 1, 7], dtype=np.uint8))]
        ['WITHHELD', 'NOT_BROKEN_DOWN']
    """
    if marks is None:
        return ()
    present = set(np.unique(marks).tolist())
    return tuple(mark for mark in Mark if mark and mark.value in present)


_SIGNS = ("", "c", "..", ".", ":", "( )", "populated", "k", "B", "/")


Int64 = npt.NDArray[np.int64]

#: What a flag of a table may be.
_FLAGS = np.isin(np.arange(256), (Mark.NONE, *IN_PLACE))

#: What a mark beside a number may be.
_BESIDE = np.isin(np.arange(256), (Mark.NONE, *BESIDE))

#: The column of a sparse table that tells which of its cells are not broken down.
NOT_BROKEN_DOWN = "not_broken_down"

#: What is said where a file does not list all cells.
_ABSENT = Text.named("notes.absent")

#: The same under the rule of the smallest group.
_ABSENT_OR_SMALL = Text.named("notes.absent_or_small")


def absent_text(small: SmallGroups | None) -> Text:
    """What readers are told of the cells that are not listed."""
    return _ABSENT if small is None else _ABSENT_OR_SMALL


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One cell as it is published: its codes and labels in the order of the axes."""

    codes: tuple[str, ...]
    labels: tuple[str, ...]
    published: int | None
    flag: Mark = Mark.NONE

    @property
    def text(self) -> str:
        """The number, or the sign that stands for it."""
        return self.flag.sign if self.published is None else str(self.published)


def _check_whole(spec: TableSpec, published: Int64) -> None:
    """Refuse fractions: measures would cut them off without a word."""
    if published.dtype.kind not in "iu":
        raise SpecError(
            f"{spec.title}: published values are whole numbers, in an array of integers. Round"
            " fractions first, and mark cells without a number by a flag."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Table(FramedBySpec):
    """Published values of every cell of a table, totals included.

    Attributes:
        spec: What the table shows.
        published: The published values; 0 where a flag stands instead of a number.
        flags: A ``Mark`` for every cell, or ``None`` if every cell has a number.
        notes: What readers should know, in one or more languages.
        beside: Of estimates, a ``Mark`` of how far each number can be relied on; ``None`` where
            nothing is to be said. Cells without a number have none.
    """

    spec: TableSpec
    published: Int64
    flags: npt.NDArray[np.uint8] | None = None
    notes: tuple[Text, ...] = ()
    beside: npt.NDArray[np.uint8] | None = None

    def __post_init__(self) -> None:
        for array in (self.published, self.flags, self.beside):
            if array is not None and array.shape != self.spec.shape:
                raise SpecError(f"{self.spec.title}: values need the shape {self.spec.shape}.")
        _check_whole(self.spec, self.published)
        if self.flags is not None:
            if not self.flags.any():
                object.__setattr__(self, "flags", None)
            elif not _FLAGS[self.flags].all():
                raise SpecError("A flag of a table is a mark that stands in the place of a number.")
            elif self.published[self.flags != 0].any():
                raise SpecError("A cell with a flag holds no number.")
            else:
                self.flags.flags.writeable = False
        self._settle_marks_beside()
        self.published.flags.writeable = False

    def _settle_marks_beside(self) -> None:
        if self.beside is None:
            return
        if not _BESIDE[self.beside].all():
            raise SpecError("A mark beside a number says how far it can be relied on.")
        beside = self.beside
        if self.flags is not None:
            beside = np.where(self.flags != 0, np.uint8(Mark.NONE), beside)
        beside.flags.writeable = False
        object.__setattr__(self, "beside", beside if beside.any() else None)

    @property
    def marks(self) -> npt.NDArray[np.uint8] | None:
        """Every mark: in the place of a number, or beside it; ``None`` where there is none."""
        if self.beside is None:
            return self.flags
        return self.beside if self.flags is None else self.beside | self.flags

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.spec.shape)) or "one cell"
        return f"<Table {self.spec.title}: {shape}>"

    @property
    def dense(self) -> Table:
        """The table itself, which holds every cell; a sparse one has nothing here."""
        return self

    def held_for(self, purpose: str) -> Table:
        """The table, for what needs every cell; a sparse one refuses.

        Args:
            purpose: What needs every cell, for the message.
        """
        return self

    def whole(self) -> Table:
        """The table itself; a sparse one lists all its cells for this."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has, totals included."""
        return self.spec.shape

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        mine, theirs = self._flags(), other._flags()
        return (
            self.spec == other.spec
            and self.shape == other.shape
            and bool((self.published == other.published).all())
            and bool((mine == theirs).all())
            and bool((self._beside() == other._beside()).all())
        )

    __hash__ = None  # type: ignore[assignment]  # compared by content, which is large

    def _flags(self) -> npt.NDArray[np.uint8]:
        return np.zeros(self.shape, dtype=np.uint8) if self.flags is None else self.flags

    def _beside(self) -> npt.NDArray[np.uint8]:
        return np.zeros(self.shape, dtype=np.uint8) if self.beside is None else self.beside

    def value(self, **codes: str) -> int | None:
        """The published value of one cell; an axis that is not named stands at its total."""
        at = []
        for axis in self.spec.axes:
            at.append(axis.position(str(codes.get(axis.variable.name, "_T"))))
        for name in codes:
            self.spec.position(name)
        index = tuple(at)
        return None if self._flags()[index] else int(self.published[index])

    def at(self, numbers: npt.NDArray[np.uint64]) -> Int64:
        """The published values of cells by their numbers, the last axis running fastest."""
        return self.published.reshape(-1)[numbers.astype(np.int64)]

    def flags_at(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
        """Why cells have no number, by their numbers: a ``Flag`` for each."""
        return self._flags().reshape(-1)[numbers.astype(np.int64)]

    def with_notes(self, *notes: Text) -> Self:
        """The same table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def cells(self, *, language: str | None = None) -> Iterator[PublishedCell]:
        """Every cell with its codes and labels, the last axis running fastest."""
        axes = self.spec.axes
        labels = [[code.label.show(language) or code.code for code in axis.codes] for axis in axes]
        flags = self._flags().reshape(-1).tolist()
        values = self.published.reshape(-1).tolist()
        positions = itertools.product(*(range(size) for size in self.shape))
        for at, value, flag in zip(positions, values, flags, strict=True):
            yield PublishedCell(
                tuple(axis.codes[one].code for axis, one in zip(axes, at, strict=True)),
                tuple(names[one] for names, one in zip(labels, at, strict=True)),
                None if flag else value,
                Mark(flag),
            )

    def _rows(self) -> int:
        return self.published.size

    def _first(self, rows: int, language: str | None = None) -> Columns:
        marks = None if self.marks is None else self.marks.reshape(-1)[:rows]
        published = self.published.reshape(-1)[:rows]
        return _columns(self.spec, first_positions(self.shape, rows), published, marks, language)

    def _signs(self, language: str | None) -> Iterable[tuple[str, str]]:
        return ((mark.sign, mark.meaning.show(language)) for mark in marks_in(self.marks))


@dataclass(frozen=True, slots=True, eq=False)
class SparseTable(FramedBySpec):
    """Published values of a table too large to hold whole.

    It holds the cells whose published value is not 0, whatever the truth is: a cell that is
    absent is published as 0. A written 0 must not mean "not truly empty". Where small groups are
    not broken down, it is published as 0 unless one of them holds it; then it is not shown.

    Attributes:
        spec: What the table shows.
        numbers: Cells in mixed radix over the positions of the axes, ascending.
        published: The published value of each of them, never 0.
        notes: What readers should know.
        small: Which groups are not broken down; ``None`` where there is no such rule.
    """

    spec: TableSpec
    numbers: npt.NDArray[np.uint64]
    published: Int64
    notes: tuple[Text, ...] = ()
    small: SmallGroups | None = None

    def __post_init__(self) -> None:
        if self.numbers.shape != self.published.shape or self.numbers.ndim != 1:
            raise SpecError(f"{self.spec.title}: every cell needs one value.")
        _check_whole(self.spec, self.published)
        if (self.published == 0).any():
            raise SpecError("A sparse table holds no cell that is published as 0.")
        if (self.numbers[1:] <= self.numbers[:-1]).any():
            raise SpecError("The cells of a sparse table stand in ascending order.")
        self.numbers.flags.writeable = False
        self.published.flags.writeable = False

    def __repr__(self) -> str:
        return f"<SparseTable {self.spec.title}: {'×'.join(map(str, self.spec.shape))}>"

    @property
    def dense(self) -> None:
        """Nothing: not every cell is held."""
        return

    @property
    def flags(self) -> None:
        """Nothing: cells that have no number are not held; ``flags_at`` tells why."""
        return

    def held_for(self, purpose: str) -> NoReturn:
        """Refuse what needs every cell."""
        raise SpecError(too_large(self.spec, purpose))

    @property
    def shape(self) -> tuple[int, ...]:
        """How many positions each axis has, totals included."""
        return self.spec.shape

    def positions(self) -> Int64:
        """For each cell that is held, its position on each axis; one row for each axis."""
        rows = [positions_on(self.shape, at, self.numbers) for at in range(len(self.shape))]
        return np.stack(rows) if rows else np.zeros((0, self.numbers.size), dtype=np.int64)

    def value(self, **codes: str) -> int | None:
        """The published value of one cell; an axis that is not named stands at its total."""
        number = 0
        for axis, weight in zip(self.spec.axes, mixed_radix(self.shape), strict=True):
            number += weight * axis.position(str(codes.get(axis.variable.name, "_T")))
        for name in codes:
            self.spec.position(name)
        cell = np.array([number], dtype=np.uint64)
        return None if self.flags_at(cell)[0] else int(self.at(cell)[0])

    def at(self, numbers: npt.NDArray[np.uint64]) -> Int64:
        """The published values of cells by their numbers; 0 for those that are not held."""
        return values_at(self.numbers, self.published, numbers)

    def flags_at(self, numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
        """Why cells have no number, by their numbers: a ``Mark`` for each."""
        if self.small is None:
            return np.zeros(numbers.size, dtype=np.uint8)
        hidden = self.small.hidden(self.spec, self.numbers, self.published, numbers)
        return np.where(hidden, np.uint8(Mark.NOT_BROKEN_DOWN), np.uint8(0)).astype(np.uint8)

    @property
    def absent(self) -> Text:
        """What readers are told of the cells that are not held."""
        return absent_text(self.small)

    @property
    def not_broken_down(self) -> npt.NDArray[np.bool_] | None:
        """Which of the cells that are held are not broken down; ``None`` without such a rule."""
        return None if self.small is None else self.published < self.small.smallest

    def whole(self) -> Table:
        """The same table with all its cells; ask for it only where that many can be held."""
        published = np.zeros(self.spec.cells, dtype=np.int64)
        published[self.numbers.astype(np.int64)] = self.published
        flags = None
        if self.small is not None:
            flags = self.flags_at(np.arange(self.spec.cells, dtype=np.uint64)).reshape(self.shape)
        return Table(self.spec, published.reshape(self.shape), flags, self.notes)

    def with_notes(self, *notes: Text) -> Self:
        """The same table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def _rows(self) -> int:
        return self.numbers.size

    def _first(self, rows: int, language: str | None = None) -> Columns:
        first = self.numbers[:rows]
        places = [positions_on(self.shape, at, first) for at in range(len(self.shape))]
        columns = _columns(self.spec, places, self.published[:rows], None, language)
        if self.not_broken_down is not None:
            columns[NOT_BROKEN_DOWN] = self.not_broken_down[:rows].astype(int).tolist()
        return columns

    def _numbers(self) -> dict[str, int]:
        return FramedBySpec._numbers(self) | {NOT_BROKEN_DOWN: 0}

    def _about(self, language: str | None = None) -> dict[str, str]:
        return FramedBySpec._about(self, language) | {"absent": self.absent.show(language)}


#: A published table of either kind. Whoever needs every cell asks for ``dense``, for ``held_for``
#: with what they need it for, or for ``whole`` where that many cells can be held.
AnyTable = Table | SparseTable


def _columns(
    spec: TableSpec,
    positions: Sequence[Int64],
    published: Int64,
    flags: npt.NDArray[np.uint8] | None,
    language: str | None,
) -> Columns:
    columns: Columns = {}
    for kind in ("", "_level", "_label"):
        for axis, at in zip(spec.axes, positions, strict=True):
            words = [code.code for code in axis.codes]
            if kind == "_label":
                words = [code.label.show(language) or code.code for code in axis.codes]
            elif kind == "_level":
                if len(axis.levels) < 2:
                    continue
                words = [code.level for code in axis.codes]
            columns[f"{axis.variable.name}{kind}"] = np.array(words, dtype=object)[at].tolist()
    marks = None if flags is None else [Mark(sign) for sign in flags.tolist()]
    numbered = None if marks is None else [mark.has_number for mark in marks]
    columns["published"] = with_decimals(published.tolist(), spec.decimals, numbered)
    if marks is not None:
        columns["flag"] = [mark.sign for mark in marks]
    return columns


@dataclass(frozen=True, slots=True, eq=False)
class PublishedTable:
    """A published table as it was read from its file.

    Attributes:
        name: The name of the file.
        table: What it shows.
        provenance: How it was made, if the file says so.
    """

    name: str
    table: AnyTable
    provenance: Provenance | None = None

    def __repr__(self) -> str:
        return f"<PublishedTable {self.name}>"
