"""Estimating with a published matrix: a table after PRAM, and what it was before.

For analysts: everything that is read here is public. An office may use it with its own matrix, and
with the effective one where edit rules kept values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.documents.matrices.transitions import WrittenMatrix, read_transitions
from sdcensus.errors import InputError, OutputError, SpecError, UnknownName
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import new_file
from sdcensus.microdata.pram.estimation import back_estimate
from sdcensus.microdata.pram.targets import COMBINED, TOGETHER
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.axis import Axis
from sdcensus.model.text import plain_cell

Float64 = npt.NDArray[np.float64]
Positions = list[int]


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates of the counts before PRAM, cell by cell. Public, as the table is.

    Attributes:
        variables: The variables of the table.
        codes: For each of them the codes that are shown.
        published: The counts of the table.
        estimate: What they were before PRAM, as far as it can be estimated.
        error: The standard error that PRAM alone leaves.
    """

    variables: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    published: Float64
    estimate: Float64
    error: Float64

    def lines(self) -> list[list[str]]:
        """A line for each cell; empty where a number is not published."""
        rows = [[*self.variables, "published", "estimate", "standard_error"]]
        for at in np.ndindex(self.published.shape):
            codes = [self.codes[axis][place] for axis, place in enumerate(at)]
            numbers = [
                _number(values[at]) for values in (self.published, self.estimate, self.error)
            ]
            rows.append([*map(plain_cell, codes), *numbers])
        return rows

    def write(self, path: str | Path, *, replace: bool = False) -> None:
        """Write them as csv."""
        target = Path(path)
        if target.exists() and not replace:
            raise OutputError(f"{target} already exists. Name another file, or say --replace.")
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(self.lines())
        with new_file(target) as file:
            file.write(text.getvalue().encode())


def estimate_table(table: str | Path, matrices: Mapping[str, str | Path]) -> Estimates:
    """Estimate what a table was before PRAM.

    Args:
        table: A published table by one or more of the changed variables, as csv or Parquet.
        matrices: For each changed variable the file of its matrix; variables that changed together
            as ``marital+sex``.

    Raises:
        SpecError: The table and a matrix do not fit, or a matrix has no usable inverse.
        DocumentError: A matrix cannot be read.
        InputError: The table cannot be read.
    """
    published = read_published(table).table
    whole = published if isinstance(published, Table) else published.whole()
    axes = list(whole.spec.axes)
    names = [axis.variable.name for axis in axes]
    shown = [list(range(len(axis.codes))) for axis in axes]
    if not matrices:
        raise SpecError("Name the matrix of a variable of the table: --matrix VARIABLE=FILE.")
    written = [
        (_places(names, name), read_transitions(Path(file))) for name, file in matrices.items()
    ]
    used = [place for places, _ in written for place in places]
    if len(set(used)) < len(used):
        raise SpecError("A variable has two matrices. Name one for each.")
    for places, matrix in written:
        _choose(places, axes, matrix, shown)
    values = whole.published.astype(np.float64)
    if whole.flags is not None:
        numbers = np.array([Mark(mark).has_number for mark in range(len(Mark))])
        values[~numbers[whole.flags]] = np.nan
    chosen = values[np.ix_(*shown)] if axes else values
    estimate, error = _estimated(chosen, written, axes, shown)
    if np.isnan(estimate).all():
        raise InputError(
            f"{table}: cells that are needed have no number, so that nothing can be estimated."
        )
    codes = tuple(
        tuple(axis.codes[at].code for at in places)
        for axis, places in zip(axes, shown, strict=True)
    )
    return Estimates(tuple(names), codes, chosen, estimate, error)


def _places(names: Sequence[str], target: str) -> list[int]:
    """The axes of the variables of a matrix."""
    places = []
    for name in sorted(part.strip() for part in target.split(TOGETHER)):
        if name not in names:
            raise UnknownName("variable in the table", name, known=list(names))
        places.append(list(names).index(name))
    return places


def _parts(matrix: WrittenMatrix, size: int) -> list[list[str]]:
    parts = [code.split(COMBINED) if size > 1 else [code] for code in matrix.codes]
    if any(len(part) != size for part in parts):
        raise SpecError(
            f"{matrix.path} has codes that are no combinations of {size} variables, joined by"
            f" {COMBINED!r}. Name the variables as they were changed: --matrix marital+sex=FILE."
        )
    return parts


def _choose(
    places: Sequence[int], axes: Sequence[Axis], matrix: WrittenMatrix, shown: list[Positions]
) -> None:
    """Of each axis the positions that the matrix speaks of."""
    parts = _parts(matrix, len(places))
    moving = _moving(matrix)
    for at, place in enumerate(places):
        own = {part[at] for part in parts}
        needed = {part[at] for part, moves in zip(parts, moving, strict=True) if moves}
        axis = axes[place]
        levels: dict[str, Positions] = {}
        for position, code in enumerate(axis.codes):
            if code.code in own and not code.is_total:
                levels.setdefault(code.level, []).append(position)
        best = max(levels.values(), key=len, default=[])
        lacking = sorted(needed - {axis.codes[position].code for position in best})
        if lacking:
            listed = ", ".join(map(repr, lacking[:8]))
            raise SpecError(
                f"The table has no cells for the codes {listed} of {axis.variable.name!r}, which"
                f" the matrix {matrix.path.name} has. Take a table by {axis.variable.name!r} in the"
                " detail in which it was changed."
            )
        level = axis.codes[best[0]].level if best else ""
        foreign = [code.code for code in axis.codes if code.level == level and code.code not in own]
        if foreign:
            listed = ", ".join(map(repr, foreign[:8]))
            raise SpecError(
                f"The matrix {matrix.path.name} has no row for the codes {listed} of"
                f" {axis.variable.name!r}, which the table has. Take the matrix of this variable."
            )
        shown[place] = best


def _moving(matrix: WrittenMatrix) -> list[bool]:
    """For each code whether records leave it or come to it."""
    size = range(len(matrix.codes))
    return [
        matrix.rows[at][at] != 1 or any(matrix.rows[other][at] for other in size if other != at)
        for at in size
    ]


def _estimated(
    counts: Float64,
    written: Sequence[tuple[list[int], WrittenMatrix]],
    axes: Sequence[Axis],
    shown: Sequence[Positions],
) -> tuple[Float64, Float64]:
    """Estimates, with the axes of variables that changed together joined on the way."""
    order = [place for places, _ in written for place in places]
    rest = [axis for axis in range(counts.ndim) if axis not in order]
    turned = counts.transpose(order + rest)
    joined = [int(np.prod([len(shown[place]) for place in places])) for places, _ in written]
    flat = turned.reshape(*joined, *(counts.shape[axis] for axis in rest))
    matrices = {
        at: _matrix_in_order(matrix, [[axes[p].codes[c].code for c in shown[p]] for p in places])
        for at, (places, matrix) in enumerate(written)
    }
    back = np.argsort(order + rest)
    estimate, error = (
        values.reshape(turned.shape).transpose(back) for values in back_estimate(flat, matrices)
    )
    return estimate, error


def _matrix_in_order(matrix: WrittenMatrix, codes: Sequence[Sequence[str]]) -> Float64:
    """The matrix for the codes of the table; combinations that it lacks stay as they are."""
    combined = [""]
    for at, part in enumerate(codes):
        combined = [f"{head}{COMBINED if at else ''}{code}" for head in combined for code in part]
    place = {code: at for at, code in enumerate(matrix.codes)}
    known = [at for at, code in enumerate(combined) if code in place]
    rows = np.array([[float(share) for share in row] for row in matrix.rows])
    rows /= rows.sum(axis=1, keepdims=True)
    chosen = [place[combined[at]] for at in known]
    whole = np.eye(len(combined))
    whole[np.ix_(known, known)] = rows[np.ix_(chosen, chosen)]
    return whole


def _number(value: Any) -> str:
    if np.isnan(value):
        return ""
    return f"{float(value):.6f}".rstrip("0").rstrip(".")
