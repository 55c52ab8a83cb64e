"""What the levels of one variable together say about its codes, by the best linear estimate.

Every code of every level is seen once, with noise of variance 1. Codes with the same leaves are the
same question and are seen once together. Let ``Q`` count, for two leaves, in how many of these
codes both are: then ``Q`` is the information that the levels have about the leaves, and what a
lattice of several variables needs of a variable is three numbers:

- the *gain* ``1 / (1' Q^-1 1)``: what the levels say about everybody, in looks;
- for a code ``w`` its *share* ``gain * w' Q^-1 1``: how much of everybody it is taken to be;
- for a code ``w`` its *rest* ``w' Q^-1 w - share^2 / gain``: the variance of the code where
  everybody is known exactly.

Levels that lie in each other are a tree, in which these numbers are those of a network: every code
is a resistor of 1, and its children stand in parallel below it. Other levels take a matrix.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Level, common_refinement

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Larger systems of levels that cut across each other are taken to show every common part as well.
LARGEST_SYSTEM = 300
#: Larger matrices are not made.
LARGEST_MATRIX = 800


@dataclass(frozen=True, slots=True, eq=False)
class CodeForms:
    """What the levels of a variable say about the codes of one of them.

    Attributes:
        filled: Which codes have leaves; figures of others mean nothing.
        share: See above.
        rest: See above.
        within: The same as ``1 / rest`` where every coarser level is known exactly, and not only
            everybody: never less.
    """

    filled: Mask
    share: Float64
    rest: Float64
    within: Float64

    def candidates(self) -> Int64:
        """Codes of which no other one is known better in both respects: the worst is among them."""
        places = np.flatnonzero(self.filled)
        rest, share = np.round(self.rest[places], 12), np.round(self.share[places], 12)
        order = np.lexsort((share, rest))
        least = np.minimum.accumulate(share[order])
        kept = np.ones(len(order), dtype=bool)
        kept[1:] = share[order][1:] < least[:-1]
        return places[np.sort(order[kept])]


@dataclass(frozen=True, slots=True, eq=False)
class AxisForms:
    """What the levels of a variable together say.

    Attributes:
        gain: See above; 0 where the variable has one code only, and divides nothing.
        codes: For each level by name, its codes; levels that divide nothing are left out.
        exact: Whether these are the figures; else more is taken to be shown than is.
    """

    gain: float
    codes: dict[str, CodeForms]
    exact: bool = True


def axis_forms(levels: Sequence[Level]) -> AxisForms:
    """The figures of the levels of a variable that may be asked for.

    Examples:
        >>> from sdcensus.model.schema.variable import Code
        >>> sexes = Level("sex", (Code("1"), Code("2")), (0, 1))
        >>> forms = axis_forms([sexes])
        >>> forms.gain, forms.codes["sex"].share.tolist(), forms.codes["sex"].rest.tolist()
        (0.5, [0.5, 0.5], [0.5, 0.5])
    """
    return _forms(tuple(levels))


@lru_cache(maxsize=256)
def _forms(levels: tuple[Level, ...]) -> AxisForms:
    """Every kind of unit has the same areas, so that most variables are asked for again."""
    dividing = [level for level in levels if len(np.unique(level.group_array)) > 1]
    if not dividing:
        return AxisForms(0.0, {})
    chain = sorted(dividing, key=lambda one: len(np.unique(one.group_array)))
    if all(fine.refines(coarse) for coarse, fine in itertools.pairwise(chain)):
        return _of_tree(chain)
    return _of_matrix(chain)


def _of_tree(chain: Sequence[Level]) -> AxisForms:
    """Levels from the coarsest to the finest, each within the one before it."""
    depth = len(chain)
    above = [np.zeros(len(level.codes), dtype=np.int64) for level in chain]
    for at in range(1, depth):
        above[at][chain[at].group_array] = chain[at - 1].group_array
    filled = [np.bincount(level.group_array, minlength=len(level.codes)) > 0 for level in chain]
    sizes = [1, *(len(level.codes) for level in chain)]
    resistance = [np.ones(len(level.codes)) for level in chain]
    own = [np.ones(len(level.codes)) for level in chain]
    below: list[Float64] = [np.zeros(0)] * (depth + 1)
    for at in range(depth - 1, -1, -1):
        if at + 1 < depth:
            children = np.bincount(above[at + 1][filled[at + 1]], minlength=sizes[at + 1])
            own[at] = np.where(children == 1, 0.0, 1.0)  # an only child is the same question
            resistance[at] = own[at] + 1 / np.maximum(below[at + 1], 1e-300)
        weights = np.where(filled[at], 1 / resistance[at], 0.0)
        below[at] = np.bincount(above[at], weights, minlength=sizes[at]).astype(np.float64)
    gain = 1 / float(below[0][0])
    codes: dict[str, CodeForms] = {}
    share, upward, outside = np.ones(1), np.zeros(1), np.full(1, np.inf)
    for at, level in enumerate(chain):
        conducts = 1 / resistance[at]
        siblings = below[at][above[at]] - conducts
        alone = siblings < 1e-12 * conducts
        beside = np.where(alone, np.inf, 1 / np.where(alone, 1.0, siblings))
        share = share[above[at]] * conducts / np.where(filled[at], below[at][above[at]], 1.0)
        over = upward[above[at]]
        over = np.where(alone, over, over / (1 + over / beside))
        outside = np.where(alone, outside[above[at]], beside)
        variance = 1 / (resistance[at] + over)
        codes[level.name] = CodeForms(
            filled[at], share, variance - share**2 / gain, resistance[at] + outside
        )
        upward = own[at] + over
    return AxisForms(gain, codes)


def _of_matrix(levels: Sequence[Level]) -> AxisForms:
    """Levels that cut across each other: the inverse of ``Q``, as far as it is needed.

    Where every common part is a code itself, ``Q`` is the identity and what the other codes add,
    which are far fewer. Where some are not, they are taken to be shown in large systems.
    """
    part, size = common_refinement(levels)
    members = [_members(level, part) for level in levels]
    distinct = {own.tobytes(): own for codes in members for own in codes if own.size}
    coarse = [own for own in distinct.values() if own.size > 1]
    shown = len(distinct) - len(coarse) == size
    exact = shown or size <= LARGEST_SYSTEM
    if size > LARGEST_MATRIX:
        known = _by_coarse_codes(coarse, members, size)
    elif shown or not exact:
        outer = _matrix(coarse, size)
        inner = np.linalg.inv(np.eye(len(coarse)) + outer @ outer.T)
        known = _by_inverse(np.eye(size) - outer.T @ inner @ outer, members)
    else:
        outer = _matrix(list(distinct.values()), size)
        inverse = np.linalg.pinv(outer.T @ outer, hermitian=True)
        known = _by_inverse(np.asarray(inverse, dtype=np.float64), members)
    gain = known[0]
    codes: dict[str, CodeForms] = {}
    for level, own, (total, variance) in zip(levels, members, known[1], strict=True):
        share = gain * total
        filled = np.array([one.size > 0 for one in own])
        rest = variance - share**2 / gain
        codes[level.name] = CodeForms(filled, share, rest, np.full(len(own), np.inf))
    return AxisForms(gain, codes, exact)


#: The gain, and for the codes of each level ``w' Q^-1 1`` and ``w' Q^-1 w``.
_Known = tuple[float, list[tuple[Float64, Float64]]]


def _by_inverse(inverse: Float64, members: Sequence[Sequence[Int64]]) -> _Known:
    found = []
    for own in members:
        member = _matrix(own, len(inverse))
        seen = member @ inverse
        found.append((seen.sum(axis=1), (seen * member).sum(axis=1)))
    return 1 / float(inverse.sum()), found


def _by_coarse_codes(
    coarse: Sequence[Int64], members: Sequence[Sequence[Int64]], size: int
) -> _Known:
    """The same without the inverse itself, which would be too large."""
    outer = _incidence(coarse, size)
    inner = np.linalg.inv(np.eye(len(coarse)) + (outer @ outer.T).toarray())
    sums = outer @ np.ones(size)
    found = []
    for own in members:
        count = np.array([one.size for one in own], dtype=np.float64)
        common, alike = _different_columns(outer @ _incidence(own, size).T)
        solved = inner @ common
        variance = count - (common * solved).sum(axis=0)[alike]
        found.append((count - (sums @ solved)[alike], variance))
    return 1 / float(size - sums @ inner @ sums), found


def _matrix(sets: Sequence[Int64], size: int) -> Float64:
    """Which parts are in which of some sets."""
    found = np.zeros((len(sets), size))
    for at, one in enumerate(sets):
        found[at, one] = 1
    return found


def _members(level: Level, part: Int64) -> list[Int64]:
    """The common parts of which each code of a level consists."""
    parts = int(part.max()) + 1
    code, inside = np.divmod(np.unique(level.group_array * parts + part), parts)
    return np.split(inside, np.searchsorted(code, np.arange(1, len(level.codes))))


def _different_columns(matrix: csr_array) -> tuple[Float64, Int64]:
    """The columns of a matrix, equal ones once; and which of them each column is."""
    from scipy.sparse import csc_array

    columns = csc_array(matrix)
    columns.sort_indices()
    seen: dict[tuple[bytes, bytes], int] = {}
    first: list[int] = []
    alike = np.zeros(columns.shape[1], dtype=np.int64)
    for at, (start, end) in enumerate(itertools.pairwise(columns.indptr.tolist())):
        key = (columns.indices[start:end].tobytes(), columns.data[start:end].tobytes())
        if key not in seen:
            seen[key] = len(first)
            first.append(at)
        alike[at] = seen[key]
    return np.asarray(columns[:, first].toarray(), dtype=np.float64), alike


def _incidence(sets: Sequence[Int64], size: int) -> csr_array:
    """The same, of large sets."""
    from scipy.sparse import csr_array

    column = np.concatenate([np.zeros(0, dtype=np.int64), *sets])
    row = np.repeat(np.arange(len(sets)), [one.size for one in sets])
    return csr_array((np.ones(column.size), (row, column)), shape=(len(sets), size))
