"""The server as one application: pages, API, files, and what stands around them.

While it answers it tells the watch what was asked before, and removes what has been kept long
enough.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

import orjson
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sdcensus.errors import OutputError, SdcensusError
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService
from sdcensus.session.watch import Watch, WatchLimits
from sdcensus.web import pages as page_routes
from sdcensus.web.api import account, commands, datasets, staff, tables
from sdcensus.web.api.documents import openapi
from sdcensus.web.api.errors import ApiError, as_api_error, busy
from sdcensus.web.api.requests import JSON, made_response, public_json, request_id
from sdcensus.web.api.site import SERVER, Site
from sdcensus.web.api.tables import FastTables
from sdcensus.web.caching import CacheBusy
from sdcensus.web.database import Action, AuditEntry as AuditEntry, Database, WrittenEntry
from sdcensus.web.languages import language_of
from sdcensus.web.middleware import BodyLimits, Shell, log_failure
from sdcensus.web.pages import Pages
from sdcensus.web.quotas import QuotaExceeded
from sdcensus.web.routing import Routes
from sdcensus.web.security import ServerKeys, read_keys
from sdcensus.web.settings import Settings
from sdcensus.web.static_files import StaticFiles

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
    restored = 0
    while not site.stopping:
        page = await _quietly(site, partial(next, pages, None))
        if page is None:
            break
        # Of a table that somebody has asked for since the start the watch knows already.
        new = [
            entry for entry in page if entry.spec_hash and site.is_new(entry.who, entry.spec_hash)
        ]
        questions = await _quietly(site, partial(_compiled, site, new, known)) or []
        for at in range(0, len(questions), _AT_ONCE):
            batch = questions[at : at + _AT_ONCE]
            try:
                restored += await loop.run_in_executor(site.watching, site.watch.restore, batch)
            except Exception as error:
                log_failure(_NOBODY, error)
    return restored


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
    questions = []
    for entry in entries:
        if entry.question not in known:
            known[entry.question] = _spec(site, entry.question)
        spec = known[entry.question]
        if spec is not None:
            questions.append((entry.who, spec, entry.time.timestamp()))
    return questions


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


API = "/api/v1"


def create_app(
    service: TableService,
    settings: Settings,
    database: Database,
    *,
    watch: Watch | None = None,
    keys: ServerKeys | None = None,
) -> Starlette:
    """The application of a table builder. ``app.state.site`` holds what is running.

    Args:
        service: What answers.
        settings: Every limit.
        database: Accounts and audit; whoever opened it closes it.
        watch: Looks at series of questions; by default one for this menu.
        keys: The keys of cookies; by default those of the environment or of the state folder.
    """
    site = Site(
        service,
        settings,
        database,
        default_watch(service) if watch is None else watch,
        read_keys(settings.state) if keys is None else keys,
    )
    pages = Pages(site)
    files = StaticFiles(settings.state)
    routes = [
        *datasets.routes.of(site, API),
        *tables.routes.of(site, API),
        *commands.routes.of(site, API),
        *account.routes.of(site, API),
        *staff.routes.of(site, API),
        *page_routes.routes.of(pages),
        *_small_routes.of(Service(site, files, openapi(site))),
    ]
    app = Starlette(routes=routes, lifespan=_lifespan(site, files))
    # An address with one stroke too many is another address, and not sent elsewhere.
    app.router.redirect_slashes = False
    app.state.site = site
    _add_failures(app, site, pages, routes)
    # The last added stands outermost.
    app.add_middleware(BodyLimits, settings=settings)
    app.add_middleware(FastTables, site=site)
    app.add_middleware(Shell, settings=settings, metrics=site.metrics)
    return app


def default_watch(service: TableService) -> Watch:
    """A watch for a menu: limits by its look budget and by the published number of units."""
    looks = max((budget.budget.asked.looks for budget in service.budgets), default=0.0)
    try:
        first = service.catalogue.populations[0].of.plural
        table = service.answer(Question(of=first)).table
        units = 0.0 if table is None else float(table.values.reshape(-1)[0])
    except SdcensusError:
        units = 0.0
    if units < 1:
        return Watch()
    variables = max(
        sum(not variable.area for variable in population.variables)
        for population in service.catalogue.populations
    )
    limits = WatchLimits.for_menu(looks=float(looks), units=units, variables=variables)
    return Watch(limits=limits)


def _lifespan(
    site: Site, files: StaticFiles
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        site.note(AuditEntry(who=SERVER.who, role=SERVER.role, action=Action.START))
        house = asyncio.create_task(keep_house(site))
        early = asyncio.create_task(files.prepare())
        try:
            yield
        finally:
            early.cancel()
            house.cancel()
            await site.close()

    return lifespan


class Service(NamedTuple):
    """What the addresses need that are neither a page nor a table."""

    site: Site
    files: StaticFiles
    document: dict[str, Any]


_small_routes = Routes[Service]()


@_small_routes.get("/api/v1/openapi.json")
async def _api_document(service: Service, request: Request) -> Response:
    return public_json(request, service.site, service.document, "en")


@_small_routes.get("/static/{path:path}")
async def _static(service: Service, request: Request) -> Response:
    return await service.files.response(request)


@_small_routes.get("/health")
async def _health(service: Service, _: Request) -> Response:
    # Whoever cannot be noted is not answered: such a server serves nobody.
    return _state(200, "ok") if service.site.writer.healthy else _state(503, "audit")


@_small_routes.get("/ready")
async def _ready(service: Service, _: Request) -> Response:
    site = service.site
    if site.stopping or not site.writer.healthy:
        return _state(503, "not-ready")
    try:
        await site.in_thread(site.database.check)
    except SdcensusError:
        return _state(503, "not-ready")
    return _state(200, "ready")


def _state(status: int, word: str) -> Response:
    headers = [(b"cache-control", b"no-store")]
    return made_response(status, orjson.dumps({"status": word}), JSON, headers)


def _add_failures(app: Starlette, site: Site, pages: Pages, known_routes: Sequence[Route]) -> None:
    async def failed(request: Request, error: Exception) -> Response:
        known = as_api_error(error)
        if known is None:
            site.metrics.failures.inc()
            log_failure(request_id(request), error)
            # What cannot be noted now, perhaps can be soon.
            known = busy() if isinstance(error, OutputError) else ApiError(500, "internal")
        return await told(request, known)

    async def plain_failure(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405:
            allowed = ", ".join(sorted(_methods(known_routes, request.url.path)))
            headers = ((b"allow", allowed.encode("latin-1")),)
            if request.method == "OPTIONS":
                return made_response(204, b"", "", headers)
            values = {"method": request.method[:20], "allowed": allowed}
            return await told(request, ApiError(405, "method", values=values, headers=headers))
        key = "not_found" if error.status_code == 404 else "bad_request"
        return await told(request, ApiError(error.status_code, key))

    async def told(request: Request, error: ApiError) -> Response:
        language = language_of(request, site.settings.languages)
        headers = [(b"cache-control", b"no-store"), *error.headers]
        if _wants_page(request):
            caller = await site.identities.of(request.scope)
            message = error.told(language, request_id(request))["message"]
            page = pages.response(
                request,
                "error",
                caller,
                error.status,
                {"status": error.status, "message": message, "request_id": request_id(request)},
            )
            kept = [header for header in page.raw_headers if header[0] != b"cache-control"]
            page.raw_headers = [*kept, *headers]
            return page
        headers.append((b"content-language", language.encode("ascii")))
        return made_response(error.status, error.body(language, request_id(request)), JSON, headers)

    for kind in (ApiError, SdcensusError, QuotaExceeded, CacheBusy):
        app.add_exception_handler(kind, failed)
    app.add_exception_handler(HTTPException, plain_failure)


def _methods(known: Sequence[Route], path: str) -> set[str]:
    """The methods that an address answers; OPTIONS tells all of them."""
    methods = [each.methods or set() for each in known if each.path_regex.match(path)]
    return {"OPTIONS"}.union(*methods)


def _wants_page(request: Request) -> bool:
    """Whether a person looks at it: a browser asks for a page, and not for the API or a file."""
    path = request.url.path
    return not path.startswith(("/api/", "/static/")) and (
        "text/html" in request.headers.get("accept", "")
    )
