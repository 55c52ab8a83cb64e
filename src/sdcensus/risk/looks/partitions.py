"""How levels of a variable divide a code: into how many parts, and which divide it alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Level, common_refinement

Int64 = npt.NDArray[np.int64]

#: The level divides a code not at all: its part is the code itself.
UNDIVIDED = -1


@dataclass(frozen=True, slots=True)
class Division:
    """How finer levels divide each code of a coarser one (or everything, as one code).

    Attributes:
        parts: For each finer level and code, the number of codes of that level that it holds.
        same_as: For each finer level and code, the first level that divides the code alike: the
            level itself, an earlier one, or ``UNDIVIDED``. Equal parts are the same records, and
            carry the same noise.
    """

    parts: Int64
    same_as: Int64


def division(finer: Sequence[Level], coarse: Level | None) -> Division:
    """How levels divide the codes of a level that all of them refine; ``None``: everything.

    Codes without leaves hold no record of any census and count as nothing.
    """
    if coarse is None:
        size, above = 1, np.zeros(len(finer[0].group) if finer else 0, dtype=np.int64)
    else:
        size, above = len(coarse.codes), coarse.group_array
    parts = np.zeros((len(finer), size), dtype=np.int64)
    same_as = np.zeros((len(finer), size), dtype=np.int64)
    for at, level in enumerate(finer):
        parts[at] = _parts([level], above, size)
        same_as[at] = at
        for earlier in range(at - 1, -1, -1):
            alike = parts[at] == parts[earlier]
            if alike.any():
                alike &= _parts([level, finer[earlier]], above, size) == parts[at]
                same_as[at] = np.where(alike, same_as[earlier], same_as[at])
        same_as[at][parts[at] <= 1] = UNDIVIDED
    return Division(parts, same_as)


def refining(levels: Sequence[Level], coarse: Level) -> tuple[Level, ...]:
    """Those of some levels of a variable that divide the codes of another one, and not that one."""
    return tuple(level for level in levels if level.name != coarse.name and level.refines(coarse))


def _parts(levels: Sequence[Level], above: Int64, size: int) -> Int64:
    """How many groups of records with leaves lie under each code."""
    base, _ = common_refinement(levels)
    _, first = np.unique(base, return_index=True)
    return np.bincount(above[first], minlength=size).astype(np.int64)
