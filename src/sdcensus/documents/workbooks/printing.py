"""How sheets are printed: never too small to be read, with headings and labels on every page."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

#: No text is printed smaller than this, in points.
SMALLEST_POINTS = 6
#: A4, in inches: its short and its long side, and what the library calls it.
A4, _SHORT, _LONG = 9, 8.27, 11.69
#: Widths of columns are pixels of this part of an inch.
_PIXELS = 96
#: What programs may measure otherwise: fonts differ.
_SLACK = 0.97
#: A sheet has at most so many breaks between columns. Behind them programs break by themselves.
_MOST_BREAKS = 1023


def set_print_layout(sheet: Any, smallest_font: float) -> None:
    """Scale a sheet to the width of its paper, but to no text below 6 points; then break it.

    Rows and columns that stay in sight on the screen are repeated on every page. Breaks that were
    set before stay. The scale is the largest one that needs no more pages than the smallest.

    Args:
        sheet: A sheet of ``xlsxwriter``, of which all is written.
        smallest_font: The size of its smallest letters, in points.
    """
    if not sheet.paper_size:
        sheet.set_paper(A4)
    head, labels = sheet.panes[:2] if sheet.panes else (0, 0)
    if head and not sheet.repeat_row_range:
        sheet.repeat_rows(head - 1)
    widths = [_width(sheet, column) for column in range((sheet.dim_colmax or 0) + 1)]
    side = _SHORT if sheet.orientation else _LONG
    room = _SLACK * _PIXELS * (side - sheet.margin_left - sheet.margin_right)
    smallest = min(100, math.ceil(100 * SMALLEST_POINTS / smallest_font))
    # Labels that would fill half of every page are not repeated as far as they do.
    half = 50 * room / smallest
    labels = sum(total <= half for total in accumulate(widths[:labels]))
    forced = frozenset(sheet.vbreaks)
    scales = range(100, smallest - 1, -1)
    fewest, _ = _pages(widths, labels, forced, 100 * room / smallest)
    fits = bisect_left(
        scales,
        x=True,
        key=lambda scale: _pages(widths, labels, forced, 100 * room / scale)[0] <= fewest,
    )
    sheet.set_print_scale(scales[fits])
    _, breaks = _pages(widths, labels, forced, 100 * room / scales[fits])
    if labels:
        sheet.repeat_columns(0, labels - 1)
    if breaks:
        sheet.set_v_pagebreaks(breaks[:_MOST_BREAKS])
        sheet.print_across()


def _width(sheet: Any, column: int) -> int:
    """How many pixels wide a column is."""
    set_before = sheet.col_info.get(column)
    if set_before is None:
        return int(sheet.default_col_width)
    if set_before.hidden:
        return 0
    return int(sheet.default_col_width if set_before.width is None else set_before.width)


def _pages(
    widths: Sequence[int], labels: int, forced: frozenset[int], room: float
) -> tuple[int, list[int]]:
    """How many pages stand side by side, and the columns with which all but the first begin.

    Each has the labels and so much room. A column that is wider than a page goes on over others.
    """
    repeated = sum(widths[:labels])
    pages, breaks = 0, []
    used, begins = repeated, True
    for column in range(labels, len(widths)):
        if not begins and (column in forced or used + widths[column] > room):
            breaks.append(column)
            pages += math.ceil(used / room)
            used = repeated
        used, begins = used + widths[column], False
    return pages + math.ceil(used / room), breaks
