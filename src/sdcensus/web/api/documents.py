"""The OpenAPI document: every route, what it takes, what it gives, and how it fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdcensus._version import __version__
from sdcensus.web.api.negotiation import FORMATS, NAMES
from sdcensus.web.api.schemas import (
    ABOUT_CONDITION,
    AXIS,
    CONDITION,
    codes_schema,
    components,
    groups_schema,
    listed,
    program_pattern,
    ref,
)
from sdcensus.web.api.site import Site
from sdcensus.web.api.telling import link_of
from sdcensus.web.identity import SESSION_COOKIE

Json = dict[str, Any]

_FAILURES = {
    400: "The question or a parameter cannot be understood.",
    401: "There is no such account or token.",
    403: "The policy refuses the table, the account may not do this, or the request is forged.",
    404: "There is no such thing.",
    406: "The answer does not exist in that form.",
    408: "The request did not arrive in time.",
    413: "The request is too large.",
    414: "The address is too long.",
    415: "The body is not JSON.",
    429: "The quota is used up.",
    500: "Something went wrong inside.",
    503: "Too much is going on.",
}
_ALWAYS = (400, 401, 403, 404, 408, 413, 414, 429, 500, 503)
_JSON = "application/json"
_TAG = {"ETag": {"description": "The strong tag of the content.", "schema": {"type": "string"}}}
_LATER = {"Retry-After": {"description": "Seconds.", "schema": {"type": "integer"}}}
_BYTES: Json = {"schema": {"type": "string", "format": "binary"}}


def openapi(site: Site) -> Json:
    """The OpenAPI document of a server."""
    populations = [one.of.plural for one in site.catalogue.populations]
    languages = site.settings.languages
    start = site.catalogue.start
    first = site.catalogue.populations[0]
    names = [one.variable.name for one in first.variables]
    program = program_pattern(first.of.value, names)
    paths = _paths(languages, populations, start.to_json(), names[0], program)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{site.catalogue.census.name}: tables",
            "version": __version__,
            "description": (
                "Published tables of a census. Every number is protected: totals are published on"
                " their own and need not be the sum of their parts. A first table: "
                f"`{link_of(start)}`."
            ),
        },
        "servers": [{"url": "/api/v1"}],
        "paths": paths,
        "components": {
            "schemas": components(populations, program),
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token of an account. Tables can be asked for without one.",
                },
                "session": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": SESSION_COOKIE,
                    "description": "The cookie of somebody who has logged in; over https its name"
                    " begins with `__Host-`.",
                },
                "forgery": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-CSRF-Token",
                    "description": "What pages of this server hold in `<meta name=csrf>`; needed"
                    " with the cookie for everything that changes something.",
                },
            },
        },
    }


def _paths(
    languages: Sequence[str], populations: Sequence[str], start: Json, variable: str, program: str
) -> Json:
    lang = _query("lang", {"type": "string", "enum": list(languages)}, "The language.")
    form = _query("format", {"type": "string", "enum": list(NAMES)}, "The form; else by Accept.")
    of = _path("of", "What is counted.", populations[0], populations)
    return {
        "/datasets": {"get": _got("Datasets", "What can be counted", [lang])},
        "/datasets/{of}/variables": {"get": _got("Variables", "What it is counted by", [of, lang])},
        "/datasets/{of}/variables/{name}": {
            "get": _got(
                "Variable",
                "A variable with its codes",
                [of, _path("name", "The variable.", variable), lang],
            )
        },
        "/datasets/{of}/areas": {"get": _got("Areas", "Areas", [of, *_area_parameters(), lang])},
        "/datasets/{of}/map": {
            "get": _got(
                "Map",
                "The borders of areas",
                [of, _word("variable"), _word("level"), lang],
                media_type="application/geo+json",
            )
        },
        "/tables": {
            "get": _table(
                "A published table by its link", [*_question_parameters(populations), lang, form]
            ),
            "post": {
                **_table("A published table", [lang, form]),
                "requestBody": _body("Question", start),
            },
        },
        "/tables/check": {
            "post": {
                **_got("Check", "How large a table would be. Nothing is counted", [lang]),
                "requestBody": _body("Question", start),
            }
        },
        "/jobs/{job}": {
            "get": _got("Job", "How far a large table is", [_job(), lang]),
            "delete": _op("Forget a large table", [_job(), lang], {204: _done("Forgotten.")}),
        },
        "/jobs/{job}/result": {"get": _table("A large table", [_job(), lang], later=False)},
        "/commands": {
            "post": {
                **_got("Compiled", "The tables of a program", [lang]),
                "requestBody": _body("Program", None),
            }
        },
        "/commands/table": {
            "get": _table(
                "A table of a program by its link", [*_program_parameters(program), lang, form]
            ),
            "post": {
                **_table("A table of a program", [lang, form]),
                "requestBody": _body("ProgramTable", None),
            },
        },
        **_account_paths(lang),
    }


def _account_paths(lang: Json) -> Json:
    item = {
        "name": "id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$"},
    }
    return {
        "/account": {"get": _got("Account", "Who asks, and what is left", [lang])},
        "/account/tokens": {
            "get": _secured(_got("Tokens", "The tokens of the account", [lang])),
            "post": _in_session(_made("MadeToken", "A new token, shown once", "NewToken", lang)),
        },
        "/account/tokens/{id}": {
            "get": _secured(_got("Token", "A token", [item, lang])),
            "delete": _in_session(_op("Revoke a token", [item, lang], {204: _done("Revoked.")})),
        },
        "/saved": {
            "get": _secured(_got("SavedTables", "Saved tables", [lang])),
            "post": _secured(_made("Saved", "Save a table", "NewSaved", lang)),
        },
        "/saved/{id}": {
            "delete": _secured(_op("Forget a saved table", [item, lang], {204: _done("Gone.")}))
        },
        "/feedback": {"post": _made("Received", "Write to the office", "NewFeedback", lang)},
    }


def _question_parameters(populations: Sequence[str]) -> list[Json]:
    return [
        _query("of", {"type": "string", "enum": list(populations)}, "What is counted."),
        {
            **_query(
                "by",
                listed({"type": "string", "pattern": AXIS}, maxItems=20, uniqueItems=True),
                "Axes.",
            ),
            "style": "form",
            "explode": True,
        },
        _query("where", {"type": "string", "pattern": CONDITION}, ABOUT_CONDITION),
        _written("codes", codes_schema(), "For some axes the codes to show, as JSON."),
        _written("groups", groups_schema(), "For some axes groups of codes, as JSON."),
    ]


def _program_parameters(pattern: str) -> list[Json]:
    program = {"type": "string", "pattern": pattern}
    return [
        {**_query("program", program, "The program."), "required": True},
        _query("table", {"type": "string", "pattern": r"^[A-Za-z_]{0,60}$"}, "Its table."),
    ]


def _written(name: str, schema: Json, description: str) -> Json:
    return {
        "name": name,
        "in": "query",
        "description": description,
        "content": {_JSON: {"schema": {**schema, "maxProperties": 0}}},
    }


def _area_parameters() -> list[Json]:
    return [
        _word("variable"),
        _word("level"),
        _query("search", {"type": "string", "maxLength": 100}, "Part of a name or code."),
        _query(
            "parent",
            {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]{0,60}:[A-Za-z0-9]{1,40}$"},
            "Only areas within this one, as level:code.",
        ),
        _query("limit", {"type": "integer", "minimum": 1, "maximum": 10_000}, "At most so many."),
        _query("offset", {"type": "integer", "minimum": 0, "maximum": 10_000_000}, "From here on."),
    ]


def _word(name: str) -> Json:
    return _query(name, {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]{0,60}$"}, "")


def _query(name: str, schema: Json, description: str) -> Json:
    made = {"name": name, "in": "query", "required": False, "schema": schema}
    return {**made, "description": description} if description else made


def _path(name: str, description: str, example: str, known: Sequence[str] = ()) -> Json:
    schema: Json = {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9_]{0,60}$"}
    if known:
        schema = {"type": "string", "enum": list(known)}
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": description,
        "schema": schema,
        "example": example,
    }


def _job() -> Json:
    return {
        "name": "job",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"},
    }


def _body(name: str, example: Json | None) -> Json:
    content: Json = {"schema": ref(name)}
    if example is not None:
        content["example"] = example
    return {"required": True, "content": {_JSON: content}}


def _done(description: str) -> Json:
    return {"description": description}


def _given(name: str, description: str, media_type: str = _JSON) -> Json:
    return {"description": description, "content": {media_type: {"schema": ref(name)}}}


def _op(summary: str, parameters: Sequence[Json], responses: Mapping[int, Json]) -> Json:
    made = {str(status): one for status, one in responses.items()}
    for status in (*_ALWAYS, 406, 415):
        failure = _given("Error", _FAILURES[status])
        if status in (429, 503):
            failure["headers"] = _LATER
        made.setdefault(str(status), failure)
    return {"summary": summary, "parameters": list(parameters), "responses": made}


def _got(name: str, summary: str, parameters: Sequence[Json], media_type: str = _JSON) -> Json:
    return _op(summary, parameters, {200: _given(name, summary + ".", media_type)})


def _made(name: str, summary: str, body: str, lang: Json) -> Json:
    return {
        **_op(summary, [lang], {201: _given(name, summary + ".")}),
        "requestBody": _body(body, None),
    }


def _secured(operation: Json) -> Json:
    return {**operation, "security": [{"token": []}]}


def _in_session(operation: Json) -> Json:
    about = "Needs a login in a browser: with a token it is refused (403), so that whoever finds a"
    return {
        **operation,
        "description": f"{about} token cannot make others.",
        "security": [{"session": [], "forgery": []}],
    }


def _table(summary: str, parameters: Sequence[Json], *, later: bool = True) -> Json:
    content: Json = {_JSON: {"schema": ref("Table")}}
    for name, types in FORMATS.items():
        if name != "json-stat":
            content[types[0]] = _BYTES
    content["application/zip"] = _BYTES
    content["application/x-pc-axis"] = _BYTES
    responses: dict[int, Json] = {
        200: {"description": "The table.", "content": content, "headers": _TAG},
        304: _done("It is known already."),
    }
    if later:
        responses[202] = {
            **_given("Job", "It is being made: look at its job."),
            "headers": {"Location": {"schema": {"type": "string"}}, **_LATER},
        }
    return _op(summary, parameters, responses)
