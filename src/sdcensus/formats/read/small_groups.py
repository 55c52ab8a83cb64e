"""Reading back which cells a sparse file does not show, where small groups are not broken down."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcensus.errors import InputError
from sdcensus.formats.read.raw import Int64, RawTable
from sdcensus.formats.write.about import SMALL_GROUPS, ZERO_OR_SMALL
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import NOT_BROKEN_DOWN
from sdcensus.model.spec.table_spec import TableSpec


def small_groups(
    raw: RawTable, about: dict[str, Any], spec: TableSpec, values: Int64
) -> SmallGroups | None:
    """The rule of the smallest group in a sparse file; ``None`` where there is none.

    A file that lost a part of it is refused: cells that are not shown would be read as 0.
    """
    said = about.get(SMALL_GROUPS)
    smallest = said.get("smallest_group") if isinstance(said, dict) else None
    provenance = about.get("provenance")
    made_with = provenance.get("smallest_group", 0) if isinstance(provenance, dict) else 0
    if about.get("cells_not_listed") != ZERO_OR_SMALL:
        if said is not None or made_with or NOT_BROKEN_DOWN in raw.columns:
            raise _damaged(raw)
        return None
    if type(smallest) is not int or smallest < 1 or made_with != smallest:
        raise _damaged(raw)
    assert isinstance(said, dict)
    marks = np.array(raw.column(NOT_BROKEN_DOWN).cast("string").to_pylist(), dtype=object)
    wrong = np.flatnonzero(marks != np.where(values < smallest, "1", "0"))
    if wrong.size:
        raise raw.mistake(
            int(wrong[0]),
            f"{NOT_BROKEN_DOWN} is 1 where fewer than {smallest} are published, and 0 elsewhere.",
        )
    groups: Any = said.get("positions")
    cells: Any = said.get("outside_the_table")
    if not _are_groups(groups, spec) or not _are_rows(cells, len(spec.axes)):
        raise _damaged(raw)
    rows = np.array(cells, dtype=np.int64).reshape(len(cells), len(spec.axes))
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    if (rows < 0).any() or (rows >= sizes).any():
        raise _damaged(raw)
    named = tuple(tuple(tuple(group) for group in one) for one in groups)
    return SmallGroups(smallest, named, rows)


def _damaged(raw: RawTable) -> InputError:
    return InputError(
        f"{raw.path}: what stands about the table does not say which groups are not broken down"
        f' ("{SMALL_GROUPS}"), or not as the table does. Cells that are not shown would be read as'
        " 0. Take both files as they were published."
    )


def _are_groups(groups: object, spec: TableSpec) -> bool:
    """Whether there is, for each axis, a list of lists of its positions."""
    if not isinstance(groups, list) or len(groups) != len(spec.axes):
        return False
    for axis, named in zip(spec.axes, groups, strict=True):
        if not isinstance(named, list):
            return False
        for group in named:
            if not isinstance(group, list) or any(type(one) is not int for one in group):
                return False
            if any(not 0 <= one < len(axis.codes) for one in group):
                return False
    return True


def _are_rows(rows: object, width: int) -> bool:
    return isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == width and all(type(one) is int for one in row)
        for row in rows
    )
