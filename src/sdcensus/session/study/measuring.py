"""What one method makes of one table, measured: risk, loss, and what else readers ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SdcensusError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED, Knowledge
from sdcensus.model.perturbation.table import Lookup, Perturbation
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.results import Candidate, Further, InteriorSums, StudyResult
from sdcensus.risk.combined import (
    CellMoves,
    CombinedRisk,
    CountPrior,
    Moves,
    combined_risk,
    observed_risk,
    published_risk,
)
from sdcensus.risk.composite import composite_risk_of
from sdcensus.risk.constellations import Together, constellation_risk, lines_of
from sdcensus.risk.feasibility import SMALL
from sdcensus.risk.information import PublishedChances, information_gain, published_chances
from sdcensus.risk.unperturbed import unperturbed_or_imputed
from sdcensus.session.assess.knowledge import fitting, given_intruder, intruder_of
from sdcensus.session.study.cells import given_away, profile, worst
from sdcensus.utility.association import association_change
from sdcensus.utility.by_row import per_row
from sdcensus.utility.distances import utility_of
from sdcensus.utility.margins import marginal_change
from sdcensus.utility.ranks import rank_change
from sdcensus.utility.withheld import withheld_cells

Int64 = npt.NDArray[np.int64]
Result = TypeVar("Result")

#: The counts about which a published value may tell something, as in the review of the ABS.
LARGEST_COUNT = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrueTable(Confidential):
    """A table of the original records, with what is computed of it once for all methods.

    Attributes:
        cube: True counts.
        lines: Its lines with few parts, one of them small, and how often each occurs.
        printed: Whether figures of the founding study stand beside it.
        language: The language of labels.
    """

    cube: Cube
    lines: Mapping[tuple[int, ...], int]
    printed: bool
    language: str | None

    def __repr__(self) -> str:
        return f"<TrueTable {self.cube.spec.title}: confidential>"


def true_table(cube: Cube, *, printed: bool, language: str | None) -> TrueTable:
    """A table of the original records."""
    return TrueTable(cube, _tried(lambda: lines_of(cube)) or {}, printed, language)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counted(Confidential):
    """What a method was given of a table.

    Attributes:
        counts: The counts of the records that were tabulated: true ones, or derived.
        untouched: Of each interior cell how many of its records are neither perturbed nor imputed.
        cells: Who left each interior cell and who came.
        prior: How often each true count occurs in them; ``None`` where there is no cell.
        moves: How records leave and arrive, by the count of the cell.
        weighted: Whether records stand for several, or for none.
    """

    counts: Int64
    untouched: Int64
    cells: CellMoves
    prior: CountPrior | None
    moves: Moves
    weighted: bool

    def __repr__(self) -> str:
        return "<Counted: confidential>"


def measured(
    true: TrueTable, counted: Counted | None, table: Table, candidate: Candidate
) -> StudyResult:
    """Measure what a method publishes of a table.

    Args:
        true: The table of the original records.
        counted: What the method was given; ``None`` where further measures are not asked for.
        table: What it publishes.
        candidate: The method.
    """
    cube, language = true.cube, true.language
    utility = utility_of(cube, table)
    further = None if counted is None else _further(true, counted, table, candidate)
    risk = composite_risk_of(cube, table).value
    changed = worst(cube, table, language=language)
    withheld = None if table.flags is None else withheld_cells(cube, table)
    if candidate.before or candidate.method is None:
        # What sums narrow down are counts of the changed records, and of nobody.
        return StudyResult(
            candidate=candidate,
            disclosed=None,
            cells=utility.nonzero,
            small_disclosed=None,
            small_cells=utility.small_cells,
            risk=risk,
            utility=utility,
            profile=None,
            worst=changed,
            given_away=(),
            further=further,
            withheld=withheld,
        )
    method, known = candidate.method, candidate.knowledge
    intruder = (
        intruder_of(cube, table, method)
        if known is None
        else given_intruder(cube, table, method, known)
    )
    if intruder.shown is not None:
        # A count that may be shown is no secret, be it computed where it is closed for others. But
        # whoever compares methods wants to know of ones and twos that everybody reads.
        smallest = max(method.first.smallest_shown or 0, SMALL + 1)
        intruder = replace(intruder, shown=cube.count >= smallest)
    fits = fitting(cube, intruder, intruder.known)
    design = candidate.perturbation
    return StudyResult(
        candidate=candidate,
        disclosed=fits.disclosed,
        cells=fits.cells,
        small_disclosed=fits.small_disclosed,
        small_cells=fits.small_cells,
        risk=risk,
        utility=utility,
        profile=None if design is None else profile(cube, table, design),
        worst=changed,
        given_away=given_away(cube, table, fits.intervals, language=language),
        by_interior=interior_sums(cube, table, intruder.known) if true.printed else None,
        further=further,
        withheld=withheld,
    )


def _tried(make: Callable[[], Result]) -> Result | None:
    """A measure that may have no meaning for a table."""
    try:
        return make()
    except SdcensusError:
        return None


def _further(true: TrueTable, counted: Counted, table: Table, candidate: Candidate) -> Further:
    cube = true.cube
    inside = interior(cube.spec)
    counts, published = cube.count[inside], table.published[inside]
    shown = None if table.flags is None else table.flags[inside] == Mark.NONE
    given = table.published[inside] if shown is None else np.where(shown, published, 0)
    few = (given >= 1) & (given <= SMALL)
    margins = _tried(lambda: marginal_change(cube, table)) or ()
    percents = [margin.percent for margin in margins if margin.percent is not None]
    largest = [margin.largest_percent for margin in margins if margin.largest_percent is not None]
    ranks = _tried(lambda: rank_change(cube, table))
    associations = _tried(lambda: association_change(cube, table)) or ()
    changes = [abs(change.percent) for change in associations if change.percent is not None]
    return Further(
        unperturbed=unperturbed_or_imputed(
            counts, counted.untouched, counted.counts[inside], published, shown=shown
        ),
        shown_small=int(few.sum()),
        shown_small_true=int((few & (given == counts)).sum()),
        rank_change=None if ranks is None else ranks.percent,
        marginal_change=float(np.mean(percents)) if percents else None,
        largest_marginal_change=max(largest) if largest else None,
        information_gain=_gain(counts, published, shown, candidate),
        constellation_share=_constellations(true, candidate),
        association_change=float(np.mean(changes)) if changes else None,
        rows=_tried(lambda: per_row(cube, table)),
        by_formula=_by_formula(counted, shown, candidate),
        by_count=_by_count(counted, published, shown, candidate),
    )


def own_noise(candidate: Candidate) -> Perturbation | None:
    """The noise that every published cell has by itself; ``None`` where it is not as simple."""
    return None if candidate.before else _cell_noise(candidate)


def _cell_noise(candidate: Candidate) -> Perturbation | None:
    """The noise that is added to every count, of whichever records."""
    method = candidate.method
    if method is None or method.steps or not method.first.has_own_noise:
        return None
    return method.noise


def _follows_design(
    counted: Counted, shown: npt.NDArray[np.bool_] | None, candidate: Candidate
) -> bool:
    """Whether what is published follows from counts by probabilities that are known."""
    if candidate.method is None:
        return True
    design = not counted.weighted and shown is None and not candidate.method.exempt_tables
    return design and _cell_noise(candidate) is not None


def _by_formula(
    counted: Counted, shown: npt.NDArray[np.bool_] | None, candidate: Candidate
) -> CombinedRisk | None:
    """What small published values say, by changes of records and noise together."""
    if counted.prior is None or not _follows_design(counted, shown, candidate):
        return None
    return _seen(combined_risk(_cell_noise(candidate), counted.prior, counted.moves))


def _by_count(
    counted: Counted,
    published: Int64,
    shown: npt.NDArray[np.bool_] | None,
    candidate: Candidate,
) -> CombinedRisk:
    """The same as it is in the records, with the noise to be expected; or as published."""
    if _follows_design(counted, shown, candidate):
        return _seen(observed_risk(counted.cells, _cell_noise(candidate)))
    values = published if shown is None else np.where(shown, published, -1)
    return published_risk(counted.cells, values.reshape(-1))


def _seen(risk: CombinedRisk) -> CombinedRisk:
    """Values of which a cell is to be expected: of others a share has no meaning."""
    return CombinedRisk(tuple(value for value in risk.values if value.cells >= _LEAST_CELLS))


#: Fewer cells than this are none.
_LEAST_CELLS = 0.5


def _gain(
    counts: Int64, published: Int64, shown: npt.NDArray[np.bool_] | None, candidate: Candidate
) -> float | None:
    """What published values tell about counts of 0 to 5, for the counts of the table.

    By the probabilities of the method where each cell has noise of its own, else by what the table
    itself shows.
    """
    used = counts <= LARGEST_COUNT
    values = published if shown is None else np.where(shown, published, -1)
    true, value = counts[used], values[used]
    if not true.size:
        return None
    often = np.bincount(true, minlength=LARGEST_COUNT + 1)
    kinds = np.flatnonzero(often)
    noise = own_noise(candidate)
    rows: list[PublishedChances]
    if noise is not None and shown is None:
        rows = [published_chances(noise, int(kind)) for kind in kinds]
    else:
        rows = []
        for kind in kinds:
            seen, times = np.unique(value[true == kind], return_counts=True)
            shares = times / times.sum()
            rows.append(dict(zip(seen.tolist(), shares.tolist(), strict=True)))
    prior = often[kinds] / often.sum()
    return _tried(lambda: information_gain(rows, prior.tolist()))


def _constellations(true: TrueTable, candidate: Candidate) -> float | None:
    """The expected share of lines that give a cell away, where the noise is known."""
    noise = own_noise(candidate)
    if noise is None or not true.lines:
        return None
    together = None if candidate.draw is None else _TOGETHER[candidate.draw]
    if together is None:
        lookup = getattr(candidate.method, "lookup", None)
        plain = lookup is not None and Lookup(lookup) is Lookup.ASCENDING
        together = Together.ASCENDING if plain else Together.HASHED
    known = candidate.knowledge
    lines = {parts: float(often) for parts, often in true.lines.items()}
    result = _tried(lambda: constellation_risk(noise, together, lines, known))
    return None if result is None else result.share


_TOGETHER = {
    NoiseDraw.ASCENDING: Together.ASCENDING,
    NoiseDraw.INDEPENDENT: Together.INDEPENDENT,
    NoiseDraw.HASHED: Together.HASHED,
}


def interior_sums(cube: Cube, table: Table, knowledge: Knowledge) -> InteriorSums:
    """Narrow interior cells and one-axis totals by each other; other totals stay as published.

    So the founding study seems to have counted: its printed shares agree with an intruder who does
    not compare these totals with those above them. The study does not say it; all sums together
    give away more.
    """
    lower, upper = knowledge.bounds(table)
    looked_at = totals_of(cube.spec) <= 1
    intervals = shuttle(
        cube.spec, np.where(looked_at, lower, 0), np.where(looked_at, upper, UNBOUNDED)
    )
    low = np.where(looked_at, intervals.lower, lower)
    high = np.where(looked_at, intervals.upper, upper)
    known = (low == high) | ((low == 0) & (high == 1))
    there = cube.count > 0
    small = there & (cube.count <= SMALL)
    return InteriorSums(_share(known, there), _share(known, small))


def totals_of(spec: TableSpec) -> npt.NDArray[np.int64]:
    """For each cell, on how many axes it stands at a total or a coarser level."""
    totals = np.zeros(spec.shape, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        place = [1] * len(spec.shape)
        place[at] = -1
        outside = np.arange(len(axis.codes)) >= axis.blocks[0].size
        totals += outside.astype(np.int64).reshape(place)
    return totals


def _share(known: npt.NDArray[np.bool_], of: npt.NDArray[np.bool_]) -> float | None:
    cells = int(of.sum())
    return int((known & of).sum()) / cells if cells else None
