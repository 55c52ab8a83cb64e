"""What is remembered about one account, or about all together."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.session.watch.averaging import Averaging, Seen, decayed
from sdcensus.session.watch.coverage import Coverage
from sdcensus.session.watch.findings import Pattern, Value, WatchScore
from sdcensus.session.watch.limits import WatchLimits
from sdcensus.session.watch.looks import AskedCells
from sdcensus.session.watch.series import Differencing, Scanning, SeriesStep

#: The staff is told again when a pattern has grown by this.
AGAIN = 1.5
#: What is as good as a limit.
TOLERANCE = 1e-3
#: What an account costs besides what it asked for.
_ACCOUNT = 4


@dataclass(frozen=True, slots=True)
class Raised:
    """A pattern that has just gone over its limit."""

    pattern: Pattern
    who: str
    score: float
    values: tuple[tuple[str, Value], ...]
    titles: tuple[str, ...]


class WatchedAccount:
    """One account; or all of them, whose limits are others."""

    def __init__(self, who: str, limits: WatchLimits, *, everybody: bool = False) -> None:
        self.who = who
        self.questions = 0
        self.last = float("-inf")
        most = 2 * limits.each if everybody else limits.each
        self._limits = limits
        self._information = limits.information_all if everybody else limits.information
        self._differences = limits.differences_all if everybody else limits.differences
        self._averaging = Averaging(half_life=limits.half_life, most=most)
        self._differencing = Differencing(
            half_life=limits.half_life, few=limits.few, share=limits.few_share, most=most
        )
        # Many people together see every place of a popular table: that is no pattern.
        self._scanning = None if everybody else Scanning(half_life=limits.half_life, most=most)
        self._coverage = None if everybody else Coverage(half_life=limits.half_life)
        self._score = 0.0
        self._at = float("-inf")
        self._best: Seen | None = None
        self._told: dict[Pattern, float] = {}

    @property
    def entries(self) -> int:
        """How many things are remembered."""
        walks = 0 if self._scanning is None else len(self._scanning)
        pairs = 0 if self._coverage is None else len(self._coverage)
        return _ACCOUNT + len(self._averaging) + len(self._differencing) + walks + pairs

    def score(self, at: float) -> float:
        """The score at a time: the largest of its questions, of which older ones count less."""
        return decayed(self._score, at - self._at, self._limits.half_life)

    def seen(self, asked: AskedCells, at: float) -> tuple[float, list[Raised]]:
        """Take note of a question: how far the patterns went that it goes on with, and alarms."""
        self.questions += 1
        self.last = max(self.last, at)
        score = 0.0
        raised = []
        limit = self._information
        seen = self._averaging.seen(asked, at, self._limits.slow_from * limit)
        if seen is not None:
            score = seen.aged / limit
            if self._best is None or seen.information > self._best.information:
                self._best = seen
            if self._tell(Pattern.AVERAGING, seen.information, limit):
                raised.append(self._averaged(seen, limit))
        step = self._differencing.seen(asked, at)
        if step is not None:
            limit = self._differences
            score = max(score, step.count / limit)
            if self._tell(Pattern.DIFFERENCING, step.count, limit):
                raised.append(self._differenced(step, limit))
        step = None if self._scanning is None else self._scanning.seen(asked, at)
        if step is not None:
            limit = self._limits.scanned
            score = max(score, step.count / limit)
            if self._tell(Pattern.SCANNING, step.count, limit):
                raised.append(self._scanned(step, limit))
        covered = None if self._coverage is None else self._coverage.seen(asked, at)
        if covered is not None:
            (step, aged), limit = covered, self._limits.covered
            score = max(score, aged / limit)
            if self._tell(Pattern.COVERAGE, step.count, limit):
                raised.append(self._covered(step, limit))
        self._score = max(self.score(at), score)
        self._at = max(self._at, at)
        return score, raised

    def scores(self, at: float) -> WatchScore:
        """All that is said about the account, at a time."""
        best = self._best
        half_life = self._limits.half_life
        steps = self._differencing.steps
        places, walked = (0.0, 0.0) if self._scanning is None else self._scanning.most
        return WatchScore(
            who=self.who,
            score=self.score(at),
            questions=self.questions,
            information=0.0 if best is None else best.information,
            target="" if best is None else best.target,
            partitions=0 if best is None else best.partitions,
            differences=decayed(steps.value, at - steps.at, half_life),
            scanned=decayed(places, at - walked, half_life),
            covered=0 if self._coverage is None else self._coverage.most,
            last=self.last if self.questions else 0.0,
        )

    def _tell(self, pattern: Pattern, value: float, limit: float) -> bool:
        """Whether the staff is to be told: at the limit, and when the pattern has grown by half."""
        told = self._told.get(pattern, 0.0)
        if value < told / 2:  # it has aged away and begins anew
            told = self._told[pattern] = 0.0
        # Sums of fractions, and of what has aged by a minute: nearly the limit is the limit.
        if value < limit * (1 - TOLERANCE) or value < AGAIN * told:
            return False
        self._told[pattern] = value
        return True

    def _averaged(self, seen: Seen, limit: float) -> Raised:
        values: tuple[tuple[str, Value], ...] = (
            ("target", seen.target),
            ("codes", seen.codes),
            ("partitions", seen.partitions),
            ("information", round(seen.information, 2)),
            ("limit", round(limit, 2)),
        )
        score = seen.information / limit
        return Raised(Pattern.AVERAGING, self.who, score, values, seen.titles)

    def _differenced(self, step: SeriesStep, limit: float) -> Raised:
        values: tuple[tuple[str, Value], ...] = (
            ("times", round(step.count)),
            ("few", self._limits.few),
            ("variable", step.what),
            ("limit", round(limit, 2)),
        )
        return Raised(Pattern.DIFFERENCING, self.who, step.count / limit, values, step.titles)

    def _covered(self, step: SeriesStep, limit: float) -> Raised:
        values: tuple[tuple[str, Value], ...] = (
            ("pairs", round(step.count)),
            ("place", step.what),
            ("limit", round(limit, 2)),
        )
        return Raised(Pattern.COVERAGE, self.who, step.count / limit, values, step.titles)

    def _scanned(self, step: SeriesStep, limit: float) -> Raised:
        values: tuple[tuple[str, Value], ...] = (
            ("places", round(step.count)),
            ("table", step.table),
            ("variables", step.what),
            ("limit", round(limit, 2)),
        )
        return Raised(Pattern.SCANNING, self.who, step.count / limit, values, step.titles)
