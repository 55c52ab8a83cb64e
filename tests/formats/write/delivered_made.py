"""Delivered tables made by hand, for tests of what writes and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable, deliver
from sdcensus.model.published.table import Table
from sdcensus.model.published.table_format import BUILT_IN, table_format
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import (
    Code,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from tests.formats.made import PROVENANCE, SEX, text


def axis(
    column: str,
    codes: Sequence[str],
    *,
    labels: Sequence[str] = (),
    total: int | None = None,
    **more: Any,
) -> DeliveredAxis:
    """An axis of codes, labelled or not, all of one level below a total if there is one."""
    own = range(len(codes))
    more.setdefault("parents", tuple(-1 if total in (None, at) else total for at in own))
    more.setdefault("levels", tuple("_T" if at == total else column.lower() for at in own))
    return DeliveredAxis(
        column=column,
        label=text(f"{column} in words"),
        positions=np.arange(len(codes)),
        codes=tuple(codes),
        labels=tuple(map(Text.of, labels)) or (Text(),) * len(codes),
        total=total,
        **more,
    )


def delivered(*axes: DeliveredAxis, name: str = "t", **more: Any) -> DeliveredTable:
    """A table whose values are 0, 1, 2 ... unless they are given."""
    shape = tuple(map(len, axes))
    values = np.arange(int(np.prod(shape, dtype=np.int64)), dtype=np.int64).reshape(shape)
    more.setdefault("values", values)
    more.setdefault("title", text("A title", "Un título"))
    return DeliveredTable(name=name, axes=axes, **more)


#: Formats that take every table; the others are for tables whose areas have shapes.
FOR_ANY_TABLE = tuple(name for name in BUILT_IN if not table_format(name).areas)

GEO = axis(
    "GEO",
    ("NL", "NL1", "NL11", "NL12"),
    labels=("Netherlands", "North", "Groningen", "Drenthe"),
    levels=("_T", "part", "province", "province"),
    parents=(-1, 0, 1, 1),
    total=0,
    geography=True,
)

# A tree of which one branch ends at depth 1, and one leaf that lies outside of it.
JOB = Variable(
    name="job",
    entity=Entity.PERSON,
    label=text("Job", "Trabajo"),
    codes=tuple(Code(one, text(f"job {one}")) for one in "abcx"),
    hierarchies=(
        Hierarchy(
            "tree",
            (Level("group", (Code("AB"), Code("c"), Code("outside")), (0, 0, 1, 2)),),
        ),
    ),
)
AREA = Variable(
    name="area",
    entity=Entity.PERSON,
    label=text("Area", "Zona"),
    role=Role.GEOGRAPHY,
    codes=(Code("1", text("Hill")), Code("2", text("Shore"))),
)
SCHEMA = Schema(
    census=CensusInfo(name="Made by hand", languages=("en", "es")),
    entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
    variables=(JOB, AREA, SEX),
)


def spec(*by: str, universe: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=universe)


def tree_axis(of: TableSpec, *, column: str = "JOB", without: Sequence[str] = ()) -> DeliveredAxis:
    """The tree of jobs, each code once, the whole before its parts, under other codes."""
    shown = of.axes[0]
    wanted = [
        ("_T", "_T", -1),
        ("AB", "group", 0),
        ("a", "job", 1),
        ("b", "job", 1),
        ("c", "job", 0),
    ]
    wanted = [one for one in wanted if one[0] not in without]
    return DeliveredAxis(
        column=column,
        label=text("Occupation", "Ocupación"),
        positions=np.array([shown.position(code, level) for code, level, _ in wanted]),
        codes=tuple(f"J_{code.strip('_')}" for code, _, _ in wanted),
        labels=tuple(text(f"label of {code}") for code, _, _ in wanted),
        levels=tuple(level for _, level, _ in wanted),
        parents=tuple(above for _, _, above in wanted),
        total=0,
    )


def counts(of: TableSpec, *, flags: Any = None) -> Table:
    """A table in which positions that stand for the same records hold the same value."""
    leaves = np.random.default_rng(5).integers(
        0, 50, [len(axis.variable.codes) for axis in of.axes]
    )
    inside = of.universe
    for at, axis in enumerate(of.axes):
        for variable, groups in zip(inside.variables, inside.classes, strict=True):
            if variable.name == axis.variable.name:
                keep = inside.truth[groups].reshape(
                    [-1 if n == at else 1 for n in range(leaves.ndim)]
                )
                leaves = leaves * keep
    for at, axis in enumerate(of.axes):
        blocks = []
        for block in axis.blocks:
            level = axis.variable.level(block.level).group_array if block.level != "_T" else None
            for code in range(block.size):
                held = slice(None) if level is None else np.flatnonzero(level == code)
                blocks.append(
                    np.take(leaves, np.arange(leaves.shape[at])[held], axis=at).sum(axis=at)
                )
        leaves = np.stack(blocks, axis=at)
    if flags is not None:
        leaves[flags != 0] = 0
    return Table(of, leaves, flags)


def published(table: Table, **options: Any) -> DeliveredTable:
    """The table as it is delivered, with a provenance of its own."""
    provenance = replace(PROVENANCE, spec_hash=table.spec.hash())
    return deliver(table, provenance=provenance, **options)
