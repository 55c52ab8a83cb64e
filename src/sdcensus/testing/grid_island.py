"""A small country on a grid, in memory: squares, and municipalities whose borders cut them.

For tests of maps, of delivery with shapes, and of squares that areas cut.
"""

from __future__ import annotations

import numpy as np

from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.grids import grid_codes
from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Role, Variable
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET

#: The south-west corner of the country, in metres of EPSG 3035.
WEST, SOUTH = 4_321_000, 3_210_000
SIDE = 1_000


def grid_schema(columns: int, rows: int, municipalities: int = 4) -> Schema:
    """Squares of a kilometre, municipalities, and sex."""
    extent = (WEST, SOUTH, WEST + columns * SIDE, SOUTH + rows * SIDE)
    areas = tuple(Code(f"M{at + 1}", Text.of(f"Town {at + 1}")) for at in range(municipalities))
    return Schema(
        census=CensusInfo(name="Grid island", measure=Measure.COUNT),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(
            Variable(
                name="municipality",
                entity=Entity.PERSON,
                codes=areas,
                leaf_level="municipality",
                role=Role.GEOGRAPHY,
                main=True,
            ),
            Variable(
                name="square",
                entity=Entity.PERSON,
                codes=grid_codes(3035, SIDE, extent),
                leaf_level="cell",
                role=Role.GEOGRAPHY,
            ),
            Variable(
                name="sex",
                entity=Entity.PERSON,
                codes=(Code("1", Text.of("Male")), Code("2", Text.of("Female"))),
            ),
        ),
        keys=KeyRules(space=KeySpace()),
    )


def grid_island(
    columns: int = 8, rows: int = 6, people: int = 2_000, *, municipalities: int = 4, seed: int = 7
) -> Census:
    """Persons around a town in the middle; borders run slantwise, so that they cut squares.

    Args:
        columns, rows: How many squares there are from west to east, and from south to north.
        people: How many persons.
        municipalities: How many municipalities lie beside each other.
        seed: Of where they live.
    """
    schema = grid_schema(columns, rows, municipalities)
    draw = np.random.default_rng(seed)
    # Two in three live around the town; the others anywhere.
    near = draw.random(people) < 2 / 3
    place = np.where(near[:, None], draw.normal(0.5, 0.16, (people, 2)), draw.random((people, 2)))
    east, north = np.clip(place, 0, 1 - 1e-9).T
    square = (north * rows).astype(np.int64) * columns + (east * columns).astype(np.int64)
    slant = np.clip(0.85 * east + 0.15 * north, 0, 1 - 1e-9)
    return Census(
        schema,
        InMemoryRecords(
            schema,
            Entity.PERSON,
            codes={
                "municipality": (slant * municipalities).astype(np.uint16),
                "square": square.astype(np.uint32),
                "sex": draw.integers(0, 2, people).astype(np.uint8),
            },
            keys=draw.integers(0, 2**32, people, dtype=np.uint64).astype(np.uint32),
            values={},
            origin=Origin(KeySpace(), SECRET.id, "grid island"),
        ),
    )
