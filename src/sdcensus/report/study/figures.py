"""The measures of a study by their names, and the printed figures beside them. Confidential."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.published import ORIGINAL, Figures, Published
from sdcensus.report.study.results import Study, StudyResult, StudyTable
from sdcensus.utility.by_row import Dispersion


def measures(result: StudyResult) -> dict[str, float | None]:
    """The measures of Table 10, by their names; of withheld cells as a reader fills them in."""
    utility = result.utility
    return {
        "disclosed_cells_pct": percentage(result.share),
        "R": result.risk,
        "mean_absolute_distance": result.loss,
        "mean_relative_distance": utility.mean_relative_distance,
        "hellinger": result.hellinger,
        "small_cells_disclosed_pct": percentage(result.small_share),
        "mean_absolute_distance_small": utility.mean_absolute_distance_small,
    }


#: Further measures by their names, in percent.
FURTHER = (
    "untouched_cells_pct",
    "untouched_records_pct",
    "claims_right_pct",
    "rank_change_pct",
    "marginal_change_pct",
    "information_gain_pct",
    "constellations_pct",
)


#: What a published 1, 2 or 3 says, in percent: by formula and as measured.
COMBINED = (
    "small_true_formula_pct",
    "small_true_measured_pct",
    "claim_formula_pct",
    "claim_measured_pct",
)


def combined_figures(result: StudyResult) -> dict[str, float | None]:
    """Chances that a small published cell is true, and a claim right, in percent."""
    figures = result.further
    risks = (None, None) if figures is None else (figures.by_formula, figures.by_count)
    values = [
        *(None if risk is None else percentage(risk.share_true) for risk in risks),
        *(None if risk is None else percentage(risk.worst_claim) for risk in risks),
    ]
    return dict(zip(COMBINED, values, strict=True))


def further_figures(result: StudyResult) -> dict[str, float | None]:
    """Further measures by their names, in percent; all missing where none was measured."""
    figures = result.further
    if figures is None:
        return dict.fromkeys((*FURTHER, "largest_marginal_change_pct", "association_change_pct"))
    return {
        "untouched_cells_pct": percentage(figures.unperturbed.share_of_cells),
        "untouched_records_pct": percentage(figures.unperturbed.share_of_records),
        "claims_right_pct": percentage(figures.claims_right),
        "rank_change_pct": figures.rank_change,
        "marginal_change_pct": figures.marginal_change,
        "information_gain_pct": percentage(figures.information_gain),
        "constellations_pct": percentage(figures.constellation_share),
        "largest_marginal_change_pct": figures.largest_marginal_change,
        "association_change_pct": figures.association_change,
    }


def ons_figure(
    result: StudyResult, measure: str
) -> tuple[float | None, float | None, float | None]:
    """A figure with the variance between areas and the standard error of its mean."""
    rows = None if result.further is None else result.further.rows
    by_row: dict[str, Dispersion | None] = {
        "hellinger": None if rows is None else rows.hellinger,
        "relative": None if rows is None else rows.relative_distance,
        "absolute": None if rows is None else rows.absolute_distance,
        "variance_ratio": None if rows is None else rows.variance_ratio,
    }
    if measure in by_row:
        mean = by_row[measure]
        if mean is None:
            return None, None, None
        return mean.mean, mean.variance, mean.standard_error
    figures = further_figures(result)
    return figures[_FIGURES[measure]], None, None


_FIGURES = {
    "untouched_cells": "untouched_cells_pct",
    "untouched_records": "untouched_records_pct",
    "association": "association_change_pct",
    "ranks": "rank_change_pct",
    "margins": "marginal_change_pct",
    "margins_largest": "largest_marginal_change_pct",
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


def compared_figures(
    study: Study, table: StudyTable, published: Published
) -> dict[str, dict[str, float | None]]:
    """The figures of each method of a table, counted as the printed ones seem to be."""
    every = {}
    for main in study.mains(table):
        mine = measures(main)
        if published.lettered:
            mine |= {name: ons_figure(main, name)[0] for name in published.measures}
        else:
            mine["disclosed_cells_pct"], mine["small_cells_disclosed_pct"] = counted_as_printed(
                main
            )
        every[main.candidate.name] = mine
    return every


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
        alike = compared_figures(study, table, published)
        for name in study.names:
            printed = published.of(table, name)
            main = next((main for main in study.mains(table) if main.candidate.name == name), None)
            if main is not None:
                yield from _beside(table, name, alike[name], printed, measures(main))
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
