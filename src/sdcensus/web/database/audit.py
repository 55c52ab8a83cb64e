"""The audit: who asked for what, in a chain of entries of which none can be changed unnoticed.

The hash of an entry covers the hash of the one before it, so that whoever notes the last hash
elsewhere can prove everything before it. Entries are numbered without gaps. Only retention removes
any, from the beginning, and leaves an anchor in their place. Nobody's count is ever in it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    Connection,
    Select,
    String,
    delete,
    func,
    insert,
    select,
    text,
    type_coerce,
    update,
)
from sqlalchemy.exc import IntegrityError

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.web.database.link import Link, storable
from sdcensus.web.database.records import (
    Action,
    Actor,
    Anchor,
    AuditEntry,
    AuditFinding,
    AuditProof,
    Damage,
    Head,
    Used,
    WrittenEntry,
)
from sdcensus.web.database.schema import (
    FIRST_HASH,
    AnyRow,
    audit,
    audit_anchors,
    audit_head,
    time_text,
)

_MOST_FINDINGS = 100
_ROWS_AT_ONCE = 2_000
_HASH = re.compile(r"[0-9a-f]{64}")


def entry_hash(previous: str, entry: Mapping[str, object]) -> str:
    """The hash of an entry: of the hash before it and of its members in one fixed writing."""
    written = json.dumps(
        entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str
    )
    return hashlib.sha256(bytes.fromhex(previous) + written.encode("utf-8")).hexdigest()


def read_head(connection: Connection) -> Head:
    """The end of the chain, as it was noted."""
    row = connection.execute(select(audit_head.c.sequence, audit_head.c.hash)).one()
    return Head(row.sequence, row.hash)


def verified(connection: Connection, known: Head | None) -> AuditProof:
    """Follow the chain from its first entry or its last anchor to its end."""
    head = read_head(connection)
    anchors = tuple(
        Anchor(row.sequence, row.hash, row.removed, row.time)
        for row in connection.execute(select(audit_anchors).order_by(audit_anchors.c.sequence))
    )
    last_anchor = anchors[-1] if anchors else None
    start = Head(last_anchor.sequence, last_anchor.hash) if last_anchor else Head(0, FIRST_HASH)
    walk = _Walk(start, known)
    # Times as they stand there: somebody may have put something else in their place.
    written = [
        type_coerce(column, String).label("time") if column is audit.c.time else column
        for column in audit.c
    ]
    rows = connection.execute(
        select(*written).order_by(audit.c.sequence),
        execution_options={"yield_per": _ROWS_AT_ONCE},
    )
    for row in rows:
        walk.take(row)
    walk.finish(head)
    return AuditProof(
        entries=walk.entries,
        first=start.sequence + 1,
        head=head,
        anchors=anchors,
        findings=tuple(walk.findings),
    )


class _Walk:
    """The state of following a chain from one entry to the next."""

    def __init__(self, start: Head, known: Head | None) -> None:
        self._last = self._start = start
        self._known = known
        self.entries = 0
        self.findings: list[AuditFinding] = []
        self._compare_known(start)

    def take(self, row: AnyRow) -> None:
        """The next entry."""
        self.entries += 1
        entry = dict(row._mapping)
        sequence, hashed = entry["sequence"], str(entry.pop("hash"))
        if not isinstance(sequence, int) or not _HASH.fullmatch(hashed):
            text = f"The number or the hash of an entry after {self._last.sequence} was changed."
            self._find(self._last.sequence + 1, Damage.CHANGED, text)
            return
        if sequence <= self._start.sequence:
            self._find(
                sequence,
                Damage.INSERTED,
                f"Entry {sequence} was inserted: retention has removed everything up to"
                f" {self._start.sequence}.",
            )
            return
        expected = self._last.sequence + 1
        if sequence > expected:
            which = (
                f"Entry {expected} is"
                if sequence == expected + 1
                else f"Entries {expected} to {sequence - 1} are"
            )
            self._find(expected, Damage.REMOVED, f"{which} missing.")
        elif entry_hash(self._last.hash, entry) != hashed:
            text = f"Entry {sequence} was changed, or the hash of the one before it was."
            self._find(sequence, Damage.CHANGED, text)
        # From here on the chain is followed as it stands, so that every place is found.
        self._last = Head(sequence, hashed)
        self._compare_known(self._last)

    def finish(self, head: Head) -> None:
        """The end of the table against the end that was noted, here and elsewhere."""
        last = self._last
        if last.sequence < head.sequence:
            text = f"Entries {last.sequence + 1} to {head.sequence} are missing at the end."
            self._find(last.sequence + 1, Damage.REMOVED, text)
        elif last.sequence > head.sequence:
            text = f"Entries {head.sequence + 1} to {last.sequence} were inserted at the end."
            self._find(head.sequence + 1, Damage.INSERTED, text)
        elif last.hash != head.hash:
            text = f"The hash of the last entry, {last.sequence}, was changed."
            self._find(last.sequence, Damage.CHANGED, text)
        if self._known is not None and self._known.sequence > last.sequence:
            text = f"Entry {self._known.sequence}, which was noted elsewhere, is missing."
            self._find(last.sequence + 1, Damage.REMOVED, text)

    def _compare_known(self, here: Head) -> None:
        known = self._known
        if known is not None and known.sequence == here.sequence and known.hash != here.hash:
            self._find(
                here.sequence,
                Damage.CHANGED,
                f"Entry {here.sequence} or one before it is not the one whose hash was noted"
                " elsewhere.",
            )

    def _find(self, sequence: int, damage: Damage, text: str) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(AuditFinding(sequence, damage, text))


#: The actions that count against a quota, and the outcomes with which they do.
COUNTED = (Action.TABLE, Action.JOB, Action.DOWNLOAD)
_DELIVERED = ("allowed", "withheld")

#: Longer questions are cut: their hash stands beside them, and nobody fills a disk with them.
LONGEST_QUESTION = 20_000
_LONGEST_WORD = 200
_REMOVED_AT_ONCE = 20_000
_LARGEST = 2**53
#: The lock of PostgreSQL under which the chain grows: an arbitrary number, ours.
_CHAIN_LOCK = 7_305_002
_WORDS = ("who", "role", "spec_hash", "format", "outcome", "reason", "request")


def chain(entries: Sequence[AuditEntry], head: Head, now: datetime) -> list[dict[str, Any]]:
    """Entries as rows of the table, each with its number and its hash."""
    rows: list[dict[str, Any]] = []
    sequence, previous = head.sequence, head.hash
    for entry in entries:
        sequence += 1
        time = entry.time or now
        row: dict[str, Any] = {
            "sequence": sequence,
            "action": Action.named(entry.action).value,
            "question": storable(entry.question, longest=LONGEST_QUESTION),
            "cells": _whole(entry.cells),
            "milliseconds": _whole(entry.milliseconds),
            **{name: storable(getattr(entry, name), longest=_LONGEST_WORD) for name in _WORDS},
        }
        previous = entry_hash(previous, {**row, "time": time_text(time)})
        rows.append({**row, "time": time, "hash": previous})
    return rows


def _whole(number: float) -> int:
    """A number that every database holds: one entry must not stop all those behind it."""
    return min(max(int(number), 0), _LARGEST)


def append_entries(connection: Connection, entries: Sequence[AuditEntry], now: datetime) -> Head:
    """Add entries at the end of the chain, in the transaction of whatever they tell of.

    Of several writers each waits until the one before has committed: there is one chain.
    """
    head = _lock_head(connection)
    rows = chain(entries, head, now)
    if not rows:
        return head
    connection.execute(insert(audit), rows)
    grown = Head(rows[-1]["sequence"], rows[-1]["hash"])
    connection.execute(update(audit_head).values(sequence=grown.sequence, hash=grown.hash))
    return grown


def enter(
    connection: Connection, by: Actor, action: Action, now: datetime, *, about: str = ""
) -> None:
    """Enter one change of accounts or settings, in the transaction in which it happens."""
    allowed = AuditEntry(who=by.who, role=by.role, action=action, outcome="allowed", reason=about)
    append_entries(connection, [replace(allowed, request=by.request)], now)


class AuditLog:
    """The audit of one database."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def append(self, entries: Sequence[AuditEntry]) -> Head:
        """Write entries now, all or none; the new end of the chain."""
        try:
            with self._link.writing() as connection:
                return append_entries(connection, entries, self._link.clock())
        except IntegrityError:
            raise OutputError(
                f"The audit in {self._link.shown} has entries behind its end, which nobody of this"
                " program wrote. Look at it with: sdcensus account audit verify"
            ) from None

    def now(self) -> datetime:
        """The time that entries get."""
        return self._link.clock()

    def head(self) -> Head:
        """The end of the chain."""
        with self._link.reading() as connection:
            return read_head(connection)

    def latest(
        self,
        *,
        limit: int = 100,
        before: int | None = None,
        who: str | None = None,
        action: Action | str | None = None,
    ) -> tuple[WrittenEntry, ...]:
        """Entries, the newest first.

        Args:
            limit: How many at most.
            before: Only those with a smaller number, to go on where the last call ended.
            who: Only those of one account or pseudonym.
            action: Only those of one kind.
        """
        asked = select(audit).order_by(audit.c.sequence.desc()).limit(max(0, limit))
        if before is not None:
            asked = asked.where(audit.c.sequence < before)
        if who is not None:
            asked = asked.where(audit.c.who == who)
        if action is not None:
            asked = asked.where(audit.c.action == Action.named(action).value)
        with self._link.reading() as connection:
            return _entries(connection, asked)

    def used(self, who: str, since: datetime, *, actions: Sequence[Action] = COUNTED) -> Used:
        """How many tables somebody was given since a time, and how many cells they had."""
        asked = select(func.count(), func.coalesce(func.sum(audit.c.cells), 0)).where(
            audit.c.who == who,
            audit.c.time >= since,
            audit.c.action.in_([action.value for action in actions]),
            audit.c.outcome.in_(_DELIVERED),
        )
        with self._link.reading() as connection:
            tables, cells = connection.execute(asked).one()
        return Used(int(tables), int(cells))

    def delivered(
        self, since: datetime, *, most: int, at_once: int = 200
    ) -> Iterator[tuple[WrittenEntry, ...]]:
        """Questions that were answered since a time, the oldest first, some at a time.

        Args:
            since: Only those from then on.
            most: Of all of them, the newest so many.
            at_once: How many are read at once.
        """
        number = audit.c.sequence
        answered = select(audit).where(
            audit.c.time >= since,
            audit.c.action.in_([action.value for action in COUNTED]),
            audit.c.outcome.in_(_DELIVERED),
        )
        newest = answered.with_only_columns(number).order_by(number.desc()).limit(most).subquery()
        with self._link.reading() as connection:
            first, last = connection.execute(
                select(func.min(newest.c.sequence), func.max(newest.c.sequence))
            ).one()
        while first is not None and first <= last:
            asked = answered.where(number.between(first, last)).order_by(number).limit(at_once)
            with self._link.reading() as connection:
                entries = _entries(connection, asked)
            if not entries:
                return
            yield entries
            first = entries[-1].sequence + 1

    def verify(self, known: Head | None = None) -> AuditProof:
        """Follow the whole chain and say where it is broken.

        Entries that were changed, removed, inserted or put into another order are found. Somebody
        who can write to the database and knows how may write the whole chain anew from some entry
        on; only an end of the chain that was noted elsewhere shows that.

        Args:
            known: An end of the chain that was noted earlier.
        """
        with self._link.reading() as connection:
            return verified(connection, known)

    def apply_retention(
        self, days: int, *, by: Actor, even_if_damaged: bool = False
    ) -> Anchor | None:
        """Remove the entries that are older than some days, and leave an anchor for them.

        Entries go from the beginning up to the first one that is younger.

        Args:
            days: How many days entries are kept; at least 1.
            by: Who removes them.
            even_if_damaged: Remove them even if the chain is broken, and with them the traces.

        Returns:
            The anchor; None if there was nothing to remove.

        Raises:
            Refused: The chain is broken.
        """
        if days < 1:
            raise SpecError("Entries of the audit are kept for at least one day.")
        now = self._link.clock()
        with self._link.reading() as connection:
            last = _last_before(connection, now - timedelta(days=days))
            if last is None:
                return None
            if not even_if_damaged:
                _require_sound(verified(connection, None))
        removed = 0
        while True:
            # Some at a time, since whoever writes has to wait for it.
            with self._link.writing() as connection:
                anchor = _remove_some(connection, last, now)
                removed += anchor.removed
                if anchor.sequence == last:
                    about = f"{removed} entries up to {last}, kept {days} days"
                    enter(connection, by, Action.RETENTION, now, about=about)
                    return Anchor(anchor.sequence, anchor.hash, removed, now)


def _entries(connection: Connection, asked: Select[Any]) -> tuple[WrittenEntry, ...]:
    return tuple(WrittenEntry(**row._mapping) for row in connection.execute(asked))


def _lock_head(connection: Connection) -> Head:
    """The end of the chain, which nobody else can move until this transaction ends."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CHAIN_LOCK})
    return read_head(connection)


def _last_before(connection: Connection, oldest: datetime) -> int | None:
    """The last entry of those before the first one that is to be kept."""
    kept = select(func.min(audit.c.sequence)).where(audit.c.time >= oldest)
    first_kept = connection.execute(kept).scalar()
    going = select(func.max(audit.c.sequence))
    if first_kept is not None:
        going = going.where(audit.c.sequence < first_kept)
    last = connection.execute(going).scalar()
    return None if last is None else int(last)


def _remove_some(connection: Connection, last: int, now: datetime) -> Anchor:
    """Remove the oldest entries, up to one number and not too many, and set an anchor."""
    _lock_head(connection)
    oldest = (
        select(audit.c.sequence)
        .where(audit.c.sequence <= last)
        .order_by(audit.c.sequence)
        .limit(_REMOVED_AT_ONCE)
        .subquery()
    )
    end = connection.execute(select(func.max(oldest.c.sequence))).scalar()
    here = audit.c.sequence == (last if end is None else end)
    row = connection.execute(select(audit.c.sequence, audit.c.hash).where(here)).one_or_none()
    if row is None:
        raise OutputError("Somebody else is removing entries of the audit at the same time.")
    gone = audit.c.sequence <= row.sequence
    count = connection.execute(select(func.count()).select_from(audit).where(gone)).scalar_one()
    anchor = Anchor(row.sequence, row.hash, count, now)
    before = connection.execute(select(func.max(audit_anchors.c.sequence))).scalar()
    # Entries that somebody has put before an anchor need no other one.
    if before is None or before < anchor.sequence:
        connection.execute(
            insert(audit_anchors).values(
                sequence=anchor.sequence, hash=anchor.hash, removed=count, time=now
            )
        )
    connection.execute(delete(audit).where(gone))
    return anchor


def _require_sound(proof: AuditProof) -> None:
    if not proof.sound:
        raise Refused(
            "The audit is damaged, and removing entries would remove the traces. Make a backup and"
            f" find out what happened; then remove them with --even-if-damaged. {proof.findings[0]}"
        )
