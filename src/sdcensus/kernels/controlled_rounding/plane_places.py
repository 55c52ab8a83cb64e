"""Where the cells of a plane lie: rows, columns and other axes of tables as places.

``planes`` says what a plane is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]

#: In the place of a cell: it never changes; it is the same cell as at another place.
IMPOSSIBLE, ELSEWHERE = -1, -2


class Tables(NamedTuple):
    """Where the cells of tables lie, axis by axis.

    Attributes:
        cells: The number of the cell at each place of each table, one table behind the other.
        places: For each code of each axis and each table, what the code adds to the place of a
            cell; -1 where the table does not have it. A table without the axis has its total.
        starts, codes: For each base group of each axis the codes that hold it, ascending: those
            of ``group`` stand in ``codes[starts[group] : starts[group + 1]]``.
    """

    cells: Int64
    places: Int64
    starts: Int64
    codes: Int64


class Stars(NamedTuple):
    """Rows and columns of planes.

    Attributes:
        starts, groups: The base groups of each star.
        shared_starts, shared: The codes that hold all of its groups.
    """

    starts: Int64
    groups: Int64
    shared_starts: Int64
    shared: Int64


@compiled
def side(tables: Tables, stars: Stars, star: int) -> tuple[int, Int64, Int64]:
    """The rows (or columns) of a star: their number, and the places of their codes by table."""
    first, last = stars.starts[star], stars.starts[star + 1]
    size = last - first
    width = tables.places.shape[1]
    shared = stars.shared[stars.shared_starts[star] : stars.shared_starts[star + 1]]
    most = shared.size
    for at in range(first, last):
        group = stars.groups[at]
        most += tables.starts[group + 1] - tables.starts[group]
    starts = np.zeros(width * (size + 1) + 1, dtype=np.int64)
    places = np.empty(max(width * most, 1), dtype=np.int64)
    filled = 0
    for table in range(width):
        for row in range(size + 1):
            if row < size:
                group = stars.groups[first + row]
                own = tables.codes[tables.starts[group] : tables.starts[group + 1]]
            else:
                own = shared
            for code in own:
                if row < size:
                    common = False
                    for other in shared:
                        common = common or other == code
                    if common:
                        continue
                if tables.places[code, table] >= 0:
                    places[filled] = tables.places[code, table]
                    filled += 1
            starts[table * (size + 1) + row + 1] = filled
    return size, starts, places


@compiled
def others(tables: Tables, groups: Int64) -> tuple[Int64, Int64, Int64]:
    """What the other axes add to the places of cells, with signs, by table."""
    width = tables.places.shape[1]
    most = 1
    for at in range(0, groups.size, 2):
        length = 0
        for side in range(2):
            group = groups[at + side]
            if group >= 0:
                length += tables.starts[group + 1] - tables.starts[group]
        most *= max(length, 1)
    starts = np.zeros(width + 1, dtype=np.int64)
    places = np.empty(width * most, dtype=np.int64)
    signs = np.empty(width * most, dtype=np.int64)
    filled = 0
    for table in range(width):
        begin = filled
        places[filled], signs[filled] = 0, 1
        filled += 1
        for at in range(0, groups.size, 2):
            size = filled - begin
            before, kept = places[begin:filled].copy(), signs[begin:filled].copy()
            filled = begin
            for side in range(2):
                group, other = groups[at + side], groups[at + 1 - side]
                if group < 0:
                    continue
                sign = 1 if side == 0 else -1
                for own in range(tables.starts[group], tables.starts[group + 1]):
                    code = tables.codes[own]
                    place = tables.places[code, table]
                    if place < 0 or (other >= 0 and _holds(tables, code, other)):
                        continue
                    for entry in range(size):
                        places[filled] = before[entry] + place
                        signs[filled] = kept[entry] * sign
                        filled += 1
        starts[table + 1] = filled
    return starts, places, signs


@compiled
def _holds(tables: Tables, code: int, group: int) -> bool:
    for at in range(tables.starts[group], tables.starts[group + 1]):
        if tables.codes[at] == code:
            return True
    return False
