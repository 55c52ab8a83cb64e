"""The frontier of risk and loss: methods that no other one beats in both."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report.study.results import Study, StudyResult, StudyTable

#: A page has room for the figures of so many methods; of more, those of the frontier are shown.
MOST_SHOWN = 24


def on_frontier(points: Sequence[tuple[float | None, float | None]]) -> list[bool]:
    """Which points no other one dominates: as low in both, and lower in one of them.

    Points of which a figure is missing are on no frontier. Of equal points each is on it.

    Examples:
        >>> on_frontier([(1, 3), (2, 1), (2, 2), (3, 1), (None, 0)])
        [True, True, False, False, False]
    """
    lowest: dict[float, float] = {}
    for x, y in points:
        if x is not None and y is not None:
            lowest[x] = min(y, lowest.get(x, y))
    best: dict[float, float] = {}
    least = float("inf")
    for x in sorted(lowest):
        if lowest[x] < least:
            least = best[x] = lowest[x]
    return [x is not None and y is not None and best.get(x) == y for x, y in points]


def frontier_of(study: Study, table: StudyTable, axis: RiskAxis | None = None) -> frozenset[str]:
    """The titles of the methods on the frontier of risk and mean change, in the main draw.

    Args:
        study: The study.
        table: Its table.
        axis: What stands for risk; by default what stands for it on the maps.
    """
    results = study.mains(table)
    chosen = study.risk_axis if axis is None else axis
    pairs = [(result.loss, result.height(chosen)) for result in results]
    best = on_frontier(pairs)
    return frozenset(
        result.candidate.title for result, kept in zip(results, best, strict=True) if kept
    )


def shown_results(study: Study, table: StudyTable) -> tuple[StudyResult, ...]:
    """The methods whose figures a page shows: all, or those of a frontier where there are many."""
    results = study.mains(table)
    if len(results) <= MOST_SHOWN:
        return results
    shown = dict.fromkeys((RiskAxis.COMPOSITE, RiskAxis.UNTOUCHED, study.risk_axis))
    best = frozenset().union(*(frontier_of(study, table, axis) for axis in shown))
    return tuple(
        result
        for result in results
        if result.candidate.point is None or result.candidate.title in best
    )
