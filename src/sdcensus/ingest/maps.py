"""The map of a census, checked against the code list of its geography before it is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.model.schema.area_outlines import MOST_POINTS, all_levels, for_screen
from sdcensus.model.schema.area_shapes import Shapes, read_shapes
from sdcensus.model.schema.schema import Schema

#: A larger file is not a map for tables; draw it coarser.
MOST_BYTES = 128 << 20
#: Areas that a message names.
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class CensusMap:
    """A map that fits its geography. Public.

    Attributes:
        variable: The geography.
        content: The file as it was given, or without details that no screen shows.
        missing: The codes of areas that it does not show.
        file: Where it came from.
    """

    variable: str
    content: bytes
    missing: tuple[str, ...]
    file: str

    @property
    def note(self) -> str:
        """What to know about it; empty if it shows every area."""
        if not self.missing:
            return ""
        named = ", ".join(self.missing[:_MOST_NAMED])
        more = ", …" if len(self.missing) > _MOST_NAMED else ""
        areas = "1 area" if len(self.missing) == 1 else f"{len(self.missing):,} areas"
        return f"{self.file} does not show {areas} of {self.variable}: {named}{more}."


def read_maps(schema: Schema, folder: Path) -> tuple[CensusMap, ...]:
    """The maps that a schema names.

    Args:
        schema: The census.
        folder: The folder of the schema document, to which the names are relative.

    Raises:
        InputError: A file is no map of its geography.
    """
    census_maps = []
    for variable in schema.variables:
        if not variable.map:
            continue
        path = folder / variable.map
        try:
            size = path.stat().st_size
            if size > MOST_BYTES:
                raise InputError(
                    f"{path} has {size >> 20:,} MB; a map has at most {MOST_BYTES >> 20} MB. Draw"
                    " it with fewer points."
                )
            content = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}.") from None
        shapes = read_shapes(content, variable, str(path))
        leaves = shapes.get(variable.leaf_level)
        shown = set() if leaves is None else set(leaves.codes)
        valid = [code.code for code in variable.codes if not code.is_missing]
        missing = tuple(code for code in valid if code not in shown)
        if any(len(shape.points) > MOST_POINTS for shape in shapes.values()):
            content = _for_screens(shapes)
        census_maps.append(CensusMap(variable.name, content, missing, path.name))
    return tuple(census_maps)


def _for_screens(shapes: Mapping[str, Shapes]) -> bytes:
    """A map without details that no screen shows: what is kept is read at every start."""
    drawn = all_levels({name: for_screen(shape) for name, shape in shapes.items()})
    return json.dumps(drawn, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
