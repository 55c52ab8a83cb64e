"""The OpenAPI document: every route, what it takes, what it gives, and how it fails."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from sdcensus._version import __version__
from sdcensus.model.spec.question import LONGEST_AXIS, LONGEST_CONDITION, MOST_AXES
from sdcensus.session.answer import form_names
from sdcensus.web.api.asking import (
    ABOUT_CONDITION,
    AXIS,
    CONDITION,
    NAME,
    codes_schema,
    groups_schema,
    measure_schema,
    program_pattern,
    program_schema,
    program_table_schema,
    question_schema,
)
from sdcensus.web.api.datasets import COORDINATES, GEOJSON
from sdcensus.web.api.operations import (
    JSON,
    body,
    for_staff,
    given,
    got,
    in_session,
    made,
    part,
    query,
    removed,
    secured,
    sent,
    shared,
    table,
    word,
    written,
)
from sdcensus.web.api.shapes import WORD, listed, object_of
from sdcensus.web.api.site import Site
from sdcensus.web.api.telling import link_of
from sdcensus.web.identity import SESSION_COOKIE

Json = dict[str, Any]

#: What each operation is called in clients that are made from the document, by what it is about.
_NAMES: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "datasets": {
        "/datasets": {"get": "listDatasets"},
        "/datasets/{of}/variables": {"get": "listVariables"},
        "/datasets/{of}/variables/{name}": {"get": "getVariable"},
        "/datasets/{of}/areas": {"get": "listAreas"},
        "/datasets/{of}/map": {"get": "getMap"},
    },
    "tables": {
        "/tables": {"get": "getTable", "post": "postTable"},
        "/tables/check": {"post": "checkTable"},
        "/jobs/{job}": {"get": "getJob", "delete": "deleteJob"},
        "/jobs/{job}/result": {"get": "getJobResult"},
    },
    "programs": {
        "/commands": {"post": "compileProgram"},
        "/commands/table": {"get": "getProgramTable", "post": "postProgramTable"},
    },
    "account": {
        "/account": {"get": "getAccount"},
        "/account/tokens": {"get": "listTokens", "post": "makeToken"},
        "/account/tokens/{id}": {"get": "getToken", "delete": "revokeToken"},
        "/saved": {"get": "listSavedTables", "post": "saveTable"},
        "/saved/{id}": {"delete": "deleteSavedTable"},
        "/feedback": {"post": "sendFeedback"},
    },
    "staff": {
        "/staff/summary": {"get": "getSummary"},
        "/staff/alarms/{id}/acknowledge": {"post": "acknowledgeAlarm"},
        "/staff/feedback": {"get": "listFeedback"},
        "/staff/feedback/{id}/read": {"post": "markFeedbackAsRead"},
        "/staff/accounts": {"get": "listAccounts", "post": "addAccount"},
    },
    "server": {
        "/openapi.json": {"get": "getDocument"},
        "/health": {"get": "getHealth"},
        "/ready": {"get": "getReadiness"},
    },
}
_TAGS = {
    "datasets": "What can be counted, by which variables and areas.",
    "tables": "Published tables.",
    "programs": "Tables of programs of the command language.",
    "account": "Who asks: quotas, tokens, saved tables, messages to the office.",
    "staff": "For the staff of the office.",
    "server": "The server itself, and this document.",
}
_ROOM = (
    "as JSON. As many as an address of 16,384 characters has room for; this describes what always"
    " fits. Send longer ones by POST."
)
_COORDINATES = (
    "`degrees`: longitude and latitude of WGS 84, as RFC 7946 wants GeoJSON; 406 where the system"
    " of the map is not known. `map`: as the office has drawn it, with its system in `crs` if the"
    " map names it; that is JSON, and no GeoJSON of RFC 7946."
)
_ITEM = part("id", {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,80}$"})
_JOB = part("job", {"type": "string", "pattern": "^[A-Za-z0-9_-]{22}$"})


def openapi(site: Site) -> Json:
    """The OpenAPI document of a server."""
    populations = [population.of.plural for population in site.catalogue.populations]
    start = site.catalogue.start
    first = site.catalogue.populations[0]
    names = [variable.variable.name for variable in first.variables]
    program = program_pattern(first.of.value, names)
    lang = query("lang", {"type": "string", "enum": list(site.settings.languages)}, "The language.")
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
        "tags": [{"name": name, "description": about} for name, about in _TAGS.items()],
        "paths": _named(
            {
                **_offered(populations, names[0], lang),
                **_tables(populations, start.to_json(), lang, site.has_maps),
                **_programs(program, lang, site.has_maps),
                **_accounts(lang),
                **_staff(lang),
                "/openapi.json": {"get": shared("Document", "This document", [])},
                "/health": _state("Whether the process lives and can write its audit"),
                "/ready": _state("Whether it can answer"),
            }
        ),
        "components": {
            "schemas": _shapes(populations, program),
            "securitySchemes": _schemes(),
        },
    }


def _named(paths: Json) -> Json:
    """Paths whose operations have their names and tags."""
    for tag, addresses in _NAMES.items():
        for address, names in addresses.items():
            for method, name in names.items():
                paths[address][method] |= {"operationId": name, "tags": [tag]}
    return paths


def _shapes(populations: Sequence[str], program: str) -> Json:
    """Every shape by its name: ``schemas.json``, with the patterns of what this server takes."""
    text = (files("sdcensus.web.api") / "schemas.json").read_text(encoding="utf-8")
    shapes: Json = json.loads(text.replace('"NAME"', json.dumps(NAME)))
    asked = {"program": program_schema(program)}
    return shapes | {
        "Question": question_schema(populations),
        "Program": object_of(asked),
        "ProgramTable": object_of(asked, {"table": program_table_schema()}),
    }


def _schemes() -> Json:
    return {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of an account. Tables can be asked for without one.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": SESSION_COOKIE,
            "description": "The cookie of somebody who has logged in; over https its name begins"
            " with `__Host-`.",
        },
        "forgery": {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRF-Token",
            "description": "What pages of this server hold in `<meta name=csrf>`; needed with the"
            " cookie for everything that changes something.",
        },
    }


def _offered(populations: Sequence[str], variable: str, lang: Json) -> Json:
    of = part(
        "of",
        {"type": "string", "enum": list(populations)},
        "What is counted.",
        populations[0],
    )
    name = part("name", {"type": "string", "pattern": f"^{WORD}$"}, "The variable.", variable)
    drawn = {"type": "string", "enum": list(COORDINATES), "default": COORDINATES[0]}
    coordinates = query("coordinates", drawn, _COORDINATES)
    borders = [of, word("variable"), word("level"), coordinates, lang]
    return {
        "/datasets": {"get": shared("Datasets", "What can be counted", [lang])},
        "/datasets/{of}/variables": {
            "get": shared("Variables", "What it is counted by", [of, lang])
        },
        "/datasets/{of}/variables/{name}": {
            "get": shared("Variable", "A variable with its codes", [of, name, lang])
        },
        "/datasets/{of}/areas": {"get": shared("Areas", "Areas", [of, *_area_parameters(), lang])},
        "/datasets/{of}/map": {
            "get": shared("Map", "The borders of areas", borders, GEOJSON, JSON)
        },
    }


def _form_parameter(areas: bool) -> Json:
    names = {"type": "string", "enum": list(form_names(areas=areas))}
    about = "The form; else by Accept. `extension.sdcensus.formats` of a table says which it has."
    return query("format", names, about)


def _tables(populations: Sequence[str], start: Json, lang: Json, areas: bool) -> Json:
    form = _form_parameter(areas)
    asked = [*_question_parameters(populations), lang, form]
    counted = "How large a table would be. Nothing is counted"
    return {
        "/tables": {
            "get": table("A published table by its link", asked, areas=areas),
            "post": {
                **table("A published table", [lang, form], by="post", areas=areas),
                "requestBody": body("Question", start),
            },
        },
        "/tables/check": {"post": sent("Check", counted, "Question", lang, start)},
        "/jobs/{job}": {
            "get": got("Job", "How far a large table is", [_JOB, lang]),
            "delete": removed("Forget a large table", [_JOB, lang]),
        },
        "/jobs/{job}/result": {"get": table("A large table", [_JOB, lang], by="job", areas=areas)},
    }


def _programs(program: str, lang: Json, areas: bool) -> Json:
    form = _form_parameter(areas)
    named = query("table", program_table_schema(), "Its table; the first if it is left out.")
    text = {**query("program", program_schema(program), "The program."), "required": True}
    return {
        "/commands": {"post": sent("Compiled", "The tables of a program", "Program", lang)},
        "/commands/table": {
            "get": table(
                "A table of a program by its link", [text, named, lang, form], areas=areas
            ),
            "post": {
                **table("A table of a program", [lang, form], by="post", areas=areas),
                "requestBody": body("ProgramTable"),
            },
        },
    }


def _accounts(lang: Json) -> Json:
    return {
        "/account": {"get": got("Account", "Who asks, and what is left", [lang])},
        "/account/tokens": {
            "get": secured(got("Tokens", "The tokens of the account", [lang])),
            "post": in_session(made("MadeToken", "A new token, shown once", "NewToken", lang)),
        },
        "/account/tokens/{id}": {
            "get": secured(got("Token", "A token", [_ITEM, lang])),
            "delete": in_session(removed("Revoke a token", [_ITEM, lang])),
        },
        "/saved": {
            "get": secured(got("SavedTables", "Saved tables", [lang])),
            "post": secured(made("Saved", "Save a table", "NewSaved", lang)),
        },
        "/saved/{id}": {"delete": secured(removed("Forget a saved table", [_ITEM, lang]))},
        "/feedback": {"post": made("Received", "Write to the office", "NewFeedback", lang)},
    }


def _staff(lang: Json) -> Json:
    seen = got("SeenAlarm", "Mark an alarm as seen", [_ITEM, lang])
    read = got("ReadMessage", "Mark a message as read", [_ITEM, lang])
    added = made("MadeAccount", "A new account", "NewAccount", lang)
    return {
        "/staff/summary": {"get": for_staff(got("Summary", "The state of the server", [lang]))},
        "/staff/alarms/{id}/acknowledge": {"post": for_staff(seen)},
        "/staff/feedback": {"get": for_staff(got("Messages", "What readers wrote", [lang]))},
        "/staff/feedback/{id}/read": {"post": for_staff(read)},
        "/staff/accounts": {
            "get": for_staff(got("Accounts", "The accounts", [lang])),
            "post": for_staff(in_session(added)),
        },
    }


def _state(summary: str) -> Json:
    """An address for those who watch the server, beside the API."""
    failed = given("State", "It does not.")
    responses = {"200": given("State", f"{summary}."), "503": failed}
    answer = {"summary": summary, "parameters": [], "responses": responses}
    return {"servers": [{"url": "/"}], "get": answer}


def _question_parameters(populations: Sequence[str]) -> list[Json]:
    # An address without axes may say so: an empty list is written like a list of an empty text.
    axis = {"type": "string", "maxLength": LONGEST_AXIS, "pattern": rf"^({AXIS[1:-1]})?$"}
    where = {"type": "string", "maxLength": LONGEST_CONDITION // 2, "pattern": CONDITION}
    axes = listed(axis, maxItems=MOST_AXES, uniqueItems=True)
    return [
        query("of", {"type": "string", "enum": list(populations)}, "What is counted."),
        query("measure", measure_schema(), "What is said of an amount; else counts."),
        {**query("by", axes, "Axes."), "style": "form", "explode": True},
        query("where", where, ABOUT_CONDITION),
        written("codes", codes_schema(linked=True), f"The codes to show, by axis, {_ROOM}"),
        written("groups", groups_schema(linked=True), f"Groups of codes, by axis, {_ROOM}"),
    ]


def _area_parameters() -> list[Json]:
    parent = {"type": "string", "pattern": rf"^{WORD}:[^\x00-\x1f\x7f]{{1,100}}$"}
    return [
        word("variable"),
        word("level"),
        query("search", {"type": "string", "maxLength": 100}, "Part of a name or code."),
        query("parent", parent, "Only areas within this one, as level:code."),
        query("limit", {"type": "integer", "minimum": 1, "maximum": 10_000}, "At most so many."),
        query("offset", {"type": "integer", "minimum": 0, "maximum": 10_000_000}, "From here on."),
    ]
