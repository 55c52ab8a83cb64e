"""The tables of a study: which ones, counted once, with keys of their own or fresh ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sdcensus.errors import InputError, SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.protect.table import published_spec

#: The founding study has tables of two to five axes.
FEWEST_WAYS, MOST_WAYS = 2, 5


def prefixes(
    census: Census,
    by: Sequence[str],
    ways: Sequence[int] | None = None,
    *,
    of: str | Entity = Entity.PERSON,
    universe: str | None = None,
    measure: str = "count",
) -> tuple[TableSpec, ...]:
    """Tables by the first two, three ... of the axes.

    Args:
        census: Whose tables.
        by: Axes in the order in which tables grow by them.
        ways: How many axes the tables have; by default 2 to 5, as far as there are so many.
        of: What is counted.
        universe: A condition, for all tables.
        measure: What they show: counts, or sums of an amount.
    """
    axes = tuple(by)
    if not axes:
        raise SpecError("Name the axes by which the tables of the study grow: --by AXES.")
    if ways is None:
        few = min(FEWEST_WAYS, len(axes))
        ways = range(few, max(few, min(MOST_WAYS, len(axes))) + 1)
    chosen = sorted(dict.fromkeys(ways))
    for way in chosen:
        if type(way) is not int or not 1 <= way <= len(axes):
            raise SpecError(
                f"A table cannot have {way} of the {len(axes)} axes that are named. Ask for 1 to"
                f" {len(axes)} (--ways), or name more axes (--by)."
            )
    whole = published_spec(census, *axes, of=of, where=universe, measure=measure)
    return tuple(whole.with_axes(whole.axes[:way]) for way in chosen)


def listed_tables(
    census: Census,
    texts: Sequence[str],
    *,
    of: str | Entity = Entity.PERSON,
    universe: str | None = None,
    measure: str = "count",
) -> tuple[TableSpec, ...]:
    """Tables by their axes, each written as comma-separated axes; each table once."""
    specs = []
    for text in texts:
        axes = [axis.strip() for axis in text.split(",") if axis.strip()]
        if not axes:
            raise SpecError("A table of the study needs axes, such as ed@parish,sex.")
        specs.append(published_spec(census, *axes, of=of, where=universe, measure=measure))
    return tuple(dict.fromkeys(specs))


def read_tables(path: str | Path) -> tuple[str, ...]:
    """Axes of tables from a text file: one table in a line; empty lines and # lines are skipped."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise InputError(
            f"{file} is no text in UTF-8. Write one table in a line, such as: ed@parish,sex"
        ) from None
    lines = [line.strip() for line in text.splitlines()]
    wanted = tuple(line for line in lines if line and not line.startswith("#"))
    if not wanted:
        raise InputError(f"{file} names no table. Write one in a line, such as: ed@parish,sex")
    return wanted


def cubes_of(census: Census, specs: Sequence[TableSpec]) -> tuple[Cube, ...]:
    """True counts and keys of the tables; those that are part of a larger one are rolled up."""
    counted: dict[TableSpec, Cube] = {}
    for spec in sorted(specs, key=lambda spec: -spec.cells):
        if spec in counted:
            continue
        larger = next((cube for cube in counted.values() if _is_part(spec, cube.spec)), None)
        if larger is None:
            cube = census.tabulate(spec).dense
            if cube is None:
                raise SpecError(
                    f"{spec.title}: {spec.cells:,} cells are too many to be compared whole. Take"
                    " fewer axes or coarser levels, such as ed@district."
                )
            counted[spec] = cube
        else:
            rolled = larger.rollup(*(axis.name for axis in spec.axes))
            # The same table under the name that it was asked for.
            counted[spec] = Cube(spec, rolled.origin, rolled.values)
    return tuple(counted[spec] for spec in specs)


def _is_part(spec: TableSpec, larger: TableSpec) -> bool:
    """Whether a table shows some of the axes of another one, as they are."""
    amounts = {None if table.amount is None else table.amount.name for table in (spec, larger)}
    if (spec.of, spec.measure) != (larger.of, larger.measure) or len(amounts) > 1:
        return False
    if spec.universe.canonical() != larger.universe.canonical():
        return False
    names = {axis.name for axis in larger.axes}
    return all(axis.name in names for axis in spec.axes)


def with_fresh_keys(cube: Cube, generator: np.random.Generator) -> Cube:
    """The same counts with a key for each cell that no other cell has anything to do with.

    To see what independent noise would do; nothing is ever published like this: the same people
    would have another number in every table, and averaging would give them away.
    """
    drawn = generator.integers(0, cube.origin.key_space.modulus, cube.shape, dtype=np.uint64)
    key = np.asarray(drawn).astype(np.uint32)
    return Cube(cube.spec, cube.origin, replace(cube.values, key=key))
