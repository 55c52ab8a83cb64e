"""Groups of several squares of a grid: their codes, the squares of each, and their outlines."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.area_shapes import METRE, Shapes, join_areas
from sdcensus.model.schema.grids import GridSpec, Square
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.model.text import Text

Int64 = npt.NDArray[np.int64]

_GROUP = re.compile(r"(?P<lowest>CRS\d+RES\d+mN-?\d+E-?\d+)x(?P<members>[1-9]\d*)")
#: Groups whose borders are joined at once: corners are numbered anew each time.
_AT_ONCE = 4096


def group_code(lowest: Code, members: int) -> Code:
    """The code of a group: a square by itself has its own, several have that of the lowest.

    Args:
        lowest: The code of the lowest square.
        members: How many squares there are.

    Examples:
        >>> group_code(Code("CRS3035RES200mN0E400"), 3).code
        'CRS3035RES200mN0E400x3'
    """
    text = lowest.code if members == 1 else f"{lowest.code}x{members}"
    return Code(text, Text.of(text))


def lowest_square(code: str) -> Square | None:
    """The lowest square of a group of several; ``None`` for any other code.

    Examples:
        >>> lowest_square("CRS3035RES200mN0E400x3")
        Square(epsg=3035, size=200, north=0, east=400)
        >>> lowest_square("CRS3035RES200mN0E400")
    """
    match = _GROUP.fullmatch(code)
    return None if match is None else Square.read(match["lowest"])


def has_groups(level: Level) -> bool:
    """Whether a level of a grid has groups of several squares."""
    return any(lowest_square(code.code) is not None for code in level.codes)


def squares_of_groups(
    grid: GridSpec, variable: Variable, level: Level
) -> Mapping[str, tuple[Square, ...]]:
    """For each group of several squares of a level these squares, from the south-west.

    Args:
        grid: The grid.
        variable: Its variable.
        level: The level.
    """
    sizes = np.zeros(len(level.codes), dtype=np.int64)
    for at, code in enumerate(level.codes):
        lowest = lowest_square(code.code)
        sizes[at] = 0 if lowest is None else lowest.size
    groups = level.group_array[:-1]
    inside = np.flatnonzero(sizes[groups])
    east, north = grid.corners(grid.squares_of(variable.codes))
    group = groups[inside].astype(np.int64)
    side = sizes[group]
    rows, columns = north[inside] // side, east[inside] // side
    order = np.lexsort((columns, rows, group))
    members = np.stack([group, rows, columns], axis=1)[order]
    first = np.append(True, (members[1:] != members[:-1]).any(axis=1))[: len(members)]
    held: dict[str, list[Square]] = {}
    for at, row, column in members[first].tolist():
        size = int(sizes[at])
        square = Square(grid.epsg, size, row * size, column * size)
        held.setdefault(level.codes[at].code, []).append(square)
    return {code: tuple(squares) for code, squares in held.items()}


def group_shapes(groups: Mapping[str, tuple[Square, ...]]) -> tuple[Shapes, ...]:
    """The outlines of groups, without the borders between their squares, some groups at a time.

    Args:
        groups: The squares of each.
    """
    codes = [*groups]
    return tuple(
        _joined({code: groups[code] for code in codes[start : start + _AT_ONCE]})
        for start in range(0, len(codes), _AT_ONCE)
    )


def _joined(groups: Mapping[str, tuple[Square, ...]]) -> Shapes:
    squares = [square for members in groups.values() for square in members]
    west, south, side = np.array(
        [(square.east, square.north, square.size) for square in squares], dtype=np.int64
    ).T
    east, north = west + side, south + side
    corners = np.stack([west, south, east, south, east, north, west, north], axis=1)
    parts = Shapes(
        tuple(square.code for square in squares),
        corners.reshape(-1, 2),
        np.arange(len(squares) + 1, dtype=np.int64) * 4,
        np.arange(len(squares), dtype=np.int64),
        METRE,
        degrees=False,
    )
    group = np.repeat(np.arange(len(groups)), [len(members) for members in groups.values()])
    return join_areas(parts, group.tolist(), [*groups])
