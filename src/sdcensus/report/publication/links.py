"""Links to published files, short enough for a cell of a table."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import quote

from sdcensus.report.page import Html, link

#: Endings of files that only programs read, beside another one.
_BESIDE = (".about.json", ".sdmx.xml")


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
    shown = [one for one in files if not one.endswith(_BESIDE)]
    made = [link(one[len(name) :].lstrip("."), before + quote(one)) for one in shown]
    return Html(" ".join(made))
