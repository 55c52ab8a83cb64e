"""The command window: small programs, compiled to questions like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from sdcensus.web.api.answering import answer, job_response
from sdcensus.web.api.asking import LONGEST_TABLE_NAME
from sdcensus.web.api.errors import ApiError, not_found
from sdcensus.web.api.requests import (
    check_forgery,
    check_parameters,
    entry_response,
    json_response,
    parameter,
    read_object,
    request_id,
    text_member,
    wants_job,
)
from sdcensus.web.api.site import Site, asked_format
from sdcensus.web.api.telling import AskedTable, link_of
from sdcensus.web.identity import origin_of
from sdcensus.web.jobs import Job
from sdcensus.web.routing import Routes

if TYPE_CHECKING:
    from sdcensus.model.schema.schema import Schema
    from sdcensus.session.commands import CommandTable, Program

Json = dict[str, Any]


routes = Routes[Site]()


@routes.post("/commands")
async def compiled(site: Site, request: Request) -> Response:
    """The tables that a program asks for, as questions. Nothing is counted."""
    check_parameters(request, "lang")
    language = site.language(request)
    await check_forgery(site, request)
    members = await read_object(request, "program")
    text = text_member(members, "program", _longest(), None)
    program = await site.in_thread(_compiled, text, site.schema, language)
    return json_response({"tables": [_told(table, text) for table in program.tables]})


@routes.get("/commands/table")
async def linked(site: Site, request: Request) -> Response:
    """A table of a program by its link."""
    check_parameters(request, "program", "table", "lang", "format")
    text = parameter(request, "program", _longest())
    if text is None:
        raise ApiError(400, "missing_parameter", place="program")
    name = parameter(request, "table", LONGEST_TABLE_NAME) or ""
    return await _finished(site, request, text, name)


@routes.post("/commands/table")
async def posted(site: Site, request: Request) -> Response:
    """A table of a program: its question is answered, and its figures computed from that."""
    check_parameters(request, "lang", "format")
    await check_forgery(site, request)
    members = await read_object(request, "program", "table")
    text = text_member(members, "program", _longest(), None)
    name = text_member(members, "table", LONGEST_TABLE_NAME, "")
    return await _finished(site, request, text, name)


async def _finished(site: Site, request: Request, text: str, name: str) -> Response:
    language = site.language(request)
    caller = await site.caller(request)
    form = asked_format(parameter(request, "format"), request.headers.get("accept", ""))
    program = await site.in_thread(_compiled, text, site.schema, language)
    table = program.table(name) if name else program.tables[0]
    if table is None:
        raise not_found("unknown_item", "unknown-name")
    computed = None if table.computed is None and not table.title else table
    origin = origin_of(request.scope, secure=caller.secure)
    address = _address(text, table.name) if computed else ""
    asked = AskedTable(table.question, form, language, computed, origin, address)
    later = wants_job(request)
    answered = await answer(site, caller, asked, request=request_id(request), as_job=later)
    if isinstance(answered, Job):
        return job_response(site, caller, answered)
    return entry_response(request, site, caller, answered)


# The language is loaded here and not above: the server starts sooner, and most readers never write
# a program.
def _longest() -> int:
    """How many characters a program may have."""
    from sdcensus.session.commands import LONGEST_PROGRAM

    return LONGEST_PROGRAM


def _compiled(text: str, schema: Schema, language: str) -> Program:
    from sdcensus.session.commands import compile_program

    return compile_program(text, schema, language=language)


def _told(table: CommandTable, text: str) -> Json:
    return {
        **table.to_json(),
        "link": link_of(table.question),
        "computed": table.computed is not None,
        "result": _address(text, table.name),
    }


def _address(text: str, name: str) -> str:
    """The address of a table of a program."""
    return f"/api/v1/commands/table?{urlencode({'program': text, 'table': name}, quote_via=quote)}"
