"""Maps of the areas of a census: one outline for each code of a level. Public.

The store keeps the map that was loaded with the census. Levels that it does not draw are joined
from its smallest areas. Squares of a grid lie where their codes say; groups of squares are joined
from them.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from sdcensus.model.published.area_outlines import DEGREES, AreaOutlines, OutlinesOf, Polygons
from sdcensus.model.schema.area_outlines import for_screen, to_geojson
from sdcensus.model.schema.area_shapes import Shapes, join_areas, read_shapes
from sdcensus.model.spec.square_groups import group_shapes, has_groups, squares_of_groups
from sdcensus.model.text import parse_json
from sdcensus.session.census.map_degrees import in_degrees, polygons_of

if TYPE_CHECKING:
    from sdcensus.model.schema.grids import GridSpec
    from sdcensus.model.schema.variable import Level, Variable
    from sdcensus.session.census.census import Census

#: Maps that are kept at once.
_MOST_KEPT = 64

#: How a coordinate reference system is named.
_EPSG = re.compile(r"EPSG:(?:[\d.]*:)?(\d+)$")

Key = TypeVar("Key")
Value = TypeVar("Value")

_LOCK = threading.Lock()
_SHAPES: dict[tuple[str, str, str], dict[str, Shapes]] = {}
_MAPS: dict[tuple[str, str, str, str], dict[str, Any]] = {}
#: By what a map is in memory; it is kept with the same in degrees.
_IN_DEGREES: dict[int, tuple[dict[str, Any], dict[str, Any]]] = {}
#: By what a level is in memory; it is kept, so that no other one can take its place there.
_GROUPS: dict[int, tuple[Level, dict[str, Any]]] = {}


def area_map(census: Census, variable: str, level: str) -> dict[str, Any] | None:
    """The areas of a level as they are drawn; ``None`` where the census has no map of them.

    GeoJSON in the coordinates of the map, whose member ``crs`` names their system, unless they are
    longitude and latitude or nobody knows it. Of a grid these are groups of several squares, each
    with its squares; of a square its code says where it lies. The map is kept: it is the same
    object every time and is not to be changed.

    Args:
        census: The census.
        variable: The geography.
        level: One of its levels.

    Raises:
        UnknownName: There is no such variable or level.
    """
    geography = census.schema.variable(variable)
    wanted = geography.level(level)
    grid = _grid_of(census, variable)
    if grid is not None:
        return _groups_of(grid, geography, wanted)
    of_file = _file_of(census, variable)
    if of_file is None:
        return None
    key = (*of_file, wanted.name)
    with _LOCK:
        known = _MAPS.get(key)
        if known is not None:
            return known
        drawn = _at_level(_shapes(census, geography, of_file), geography, wanted.name)
        if drawn is None:
            return None
        geojson = to_geojson(for_screen(drawn))
        geojson |= _naming(_system_of(census, variable, degrees=drawn.degrees))
        _keep(_MAPS, key, geojson)
        return geojson


def area_map_in_degrees(census: Census, variable: str, level: str) -> dict[str, Any] | None:
    """The same as RFC 7946 wants it: in longitude and latitude.

    Args:
        census: The census.
        variable: The geography.
        level: One of its levels.

    Raises:
        UnknownName: There is no such variable or level.
        SpecError: The coordinate reference system of the map is not known.
        MissingExtra: It needs the projection library, which is not installed.
    """
    drawn = area_map(census, variable, level)
    if drawn is None:
        return None
    with _LOCK:
        known = _IN_DEGREES.get(id(drawn))
        if known is not None:
            return known[1]
        epsg = _system_in(drawn)
        if epsg is None and drawn["degrees"]:
            epsg = DEGREES
        geojson = in_degrees(drawn, epsg)
        _keep(_IN_DEGREES, id(drawn), (drawn, geojson))
        return geojson


def mapped_levels(census: Census, variable: str) -> frozenset[str]:
    """The levels of a geography that there is a map of; nothing is drawn to find out.

    Args:
        census: The census.
        variable: The geography.
    """
    geography = census.schema.variable(variable)
    if _grid_of(census, variable) is not None:
        return frozenset(level.name for level in geography.levels() if has_groups(level))
    of_file = _file_of(census, variable)
    if of_file is None:
        return frozenset()
    with _LOCK:
        drawn = _shapes(census, geography, of_file).keys()
    if geography.leaf_level in drawn:
        return frozenset(level.name for level in geography.levels())
    return frozenset(drawn)


def outlines_in(census: Census) -> OutlinesOf:
    """Where the areas of a census lie, in all detail that its maps have.

    Args:
        census: The census; without a map of a geography, nothing is known of its areas.
    """

    def outlines_of(variable: str, level: str) -> AreaOutlines | None:
        grid = _grid_of(census, variable)
        if grid is not None:
            wanted = census.schema.variable(variable).level(level)
            groups = _groups_of(grid, census.schema.variable(variable), wanted)
            return None if groups is None else AreaOutlines(_by_code(groups), grid.epsg)
        of_file = _file_of(census, variable)
        if of_file is None:
            return None
        geography = census.schema.variable(variable)
        if level not in {known.name for known in geography.levels()}:
            return None
        with _LOCK:
            drawn = _at_level(_shapes(census, geography, of_file), geography, level)
        if drawn is None:
            return None
        epsg = _system_of(census, variable, degrees=drawn.degrees)
        return AreaOutlines(_by_code(to_geojson(drawn)), epsg)

    return outlines_of


def _grid_of(census: Census, variable: str) -> GridSpec | None:
    return next((grid for grid in census.schema.grids if grid.variable == variable), None)


def _groups_of(grid: GridSpec, variable: Variable, level: Level) -> dict[str, Any] | None:
    """The groups of several squares of a level of a grid; ``None`` where it has none."""
    if not has_groups(level):
        return None
    with _LOCK:
        known = _GROUPS.get(id(level))
        if known is not None:
            return known[1]
        squares = squares_of_groups(grid, variable, level)
        features = [
            feature
            for shapes in group_shapes(squares)
            for feature in to_geojson(shapes)["features"]
        ]
        for feature in features:
            own = feature["properties"]
            own["squares"] = [square.code for square in squares[own["code"]]]
        geojson = {"type": "FeatureCollection", "degrees": False, "features": features}
        geojson |= _naming(grid.epsg)
        _keep(_GROUPS, id(level), (level, geojson))
        return geojson


def _by_code(geojson: dict[str, Any]) -> dict[str, Polygons]:
    return {
        feature["properties"]["code"]: polygons_of(feature["geometry"])
        for feature in geojson["features"]
    }


def named_system(content: bytes) -> int | None:
    """The coordinate reference system that a GeoJSON names in ``crs``; ``None`` for none.

    Examples:
        >>> named_system(b'{"crs": {"properties": {"name": "urn:ogc:def:crs:EPSG::3035"}}}')
        3035
    """
    return _system_in(parse_json(content) if content else {})


def _system_in(document: Any) -> int | None:
    try:
        name = str(document["crs"]["properties"]["name"])
    except (KeyError, TypeError):
        return None
    match = _EPSG.search(name)
    return None if match is None else int(match[1])


def _system_of(census: Census, variable: str, *, degrees: bool) -> int | None:
    """The coordinate reference system that the file of a map names; without a name, degrees are
    longitude and latitude of today."""
    store = census.kept_store
    named = named_system((None if store is None else store.map(variable)) or b"")
    return DEGREES if named is None and degrees else named


def _naming(epsg: int | None) -> dict[str, Any]:
    """The member by which a GeoJSON that is not in degrees names its system, before RFC 7946."""
    if epsg in (None, DEGREES):
        return {}
    return {"crs": {"type": "name", "properties": {"name": f"urn:ogc:def:crs:EPSG::{epsg}"}}}


def _file_of(census: Census, variable: str) -> tuple[str, str, str] | None:
    store = census.kept_store
    if store is None or variable not in store.manifest.maps:
        return None
    return str(store.path), store.manifest.maps[variable], variable


def _shapes(
    census: Census, geography: Variable, of_file: tuple[str, str, str]
) -> dict[str, Shapes]:
    """The outlines in the file of a map, read once; whoever asks holds the lock."""
    shapes = _SHAPES.get(of_file)
    if shapes is None:
        store = census.kept_store
        content = None if store is None else store.map(geography.name)
        shapes = read_shapes(content or b"", geography, f"The map of {geography.name!r}")
        _keep(_SHAPES, of_file, shapes)
    return shapes


def _at_level(shapes: dict[str, Shapes], geography: Variable, level: str) -> Shapes | None:
    """The areas of a level: as they are drawn, else joined from the leaves."""
    if level in shapes:
        return shapes[level]
    leaves = shapes.get(geography.leaf_level)
    if leaves is None:
        return None
    wanted = geography.level(level)
    place = {code.code: at for at, code in enumerate(geography.codes)}
    group = [wanted.group[place[code]] for code in leaves.codes]
    return join_areas(leaves, group, [code.code for code in wanted.codes])


def _keep(kept: dict[Key, Value], key: Key, value: Value) -> None:
    while len(kept) >= _MOST_KEPT:
        del kept[next(iter(kept))]
    kept[key] = value
