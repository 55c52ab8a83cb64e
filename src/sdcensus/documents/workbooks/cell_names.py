"""What spreadsheets call their cells and columns."""

from __future__ import annotations


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets call it, from positions that begin with 0.

    Examples:
        >>> cell_name(0, 0), cell_name(4, 27)
        ('A1', 'AB5')
    """
    return f"{column_name(column)}{row + 1}"


def column_name(column: int) -> str:
    """A column as spreadsheets call it, from a position that begins with 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
