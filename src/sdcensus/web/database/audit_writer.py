"""Writing the audit without making anybody wait: a queue, and one thread that commits groups."""

from __future__ import annotations

import threading
import time
from collections import deque
from dataclasses import replace
from itertools import islice

from sdcensus.errors import OutputError, SdcensusError
from sdcensus.web.database.audit import AuditLog
from sdcensus.web.database.records import Action, AuditEntry

_GROUP = 2_000
_RETRY = 0.1
_LONGEST_RETRY = 5.0


class AuditWriter:
    """The queue in front of an audit.

    An entry is committed at most ``delay`` seconds after it was handed over, together with all
    others of that time. While the database cannot be written, entries are kept and tried again,
    ``healthy`` is false and ``error`` says why. When ``most`` of them wait, the next one is
    refused: a server that cannot write down what it answers must not answer.

    Args:
        audit: Where entries go.
        delay: For how many seconds the first entry of a group waits for others.
        most: How many entries are kept at most.
        patience: After how many seconds an entry that still waits is a sign of trouble.
    """

    def __init__(
        self, audit: AuditLog, *, delay: float = 0.05, most: int = 100_000, patience: float = 5.0
    ) -> None:
        self._audit, self._delay, self._most, self._patience = audit, delay, most, patience
        self._entries: deque[tuple[float, AuditEntry]] = deque()
        self._changed = threading.Condition()
        self._taken = self._done = 0
        self._error: str | None = None
        self._flushing = 0
        self._closing = self._given_up = False
        self._thread = threading.Thread(target=self._run, name="sdcensus-audit", daemon=True)
        self._thread.start()

    def __enter__(self) -> AuditWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def healthy(self) -> bool:
        """Whether entries reach the database."""
        with self._changed:
            late = bool(self._entries) and time.monotonic() - self._entries[0][0] > self._patience
            return self._error is None and not late and self._thread.is_alive()

    @property
    def error(self) -> str | None:
        """Why entries do not reach the database; None if they do."""
        with self._changed:
            return self._error

    @property
    def waiting(self) -> int:
        """How many entries are not in the database yet."""
        with self._changed:
            return self._taken - self._done

    def write(self, entry: AuditEntry) -> None:
        """Hand over an entry; returns at once.

        Raises:
            OutputError: It cannot be kept: too many wait, or the writer is closed.
        """
        Action.named(entry.action)
        timed = entry if entry.time is not None else replace(entry, time=self._audit.now())
        with self._changed:
            if self._closing:
                raise OutputError("The audit is closed: the server is ending.")
            if len(self._entries) >= self._most:
                raise OutputError(
                    f"The audit cannot be written, and {self._most:,} entries wait already:"
                    f" {self._error or 'the database is too slow'}"
                )
            self._entries.append((time.monotonic(), timed))
            self._taken += 1
            if len(self._entries) in (1, _GROUP):
                self._changed.notify_all()

    def flush(self, timeout: float = 10.0) -> None:
        """Wait until everything that was handed over so far is in the database.

        Raises:
            OutputError: It is not after so many seconds; the entries are still kept.
        """
        with self._changed:
            goal = self._taken
            self._flushing += 1
            self._changed.notify_all()
            try:
                done = self._changed.wait_for(lambda: self._done >= goal, timeout)
            finally:
                self._flushing -= 1
            if not done:
                raise OutputError(
                    f"{goal - self._done:,} entries of the audit are not written yet:"
                    f" {self._error or 'the database is too slow'}"
                )

    def close(self, timeout: float = 10.0) -> None:
        """Write what waits, and end.

        Raises:
            OutputError: Some entries could not be written, and are lost.
        """
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        try:
            self.flush(timeout)
        finally:
            with self._changed:
                self._given_up = True
                self._changed.notify_all()
            self._thread.join(timeout)

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        pause = _RETRY
        while group := self._next_group():
            try:
                self._audit.append(group)
            except Exception as error:  # whatever it is: the thread must live and say so
                self._failed(error, pause)
                pause = min(2 * pause, _LONGEST_RETRY)
                continue
            pause = _RETRY
            with self._changed:
                for _ in group:
                    self._entries.popleft()
                self._done += len(group)
                self._error = None
                self._changed.notify_all()

    def _next_group(self) -> list[AuditEntry]:
        """The entries to commit next; none if it is time to end."""
        with self._changed:
            self._changed.wait_for(lambda: self._entries or self._closing)
            if not self._entries or self._given_up:
                return []
            end = self._entries[0][0] + self._delay
            self._changed.wait_for(self._must_hurry, max(0.0, end - time.monotonic()))
            return [entry for _, entry in islice(self._entries, _GROUP)]

    def _must_hurry(self) -> bool:
        return self._closing or self._flushing > 0 or len(self._entries) >= _GROUP

    def _failed(self, error: Exception, pause: float) -> None:
        with self._changed:
            # The text of an error that is not ours may quote values.
            self._error = str(error) if isinstance(error, SdcensusError) else type(error).__name__
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._given_up, pause)
