"""Everything that a running server has, in one place; form and language of what it answers."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache, partial
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request

from sdcensus.errors import OutputError
from sdcensus.model.policy.policy import RoleRules, UserRole
from sdcensus.model.published.table_format import TableFormat, all_formats
from sdcensus.model.schema.schema import Schema
from sdcensus.session.answer import JSON_STAT, Catalogue, TableService, form_names, served_formats
from sdcensus.session.watch import Watch
from sdcensus.web.answers import CachedAnswer
from sdcensus.web.api.errors import ApiError
from sdcensus.web.caching import ByteCache, Flights, Key, Threads
from sdcensus.web.database import Action, Actor, AuditEntry as AuditEntry, AuditWriter, Database
from sdcensus.web.identity import Caller, Identities
from sdcensus.web.jobs import Jobs
from sdcensus.web.languages import LANGUAGE_COOKIE, chosen_language
from sdcensus.web.metrics import Metrics
from sdcensus.web.quotas import Attempts, Quotas
from sdcensus.web.security import ServerKeys
from sdcensus.web.settings import Settings

_LONGEST_HEADER = 1_000


def asked_format(name: str | None, accept: str) -> str:
    """The form that is asked for: by name, else by the header ``Accept``.

    Raises:
        ApiError: There is no such form (406).
    """
    if name is not None:
        if name in form_names():
            return name
        raise _no_such_form(name)
    form = accepted(accept)
    if form is None:
        raise _no_such_form(None)
    return form


def _no_such_form(name: str | None) -> ApiError:
    place = None if name is None else "format"
    return ApiError(406, "format", values={"formats": ", ".join(form_names())}, place=place)


def told_formats(site: Site, language: str) -> list[dict[str, Any]]:
    """The formats of tables as the server has them, for pages and for clients."""
    areas = site.has_maps
    return [
        {
            "name": table_format.name,
            "label": table_format.label,
            "about": table_format.about.show(language),
            "media_type": table_format.full_media_type,
            "endings": list(table_format.endings),
            "areas": table_format.areas,
        }
        for table_format in all_formats()
        if areas or not table_format.areas
    ]


@lru_cache(maxsize=1_000)
def accepted(header: str) -> str | None:
    """The form that a header ``Accept`` prefers; JSON-stat where it is as good as others.

    Examples:
        >>> accepted(""), accepted("text/csv, */*;q=0.1"), accepted("image/png")
        ('json-stat', 'csv', None)
    """
    if not header.strip():
        return JSON_STAT
    ranges = [_range(text) for text in header[:_LONGEST_HEADER].split(",") if text.strip()]
    best, at = None, 0.0
    for table_format in served_formats():
        quality = _quality(table_format, ranges)
        if quality > at:
            best, at = table_format.name, quality
    return best


@dataclass(frozen=True, slots=True)
class _Range:
    """What a header ``Accept`` takes: a type or many, of a version if it names one."""

    kind: str
    version: str | None
    quality: float


def _range(text: str) -> _Range:
    kind, *parameters = [part.strip().lower() for part in text.split(";")]
    version, quality = None, 1.0
    for parameter in parameters:
        name, _, value = (part.strip() for part in parameter.partition("="))
        if name == "version":
            version = value.strip('"')
        elif name == "q":
            try:
                quality = min(max(float(value), 0.0), 1.0)
            except ValueError:
                quality = 0.0
    return _Range(kind, version, quality)


def _quality(table_format: TableFormat, ranges: list[_Range]) -> float:
    """The quality of a format: for each of its types, of the range that names it most closely.

    Where a type has versions, a range with another one is not about it.
    """
    versions = (None, *table_format.versions)
    ours = [each for each in ranges if not table_format.versions or each.version in versions]
    best = 0.0
    for media_type in table_format.media_types:
        main = media_type.partition("/")[0]
        for wanted in (media_type, f"{main}/*", "*/*"):
            named = [each for each in ours if each.kind == wanted]
            closest = [each for each in named if each.version is not None] or named
            if closest:
                best = max(best, *(each.quality for each in closest))
                break
    return best


def asked_language(
    link: str | None, cookie: str | None, header: str, languages: tuple[str, ...]
) -> str:
    """The language of an answer of the API.

    Raises:
        ApiError: The link names a language that is not spoken (400).
    """
    if link is not None and link not in languages:
        raise ApiError(400, "language", values={"languages": ", ".join(languages)}, place="lang")
    return chosen_language(link, cookie, header, languages)


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

#: Who starts and stops the server and tidies up, in the audit.
SERVER = Actor("~server", "office")
#: Threads for short work: checks of questions, the database, files.
SMALL_THREADS = 4
#: Made tables of which the slowest are shown to the staff.
_REMEMBERED = 1_000
#: Pairs of caller and table that were told to the watch.
_MOST_SEEN = 200_000


@dataclass(frozen=True, slots=True)
class Made:
    """A table that was made, for the staff page."""

    at: datetime
    question: str
    format: str
    cells: int
    milliseconds: int


class Site:
    """A running server: what answers, and all that it remembers.

    Args:
        service: What answers.
        settings: Every limit.
        database: Accounts and audit.
        watch: Looks at series of questions.
        keys: The keys of cookies.
    """

    def __init__(
        self,
        service: TableService,
        settings: Settings,
        database: Database,
        watch: Watch,
        keys: ServerKeys,
    ) -> None:
        self.service = service
        self.catalogue: Catalogue = service.catalogue
        self.settings = settings
        self.database = database
        self.watch = watch
        self.metrics = Metrics()
        self.writer = AuditWriter(database.audit)
        self.started = datetime.now(UTC)
        self.stopping = False
        #: Why the end of the audit could not be written, if so.
        self.lost: OutputError | None = None
        self._stopping_since: float | None = None
        self._ended = False
        database.sessions.limit(
            idle=timedelta(hours=settings.session_idle_hours),
            longest=timedelta(hours=settings.session_hours),
        )
        self.small = Threads(SMALL_THREADS, "sdcensus-small")
        self.counting = Threads(settings.workers, "sdcensus-counting")
        self.large = Threads(settings.jobs_running, "sdcensus-jobs")
        self.watching = Threads(1, "sdcensus-watch")
        self.keeping = Threads(1, "sdcensus-keeping")
        self.cache: ByteCache[CachedAnswer] = ByteCache(settings.cache_bytes)
        self.flights: Flights[CachedAnswer] = Flights(
            self.counting, settings.workers + settings.queue
        )
        self.job_flights: Flights[CachedAnswer] = Flights(
            self.large, settings.jobs_running + settings.jobs_waiting
        )
        self.jobs = Jobs(
            seconds=settings.job_seconds, most_bytes=settings.job_bytes, clock=time.time
        )
        self.job_tasks: set[asyncio.Task[None]] = set()
        self.quotas = Quotas(self._used, time.time)
        self.logins = Attempts(settings.login_attempts, settings.login_seconds, time.monotonic)
        self.feedback = Attempts(settings.feedback_per_day, 86_400, time.monotonic)
        self.identities = Identities(database, settings, keys, self.in_thread)
        self.made: deque[Made] = deque(maxlen=_REMEMBERED)
        self.seen: dict[tuple[str, str], None] = {}
        self._rules = {
            role: service.policy.role(role)
            for role in (UserRole.PUBLIC, UserRole.REGISTERED, UserRole.STAFF)
        }
        self._show()

    @property
    def schema(self) -> Schema:
        """The census that is asked about."""
        return self.service.policy.schema

    @cached_property
    def has_maps(self) -> bool:
        """Whether any table can be had in formats for maps."""
        return self.service.has_maps

    def rules(self, role: UserRole) -> RoleRules:
        """The limits of a role."""
        return self._rules[role]

    def job_limit(self, role: UserRole) -> int:
        """How many jobs somebody may have at the same time."""
        said = self.rules(role).jobs
        return self.settings.job_limit if said is None else said

    async def in_thread(
        self,
        work: Callable[Parameters, Result],
        *arguments: Parameters.args,
        **named: Parameters.kwargs,
    ) -> Result:
        """Do something that blocks a little without stopping everybody else."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self.small, partial(work, *arguments, **named))

    async def caller(self, request: Request) -> Caller:
        """Who asks.

        Raises:
            ApiError: They sent a token that is worth nothing (401).
        """
        caller = await self.identities.of(request.scope)
        if caller.bad_token:
            raise ApiError(401, "unauthorised", headers=((b"www-authenticate", b"Bearer"),))
        return caller

    def language(self, request: Request) -> str:
        """The language of an answer of the API."""
        return asked_language(
            request.query_params.get("lang"),
            request.cookies.get(LANGUAGE_COOKIE),
            request.headers.get("accept-language", ""),
            self.settings.languages,
        )

    def note(self, entry: AuditEntry) -> None:
        """Write into the audit. Whoever cannot be noted is not answered.

        Raises:
            OutputError: The audit cannot be written.
        """
        self.writer.write(entry)

    def note_action(self, caller: Caller, action: Action, request: str, reason: str = "") -> None:
        """Write into the audit what somebody did, other than asking."""
        self.note(
            AuditEntry(
                who=caller.who,
                role=caller.audit_role,
                action=action,
                reason=reason,
                request=request,
            )
        )

    def is_new(self, who: str, spec_hash: str) -> bool:
        """Whether somebody has not been given this table before; then they have."""
        key = (who, spec_hash)
        if key in self.seen:
            return False
        self.seen[key] = None
        if len(self.seen) > _MOST_SEEN:
            self.seen.pop(next(iter(self.seen)))
        return True

    def keep(self, key: Key, entry: CachedAnswer) -> None:
        """Keep an answer for the next one who asks, and note how long it took."""
        self.cache.put(key, entry, entry.size)
        self.metrics.making.observe(entry.milliseconds / 1_000)
        self.made.append(
            Made(datetime.now(UTC), entry.question, entry.format, entry.cells, entry.milliseconds)
        )

    def begin_to_stop(self) -> None:
        """Take no new questions. Those that are being answered have some seconds from now on."""
        self.stopping = True
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()

    async def close(self) -> None:
        """Finish what is going on, as long as there is time; write the audit; stop."""
        self.begin_to_stop()
        assert self._stopping_since is not None
        end = self._stopping_since + self.settings.shutdown_seconds
        await self.flights.finish(max(end - time.monotonic(), 0.1))
        for task in list(self.job_tasks):
            task.cancel()
        if self.job_tasks:
            await asyncio.wait(list(self.job_tasks), timeout=1)
        # A thread of its own: those for short work may all wait for a database that hangs.
        closing = Threads(1, "sdcensus-closing")
        await asyncio.get_running_loop().run_in_executor(closing, self.end)
        closing.shutdown(wait=False)

    def end(self) -> None:
        """Write what waits for the audit, and stop. Blocks for some seconds at most; once only."""
        if self._ended:
            return
        self._ended = True
        self.begin_to_stop()
        try:
            try:
                self.note(AuditEntry(who=SERVER.who, role=SERVER.role, action=Action.STOP))
            finally:
                self.writer.close(min(self.settings.shutdown_seconds, 10.0))
        except OutputError as error:
            self.lost = error
        finally:
            self.jobs.close()
            for pool in self._pools:
                pool.shutdown(wait=False, cancel_futures=True)

    @property
    def working(self) -> bool:
        """Whether a thread is still at work, such as one with a count that nobody waits for."""
        return any(pool.running for pool in self._pools)

    @property
    def _pools(self) -> tuple[Threads, ...]:
        return (self.counting, self.large, self.watching, self.keeping, self.small)

    async def _used(self, who: str, since: datetime) -> tuple[int, int]:
        used = await self.in_thread(self.database.audit.used, who, since)
        return used.tables, used.cells

    def _show(self) -> None:
        watch = self.metrics.watch
        watch("queue", "Tables that are being made or wait", lambda: len(self.flights))
        watch("jobs", "Jobs that run or wait", lambda: self.jobs.going_on)
        watch("job_bytes", "Bytes of results of jobs", lambda: self.jobs.weight)
        watch("cache_entries", "Answers that are kept", lambda: len(self.cache))
        watch("cache_bytes", "Bytes of answers that are kept", lambda: self.cache.weight)
        watch("audit_waiting", "Entries of the audit to be written", lambda: self.writer.waiting)
        watch("audit_healthy", "Whether the audit is written", lambda: int(self.writer.healthy))
