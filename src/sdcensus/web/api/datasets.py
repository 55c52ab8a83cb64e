"""What can be asked for: populations, variables, codes, areas, maps. From code lists only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.model.letters import plain_letters
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.model.spec.headings import figure_heading, variable_heading
from sdcensus.session.answer import (
    OfferedAmount,
    OfferedPopulation,
    OfferedVariable,
    level_label,
)
from sdcensus.web.api.errors import ApiError, not_found
from sdcensus.web.api.requests import (
    JSON,
    check_parameters,
    number_parameter,
    parameter,
    public_json,
)
from sdcensus.web.api.site import Site, told_formats
from sdcensus.web.routing import Routes

Json = dict[str, Any]
#: For each code of a level the level and code above it, if there is one.
Parents = Sequence[tuple[Level, Code] | None]

#: How the points of a map are given: in degrees as RFC 7946 wants, or as the office has drawn it.
DEGREES, AS_DRAWN = COORDINATES = ("degrees", "map")
#: The media type of a map in degrees. One in other coordinates is not what readers of it expect.
GEOJSON = "application/geo+json"

#: Areas that are listed at once, unless fewer or more are asked for.
PAGE, MOST = 1_000, 10_000


routes = Routes[Site]()


@routes.get("/datasets")
async def datasets(site: Site, request: Request) -> Response:
    """What can be counted."""
    check_parameters(request, "lang")
    language = site.language(request)
    role = (await site.caller(request)).role
    return public_json(request, site, _datasets(site, site.rules(role), language), language)


@routes.get("/datasets/{of}/variables")
async def variables(site: Site, request: Request) -> Response:
    """What it can be counted by."""
    check_parameters(request, "lang")
    language = site.language(request)
    asked = _population(site, request).variables
    described = await site.in_thread(_told_all, site, asked, language)
    return public_json(request, site, {"variables": described}, language)


@routes.get("/datasets/{of}/variables/{name}")
async def show_variable(site: Site, request: Request) -> Response:
    """A variable with all its codes."""
    check_parameters(request, "lang")
    language = site.language(request)
    offered = _variable(_population(site, request), request.path_params["name"])
    described = await site.in_thread(_told, site, offered, language)
    return public_json(request, site, described, language)


@routes.get("/datasets/{of}/areas")
async def areas(site: Site, request: Request) -> Response:
    """Areas of a level, found by name or code or by the area around them."""
    names = ("variable", "level", "search", "parent", "limit", "offset", "lang")
    check_parameters(request, *names)
    language = site.language(request)
    offered = _area_variable(_population(site, request), parameter(request, "variable"))
    level = _level(offered, parameter(request, "level"))
    parent = parameter(request, "parent")
    search = plain_letters(parameter(request, "search", 100) or "").split()
    start = number_parameter(request, "offset", 0, 0, 10_000_000)
    most = number_parameter(request, "limit", PAGE, 1, MOST)
    if parent is not None:
        above = _level(offered, parent.partition(":")[0])
        if parent.partition(":")[2] not in {code.code for code in above.codes}:
            raise not_found("unknown_level", "unknown-name", known=above.name)
    matching = await site.in_thread(_matching_areas, offered, level, parent, search, language)
    document = {
        "variable": offered.variable.name,
        "level": level.name,
        "total": len(matching),
        "areas": matching[start : start + most],
    }
    return public_json(request, site, document, language)


@routes.get("/datasets/{of}/map")
async def area_map(site: Site, request: Request) -> Response:
    """The borders of the areas of a level, in degrees or in the coordinates of the map."""
    check_parameters(request, "variable", "level", "coordinates", "lang")
    language = site.language(request)
    offered = _area_variable(_population(site, request), parameter(request, "variable"))
    level = _level(offered, parameter(request, "level"))
    coordinates = parameter(request, "coordinates") or DEGREES
    if coordinates not in COORDINATES:
        values = {"known": ", ".join(COORDINATES)}
        raise ApiError(400, "unknown_coordinates", values=values, place="coordinates")
    degrees = coordinates == DEGREES
    try:
        borders = await site.in_thread(
            site.service.map, offered.variable.name, level.name, degrees=degrees
        )
    except MissingExtra as error:
        raise ApiError(406, "map_extra", values={"extra": error.extra}) from error
    except SpecError as error:
        raise ApiError(406, "map_system") from error
    if borders is None:
        raise not_found("no_map")
    return public_json(request, site, borders, language, media_type=GEOJSON if degrees else JSON)


def _population(site: Site, request: Request) -> OfferedPopulation:
    wanted = request.path_params["of"]
    for population in site.catalogue.populations:
        if wanted == population.of.plural:
            return population
    known = ", ".join(population.of.plural for population in site.catalogue.populations)
    raise not_found("unknown_population", "unknown-name", known=known)


def _datasets(site: Site, rules: Any, language: str) -> Json:
    census, versions = site.catalogue.census, site.service.versions
    return {
        "census": {
            "name": census.name_in(language),
            "country": census.country_in(language),
            "reference_date": census.reference_date,
            "languages": list(site.settings.languages),
        },
        "measure": site.service.policy.answers.value,
        "version": {"data": versions.data, "keys": versions.keys},
        "datasets": [
            {
                "id": population.of.plural,
                "label": population.label.show(language),
                "variables": len(population.variables),
                "universes": [
                    {
                        "name": universe.name,
                        "label": universe.label.show(language) or universe.name,
                        "description": universe.description.show(language),
                    }
                    for universe in population.universes
                ],
                "amounts": [_amount(site, offered, language) for offered in population.amounts],
                "limits": {"variables": rules.dimensions, "cells": rules.cells},
            }
            for population in site.catalogue.populations
        ],
        "formats": told_formats(site, language),
        "start": site.catalogue.start.to_json(),
    }


def _amount(site: Site, offered: OfferedAmount, language: str) -> Json:
    """An amount, and what can be asked of it."""
    headings = [figure_heading(each, site.schema, language) for each in offered.figures]
    return {
        "name": offered.variable.name,
        "label": variable_heading(offered.variable, language),
        "unit": offered.variable.unit_text.show(language),
        "measures": [
            {
                "id": str(figure),
                "measure": figure.figure.value,
                "label": f"{heading[:1].upper()}{heading[1:]}",
            }
            for figure, heading in zip(offered.figures, headings, strict=True)
        ],
        "variables": list(offered.by),
        "most_variables": offered.dimensions,
    }


def _told_all(site: Site, asked: Sequence[OfferedVariable], language: str) -> list[Json]:
    return [_told(site, offered, language, with_codes=False) for offered in asked]


def _told(site: Site, offered: OfferedVariable, language: str, *, with_codes: bool = True) -> Json:
    """A variable, what its levels are called, whether there is a map of them, and their codes."""
    variable = offered.variable
    drawn = site.service.mapped_levels(variable.name) if offered.area else frozenset[str]()
    return {
        "name": variable.name,
        "label": variable_heading(variable, language),
        "topic": variable.topic.show(language),
        "description": variable.description.show(language),
        "kind": "geography" if offered.area else "ordinary",
        "filter": offered.filter,
        "default_level": offered.default.name,
        "levels": [
            {
                "name": level.name,
                "label": level_label(variable, level).show(language),
                "map": level.name in drawn,
                "codes": _codes(variable, level, language) if with_codes else len(level.codes),
            }
            for level in offered.levels
        ],
    }


def _codes(variable: Variable, level: Level, language: str) -> list[Json]:
    return [
        {
            "code": code.code,
            "label": code.label.show(language) or code.code,
            "kind": code.kind.value,
            "parent": _parent(above),
        }
        for code, above in zip(level.codes, _parents(variable, level.name), strict=True)
    ]


def _parent(above: tuple[Level, Code] | None) -> Json | None:
    return None if above is None else {"level": above[0].name, "code": above[1].code}


@lru_cache(maxsize=1_000)
def _parents(variable: Variable, name: str) -> Parents:
    """The code above each code of a level, in the first tree that has a coarser level."""
    level = variable.level(name)
    for hierarchy in variable.hierarchies:
        ladder = [variable.level(), *hierarchy.levels]
        names = [level.name for level in ladder]
        if name in names and names.index(name) + 1 < len(ladder):
            above = ladder[names.index(name) + 1]
            return _above(level, above)
    return [None] * len(level.codes)


def _above(level: Level, above: Level) -> Parents:
    parents: list[tuple[Level, Code] | None] = [None] * len(level.codes)
    for mine, theirs in zip(level.group, above.group, strict=True):
        parents[mine] = (above, above.codes[theirs])
    return parents


def _variable(population: OfferedPopulation, name: str) -> OfferedVariable:
    for variable in population.variables:
        if variable.variable.name == name:
            return variable
    raise not_found("unknown_variable", "unknown-name")


def _area_variable(population: OfferedPopulation, name: str | None) -> OfferedVariable:
    for variable in population.areas if name is None else (_variable(population, name),):
        if variable.area:
            return variable
    raise not_found("unknown_variable", "unknown-name")


def _level(offered: OfferedVariable, name: str | None) -> Level:
    if name is None:
        return offered.default
    for level in offered.levels:
        if level.name == name:
            return level
    known = ", ".join(level.name for level in offered.levels)
    raise not_found("unknown_level", "unknown-name", known=known)


def _matching_areas(
    offered: OfferedVariable, level: Level, parent: str | None, search: Sequence[str], language: str
) -> list[Json]:
    """Areas of a level within another one, whose name or code holds every word of a search."""
    within = _within(offered.variable, level, parent)
    areas: list[Json] = []
    parents = _parents(offered.variable, level.name)
    for at, (code, above) in enumerate(zip(level.codes, parents, strict=True)):
        if within is not None and at not in within:
            continue
        label = code.label.show(language) or code.code
        text = plain_letters(f"{code.code} {label}")
        if not all(word in text for word in search):
            continue
        areas.append({"code": code.code, "label": label, "parent": _parent(above)})
    return areas


def _within(variable: Variable, level: Level, parent: str | None) -> set[int] | None:
    if parent is None:
        return None
    name, _, wanted = parent.partition(":")
    above = variable.level(name)
    places = {at for at, code in enumerate(above.codes) if code.code == wanted}
    if not places:
        raise ApiError(404, "unknown_level", "unknown-name", values={"known": name})
    return {mine for mine, theirs in zip(level.group, above.group, strict=True) if theirs in places}
