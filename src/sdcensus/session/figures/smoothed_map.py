"""A published grid as a smoothed picture: from published values only, and no data."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import MissingExtra, OutputError, SpecError, UnknownName
from sdcensus.formats.read.tables import read_published
from sdcensus.formats.write import check_new, new_file
from sdcensus.kernels.cells.smoothing import smoothed
from sdcensus.model.published.area_outlines import square_of
from sdcensus.model.published.table import Table
from sdcensus.model.schema.grids import Square
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import table_heading, variable_heading
from sdcensus.model.text import LANGUAGES
from sdcensus.report.smoothed_map import SmoothedMap

#: The kernel reaches at most so many squares: more would blur any country into one colour.
MOST_SQUARES = 100
#: Squares of the plane, inhabited or not.
LARGEST_PLANE = 4_000_000


def smoothed_map(path: str | Path, width: int, language: str | None = None) -> SmoothedMap:
    """Smooth the grid of a published table; other axes are taken at their totals.

    Args:
        path: The published table, ``.csv`` or ``.parquet``.
        width: How far the kernel reaches, in metres.
        language: The language of the picture.

    Raises:
        SpecError: The table has no grid of one size, or the width does not fit it.
    """
    if language is not None and language not in LANGUAGES:
        raise UnknownName("language", language, known=LANGUAGES)
    table = read_published(path).table
    if not isinstance(table, Table):
        raise SpecError(f"{path}: the table is too large to be drawn. Take coarser squares.")
    grids = [at for at, axis in enumerate(table.spec.axes) if _squares(axis)]
    if not grids:
        raise SpecError(
            f"{path}: no axis of the table is a grid. A picture is smoothed from squares, whose"
            " codes look like CRS3035RES1000mN3210000E4321000."
        )
    at = grids[0]
    axis = table.spec.axes[at]
    squares = _squares(axis)
    sizes = {(square.epsg, square.size) for _, square in squares}
    if len(sizes) > 1:
        raise SpecError(
            f"{path}: the squares of {axis.variable.name} are of several sizes. Publish a table of"
            " one level of the grid."
        )
    ((_, side),) = sizes
    if not side <= width <= MOST_SQUARES * side:
        raise SpecError(
            f"A kernel of {width:,} m does not fit squares of {side:,} m: the width lies between"
            f" {side:,} and {MOST_SQUARES * side:,} m."
        )
    index = tuple(
        slice(None) if number == at else _total(other, path)
        for number, other in enumerate(table.spec.axes)
    )
    places = np.array([place for place, _ in squares])
    east = np.array([square.east for _, square in squares])
    north = np.array([square.north for _, square in squares])
    column, row = (east - east.min()) // side, (north - north.min()) // side
    shape = (int(row.max()) + 1, int(column.max()) + 1)
    if shape[0] * shape[1] > LARGEST_PLANE:
        raise SpecError(f"{path}: the squares lie too far apart for one picture. Take larger ones.")
    values, known = np.zeros(shape), np.zeros(shape, dtype=bool)
    drawn = np.zeros(shape, dtype=bool)
    drawn[row, column] = True
    values[row, column] = table.published[index][places]
    known[row, column] = True if table.flags is None else table.flags[index][places] == 0
    picture = smoothed(values, known, width / side)
    return SmoothedMap(
        # Totals of other axes are drawn: the picture is not by these.
        title=table_heading(replace(table.spec, name="", axes=(axis,)), language),
        values=np.where(drawn, picture, np.nan),
        width=width,
        withheld=int((drawn & ~known).sum()),
        language=language,
    )


def write_smoothed_map(
    path: str | Path, width: int, out: Path, language: str | None = None
) -> SmoothedMap:
    """Draw a published grid to a new ``.svg`` or ``.png`` file.

    Args:
        path, width, language: As of ``smoothed_map``.
        out: The new file.
    """
    if out.suffix.lower() not in (".svg", ".png"):
        raise OutputError(f"{out}: a picture is written to a file that ends in .svg or .png.")
    check_new(out)
    drawn = _pixels if out.suffix.lower() == ".png" else str.encode
    if drawn is _pixels and find_spec("vl_convert") is None:
        raise MissingExtra("reports", needed_for="A picture as .png")
    picture = smoothed_map(path, width, language)
    with new_file(out) as file:
        file.write(drawn(picture.svg()))
    return picture


def _pixels(drawing: str) -> bytes:
    import vl_convert

    converter: Any = vl_convert
    pixels: bytes = converter.svg_to_png(drawing)
    return pixels


def _squares(axis: Axis) -> list[tuple[int, Square]]:
    """The squares of the finest level of an axis, and where they stand on it."""
    finest = axis.blocks[0]
    codes = axis.codes[finest.start : finest.start + finest.size]
    read = [(finest.start + at, square_of(code.code)) for at, code in enumerate(codes)]
    return [(place, square) for place, square in read if square is not None]


def _total(axis: Axis, path: str | Path) -> int:
    if not axis.total:
        raise SpecError(
            f"{path}: the table has no total of {variable_heading(axis.variable)!r}, and a picture"
            " shows one number for each square. Take a table of the grid alone."
        )
    return len(axis.codes) - 1
