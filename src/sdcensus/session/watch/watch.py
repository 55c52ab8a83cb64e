"""The watch: sees every answered question, keeps scores, slows down, tells the staff.

It has no way to refuse. Answers would otherwise depend on what was asked before, and one user
could lock out another.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable

from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.levels_told_apart import uses_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.watch.account import Raised, WatchedAccount
from sdcensus.session.watch.code_lists import Levels
from sdcensus.session.watch.findings import (
    EVERYBODY,
    Observation,
    WatchAlarm,
    WatchReport,
    WatchScore,
)
from sdcensus.session.watch.limits import WatchLimits
from sdcensus.session.watch.looks import AskedCells

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
            alarms = tuple(self._alarm(one, at) for one in (*raised, *together))
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
            key=lambda one: (round(one.score(self._latest), 1), one.last),
        )
        for one in ranked:
            if len(self._accounts) <= _ROOM * most and self._entries <= _ROOM * entries:
                break
            del self._accounts[one.who]
            self._entries -= one.entries
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
