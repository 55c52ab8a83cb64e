"""The proof of an audit: following its chain, and saying where it is not what was written."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from sqlalchemy import Connection, String, select, type_coerce

from sdcensus.web.database.records import Anchor, AuditFinding, AuditProof, Damage, Head
from sdcensus.web.database.schema import FIRST_HASH, AnyRow, audit, audit_anchors, audit_head

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
            self._find(
                self._last.sequence + 1,
                Damage.CHANGED,
                f"The number or the hash of an entry after {self._last.sequence} was changed.",
            )
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
            self._find(
                sequence,
                Damage.CHANGED,
                f"Entry {sequence} was changed, or the hash of the one before it was.",
            )
        # From here on the chain is followed as it stands, so that every place is found.
        self._last = Head(sequence, hashed)
        self._compare_known(self._last)

    def finish(self, head: Head) -> None:
        """The end of the table against the end that was noted, here and elsewhere."""
        last = self._last
        if last.sequence < head.sequence:
            self._find(
                last.sequence + 1,
                Damage.REMOVED,
                f"Entries {last.sequence + 1} to {head.sequence} are missing at the end.",
            )
        elif last.sequence > head.sequence:
            self._find(
                head.sequence + 1,
                Damage.INSERTED,
                f"Entries {head.sequence + 1} to {last.sequence} were inserted at the end.",
            )
        elif last.hash != head.hash:
            self._find(
                last.sequence,
                Damage.CHANGED,
                f"The hash of the last entry, {last.sequence}, was changed.",
            )
        if self._known is not None and self._known.sequence > last.sequence:
            self._find(
                last.sequence + 1,
                Damage.REMOVED,
                f"Entry {self._known.sequence}, which was noted elsewhere, is missing.",
            )

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
