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

import numpy as np
import numpy.typing as npt

from sdcensus.model.variable import Level, common_refinement

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Larger systems of levels that cut across each other are taken to show every common part as well.
LARGEST_SYSTEM = 300


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
        >>> from sdcensus.model.variable import Code
        >>> sexes = Level("sex", (Code("1"), Code("2")), (0, 1))
        >>> forms = axis_forms([sexes])
        >>> forms.gain, forms.codes["sex"].share.tolist(), forms.codes["sex"].rest.tolist()
        (0.5, [0.5, 0.5], [0.5, 0.5])
    """
    dividing = [one for one in levels if len(np.unique(one.group_array)) > 1]
    if not dividing:
        return AxisForms(0.0, {})
    chain = sorted(dividing, key=lambda one: len(np.unique(one.group_array)))
    if all(fine.refines(coarse) for coarse, fine in itertools.pairwise(chain)):
        return _of_tree(chain)
    return _of_matrix(chain)


def _of_tree(chain: Sequence[Level]) -> AxisForms:
    """Levels from the coarsest to the finest, each within the one before it."""
    depth = len(chain)
    above = [np.zeros(len(one.codes), dtype=np.int64) for one in chain]
    for at in range(1, depth):
        above[at][chain[at].group_array] = chain[at - 1].group_array
    filled = [np.bincount(one.group_array, minlength=len(one.codes)) > 0 for one in chain]
    sizes = [1, *(len(one.codes) for one in chain)]
    resistance = [np.ones(len(one.codes)) for one in chain]
    own = [np.ones(len(one.codes)) for one in chain]
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
    """Levels that cut across each other: the inverse itself."""
    part, size = common_refinement(levels)
    nodes: dict[bytes, Mask] = {}
    for level in levels:
        for code in np.unique(level.group_array).tolist():
            inside = np.zeros(size, dtype=bool)
            inside[part[level.group_array == code]] = True
            nodes.setdefault(inside.tobytes(), inside)
    shown = sum(int(one.sum()) == 1 for one in nodes.values()) == size
    exact = shown or size <= LARGEST_SYSTEM
    matrix = np.stack(list(nodes.values())).astype(np.float64)
    inverse = _with_every_part(matrix) if shown or not exact else _inverse(matrix)
    spread = inverse.sum(axis=1)
    gain = 1 / float(spread.sum())
    codes: dict[str, CodeForms] = {}
    for level in levels:
        member = np.zeros((len(level.codes), size))
        member[level.group_array, part] = 1
        share = gain * (member @ spread)
        variance = ((member @ inverse) * member).sum(axis=1)
        codes[level.name] = CodeForms(
            np.asarray(member.any(axis=1)),
            share,
            variance - share**2 / gain,
            np.full(len(share), np.inf),
        )
    return AxisForms(gain, codes, exact)


def _inverse(nodes: Float64) -> Float64:
    """The inverse of the information, where some common parts are shown by no level."""
    return np.asarray(np.linalg.pinv(nodes.T @ nodes, hermitian=True), dtype=np.float64)


def _with_every_part(nodes: Float64) -> Float64:
    """The inverse of the information, where every common part is shown as well."""
    coarse = nodes[nodes.sum(axis=1) > 1]
    inner = np.linalg.solve(np.eye(len(coarse)) + coarse @ coarse.T, coarse)
    return np.asarray(np.eye(nodes.shape[1]) - coarse.T @ inner, dtype=np.float64)
