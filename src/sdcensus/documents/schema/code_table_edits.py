"""Changing code lists in files; every row that is not changed stays as it is, to the byte."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sdcensus.documents.workbooks.small_tables import delimiter_of

#: The values of a row by the names of their columns.
Cells = Mapping[str, str]

_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


@dataclass(frozen=True, slots=True)
class CodeTableChange:
    """What becomes of a code list.

    Attributes:
        cells: New values of columns, by the line of their row. A column that is not there is added.
        added: New rows, behind the others.
        removed: The lines of rows that go.
    """

    cells: Mapping[int, Cells] = field(default_factory=dict)
    added: Sequence[Cells] = ()
    removed: Collection[int] = ()


def edited_code_table(content: bytes, change: CodeTableChange) -> bytes:
    """A code list with changes, in its own delimiter and ends of lines.

    Examples:
        >>> table = b'code;label;\\n1;"One";\\n2;Two;\\n'
        >>> print(edited_code_table(table, CodeTableChange({3: {"label": "Both"}})).decode())
        code;label;
        1;"One";
        2;Both;
        <BLANKLINE>
    """
    text = content.decode("utf-8-sig")
    rows = _physical_rows(text, delimiter_of(text))
    first = next((at for at, row in enumerate(rows) if any(row.fields)), None)
    if first is None:
        return new_code_table(change.added)
    wanted = [*change.cells.values(), *change.added]
    header, columns = _header(rows[first].fields, wanted)
    ending = "\r\n" if "\r\n" in text else "\n"

    def line(fields: Sequence[str]) -> str:
        return _line(fields, delimiter_of(text), ending)

    written = [row.raw for row in rows[:first]]
    written.append(rows[first].raw if header == rows[first].fields else line(header))
    for number, raw, fields in rows[first + 1 :]:
        if number in change.removed:
            continue
        cells = change.cells.get(number, {})
        changed = _with_cells(fields, cells, columns)
        written.append(raw if changed == fields else line(changed))
    if change.added and written and not written[-1].endswith(("\n", "\r")):
        written[-1] += ending
    empty = [""] * len(header)
    written += [line(_with_cells(empty, cells, columns)) for cells in change.added]
    mark = _MARK if content.startswith(_MARK.encode("utf-8")) else ""
    return (mark + "".join(written)).encode("utf-8")


def new_code_table(rows: Iterable[Cells]) -> bytes:
    """A code list for a file that is not there yet."""
    listed = list(rows)
    columns = dict.fromkeys(["code", "label", *(name for row in listed for name in row)])
    lines = [_line(list(columns), ",", "\n")]
    lines += [_line([row.get(name, "") for name in columns], ",", "\n") for row in listed]
    return "".join(lines).encode("utf-8")


class _PhysicalRow(NamedTuple):
    """A row as it is written, on its first line; a field may hold ends of lines."""

    line: int
    raw: str
    fields: list[str]


def _physical_rows(text: str, delimiter: str) -> list[_PhysicalRow]:
    lines = list(io.StringIO(text, newline=""))
    reader = csv.reader(iter(lines), delimiter=delimiter)
    rows = []
    start = 0
    for fields in reader:
        rows.append(_PhysicalRow(start + 1, "".join(lines[start : reader.line_num]), fields))
        start = reader.line_num
    return rows


def _header(fields: Sequence[str], rows: Iterable[Cells]) -> tuple[list[str], dict[str, int]]:
    """The names of columns with those that are new, and which field holds which."""
    names = [name.strip().lower().replace(" ", "_").replace("-", "_") for name in fields]
    header = list(fields)
    for name in dict.fromkeys(name for row in rows for name in row):
        if name not in names:
            names.append(name)
            header.append(name)
    return header, {name: at for at, name in reversed(list(enumerate(names)))}


def _with_cells(fields: Sequence[str], cells: Cells, columns: Mapping[str, int]) -> list[str]:
    changed = list(fields)
    for name, value in cells.items():
        at = columns[name]
        old = changed[at].strip() if at < len(changed) else ""
        if value != old:
            changed += [""] * (at + 1 - len(changed))
            changed[at] = value
    return changed


def _line(fields: Sequence[str], delimiter: str, ending: str) -> str:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=ending).writerow(fields)
    return stream.getvalue()
