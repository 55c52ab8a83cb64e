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
from sdcensus.model.gaps import AxisGaps, gaps
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.table import Table

NAME = "gaps"
#: From this count on, the noise of a cell no longer depends on its count.
LARGE = 10
#: Fewer lines than this say nothing reliable.
ENOUGH = 30
#: Counts up to this are looked at for blocked ones.
_MOST_BLOCKED = 9


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
class _Lines:
    """Lines of several tables: gap, parts, parts above 0, large parts, whether the total is."""

    gap: Int64
    parts: Int64
    positive: Int64
    large: Int64
    total: Int64


def learn(targets: Sequence[Target]) -> Learned:
    """Find out about the noise of tables that were made in the same way."""
    lines = _lines(targets)
    variance, used, large = _variance(lines)
    adds_up = bool(lines.gap.size) and not lines.gap.any()
    two = (lines.large == 2) & (lines.positive == 2) & (lines.total >= LARGE)
    share = float((lines.gap[two] == 0).mean()) if two.any() else None
    expected = None if variance is None else min(1.0, 1 / math.sqrt(6 * math.pi * variance))
    base, blocked = _values(targets)
    coupled = None
    if share is not None and expected is not None and int(two.sum()) >= ENOUGH and base == 1:
        # A third of what independent noise gives is far outside what chance can bring.
        coupled = True if share < expected / 3 else (False if share > expected * 2 / 3 else None)
    return Learned(
        lines=int(lines.gap.size),
        variance=variance,
        variance_lines=used,
        large_lines=large,
        deviation_at_least=_deviation(lines),
        two_part_lines=int(two.sum()),
        share_without_gap=share,
        share_if_independent=expected,
        coupled=coupled,
        adds_up=adds_up,
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
        one = AttackResult(NAME, (), _sentences(family, learned), MappingProxyType(figures))
        result = merged(result, one)
    return result


def _lines(targets: Sequence[Target]) -> _Lines:
    empty = np.zeros(0, dtype=np.int64)
    found: list[tuple[Int64, ...]] = [(empty,) * 5]
    for one in targets:
        table = one.table
        large = Table(table.spec, np.asarray(table.published >= LARGE, dtype=np.int64))
        for seen, big in zip(gaps(table).along, gaps(large).along, strict=True):
            found.append(_flat(seen, big))
    return _Lines(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _flat(seen: AxisGaps, big: AxisGaps) -> tuple[Int64, ...]:
    parts = seen.parts_of_line()
    kept = seen.shown & (parts > 0)
    arrays = (seen.gap, parts, seen.nonzero_parts, big.nonzero_parts, seen.total)
    return tuple(array[kept] for array in arrays)


def _variance(lines: _Lines) -> tuple[float | None, int, bool]:
    """The mean square of gaps for each noisy cell.

    A line with one part above 0 may hold the same records as its total, and the same records have
    the same noise: it says nothing. Best are lines of large counts only, where every part is known
    to be noisy and the noise does not depend on the count.
    """
    if not lines.gap.any():
        return None, 0, False
    chosen = (lines.large == lines.parts) & (lines.parts >= 2) & (lines.total >= LARGE)
    large = int(chosen.sum()) >= ENOUGH
    if not large:
        chosen = (lines.positive >= 2) & (lines.total > 0)
    if not chosen.any():
        return None, 0, False
    squares = lines.gap[chosen].astype(np.float64) ** 2
    noisy = lines.positive[chosen] + 1
    return float((squares / noisy).mean()), int(chosen.sum()), large


def _deviation(lines: _Lines) -> int:
    """The smallest bound that no line breaks.

    A value that is published as 0 was lowered or left alone, so such a part cannot have made a sum
    too large, nor such a total a gap above 0.
    """
    above = np.where(lines.gap > 0, lines.gap, 0)
    below = np.where(lines.gap < 0, -lines.gap, 0)
    needed = np.maximum(-(-above // (lines.parts + 1)), -(-below // (lines.positive + 1)))
    return int(needed.max(initial=0))


def _values(targets: Sequence[Target]) -> tuple[int, int]:
    """The base of rounding, and the counts that never appear."""
    values = np.concatenate([one.table.published.reshape(-1) for one in targets])
    values = values[values > 0]
    if values.size < ENOUGH:
        return 1, 0
    base = int(np.gcd.reduce(values))
    smallest = int(values.min())
    near = int(((values >= smallest) & (values < 2 * smallest)).sum())
    blocked = smallest - 1 if smallest - 1 <= _MOST_BLOCKED and near >= ENOUGH else 0
    return base, blocked


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
            f"{learned.share_without_gap:.0%} of {learned.two_part_lines:,} lines of two large"
            f" parts add up ({learned.share_if_independent:.0%} would with independent noise):"
            f" the noise of a total {how} of its parts."
        )
    if learned.rounding_base > 1:
        said.append(f"Every published count is a multiple of {learned.rounding_base}.")
    elif learned.blocked:
        upto = "1" if learned.blocked == 1 else f"1 to {learned.blocked}"
        said.append(f"Counts of {upto} are never published.")
    return tuple(said)
