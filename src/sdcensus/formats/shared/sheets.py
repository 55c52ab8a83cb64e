"""What all workbooks share: how they look, and the sheet of notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from io import BytesIO
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.errors import MissingExtra
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.text import Text

#: What a sheet can hold.
MOST_ROWS = 1_048_576
#: Cells from which on a sheet is written through to the disk instead of being held.
_HELD = 100_000
#: What a cell can hold.
_MOST_SIGNS = 32_767
_WIDEST, _NARROWEST, _NOTES_WIDTH = 44, 9, 110

TABLE = Text.named("files.sheets.table")
NOTES = Text.named("files.sheets.notes")
SIGNS = Text.named("files.sheets.signs")
HOW = Text.named("files.sheets.how")
CODE = Text.named("files.sheets.code")
LEVEL = Text.named("files.sheets.level")
SEE = Text.named("files.sheets.see")

#: The words for what a provenance holds.
_MADE = {
    member: Text.named(f"files.sheets.made.{member}")
    for member in (
        "method",
        "method_version",
        "fingerprint",
        "data_version",
        "key_version",
        "secret_id",
        "package_version",
        "spec_hash",
        "lineage",
    )
}

#: A part of the notes: its heading, and lines with what stands in front of them.
Section = tuple[str, Sequence[tuple[str, str]]]


def library() -> Any:
    """The library that writes workbooks."""
    try:
        return import_module("xlsxwriter")
    except ImportError:
        raise MissingExtra("formats", needed_for="Writing an .xlsx file") from None


@contextmanager
def new_book(file: BinaryIO, title: str, cells: int, dated: str = "") -> Iterator[Any]:
    """A new workbook in which no text is taken for a formula, number or link.

    It is put together in memory and in a temporary folder, which both go when that fails, and
    then written as a whole.

    Args:
        file: Where it is written.
        title: What it is called.
        cells: How many cells it will have.
        dated: The day that it names as that of its making, as ISO text; empty for none.
    """
    writer = library()
    bytes_i_o = BytesIO()
    with TemporaryDirectory(prefix="sdcensus-", ignore_cleanup_errors=True) as folder:
        options = {
            "constant_memory": cells > _HELD,
            "in_memory": cells <= _HELD,
            "use_zip64": cells > 10 * _HELD,
            "tmpdir": folder,
        }
        try:
            book = plain_book(writer, bytes_i_o, options)
            book.set_properties({"title": title[:255], **_created(dated)})
            yield book
            book.close()
        except writer.exceptions.FileCreateError as error:
            raise OSError(*_told(error.args[0] if error.args else error)) from error
        except OSError as error:
            raise OSError(*_told(error)) from error
    file.write(bytes_i_o.getbuffer())


def _created(dated: str) -> dict[str, datetime]:
    try:
        return {"created": datetime.fromisoformat(dated)}
    except ValueError:
        return {}


def _told(error: object) -> tuple[int, str]:
    """What an error says, without the name of a temporary file."""
    if isinstance(error, OSError):
        return error.errno or 0, error.strerror or type(error).__name__
    return 0, str(error)


class Styles:
    """How the cells of a workbook look."""

    def __init__(self, book: Any) -> None:
        self._book = book
        self._numbers: dict[tuple[str, bool], Any] = {}
        self._indents: dict[tuple[int, bool], Any] = {}
        self.title = self._style(bold=True, font_size=14)
        self.quiet = self._style(font_color="#666666")
        line: dict[str, object] = {"bottom": 1, "text_wrap": True, "valign": "bottom"}
        self.head = self._style(bold=True, **line)
        self.head_right = self._style(bold=True, align="right", **line)
        self.head_code = self._style(font_color="#666666", align="right", font_size=9)
        upper: dict[str, object] = {"align": "right", "text_wrap": True, "valign": "bottom"}
        self.upper = self._style(bold=True, **upper)
        self.upper_again = self._style(font_color="#999999", **upper)
        self.head_axis = self._style(italic=True, font_color="#666666", align="right", font_size=9)
        self.text, self.bold = self._style(), self._style(bold=True)
        self.code = self._style(font_color="#666666")
        self.sign = self._style(align="right")
        self.bold_sign = self._style(align="right", bold=True)
        self.wrapped = self._style(text_wrap=True, valign="top")

    def _style(self, **properties: object) -> Any:
        return self._book.add_format({"font_name": "Calibri", "font_size": 11, **properties})

    def number(self, form: str = "#,##0", *, bold: bool = False) -> Any:
        """How numbers of a form look, each made once."""
        if (form, bold) not in self._numbers:
            self._numbers[form, bold] = self._style(num_format=form, align="right", bold=bold)
        return self._numbers[form, bold]

    def label(self, indent: int = 0, *, bold: bool = False) -> Any:
        """How a label looks that stands so far below the one that it belongs to."""
        if not indent:
            return self.bold if bold else self.text
        if (indent, bold) not in self._indents:
            self._indents[indent, bold] = self._style(indent=indent, bold=bold)
        return self._indents[indent, bold]


def put_text(sheet: Any, row: int, column: int, text: str, style: Any) -> None:
    """Write a text as it is; one that no cell can hold is cut."""
    if len(text) > _MOST_SIGNS:
        text = text[: _MOST_SIGNS - 1] + "…"
    sheet.write_string(row, column, text, style)


def prepare(sheet: Any, *, head: int, top: int, first: int) -> None:
    """What is told about a sheet before its first row.

    Args:
        sheet: The sheet.
        head: The first row of the head of its columns.
        top: The first row of numbers.
        first: The first column of numbers.
    """
    sheet.freeze_panes(top, first)
    sheet.repeat_rows(head, top - 1)
    sheet.set_landscape()
    sheet.hide_gridlines(2)


def made_section(provenance: Provenance | None, language: str | None) -> Section:
    """How a table was made, as a part of its notes."""
    made = {} if provenance is None else provenance.to_json()
    lines = [
        (word.show(language), str(made[name])) for name, word in _MADE.items() if made.get(name)
    ]
    return HOW.show(language), lines


def write_notes(sheet: Any, styles: Styles, title: str, sections: Iterable[Section]) -> None:
    """Write the parts of the notes that say anything, one below the other."""
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, _NOTES_WIDTH)
    sheet.hide_gridlines(2)
    row = 0
    put_text(sheet, row, 0, title, styles.title)
    for head, lines in sections:
        if not lines:
            continue
        row += 2
        put_text(sheet, row, 0, head, styles.bold)
        for name, text in lines:
            row += 1
            # The height that wrapped text needs: programs that only show it compute none.
            needed = sum(1 + len(line) // _NOTES_WIDTH for line in text.split("\n"))
            sheet.set_row(row, 15.0 * min(needed, 27))
            if name:
                put_text(sheet, row, 0, name, styles.text)
            put_text(sheet, row, 1, text, styles.wrapped)


def column_width(longest: int, at_least: int) -> int:
    """How wide a column is whose longest text that must not break has so many signs."""
    return max(_NARROWEST, min(_WIDEST, max(longest + 1, at_least)))
