"""A published table on groups that nobody declared: sums of published values. Public."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.frames import Columns, Framed, facts_of, first_positions, with_decimals
from sdcensus.model.published.table import Mark, marks_in
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.headings import table_heading, units_text
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]

#: How many times larger an error is, with so many digits behind the point.
_ERROR_DIGITS = 2


@dataclass(frozen=True, slots=True)
class GroupedAxis:
    """One axis: groups of codes, or the codes themselves where nothing was grouped."""

    variable: str
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    grouped: bool

    def position(self, code: str) -> int:
        """The position of a group or code."""
        if code not in self.codes:
            raise UnknownName("group or code", code, known=self.codes, where=f"{self.variable}: ")
        return self.codes.index(code)


@dataclass(frozen=True, slots=True, eq=False)
class GroupedTable(Framed):
    """Sums of published values, each with how many values it is a sum of.

    Each added value brings its own deviation, so the error of a sum grows with the square root of
    their number. A group that is a declared code is that code's published value.

    Attributes:
        spec: The published table behind it.
        axes: What the groups are.
        published: The sums; 0 where a flag stands instead of a number.
        parts: How many published values each of them is made of.
        flags: A ``Mark`` for every cell, or ``None`` if every cell has a number.
    """

    spec: TableSpec
    axes: tuple[GroupedAxis, ...]
    published: Int64
    parts: Int64
    flags: npt.NDArray[np.uint8] | None = None

    def __post_init__(self) -> None:
        shape = tuple(len(axis.codes) for axis in self.axes)
        for array in (self.published, self.parts, self.flags):
            if array is None:
                continue
            if array.shape != shape:
                raise SpecError(f"A table on groups needs values of the shape {shape}.")
            array.flags.writeable = False

    def __repr__(self) -> str:
        shape = "×".join(str(len(axis.codes)) for axis in self.axes) or "one cell"
        return f"<GroupedTable of {self.spec.title}: {shape}>"

    @property
    def error_factor(self) -> npt.NDArray[np.float64]:
        """The standard error of each sum, as a multiple of that of one published value."""
        return np.asarray(np.sqrt(self.parts), dtype=np.float64)

    def standard_error(self, variance: float) -> npt.NDArray[np.float64]:
        """The standard error of each sum, for those who may know the variance of one value."""
        return np.asarray(np.sqrt(self.parts * variance), dtype=np.float64)

    def bound(self, max_deviation: int) -> Int64:
        """How far each sum can be from the truth, for those who may know the largest deviation."""
        return self.parts * max_deviation

    def value(self, **codes: str) -> int | None:
        """The sum for one group or code of every axis; the total where none is named."""
        at = self._index(codes)
        flagged = self.flags is not None and bool(self.flags[at])
        return None if flagged else int(self.published[at])

    def parts_of(self, **codes: str) -> int:
        """How many published values that sum is made of."""
        return int(self.parts[self._index(codes)])

    def _index(self, codes: dict[str, str]) -> tuple[int, ...]:
        names = [axis.variable for axis in self.axes]
        for name in codes:
            if name not in names:
                raise UnknownName("axis", name, known=names)
        return tuple(
            axis.position(text) if axis.grouped else counted.position(text)
            for axis, counted in zip(self.axes, self.spec.axes, strict=True)
            for text in [str(codes.get(axis.variable, TOTAL))]
        )

    def _rows(self) -> int:
        return self.published.size

    def _first(self, rows: int, language: str | None = None) -> Columns:
        """Groups, labels, sums, number of parts, error, flags."""
        columns: Columns = {}
        positions = first_positions(self.published.shape, rows)
        for kind in ("", "_label"):
            for axis, at in zip(self.axes, positions, strict=True):
                words = axis.labels if kind else axis.codes
                columns[f"{axis.variable}{kind}"] = [words[position] for position in at.tolist()]
        flags = self.flags
        signs = None if flags is None else [Mark(sign) for sign in flags.ravel()[:rows].tolist()]
        columns["published"] = with_decimals(
            self.published.ravel()[:rows].tolist(),
            self.spec.decimals,
            None if signs is None else [not sign for sign in signs],
        )
        columns["parts"] = self.parts.ravel()[:rows].tolist()
        columns["error_factor"] = [
            round(math.sqrt(parts), _ERROR_DIGITS) for parts in columns["parts"]
        ]
        if signs is not None:
            columns["flag"] = [sign.sign for sign in signs]
        return columns

    def _numbers(self) -> dict[str, int]:
        digits = {"parts": 0, "error_factor": _ERROR_DIGITS}
        return {"published": self.spec.decimals} | digits

    def _about(self, language: str | None = None) -> dict[str, str]:
        signs = ((mark.sign, mark.meaning.show(language)) for mark in marks_in(self.flags))
        return facts_of(table_heading(self.spec, language), units_text(self.spec, language), signs)
