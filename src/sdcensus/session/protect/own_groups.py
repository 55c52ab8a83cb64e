"""Groups that nobody declared, from a file: sums of the values of a published table."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.groups import read_groups
from sdcensus.formats.tables.grouped import check_groups_target, write_grouped
from sdcensus.methods.building_blocks import BuildingBlocks
from sdcensus.model.published.grouped_table import GroupedTable
from sdcensus.model.published.table import AnyTable

__all__ = ["check_groups_target", "group_table", "write_grouped"]


def group_table(
    table: AnyTable,
    groups: str | Path,
    *,
    minimum_population: int = 0,
    subtraction: bool = False,
    language: str | None = None,
) -> GroupedTable:
    """A published table on the groups that a file names.

    Args:
        table: The published table.
        groups: A file with the columns ``variable``, ``group`` and ``code``.
        minimum_population: Groups of areas with fewer published people are refused.
        subtraction: Whether a group may be a larger code less others.
        language: The language of the labels.
    """
    table = table.held_for("a group of your own")
    blocks = BuildingBlocks(minimum_population=minimum_population, subtraction=subtraction)
    return blocks.group(table, read_groups(groups), language=language)
