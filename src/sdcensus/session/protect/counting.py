"""How tables are counted for a method: with what it has to know about their cells."""

from __future__ import annotations

from collections.abc import Callable

from sdcensus.methods.method import Method
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census


def needs_replicates(method: Method, spec: TableSpec) -> bool:
    """Whether a method has to know the sampling errors of a table."""
    return method.needs_replicates and spec.measure.is_weighted


def counting(
    census: Census, method: Method, *, engine: str | None = None
) -> Callable[[TableSpec], AnyCube]:
    """What counts tables of a census for a method.

    Args:
        census: The census.
        method: How the tables are protected.
        engine: Who counts, as for ``Census.tabulate``.
    """

    def counted(spec: TableSpec) -> AnyCube:
        return census.tabulate(
            spec,
            contributions=method.first.needs_contributions if spec.measure.is_sum else None,
            replicates=needs_replicates(method, spec),
            engine=engine,
        )

    return counted
