"""Tabular adjustment and coarsening: time and gap by the number of cells, and what a guess gains.

``python -m benchmarks --only tabular_adjustment`` makes tables straight from arrays, with many
small counts. The guess is that of somebody who knows the method and how often each count occurs.
"""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Line
from sdcensus.methods.coarsening.method import Coarsening
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.model.cube.cube import Cube
from sdcensus.model.quantities import duration_text
from sdcensus.testing.island import SECRET
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable

SHAPES = ((30, 30), (100, 100), (10, 10, 10), (20, 20, 20), (40, 40, 40))
#: A count is taken to be known where a guess of it is right so often.
_KNOWN = 0.9


def table(shape: tuple[int, ...], *, mean: float = 4.0, seed: int = 1) -> Cube:
    """A table with many small counts."""
    draw = np.random.default_rng(seed)
    variables = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(shape)
    ]
    return printed_cube(printed_spec(*variables), draw.negative_binomial(1, 1 / (1 + mean), shape))


def guessed(
    true: npt.NDArray[np.int64], published: npt.NDArray[np.int64], minimum: int
) -> tuple[float, float]:
    """What somebody knows of small counts who sees a published value and knows all frequencies.

    Returns:
        The share of small counts that the likeliest guess for their published value hits, and the
        share of those whose published value is almost certainly theirs.
    """
    small = (true > 0) & (true < minimum)
    hit = known = 0
    for value in np.unique(published[small]).tolist():
        behind = true[published == value]
        counts = np.bincount(behind)
        likeliest = int(np.argmax(counts))
        right = int(counts[likeliest])
        if 0 < likeliest < minimum:
            hit += right
            known += right if right >= _KNOWN * behind.size else 0
    size = max(int(small.sum()), 1)
    return hit / size, known / size


def measure() -> list[Line]:
    """Time and gap of tables that grow, and what a guess gains."""
    lines = []
    ControlledTabularAdjustment(secret=SECRET, effort="fast").protect(table((3, 3, 3)))
    for shape in SHAPES:
        cube = table(shape)
        begun = time.perf_counter()
        audit = ControlledTabularAdjustment(secret=SECRET, effort="fast").protect(cube).audit
        took = time.perf_counter() - begun
        gap = audit.remarks[0].partition("at most ")[2].partition(" could")[0] or "0 %"
        name = "×".join(map(str, shape))
        lines.append(
            Line(
                f"tabular adjustment, {name}: {cube.spec.cells:,} cells",
                f"{duration_text(took)}, gap {gap}",
            )
        )
    cube = table((60, 60))
    for what, settings in (
        ("drawn ways, to 0 or the minimum", {}),
        ("best ways, to 0 or the minimum", {"senses": "best"}),
        (
            "drawn ways, by 3",
            {"lower_protection": 3, "upper_protection": 3, "new_small_counts": "allow"},
        ),
    ):
        method = ControlledTabularAdjustment(secret=SECRET, effort="fast", **settings)
        published = method.protect(cube).table.held_for("a guess").published
        hit, known = guessed(cube.count[:-1, :-1], published[:-1, :-1], 3)
        lines.append(
            Line(
                f"small counts guessed, {what}",
                f"{hit:.0%} by the likeliest guess, {known:.0%} almost certainly",
            )
        )
    for shape in ((8, 8), (20, 20), (60, 40)):
        cube = table(shape, mean=20)
        begun = time.perf_counter()
        coarse = Coarsening(3).protect(cube)
        took = time.perf_counter() - begun
        name = "×".join(map(str, shape))
        lines.append(
            Line(
                f"coarsening, {name}: {cube.spec.cells:,} cells",
                f"{duration_text(took)}, {coarse.table.spec.cells:,} cells are left",
            )
        )
    return lines
