"""A transition matrix that the office has published. Public: holds what was decided to be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sdcensus.model.text import plain_cell

#: Digits of a published probability: enough to give the whole numbers that were drawn with.
DIGITS = 12
#: What stands where the headings of rows and columns meet.
HEAD = "from/to"


def probability_text(share: float) -> str:
    """A probability as files write it.

    Examples:
        >>> probability_text(0.25), probability_text(1.0)
        ('0.25', '1')
    """
    return f"{share:.{DIGITS}f}".rstrip("0").rstrip(".")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedMatrix:
    """With which probability each code became another, as everybody may know it.

    Attributes:
        variables: The variable, or those that changed together.
        codes: What rows (true) and columns (published) stand for.
        rows: The probabilities, as texts.
    """

    variables: tuple[str, ...]
    codes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, variables: Sequence[str], codes: Sequence[str], rows: Sequence[Sequence[float]]
    ) -> PublishedMatrix:
        """A matrix that the office has decided to publish."""
        texts = tuple(tuple(map(probability_text, row)) for row in rows)
        return cls(variables=tuple(variables), codes=tuple(codes), rows=texts)

    def lines(self) -> list[list[str]]:
        """The table of its file: codes as headings, probabilities inside."""
        head = [HEAD, *map(plain_cell, self.codes)]
        return [
            head,
            *([plain_cell(code), *row] for code, row in zip(self.codes, self.rows, strict=True)),
        ]

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {"variables": self.variables, "codes": self.codes, "probabilities": self.rows}
