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
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.utility.against_design import ChiSquare
from sdcensus.utility.distances import Utility

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Small counts are looked at apart: a one cannot shrink by two.
GROUPS = ("1", "2", "3 and more")


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
        method: How a cube becomes a table.
        knowledge: What an intruder is taken to know about it; ``None`` for what the method says.
        draw: How its noise is drawn; ``None`` for a method that is no scheme.
        perturbation: What its changes should look like, if that is known.
    """

    name: str
    method: Method
    knowledge: Knowledge | None = None
    draw: NoiseDraw | None = None
    perturbation: Perturbation | None = None

    def __repr__(self) -> str:
        return f"<Candidate {self.title}: confidential parameters>"

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


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class StudyResult(Confidential):
    """What one method gives away of one table, and what it costs.

    Attributes:
        candidate: The method.
        disclosed, cells: Non-empty cells that can be narrowed down to one count, or to 0 and 1,
            of all non-empty cells, totals included.
        small_disclosed, small_cells: The same for cells with a true count of 1 or 2.
        risk: The composite risk ``R`` of the interior cells; ``None`` where it has no meaning.
        utility: How far published counts are from true ones: means over non-empty cells.
        profile: How changes of interior cells are distributed, beside the design.
        worst: The cells that are changed most.
        given_away: Small cells that are disclosed, the most prominent first.
        by_interior: What sums of interior cells alone give away, to be compared with the printed
            figures of the founding study; ``None`` where nothing was printed.
    """

    candidate: Candidate
    disclosed: int
    cells: int
    small_disclosed: int
    small_cells: int
    risk: float | None
    utility: Utility
    profile: DeviationProfile | None
    worst: tuple[CellFigures, ...]
    given_away: tuple[CellFigures, ...]
    by_interior: InteriorSums | None = None

    def __repr__(self) -> str:
        return f"<StudyResult of {self.candidate.title}: confidential>"

    @property
    def share(self) -> float | None:
        """The share of non-empty cells that are given away; ``None`` if all cells are empty."""
        return self.disclosed / self.cells if self.cells else None

    @property
    def small_share(self) -> float | None:
        """The share of small cells that are given away; ``None`` if no cell counts 1 or 2."""
        return self.small_disclosed / self.small_cells if self.small_cells else None


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
    """

    census: str
    data_version: str
    secret_id: str
    tables: tuple[StudyTable, ...]
    candidates: tuple[Candidate, ...]
    zeros_known: bool
    language: str | None = None

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

    def mains(self, table: StudyTable) -> tuple[StudyResult, ...]:
        """One result for each method: in the main draw, or as the method is."""
        return tuple(
            result for result in table.results if result.candidate.draw in (self.main, None)
        )
