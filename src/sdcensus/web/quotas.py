"""How much each caller may ask for: tables in a day and cells in an hour, by role.

Counted in memory, so that it costs nothing; what was used before a restart is read from the audit
once for each caller. Windows begin with the hour and the day of UTC.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from sdcensus.model.policy.policy import RoleRules

HOUR, DAY = 3_600, 86_400
#: Callers that are remembered; what others used is read from the audit again.
MOST_CALLERS = 100_000

#: Tells what somebody has used since a time, as (tables, cells).
Used = Callable[[str, datetime], Awaitable[tuple[int, int]]]
Clock = Callable[[], float]


class QuotaExceeded(Exception):
    """Somebody has used up what the policy gives in some time.

    Attributes:
        what: ``tables`` or ``cells``.
        limit: How much there is.
        wait: Seconds until there is more.
    """

    def __init__(self, what: str, limit: int, wait: int) -> None:
        self.what, self.limit, self.wait = what, limit, wait
        super().__init__(what)


@dataclass(slots=True)
class _Account:
    day: int
    hour: int
    tables: int
    cells: int


@dataclass(frozen=True, slots=True)
class Window:
    """One limit, what is left of it, and in how many seconds it begins anew."""

    what: str
    limit: int
    left: int
    reset: int
    seconds: int


class Quotas:
    """What every caller has used. For one event loop."""

    def __init__(self, used: Used, clock: Clock) -> None:
        self._used = used
        self._clock = clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    async def know(self, who: str, rules: RoleRules) -> None:
        """Find out what somebody has used before, where it matters and is not known."""
        if rules.tables_per_day is None and rules.cells_per_hour is None:
            return
        if who in self._accounts:
            return
        now = self._clock()
        day, hour = int(now // DAY), int(now // HOUR)
        tables, _ = await self._used(who, datetime.fromtimestamp(day * DAY, UTC))
        _, cells = await self._used(who, datetime.fromtimestamp(hour * HOUR, UTC))
        # Another request of the same caller may have come first, and counted since.
        self._accounts.setdefault(who, _Account(day, hour, tables, cells))
        while len(self._accounts) > MOST_CALLERS:
            self._accounts.popitem(last=False)

    def take(self, who: str, rules: RoleRules, cells: int) -> None:
        """Count a table.

        Raises:
            QuotaExceeded: It is one too many; it is not counted.
        """
        if rules.tables_per_day is None and rules.cells_per_hour is None:
            return
        account = self._current(who)
        for window in self._windows(account, rules):
            need = 1 if window.what == "tables" else cells
            if need > window.left:
                raise QuotaExceeded(window.what, window.limit, window.reset)
        account.tables += 1
        account.cells += cells

    def give_back(self, who: str, cells: int) -> None:
        """Uncount a table that was not delivered."""
        account = self._accounts.get(who)
        if account is not None:
            account.tables = max(account.tables - 1, 0)
            account.cells = max(account.cells - cells, 0)

    def windows(self, who: str, rules: RoleRules) -> list[Window]:
        """The limits of a caller; none where the policy has none."""
        if rules.tables_per_day is None and rules.cells_per_hour is None:
            return []
        return self._windows(self._current(who), rules)

    def headers(self, who: str, rules: RoleRules) -> list[tuple[bytes, bytes]]:
        """The limits of a caller as headers; the three old ones tell the one that is nearest."""
        windows = self.windows(who, rules)
        if not windows:
            return []
        nearest = min(windows, key=lambda window: window.left / window.limit if window.limit else 0)
        policy = ", ".join(
            f'"{window.what}";q={window.limit};w={window.seconds}' for window in windows
        )
        left = ", ".join(f'"{window.what}";r={window.left};t={window.reset}' for window in windows)
        return [
            (b"ratelimit-policy", policy.encode("ascii")),
            (b"ratelimit", left.encode("ascii")),
            (b"ratelimit-limit", b"%d" % nearest.limit),
            (b"ratelimit-remaining", b"%d" % nearest.left),
            (b"ratelimit-reset", b"%d" % nearest.reset),
        ]

    def _current(self, who: str) -> _Account:
        now = self._clock()
        day, hour = int(now // DAY), int(now // HOUR)
        account = self._accounts.get(who)
        if account is None:
            account = self._accounts[who] = _Account(day, hour, 0, 0)
        if account.hour != hour:
            account.hour, account.cells = hour, 0
        if account.day != day:
            account.day, account.tables = day, 0
        return account

    def _windows(self, account: _Account, rules: RoleRules) -> list[Window]:
        now = self._clock()
        windows = []
        for what, limit, used, seconds in (
            ("tables", rules.tables_per_day, account.tables, DAY),
            ("cells", rules.cells_per_hour, account.cells, HOUR),
        ):
            if limit is not None:
                reset = max(1, math.ceil(seconds - now % seconds))
                windows.append(Window(what, limit, max(limit - used, 0), reset, seconds))
        return windows


class Attempts:
    """How often something was tried lately by each name or address, in memory."""

    def __init__(self, most: int, seconds: int, clock: Clock) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._tried: OrderedDict[str, list[float]] = OrderedDict()

    def wait(self, name: str) -> int:
        """Seconds until it may be tried again; 0 if it may be now."""
        tried = self._lately(name)
        if len(tried) < self._most or not self._most:
            return 0
        return max(1, math.ceil(tried[0] + self._seconds - self._clock()))

    def note(self, name: str) -> None:
        """Count an attempt."""
        tried = self._lately(name)
        tried.append(self._clock())
        self._tried[name] = tried[-max(self._most, 1) :]
        self._tried.move_to_end(name)
        if len(self._tried) > MOST_CALLERS:
            self._tried.popitem(last=False)

    def forget(self, name: str) -> None:
        """Begin anew, after a success."""
        self._tried.pop(name, None)

    def _lately(self, name: str) -> list[float]:
        since = self._clock() - self._seconds
        return [moment for moment in self._tried.get(name, []) if moment > since]
