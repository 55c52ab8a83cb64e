"""The watch: sees every answered question, keeps scores, slows down, tells the staff.

It has no way to refuse. Answers would otherwise depend on what was asked before, and one user
could lock out another.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable
from dataclasses import dataclass

from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.levels_told_apart import uses_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.watch.averaging import Averaging, Seen, decayed
from sdcensus.session.watch.code_lists import Levels
from sdcensus.session.watch.findings import (
    EVERYBODY,
    Observation,
    Pattern,
    Value,
    WatchAlarm,
    WatchLimits,
    WatchReport,
    WatchScore,
)
from sdcensus.session.watch.looks import AskedCells
from sdcensus.session.watch.series import Coverage, Differencing, Scanning, SeriesStep

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
        before = self._told.get(pattern, 0.0)
        if value < before / 2:  # it has aged away and begins anew
            before = self._told[pattern] = 0.0
        # Sums of fractions, and of what has aged by a minute: nearly the limit is the limit.
        if value < limit * (1 - TOLERANCE) or value < AGAIN * before:
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


#: Questions that are kept read, for whoever asks them again.
MOST_READ = 128
#: Variables that are kept prepared.
MOST_LEVELS = 2_000
#: Alarms that the report lists.
MOST_ALARMS = 200
#: Accounts that the report lists.
MOST_LISTED = 20
#: How much is remembered when something had to be forgotten, as a share of what may be.
_ROOM = 0.75


class Watch:
    """Watches over series of questions.

    Threads may share it. It has no clock and keeps no true count: it is told who asked for which
    table and when, and knows code lists besides.

    Examples:
        >>> watch = Watch()
        >>> watch.score().questions
        0
    """

    def __init__(self, *, limits: WatchLimits | None = None) -> None:
        self.limits = WatchLimits() if limits is None else limits
        self._lock = threading.Lock()
        self._reading = threading.Lock()
        self._read: OrderedDict[str, AskedCells] = OrderedDict()
        self._levels: OrderedDict[int, Levels] = OrderedDict()
        self._everybody = WatchedAccount(EVERYBODY, self.limits, everybody=True)
        self._accounts: dict[str, WatchedAccount] = {}
        self._alarms: deque[WatchAlarm] = deque(maxlen=MOST_ALARMS)
        self._raised = 0
        self._forgotten = 0
        self._entries = 0
        self._latest = -math.inf

    def __repr__(self) -> str:
        return f"<Watch over {len(self._accounts)} accounts>"

    def seen(self, who: str, spec: TableSpec, at: float) -> Observation:
        """Take note of a question that is answered.

        Args:
            who: The account or the client that asked.
            spec: The table, with the condition and the codes that were chosen.
            at: When, in seconds; the watch has no clock of its own.
        """
        asked = self._asked(spec)
        with self._lock:
            at = at if math.isfinite(at) else max(self._latest, 0.0)
            self._latest = max(self._latest, at)
            account = self._account(who)
            before = account.entries
            score, raised = account.seen(asked, at)
            self._entries += account.entries - before
            _, together = self._everybody.seen(asked, at)
            alarms = tuple(self._alarm(pattern, at) for pattern in (*raised, *together))
            self._make_room(account)
            return Observation(account.score(at), self._delay(score), alarms)

    def restore(self, questions: Iterable[tuple[str, TableSpec, float]]) -> int:
        """Take note of questions that were answered before, such as those of an audit.

        Args:
            questions: Who asked for which table and when, the oldest first.

        Returns:
            How many there were.
        """
        count = 0
        for who, spec, at in questions:
            self.seen(who, spec, at)
            count += 1
        return count

    def score(self, who: str | None = None) -> WatchScore:
        """How far an account went with each pattern; all accounts together where none is named."""
        with self._lock:
            if who is None:
                return self._everybody.scores(self._latest)
            account = self._accounts.get(who)
            return WatchScore(who) if account is None else account.scores(self._latest)

    def report(self) -> WatchReport:
        """What the staff sees: the accounts with the highest scores, and the last alarms."""
        with self._lock:
            scores = [account.scores(self._latest) for account in self._accounts.values()]
            scores.sort(key=lambda score: (-score.score, score.who))
            return WatchReport(
                everybody=self._everybody.scores(self._latest),
                accounts=tuple(scores[:MOST_LISTED]),
                alarms=tuple(reversed(self._alarms)),
                raised=self._raised,
                watched=len(self._accounts),
                forgotten=self._forgotten,
            )

    @property
    def entries(self) -> int:
        """How many things are remembered, those about all accounts together not counted."""
        return self._entries

    def _delay(self, score: float) -> float:
        """No delay far from a limit, the longest at twice as far as slowing down begins."""
        start = self.limits.slow_from
        return self.limits.longest_delay * min(max(score / start - 1, 0.0), 1.0)

    def _alarm(self, raised: Raised, at: float) -> WatchAlarm:
        alarm = WatchAlarm(
            raised.pattern, raised.who, raised.score, raised.values, raised.titles, at
        )
        self._alarms.append(alarm)
        self._raised += 1
        return alarm

    def _account(self, who: str) -> WatchedAccount:
        account = self._accounts.get(who)
        if account is None:
            account = self._accounts[who] = WatchedAccount(who, self.limits)
            self._entries += account.entries
        return account

    def _make_room(self, current: WatchedAccount) -> None:
        """Forget accounts with low scores, the longest silent first among equal ones."""
        most, entries = self.limits.accounts, self.limits.entries
        if len(self._accounts) <= most and self._entries <= entries:
            return
        ranked = sorted(
            (account for account in self._accounts.values() if account is not current),
            key=lambda oldest: (round(oldest.score(self._latest), 1), oldest.last),
        )
        for oldest in ranked:
            if len(self._accounts) <= _ROOM * most and self._entries <= _ROOM * entries:
                break
            del self._accounts[oldest.who]
            self._entries -= oldest.entries
            self._forgotten += 1

    def _asked(self, spec: TableSpec) -> AskedCells:
        """A question, read outside of the lock under which scores are kept."""
        key = spec.hash()
        with self._reading:
            asked = self._read.get(key)
            if asked is not None:
                self._read.move_to_end(key)
                return asked
        levels = {use.variable.name: self._levels_of(use.variable) for use in uses_of(spec)}
        asked = AskedCells(spec, levels, self.limits)
        with self._reading:
            self._read[key] = asked
            while len(self._read) > MOST_READ:
                self._read.popitem(last=False)
        return asked

    def _levels_of(self, variable: Variable) -> Levels:
        # Keeping the variable keeps its identity from being given to another one.
        key = id(variable)
        with self._reading:
            levels = self._levels.get(key)
            if levels is None:
                levels = self._levels[key] = Levels(variable)
                if len(self._levels) > MOST_LEVELS:
                    self._levels.popitem(last=False)
            return levels
