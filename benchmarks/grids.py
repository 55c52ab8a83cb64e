"""Multilevel grids: squares of five sizes, a million households.

``python -m benchmarks --only grids`` puts households near towns of very different size, and groups
squares of 100 m up to 10 km so that every group holds 11 households.
"""

from __future__ import annotations

import time
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Line
from sdcensus.kernels.grids.multilevel import square_groups
from sdcensus.model.quantities import duration_text

Int64 = npt.NDArray[np.int64]

#: The sides of squares in metres, and the side of the country.
SIZES = (100, 200, 1000, 2000, 10_000)
SIDE = 140_000
THRESHOLD = 11
_LIMIT = 10.0


def _points(households: int) -> tuple[Int64, Int64]:
    draw = np.random.default_rng(17)
    towns = draw.uniform(0, SIDE, (400, 2))
    shares = draw.pareto(1.1, 400) + 0.05
    which = draw.choice(400, households, p=shares / shares.sum())
    near = towns[which] + draw.normal(0, 900, (households, 2))
    everywhere = draw.uniform(0, SIDE, (households, 2))
    points = np.where(draw.random((households, 1)) < 0.15, everywhere, near)
    points = np.clip(points, 0, SIDE - 1)
    return points[:, 0].astype(np.int64), points[:, 1].astype(np.int64)


def _nested() -> tuple[list[Int64], tuple[Int64, Int64]]:
    parents = []
    across = SIDE // SIZES[0]
    row, column = (line.reshape(-1) for line in np.indices((across, across)))
    for fine, coarse in pairwise(SIZES):
        factor = coarse // fine
        wide = SIDE // coarse
        parents.append((row // factor) * wide + column // factor)
        row, column = (line.reshape(-1) for line in np.indices((wide, wide)))
    return parents, (row, column)


def measure(households: int) -> list[Line]:
    """Both rules, counted from points: the second run, without the time of compiling."""
    x, y = _points(households)
    parents, places = _nested()
    across = SIDE // SIZES[0]
    lines = []
    for quadtree in (False, True):
        took = 0.0
        groups = 0
        for _ in range(2):
            start = time.perf_counter()
            squares = (y // SIZES[0]) * across + x // SIZES[0]
            counts = np.bincount(squares, minlength=across * across)
            result = square_groups(counts, parents, places, THRESHOLD, quadtree=quadtree)
            took = time.perf_counter() - start
            groups = int((np.bincount(result.group, weights=counts) > 0).sum())
        rule = "quadtree" if quadtree else "merging"
        lines.append(
            Line(
                f"{households:,} households, {across * across:,} squares of {len(SIZES)} sizes:"
                f" {rule}",
                f"{duration_text(took)}, {groups:,} groups of at least {THRESHOLD}",
                f"at most {_LIMIT:g} s",
                took <= _LIMIT,
            )
        )
    return lines
