"""Numbers from an original store and from one that was derived from it meet by name only.

Also where no published number changes: related tables of two lines tell what the method that made
the derived store did, and to whom.
"""

from __future__ import annotations

from sdcensus.errors import Refused
from sdcensus.model.published.lock import PublicationLock
from sdcensus.session.guard.run import GuardRun
from sdcensus.session.guard.words import UNTOUCHED, name_used


def line_crossed(lock: PublicationLock, series: str, run: GuardRun) -> tuple[str, ...]:
    """What the office should know where a run with new numbers goes over to another line.

    Args:
        lock: What was published.
        series: The census.
        run: What would be published.

    Raises:
        Refused: Nobody has given that a name.
    """
    before, now = lock.lineage(series), run.census.origin.lineage
    if before is None or before == now:
        return ()
    if run.revision is None:
        raise Refused(
            f"These tables would be made from {line_text(now)}, and those that are out were made"
            f" from {line_text(before)}. Who has related numbers from both learns from their"
            f" differences what was changed, and for whom.\n{UNTOUCHED}\nPublish from the store"
            " from which was published before; or, if the other one shall take its place, give"
            " that a name: --revision NAME."
        )
    if lock.event(run.revision, run.plan) is not None:
        raise Refused(name_used(run.revision))
    return (
        f"Revision {run.revision!r}: tables are now made from {line_text(now)}, and no longer from"
        f" {line_text(before)}. Publish everything that is out anew from it, or readers have both.",
    )


def line_text(lineage: str) -> str:
    """A line of records in words."""
    return f"a derived store ({lineage})" if lineage else "the original store"
