"""Cells of a sum in which one contribution stands out: found exactly, in whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.kernels.magnitude.wide import less
from sdcensus.kernels.perturbation.lookup import frozen

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_0 = np.uint64(0)
_BILLION = np.uint64(BILLION)


def few_or_dominated(
    absolute: Int64,
    largest: Int64,
    contributors: Int64,
    *,
    fewest: int = 0,
    remainder: int = 0,
    dominant: int = 0,
    share: int = BILLION,
) -> Mask:
    """Cells with contributors that any of three rules calls sensitive.

    Args:
        absolute: The sum of contributions without their signs.
        largest: The largest contributions, one more axis, the largest first.
        contributors: How many contribute.
        fewest: Fewer contributors than this are sensitive; 0 for no such rule.
        remainder: What the contributions behind the two largest must reach, as a share of the
            largest, in billionths; 0 for no such rule.
        dominant: So many of the largest may not have more than ``share``; 0 for no such rule.
        share: In billionths of the whole.
    """
    out = np.empty(contributors.size, dtype=np.bool_)
    columns = np.ascontiguousarray(largest).reshape(out.size, largest.shape[-1])
    _mark(
        frozen(np.ascontiguousarray(absolute).reshape(-1)),
        frozen(columns),
        frozen(np.ascontiguousarray(contributors).reshape(-1)),
        fewest,
        np.uint64(remainder),
        dominant,
        np.uint64(share),
        out,
    )
    return out.reshape(contributors.shape)


@compiled
def _mark(
    absolute: Int64,
    largest: Int64,
    contributors: Int64,
    fewest: int,
    remainder: np.uint64,
    dominant: int,
    share: np.uint64,
    out: Mask,
) -> None:
    for cell in range(contributors.size):
        whole = np.uint64(absolute[cell])
        marked = contributors[cell] < fewest
        if remainder > _0:
            first = np.uint64(abs(largest[cell, 0]))
            rest = whole - first - np.uint64(abs(largest[cell, 1]))
            marked = marked or less(rest, _BILLION, first, remainder)
        top = _0
        for place in range(dominant):
            top += np.uint64(abs(largest[cell, place]))
        marked = marked or less(whole, share, top, _BILLION)
        out[cell] = marked and contributors[cell] > 0
