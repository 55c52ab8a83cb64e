"""The smallest value among the cells that hold a cell, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
#: What stands for a cell that nothing holds but itself.
NOTHING_ABOVE = np.iinfo(np.int64).max


@compiled
def _along_axis(
    inclusive: Int64,
    proper: Int64,
    begun: bool,
    kept: Int64,
    start: Int64,
    larger: Int64,
    inclusive_kept: Int64,
    proper_kept: Int64,
) -> None:
    """One step of ``smallest_above``: the arrays are ``(outer, positions, inner)``."""
    outer, _, inner = inclusive.shape
    for o in range(outer):
        for place in range(kept.size):
            own = kept[place]
            for i in range(inner):
                inclusive_kept[o, place, i] = inclusive[o, own, i]
                proper_kept[o, place, i] = proper[o, own, i] if begun else NOTHING_ABOVE
            for at in range(start[place], start[place + 1]):
                above = larger[at]
                for i in range(inner):
                    value = inclusive[o, above, i]
                    inclusive_kept[o, place, i] = min(inclusive_kept[o, place, i], value)
                    proper_kept[o, place, i] = min(proper_kept[o, place, i], value)


def smallest_above(
    values: Int64, axes: Sequence[tuple[Int64, Int64, Int64]], *, itself: bool = False
) -> Int64:
    """For each cell that is kept, the smallest value of the cells that hold it.

    A cell holds another if each of its positions holds that of the other or is the same. Axis by
    axis two minima are carried on: over all cells that hold it along the axes so far, itself
    included, and over those among them that are larger. So the work grows with the cells and the
    number of their ancestors along one axis, not with the product of these numbers.

    Args:
        values: A value of every cell.
        axes: For each axis the positions that are kept; and for each of these, from
            ``start[at]`` to ``start[at + 1]``, the positions in ``larger`` that hold it and more.
        itself: Whether a cell counts among those that hold it.

    Returns:
        An array over the kept positions; ``NOTHING_ABOVE`` where no cell is larger.
    """
    inclusive = proper = np.ascontiguousarray(values, dtype=np.int64)
    begun = False
    # The axis that loses most goes first: what is left to do is then the least.
    for at in sorted(range(values.ndim), key=lambda one: axes[one][0].size / values.shape[one]):
        kept, start, larger = axes[at]
        shape = inclusive.shape
        if begun and not larger.size and np.array_equal(kept, np.arange(shape[at])):
            continue
        outer = int(np.prod(shape[:at], dtype=np.int64))
        inner = int(np.prod(shape[at + 1 :], dtype=np.int64))
        made = np.empty((outer, kept.size, inner), dtype=np.int64)
        above = np.empty_like(made)
        whole = (outer, shape[at], inner)
        _along_axis(
            inclusive.reshape(whole), proper.reshape(whole), begun, kept, start, larger, made, above
        )
        after = (*shape[:at], kept.size, *shape[at + 1 :])
        inclusive, proper, begun = made.reshape(after), above.reshape(after), True
    if itself:
        return inclusive
    return proper if begun else np.full(values.shape, NOTHING_ABOVE, dtype=np.int64)
