"""The grid of a geography, as ``[variable.NAME.grid]`` declares it."""

from __future__ import annotations

from sdcensus.documents.schema.sections import GridSection, VariableSection
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SpecError
from sdcensus.model.schema.grids import (
    Extent,
    GridSpec,
    grid_hierarchies,
    leaf_codes,
    size_label,
    size_name,
)
from sdcensus.model.schema.variable import EmptyField, Variable, VariableSource
from sdcensus.model.text import Text

_DESCRIPTION = Text.named("labels.grid_description")
_LABEL = Text.named("labels.grid")
#: Systems of longitudes and latitudes in common use; with transformed coordinates, the projection
#: library knows them all.
_IN_DEGREES = frozenset(
    {4019, 4148, 4167, 4171, 4230, 4258, 4267, 4269, 4277, 4283, 4322, 4326, 4490, 4612, 4617, 4618}
    | {4619, 4668, 4674, 4755, 4937, 4979, 5332, 6318, 7844, 9000}
)


def grid_of(
    geography: Variable, name: str, section: VariableSection, mistakes: Mistakes
) -> tuple[GridSpec, Variable] | None:
    """The grid of a geography and the variable that it makes; ``None`` if it has mistakes."""
    declared = section.grid
    if declared is None or geography.source is None:
        return None
    path: KeyPath = ("variable", geography.name, "grid")
    sizes = _sizes(declared, path, mistakes)
    _check_coordinates(declared, path, mistakes)
    if not sizes:
        return None
    extent = _whole_cells(declared.extent, sizes[0])
    try:
        grid = GridSpec(
            name,
            declared.x,
            declared.y,
            declared.epsg,
            sizes[0],
            extent,
            coarser=sizes[1:],
            inhabited=declared.inhabited,
            coordinates_epsg=declared.epsg_of_coordinates,
        )
    except SpecError as error:
        mistakes.add((*path, "cells"), str(error))
        return None
    try:
        codes = leaf_codes(grid)
    except SpecError as error:
        mistakes.add((*path, "extent"), str(error))
        return None
    several = len(sizes) > 1
    labels = tuple((size_name(size), _LABEL.filled(size=size_label(size))) for size in sizes)
    variable = Variable(
        name=name,
        entity=geography.entity,
        codes=codes,
        hierarchies=grid_hierarchies(grid),
        leaf_level=size_name(grid.cell) if several else "",
        level_labels=labels if several else (),
        label=_LABEL.filled(size=", ".join(map(size_label, sizes))),
        description=_DESCRIPTION,
        topic=geography.topic,
        codes_from_records=grid.inhabited,
        source=VariableSource(
            file=geography.source.file, column=grid.x, empty=EmptyField.NOT_APPLICABLE
        ),
    )
    return grid, variable


def _check_coordinates(declared: GridSection, path: KeyPath, mistakes: Mistakes) -> None:
    """Columns and systems that cannot be meant."""
    if declared.x == declared.y:
        mistakes.add(
            (*path, "y"),
            f"x and y are the same column, {declared.x!r}. x is the one towards the east, y the one"
            " towards the north.",
        )
    if declared.epsg in _IN_DEGREES:
        mistakes.add(
            (*path, "epsg"),
            f"EPSG {declared.epsg} is in degrees, and the squares of a grid are in metres. Give a"
            " projected system as epsg, such as 3035 in Europe, and the system of the columns as"
            f" epsg_of_coordinates = {declared.epsg_of_coordinates or declared.epsg}.",
        )


def _sizes(declared: GridSection, path: KeyPath, mistakes: Mistakes) -> tuple[int, ...]:
    """The sides of the squares, the finest first; empty if there are mistakes."""
    if declared.cell is not None and declared.cells:
        mistakes.add((*path, "cells"), "give either 'cell' or 'cells', not both.")
        return ()
    if declared.cell is not None:
        return (declared.cell,)
    if not declared.cells:
        mistakes.add(
            path,
            "the setting 'cell' is missing: the side of the squares in metres, such as cell ="
            " 1000, or cells = [100, 1000] for several sizes.",
        )
        return ()
    twice = sorted({size for size in declared.cells if declared.cells.count(size) > 1})
    if twice:
        mistakes.add((*path, "cells"), f"{twice[0]} stands there twice. Name every size once.")
        return ()
    return tuple(sorted(declared.cells))


def _whole_cells(extent: Extent, cell: int) -> Extent:
    """The extent of the cells that cover an extent."""
    x_low, y_low, x_high, y_high = extent
    return (
        x_low // cell * cell,
        y_low // cell * cell,
        -(-x_high // cell) * cell,
        -(-y_high // cell) * cell,
    )
