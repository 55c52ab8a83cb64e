"""How good the solution of a method is that searched for the best, in words for the office."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.solvers.limits import relative_gap
from sdcensus.solvers.program import Solution, Status

_ENDS = {
    Status.OPTIMAL: "the best, proven",
    Status.LIMIT: "the best that was found within the limit",
    Status.STOPPED: "the best that was found before it was stopped",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SolutionReport(Confidential):
    """What a method reached and how near it is to the best. Costs follow from true counts.

    Attributes:
        what: What was made as small as possible, such as ``"sum of distances"``.
        status: How the search ended.
        objective: What was reached.
        bound: What no solution is below; minus infinity where nothing is proven.
        repeatable: Whether the same input gives the same result on every machine: not where the
            clock or a person ended the search.
        remarks: What else the office should know, as sentences.
    """

    what: str
    status: Status
    objective: float
    bound: float
    repeatable: bool = True
    remarks: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "<SolutionReport: confidential>"

    @classmethod
    def of(cls, what: str, solution: Solution, *remarks: str) -> SolutionReport:
        """What a solver found."""
        return cls(
            what=what,
            status=solution.status,
            objective=solution.objective,
            bound=solution.bound,
            repeatable=solution.repeatable,
            remarks=remarks,
        )

    @property
    def gap(self) -> float:
        """How far the result may lie above the best, as a share of it; infinite if unknown."""
        return relative_gap(self.objective, self.bound)

    @property
    def statement(self) -> str:
        """The result in a sentence or two; confidential."""
        ended = _ENDS.get(self.status, "what was found")
        lines = [f"{self.what.capitalize()}: {self.objective:,.10g}, {ended}."]
        if self.status is not Status.OPTIMAL:
            known = self.gap < float("inf")
            lines.append(
                f"No solution is below {self.bound:,.10g}: at most {self.gap:.2%} could be gained."
                if known
                else "How far it is from the best is not known."
            )
        if not self.repeatable:
            lines.append(
                "The clock or a person ended the search: a second run may end elsewhere. Keep the"
                " result."
            )
        return " ".join([*lines, *self.remarks])
