"""What a study found: methods on tables, what each gives away, what each costs. Confidential."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.method import Method
from sdcensus.model.confidential import Confidential
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import NoiseDraw, RiskAxis
from sdcensus.risk.combined.chances import CombinedRisk
from sdcensus.risk.unperturbed import Unperturbed
from sdcensus.utility.against_design import ChiSquare
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.distances import Utility
from sdcensus.utility.withheld import WithheldCells

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Small counts are looked at apart: a one cannot shrink by two.
GROUPS = ("1", "2", "3 and more")
#: A name of more letters needs room of its own.
LONG_NAME = 34


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
        test: The chi-square test of the changes against the rows of the design.
    """

    deviations: tuple[int, ...]
    observed: Int64
    expected: Float64
    test: ChiSquare

    def __repr__(self) -> str:
        return "<DeviationProfile: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class InteriorSums(Confidential):
    """Cells that sums of interior cells give away, over all non-empty cells.

    Attributes:
        share: Of the non-empty cells, totals included; ``None`` if there is none.
        small_share: Of the cells with a true count of 1 or 2; ``None`` if there is none.
    """

    share: float | None
    small_share: float | None

    def __repr__(self) -> str:
        return "<InteriorSums: confidential>"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Candidate(Confidential):
    """A method that takes part in a study.

    Attributes:
        name: What it is called; the same for all draws of a scheme.
        method: How a cube becomes a table; ``None`` where counts are published as they are.
        knowledge: What an intruder is taken to know about it; ``None`` for what the method says.
        draw: How its noise is drawn; ``None`` for a method that is no scheme.
        perturbation: What its changes should look like, if that is known.
        before: What is done to the records before they are counted: pre-tabular methods as they
            are written in one line, in their order.
        point: Its number among the points of a grid; ``None`` for a method that is none.
        optional: Whether it is left out, with the reason, where it cannot protect a table.
    """

    name: str
    method: Method | None
    knowledge: Knowledge | None = None
    draw: NoiseDraw | None = None
    perturbation: Perturbation | None = None
    before: tuple[str, ...] = ()
    point: int | None = None
    optional: bool = False

    def __repr__(self) -> str:
        return f"<Candidate {self.title}: confidential parameters>"

    @property
    def label(self) -> str:
        """Its name where there is little room: the number and the values of a point."""
        if self.point is None:
            return self.name
        number, *settings = self.name.split(" ")
        return " · ".join([number, *(word.partition("=")[2] or word for word in settings)])

    @property
    def title(self) -> str:
        """The name and how it is drawn."""
        return self.name if self.draw is None else f"{self.name}, {self.draw}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Original(Confidential):
    """A table as it is before protection: how detailed, how sparse.

    Attributes:
        population: How many units are counted in it.
        interior_cells: Cells of which all others are sums.
        mean_cell_size: Units in an interior cell, on average.
        share_small: The share of interior cells with 1 or 2 units.
        share_small_or_empty: The same with empty ones.
        risk: The composite risk ``R``; ``None`` where it has no meaning.
        warnings: What to know before reading the risk.
    """

    population: int
    interior_cells: int
    mean_cell_size: float
    share_small: float
    share_small_or_empty: float
    risk: float | None
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "<Original: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Further(Confidential):
    """Further measures of one method on one table; ``None`` where one has no meaning.

    Attributes:
        unperturbed: The measure DR of the ONS: small interior cells, and their records, that are
            neither perturbed nor imputed.
        shown_small: How many interior cells are published as 1 or 2.
        shown_small_true: How many of them are the true count: claims about them are right.
        rank_change: Areas that change their tenth when they are ranked, in percent.
        marginal_change: The mean change of published margins of one axis, in percent.
        largest_marginal_change: The largest of them.
        information_gain: The share of the uncertainty about a count of 0 to 5 that its published
            value takes away, for the counts of this table.
        constellation_share: The expected share of lines with a small part that give a cell away,
            each looked at alone.
        association_change: The mean change of Cramér's V over pairs of axes, in percent.
        rows: Measures of each area and their dispersion, as ONS 2011 has them.
        by_formula: What a published 1, 2 or 3 says, by changes of records and noise together;
            ``None`` where the noise of cells is not known by itself.
        by_count: The same as it is in the records of the study: with the noise to be expected, or
            as published where that is not known.
    """

    unperturbed: Unperturbed
    shown_small: int
    shown_small_true: int
    rank_change: float | None
    marginal_change: float | None
    largest_marginal_change: float | None
    information_gain: float | None
    constellation_share: float | None
    association_change: float | None
    rows: RowMeasures | None
    by_formula: CombinedRisk | None = None
    by_count: CombinedRisk | None = None

    def __repr__(self) -> str:
        return "<Further: confidential>"

    @property
    def claims_right(self) -> float | None:
        """Of the interior cells that are published as 1 or 2, those that are true."""
        return self.shown_small_true / self.shown_small if self.shown_small else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class StudyResult(Confidential):
    """What one method gives away of one table, and what it costs.

    Attributes:
        candidate: The method.
        disclosed, cells: Non-empty cells that can be narrowed down to one count, or to 0 and 1,
            of all non-empty cells, totals included. ``None`` where records are changed before
            they are counted: sums then narrow counts of the changed records.
        small_disclosed, small_cells: The same for cells with a true count of 1 or 2.
        risk: The composite risk ``R`` of the interior cells; ``None`` where it has no meaning.
        utility: How far published counts are from true ones: means over non-empty cells.
        profile: How changes of interior cells are distributed, beside the design.
        worst: The cells that are changed most.
        given_away: Small cells that are disclosed, the most prominent first.
        by_interior: What sums of interior cells alone give away, to be compared with the printed
            figures of the founding study; ``None`` where nothing was printed.
        further: Further measures; ``None`` where they were not asked for.
        withheld: What is withheld, and how far the table is from the truth if readers fill it in;
            ``None`` where every cell has a number.
    """

    candidate: Candidate
    disclosed: int | None
    cells: int
    small_disclosed: int | None
    small_cells: int
    risk: float | None
    utility: Utility
    profile: DeviationProfile | None
    worst: tuple[CellFigures, ...]
    given_away: tuple[CellFigures, ...]
    by_interior: InteriorSums | None = None
    further: Further | None = None
    withheld: WithheldCells | None = None

    def __repr__(self) -> str:
        return f"<StudyResult of {self.candidate.title}: confidential>"

    def height(self, axis: RiskAxis) -> float | None:
        """The figure that stands for risk on a map."""
        if axis is RiskAxis.COMPOSITE or self.further is None:
            return self.risk if axis is RiskAxis.COMPOSITE else None
        if axis is RiskAxis.UNTOUCHED:
            return _percent(self.further.unperturbed.share_of_records)
        claims = self.further.by_count
        return None if claims is None else _percent(claims.worst_claim)

    @property
    def loss(self) -> float | None:
        """The mean change of a non-empty cell, with withheld ones as a reader fills them in."""
        if self.withheld is not None and self.withheld.nonzero_withheld:
            return self.withheld.filled_distance
        return self.utility.mean_absolute_distance

    @property
    def hellinger(self) -> float | None:
        """The Hellinger distance over the root of all counts, withheld cells filled in alike."""
        if self.withheld is not None and self.withheld.nonzero_withheld:
            return self.withheld.filled_hellinger
        return self.utility.hellinger_normalised

    @property
    def share(self) -> float | None:
        """The share of non-empty cells that are given away; ``None`` if all cells are empty."""
        return None if self.disclosed is None else _share(self.disclosed, self.cells)

    @property
    def small_share(self) -> float | None:
        """The share of small cells that are given away; ``None`` if no cell counts 1 or 2."""
        return (
            None if self.small_disclosed is None else _share(self.small_disclosed, self.small_cells)
        )


def _share(part: int, of: int) -> float | None:
    return part / of if of else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class StudyTable(Confidential):
    """One table with the results of all methods.

    Attributes:
        spec: The table.
        name: What it is called in the study: a sentence that can be said in every language.
        original: The table before protection.
        results: One for each method, in the order of the study.
    """

    spec: TableSpec
    name: str
    original: Original
    results: tuple[StudyResult, ...]

    def __repr__(self) -> str:
        return f"<StudyTable {self.spec.title}: confidential>"

    def result(self, name: str, draw: NoiseDraw | None) -> StudyResult | None:
        """The result of a method, if it took part."""
        for result in self.results:
            if (result.candidate.name, result.candidate.draw) == (name, draw):
                return result
        return None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Study(Confidential):
    """Methods compared on tables of a census.

    Attributes:
        census: The name of the census.
        data_version, secret_id: Which data, and under which secret its keys were made.
        tables: From the fewest axes to the most.
        candidates: The methods that were compared.
        zeros_known: Whether the intruder knows that empty cells are published as 0.
        language: The language of its words and labels.
        left_out: Points of a grid that cannot be made, each with the reason.
        preset: The printed study that it repeats; empty for a study of one's own.
        lineage: The methods by which the store of the study was derived, the first one first; none
            where it is an original.
        violations: For each method that changes records how many break an edit rule that they kept
            before, where any does.
        risk_axis: What stands for risk on the first map of each table, and on the frontier.
    """

    census: str
    data_version: str
    secret_id: str
    tables: tuple[StudyTable, ...]
    candidates: tuple[Candidate, ...]
    zeros_known: bool
    language: str | None = None
    left_out: tuple[tuple[str, str], ...] = ()
    preset: str = ""
    lineage: tuple[str, ...] = ()
    violations: tuple[tuple[str, int], ...] = ()
    risk_axis: RiskAxis = RiskAxis.COMPOSITE

    def __repr__(self) -> str:
        return f"<Study of {len(self.tables)} tables: confidential>"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the methods, each once, in their order."""
        return tuple(dict.fromkeys(candidate.name for candidate in self.candidates))

    @property
    def draws(self) -> tuple[NoiseDraw, ...]:
        """How schemes were drawn, in the order of the study."""
        drawn = {candidate.draw for candidate in self.candidates}
        return tuple(draw for draw in NoiseDraw if draw in drawn)

    @property
    def main(self) -> NoiseDraw | None:
        """The draw that stands for a scheme where one has to: that of the founding study."""
        return next(iter(self.draws), None)

    @property
    def has_grid(self) -> bool:
        """Whether methods of the study are points of a grid."""
        return any(candidate.point is not None for candidate in self.candidates)

    @property
    def grid_names(self) -> str:
        """The parameters of a grid in the order of their values; empty without one."""
        for candidate in self.candidates:
            if candidate.point is not None:
                words = [word for word in candidate.name.split(" ") if "=" in word]
                return " · ".join(word.partition("=")[0] for word in words)
        return ""

    @property
    def has_long_names(self) -> bool:
        """Whether names of methods take more room than a column has."""
        return any(len(candidate.label) > LONG_NAME for candidate in self.candidates)

    @property
    def withholds(self) -> bool:
        """Whether a method of the study leaves cells without a number."""
        return any(
            result.withheld is not None and result.withheld.withheld
            for table in self.tables
            for result in table.results
        )

    @property
    def changes_records(self) -> bool:
        """Whether a method of the study changes records before they are counted."""
        return any(candidate.before for candidate in self.candidates)

    def mains(self, table: StudyTable) -> tuple[StudyResult, ...]:
        """One result for each method: in the main draw, or as the method is."""
        return tuple(
            result for result in table.results if result.candidate.draw in (self.main, None)
        )
