"""A key variable with its codes for every record of the population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Code, CodeKind

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class KeyColumn(Confidential):
    """What an intruder may know of each record about one variable.

    Attributes:
        name: How the ladder calls it.
        values: The position of each record's code.
        kinds: The kind of each code: "not stated" is missing, "not applicable" is a value.
    """

    name: str
    values: Integers
    kinds: tuple[CodeKind, ...]

    def __repr__(self) -> str:
        return f"<KeyColumn {self.name!r}: confidential>"

    @classmethod
    def of(cls, name: str, values: Integers, codes: tuple[Code, ...]) -> KeyColumn:
        """A column whose code list is known."""
        return cls(name=name, values=values, kinds=tuple(code.kind for code in codes))

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.kinds)

    def is_kind(self, kind: CodeKind) -> npt.NDArray[np.bool_]:
        """For each code whether it is of a kind."""
        return np.array([each is kind for each in self.kinds], dtype=bool)
