"""Published tables as a program receives them. Public: what is in them may be shown to anyone."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.client.catalogue import understood
from sdcensus.client.failures import NotUnderstood
from sdcensus.client.reasons import Reason, Remedy, reasons_of, remedies_of
from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.frames import Columns, Framed, facts_of, first_positions, with_decimals
from sdcensus.model.spec.question import Question

Int64 = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Words = npt.NDArray[np.str_]

_LARGEST = 200_000_000


@dataclass(frozen=True, slots=True)
class AnswerAxis:
    """One axis of a table.

    Attributes:
        name: The name of the variable.
        label: Its heading.
        codes, labels: The codes in their order, and what they are called.
        levels: The level of each code, where the axis has several; else empty.
        total: The code of the total, if the axis has one.
        geography: Whether its codes are areas.
    """

    name: str
    label: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    levels: tuple[str, ...] = ()
    total: str | None = None
    geography: bool = False

    def position(self, code: str) -> int:
        """Where a code stands."""
        try:
            return self.codes.index(code)
        except ValueError:
            where = f"On the axis {self.name!r}: "
            raise UnknownName("code", code, known=self.codes, where=where) from None


@dataclass(frozen=True, slots=True)
class AreasAvailable:
    """For how many areas of how many the table is published."""

    all: int
    available: int

    def __str__(self) -> str:
        return f"{self.available:,} of {self.all:,} areas"


@dataclass(frozen=True, slots=True, eq=False)
class PublishedAnswer(Framed):
    """A published table, totals included.

    Attributes:
        title: What stands above it.
        question: What was asked.
        link: The address that gives exactly this table again.
        axes: Its axes, in the order of the dimensions of ``values``.
        values: The published values, as whole numbers with ``decimals`` digits behind the point;
            0 where ``mask`` says that there is none.
        mask: Where no number is published.
        marks: For each cell the sign that stands beside its number or in its place; else empty.
        meanings: What these signs mean.
        notes: What readers should know.
        outcome: ``allowed``, or ``withheld`` where some areas are not published.
        areas: For how many areas it is published, where it has areas.
        reasons, remedies: Why parts are not published, and what would help.
        parts: Of how many published values each cell is a sum, where own groups were asked for.
        versions: Which data, keys, method and program the numbers are from.
        unit: What is counted.
        decimals: How many of the digits of a value stand behind the point: 0 for counts, more for
            figures that a program computes from counts.
    """

    title: str
    question: Question
    link: str
    axes: tuple[AnswerAxis, ...]
    values: Int64
    mask: Bools
    marks: Words
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    outcome: str = "allowed"
    areas: AreasAvailable | None = None
    reasons: tuple[Reason, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    parts: Int64 | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    unit: str = ""
    decimals: int = 0

    def __post_init__(self) -> None:
        for array in (self.values, self.mask, self.marks, self.parts):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.shape)) or "one cell"
        by = f" by {', '.join(self.question.by)}" if self.question.by else ""
        areas = f", {self.areas}" if self.areas and self.areas.available < self.areas.all else ""
        return f"<PublishedAnswer {self.question.of}{by}: {shape}{areas}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """How many codes each axis has, totals included."""
        return tuple(len(axis.codes) for axis in self.axes)

    @property
    def masked(self) -> Any:
        """The values as a masked array of numpy, of floats where there are decimals."""
        numbers = self.values / 10**self.decimals if self.decimals else self.values
        return np.ma.masked_array(numbers, mask=self.mask)

    def axis(self, name: str) -> AnswerAxis:
        """An axis by the name of its variable."""
        for axis in self.axes:
            if axis.name == name:
                return axis
        raise UnknownName("axis", name, known=[axis.name for axis in self.axes])

    def value(self, **codes: object) -> int | float | None:
        """The published value of one cell, or ``None`` where no number is published.

        An axis that is not named stands at its total. Codes are texts; whole numbers are taken for
        the code that is written like them.
        """
        for name in codes:
            self.axis(name)
        at = []
        for axis in self.axes:
            code = codes.get(axis.name, axis.total)
            if code is None:
                raise SpecError(
                    f"The axis {axis.name!r} has no total. Name one of its codes, such as"
                    f" {axis.name}={axis.codes[0]!r}."
                )
            at.append(axis.position(str(code)))
        index = tuple(at)
        if self.mask[index]:
            return None
        value = int(self.values[index])
        return value / 10**self.decimals if self.decimals else value

    def _rows(self) -> int:
        return self.values.size

    def _first(self, rows: int, language: str | None = None) -> Columns:
        positions = first_positions(self.shape, rows)
        columns: Columns = {}
        for kind in ("", "_level", "_label"):
            for axis, at in zip(self.axes, positions, strict=True):
                words = {"": axis.codes, "_level": axis.levels, "_label": axis.labels}[kind]
                if words:
                    columns[f"{axis.name}{kind}"] = np.array(words, dtype=object)[at].tolist()
        numbered = (~self.mask.reshape(-1)[:rows]).tolist() if self.mask.any() else None
        numbers = self.values.reshape(-1)[:rows].tolist()
        columns["published"] = with_decimals(numbers, self.decimals, numbered)
        if (self.marks != "").any():
            columns["flag"] = self.marks.reshape(-1)[:rows].tolist()
        if self.parts is not None:
            columns["parts"] = self.parts.reshape(-1)[:rows].tolist()
        return columns

    def _numbers(self) -> dict[str, int]:
        return {"published": self.decimals, "parts": 0}

    def _about(self, language: str | None = None) -> dict[str, str]:
        return facts_of(self.title, self.unit, self.meanings.items(), self.notes)


def answer_of(document: Any, *, base: str) -> PublishedAnswer:
    """Read a table from a JSON-stat 2.0 dataset of the API.

    Args:
        document: The dataset, as plain values.
        base: The address of the table builder, for the link.
    """
    with understood():
        about = document["extension"]["sdcensus"]
        shape, axes = _axes(document)
        size = math.prod(shape)
        if size > _LARGEST:
            raise NotUnderstood("The table is too large to be held. Download it instead.")
        unit, decimals = _metric(document)
        values, mask = _values(document["value"], size, decimals)
        areas = about.get("areas")
        parts = about.get("parts")
        signs = ((document.get("extension") or {}).get("status") or {}).get("label") or {}
        return PublishedAnswer(
            title=str(document.get("label", "")),
            question=Question.from_json(about["question"]),
            link=f"{base}{about['link']}",
            axes=axes,
            values=values.reshape(shape),
            mask=mask.reshape(shape),
            marks=_marks(document.get("status"), size).reshape(shape),
            meanings={str(sign): str(text) for sign, text in signs.items()},
            notes=tuple(map(str, document.get("note") or ())),
            outcome=str(about.get("outcome", "allowed")),
            areas=AreasAvailable(int(areas["all"]), int(areas["available"])) if areas else None,
            reasons=reasons_of(about.get("reasons")),
            remedies=remedies_of(about.get("remedies")),
            parts=None if parts is None else _whole(parts, size).reshape(shape),
            versions=dict(about.get("versions") or {}),
            unit=unit,
            decimals=decimals,
        )


def _axes(document: Any) -> tuple[tuple[int, ...], tuple[AnswerAxis, ...]]:
    """The shape without the measure, and the axes."""
    roles = document.get("role") or {}
    metric, geo = set(roles.get("metric") or ()), set(roles.get("geo") or ())
    shape, axes = [], []
    for name, size in zip(document["id"], document["size"], strict=True):
        if name in metric:
            if size != 1:
                raise ValueError
            continue
        axis = _axis(name, document["dimension"][name], geography=name in geo)
        if len(axis.codes) != size:
            raise ValueError
        shape.append(int(size))
        axes.append(axis)
    return tuple(shape), tuple(axes)


def _axis(name: str, dimension: Any, *, geography: bool) -> AnswerAxis:
    category, more = dimension["category"], dimension.get("extension") or {}
    labels = category.get("label") or {}
    index = category.get("index")
    if isinstance(index, Mapping):
        index = sorted(index, key=index.__getitem__)
    codes = tuple(map(str, index if index is not None else labels))
    levels = more.get("level")
    return AnswerAxis(
        name,
        str(dimension.get("label", name)),
        codes,
        tuple(str(labels.get(code, code)) for code in codes),
        tuple(str(levels[code]) for code in codes) if levels else (),
        more.get("total"),
        geography,
    )


def _values(said: Any, size: int, decimals: int) -> tuple[Int64, Bools]:
    """The numbers and where there are none; told one by one, or by the number of the cell."""
    values, mask = np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    if isinstance(said, Mapping):
        cells = _cells(said, size)
        values[cells] = _whole(list(said.values()), len(said), decimals)
        mask[cells] = False
        return values, mask
    if len(said) != size:
        raise ValueError
    mask = np.fromiter((value is None for value in said), dtype=bool, count=size)
    if mask.any():
        there = [value for value in said if value is not None]
        values[~mask] = _whole(there, len(there), decimals)
    else:
        values = _whole(said, size, decimals)
    return values, mask


def _whole(numbers: list[Any], size: int, decimals: int = 0) -> Int64:
    """Whole numbers, and as many as expected; published counts have no fractions."""
    array = np.asarray(numbers)
    if array.shape != (size,) or (size and array.dtype.kind not in ("iuf" if decimals else "iu")):
        raise ValueError
    if decimals:
        array = np.rint(array * 10.0**decimals)
        if not np.isfinite(array).all() or (abs(array) >= 2**53).any():
            raise ValueError
    return array.astype(np.int64)


def _marks(said: Any, size: int) -> Words:
    if isinstance(said, Mapping) and said:
        marks = np.full(size, "", dtype=f"U{max(len(str(mark)) for mark in said.values()) or 1}")
        marks[_cells(said, size)] = [str(mark) for mark in said.values()]
        return marks
    if isinstance(said, list):
        if len(said) != size:
            raise ValueError
        return np.array([mark or "" for mark in said], dtype=np.str_)
    return np.full(size, "", dtype="U1")


def _cells(said: Mapping[str, Any], size: int) -> Int64:
    cells = np.array([int(number) for number in said], dtype=np.int64)
    if cells.size and (cells.min() < 0 or cells.max() >= size):
        raise ValueError
    return cells


def _metric(document: Any) -> tuple[str, int]:
    """What is counted or measured, and with how many decimals."""
    for name in (document.get("role") or {}).get("metric") or ():
        category = document["dimension"][name]["category"]
        for unit in (category.get("unit") or {}).values():
            decimals = int(unit.get("decimals") or 0)
            if not 0 <= decimals <= 9:
                raise ValueError
            return str(unit.get("label", "")), decimals
    return "", 0
