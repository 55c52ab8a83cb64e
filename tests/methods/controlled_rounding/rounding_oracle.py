"""The nearest table of multiples by another way: an integer program over all cells and sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, eye_array, hstack, vstack

from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable

Int64 = npt.NDArray[np.int64]
#: More than any number in these tables.
_LARGE = 100_000


def cube_of(numbers: Any) -> Cube:
    """A table with these interior counts; axes v0, v1, … with codes c0, c1, …"""
    array = np.asarray(numbers)
    names = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(array.shape)
    ]
    return printed_cube(printed_spec(*names), array)


def least_distance(linked: LinkedCubes, method: ControlledRounding) -> int | None:
    """The least sum of distances, all cells alike; ``None`` where there is no table."""
    tables, counts, base = linked.tables, linked.counts, method.base
    size, shown = tables.size, tables.published
    below, rest = np.divmod(counts, base)
    least = np.where(shown, np.maximum(below - method.extra_steps, 0), 0)
    most = np.where(shown, below + method.extra_steps + (rest > 0), _LARGE)
    if method.zeros == "keep" or method.extra_steps == 0:
        most = np.where(shown & (counts == 0), 0, most)
    equations = tables.equations
    sums = csr_array(
        (equations.values.astype(float), (equations.rows, equations.columns)), equations.shape
    )
    # Variables: multiples, distances, and for protected cells whether they go up.
    height = equations.shape[0]
    one, none = eye_array(size, format="csr"), csr_array((size, size))
    rows = [
        hstack([sums, csr_array((height, size)), csr_array((height, size))]),
        hstack([base * one, one, none]),
        hstack([-base * one, one, none]),
    ]
    endless = np.full(size, np.inf)
    lower: list[Any] = [np.zeros(height), counts, -counts]
    upper: list[Any] = [np.zeros(height), endless, endless]
    cells = np.flatnonzero(shown & (counts > 0) & (counts < (method.protect_below or 0)))
    if cells.size:
        chosen, empty = one[cells], csr_array((cells.size, size))
        side = hstack([base * chosen, empty, -_LARGE * chosen])
        rows += [side, side]
        lower += [-endless[cells], counts[cells] + (method.upper_protection or 1) - _LARGE]
        upper += [counts[cells] - (method.lower_protection or 1), endless[cells]]
    result = milp(
        np.concatenate([np.zeros(size), shown.astype(float), np.zeros(size)]),
        integrality=np.concatenate([np.ones(size), np.zeros(size), np.ones(size)]),
        bounds=Bounds(
            np.concatenate([least, np.zeros(2 * size)]),
            np.concatenate([most, np.full(size, np.inf), np.ones(size)]),
        ),
        constraints=LinearConstraint(
            vstack(rows).tocsr(), np.concatenate(lower), np.concatenate(upper)
        ),
        options={"mip_rel_gap": 0},
    )
    assert result.status in (0, 2), result.message
    return None if result.x is None else round(result.fun)
