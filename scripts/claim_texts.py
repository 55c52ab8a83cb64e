"""What all claims share: the secrets that are tried, and how figures are written."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.secret import Secret

SECRETS = 5


def secret_of(number: int) -> Secret:
    """One of the secrets that are tried; nobody chose them."""
    return Secret(f"claims {number:>9}".encode())


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def short(value: float, digits: int) -> str:
    """A share as tables print it: .312."""
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("0.") else text
