"""Groups that nobody declared, from a file: sums of the values of a published table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sdcensus.documents.groups import read_groups
from sdcensus.errors import SpecError
from sdcensus.formats.tables.grouped import check_groups_target, write_grouped
from sdcensus.methods.building_blocks import BuildingBlocks, axis_for
from sdcensus.model.published.grouped_table import GroupedTable
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import SparseTable
from sdcensus.model.spec.table_spec import TableSpec

__all__ = ["check_groups_target", "group_table", "write_grouped"]


def group_table(
    protected: Protected,
    groups: str | Path,
    protect: Callable[[TableSpec], Protected],
    *,
    minimum_population: int = 0,
    language: str | None = None,
) -> GroupedTable:
    """A protected table on the groups that a file names.

    Groups are sums of the fewest declared codes, as in the table builder. Where the table does not
    show these codes, one that does is protected for them.

    Args:
        protected: The table as it was asked for.
        groups: A file with the columns ``variable``, ``group`` and ``code``.
        protect: Protects a table in the same way.
        minimum_population: Groups of areas with fewer published people are refused.
        language: The language of the labels.
    """
    named = read_groups(groups)
    spec = protected.table.spec
    for variable in named:
        spec.position(variable)
    axes = [
        axis_for(axis, named[axis.variable.name]) if axis.variable.name in named else axis
        for axis in spec.axes
    ]
    if any(axis.name != own.name for axis, own in zip(axes, spec.axes, strict=True)):
        protected = protect(spec.with_axes(axes))
    table = protected.table
    if isinstance(table, SparseTable):
        raise SpecError(
            f"{spec.title}: the table is too large to be held whole, which groups need. Take"
            " fewer or coarser axes."
        )
    blocks = BuildingBlocks(minimum_population=minimum_population)
    return blocks.group(table, named, language=language)
