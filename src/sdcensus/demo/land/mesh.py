"""The land of the demo country: an island of small six-sided faces.

Areas of every level are sets of faces, and three faces meet at every corner. So areas nest
exactly, neighbours share their border to the metre, and every border is a simple ring. All
coordinates are whole metres and come from whole-number arithmetic.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from math import isqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.demo.words import DemoUnits, Draws

Long: TypeAlias = npt.NDArray[np.int64]

#: The coast of the island, roughly, in a square of 1000; counter-clockwise.
COAST = (
    (20, 455), (75, 400), (60, 330), (130, 285), (205, 300), (250, 240), (235, 175), (310, 140),
    (365, 185), (385, 260), (435, 275), (470, 215), (540, 160), (620, 185), (690, 150), (745, 200),
    (735, 265), (790, 290), (850, 230), (930, 245), (990, 300), (955, 350), (885, 345), (845, 395),
    (890, 450), (880, 530), (815, 560), (790, 640), (715, 655), (680, 590), (625, 610), (640, 690),
    (590, 760), (510, 765), (475, 700), (410, 680), (370, 735), (290, 720), (265, 645), (205, 620),
    (215, 545), (160, 510), (95, 530), (50, 500),
)  # fmt: skip
#: The south-west corner of the map: open sea inside the area of the European grid.
ORIGIN = (2_000_000, 1_700_000)
#: Corners of a face, counter-clockwise, and the neighbour across the side that starts there.
CORNERS = ((0, 2), (-1, 1), (-1, -1), (0, -2), (1, -1), (1, 1))
NEIGHBOURS = ((-1, 3), (-2, 0), (-1, -3), (1, -3), (2, 0), (1, 3))
#: Half a face is 26 wide and 15 high, in units of ``Mesh.unit``: close to a regular hexagon.
WIDE, HIGH = 26, 15


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """The faces of the island.

    Attributes:
        unit: The size of a face, in metres.
        centre: The middle of each face.
        corners: For each face its six corners, counter-clockwise, as rows of ``corner``.
        neighbours: For each face the six faces across its sides; -1 is the sea.
        corner: Where the corners are.
    """

    unit: int
    centre: Long
    corners: Long
    neighbours: Long
    corner: Long

    @property
    def faces(self) -> int:
        """How many faces there are."""
        return len(self.centre)


def make_mesh(faces: int, square_metres: int, draws: Draws) -> Mesh:
    """An island of about ``faces`` faces and ``square_metres``."""
    coast = _rough_coast(square_metres, draws)
    unit = max(2, isqrt(square_metres // faces // (6 * WIDE * HIGH)))
    column, row = _connected(*_inside(coast, unit))
    place = {key: face for face, key in enumerate(zip(column.tolist(), row.tolist(), strict=True))}
    lattice = np.stack([column, row], axis=1)

    neighbours = np.array(
        [[place.get((x + dx, y + dy), -1) for dx, dy in NEIGHBOURS] for x, y in lattice.tolist()],
        dtype=np.int64,
    )
    at = (lattice[:, None, :] + np.array(CORNERS)).reshape(-1, 2)
    keys, corners = np.unique(at, axis=0, return_inverse=True)
    scale = np.array([WIDE * unit, HIGH * unit])
    return Mesh(
        unit=unit,
        centre=lattice * scale + ORIGIN,
        corners=corners.reshape(-1, 6).astype(np.int64),
        neighbours=neighbours,
        corner=keys * scale + ORIGIN + _jitter(keys, unit, draws),
    )


def _jitter(keys: Long, unit: int, draws: Draws) -> Long:
    """Corners moved a little, so that no border is straight."""
    units = DemoUnits(keys[:, 0].astype(np.int32), keys[:, 1].astype(np.int32))
    reach = 15 * unit
    moves = [draws.below(f"corner {axis}", units, reach) - reach // 2 for axis in "xy"]
    return np.stack(moves, axis=1).astype(np.int64)


def _rough_coast(square_metres: int, draws: Draws) -> Long:
    """The coast at the size of the country, each side broken at its middle five times over."""
    x, y = np.array(COAST, dtype=np.int64).T
    area = int((x * np.roll(y, -1) - np.roll(x, -1) * y).sum()) // 2
    scale = isqrt(square_metres * 10_000 // area)
    points = np.array(COAST, dtype=np.int64) * scale // 100
    for step in range(5):
        after = np.roll(points, -1, axis=0)
        count = len(points)
        units = DemoUnits(np.full(count, step, np.int32), np.arange(count, dtype=np.int32))
        bend = draws.below("coast", units, 561)[:, None] - 280
        across = np.stack([points[:, 1] - after[:, 1], after[:, 0] - points[:, 0]], axis=1)
        middle = (points + after) // 2 + across * bend // 1000
        points = np.stack([points, middle], axis=1).reshape(-1, 2)
    return points


def _inside(coast: Long, unit: int) -> tuple[Long, Long]:
    """Lattice places of the faces whose middle is on land; row by row."""
    columns, rows = [], []
    start, end = coast, np.roll(coast, -1, axis=0)
    width, height = WIDE * unit, 3 * HIGH * unit
    for j in range(int(coast[:, 1].min()) // height, int(coast[:, 1].max()) // height + 2):
        y = j * height
        crosses = (start[:, 1] <= y) != (end[:, 1] <= y)
        first, last = start[crosses], end[crosses]
        rise = last[:, 1] - first[:, 1]
        x = np.sort(first[:, 0] + (y - first[:, 1]) * (last[:, 0] - first[:, 0]) // rise)
        for west, east in x.reshape(-1, 2).tolist():
            # Places of a row are every second column; even rows have even columns.
            begin = -(-west // width)
            begin += (begin + j) % 2
            found = np.arange(begin, east // width + 1, 2, dtype=np.int64)
            columns.append(found)
            rows.append(np.full(found.size, 3 * j, dtype=np.int64))
    return np.concatenate(columns), np.concatenate(rows)


def _connected(column: Long, row: Long) -> tuple[Long, Long]:
    """The largest piece of land; rocks off the coast are left out."""
    left = set(zip(column.tolist(), row.tolist(), strict=True))
    largest: set[tuple[int, int]] = set()
    while len(left) > len(largest):
        waiting = [min(left)]
        piece = set(waiting)
        while waiting:
            x, y = waiting.pop()
            near = {(x + dx, y + dy) for dx, dy in NEIGHBOURS}
            new = (near & left) - piece
            piece |= new
            waiting.extend(new)
        left -= piece
        largest = max(largest, piece, key=len)
    keep = np.array([key in largest for key in zip(column.tolist(), row.tolist(), strict=True)])
    return column[keep], row[keep]


def rough_ground(mesh: Mesh, draws: Draws) -> Long:
    """For each face, how long growth takes to enter it: hills and valleys bend the borders."""
    cost = np.ones(mesh.faces, dtype=np.int64)
    for width, height in ((1, 14), (3, 12), (9, 10)):
        block = mesh.centre // (2 * WIDE * mesh.unit * width)
        units = DemoUnits(block[:, 0].astype(np.int32), block[:, 1].astype(np.int32))
        cost += draws.below(f"hills {width}", units, height)
    return cost


def spread_seeds(centre: Long, members: Long, count: int, draws: Draws, purpose: str) -> Long:
    """``count`` members that lie well apart from each other.

    Each seed is the best of several candidates: the one farthest from the seeds before it.
    """
    chosen: list[int] = []
    near = np.full(members.size, np.iinfo(np.int64).max)
    for number in range(count):
        units = DemoUnits(np.full(6, number, np.int32), np.arange(6, dtype=np.int32))
        candidates = draws.below(f"seed {purpose}", units, members.size)
        best = int(candidates[near[candidates].argmax()])
        if near[best] == 0:
            best = int(near.argmax())
        chosen.append(best)
        offset = centre[members] - centre[members[best]]
        near = np.minimum(near, (offset * offset).sum(axis=1))
    return members[np.array(chosen, dtype=np.int64)]


def grow(neighbours: list[list[int]], cost: list[int], members: Long, seeds: Long) -> Long:
    """Share ``members`` out among ``seeds``: every seed grows until it meets the others.

    Growth goes from neighbour to neighbour, so every area is in one piece when the members are.

    Args:
        neighbours: For each node its neighbours; -1 for none.
        cost: For each node, how long it takes to enter it; at least 1.
        members: The nodes to share out.
        seeds: The nodes to start from.

    Returns:
        For each member the position of its seed.
    """
    free = bytearray(len(neighbours) + 1)  # the last one is the sea, node -1
    for node in members.tolist():
        free[node] = True
    owner = {}
    heap = [(0, seed, position) for position, seed in enumerate(seeds.tolist())]
    heapq.heapify(heap)
    while heap:
        reached, node, position = heapq.heappop(heap)
        if free[node]:
            free[node] = False
            owner[node] = position
            for other in neighbours[node]:
                if free[other]:
                    heapq.heappush(heap, (reached + cost[other], other, position))
    return np.array([owner[node] for node in members.tolist()], dtype=np.int64)
