"""Grids whose code list is of inhabited squares: found once all records are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sdcensus.ingest.coordinates import UNKNOWN_SQUARE
from sdcensus.ingest.reading import ColumnParts
from sdcensus.model.schema.grids import grid_hierarchies, leaf_codes
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, smallest_width
from sdcensus.model.text import Text


def with_inhabited_squares(schema: Schema, parts: Mapping[Entity, ColumnParts]) -> Schema:
    """The schema with the code lists of inhabited squares; columns become positions in them."""
    variables = {variable.name: variable for variable in schema.variables}
    for grid in schema.grids:
        if not grid.inhabited:
            continue
        variable = variables[grid.variable]
        assert variable.source is not None
        own = parts[schema.file(variable.source.file).entity]
        squares = np.array(own.read(variable.name), dtype=np.int64)  # a copy: written again below
        inhabited = np.unique(squares[squares != UNKNOWN_SQUARE])
        codes = leaf_codes(grid, inhabited)
        variables[grid.variable] = replace(
            variable, codes=codes, hierarchies=grid_hierarchies(grid, inhabited)
        )
        places = np.where(
            squares == UNKNOWN_SQUARE, inhabited.size, np.searchsorted(inhabited, squares)
        )
        own.write_again(variable.name, places.astype(smallest_width(len(codes))))
    return replace(schema, variables=tuple(variables.values()))


def inhabited_notes(schema: Schema) -> tuple[Text, ...]:
    """What an office is told about grids whose code list is of inhabited squares."""
    return tuple(
        Text.named("notes.inhabited").filled(variable=variable.name)
        for variable in schema.variables
        if variable.codes_from_records
    )
