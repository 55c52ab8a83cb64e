"""Which cells have a small one among the cells that hold them, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

#: In ``state``: the cell itself or one that holds it is small; one that is larger is.
_SMALL, _SMALL_ABOVE = 1, 2


@compiled
def _along_axis(state: Bits, kept: Int64, start: Int64, larger: Int64, made: Bits) -> None:
    """One step of ``small_above``: the arrays are ``(outer, positions, inner)``."""
    outer, _, inner = state.shape
    for o in range(outer):
        for place in range(kept.size):
            own = kept[place]
            for i in range(inner):
                made[o, place, i] = state[o, own, i]
            for at in range(start[place], start[place + 1]):
                above = larger[at]
                for i in range(inner):
                    # What is small above, itself or further above, is so above this cell too.
                    made[o, place, i] |= (state[o, above, i] & 1) * 3


def small_above(
    small: Mask, axes: Sequence[tuple[Int64, Int64, Int64]], *, itself: bool = False
) -> Mask:
    """For each cell that is kept, whether a cell that holds it, and more, is small.

    A cell holds another if each of its positions holds that of the other or is the same. Axis by
    axis two things are carried on: whether any cell is small that holds it along the axes so far,
    itself included, and whether one of them is that is larger. So the work grows with the cells
    and the number of their ancestors along one axis, not with the product of these numbers.

    Args:
        small: Which cells are small.
        axes: For each axis the positions that are kept; and for each of these, from
            ``start[at]`` to ``start[at + 1]``, the positions in ``larger`` that hold it and more.
        itself: Whether a cell counts among those that hold it.

    Returns:
        An array over the kept positions.
    """
    state = small.astype(np.uint8)
    # The axis that loses most goes first: what is left to do is then the least.
    for at in sorted(range(small.ndim), key=lambda one: axes[one][0].size / small.shape[one]):
        kept, start, larger = axes[at]
        shape = state.shape
        if not larger.size and np.array_equal(kept, np.arange(shape[at])):
            continue
        outer = int(np.prod(shape[:at], dtype=np.int64))
        inner = int(np.prod(shape[at + 1 :], dtype=np.int64))
        made = np.empty((outer, kept.size, inner), dtype=np.uint8)
        _along_axis(state.reshape(outer, shape[at], inner), kept, start, larger, made)
        state = made.reshape((*shape[:at], kept.size, *shape[at + 1 :]))
    return np.asarray(state & (_SMALL if itself else _SMALL_ABOVE), dtype=bool)
