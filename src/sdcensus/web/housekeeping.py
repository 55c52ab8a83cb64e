"""What a server does for itself while it answers: it tells the watch what was asked before, and
removes what has been kept long enough.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TypeVar

from sdcensus.errors import SdcensusError
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.web.api.site import SERVER, Site
from sdcensus.web.database import WrittenEntry
from sdcensus.web.middleware.shell import log_failure

Result = TypeVar("Result")
#: Who asked for which table and when, in seconds.
Watched = tuple[str, TableSpec, float]

logger = logging.getLogger("sdcensus.web")

DAY = 86_400.0
#: Questions that the watch is told of at once: those who ask now wait for so many at most.
_AT_ONCE = 20
#: Under this name problems are logged that no request has met.
_NOBODY = "of the server itself"


async def keep_house(site: Site, *, every: float = DAY) -> None:
    """Tidy up now and every day, and tell the watch once what was asked before the start."""
    await restore_watch(site)
    while True:
        await _quietly(site, partial(tidy, site))
        await asyncio.sleep(every)


async def restore_watch(site: Site) -> int:
    """Tell the watch of questions that were answered before; how many there were.

    Meanwhile others are answered, and the watch is told of them in between. Questions that the
    present policy or schema does not know any more are left out.
    """
    most = site.settings.watch_questions
    if not most:
        return 0
    since = datetime.now(UTC) - timedelta(days=site.settings.audit_days)
    pages = site.database.audit.delivered(since, most=most)
    known: dict[str, TableSpec | None] = {}
    loop = asyncio.get_running_loop()
    told = 0
    while not site.stopping:
        page = await _quietly(site, partial(next, pages, None))
        if page is None:
            break
        # Of a table that somebody has asked for since the start the watch knows already.
        new = [one for one in page if one.spec_hash and site.is_new(one.who, one.spec_hash)]
        questions = await _quietly(site, partial(_compiled, site, new, known)) or []
        for at in range(0, len(questions), _AT_ONCE):
            some = questions[at : at + _AT_ONCE]
            try:
                told += await loop.run_in_executor(site.watching, site.watch.restore, some)
            except Exception as error:
                log_failure(_NOBODY, error)
    return told


def tidy(site: Site) -> None:
    """Remove what has been kept for as long as the settings say. Blocks."""
    days, database = site.settings.audit_days, site.database
    for work in (
        lambda: database.audit.apply_retention(days, by=SERVER),
        lambda: database.alarms.apply_retention(days, by=SERVER),
        lambda: database.feedback.apply_retention(days, by=SERVER),
        database.sessions.sweep,
    ):
        if site.stopping:
            return
        try:
            work()
        except SdcensusError as error:
            # Such as an audit that is damaged: its traces are not removed.
            logger.error("what is old is kept: %s", error)
            site.metrics.failures.inc()


def _compiled(
    site: Site, entries: Sequence[WrittenEntry], known: dict[str, TableSpec | None]
) -> list[Watched]:
    found = []
    for entry in entries:
        if entry.question not in known:
            known[entry.question] = _spec(site, entry.question)
        spec = known[entry.question]
        if spec is not None:
            found.append((entry.who, spec, entry.time.timestamp()))
    return found


def _spec(site: Site, question: str) -> TableSpec | None:
    try:
        return site.service.watched(Question.from_json(json.loads(question)))
    except (SdcensusError, ValueError, RecursionError):
        # Cut because it was long, or about a variable that is not offered any more.
        return None


async def _quietly(site: Site, work: Callable[[], Result]) -> Result | None:
    """Do something in a thread of its own; a fault is logged, and stops nobody."""
    loop = asyncio.get_running_loop()
    try:
        return await loop.run_in_executor(site.keeping, work)
    except Exception as error:
        log_failure(_NOBODY, error)
        return None
