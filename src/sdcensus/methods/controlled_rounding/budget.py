"""How much a search may do: counted work, a clock below it, and somebody who stops it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from sdcensus.solvers.limits import Limits

Result = TypeVar("Result")

#: Cells and arcs that a usual processor looks at in a second.
WORK_OF_A_SECOND = 50_000_000
#: How often whoever waits looks whether somebody wants the search to stop, and tells how far it is.
_PATIENCE = 0.2


class Budget:
    """What may be done; asked from several threads.

    Attributes:
        stopped: Whether somebody stopped the search.
        late: Whether the clock ended it.
    """

    __slots__ = ("_end", "_left", "_lock", "_work", "late", "stopped")

    def __init__(self, limits: Limits) -> None:
        """Begin: the clock runs from now on."""
        self._work = None if limits.work is None else int(limits.work * WORK_OF_A_SECOND)
        self._left = self._work
        self._end = None if limits.seconds is None else monotonic() + limits.seconds
        self._lock = threading.Lock()
        self.stopped = False
        self.late = False

    def renew(self) -> None:
        """Allow the same work again; the clock runs on."""
        self._left = self._work

    def spend(self, work: int) -> bool:
        """Take note of some work; whether there is more to spend."""
        with self._lock:
            if self._left is not None:
                self._left -= work
        return self.goes_on and not self.exhausted

    def note(self, work: int) -> bool:
        """The same for work that has to be done in any case: only the clock can end it."""
        self.spend(work)
        return self.goes_on

    @property
    def exhausted(self) -> bool:
        """Whether the work is done that may be done."""
        return self._left is not None and self._left <= 0

    @property
    def goes_on(self) -> bool:
        """Whether neither the clock nor anybody ended the search."""
        if self._end is not None and monotonic() > self._end:
            self.late = True
        return not (self.stopped or self.late)

    @property
    def over(self) -> bool:
        """Whether the search has to end."""
        return self.exhausted or not self.goes_on

    @property
    def repeatable(self) -> bool:
        """Whether every machine would have come as far."""
        return not (self.stopped or self.late)

    @property
    def seconds(self) -> float | None:
        """What the clock leaves; ``None`` without one."""
        return None if self._end is None else max(self._end - monotonic(), 0.001)


def watched(work: Callable[[], Result], budget: Budget, tell: Callable[[], None]) -> Result:
    """Do work in a thread of its own; the first interruption stops the search and keeps the best.

    Args:
        work: What to do; it looks at the budget.
        budget: Told when somebody stops the search.
        tell: Tells how far it is, now and then, in the thread that waits.
    """
    results: list[Result] = []
    failures: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:  # raised again by whoever waits
            failures.append(error)

    thread = threading.Thread(target=run, name="controlled-rounding", daemon=True)
    thread.start()
    while thread.is_alive():
        try:
            thread.join(_PATIENCE)
            tell()
        except KeyboardInterrupt:
            if budget.stopped:  # somebody means it
                raise
            budget.stopped = True
    if failures:
        raise failures[0]
    return results[0]
