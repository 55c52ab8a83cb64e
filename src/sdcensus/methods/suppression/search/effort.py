"""How much has been done, counted by steps and not by the clock, and when it is enough."""

from __future__ import annotations

from time import monotonic

from sdcensus.solvers.limits import Limits

#: Steps on a tableau: a usual processor changes so many numbers of it in a second.
_NUMBERS_A_SECOND = 2e9
#: What a question costs besides its steps, as a number of numbers.
_QUESTION = 1_000_000


class Effort:
    """What a search has done so far, in seconds of a usual processor.

    The same task takes the same effort on every machine. The clock is looked at as well where the
    limits have one; a search that it ended says so.
    """

    __slots__ = ("_begun", "_limits", "by_clock", "spent")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._begun = monotonic()
        self.spent = 0.0
        self.by_clock = False

    def question(self, steps: int, numbers: int) -> None:
        """Count a question to a tableau of so many numbers."""
        self.spent += (_QUESTION + (steps + 1) * numbers) / _NUMBERS_A_SECOND

    def add(self, seconds: float) -> None:
        """Count other work."""
        self.spent += seconds

    def begin_anew(self) -> None:
        """Allow as much work again; the clock goes on."""
        self.spent = 0.0

    @property
    def over(self) -> bool:
        """Whether it is time to end."""
        limits = self._limits
        if limits.seconds is not None and monotonic() - self._begun >= limits.seconds:
            self.by_clock = True
            return True
        return limits.work is not None and self.spent >= limits.work

    def left(self, most: float) -> Limits:
        """Limits for a part of the work: what is left, and at most so much."""
        limits = self._limits
        work = most if limits.work is None else max(min(most, limits.work - self.spent), 1e-3)
        seconds = None
        if limits.seconds is not None:
            seconds = max(limits.seconds - (monotonic() - self._begun), 1e-3)
        return Limits(work=work, seconds=seconds, gap=limits.gap)
