"""Cell suppression with protection intervals: time, gap and audit by the number of cells.

``python -m benchmarks.suppression_intervals`` draws tables with hierarchies and many small counts.
Primary cells hold 1 or 2; each has to be possible from 0 to 3, for those as well who are alone in a
closed cell. What is measured is a whole run of the method, its audit included.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.audit import _axis
from benchmarks.measure import Line
from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.quantities import duration_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island


@dataclass(frozen=True)
class Shape:
    """A table: codes of each axis with those of the level above (0: none), and the mean count."""

    axes: tuple[tuple[int, int], ...]
    mean: float
    engine: str
    limit: float | None = None


SHAPES = (
    Shape(((20, 5), (14, 3)), 6.0, "optimal", 30.0),
    Shape(((20, 5), (5, 0), (2, 0)), 8.0, "optimal"),
    Shape(((20, 5), (14, 3)), 6.0, "modular"),
    Shape(((60, 8), (20, 4)), 6.0, "modular"),
    Shape(((60, 8), (12, 3), (2, 0)), 8.0, "modular"),
    Shape(((126, 12), (20, 4), (2, 0)), 20.0, "modular"),
)
_GAP = 0.01


def table(shape: Shape) -> Cube:
    """A table of people who are spread unevenly."""
    axes = tuple(_axis(name, *size) for name, size in zip("abc", shape.axes, strict=False))
    spec = TableSpec(of=Entity.PERSON, axes=axes)
    draw = np.random.default_rng(1)
    counts = with_totals(spec, draw.poisson(draw.gamma(0.5, 2 * shape.mean, spec.base_shape)))
    origin = island(5).tabulate("sex").held_for("a benchmark").origin
    return Cube(spec, origin, Accumulators(counts, np.zeros(counts.shape, dtype=np.uint32)))


def measure() -> list[Line]:
    """Time, gap and what is closed, for tables that grow."""
    lines = []
    for engine in ("optimal", "modular"):  # loads and compiles
        Suppression(3, secondary=engine).protect(table(Shape(((4, 2), (3, 0)), 4.0, engine)))
    for shape in SHAPES:
        cube = table(shape)
        gap = _GAP if shape.engine == "optimal" else None
        began = time.perf_counter()
        protected = Suppression(3, secondary=shape.engine, gap=gap).protect(cube)
        took = time.perf_counter() - began
        report = protected.audit.remarks[0]
        left = report.partition("at most ")[2].partition(" could")[0]
        reached = (
            "best, proven" if "best, proven" in report else f"gap {left}" if left else "gap unknown"
        )
        flags = protected.table.held_for("a benchmark").flags
        closed = 0 if flags is None else int((flags != 0).sum())
        primary = int(((cube.count > 0) & (cube.count < 3)).sum())
        promised = shape.limit is not None
        near = reached == "best, proven" or (left and float(left.rstrip("%")) <= 100 * _GAP)
        lines.append(
            Line(
                f"suppression with intervals, {shape.engine}, {cube.spec.cells:,} cells,"
                f" {primary:,} primary, {len(shape.axes)} axes",
                f"{duration_text(took)}, {reached}, {closed - primary:,} secondary, audited",
                f"gap 1 %, at most {shape.limit:g} s" if promised else "",
                bool(took <= shape.limit and near) if shape.limit is not None else None,
            )
        )
    return lines


if __name__ == "__main__":
    for line in measure():
        print(line.row())
