"""New workbooks in which no text is, or becomes, a formula."""

from __future__ import annotations

from typing import Any, BinaryIO

from sdcensus.model.text import plain_cell

#: What the library would make of texts by itself.
_AS_THEY_ARE = {
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def plain_book(library: Any, file: BinaryIO, options: dict[str, object]) -> Any:
    """A new workbook of the library ``xlsxwriter``; its sheets write texts as plain cells.

    A text in a workbook is no formula, but becomes one when somebody edits the cell or saves the
    sheet as csv: it stands behind an apostrophe here as well.

    Args:
        library: The library, which is imported when it is needed.
        file: Where the workbook is written.
        options: Of the library.
    """
    sheet_class: Any = library.worksheet.Worksheet

    class PlainSheet(sheet_class):  # type: ignore[misc]
        """A sheet that writes every text as a plain cell."""

        def _write_string(self, row: int, col: int, string: str, *more: Any) -> Any:
            return super()._write_string(row, col, plain_cell(string), *more)

    book = library.Workbook(file, {**options, **_AS_THEY_ARE})
    book.worksheet_class = PlainSheet
    return book
