"""Published values of groups of squares, square by square: for maps that are drawn by squares."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.formats.write import new_file
from sdcensus.model.published.table import AnyTable, Mark, Table
from sdcensus.model.schema.grids import Square
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

_LINES_AT_ONCE = 1 << 16


def square_axis(spec: TableSpec) -> int:
    """The axis of a table that shows squares of a grid, at one level.

    Raises:
        SpecError: There is no such axis, or several; or it shows several levels.
    """
    axes = [at for at, axis in enumerate(spec.axes) if _is_grid(axis)]
    if len(axes) != 1:
        raise SpecError(
            f"Values can be written square by square for a table with one grid; {spec.title} has"
            f" {len(axes)}. Give one axis such as ed_grid@groups."
        )
    if len(spec.axes[axes[0]].levels) != 1:
        raise SpecError(
            f"{spec.axes[axes[0]].name!r} shows several levels of squares. Give one of them, such"
            " as ed_grid@groups."
        )
    if spec.decimals:
        raise SpecError("Values are written square by square for counts, not for sums.")
    return axes[0]


def _is_grid(axis: Axis) -> bool:
    codes = axis.variable.codes
    return len(codes) > 1 and Square.read(codes[0].code) is not None


def write_squares(table: AnyTable, path: Path) -> Path:
    """Write a new csv file: every finest square with its group, the group's value, and a flag.

    ``shared`` is 1 where the value is that of a group of more than this square. Values must not
    be added up over squares then: every square of a group has the value of the whole group.
    """
    at = square_axis(table.spec)
    held = table.held_for("Values square by square")
    with new_file(path) as file:
        lines = _lines(held, at)
        while some := list(itertools.islice(lines, _LINES_AT_ONCE)):
            text = io.StringIO(newline="")
            csv.writer(text, lineterminator="\n").writerows(some)
            file.write(text.getvalue().encode())
    return path


def _lines(table: Table, at: int) -> Iterator[list[object]]:
    axis = table.spec.axes[at]
    others = [other for number, other in enumerate(table.spec.axes) if number != at]
    yield ["square", "group", "shared", *(other.variable.name for other in others), "published"]
    values = np.moveaxis(table.published, at, 0).reshape(table.published.shape[at], -1)
    marks = None
    if table.flags is not None:
        marks = np.moveaxis(table.flags, at, 0).reshape(values.shape)
    cells = list(itertools.product(*([code.code for code in other.codes] for other in others)))
    level = axis.levels[0]
    squares = np.bincount(level.group_array, minlength=len(level.codes))
    for code, group in zip(axis.variable.codes, level.group, strict=True):
        if code.is_missing:
            continue
        place = axis.blocks[0].start + group
        named = [code.code, level.codes[group].code, int(squares[group] > 1)]
        for number, cell in enumerate(cells):
            mark = Mark(int(marks[place, number])) if marks is not None else Mark.NONE
            value = mark.sign if mark is not Mark.NONE else int(values[place, number])
            yield [*named, *cell, value]
