"""What gaps between published totals and their published parts give away about the noise.

A gap is the noise of the total less the noise of the parts. Its variance is that of one cell
times the number of noisy cells, whatever the look-up, so the variance is never secret where parts
and totals are both published. A gap larger than so many cells can bring shows that the largest
deviation is larger still.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import AttackResult, Figure, Int64, merged
from sdcensus.attack.targets import Target, families, scope
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.gaps import AxisGaps, gaps
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text

NAME = "gaps"
#: From this count on, the noise of a cell no longer depends on its count.
LARGE = 10
#: Fewer lines than this say nothing reliable.
ENOUGH = 30
#: Counts up to this are looked at for blocked ones.
_MOST_BLOCKED = 9
_SMALL = 2 * (_MOST_BLOCKED + 1)


@dataclass(frozen=True, slots=True)
class Learned:
    """What published tables of one making tell about their noise. Public.

    Attributes:
        lines: Totals that were compared with their parts.
        variance: An estimate of the variance of one cell; ``None`` where nothing can be said.
        variance_lines: The lines that it rests on.
        large_lines: Whether these hold large counts only, as they should.
        deviation_at_least: The largest deviation is at least this.
        two_part_lines: Lines with two large parts.
        share_without_gap: Which share of those adds up; ``None`` where there are none.
        share_if_independent: What it would be for independent noise of this variance.
        coupled: Whether the noise of a total hangs on the noise of its parts (an ascending
            look-up); ``None`` where nothing can be said.
        adds_up: Whether every total is the sum of its parts, so that gaps say nothing.
        rounding_base: What all published counts are multiples of; 1 if of nothing.
        blocked: Counts from 1 to this never appear, though somewhat larger ones do.
    """

    lines: int
    variance: float | None
    variance_lines: int
    large_lines: bool
    deviation_at_least: int
    two_part_lines: int
    share_without_gap: float | None
    share_if_independent: float | None
    coupled: bool | None
    adds_up: bool
    rounding_base: int
    blocked: int


@dataclass(frozen=True, slots=True)
class _Tally:
    """What the lines and values of one table come to; tallies of several tables can be added.

    Attributes:
        lines: How many there are.
        uneven: Those with a gap.
        square: For lines of large counts only, and for lines with two parts above 0: the sum of
            squares of gaps for each noisy cell.
        used: How many lines these are.
        deviation: The smallest bound of changes that no line breaks.
        two: Lines of two large parts, and those of them that add up.
        values: How many values above 0 there are.
        base: What all of them are multiples of.
        small: How often each value up to twice the largest that is looked at for blocked ones
            appears, from 0 on.
    """

    lines: int = 0
    uneven: int = 0
    square: tuple[float, float] = (0.0, 0.0)
    used: tuple[int, int] = (0, 0)
    deviation: int = 0
    two: tuple[int, int] = (0, 0)
    values: int = 0
    base: int = 0
    small: tuple[int, ...] = (0,) * _SMALL

    def __add__(self, other: _Tally) -> _Tally:
        return _Tally(
            self.lines + other.lines,
            self.uneven + other.uneven,
            (self.square[0] + other.square[0], self.square[1] + other.square[1]),
            (self.used[0] + other.used[0], self.used[1] + other.used[1]),
            max(self.deviation, other.deviation),
            (self.two[0] + other.two[0], self.two[1] + other.two[1]),
            self.values + other.values,
            math.gcd(self.base, other.base),
            tuple(one + more for one, more in zip(self.small, other.small, strict=True)),
        )


def learn(targets: Sequence[Target]) -> Learned:
    """Find out about the noise of tables that were made in the same way."""
    tally = _Tally()
    for target in targets:
        tally += _tally_of(target)
    variance, used, large = _variance(tally)
    lines, without = tally.two
    share = without / lines if lines else None
    expected = None if variance is None else min(1.0, 1 / math.sqrt(6 * math.pi * variance))
    base, blocked = _values(tally)
    coupled = None
    if share is not None and expected is not None and lines >= ENOUGH and base == 1:
        # A third of what independent noise gives is far outside what chance can bring.
        coupled = True if share < expected / 3 else (False if share > expected * 2 / 3 else None)
    return Learned(
        lines=tally.lines,
        variance=variance,
        variance_lines=used,
        large_lines=large,
        deviation_at_least=tally.deviation,
        two_part_lines=lines,
        share_without_gap=share,
        share_if_independent=expected,
        coupled=coupled,
        adds_up=tally.lines > 0 and tally.uneven == 0,
        rounding_base=base,
        blocked=blocked,
    )


def attack_gaps(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Estimate the variance and a lower bound of the largest deviation; claims nothing of cells."""
    result = AttackResult(NAME)
    every = families(targets)
    for at, family in enumerate(every):
        progress("gaps between totals and parts", at / len(every))
        learned = learn(family)
        figures: dict[str, Figure] = {
            f"{name}{f' ({family[0].name})' if len(every) > 1 else ''}": value
            for name, value in _figures(learned).items()
        }
        attack_result = AttackResult(
            NAME, (), _sentences(family, learned), MappingProxyType(figures)
        )
        result = merged(result, attack_result)
    return result


def _tally_of(target: Target) -> _Tally:
    """The tally of one table, which every attack asks for."""
    if NAME not in target.noted:
        table = target.table
        large = Table(table.spec, np.asarray(table.published >= LARGE, dtype=np.int64))
        tally = _of_values(table.published)
        for seen, big in zip(gaps(table).along, gaps(large).along, strict=True):
            tally += _of_lines(seen, big)
        target.noted[NAME] = tally
    noted: _Tally = target.noted[NAME]
    return noted


def _of_values(published: Int64) -> _Tally:
    values = published[published > 0]
    small = np.bincount(values[values < _SMALL], minlength=_SMALL)
    base = int(np.gcd.reduce(values)) if values.size else 0
    return _Tally(values=int(values.size), base=base, small=tuple(small.tolist()))


def _of_lines(seen: AxisGaps, big: AxisGaps) -> _Tally:
    parts = seen.parts_of_line()
    kept = seen.shown & (parts > 0)
    gap, parts, positive, large, total = (
        array[kept]
        for array in (seen.gap, parts, seen.nonzero_parts, big.nonzero_parts, seen.total)
    )
    # A line with one part above 0 may hold the same records as its total, and the same records
    # have the same noise: it says nothing. Best are lines of large counts only, where every part
    # is known to be noisy and the noise does not depend on the count.
    best = (large == parts) & (parts >= 2) & (total >= LARGE)
    some = (positive >= 2) & (total > 0)
    squares = gap.astype(np.float64) ** 2 / (positive + 1)
    two = (large == 2) & (positive == 2) & (total >= LARGE)
    # A value that is published as 0 was lowered or left alone, so such a part cannot have made a
    # sum too large, nor such a total a gap above 0.
    needed = np.where(gap > 0, -(-gap // (parts + 1)), -(gap // (positive + 1)))
    return _Tally(
        lines=int(gap.size),
        uneven=int(np.count_nonzero(gap)),
        square=(float(squares[best].sum()), float(squares[some].sum())),
        used=(int(np.count_nonzero(best)), int(np.count_nonzero(some))),
        deviation=int(needed.max(initial=0)),
        two=(int(np.count_nonzero(two)), int(np.count_nonzero(two & (gap == 0)))),
    )


def _variance(tally: _Tally) -> tuple[float | None, int, bool]:
    """The mean square of gaps for each noisy cell, the lines, and whether these are the best."""
    if not tally.uneven:
        return None, 0, False
    large = tally.used[0] >= ENOUGH
    used = tally.used[0 if large else 1]
    if not used:
        return None, 0, False
    return tally.square[0 if large else 1] / used, used, large


def _values(tally: _Tally) -> tuple[int, int]:
    """The base of rounding, and the counts that never appear."""
    if tally.values < ENOUGH:
        return 1, 0
    smallest = next((value for value, times in enumerate(tally.small) if times), _SMALL)
    near = sum(tally.small[smallest : 2 * smallest])
    blocked = smallest - 1 if smallest - 1 <= _MOST_BLOCKED and near >= ENOUGH else 0
    return tally.base, blocked


def _figures(learned: Learned) -> dict[str, Figure]:
    return {
        "lines": learned.lines,
        "variance": learned.variance,
        "deviation at least": learned.deviation_at_least,
        "lines of two large parts": learned.two_part_lines,
        "share of them that adds up": learned.share_without_gap,
        "the same for independent noise": learned.share_if_independent,
        "rounding base": learned.rounding_base,
        "blocked counts up to": learned.blocked,
    }


def _sentences(family: Sequence[Target], learned: Learned) -> tuple[str, ...]:
    said = []
    where = scope(family)
    if not learned.lines:
        said.append(f"From {where}: no total stands beside its parts, so there are no gaps.")
    elif learned.adds_up:
        sums = "the only total is the sum of its parts"
        if learned.lines > 1:
            sums = f"all {learned.lines:,} totals are the sums of their parts"
        said.append(
            f"From {where}: {sums}. Gaps then say"
            " nothing about the noise: counts are exact, or totals were added up from noisy parts."
        )
    else:
        lines = "1 total stands beside its parts"
        if learned.lines > 1:
            lines = f"{learned.lines:,} totals stand beside their parts"
        text = f"From {where}: {lines}. "
        text += f"At least one count was changed by {learned.deviation_at_least} or more"
        if learned.variance is not None:
            text += f"; the variance of one count is about {learned.variance:.2f}"
            text += "" if learned.large_lines else " (from lines with small counts, so roughly)"
        said.append(f"{text}.")
    if learned.coupled is not None and learned.share_without_gap is not None:
        how = "hangs on the noise" if learned.coupled else "is independent"
        said.append(
            f"{share_text(learned.share_without_gap, digits=0)} of {learned.two_part_lines:,}"
            " lines of two large"
            f" parts add up ({share_text(learned.share_if_independent, digits=0)} would with"
            " independent noise):"
            f" the noise of a total {how} of its parts."
        )
    if learned.rounding_base > 1:
        said.append(f"Every published count is a multiple of {learned.rounding_base}.")
    elif learned.blocked:
        upto = "1" if learned.blocked == 1 else f"1 to {learned.blocked}"
        said.append(f"Counts of {upto} are never published.")
    return tuple(said)
