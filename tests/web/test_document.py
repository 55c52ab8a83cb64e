"""The document of the API: every route stands in it, and what it says is what there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import Route

from sdcensus.web.api.errors import CODES
from tests.web.servers import TABLES, Place

DOCUMENT = "/api/v1/openapi.json"


@pytest.fixture(scope="module")
def document(place: Place) -> dict[str, Any]:
    found: dict[str, Any] = place.client.get(DOCUMENT).json()
    return found


def routes(place: Place) -> set[tuple[str, str]]:
    """Every method and address of the server that is no page and no file."""
    found = {
        (method, route.path)
        for route in place.server.app.routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    return {one for one in found if one[1].startswith(("/api/v1/", "/health", "/ready"))}


def test_every_route_is_described_and_nothing_else(place: Place, document: dict[str, Any]) -> None:
    described = set()
    for path, item in document["paths"].items():
        (server,) = item.get("servers", document["servers"])
        described |= {
            (method.upper(), f"{server['url'].rstrip('/')}{path}")
            for method in item
            if method in ("get", "post", "delete", "put", "patch")
        }
    assert len(described) > 30
    assert described == routes(place)


def test_every_operation_has_a_name_of_its_own_and_a_subject(document: dict[str, Any]) -> None:
    operations = [
        operation
        for item in document["paths"].values()
        for method, operation in item.items()
        if method in ("get", "post", "delete")
    ]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) >= 32
    assert all(re.fullmatch(r"[a-z]+([A-Z][a-z]+)*", name) for name in names)
    subjects = {tag["name"] for tag in document["tags"] if tag["description"]}
    assert {tag for operation in operations for tag in operation["tags"]} == subjects


def lists(shape: Any) -> Iterator[dict[str, Any]]:
    """Every list that a shape describes, however deep."""
    if isinstance(shape, dict):
        if "array" in [shape.get("type"), *(shape.get("type") or ())]:
            yield shape
        shape = list(shape.values())
    if isinstance(shape, list):
        for part in shape:
            yield from lists(part)


def test_every_list_says_what_is_in_it(document: dict[str, Any]) -> None:
    """Makers of clients leave out what they cannot read, and everything that holds it."""
    every = list(lists(document))
    assert len(every) > 40
    assert [shape for shape in every if "items" not in shape] == []


def test_every_shape_is_used_and_there(document: dict[str, Any]) -> None:
    used = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert used == set(document["components"]["schemas"])


def objects(shape: Any) -> Iterator[dict[str, Any]]:
    """Every object that a shape describes, however deep."""
    if isinstance(shape, dict):
        if isinstance(shape.get("properties"), dict) and isinstance(shape.get("required"), list):
            yield shape
        shape = list(shape.values())
    if isinstance(shape, list):
        for part in shape:
            yield from objects(part)


def test_what_an_object_must_have_is_described(document: dict[str, Any]) -> None:
    shapes = list(objects(document["components"]["schemas"]))
    assert len(shapes) > 50
    for shape in shapes:
        assert set(shape["required"]) <= set(shape["properties"])


def test_every_status_of_an_error_is_described(document: dict[str, Any]) -> None:
    statuses = {str(status) for status in CODES} - {"405"}  # of methods that are not there
    for path, item in document["paths"].items():
        if not path.startswith(("/health", "/ready")):
            for method in set(item) & {"get", "post", "delete"}:
                assert statuses <= set(item[method]["responses"]), (path, method)
    table = document["paths"]["/tables"]
    assert "304" in table["get"]["responses"]
    assert "304" not in table["post"]["responses"]
    assert {"ETag", "RateLimit", "Cache-Control"} <= set(
        table["get"]["responses"]["200"]["headers"]
    )
    assert {"Retry-After", "RateLimit"} <= set(table["get"]["responses"]["429"]["headers"])


def test_parameters_of_links_accept_what_bodies_accept(document: dict[str, Any]) -> None:
    asked = {one["name"]: one for one in document["paths"]["/tables"]["get"]["parameters"]}
    body = document["components"]["schemas"]["Question"]["properties"]
    for name in ("codes", "groups"):
        schema = asked[name]["content"]["application/json"]["schema"]
        assert set(schema) == set(body[name]) - {"description"}
        assert schema["propertyNames"] == body[name]["propertyNames"]
        assert schema["maxProperties"] > 1
    for axis in ("sex", "ed@parish", "ed@parish+district", "age+broad-total", "sex+total"):
        assert re.search(asked["by"]["schema"]["items"]["pattern"], axis)
    assert not re.search(asked["by"]["schema"]["items"]["pattern"], "sex@")


def test_the_document_can_be_kept(place: Place) -> None:
    first = place.client.get(DOCUMENT)
    tag = first.headers["etag"]
    assert place.client.get(DOCUMENT, headers={"if-none-match": tag}).status_code == 304
    assert first.json()["info"]["description"].count(TABLES) == 1
