"""Tables that nearly add up: one that does, with a small deviation in every cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]


def variable(name: str, size: int, *levels: Sequence[int]) -> Variable:
    """A variable with levels, each given as the group of every leaf."""
    return Variable(
        name=name,
        entity=Entity.PERSON,
        codes=tuple(Code(f"{name}{at}") for at in range(size)),
        hierarchies=tuple(
            Hierarchy(f"tree{at}", (_level(f"{name}_{at}", group),))
            for at, group in enumerate(levels)
        ),
    )


def _level(name: str, group: Sequence[int]) -> Level:
    codes = tuple(Code(f"{name}:{at}") for at in range(max(group) + 1))
    return Level(name, codes, tuple(group))


def spec_of(variables: Sequence[Variable], by: Sequence[str]) -> TableSpec:
    schema = Schema(
        census=CensusInfo(name="nearly"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=tuple(variables),
    )
    return TableSpec.build(schema, by)


def perturbed(spec: TableSpec, *, seed: int, mean: float = 4, blocked: int = 0) -> Table:
    """Counts with much noise; empty cells stay empty, and some others become empty."""
    draw = np.random.default_rng(seed)
    inner = draw.poisson(draw.gamma(0.5, 2 * mean, spec.base_shape)).astype(np.int64)
    true = with_totals(spec, inner)
    values = np.maximum(true + draw.integers(-2, 3, true.shape), 0)
    values = np.where(true == 0, 0, values)
    raised = np.where(draw.random(true.shape) < 0.5, 0, blocked + 1)
    return Table(spec, np.where((values > 0) & (values <= blocked), raised, values))


@st.composite
def specs(draw: st.DrawFn, *, most_axes: int = 3, most_codes: int = 4) -> TableSpec:
    """Up to three axes with levels that nest or not, with totals or without."""
    variables, by = [], []
    for name in "cab"[: draw(st.integers(0, most_axes))]:
        size = draw(st.integers(1, most_codes))
        groups = st.lists(st.integers(0, size - 1), min_size=size, max_size=size)
        levels = draw(st.lists(groups, max_size=2))
        variables.append(variable(name, size, *levels))
        shown = "".join(f"+{name}_{at}" for at in range(len(levels)))
        by.append(f"{name}@{name}{shown}{draw(st.sampled_from(['', '', '-total']))}")
    return spec_of(variables, by)


@st.composite
def tables(
    draw: st.DrawFn, *, most_axes: int = 3, most_codes: int = 4, largest: int = 9, noise: int = 2
) -> Table:
    """A table of any such shape, every cell with a deviation of its own."""
    spec = draw(specs(most_axes=most_axes, most_codes=most_codes))
    seed = draw(st.integers(0, 1 << 32))
    generator = np.random.default_rng(seed)
    inner = generator.integers(0, largest + 1, spec.base_shape)
    inner = np.where(generator.random(spec.base_shape) < 0.3, 0, inner)
    true = with_totals(spec, inner)
    values = np.maximum(true + generator.integers(-noise, noise + 1, true.shape), 0)
    return Table(spec, np.where(true == 0, 0, values).reshape(spec.shape))
