"""Cell suppression by elimination: time by the number of cells.

``python -m benchmarks.suppression_tables`` makes tables from arrays: areas in counties (and in
regions), crossed with two or three variables, all totals shown. People are drawn by shares that
fall like 1/rank on every axis, times a gamma draw for each combination, so that some categories are
large and most combinations are empty or hold one or two. Published cells are those that are not
empty (empty ones are shown and need no work); primary ones hold 1 or 2.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Line, peak_memory
from sdcensus.kernels.elimination.basis import Columns
from sdcensus.kernels.elimination.suppression import Singles, Status, suppressed
from sdcensus.model.quantities import duration_text

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Shape:
    """A table: areas and the levels above them, other axes, and how many people."""

    areas: int
    above: tuple[int, ...]
    others: tuple[int, ...]
    people: int
    limit: float | None = None


SHAPES = (
    Shape(60, (8,), (12, 3), 60_000),
    Shape(126, (12,), (20, 2), 1_100_000, 1.0),
    Shape(330, (20,), (10, 4), 60_000),
    Shape(366, (20,), (12, 3, 2), 130_000, 10.0),
    Shape(300, (40, 8), (18, 2, 7), 600_000, 60.0),
)


def _levels(size: int, above: tuple[int, ...]) -> list[Int64]:
    every = np.arange(size)
    return [every, *(every * groups // size for groups in above), np.zeros(size, dtype=np.int64)]


def table(shape: Shape) -> tuple[Columns, Int64, Int64]:
    """The cells of a table by its non-empty combinations: columns, counts, units of each row."""
    draw = np.random.default_rng(1)
    axes = [_levels(shape.areas, shape.above), *(_levels(size, ()) for size in shape.others)]
    share = np.ones(())
    for levels in axes:
        weights = draw.permutation(1 / np.arange(1, levels[0].size + 1) ** 1.2)
        share = np.multiply.outer(share, weights)
    share = share * draw.gamma(1.0, size=share.shape)
    inner = draw.multinomial(shape.people, (share / share.sum()).reshape(-1))
    filled = np.flatnonzero(inner)
    places = np.unravel_index(filled, share.shape)
    ends = [np.cumsum([0, *(level.max() + 1 for level in levels)]) for levels in axes]
    size = tuple(int(end[-1]) for end in ends)
    cells = [
        np.ravel_multi_index(
            tuple(axes[at][level][places[at]] + ends[at][level] for at, level in enumerate(chosen)),
            size,
        )
        for chosen in itertools.product(*(range(len(levels)) for levels in axes))
    ]
    cell, row = np.concatenate(cells), np.tile(np.arange(filled.size), len(cells))
    order = np.lexsort((row, cell))
    known, starts = np.unique(cell[order], return_index=True)
    columns = Columns(np.append(starts, cell.size), row[order], np.ones(cell.size, dtype=np.int64))
    counts = np.zeros(int(np.prod(size)), dtype=np.int64)
    np.add.at(counts, cell, inner[filled][row])
    return columns, counts[known], inner[filled].astype(np.int64)


def measure() -> list[Line]:
    """Time and memory of elimination, and how both grow."""
    lines = []
    for shape in SHAPES:
        columns, counts, weights = table(shape)
        targets = counts < 3
        order = np.argsort(-counts, kind="stable")
        for singles in (Singles.IGNORED, Singles.ALONE):
            began = time.perf_counter()
            status = suppressed(
                columns,
                weights.size,
                targets,
                order,
                known=counts == 1,
                singles=singles,
                weights=weights,
            )
            took = time.perf_counter() - began
            closed = int((status == Status.CLOSED).sum())
            what = (
                f"elimination, {counts.size:,} published cells, {int(targets.sum()):,} primary"
                f"{', who is alone thought of' if singles else ''}"
            )
            plain = shape.limit is not None and singles is Singles.IGNORED
            lines.append(
                Line(
                    what,
                    f"{duration_text(took)}, {closed:,} secondary, {peak_memory() / 1e9:.1f} GB",
                    f"at most {shape.limit:g} s" if plain else "",
                    took <= shape.limit if plain and shape.limit is not None else None,
                )
            )
    return lines


if __name__ == "__main__":
    for line in measure():
        print(line.row())
