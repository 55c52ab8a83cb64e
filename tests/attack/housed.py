"""A census of households and the persons in them, for what ties counts of the two."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema, UnitIdentity
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.session.census.census import Census, open_store
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, write_store

#: Sizes 1 to 5; the last code is six and more.
LARGEST = 6


def housed_schema(
    areas: int = 20, answers: int = 3, *, declared: bool = True, open_code: bool = True
) -> Schema:
    """Households by area, size and tenure; persons by sex, answers and place in the household."""
    sizes = (
        *(Code(f"{at:02}") for at in range(1, LARGEST + 1)),
        Code("98", kind=CodeKind.NOT_APPLICABLE),
    )
    grouped = Level(
        "grouped",
        (Code("1-2"), Code("3-4"), Code("5+"), Code("98", kind=CodeKind.NOT_APPLICABLE)),
        (0, 0, 1, 1, 2, 2, 3),
    )
    # Classes that mix by themselves; beside the others they do not: 1 to 3 less 1 to 2.
    shifted = Level(
        "shifted",
        (Code("1-3"), Code("4+"), Code("98", kind=CodeKind.NOT_APPLICABLE)),
        (0, 0, 0, 1, 1, 1, 2),
    )
    household = [
        Variable(
            name="area",
            entity=Entity.HOUSEHOLD,
            role=Role.GEOGRAPHY,
            codes=tuple(Code(f"A{at:02}") for at in range(areas)),
        ),
        Variable(
            name="size",
            entity=Entity.HOUSEHOLD,
            codes=sizes,
            hierarchies=(Hierarchy("grouped", (grouped,)), Hierarchy("shifted", (shifted,))),
            counts=Entity.PERSON if declared else None,
            counts_open=(sizes[-2].code,) if declared and open_code else (),
        ),
        Variable(
            name="tenure", entity=Entity.HOUSEHOLD, codes=tuple(Code(str(at)) for at in range(3))
        ),
    ]
    person = [
        Variable(name=name, entity=Entity.PERSON, codes=tuple(Code(str(at)) for at in range(2)))
        for name in ("sex", *(f"q{at}" for at in range(answers)), "place")
    ]
    identity = UnitIdentity(each=Entity.HOUSEHOLD, holds=Entity.PERSON, when="place == '0'")
    return Schema(
        census=CensusInfo(name="Housed"),
        entities=(
            EntitySpec(entity=Entity.HOUSEHOLD, id=("household",)),
            EntitySpec(entity=Entity.PERSON, id=("person",), within=Entity.HOUSEHOLD),
        ),
        variables=(*household, *person),
        keys=KeyRules(space=KeySpace()),
        identities=(identity,) if declared else (),
    )


def housed(
    path: Path,
    households: int = 4_000,
    areas: int = 20,
    answers: int = 3,
    *,
    seed: int = 11,
    schema: Schema | None = None,
) -> Census:
    """The census itself; ``place`` is 0 for one person of each household."""
    draw = np.random.default_rng(seed)
    size = draw.choice(
        np.arange(1, 9), households, p=[0.25, 0.28, 0.17, 0.14, 0.08, 0.05, 0.02, 0.01]
    )
    home = np.repeat(np.arange(households), size)
    people = home.size
    first = np.r_[True, home[1:] != home[:-1]]
    answers_of = {
        name: draw.integers(0, 2, people) for name in ("sex", *(f"q{at}" for at in range(answers)))
    }
    units = {
        Entity.HOUSEHOLD: Units(
            keys=_keys(draw, households),
            leaves={
                "area": draw.integers(0, areas, households),
                "size": np.minimum(size, LARGEST) - 1,
                "tenure": draw.integers(0, 3, households),
            },
        ),
        Entity.PERSON: Units(
            keys=_keys(draw, people),
            leaves={**answers_of, "place": np.where(first, 0, 1)},
            parents={Entity.HOUSEHOLD: home},
        ),
    }
    described = schema or housed_schema(areas, answers)
    write_store(path, described, units, secret_id=SECRET.id)
    return open_store(path)


def without_identities(schema: Schema) -> Schema:
    """The same schema as an office wrote it that knows nothing of identities."""
    return replace(
        schema,
        identities=(),
        variables=tuple(
            replace(variable, counts=None, counts_open=()) for variable in schema.variables
        ),
    )


def _keys(draw: np.random.Generator, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
    return draw.integers(0, 1 << 32, size, dtype=np.uint64).astype(np.uint32)
