"""Code lists in files of their own: small csv or Excel tables with one row for each code.

The first row names the columns: ``code``, and where there are any ``label``, ``label_xx`` for the
label in language ``xx``, ``parent`` and ``level``. Other columns are passed over. Two rows have the
same code if they are of different levels. Lists with a column for each level are read as well: see
``wide_tables``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from sdcensus.documents.schema.wide_tables import level_columns, wide_rows
from sdcensus.documents.workbooks.small_tables import Row, small_table
from sdcensus.errors import DocumentError, Mistake
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.text import Text

_COLUMNS = ("code", "label", "parent", "level")
#: More mistakes than this in one file are one mistake, made everywhere.
_MOST_MISTAKES = 50


@dataclass(frozen=True, slots=True)
class CodeTable:
    """The rows of a code list and the lines on which they stand in their file."""

    path: Path
    nodes: tuple[Node, ...]
    lines: tuple[int, ...]


_REMEDY = (
    "The first row names the columns: code,label and perhaps label_es, parent, level. Or it names"
    " two columns for each level, such as region,region_label,province,province_label."
)


def read_code_table(path: Path, *, language: str = "en", content: bytes | None = None) -> CodeTable:
    """Read a code list from a csv or Excel file.

    Args:
        path: The file; Excel by its ending, csv otherwise.
        language: The language of the column ``label``.
        content: What will stand in it, if it is not written yet.

    Raises:
        InputError: The file is missing or cannot be opened.
        DocumentError: It has mistakes; all are listed with their lines.
    """
    return _table(path, small_table(path, what="code list", content=content), language)


def _table(path: Path, rows: Sequence[Row], language: str) -> CodeTable:
    filled = [row for row in rows if any(row[1])]
    if not filled:
        raise DocumentError(str(path), [Mistake(0, f"The code list is empty. {_REMEDY}")])
    (header_line, header), *body = filled
    mistakes: list[Mistake] = []
    place = _places(header, header_line, mistakes)
    levels = [] if "code" in place else level_columns(header)
    if levels:
        nodes, lines = wide_rows(levels, body, language, mistakes := [])
        return _checked(path, nodes, lines, mistakes, header_line)
    if "code" not in place:
        mistakes.append(Mistake(header_line, f"There is no column 'code'. {_REMEDY}"))
        raise DocumentError(str(path), mistakes)
    nodes = []
    lines = []
    first_line: dict[tuple[str, str], int] = {}
    for line, fields in body:
        node, wrong = _node(fields, place, len(header), language)
        if not wrong and (node.level, node.code) in first_line:
            wrong = _twice(node, first_line[node.level, node.code])
        if wrong:
            mistakes.append(Mistake(line, wrong))
            continue
        first_line[node.level, node.code] = line
        nodes.append(node)
        lines.append(line)
    return _checked(path, nodes, lines, mistakes, header_line)


def _twice(node: Node, line: int) -> str:
    if node.level:
        return f"The {node.level} {node.code!r} stands on line {line} already."
    return (
        f"The code {node.code!r} stands on line {line} already. If two levels share their codes,"
        " say in a column 'level' which row is of which."
    )


def _checked(
    path: Path,
    nodes: Sequence[Node],
    lines: Sequence[int],
    mistakes: list[Mistake],
    header_line: int,
) -> CodeTable:
    """A code list without mistakes; else they are told, the first of very many."""
    if not nodes and not mistakes:
        mistakes.append(Mistake(header_line, "There are no codes below the names of the columns."))
    if len(mistakes) > _MOST_MISTAKES:
        line, more = mistakes[_MOST_MISTAKES].line, len(mistakes) - _MOST_MISTAKES
        mistakes[_MOST_MISTAKES:] = [Mistake(line, f"There are {more} more mistakes from here on.")]
    if mistakes:
        raise DocumentError(str(path), mistakes)
    return CodeTable(path, tuple(nodes), tuple(lines))


def _places(header: Sequence[str], line: int, mistakes: list[Mistake]) -> dict[str, int]:
    """Which field holds which column."""
    place: dict[str, int] = {}
    for at, title in enumerate(header):
        name = title.strip().lower().replace(" ", "_").replace("-", "_")
        if name in _COLUMNS or (name.startswith("label_") and len(name) > 6):
            if name in place:
                mistakes.append(Mistake(line, f"There are two columns {name!r}."))
            place.setdefault(name, at)
            continue
        near = get_close_matches(name, _COLUMNS, n=1, cutoff=0.8)
        if near and near[0] not in {one.strip().lower() for one in header}:
            mistakes.append(
                Mistake(line, f"There is no column {title!r}. Did you mean {near[0]!r}?")
            )
    return place


def _node(
    fields: Sequence[str], place: dict[str, int], width: int, language: str
) -> tuple[Node, str]:
    """A row as a node, and what is wrong with it."""
    if any(fields[width:]):
        return Node(""), f"There are more fields than the {width} columns; put texts in quotes."

    def field(name: str) -> str:
        at = place.get(name, width)
        return fields[at] if at < len(fields) else ""

    labels = {language: field("label") or field(f"label_{language}")}
    for name in place:
        if name.startswith("label_"):
            labels.setdefault(name[6:], field(name))
    node = Node(field("code"), Text.of(labels), field("parent"), field("level"))
    return node, "" if node.code else "The code is missing."
