"""When a search ends before it has proven the best, and how it tells how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sdcensus.errors import SpecError

#: Told what is searched for, the best cost so far (nan for none), and what no solution is below.
Search = Callable[[float, float], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much may be done for the best solution, and how near to it is near enough.

    Work is counted by what a solver does and not by the clock: the same program has the same
    solution on every machine. A clock is the net below it: what it cuts off may come out otherwise
    on another machine, and the solution says so.

    Attributes:
        work: About so many seconds of a usual processor, counted by the solver's own steps; no
            limit if ``None``.
        steps: Nodes of the search tree for HiGHS, contradictions for CP-SAT; no limit if ``None``.
        seconds: By the clock; no limit if ``None``.
        gap: A solution is good enough whose cost is proven to be at most this share above the
            best.
    """

    work: float | None = None
    steps: int | None = None
    seconds: float | None = None
    gap: float = 0.0

    def __post_init__(self) -> None:
        if self.steps is not None and self.steps < 1:
            raise SpecError("A solver takes at least one step.")
        for name, value in (("work", self.work), ("seconds", self.seconds)):
            if value is not None and not value > 0:
                raise SpecError(f"The limit {name!r} of a search is a number above 0.")
        if not 0 <= self.gap < 1:
            raise SpecError("The gap that is near enough is a number from 0 to below 1.")


NO_LIMITS = Limits()


def relative_gap(objective: float, bound: float) -> float:
    """How far a cost may lie above the best, as a share of it; 0 where it is proven to be best.

    Examples:
        >>> relative_gap(102, 100)
        0.0196...
        >>> relative_gap(0, 0)
        0.0
    """
    if objective <= bound:
        return 0.0
    return float((objective - bound) / max(abs(objective), 1e-12))
