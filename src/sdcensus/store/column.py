"""Columns of encoded records, and what an engine needs to know of where they lie."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.entity import Entity
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable

Integers = npt.NDArray[Any]


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
            above = np.empty(at.size, dtype=np.uint32)
            inherit(at, link, int(NO_ROW), above)
            at = above
        out = np.empty(at.size, dtype=self._values.dtype)
        inherit(at, self._values, self._missing, out)
        return out


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
