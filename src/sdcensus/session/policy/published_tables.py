"""Published tables of a census by one method, for whoever judges them."""

from __future__ import annotations

from pathlib import Path

from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.published.table import AnyTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.session.policy.value_rules import Publish
from sdcensus.session.protect.counting import counting
from sdcensus.session.protect.table import build_method


def publisher(
    census: Census,
    method: str,
    *,
    of: str | Entity = Entity.PERSON,
    options: MethodOptions | None = None,
    secret: str | Path | None = None,
) -> Publish:
    """What gives the published table of a specification; the same table is made once.

    Args:
        census: The census.
        method: The name of a method.
        of: What is counted.
        options: What is said about the method.
        secret: The file of the office secret.
    """
    built = build_method(method, census, of=of, options=options, secret=secret)
    tables: dict[str, AnyTable] = {}

    def published(spec: TableSpec) -> AnyTable:
        # Axes in another order are the same table, and other cells in memory.
        name = f"{spec.hash()} {spec.shape} {[axis.name for axis in spec.axes]}"
        if name not in tables:
            tables[name] = built.protect(counting(census, built)(spec)).table
        return tables[name]

    return published
