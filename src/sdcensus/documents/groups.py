"""Groups of codes that a user writes down: a table of variable, group and code."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import DocumentError, Mistake

_COLUMNS = ("variable", "group", "code")


def read_groups(path: str | Path) -> dict[str, dict[str, list[str]]]:
    """Read a csv file, or the first sheet of a workbook, with ``variable``, ``group``, ``code``.

    Returns:
        For each variable its groups by name, each a list of codes; all in the order of the file.
    """
    file = Path(path)
    rows = [(line, row) for line, row in small_table(file, what="file of groups") if any(row)]
    header = [one.lower() for one in rows[0][1]] if rows else []
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        text = f"The first line needs the columns {', '.join(_COLUMNS)}; {', '.join(missing)}"
        raise DocumentError(
            str(file), [Mistake(1, f"{text} {'is' if len(missing) == 1 else 'are'} missing.")]
        )
    places = [header.index(name) for name in _COLUMNS]
    groups: dict[str, dict[str, list[str]]] = {}
    mistakes = []
    for line, row in rows[1:]:
        fields = [row[at] if at < len(row) else "" for at in places]
        empty = [name for name, field in zip(_COLUMNS, fields, strict=True) if not field]
        if empty:
            mistakes.append(Mistake(line, f"The field {', '.join(empty)} is empty."))
            continue
        variable, group, code = fields
        groups.setdefault(variable, {}).setdefault(group, []).append(code)
    if not groups and not mistakes:
        mistakes.append(Mistake(2, "There is no group. Write one code of a group on each line."))
    if mistakes:
        raise DocumentError(str(file), mistakes)
    return groups
