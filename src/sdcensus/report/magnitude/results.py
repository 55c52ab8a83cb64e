"""What was measured on tables of sums. Confidential, but for what is called public."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.primary_rules import PrimaryRule
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.report.assessment.results import Assessment, PublicAssessment
from sdcensus.report.study.results import Candidate
from sdcensus.risk.magnitude.attackers import Attacker
from sdcensus.risk.magnitude.estimation import Estimated, LargestRisk
from sdcensus.risk.magnitude.repeated import RepeatedCells, SingleDifferences
from sdcensus.utility.sums import RelativeChanges

#: The rules by which cells are called sensitive, beside the p % rule of the percentage asked about.
FEWEST, DOMINANCE = 3, (2, 85)


@dataclass(frozen=True, slots=True, repr=False)
class RuleFigures(Confidential):
    """Cells that a rule of the office names, and what the second largest finds in them.

    Attributes:
        rule: The rule; ``None`` for all of them together.
        cells: Cells that it names.
        second: What the second largest contributor finds in those of them where there is one.
    """

    rule: PrimaryRule | None
    cells: int
    second: Estimated

    def __repr__(self) -> str:
        return f"<RuleFigures of {self.rule}: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class SumFigures(Confidential):
    """Risk and loss of one published table of sums.

    Attributes:
        cells: All cells of the table.
        filled: Cells with a contributor.
        withheld: Those of them that have no published number.
        risk: How near attackers come to the largest contributors.
        rules: Sensitive cells by rule, and by any of them.
        repeated: Sets of contributors that stand in several cells.
        differences: Sums that differ by one contributor.
        changes: Relative changes in interior cells, totals, and all cells.
        by_size: The same by the number of contributors.
        ranks: Cells of areas that change their tenth when they are ranked, in percent; ``None``
            where there are no areas.
        adds_up: The share of lines of the published table whose total is the sum of its parts.
        gap: The mean gap of lines, relative to the total.
    """

    cells: int
    filled: int
    withheld: int
    risk: LargestRisk
    rules: tuple[RuleFigures, ...]
    repeated: RepeatedCells
    differences: SingleDifferences
    changes: tuple[tuple[TablePart, RelativeChanges], ...]
    by_size: tuple[RelativeChanges, ...]
    ranks: float | None
    adds_up: float | None
    gap: float | None

    def __repr__(self) -> str:
        return "<SumFigures: confidential>"

    @property
    def second(self) -> Estimated:
        """What the second largest contributor finds: the headline."""
        return self.risk.of(Attacker.SECOND).whole

    @property
    def loss(self) -> float | None:
        """The mean relative change over all cells; a sum that is withheld counts as wholly off."""
        whole = self.whole
        cells = whole.cells + whole.withheld
        return ((whole.mean or 0.0) * whole.cells + whole.withheld) / cells if cells else None

    @property
    def whole(self) -> RelativeChanges:
        """Relative changes over all cells."""
        return self.changes[-1][1]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SumResult(Confidential):
    """What one method makes of one table of sums."""

    candidate: Candidate
    figures: SumFigures

    def __repr__(self) -> str:
        return f"<SumResult of {self.candidate.title}: confidential>"

    @property
    def height(self) -> float | None:
        """What stands for risk on the map: what is to be expected, or what came out."""
        second = self.figures.second
        number = second.after if second.expected is None else second.expected
        return second.share(number)


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SumStudyTable(Confidential):
    """One table of sums with the results of all methods."""

    spec: TableSpec
    results: tuple[SumResult, ...]

    def __repr__(self) -> str:
        return f"<SumStudyTable {self.spec.title}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SumStudy(Confidential):
    """Methods for sums compared on tables of a census.

    Attributes:
        census: The name of the census.
        tables: The tables, each with all methods.
        within: How near an estimate is that counts, in percent.
        left_out: Methods that cannot protect the tables, each with the reason.
        language: The language of words and labels.
    """

    census: str
    tables: tuple[SumStudyTable, ...]
    within: float
    left_out: tuple[tuple[str, str], ...] = ()
    language: str | None = None

    def __repr__(self) -> str:
        return f"<SumStudy of {len(self.tables)} tables: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SumAssessment(Confidential):
    """What was measured on one table of sums.

    Attributes:
        public: What may be told to anyone: nothing in it was computed from true sums.
        figures: Risk and loss.
        method: How it was protected, in a few words.
        cautions: What the method itself warns of.
        left_out: What could not be measured, and why.
        provenance: How the table was made, if that is known.
        census: What the census is called, where that is known.
        compared: The same table by other methods, if they were compared.
    """

    public: PublicAssessment
    figures: SumFigures
    method: str
    cautions: tuple[str, ...]
    left_out: tuple[str, ...]
    provenance: Provenance | None
    census: Text = Text()
    compared: SumStudy | None = None

    def __repr__(self) -> str:
        return f"<SumAssessment of {self.table.spec.title}: confidential>"

    @property
    def table(self) -> Table:
        """The published table."""
        return self.public.table


#: An assessment of counts or of sums.
AnyAssessment = Assessment | SumAssessment
