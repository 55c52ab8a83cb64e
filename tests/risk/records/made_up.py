"""Columns of keys for tests, and what records mean to each other by the definition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from hypothesis import strategies as st

from sdcensus.model.release.plan import MissingValues
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn

VALID, STATED, APPLIES = CodeKind.VALID, CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE
KINDS = (VALID, VALID, VALID, STATED, APPLIES)


def column(name: str, values: Sequence[int], kinds: Sequence[CodeKind] = KINDS) -> KeyColumn:
    """A column of a few codes: three values, "not stated" (3), "not applicable" (4)."""
    return KeyColumn(name=name, values=np.array(values, dtype=np.int16), kinds=tuple(kinds))


@st.composite
def key_columns(draw: st.DrawFn, *, keys: int = 4, records: int = 14) -> tuple[KeyColumn, ...]:
    """Some keys of some records, with missing values."""
    count = draw(st.integers(1, keys))
    size = draw(st.integers(0, records))
    codes = st.sampled_from([0, 1, 2, 0, 1, 3, 4])
    lists = draw(st.lists(st.lists(codes, min_size=size, max_size=size), min_size=count,
                          max_size=count))  # fmt: skip
    return tuple(column(f"key{at}", values) for at, values in enumerate(lists))


def may_be(mine: int, theirs: int, missing: MissingValues) -> bool:
    """Whether a code may stand for the same as another."""
    if missing is MissingValues.CATEGORY or mine == theirs:
        return mine == theirs
    return (theirs == 3 and mine < 3) or (mine == 3 and theirs < 3)


def rows(columns: Sequence[KeyColumn]) -> Iterator[tuple[int, ...]]:
    """The keys record by record."""
    return zip(*(each.values.tolist() for each in columns), strict=True)
