"""The measures of a study by their names, and the printed figures beside them. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.published import ORIGINAL, Figures, Published
from sdcensus.report.study.results import Study, StudyResult, StudyTable


def measures(result: StudyResult) -> dict[str, float | None]:
    """The measures of Table 10, by their names."""
    utility = result.utility
    return {
        "disclosed_cells_pct": percentage(result.share),
        "R": result.risk,
        "mean_absolute_distance": utility.mean_absolute_distance,
        "mean_relative_distance": utility.mean_relative_distance,
        "hellinger": utility.hellinger_normalised,
        "small_cells_disclosed_pct": percentage(result.small_share),
        "mean_absolute_distance_small": utility.mean_absolute_distance_small,
    }


def percentage(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share


@dataclass(frozen=True, slots=True, repr=False)
class Compared:
    """A printed figure beside ours; shares of disclosed cells by sums of interior cells alone."""

    table: str
    scheme: str
    measure: str
    printed: float
    ours: float | None
    all_sums: float | None = None


def counted_as_printed(result: StudyResult) -> tuple[float | None, float | None]:
    """Disclosed cells and small cells in percent, by the sums that the printed figures fit."""
    alone = result.by_interior
    if alone is None:
        return percentage(result.share), percentage(result.small_share)
    return percentage(alone.share), percentage(alone.small_share)


def compared(study: Study, published: Published) -> Iterator[Compared]:
    """Every printed figure that has one of ours beside it."""
    for table in study.tables:
        of = table.original
        original: dict[str, float | None] = {
            "interior_cells": of.interior_cells,
            "mean_cell_size": of.mean_cell_size,
            "pct_cells_1_2": 100 * of.share_small,
            "pct_cells_0_1_2": 100 * of.share_small_or_empty,
            "R": of.risk,
        }
        yield from _beside(table, ORIGINAL, original, published.of(table))
        for name in study.names:
            printed = published.of(table, name)
            main = next((main for main in study.mains(table) if main.candidate.name == name), None)
            if main is not None:
                every = measures(main)
                mine = dict(every)
                mine["disclosed_cells_pct"], mine["small_cells_disclosed_pct"] = counted_as_printed(
                    main
                )
                yield from _beside(table, name, mine, printed, every)
            fresh = table.result(name, NoiseDraw.INDEPENDENT)
            if fresh is not None:
                names = "disclosed_pct_independent", "small_disclosed_pct_independent"
                alone = dict(zip(names, counted_as_printed(fresh), strict=True))
                shares = percentage(fresh.share), percentage(fresh.small_share)
                every = dict(zip(names, shares, strict=True))
                yield from _beside(table, name, alone, printed, every)


def _beside(
    table: StudyTable,
    scheme: str,
    mine: Mapping[str, float | None],
    printed: Figures,
    every: Mapping[str, float | None] | None = None,
) -> Iterator[Compared]:
    for measure, ours in mine.items():
        if measure in printed:
            by_all = None
            if every is not None and "disclosed" in measure:
                by_all = every[measure]
            yield Compared(table.name, scheme, measure, printed[measure], ours, by_all)
