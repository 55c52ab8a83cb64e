"""Workbooks: those of users, opened without trusting them, and new ones without formulas."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

from sdcensus.documents.toml.lines import read_small_file
from sdcensus.documents.workbooks.printing import set_print_layout
from sdcensus.documents.workbooks.ranges import check_workbook
from sdcensus.errors import InputError
from sdcensus.model.text import plain_cell

#: A workbook that a person made is never larger; nor is it, unpacked.
LARGEST_WORKBOOK = 64 * 1024 * 1024
LARGEST_UNPACKED = 512 * 1024 * 1024
#: How files begin that hold a workbook of the old format, or one that is locked.
_LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_workbook_file(path: Path, *, what: str) -> bytes:
    """The bytes of an ``.xlsx`` file, which is known to be a sound package of bearable size.

    Raises:
        InputError: It is not there, too large, locked, damaged or no workbook.
    """
    content = read_small_file(path, what=what, largest=LARGEST_WORKBOOK)
    if content.startswith(_LOCKED):
        raise InputError(
            f"{path} is locked with a password, or of the format before .xlsx. Open it in a"
            " spreadsheet program and save it as .xlsx without a password."
        )
    if not content.startswith(b"PK"):
        raise InputError(f"{path} is no .xlsx workbook, or a damaged one.")
    check_workbook(io.BytesIO(content), name=str(path), largest=LARGEST_UNPACKED, what=what)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            names = package.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        raise InputError(f"{path} is no .xlsx workbook, or a damaged one.") from None
    if "[Content_Types].xml" not in names:
        raise InputError(f"{path} is no .xlsx workbook, or a damaged one.")
    return content


#: What the library would make of texts by itself.
_AS_THEY_ARE = {
    "strings_to_formulas": False,
    "strings_to_numbers": False,
    "strings_to_urls": False,
}


def plain_book(library: Any, file: BinaryIO, options: dict[str, object]) -> Any:
    """A new workbook of the library ``xlsxwriter``; its sheets write texts as plain cells.

    How its sheets are printed is found when it is closed.

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

    book_class: Any = library.Workbook

    class PrintedBook(book_class):  # type: ignore[misc]
        """A workbook whose sheets can be read on paper."""

        def close(self) -> None:
            smallest = min(form.font_size for form in self.formats)
            for sheet in self.worksheets():
                set_print_layout(sheet, smallest)
            super().close()

    book = PrintedBook(file, {**options, **_AS_THEY_ARE})
    book.worksheet_class = PlainSheet
    book._get_packager = _undated_packager(library)
    return book


def _undated_packager(library: Any) -> Any:
    """What packs a workbook; it says when it was made only where its properties name a day.

    The library would read the clock, and the same workbook would have other bytes every time.
    """
    core_class: Any = library.core.Core
    packager_class: Any = library.packager.Packager

    class DatedCore(core_class):  # type: ignore[misc]
        """The properties of a workbook."""

        def _write_dcterms_created(self) -> None:
            if self.properties.get("created"):
                super()._write_dcterms_created()

        def _write_dcterms_modified(self) -> None:
            if self.properties.get("created"):
                super()._write_dcterms_modified()

    class UndatedPackager(packager_class):  # type: ignore[misc]
        """Packs a workbook with such properties."""

        def _write_core_file(self) -> None:
            core = DatedCore()
            core._set_properties(self.workbook.doc_properties)
            core._set_xml_writer(self._filename("docProps/core.xml"))
            core._assemble_xml_file()

    return UndatedPackager
