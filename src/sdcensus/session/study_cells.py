"""Cells of a study: how they change, which change most, which are given away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.headings import variable_heading
from sdcensus.model.interior import interior
from sdcensus.model.intervals import Intervals
from sdcensus.model.perturbation import Perturbation
from sdcensus.model.table import Table
from sdcensus.model.table_spec import TableSpec
from sdcensus.risk.feasibility import SMALL

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Cells of each kind that are told.
MOST_CELLS = 5
#: Small counts are looked at apart: a one cannot shrink by two.
GROUPS = ("1", "2", "3 and more")
#: With fewer expected cells, a deviation is counted together with the other rare ones.
_FEWEST_EXPECTED = 5.0


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class CellFigures(Confidential):
    """One cell with what is true of it and what is published.

    Attributes:
        codes, labels: Of each axis.
        words: The cell in words, totals left out.
        true, published: The counts.
        lower, upper: The counts that an intruder finds possible, where that is told.
    """

    codes: tuple[str, ...]
    labels: tuple[str, ...]
    words: str
    true: int
    published: int
    lower: int | None = None
    upper: int | None = None

    def __repr__(self) -> str:
        return f"<CellFigures {'×'.join(self.codes)}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class DeviationProfile(Confidential):
    """How changes are distributed over the non-empty interior cells, beside the design.

    Interior cells share no records, so that their changes are independent whatever the look-up.

    Attributes:
        deviations: From the largest decrease to the largest increase.
        observed: Cells by group (a true count of 1, of 2, of 3 and more) and deviation.
        expected: The same as the design has it, for the same true counts.
        distance: Chi-square of the difference, over the rows of the design.
        freedom: Its degrees of freedom; 0 where there are too few cells to say anything.
        chance: How probable such a distance is where everything is right; ``None`` with no degree
            of freedom.
        impossible: Cells with a change that the design does not have.
    """

    deviations: tuple[int, ...]
    observed: Int64
    expected: Float64
    distance: float
    freedom: int
    chance: float | None
    impossible: int

    def __repr__(self) -> str:
        return "<DeviationProfile: confidential>"


def profile(cube: Cube, table: Table, perturbation: Perturbation) -> DeviationProfile:
    """Compare the changes of interior cells with a design."""
    inside = interior(cube.spec)
    counts = cube.count[inside].reshape(-1)
    change = table.published[inside].reshape(-1) - counts
    kept = counts > 0
    if table.flags is not None:
        kept &= table.flags[inside].reshape(-1) == 0
    counts, change = counts[kept], change[kept]
    most = perturbation.max_deviation
    beyond = int((np.abs(change) > most).sum())
    change = np.clip(change, -most, most) + most
    tail, width = perturbation.tail, 2 * most + 1
    turns = tail.start + (counts - tail.first) % tail.period
    rows = np.where(counts < tail.start, counts, turns)
    groups = np.minimum(counts, len(GROUPS)) - 1
    chances = np.zeros((tail.rows, width))
    for row in range(tail.rows):
        for value, chance in perturbation.distribution(row):
            chances[row, value + most] = float(chance)
    of_group = np.bincount(groups * tail.rows + rows, minlength=len(GROUPS) * tail.rows)
    observed = np.bincount(groups * width + change, minlength=len(GROUPS) * width)
    of_row = np.bincount(rows * width + change, minlength=tail.rows * width)
    by_row = of_row.reshape(tail.rows, width).astype(np.int64)
    distance, freedom = _chi_square(by_row, chances)
    return DeviationProfile(
        deviations=tuple(range(-most, most + 1)),
        observed=observed.reshape(len(GROUPS), width).astype(np.int64),
        expected=of_group.reshape(len(GROUPS), tail.rows) @ chances,
        distance=distance,
        freedom=freedom,
        chance=_chance(distance, freedom),
        impossible=beyond + int(by_row[chances == 0].sum()),
    )


def _chi_square(observed: Int64, chances: Float64) -> tuple[float, int]:
    """Squared differences over expectations, row by row; rare deviations of a row together."""
    distance, freedom = 0.0, 0
    for seen, chance in zip(observed, chances, strict=True):
        expected = seen.sum() * chance
        often = expected >= _FEWEST_EXPECTED
        bins = [*zip(seen[often].tolist(), expected[often].tolist(), strict=True)]
        rest = float(expected[~often].sum())
        if rest >= 1:
            bins.append((int(seen[~often].sum()), rest))
        if len(bins) > 1:
            distance += sum((one - wanted) ** 2 / wanted for one, wanted in bins)
            freedom += len(bins) - 1
    return distance, freedom


def _chance(distance: float, freedom: int) -> float | None:
    if not freedom:
        return None
    # Only here: loading it takes longer than many commands.
    from scipy.special import chdtrc

    return float(chdtrc(freedom, distance))


def worst(
    cube: Cube, table: Table, *, most: int = MOST_CELLS, language: str | None = None
) -> tuple[CellFigures, ...]:
    """The cells that are changed most, by the difference of square roots.

    That lies between the absolute and the relative change, and is what the Hellinger distance
    adds up. Of cells with the same difference, those with more axes at their totals come first:
    more people read them.
    """
    distance = np.abs(np.sqrt(table.published) - np.sqrt(cube.count))
    if table.flags is not None:
        distance = np.where(table.flags == 0, distance, 0.0)
    flat = distance.reshape(-1)
    if not flat.size:
        return ()
    few = min(most, flat.size)
    least = float(np.partition(flat, flat.size - few)[flat.size - few])
    numbers = np.flatnonzero(flat >= least if least else flat > 0)
    return _told(cube, table, numbers, flat[numbers], None, most, language)


def given_away(
    cube: Cube,
    table: Table,
    intervals: Intervals,
    *,
    most: int = MOST_CELLS,
    language: str | None = None,
) -> tuple[CellFigures, ...]:
    """Cells with a true count of 1 or 2 that can be worked out, the most prominent first.

    Those of which one count is left come before those that may be 0 or 1.
    """
    found = intervals.disclosed & (cube.count > 0) & (cube.count <= SMALL)
    numbers = np.flatnonzero(found.reshape(-1))
    exactly = (intervals.lower == intervals.upper).reshape(-1)[numbers].astype(np.float64)
    return _told(cube, table, numbers, exactly, intervals, most, language)


def _told(
    cube: Cube,
    table: Table,
    numbers: npt.NDArray[np.intp],
    weight: Float64,
    intervals: Intervals | None,
    most: int,
    language: str | None,
) -> tuple[CellFigures, ...]:
    places = np.zeros((0, numbers.size), dtype=np.intp)
    if cube.shape:  # a table of one cell has no axes
        places = np.array(np.unravel_index(numbers, cube.shape))
    totals = np.zeros(numbers.size, dtype=np.int64)
    for axis, place in zip(cube.spec.axes, places, strict=True):
        totals += np.array([code.is_total for code in axis.codes])[place]
    chosen = np.lexsort((numbers, -totals, -weight))[:most]
    told = []
    for at in chosen.tolist():
        number = int(numbers[at])
        codes, labels, words = cell_words(cube.spec, places[:, at].tolist(), language)
        told.append(
            CellFigures(
                codes=codes,
                labels=labels,
                words=words,
                true=int(cube.count.reshape(-1)[number]),
                published=int(table.published.reshape(-1)[number]),
                lower=None if intervals is None else int(intervals.lower.reshape(-1)[number]),
                upper=None if intervals is None else int(intervals.upper.reshape(-1)[number]),
            )
        )
    return tuple(told)


def cell_words(
    spec: TableSpec, place: list[int], language: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Codes, labels, and the cell in words: labels of the axes that do not stand at their total.

    A label that begins with a digit says nothing by itself: the variable stands before it.
    """
    codes = [axis.codes[at] for axis, at in zip(spec.axes, place, strict=True)]
    labels = tuple(code.label.show(language) or code.code for code in codes)
    named = [
        f"{variable_heading(axis.variable, language)} {label}" if label[:1].isdigit() else label
        for axis, label, code in zip(spec.axes, labels, codes, strict=True)
        if not code.is_total
    ]
    return tuple(code.code for code in codes), labels, ", ".join(named) or f"all {spec.of.plural}"
