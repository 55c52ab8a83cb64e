"""Cubes and published tables of any shape, with noise."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, specs, variable

ORIGIN = Origin(KeySpace())


def cube_of(spec: TableSpec, inner: npt.ArrayLike) -> Cube:
    """A cube with these interior cells, and with the totals that belong to them."""
    count = with_totals(spec, np.asarray(inner, dtype=np.int64).reshape(spec.base_shape))
    return Cube(spec, ORIGIN, Accumulators(count, np.zeros(spec.shape, dtype=np.uint32)))


def two_way(inner: npt.ArrayLike, *, totals: bool = True) -> Cube:
    """A table of two axes called ``a`` and ``b``."""
    height, width = np.shape(inner)
    end = "" if totals else "-total"
    spec = spec_of([variable("a", height), variable("b", width)], [f"a{end}", f"b{end}"])
    return cube_of(spec, inner)


def sparse(cube: Cube, table: Table) -> tuple[SparseCube, SparseTable]:
    """The same, held as the cells that are not 0."""
    spec = cube.spec
    inner = cube.count[tuple(slice(0, size) for size in spec.base_shape)].reshape(-1)
    held = np.flatnonzero(inner).astype(np.uint64)
    values = Accumulators(inner[held], np.zeros(held.size, dtype=np.uint32))
    published = table.published.reshape(-1)
    shown = np.flatnonzero(published).astype(np.uint64)
    return SparseCube(spec, ORIGIN, held, values), SparseTable(spec, shown, published[shown])


@st.composite
def cubes_with_tables(draw: st.DrawFn, *, false_nonzeros: bool = True) -> tuple[Cube, Table]:
    """A cube, often sparse or empty, and a table with a change of its own in every cell."""
    spec = draw(specs())
    generator = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    inner = generator.integers(0, 10, spec.base_shape)
    inner = np.where(generator.random(spec.base_shape) < draw(st.floats(0, 1)), 0, inner)
    cube = cube_of(spec, inner)
    published = np.maximum(cube.count + generator.integers(-2, 3, spec.shape), 0)
    if not false_nonzeros:
        published = np.where(cube.count == 0, 0, published)
    return cube, Table(spec, np.asarray(published).reshape(spec.shape))
