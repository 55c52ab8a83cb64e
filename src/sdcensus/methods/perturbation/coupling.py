"""What the gap between a total and its parts gives away, for each way to look keys up.

Who adds up published parts and compares with the published total sees a gap: the noise of the
total less that of the parts. Who also knows the perturbation table can guess from it. How well
depends on how the noise of the total hangs together with that of the parts, and so on the look-up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.coupling import (
    joint_of_folded_keys,
    joint_of_intervals,
    joint_of_keys,
)
from sdcensus.methods.perturbation.order import scrambled
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import KeyRule, Lookup, Perturbation, PerturbationTable
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.model.vocabulary import option

Float64 = npt.NDArray[np.float64]
AnySecret = Secret | SubSecret

#: Without a secret, figures of a scrambled order are means over so many orders. Single orders
#: differ much: the probability of no gap by 0.09, one standard deviation. They are the first ones
#: and not chosen, and fixed, so that figures do not move.
_EXAMPLES = range(200)
#: Rows cut into more intervals than this (all three multiplied) are gone through key by key.
MOST_TRIPLES = 1 << 20
#: Of a tail of many rows, evenly spread ones are looked at, as many as cost so many triples.
MOST_WORK = 1 << 17
#: Looking at pairs of keys is so much quicker than counting in triples of intervals.
_PAIRS_PER_TRIPLE = 64


@dataclass(frozen=True, slots=True)
class Coupling:
    """What an intruder learns from two large parts and their total, knowing the table.

    Attributes:
        gap_is_zero: The probability that published parts add up to the published total.
        guess_part: The probability that the best guess of a part's deviation, from the gap, is
            right.
        guess_both: The same for the deviations of both parts at once.
        uncertainty_bits: What is left unknown of a part's deviation when the gap is known.
    """

    gap_is_zero: float
    guess_part: float
    guess_both: float
    uncertainty_bits: float


def coupling_of(
    perturbation: Perturbation,
    lookup: Lookup | str,
    *,
    secret: AnySecret | None = None,
    key_version: int = 1,
    grid: int = 4096,
) -> Coupling:
    """The risk of a look-up, for two parts and their total with counts that are not small.

    With intervals the figures are exact: keys of the parts are uniform, and the key of the total
    is their sum. The row of large counts is looked at; where several rows take turns, as in
    rounding, all their combinations are equally likely (of very many rows, some are looked at).

    Args:
        perturbation: A design, or a table in its own key space.
        lookup: How keys are looked up.
        secret: For ``scrambled``, whose order it is. Without it, figures are means over two
            hundred orders, as a secret to come may have them.
        key_version: For ``scrambled``, the version of the series.
        grid: How many keys stand for all of them where a row has about as many intervals as keys.
    """
    chosen = option(Lookup, "look-up", lookup)
    if chosen.has_own_keys:
        return _figures(perturbation, None, grid)
    table = _table(perturbation)
    if chosen is Lookup.ASCENDING:
        return _figures(table, table, grid)
    if secret is not None:
        ordered = scrambled(table, secret, key_version=key_version)
        return _figures(ordered, ordered, grid)
    of_each = []
    for example in _EXAMPLES:
        # From the one before: its rows have few intervals, and their order does not matter.
        table = scrambled(table, Secret(f"order {example:>10}".encode()))
        of_each.append(_figures(table, table, grid, MOST_WORK // len(_EXAMPLES)))
    return _mean(of_each)


def _mean(figures: Sequence[Coupling]) -> Coupling:
    columns = zip(*(astuple(figure) for figure in figures), strict=True)
    return Coupling(*(math.fsum(column) / len(figures) for column in columns))


def _table(perturbation: Perturbation) -> PerturbationTable:
    if isinstance(perturbation, PerturbationTable):
        return perturbation
    if isinstance(perturbation, PerturbationDesign):
        return perturbation.table()
    raise SpecError("A design or a table of perturbation is needed.")


def _figures(
    of: Perturbation, table: PerturbationTable | None, grid: int, work: int = MOST_WORK
) -> Coupling:
    """Coupled by the keys of a table; independent without one."""
    lowest, span = _range(of)
    joint = _mean_joint(of, table, lowest, span, grid, work)
    first, second, total = np.indices(joint.shape)
    # The gap is the deviation of the total less those of the parts; numbered from the smallest.
    gap = total - first - second + 2 * (span - 1)
    zero = lowest + 2 * (span - 1)
    gaps = 3 * span - 2
    with_part = np.zeros((gaps, span))
    np.add.at(with_part, (gap, first), joint)
    with_both = np.zeros((gaps, span, span))
    np.add.at(with_both, (gap, first, second), joint)
    alone = with_part.sum(axis=1)
    given = np.divide(with_part, alone[:, None], out=np.ones_like(with_part), where=with_part > 0)
    return Coupling(
        gap_is_zero=float(alone[zero]) if 0 <= zero < gaps else 0.0,
        guess_part=float(with_part.max(axis=1).sum()),
        guess_both=float(with_both.max(axis=(1, 2)).sum()),
        uncertainty_bits=float(-(with_part * np.log2(given)).sum()),
    )


# ---------------------------------------------------------------------------------------------
# Joint probabilities of the deviations of two parts and their total. Deviations are numbered from
# the smallest one of the tail on, so that joints of different rows can be added.


def _mean_joint(
    of: Perturbation,
    table: PerturbationTable | None,
    lowest: int,
    span: int,
    grid: int,
    work: int,
) -> Float64:
    """Over the rows of large counts; of independent noise when no table is given."""
    tail = of.tail
    each = _PAIRS_PER_TRIPLE if table is None else _work(table, grid)
    fewest = 12 if each < work else 2
    chosen = min(tail.period, max(fewest, math.isqrt(work // each)))
    counts = [tail.start + at * tail.period // chosen for at in range(chosen)]
    alone: dict[int, Float64] = {}
    joints: dict[tuple[object, ...], Float64] = {}
    mean = np.zeros((span, span, span))
    for first, second in itertools.product(counts, repeat=2):
        rows = (tail.row(first), tail.row(second), tail.row(first + second))
        if table is None:
            for row in rows:
                if row not in alone:
                    alone[row] = _alone(of, row, lowest, span)
            mean += np.einsum("i,j,k->ijk", *(alone[row] for row in rows))
            continue
        # Rows that take turns may well be equal.
        same = tuple(table.rows[row] for row in rows)
        if same not in joints:
            joints[same] = _coupled(table, rows, lowest, span, grid)
        mean += joints[same]
    return mean / len(counts) ** 2


def _work(table: PerturbationTable, grid: int) -> int:
    """What one combination of rows costs, in triples of intervals."""
    triples = int(max(len(row.widths) for row in table.rows[table.tail.start :]) ** 3)
    if table.key_rule is KeyRule.FOLD_BYTES or triples > MOST_TRIPLES:
        return max(1, min(grid, table.modulus) ** 2 // _PAIRS_PER_TRIPLE)
    return triples


def _range(of: Perturbation) -> tuple[int, int]:
    values = [
        value
        for row in range(of.tail.start, of.tail.rows)
        for value, chance in of.distribution(row)
        if chance
    ]
    return min(values), max(values) - min(values) + 1


def _alone(of: Perturbation, row: int, lowest: int, span: int) -> Float64:
    chances = np.zeros(span)
    for value, chance in of.distribution(row):
        if chance:
            chances[value - lowest] = float(chance)
    return chances


def _coupled(
    table: PerturbationTable, rows: Sequence[int], lowest: int, span: int, grid: int
) -> Float64:
    chosen = [table.rows[row] for row in rows]
    numbers = [np.array(row.deviations, dtype=np.int64) - lowest for row in chosen]
    if table.key_rule is KeyRule.FOLD_BYTES:
        first, second, total = (
            np.repeat(number, row.widths) for number, row in zip(numbers, chosen, strict=True)
        )
        return joint_of_folded_keys(first, second, total, span)
    if math.prod(len(row.widths) for row in chosen) > MOST_TRIPLES:
        size = min(grid, table.modulus)
        keys = np.arange(size) * table.modulus // size
        first, second, total = (
            number[np.searchsorted(np.array(row.uppers), keys, side="right")]
            for number, row in zip(numbers, chosen, strict=True)
        )
        return joint_of_keys(first, second, total, span)
    first_row, second_row, total_row = (row.uppers for row in chosen)
    chances = joint_of_intervals(first_row, second_row, total_row, table.modulus)
    joint = np.zeros((span, span, span))
    np.add.at(joint, np.ix_(*numbers), chances)
    return joint
