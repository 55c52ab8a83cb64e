"""What differs between engines that speak SQL."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Dialect:
    """What differs between engines.

    Attributes:
        quote: Stands around names; doubled inside them.
        integer: The type of 64-bit integers.
        text: The type of text.
        exclusive_or: The aggregate that combines integers by exclusive or.
        same: Equality that also holds between two nulls.
        wide: The type of integers that hold the product of two of 64 bits.
        divided: The operator of whole division.
    """

    quote: str
    integer: str = "BIGINT"
    text: str = "VARCHAR"
    exclusive_or: str = "bit_xor"
    same: str = "IS NOT DISTINCT FROM"
    wide: str = "HUGEINT"
    divided: str = "//"

    def name(self, *parts: str) -> str:
        """A quoted name, with the relation in front if there are two parts.

        Examples:
            >>> DUCKDB.name("records", "age")
            '"records"."age"'
        """
        return ".".join(
            f"{self.quote}{part.replace(self.quote, 2 * self.quote)}{self.quote}" for part in parts
        )

    def whole(self, expression: str) -> str:
        """An expression as a 64-bit integer; an error where it does not fit."""
        return f"CAST({expression} AS {self.integer})"

    def scaled(self, amount: str, weight: str, unit: int) -> str:
        """An amount times a weight, rounded half away from zero; ``unit`` is a weight of 1."""
        product = f"CAST(abs({amount}) AS {self.wide}) * {weight} + {unit // 2:d}"
        size = self.whole(f"({product}) {self.divided} {unit:d}")
        return f"CASE WHEN {amount} < 0 THEN -{size} ELSE {size} END"


DUCKDB = Dialect(quote='"')
SPARK = Dialect(quote="`", text="STRING", same="<=>", wide="DECIMAL(19, 0)", divided="div")
