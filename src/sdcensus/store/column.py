"""Columns of encoded records, and what an engine needs to know of where they lie."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.errors import StoreError
from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable

Integers = npt.NDArray[Any]


#: Kernels look up without asking whether there is such a place. A store is checked when a column is
#: first used; a file that is overwritten later, under a server that runs, is noticed here.
_DAMAGED = "The census store is damaged. Load the census again."


def check_codes(codes: Integers, size: int) -> None:
    """Refuse encoded records with codes that a list of ``size`` codes does not have."""
    if codes.size and (codes.max() >= size or (codes.dtype.kind == "i" and codes.min() < 0)):
        raise StoreError(_DAMAGED)


def _inherited(rows: Integers, column: Integers, missing: int) -> Integers:
    """The value of each row's parent; ``missing`` where there is none."""
    if ((rows >= column.size) & (rows != NO_ROW)).any():
        raise StoreError(_DAMAGED)
    values = np.empty(rows.size, dtype=column.dtype)
    inherit(rows, column, missing, values)
    return values


class Column:
    """A column for the records of a kind, read in slices; follows links where it is inherited."""

    __slots__ = ("_blank", "_links", "_missing", "_values")

    def __init__(
        self,
        values: Integers,
        links: tuple[Integers, ...],
        missing: int,
        *,
        blank: int | None = None,
    ) -> None:
        self._values, self._links, self._missing = values, links, missing
        self._blank = blank

    def with_missing(self, missing: int) -> Column:
        """The same column with another value where there is no parent to inherit from."""
        return Column(self._values, self._links, missing)

    def without_blanks(self, blank: int) -> Column:
        """The same column with 0 for ``blank``: a missing value adds nothing to a sum."""
        return Column(self._values, self._links, self._missing, blank=blank)

    @property
    def whole(self) -> Integers | None:
        """The column itself where it needs no links."""
        return None if self._links or self._blank is not None else self._values

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values."""
        return self._values.dtype

    def __getitem__(self, rows: slice) -> Integers:
        if self._blank is not None:
            plain = Column(self._values, self._links, self._missing)[rows]
            return np.where(plain == self._blank, 0, plain)
        if not self._links:
            return self._values[rows]
        at = self._links[0][rows]
        for link in self._links[1:]:
            at = _inherited(at, link, int(NO_ROW))
        return _inherited(at, self._values, self._missing)


class RecordSource(Protocol):
    """What an engine needs of encoded records, wherever they lie."""

    @property
    def schema(self) -> Schema: ...  # noqa: D102
    @property
    def origin(self) -> Origin: ...  # noqa: D102
    def rows(self, entity: Entity) -> int: ...  # noqa: D102
    def record_keys(self, entity: Entity) -> Integers: ...  # noqa: D102
    def column(self, entity: Entity, variable: Variable) -> Column: ...  # noqa: D102
    def values(self, entity: Entity, variable: Variable) -> Column: ...  # noqa: D102
    def household_rows(self, entity: Entity) -> Column: ...  # noqa: D102
    def sorted_geography(self, entity: Entity) -> str | None: ...  # noqa: D102
