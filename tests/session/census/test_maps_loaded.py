from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.errors import InputError, StoreError
from sdcensus.ingest import load as maps
from sdcensus.session.census.census import load, open_store
from sdcensus.session.census.maps import named_system, outlines_in
from sdcensus.session.office.secret import make_secret
from sdcensus.store.census_store import CensusStore


@pytest.fixture(scope="module")
def country(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("country")
    write_country(folder / "files", country=make_country(300), file_format="parquet")
    make_secret(folder / "office.secret")
    return folder


def loaded(country: Path, out: Path, content: bytes | None = None) -> tuple[CensusStore, str]:
    files = out.with_name("files")
    shutil.copytree(country / "files", files)
    if content is not None:
        (files / "codes" / "areas.geojson").write_bytes(content)
    report = load(files / "schema.toml", out, secret=country / "office.secret")
    return CensusStore.open(out), " ".join(map(str, report.notes))


def original(country: Path) -> dict[str, object]:
    path = country / "files" / "codes" / "areas.geojson"
    made = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(made, dict)
    return made


def test_a_loaded_store_keeps_the_map_and_notes_what_it_lacks(
    country: Path, tmp_path: Path
) -> None:
    document = original(country)
    features = document["features"]
    assert isinstance(features, list)
    lost = next(
        feature["properties"]["code"]
        for feature in features
        if feature["properties"]["level"] == "ed"
    )
    left = [feature for feature in features if feature["properties"]["code"] != lost]
    content = json.dumps(document | {"features": left}).encode()
    store, notes = loaded(country, tmp_path / "census.store", content)
    assert store.map("ed") == content
    assert "maps/ed" in [*store.verify()]
    assert notes == f"areas.geojson does not show areas of ed: {lost}"
    drawn = open_store(store.path).map("ed")
    assert drawn is not None
    assert lost not in [one["properties"]["code"] for one in drawn["features"]]


def test_the_map_does_not_change_the_version_of_the_data(country: Path, tmp_path: Path) -> None:
    one, notes = loaded(country, tmp_path / "a" / "census.store")
    document = json.dumps(original(country), indent=1).encode()
    other, _ = loaded(country, tmp_path / "b" / "census.store", document)
    assert notes == ""
    assert one.map("ed") != other.map("ed")
    assert one.manifest.data_version == other.manifest.data_version


@pytest.mark.parametrize("content", [b"", b"{}", b'{"type":"FeatureCollection","features":[]}'])
def test_a_file_that_is_no_map_is_refused_before_anything_is_written(
    country: Path, tmp_path: Path, content: bytes
) -> None:
    with pytest.raises(InputError, match=r"areas\.geojson"):
        loaded(country, tmp_path / "census.store", content)
    assert [one.name for one in tmp_path.iterdir()] == ["files"]


def test_a_map_that_is_too_large_is_refused(
    country: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "MOST_BYTES", 1 << 10)
    with pytest.raises(InputError, match="Draw it with fewer points"):
        loaded(country, tmp_path / "census.store")


def test_a_map_that_was_changed_or_lost_is_told(country: Path, tmp_path: Path) -> None:
    store, _ = loaded(country, tmp_path / "census.store")
    file = store.path / "maps" / "ed.geojson"
    file.write_bytes(file.read_bytes() + b" ")
    with pytest.raises(StoreError, match="has changed"):
        store.map("ed")
    file.unlink()
    with pytest.raises(StoreError, match="is missing"):
        store.map("ed")


def test_stores_without_maps_still_open(country: Path, tmp_path: Path) -> None:
    store, _ = loaded(country, tmp_path / "census.store")
    manifest = store.path / "manifest.json"
    content = json.loads(manifest.read_text(encoding="utf-8"))
    del content["maps"]
    manifest.write_text(json.dumps(content), encoding="utf-8")
    shutil.rmtree(store.path / "maps")
    census = open_store(store.path)
    assert census.store.map("ed") is None
    assert census.map("ed", "parish") is None


def test_large_maps_are_kept_with_what_a_screen_shows(
    country: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maps, "MOST_POINTS", 100)
    store, notes = loaded(country, tmp_path / "census.store")
    assert notes == ""
    content = json.loads(store.map("ed") or b"")
    codes = {one["properties"]["code"] for one in content["features"]}
    features = original(country)["features"]
    assert isinstance(features, list)
    assert codes == {feature["properties"]["code"] for feature in features}
    assert {one["properties"]["level"] for one in content["features"]} >= {"ed", "parish"}
    # Nor is forgotten where they lie.
    assert named_system(store.map("ed") or b"") == 3035


def test_outlines_are_those_of_the_map_in_the_system_that_it_names(
    country: Path, tmp_path: Path
) -> None:
    store, _ = loaded(country, tmp_path / "census.store")
    census = open_store(store.path)
    outlines = outlines_in(census)
    for level in census.schema.variable("ed").levels():
        areas = outlines("ed", level.name)
        assert areas is not None
        assert areas.epsg == 3035
        assert set(areas.polygons) == {code.code for code in level.codes if not code.is_missing}
    assert outlines("ed", "nowhere") is None
    assert outlines("sex", "sex") is None
    assert outlines("not a variable", "ed") is None


@pytest.mark.parametrize(
    ("content", "epsg"),
    [
        (b"", None),
        (b"{}", None),
        (b'{"crs": null}', None),
        (b'{"crs": {"properties": {"name": "urn:ogc:def:crs:OGC:1.3:CRS84"}}}', None),
        (b'{"crs": {"properties": {"name": "urn:ogc:def:crs:EPSG::2099"}}}', 2099),
        (b'{"crs": {"properties": {"name": "EPSG:32620"}}}', 32620),
        (b'{"crs": {"properties": {"name": "urn:ogc:def:crs:EPSG:9.9:3035"}}}', 3035),
    ],
)
def test_the_system_of_a_map_is_the_one_that_it_names(content: bytes, epsg: int | None) -> None:
    assert named_system(content) == epsg
