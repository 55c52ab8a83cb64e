"""Links to published files, short enough for a cell of a table."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from sdcensus.model.published.table_format import all_formats
from sdcensus.report.page import Html, link


def links(name: str, files: Iterable[str], before: str = "") -> Html:
    """Links to the files of a table, named by what is different: their endings.

    Args:
        name: The table.
        files: Its files.
        before: The way to the folder in which they lie.

    Examples:
        >>> links("ages", ["ages.csv", "ages.about.json"])
        '<a href="ages.csv">csv</a>'
    """
    # Files that only programs read stand beside another one.
    beside = tuple(ending for one in all_formats() for ending in one.endings[1:])
    shown = [file for file in files if not file.endswith(beside)]
    return Html(
        " ".join(link(file[len(name) :].lstrip("."), before + quote(file)) for file in shown)
    )
