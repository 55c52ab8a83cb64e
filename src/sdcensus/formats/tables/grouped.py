"""Sums of published values on groups, as a csv file."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from sdcensus.errors import OutputError
from sdcensus.formats.shared.files import check_new, new_file
from sdcensus.formats.tables.text import write_csv
from sdcensus.model.published.grouped_table import GroupedTable


def check_groups_target(path: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    target = Path(path)
    if target.suffix.lower() != ".csv":
        raise OutputError(f"{target}: write groups as .csv.")
    check_new(target)
    return target


def write_grouped(grouped: GroupedTable, path: str | Path) -> Path:
    """Write a table on groups to a new csv file: sums, how many parts they have, their error."""
    target = check_groups_target(path)
    columns = {
        name: pa.array([str(one) if isinstance(one, float) else one for one in values])
        for name, values in grouped.columns().items()
    }
    with new_file(target) as file:
        write_csv(iter([pa.table(columns)]), file)
    return target
