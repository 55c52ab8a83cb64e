"""How record keys add up to cell keys: one modulus, one way to combine, for a whole census."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName

LARGEST_MODULUS = 1 << 32
MOST_DIGITS = 9
#: Below this modulus, an outsider can try out every key.
COARSE_BELOW = 1 << 16


class Combine(StrEnum):
    """What is done with the keys of the records of a cell."""

    SUM = "sum"
    XOR = "xor"


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Keys are whole numbers from 0 to below ``modulus``; a cell combines those of its records.

    The default serves every publication. Others exist for exchange: powers of ten (keys that
    another tool drew as decimals), 256 and 4096, and exclusive or instead of sums.

    Examples:
        >>> KeySpace().reduce(np.array([6183025649], dtype=np.uint64))
        array([1888058353], dtype=uint32)
    """

    modulus: int = LARGEST_MODULUS
    combine: Combine = Combine.SUM

    def __post_init__(self) -> None:
        """Refuse a modulus whose sums do not fit, and exclusive or that leaves the range."""
        if type(self.modulus) is not int:
            raise SpecError("The modulus of keys is a whole number.")
        if not isinstance(self.combine, Combine):
            raise SpecError("Keys are combined by Combine.SUM or Combine.XOR.")
        if not 2 <= self.modulus <= LARGEST_MODULUS:
            raise SpecError(
                f"The modulus of keys must lie between 2 and {LARGEST_MODULUS} (2**32): sums of "
                "larger keys do not fit 64 bits. Shorten the keys (decimals to at most "
                f"{MOST_DIGITS} digits), or derive keys from the record ids."
            )
        if self.combine is Combine.XOR and not self._is_power_of_two:
            raise SpecError(
                "Keys can be combined by xor only if the modulus is a power of two, such as 256, "
                '4096 or 4294967296. Take one of these, or combine = "sum".'
            )

    @classmethod
    def from_decimals(cls, digits: int) -> Self:
        """The space of keys that were drawn as decimals between 0 and 1 with so many digits."""
        if type(digits) is not int or not 1 <= digits <= MOST_DIGITS:
            raise SpecError(
                f"Decimal keys can have 1 to {MOST_DIGITS} digits: sums of longer ones do not fit "
                f"64 bits. Shorten them to {MOST_DIGITS} digits, or derive keys from the record "
                "ids."
            )
        return cls(modulus=10**digits)

    @property
    def coarse(self) -> bool:
        """Whether there are so few keys that an outsider can try out all of them.

        Such a space is for exchange with systems that use it, not for a new publication.
        """
        return self.modulus < COARSE_BELOW

    def reduce(
        self, sums: npt.NDArray[np.uint64] | npt.NDArray[np.int64]
    ) -> npt.NDArray[np.uint32]:
        """Cell keys from what was accumulated in 64 bits, sums or exclusive ors."""
        if sums.dtype not in (np.uint64, np.int64):
            raise TypeError("Keys are accumulated in 64-bit integers.")
        if self._is_power_of_two:
            return (sums & sums.dtype.type(self.modulus - 1)).astype(np.uint32)
        return (sums % sums.dtype.type(self.modulus)).astype(np.uint32)

    @overload
    def to_float(self, key: int) -> float: ...

    @overload
    def to_float(self, key: npt.NDArray[Any]) -> npt.NDArray[np.float64]: ...

    def to_float(self, key: int | npt.NDArray[Any]) -> float | npt.NDArray[np.float64]:
        """The key as a fraction of the modulus, at least 0 and below 1; for tools that want it.

        Examples:
            >>> round(KeySpace().to_float(1888058353), 10)
            0.4395978416
        """
        return key / self.modulus

    def to_json(self) -> dict[str, int | str]:
        """What ``from_json`` reads."""
        return {"modulus": self.modulus, "combine": self.combine.value}

    @classmethod
    def from_json(cls, document: Mapping[str, object]) -> Self:
        """Read what ``to_json`` wrote, and refuse anything else."""
        if set(document) != {"modulus", "combine"}:
            raise SpecError("A key space is written as its modulus and how keys are combined.")
        modulus, combine = document["modulus"], document["combine"]
        if not isinstance(modulus, int):
            raise SpecError("The modulus of keys is a whole number.")
        if combine not in list(Combine):
            raise UnknownName("way to combine keys", str(combine), known=list(Combine))
        return cls(modulus=modulus, combine=Combine(str(combine)))

    @property
    def _is_power_of_two(self) -> bool:
        return self.modulus & (self.modulus - 1) == 0
