"""What an office says of single cells, in a small file: weights, bounds, protection levels, status.

A line names a cell by a code for each variable; a field that is empty, or ``_T``, stands for the
total, and so does a variable without a column. What is said of the cell stands in the other
columns, each of which may be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import DocumentError, Mistake, UnknownName, unknown
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import BadNumber, exact, whole
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import text_of_cell

#: Mistakes of a file that are listed.
_MOST = 20


class CellStatus(StrEnum):
    """What is decided about a cell, whatever the rules say of it."""

    SENSITIVE = "sensitive"
    SAFE = "safe"
    FIXED = "fixed"


_WHOLE = ("lower", "upper", "lower_protection", "upper_protection")
COLUMNS = ("weight", *_WHOLE, "status")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CellLine(Confidential):
    """What is said of one cell; ``None`` where nothing is.

    Attributes:
        line: Where it stands in the file.
        codes: Variables and codes; a total is not listed.
        weight: What one unit of change costs.
        lower, upper: The smallest and the largest number that may be published.
        lower_protection, upper_protection: How far it is moved down or up at least.
        status: Whether it must change, may change or stays.
    """

    line: int
    codes: tuple[tuple[str, str], ...]
    weight: Fraction | None = None
    lower: int | None = None
    upper: int | None = None
    lower_protection: int | None = None
    upper_protection: int | None = None
    status: CellStatus | None = None

    def __repr__(self) -> str:
        return f"<CellLine {self.line}: confidential>"

    def plain(self) -> list[object]:
        """As plain values, for the fingerprint of a method."""
        said = (self.weight, self.lower, self.upper, self.lower_protection, self.upper_protection)
        return [
            *map(list, self.codes),
            *(None if value is None else str(value) for value in said),
            None if self.status is None else str(self.status),
        ]


@dataclass(frozen=True, slots=True, repr=False)
class CellFile(Confidential):
    """A file about cells."""

    name: str
    lines: tuple[CellLine, ...]

    def __repr__(self) -> str:
        return f"<CellFile {self.name!r}: confidential>"

    def cells(self, tables: LinkedTables) -> Iterator[tuple[int, CellLine]]:
        """The cells of some tables that the file names, as their numbers.

        Raises:
            DocumentError: A line names no cell of these tables, or one that stands there already.
        """
        mistakes = []
        known: dict[int, int] = {}
        for line in self.lines:
            cell = _cell(tables, dict(line.codes))
            if cell is not None and known.setdefault(cell, line.line) != line.line:
                text = f"Line {known[cell]} is about the same cell."
                mistakes.append(Mistake(line.line, text))
            elif cell is None:
                codes = ", ".join(f"{variable} = {code}" for variable, code in line.codes)
                mistakes.append(
                    Mistake(line.line, f"No table that is protected has a cell {codes or TOTAL}.")
                )
            else:
                yield cell, line
        if mistakes:
            raise DocumentError(self.name, mistakes[:_MOST])


def read_cells(path: str | Path) -> CellFile:
    """Read a csv file or a workbook.

    Raises:
        DocumentError: Headings or fields cannot be understood. All of it, with lines.
    """
    file = Path(path)
    table = [
        (line, [text_of_cell(field).strip() for field in fields])
        for line, fields in small_table(file, what="file about cells")
    ]
    table = [(line, fields) for line, fields in table if any(fields)]
    if len(table) < 2:
        raise DocumentError(
            str(file),
            [Mistake(1, "The file has a line of headings, and a line for each cell behind it.")],
        )
    (head_line, heads), *rows = table
    if not set(heads) & set(COLUMNS):
        raise DocumentError(
            str(file),
            [Mistake(head_line, f"No column says anything of cells: {', '.join(COLUMNS)}.")],
        )
    mistakes: list[Mistake] = []
    lines = []
    for line, fields in rows:
        said = dict(zip(heads, fields, strict=False))
        try:
            lines.append(_line(line, said))
        except ValueError as error:
            mistakes.append(Mistake(line, str(error)))
    if mistakes:
        raise DocumentError(str(file), mistakes[:_MOST])
    return CellFile(file.name, tuple(lines))


def _line(line: int, said: Mapping[str, str]) -> CellLine:
    codes = tuple(
        (name, field)
        for name, field in said.items()
        if name and name not in COLUMNS and field not in ("", TOTAL)
    )
    numbers = {name: _whole(name, said[name]) for name in _WHOLE if said.get(name)}
    status = said.get("status") or None
    if status is not None and status not in tuple(CellStatus):
        raise ValueError(unknown("status", status, tuple(CellStatus)))
    return CellLine(
        line=line,
        codes=codes,
        weight=_weight(said["weight"]) if said.get("weight") else None,
        status=None if status is None else CellStatus(status),
        **numbers,
    )


def _whole(name: str, text: str) -> int:
    try:
        number = whole(text, comma=True)
    except BadNumber:
        number = -1
    if number < 0:
        raise ValueError(f"{name!r} should be a whole number, 0 or more, and is {text!r}.")
    return number


def _weight(text: str) -> Fraction:
    try:
        number = exact(text, comma=True)
    except BadNumber:
        number = Fraction(0)
    if number <= 0:
        raise ValueError(f"'weight' should be a number above 0, and is {text!r}.")
    return number


def _cell(tables: LinkedTables, codes: Mapping[str, str]) -> int | None:
    """The number of a cell in the first table that has it."""
    for spec, cells in zip(tables.specs, tables.cell_of, strict=True):
        names = {axis.variable.name for axis in spec.axes}
        if not set(codes) <= names:
            continue
        try:
            place = tuple(axis.position(codes.get(axis.variable.name, TOTAL)) for axis in spec.axes)
        except UnknownName:
            continue
        cell = int(cells[place])
        if cell >= 0:
            return cell
    return None
