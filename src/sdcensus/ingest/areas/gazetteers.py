"""Files of an office that list its areas, beside the files of its census."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from sdcensus.documents.schema.code_tables import read_code_table
from sdcensus.documents.schema.wide_tables import level_columns
from sdcensus.documents.workbooks.small_tables import EXCEL_ENDINGS, Row, small_table
from sdcensus.errors import SdcensusError
from sdcensus.ingest.areas.trees import AreaTree
from sdcensus.model.schema.tree_rows import NO_ROW, Node, row_parents

_ENDINGS = frozenset({".csv", ".txt", ".tsv", ".tab", *EXCEL_ENDINGS})
#: No list of areas is larger; a file that is, is one of records.
_LARGEST = 16 * 1024 * 1024
#: So many of the columns of a gazetteer are codes and names of its levels.
_MOSTLY = 0.6


def is_gazetteer(path: Path) -> bool:
    """Whether a file lists areas: columns for each level, and each of the finest areas once."""
    rows = _rows(path)
    if len(rows) < 3:
        return False
    header, body = rows[0][1], rows[1:]
    if is_code_list(path):
        return "level" in _plain(header)
    levels = level_columns(header)
    places = {at for level in levels for at in (level.code, *level.labels.values())}
    if len(levels) < 2 or not all(level.labels for level in levels):
        return False
    columns = [{fields[level.code] for _, fields in body} for level in levels]
    return len(places) >= _MOSTLY * len(header) and max(map(len, columns)) == len(body)


def is_code_list(path: Path) -> bool:
    """Whether a file is a code list of one variable: code, label and perhaps parent and level."""
    rows = _rows(path)
    names = _plain(rows[0][1]) if rows else set()
    own = {name for name in names if name in {"code", "parent", "level"} or "label" in name}
    return len(rows) > 1 and own == names and {"code", "label"} <= own


def read_gazetteer(path: Path, language: str) -> AreaTree:
    """The areas of a gazetteer.

    Raises:
        DocumentError: An area lies in two others, or has two names.
    """
    table = read_code_table(path, language=language, content=_content(path))
    parents = row_parents(table.nodes).places
    nodes = [
        Node(node.code, node.label, _parent(table.nodes, above), node.level)
        for node, above in zip(table.nodes, parents, strict=True)
    ]
    sizes = Counter(node.level for node in nodes)
    levels = sorted(sizes, key=lambda level: (-sizes[level], level))
    return AreaTree(tuple(levels), tuple(nodes))


def _parent(nodes: tuple[Node, ...], at: int) -> str:
    return "" if at == NO_ROW else f"{nodes[at].level}:{nodes[at].code}"


def _plain(header: list[str]) -> set[str]:
    return {name.strip().lower() for name in header if name.strip()}


def _content(path: Path) -> bytes:
    """What stands in a file, text in UTF-8."""
    content = path.read_bytes()
    if path.suffix.lower() in EXCEL_ENDINGS:
        return content
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace").encode()
    return content


def _rows(path: Path) -> list[Row]:
    """The rows of a small table; none if it is no such."""
    try:
        if path.suffix.lower() not in _ENDINGS or path.stat().st_size > _LARGEST:
            return []
        rows = small_table(path, what="list of areas", content=_content(path))
    except (OSError, SdcensusError):
        return []
    filled = [row for row in rows if any(row[1])]
    width = len(filled[0][1]) if filled else 0
    return filled if all(len(fields) == width for _, fields in filled) else []
