"""Policies and published tables of the island, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()


def policy(**rules: Any) -> Policy:
    return Policy(name="test", schema=SCHEMA, **rules)


def spec(*by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def table(*by: str, inner: Any, where: str | None = None) -> Table:
    """A published table from its interior cells; totals are sums."""
    made = spec(*by, where=where)
    values = with_totals(made, np.asarray(inner, dtype=np.int64))
    return Table(made, values)


def noisy(made: Table) -> Table:
    """The same table with totals that are no sums: the last cell is one more."""
    values = made.published.copy()
    values.reshape(-1)[-1] += 1
    return Table(made.spec, values)


def codes(found: Sequence[Any]) -> list[str]:
    return [str(one.code) for one in found]
