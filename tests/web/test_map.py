"""Borders over HTTP: where readers of GeoJSON look for them, and as the office drew them."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from pyogrio import read_info
from pyproj import Transformer

from sdcensus.demo import make_country, write_country
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import load, open_store
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.session.answer.services import METHOD
from tests.web.servers import Place, check_error, opened

ADDRESS = "/api/v1/datasets/persons/map?variable=ed&level=parish"
#: What the demo's map says of its system.
NAMED = b'"crs":{"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::3035"}},'


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("country")
    write_country(folder / "files", country=make_country(300), file_format="parquet")
    write_secret(SECRET, folder / "office.secret")
    return folder


def served(country: Path, folder: Path, content: bytes | None) -> AbstractContextManager[Place]:
    """A server over the country, with another map if one is given."""
    shutil.copytree(country / "files", folder / "files")
    if content is not None:
        (folder / "files" / "codes" / "areas.geojson").write_bytes(content)
    load(folder / "files" / "schema.toml", folder / "c.store", secret=country / "office.secret")
    census = open_store(folder / "c.store")
    policy = Policy(
        name="test", schema=census.schema, limits=Limits(dimensions=3), online=OnlineRules()
    )
    return opened(folder, TableService(census, policy, {Entity.PERSON: METHOD}))


@pytest.fixture(scope="module")
def of_demo(country: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with served(country, tmp_path_factory.mktemp("demo"), None) as place:
        yield place


def drawn(country: Path) -> bytes:
    return (country / "files" / "codes" / "areas.geojson").read_bytes()


def polygons(document: dict[str, Any]) -> Iterator[list[Any]]:
    for feature in document["features"]:
        shape = feature["geometry"]
        yield from [shape["coordinates"]] if shape["type"] == "Polygon" else shape["coordinates"]


def doubled_area(ring: list[list[float]]) -> float:
    """Above 0 for a ring against the clock."""
    x, y = np.array(ring).T
    return float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))


def check_rfc_7946(response: httpx.Response) -> dict[str, Any]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/geo+json"
    document: dict[str, Any] = response.json()
    assert set(document) == {"type", "bbox", "features"}
    points = []
    for outer, *holes in polygons(document):
        assert doubled_area(outer) > 0
        assert all(doubled_area(hole) < 0 for hole in holes)
        for ring in (outer, *holes):
            assert ring[0] == ring[-1]
            points += ring
    lines = np.array(points)
    assert (np.abs(lines) <= (180, 90)).all()
    assert (lines.round(7) == lines).all()
    assert document["bbox"] == [*lines.min(axis=0), *lines.max(axis=0)]
    return document


def test_borders_are_where_the_projection_library_puts_them(of_demo: Place) -> None:
    degrees = check_rfc_7946(of_demo.client.get(ADDRESS))
    answer = of_demo.client.get(f"{ADDRESS}&coordinates=map")
    assert answer.headers["content-type"] == "application/json"
    metres = answer.json()
    assert metres["crs"]["properties"]["name"] == "urn:ogc:def:crs:EPSG::3035"
    forth = Transformer.from_crs(4326, 3035, always_xy=True)
    pairs = list(zip(polygons(degrees), polygons(metres), strict=True))
    assert pairs
    for mine, theirs in pairs:
        for ring, office in zip(mine, theirs, strict=True):
            x, y = forth.transform(*np.array(ring).T)
            # To a centimetre or so, whichever way round they run.
            assert {*np.rint(x).tolist()} == {point[0] for point in office}
            assert {*np.rint(y).tolist()} == {point[1] for point in office}
    codes = [feature["properties"]["code"] for feature in degrees["features"]]
    assert codes == [feature["properties"]["code"] for feature in metres["features"]]


def test_other_programs_place_it(of_demo: Place) -> None:
    info = read_info(io.BytesIO(of_demo.client.get(ADDRESS).content))
    assert info["crs"] == "EPSG:4326"
    west, south, east, north = info["total_bounds"]
    # The demo lies in the Atlantic, and not at the corner of all maps.
    assert -16 < west < east < -15
    assert 34 < south < north < 36


def test_other_systems_need_the_extra_and_give_the_same(
    country: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_demo: Place
) -> None:
    document = json.loads(drawn(country))
    forth = Transformer.from_crs(3035, 32628, always_xy=True)
    for rings in polygons(document):
        for ring in rings:
            ring[:] = np.column_stack(forth.transform(*np.array(ring).T)).tolist()
    document["crs"]["properties"]["name"] = "urn:ogc:def:crs:EPSG::32628"
    with served(country, tmp_path, json.dumps(document).encode()) as place:
        monkeypatch.setitem(sys.modules, "pyproj", None)
        error = check_error(place.client.get(ADDRESS), 406, "unsupported")
        assert "geography" in error["message"]
        assert place.client.get(f"{ADDRESS}&coordinates=map").status_code == 200
        monkeypatch.undo()
        made = check_rfc_7946(place.client.get(ADDRESS))
    # Whole metres are kept.
    expected = of_demo.client.get(ADDRESS).json()["bbox"]
    assert made["bbox"] == pytest.approx(expected, abs=2e-5)


def test_the_system_of_the_grid_needs_no_library(
    of_demo: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    check_rfc_7946(of_demo.client.get(ADDRESS.replace("parish", "region")))


@pytest.mark.parametrize("name", [b"", NAMED.replace(b"3035", b"99999"), b"far away"])
def test_what_nobody_can_place_is_no_geojson(country: Path, tmp_path: Path, name: bytes) -> None:
    """No system, one that does not exist, and one in which the points lie nowhere."""
    content = b"".join(drawn(country).split())
    assert NAMED in content
    if name == b"far away":
        content = re.sub(rb"(\[-?\d+)(,-?\d+)(?=\])", rb"\g<1>00\g<2>00", content)
    else:
        content = content.replace(NAMED, name)
    with served(country, tmp_path, content) as place:
        answer = place.client.get(ADDRESS)
        assert answer.status_code == 406
        error = check_error(answer, 406, "unsupported")
        assert "coordinates=map" in error["message"]
        for language in ("es", "fr", "pt", "nl"):
            told = place.client.get(f"{ADDRESS}&lang={language}").json()["error"]["message"]
            assert told != error["message"]
            assert "coordinates=map" in told
        plain = place.client.get(f"{ADDRESS}&coordinates=map")
        assert plain.headers["content-type"] == "application/json"
        assert ("crs" in plain.json()) == bool(name)


def test_degrees_stay_as_they_are(country: Path, tmp_path: Path) -> None:
    """With a hole, and with rings that run the wrong way round."""
    outer = [[0.0, 0.0], [0.0, 2.0], [2.0, 2.0], [2.0, 0.0], [0.0, 0.0]]
    hole = [[0.5, 0.5], [1.5, 0.5], [1.5, 1.5], [0.5, 1.5], [0.5, 0.5]]
    code = json.loads(drawn(country))["features"][0]["properties"]
    feature = {
        "type": "Feature",
        "properties": code,
        "geometry": {"type": "Polygon", "coordinates": [outer, hole]},
    }
    content = json.dumps({"type": "FeatureCollection", "features": [feature]}).encode()
    with served(country, tmp_path, content) as place:
        level = code["level"]
        document = check_rfc_7946(place.client.get(ADDRESS.replace("parish", level)))
    assert document["bbox"] == [0, 0, 2, 2]
    ((first, second),) = polygons(document)
    assert {tuple(point) for point in first} == {tuple(point) for point in outer}
    assert {tuple(point) for point in second} == {tuple(point) for point in hole}


@pytest.mark.parametrize("by", ["ed@parish", "sex"])
def test_formats_for_maps_are_offered_where_a_table_has_areas(of_demo: Place, by: str) -> None:
    table = f"/api/v1/tables?of=persons&by={by}"
    formats = of_demo.client.get(table).json()["extension"]["sdcensus"]["formats"]
    assert {"csv", "csv-zip", "json-stat"} <= set(formats)
    assert ("gpkg" in formats) == ("geoparquet" in formats) == (by == "ed@parish")
    for name in ("gpkg", "geoparquet"):
        answer = of_demo.client.get(f"{table}&format={name}")
        if name in formats:
            assert answer.status_code == 200
            continue
        error = check_error(answer, 406, "unsupported")
        assert error["place"] == "format"
        assert all(each in error["message"] for each in formats)
        spanish = of_demo.client.get(f"{table}&format={name}&lang=es").json()["error"]["message"]
        assert spanish.startswith("Esta tabla no se puede")
    accepted = {"accept": "application/geopackage+sqlite3"}
    status = of_demo.client.get(table, headers=accepted).status_code
    assert status == (200 if "gpkg" in formats else 406)


def test_a_census_without_maps_offers_no_formats_for_maps(of_demo: Place, place: Place) -> None:
    for each, drawn in ((of_demo, True), (place, False)):
        names = {told["name"] for told in each.client.get("/api/v1/datasets").json()["formats"]}
        assert ("gpkg" in names) == drawn
        document = each.client.get("/api/v1/openapi.json").json()
        operation = document["paths"]["/tables"]["get"]
        assert (
            "application/geopackage+sqlite3" in operation["responses"]["200"]["content"]
        ) == drawn
        (form,) = [told for told in operation["parameters"] if told["name"] == "format"]
        assert ("geoparquet" in form["schema"]["enum"]) == drawn


def test_other_coordinates_do_not_exist(of_demo: Place) -> None:
    error = check_error(of_demo.client.get(f"{ADDRESS}&coordinates=feet"), 400, "bad-question")
    assert error["place"] == "coordinates"
    assert "degrees, map" in error["message"]
