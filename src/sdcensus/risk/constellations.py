"""Risk of single lines of a table: parts, their total, and what is published of them.

A published line gives a true count away when no other count fits it. How likely that is follows
from the noise of the parts and of the total together, and so from how keys are looked up: where
keys add up, the noise of a total depends on that of its parts.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.intervals import SumLines, narrow
from sdcensus.kernels.perturbation.constellations import joint_of_line, joint_of_line_by_keys
from sdcensus.kernels.perturbation.coupling import keys_together
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import constraints
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import only_counts
from sdcensus.model.inference.knowledge import UNBOUNDED, Knowledge
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import (
    DeviationRow,
    KeyRule,
    Lookup,
    Perturbation,
    PerturbationTable,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.schema import LARGEST_MODULUS, Combine
from sdcensus.model.vocabulary import option

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: The most parts of a line whose joint probability is computed.
MOST_PARTS = 4
#: Lines of a cube are looked at if one of their parts counts 1 to so many.
SMALL = 2
#: The most combinations of published values of one line, and of intervals behind them.
MOST_CASES = 1 << 21
#: Up to here the keys of a table can be gone through one by one.
_MOST_KEYS = 4096


class Together(StrEnum):
    """How the noise of the cells of a line hangs together.

    ``ascending``: keys are looked up as they are, so the key of a total is the sum of those of its
    parts. ``hashed``: noise of different sets of records is independent; the same records have
    the same noise. ``independent``: fresh noise for every cell, even for the same records.
    """

    ASCENDING = "ascending"
    HASHED = "hashed"
    INDEPENDENT = "independent"


@dataclass(frozen=True, slots=True, repr=False)
class Constellation(Confidential):
    """A true line and its risk. Very large counts, which noise treats alike, stand for each other.

    Attributes:
        parts: The true counts, ascending.
        total: The true count of the total.
        lines: How many lines are like that.
        risk: The probability that what is published gives a non-empty cell of the line away.
        small_risk: The same for a cell with a true count of 1 or 2.
    """

    parts: tuple[int, ...]
    total: int
    lines: float
    risk: float
    small_risk: float

    def __repr__(self) -> str:
        return "<Constellation: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class ConstellationRisk(Confidential):
    """How many lines of a table are expected to give a cell away, each looked at alone.

    Attributes:
        constellations: The lines, those with most expected disclosures first.
        together: How noise hangs together.
        knowledge: What the intruder is taken to know.
    """

    constellations: tuple[Constellation, ...]
    together: Together
    knowledge: Knowledge

    def __repr__(self) -> str:
        return "<ConstellationRisk: confidential>"

    @property
    def lines(self) -> float:
        """How many lines were looked at."""
        return math.fsum(constellation.lines for constellation in self.constellations)

    @property
    def expected(self) -> float:
        """How many of them are expected to give a non-empty cell away."""
        return math.fsum(
            constellation.lines * constellation.risk for constellation in self.constellations
        )

    @property
    def expected_small(self) -> float:
        """How many of them are expected to give a true 1 or 2 away."""
        return math.fsum(
            constellation.lines * constellation.small_risk for constellation in self.constellations
        )

    @property
    def share(self) -> float | None:
        """The expected share of lines that give a cell away; ``None`` if there is no line."""
        return self.expected / self.lines if self.lines else None

    @property
    def small_share(self) -> float | None:
        """The same for a true 1 or 2."""
        return self.expected_small / self.lines if self.lines else None


# ---------------------------------------------------------------------------------------------
# The probability of one published line


def constellation_probability(
    perturbation: Perturbation,
    counts: Sequence[int],
    published: Sequence[int],
    lookup: Lookup | Together | str,
) -> float:
    """The probability that parts and their total are published as given.

    Exact, in whole numbers of keys. Where keys are looked up as they are it is not the product of
    the probabilities of the cells, and can be larger or smaller than that. A total with one part
    that is not empty has the records of that part, and so its noise.

    Args:
        perturbation: A design, or a table in its own key space.
        counts: The true counts of one to four parts; their sum is that of the total.
        published: What is published for each part, and then for the total.
        lookup: ``ascending`` for a table as it stands, scrambled or not; ``hashed``;
            ``definition``; or
            ``independent``, the product of the probabilities of the cells.
    """
    if not 1 <= len(counts) <= MOST_PARTS or len(published) != len(counts) + 1:
        raise SpecError(
            f"A constellation has one to {MOST_PARTS} parts, and a published value for each of"
            " them and for their total."
        )
    if any(int(count) != count or count < 0 for count in counts):
        raise SpecError("The true counts of a constellation are whole numbers, 0 or more.")
    true = [*counts, sum(counts)]
    wanted = [after - before for before, after in zip(true, published, strict=True)]
    chosen = _named(lookup)
    alone = [
        Fraction(dict(perturbation.distribution(perturbation.tail.row(count))).get(value, 0))
        for count, value in zip(true, wanted, strict=True)
    ]
    there = [at for at, count in enumerate(counts) if count]
    if chosen is Together.INDEPENDENT or not there:
        return float(math.prod(alone))
    # Empty parts have no records, so no keys that could add up; what they become is their own.
    empty = math.prod(
        (alone[at] for at in range(len(counts)) if at not in there), start=Fraction(1)
    )
    if len(there) == 1:
        same = wanted[there[0]] == wanted[-1]
        return float(empty * alone[there[0]]) if same else 0.0
    if chosen is Together.HASHED:
        return float(math.prod(alone))
    table = _table(perturbation, LARGEST_MODULUS)
    places = [_intervals(table.rows[table.tail.row(true[at])], wanted[at]) for at in (*there, -1)]
    found = sum(
        keys_together(intervals[:-1], intervals[-1], table.modulus)
        for intervals in itertools.product(*places)
    )
    return float(empty * Fraction(found, table.modulus ** len(there)))


def _named(lookup: Lookup | Together | str) -> Together:
    if str(lookup) == Lookup.SCRAMBLED:
        raise SpecError(
            "Give the scrambled table itself, with the look-up 'ascending': it is looked up as it"
            " stands."
        )
    if str(lookup) == Lookup.DEFINITION:  # every cell of a line is a question of its own
        return Together.INDEPENDENT
    return option(Together, "look-up", str(lookup))


def _intervals(row: DeviationRow, deviation: int) -> list[tuple[int, int]]:
    """Where the keys of a deviation lie."""
    return [
        (upper - width, upper)
        for value, width, upper in zip(row.deviations, row.widths, row.uppers, strict=True)
        if value == deviation
    ]


def _table(perturbation: Perturbation, modulus: int) -> PerturbationTable:
    if isinstance(perturbation, PerturbationDesign):
        return perturbation.table(modulus)
    if not isinstance(perturbation, PerturbationTable):
        raise SpecError("A design or a table of perturbation is needed.")
    if perturbation.key_rule is not KeyRule.PLAIN:
        raise SpecError("Exact probabilities of constellations exist for keys that add up.")
    return perturbation


# ---------------------------------------------------------------------------------------------
# The risk of lines


def constellation_risk(
    perturbation: Perturbation,
    lookup: Lookup | Together | str,
    lines: Mapping[tuple[int, ...], float] | Cube,
    knowledge: Knowledge | None = None,
    *,
    progress: Progress = no_progress,
) -> ConstellationRisk:
    """How many lines are expected to give a cell away, over everything that may be published.

    A published line gives a cell away if the shuttle algorithm on that line alone leaves one count
    for it, or 0 and 1. Only cells that are truly not empty count.

    Args:
        perturbation: A design, or a table in its own key space.
        lookup: ``ascending`` for a table as it stands, ``hashed`` or ``independent``.
        lines: True counts of the one to four parts of lines, and how many lines are like that. Or
            a cube: its lines with two to four parts, one of which counts 1 or 2.
        knowledge: What the intruder knows; the largest deviation, and that empty cells are
            published as 0 where they are, without it.
        progress: Told how far the work is.
    """
    chosen = _named(lookup)
    stays = perturbation.stay(0) == 1
    known = knowledge or Knowledge(max_deviation=perturbation.max_deviation, zeros_known=stays)
    modulus = LARGEST_MODULUS
    if isinstance(lines, Cube):
        space = lines.origin.key_space
        if chosen is Together.ASCENDING and space.combine is not Combine.SUM:
            raise SpecError("Exact probabilities of constellations exist for keys that add up.")
        modulus = space.modulus
        lines = lines_of(lines)
    elif not isinstance(lines, Mapping):
        raise SpecError(
            "The risk of constellations needs a cube that is held whole, or lines of true counts"
            " with how often each occurs. Take fewer or coarser axes."
        )
    table = _table(perturbation, modulus) if chosen is Together.ASCENDING else None
    noise = _Noise(perturbation, chosen, table, known)
    classes = noise.alike(lines)
    constellations = []
    for at, ((parts, total), often) in enumerate(classes.items()):
        progress("constellations", at / len(classes))
        risk, small_risk = noise.risk(parts, total)
        constellations.append(Constellation(parts, total, often, risk, small_risk))
    constellations.sort(
        key=lambda constellation: (-constellation.lines * constellation.risk, constellation.parts)
    )
    return ConstellationRisk(tuple(constellations), chosen, known)


def lines_of(cube: Cube, *, small: int = SMALL) -> dict[tuple[int, ...], int]:
    """The true lines of a cube with two to four parts, one of which is small, and how often.

    Parts stand in ascending order. Confidential as the cube.
    """
    only_counts(cube.spec)
    sums = constraints(cube.spec)
    parts = sums.values > 0
    rows, columns = sums.rows[parts], sums.columns[parts]
    number = np.bincount(rows, minlength=sums.shape[0])
    short = (number >= 2) & (number <= MOST_PARTS)
    kept = short[rows]
    rows, columns = rows[kept], columns[kept]
    place = np.cumsum(np.where(short, number, 0)) - np.where(short, number, 0)
    line = np.cumsum(short)[rows] - 1
    # Lines with fewer parts are filled up with -1, which sorts in front.
    found = np.full((int(short.sum()), MOST_PARTS), -1, dtype=np.int64)
    found[line, np.arange(rows.size) - place[rows]] = cube.count.reshape(-1)[columns]
    found = np.sort(found[((found >= 1) & (found <= small)).any(axis=1)], axis=1)
    distinct, often = np.unique(found, axis=0, return_counts=True)
    return {
        tuple(count for count in row if count >= 0): times
        for row, times in zip(distinct.tolist(), often.tolist(), strict=True)
    }


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Noise(Confidential):
    """What may happen to lines, worked out once for every combination of rows."""

    perturbation: Perturbation
    together: Together
    table: PerturbationTable | None
    knowledge: Knowledge

    def __repr__(self) -> str:
        return "<Noise: confidential>"

    def alike(
        self, lines: Mapping[tuple[int, ...], float]
    ) -> dict[tuple[tuple[int, ...], int], float]:
        """Lines that differ in large counts only, taken together."""
        classes: dict[tuple[tuple[int, ...], int], float] = {}
        for line, often in lines.items():
            if not 1 <= len(line) <= MOST_PARTS or any(int(c) != c or c < 0 for c in line):
                raise SpecError(
                    f"A constellation has one to {MOST_PARTS} parts, each a count of 0 or more."
                )
            if not (math.isfinite(often) and often >= 0):
                raise SpecError("The frequency of a constellation is a number, 0 or more.")
            parts = tuple(sorted(self._smallest_alike(count) for count in line))
            key = parts, self._smallest_alike(sum(line))
            classes[key] = classes.get(key, 0.0) + often
        return classes

    def _smallest_alike(self, count: int) -> int:
        """The smallest count with the same row, far enough from 0 for nothing to be cut off."""
        tail = self.perturbation.tail
        reach = max(self.perturbation.max_deviation, self.knowledge.max_deviation)
        enough = tail.start + 2 * reach + 1
        return count if count < enough else enough + (count - enough) % tail.period

    def risk(self, parts: tuple[int, ...], total: int) -> tuple[float, float]:
        """The probability that a non-empty cell, and that a true 1 or 2, is given away."""
        line = (*parts, total)
        deviations = [self.perturbation.deviations(count) for count in line]
        if math.prod(deviation.size for deviation in deviations) > MOST_CASES:
            raise SpecError(
                "The deviations of this perturbation are too many to go through all published"
                " lines. Take lines with fewer parts."
            )
        joint = self._joint(line, deviations)
        cases = np.nonzero(joint > 0)
        lower = np.empty((len(line), cases[0].size), dtype=np.int64)
        upper = np.empty_like(lower)
        for at, count in enumerate(line):
            low, high = self.knowledge.bounds_of_values(count + deviations[at])
            possible = self.perturbation.probabilities(count) > 0
            if ((low > count) | (high < count))[possible].any():
                raise SpecError(
                    "What the intruder is taken to know is not true of this perturbation: counts"
                    " are changed by more than the bound, or empty cells are not kept. Give a"
                    " knowledge that is true of it."
                )
            # As distances from the truth, in which the parts add up to the total.
            lower[at], upper[at] = (low - count)[cases[at]], (high - count)[cases[at]]
        _narrow_lines(lower, upper)
        true = np.array(line)[:, None]
        given = (lower == upper) | ((lower + true == 0) & (upper + true == 1))
        chances = joint[cases]
        return (
            float(chances[(given & (true > 0)).any(axis=0)].sum()),
            float(chances[(given & (true > 0) & (true <= SMALL)).any(axis=0)].sum()),
        )

    def _joint(self, line: tuple[int, ...], deviations: list[Int64]) -> Float64:
        """The probability of each combination of deviations of parts and total."""
        alone = [self.perturbation.probabilities(count) for count in line]
        shape = tuple(one.size for one in alone)
        there = [at for at, count in enumerate(line[:-1]) if count]
        coupled = self.together is not Together.INDEPENDENT and bool(there)
        if coupled and len(there) == 1:
            # The total has the records of that part, the same count and the same deviations.
            together, joined = np.diag(alone[there[0]]), [*there, len(line) - 1]
        elif coupled and self.table is not None:
            joined = [*there, len(line) - 1]
            together = _joint_of_keys(self.table, [line[at] for at in joined], deviations, joined)
        else:
            together, joined = np.ones(()), []
        joint = np.ones(shape)
        for at, one in enumerate(alone):
            if at not in joined:
                joint = joint * one.reshape([-1 if at == axis else 1 for axis in range(len(line))])
        if joined:
            joint = joint * together.reshape(
                [shape[axis] if axis in joined else 1 for axis in range(len(line))]
            )
        return joint


def _joint_of_keys(
    table: PerturbationTable, counts: Sequence[int], deviations: Sequence[Int64], at: Sequence[int]
) -> Float64:
    """The joint of parts with records and their total, where keys add up."""
    rows = [table.rows[table.tail.row(count)] for count in counts]
    # A design may have deviations so unlikely that no key is left for them.
    numbers = [
        np.searchsorted(deviations[one], np.array(row.deviations, dtype=np.int64))
        for one, row in zip(at, rows, strict=True)
    ]
    sizes = [deviations[one].size for one in at]
    if math.prod(len(row.widths) + 1 for row in rows) <= MOST_CASES:
        joint = np.zeros(sizes)
        *parts, total = (row.uppers for row in rows)
        np.add.at(joint, np.ix_(*numbers), joint_of_line(parts, total, table.modulus))
        return joint
    keys = [np.repeat(number, row.widths) for number, row in zip(numbers, rows, strict=True)]
    if table.modulus > _MOST_KEYS or math.prod(sizes[:-1]) * table.modulus > 8 * MOST_CASES:
        raise SpecError(
            "The rows of this table are cut into too many intervals for lines with so many parts."
            " Take lines with fewer parts, or the look-up 'hashed'."
        )
    return joint_of_line_by_keys(keys[:-1], keys[-1], sizes, table.modulus)


def _narrow_lines(lower: Int64, upper: Int64) -> None:
    """Run the shuttle on many lines at once, in place: the cells of a line, by cases."""
    number = lower.shape[0] - 1
    none = np.zeros(0, dtype=np.int64)
    start = np.zeros(1, dtype=np.int64)
    along = SumLines(np.array([number]), np.array([0, number]), np.arange(number))
    narrow(lower, upper, [along, SumLines(none, start, none)], unbounded=UNBOUNDED, rounds=10**6)
