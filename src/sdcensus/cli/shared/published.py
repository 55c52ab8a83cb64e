"""Drawing published tables: numbers, and signs where there are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdcensus.cli.shared import tables
from sdcensus.cli.shared.console import Output
from sdcensus.cli.shared.tables import Drawing, show_list

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sdcensus.model.published.table import AnyTable, SparseTable, Table


def show_published(output: Output, table: AnyTable, *, language: str | None = None) -> None:
    """Draw a published table; of a sparse one the cells that are not published as 0."""
    from sdcensus.model.published.table import SparseTable

    if output.quiet:
        return
    if isinstance(table, SparseTable):
        rows = _sparse_rows(table, language)
        show_list(output, rows, table.spec.axes, "published", language)
        output.say(table.absent.show(language))
        return
    published_drawing(table, language=language).show(output)


def published_drawing(table: Table, *, language: str | None = None) -> Drawing:
    """How a published table is drawn."""
    from sdcensus.model.published.table import IN_PLACE, Mark

    def text(at: tuple[int, ...]) -> str:
        mark = Mark.NONE if table.flags is None else Mark(int(table.flags[at]))
        return mark.sign if mark else f"{int(table.published[at]):,}"

    def longest(axis: int, position: int) -> int:
        numbers = table.published.take(position, axis=axis)
        return max(len(f"{int(numbers.max()):,}"), *(len(mark.sign) for mark in IN_PLACE))

    return Drawing(spec=table.spec, text=text, longest=longest, language=language)


def _sparse_rows(table: SparseTable, language: str | None) -> Iterator[tuple[list[str], str]]:
    labels = [
        [code.label.show(language) or code.code for code in axis.codes] for axis in table.spec.axes
    ]
    # One more than is shown, so that whoever draws them knows that there are more.
    first = slice(0, tables.MOST_LINES + 1)
    positions = table.positions()[:, first].T.tolist()
    for at, value in zip(positions, table.published[first].tolist(), strict=True):
        yield [words[one] for words, one in zip(labels, at, strict=True)], f"{value:,}"
