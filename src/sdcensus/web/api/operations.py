"""The parts of the OpenAPI document: parameters, answers, and how every address can fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdcensus.session.answer import JSON_STAT, served_formats
from sdcensus.web.api.shapes import WORD, ref

Json = dict[str, Any]

JSON = "application/json"
_FAILURES = {
    400: "The question or a parameter cannot be understood.",
    401: "There is no such account or token.",
    403: "The policy refuses the table, the account may not do this, or the request is forged.",
    404: "There is no such thing.",
    406: "The answer does not exist in that form; a table without areas has no form for maps.",
    408: "The request did not arrive in time.",
    413: "The request is too large.",
    414: "The address is too long.",
    415: "The body is not JSON in UTF-8, or is packed.",
    421: "The server does not answer for this host.",
    429: "The quota is used up.",
    431: "The headers are too large.",
    500: "Something went wrong inside.",
    503: "Too much is going on.",
}
_BYTES: Json = {"schema": {"type": "string", "format": "binary"}}


def _header(description: str, kind: str = "string") -> Json:
    return {"description": description, "schema": {"type": kind}}


_LATER = {"Retry-After": _header("In how many seconds to come back.", "integer")}
_KEPT = {
    "ETag": _header("The strong tag of the content."),
    "Cache-Control": _header("For how long, and by whom, it may be kept."),
    "Vary": _header("What the answer depends on besides its address."),
    "Content-Language": _header("The language of labels and notes."),
}
_QUOTA = {
    "RateLimit-Policy": _header('The quotas, such as `"tables";q=1000;w=86400`.'),
    "RateLimit": _header('What is left of them, such as `"tables";r=999;t=46962`.'),
    "RateLimit-Limit": _header("The quota that is nearest to its end.", "integer"),
    "RateLimit-Remaining": _header("What is left of it.", "integer"),
    "RateLimit-Reset": _header("In how many seconds it begins anew.", "integer"),
}
_NAMED = {"Content-Disposition": _header("The name of the file, in all forms but JSON-stat.")}
_KNOWN: Json = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "Tags of content that is at hand: if it is still the same, the answer is 304.",
    "schema": {"type": "string"},
}
_PREFER: Json = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`respond-async`: as a job, unless the table is at hand.",
    "schema": {"type": "string"},
}


# ---------------------------------------------------------------------------------- parameters


def query(name: str, schema: Json, description: str) -> Json:
    """A parameter of an address."""
    parameter = {"name": name, "in": "query", "required": False, "schema": schema}
    return {**parameter, "description": description} if description else parameter


def written(name: str, schema: Json, description: str) -> Json:
    """A parameter of an address that is JSON."""
    content = {JSON: {"schema": schema}}
    return {"name": name, "in": "query", "description": description, "content": content}


def word(name: str) -> Json:
    """A parameter that is the name of something."""
    return query(name, {"type": "string", "pattern": f"^{WORD}$"}, "")


def part(name: str, schema: Json, description: str = "", example: str = "") -> Json:
    """A part of an address."""
    parameter = {"name": name, "in": "path", "required": True, "schema": schema}
    if description:
        parameter["description"] = description
    return {**parameter, "example": example} if example else parameter


def body(name: str, example: Json | None = None) -> Json:
    """What is sent."""
    content: Json = {"schema": ref(name)}
    if example is not None:
        content["example"] = example
    return {"required": True, "content": {JSON: content}}


# -------------------------------------------------------------------------------------- answers


def given(name: str, description: str, *media_types: str) -> Json:
    """An answer of some shape, as JSON unless other types are named."""
    content = {media_type: {"schema": ref(name)} for media_type in media_types or (JSON,)}
    return {"description": description, "content": content}


def operation(summary: str, parameters: Sequence[Json], responses: Mapping[int, Json]) -> Json:
    """What an address does, with every way in which it can fail."""
    answers = {str(status): response for status, response in responses.items()}
    for status, reason in _FAILURES.items():
        failure = given("Error", reason)
        if status in (429, 503):
            failure["headers"] = _LATER
        answers.setdefault(str(status), failure)
    return {"summary": summary, "parameters": list(parameters), "responses": answers}


def got(name: str, summary: str, parameters: Sequence[Json]) -> Json:
    """An address that tells something to the one who asks only."""
    return operation(summary, parameters, {200: given(name, f"{summary}.")})


def shared(name: str, summary: str, parameters: Sequence[Json], *media_types: str) -> Json:
    """An address that tells everybody the same, and can be kept."""
    content = {**given(name, f"{summary}.", *media_types), "headers": _KEPT}
    responses = {200: content, 304: {"description": "It is known already.", "headers": _KEPT}}
    return operation(summary, [*parameters, _KNOWN], responses)


def sent(name: str, summary: str, taken: str, lang: Json, example: Json | None = None) -> Json:
    """An address that takes something, and tells something."""
    return {**got(name, summary, [lang]), "requestBody": body(taken, example)}


def made(name: str, summary: str, taken: str, lang: Json) -> Json:
    """An address that makes something."""
    done = operation(summary, [lang], {201: given(name, f"{summary}.")})
    return {**done, "requestBody": body(taken)}


def removed(summary: str, parameters: Sequence[Json]) -> Json:
    """An address that removes something."""
    return operation(summary, parameters, {204: {"description": "It is gone."}})


def table(summary: str, parameters: Sequence[Json], *, areas: bool, by: str = "get") -> Json:
    """An address that gives a table.

    Args:
        summary: What it does.
        parameters: What it takes.
        areas: Whether there are areas on a map, and so formats for maps.
        by: ``get``, ``post``, or ``job`` for one that is ready.
    """
    content: Json = {JSON: {"schema": ref("Table")}}
    for table_format in served_formats():
        if table_format.name != JSON_STAT and (areas or not table_format.areas):
            content[table_format.full_media_type] = _BYTES
    content["application/zip"] = _BYTES
    headers = {**_KEPT, **_QUOTA, **_NAMED}
    responses: dict[int, Json] = {
        200: {"description": "The table.", "content": content, "headers": headers},
        429: {**given("Error", _FAILURES[429]), "headers": {**_LATER, **_QUOTA}},
        403: {**given("Error", _FAILURES[403]), "headers": _QUOTA},
    }
    taken = [*parameters]
    if by != "post":
        responses[304] = {"description": "It is known already.", "headers": {**_KEPT, **_QUOTA}}
        taken.append(_KNOWN)
    if by != "job":
        place = {"Location": _header("The address of the job.")}
        job = given("Job", "It is being made: look at its job.")
        responses[202] = {**job, "headers": {**place, **_LATER, **_QUOTA}}
        taken.append(_PREFER)
    return operation(summary, taken, responses)


# --------------------------------------------------------------------------------------- access


def secured(done: Json) -> Json:
    """An address for those with an account."""
    return {**done, "security": [{"token": []}, {"session": [], "forgery": []}]}


def in_session(done: Json) -> Json:
    """An address for those who have logged in."""
    about = "Needs a login in a browser: with a token it is refused (403), so that whoever finds a"
    return {
        **done,
        "description": f"{about} token cannot make others.",
        "security": [{"session": [], "forgery": []}],
    }


def for_staff(done: Json) -> Json:
    """An address for the staff."""
    return {"description": "For the staff only: others are refused (403).", **secured(done)}
