"""Borders of areas as rings of whole metres, and points inside them.

Every side of a face is drawn once, with a bend on land and a ragged line at the sea, and both
its neighbours use that same line. So there is no gap and no overlap at any level.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.demo.land.mesh import Mesh
from sdcensus.demo.words import DemoUnits, Draws, Ints

Long: TypeAlias = npt.NDArray[np.int64]
Ring: TypeAlias = list[list[int]]

#: How far the middle of a line may be moved, as part of 1000 of its length; small enough that
#: lines that meet at a corner never cross.
BEND = 110
COAST_STEPS = 3
LAND_STEPS = 1


@dataclass(frozen=True, slots=True, eq=False)
class Border:
    """The sides of all faces, each as a line with bends.

    Attributes:
        side: For each face and each of its six sides, the number of the line.
        forward: Whether the line runs as the face goes round it.
        between: For each line, its points without the first and last corner.
    """

    side: Long
    forward: npt.NDArray[np.bool_]
    between: list[Ring]


def draw_borders(mesh: Mesh, finest: Long, draws: Draws) -> Border:
    """Draw every side of a face that is a border between areas of the ``finest`` level."""
    start = mesh.corners
    end = np.roll(mesh.corners, -1, axis=1)
    low, high = np.minimum(start, end), np.maximum(start, end)
    keys, first, side = np.unique(
        low * len(mesh.corner) + high, return_index=True, return_inverse=True
    )
    across = mesh.neighbours.reshape(-1)[first]
    coast = across < 0
    inner = ~coast & (finest[across] != finest[first // 6])
    ends = np.stack([keys // len(mesh.corner), keys % len(mesh.corner)], axis=1)
    lines = mesh.corner[ends]
    between: list[Ring] = [[] for _ in keys]
    for chosen, steps in ((inner, LAND_STEPS), (coast, COAST_STEPS)):
        sides = np.flatnonzero(chosen)
        bent = _bend(lines[sides], sides, steps, draws)
        for number, line in zip(sides.tolist(), bent[:, 1:-1].tolist(), strict=True):
            between[number] = line
    return Border(side.reshape(-1, 6).astype(np.int64), start < end, between)


def _bend(lines: Long, number: Long, steps: int, draws: Draws) -> Long:
    """Break each part of each line at its middle, ``steps`` times over."""
    for step in range(steps):
        before, after = lines[:, :-1], lines[:, 1:]
        count = before.shape[1]
        units = DemoUnits(
            np.repeat(number, count).astype(np.int32),
            np.tile(np.arange(count, dtype=np.int32), len(number)),
        )
        bend = draws.below(f"bend {step}", units, 2 * BEND + 1) - BEND
        across = np.stack([before[..., 1] - after[..., 1], after[..., 0] - before[..., 0]], -1)
        middle = (before + after) // 2 + across * bend.reshape(len(number), count, 1) // 1000
        parts = np.stack([before, middle], axis=2).reshape(len(number), 2 * count, 2)
        lines = np.concatenate([parts, lines[:, -1:]], axis=1)
    return lines


def rings_of_areas(mesh: Mesh, border: Border, area: Long, areas: int) -> list[list[Ring]]:
    """The rings of every area: the outer one first, counter-clockwise, then holes, clockwise."""
    other = np.where(mesh.neighbours >= 0, area[mesh.neighbours], -1)
    face, side = np.nonzero(other != area[:, None])
    corner: list[list[int]] = mesh.corner.tolist()
    rings: list[list[Ring]] = [[] for _ in range(areas)]
    order = np.argsort(area[face], kind="stable")
    face, side = face[order], side[order]
    ends = np.searchsorted(area[face], np.arange(areas + 1))
    start = mesh.corners[face, side].tolist()
    end = mesh.corners[face, (side + 1) % 6].tolist()
    line = border.side[face, side].tolist()
    forward = border.forward[face, side].tolist()
    for one in range(areas):
        # Three faces meet at a corner, so a border leaves every corner in one way only.
        leaving = {start[i]: i for i in range(ends[one], ends[one + 1])}
        while leaving:
            at, i = next(iter(leaving.items()))
            ring: Ring = []
            while at in leaving:
                i = leaving.pop(at)
                ring.append(corner[at])
                points = border.between[line[i]]
                ring.extend(points if forward[i] else points[::-1])
                at = end[i]
            ring.append(ring[0])
            rings[one].append(ring)
        rings[one].sort(key=lambda ring: -twice_area(ring))
    return rings


def twice_area(ring: Ring) -> int:
    """Twice the area inside a closed ring; negative when it runs clockwise.

    Examples:
        >>> twice_area([[0, 0], [2, 0], [2, 1], [0, 0]])
        2
    """
    return sum(x * next_y - next_x * y for (x, y), (next_x, next_y) in pairwise(ring))


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """The faces of each enumeration district, to put buildings on."""

    mesh: Mesh
    order: Long
    first: Long
    count: Long

    @classmethod
    def of(cls, mesh: Mesh, face_ed: Long, eds: int) -> Ground:
        """Sort the faces by district."""
        order = np.argsort(face_ed, kind="stable")
        count = np.bincount(face_ed, minlength=eds)
        return cls(mesh, order, np.cumsum(count) - count, count)

    def points(self, units: DemoUnits, draws: Draws) -> tuple[Ints, Ints]:
        """A point inside the district of each unit: easting and northing in metres.

        The point lies in a triangle of the middle of a face and two of its corners, two thirds
        of the way out at most, where no bend of a border reaches.
        """
        pick = draws.below("plot", units, self.count[units.ed])
        face = self.order[self.first[units.ed] + pick]
        side = draws.below("plot side", units, 6)
        centre = self.mesh.centre[face]
        one = self.mesh.corner[self.mesh.corners[face, side]] - centre
        other = self.mesh.corner[self.mesh.corners[face, (side + 1) % 6]] - centre
        u = draws.below("plot u", units, 1024).astype(np.int64)
        v = draws.below("plot v", units, 1024).astype(np.int64)
        outside = u + v > 1024
        u, v = np.where(outside, 1024 - u, u), np.where(outside, 1024 - v, v)
        point = centre + (one * u[:, None] + other * v[:, None]) * 2 // (3 * 1024)
        return point[:, 0].astype(np.int32), point[:, 1].astype(np.int32)
