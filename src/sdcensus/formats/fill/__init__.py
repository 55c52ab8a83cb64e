"""Putting published values into an office's own workbook.

Cells that hold a placeholder get what was published; everything else stays as it is, byte for byte.
Formulas stay, and are computed anew when the workbook is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import DocumentError, InputError, Mistake, OutputError, UnknownName, unknown
from sdcensus.formats.fill.package import Package, calculated_anew
from sdcensus.formats.fill.placeholders import (
    HOW,
    CellReference,
    Placeholder,
    PlaceholderError,
    parse,
)
from sdcensus.formats.fill.published import FilledValue, PublishedFolderValues
from sdcensus.formats.fill.sheet import (
    NotReadableError,
    Sheet,
    SheetCell,
    changed,
    read_sheet,
    shared_texts,
    split_name,
    with_number,
    with_text,
    without_value,
)
from sdcensus.formats.write import check_new, new_file
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.text import plain_cell

__all__ = ["Filled", "fill_template"]

_ENDINGS = (".xlsx", ".xlsm")
_TEXTS = ("title", "notes", "unit")
#: Words that stand for the publication as a whole, and what its files call them.
_WORDS = {"office": "source", "date": "date"}
#: More mistakes than this help nobody.
_MOST_MISTAKES = 50

_Change = tuple[int, int, bytes]


@dataclass(frozen=True, slots=True)
class Filled:
    """What was filled.

    Attributes:
        path: The new workbook.
        cells: How many cells were filled.
        sheets: The sheets that they stand in.
        tables: The published tables that were used.
        formulas: How many formulas are computed anew when it is opened.
        lines: From which lines of records these tables were made, in words.
    """

    path: Path
    cells: int
    sheets: tuple[str, ...]
    tables: tuple[str, ...]
    formulas: int
    lines: tuple[str, ...] = ()


def fill_template(
    template: str | Path,
    published: str | Path,
    out: str | Path,
    *,
    language: str | None = None,
    progress: Progress = no_progress,
) -> Filled:
    """Fill the placeholders of a workbook with what was published.

    Args:
        template: An ``.xlsx`` workbook with placeholders.
        published: The folder of the published tables.
        out: The new workbook; never the template itself, and nothing is written over.
        language: The language of titles and notes.
        progress: Told how far it is.

    Raises:
        InputError: The template is no workbook, is locked, or has no placeholder; or a published
            file cannot be read.
        DocumentError: Placeholders have mistakes; all of them are listed with sheet and cell.
        OutputError: The new workbook cannot be written there.
    """
    source, target = Path(template), Path(out)
    for path, what in ((source, "template"), (target, "filled workbook")):
        if path.suffix.lower() not in _ENDINGS:
            raise InputError(f"{path}: a {what} is an .xlsx file.")
    if source.suffix.lower() != target.suffix.lower():
        raise OutputError(f"{target}: name the filled workbook *{source.suffix}, as the template.")
    package = Package.open(source)
    check_new(target)
    folder = PublishedFolderValues.open(Path(published))
    filling = _Filling(package, folder, language)
    parts = filling.fill(progress)
    with new_file(target) as file:
        package.write(file, parts)
    return Filled(
        target,
        filling.cells,
        tuple(filling.sheets),
        tuple(sorted(filling.tables)),
        filling.formulas,
        tuple(sorted({line for name in filling.tables if (line := folder.table(name).line)})),
    )


class _Filling:
    """Fills one workbook, sheet by sheet, and collects its mistakes."""

    def __init__(
        self, package: Package, folder: PublishedFolderValues, language: str | None
    ) -> None:
        self.package, self.folder, self.language = package, folder, language
        self.mistakes: list[Mistake] = []
        self.cells = self.formulas = 0
        self.sheets: list[str] = []
        self.tables: set[str] = set()

    def fill(self, progress: Progress) -> dict[str, bytes]:
        """The parts of the package that change."""
        package = self.package
        try:
            shared = [
                text
                for part in package.related(package.book, "sharedStrings")[:1]
                for text in shared_texts(package.parts[part])
            ]
            parts = {}
            for at, (name, part) in enumerate(package.sheets):
                progress("filling", at / len(package.sheets))
                self._check_tables(name, part)
                sheet = read_sheet(package.parts[part])
                changes = list(self._changes(name, sheet, shared))
                if changes:
                    parts[part] = changed(sheet.content, changes)
            if self.formulas:
                parts[package.book] = calculated_anew(package.parts[package.book])
        except (NotReadableError, KeyError) as error:
            reason = f": {error}" if isinstance(error, NotReadableError) else ""
            raise InputError(f"{package.path} cannot be read{reason}.") from None
        if self.mistakes:
            mistakes = self.mistakes[:_MOST_MISTAKES]
            if len(self.mistakes) > len(mistakes):
                more = len(self.mistakes) - len(mistakes)
                mistakes.append(Mistake(0, f"There are {more} more mistakes."))
            raise DocumentError(str(package.path), mistakes)
        if not self.cells:
            raise InputError(f"{package.path} has no placeholder. {HOW}")
        return parts

    def _wrong(self, sheet: str, cell: str, text: str) -> None:
        self.mistakes.append(Mistake(0, f"sheet {sheet!r}, cell {cell}: {text}"))

    def _check_tables(self, sheet: str, part: str) -> None:
        """The head of an Excel table is named in a second place, so it cannot be filled."""
        for table in self.package.related(part, "table"):
            if b'name="{' in self.package.parts.get(table, b""):
                self._wrong(
                    sheet, "of a table", "the head of an Excel table cannot be a placeholder."
                )

    def _changes(self, name: str, sheet: Sheet, shared: list[str]) -> Iterator[_Change]:
        filled = 0
        for cell in sheet.cells.values():
            if sheet.is_result(cell):
                self.formulas += cell.formula
                yield from without_value(sheet, cell)
                continue
            text = _text_of(cell, shared)
            if "{" not in text:
                continue
            try:
                yield self._filled(sheet, cell, parse(text), shared)
                filled += 1
            except (PlaceholderError, UnknownName) as error:
                self._wrong(name, cell.name, str(error))
        if filled:
            self.cells += filled
            self.sheets.append(name)

    def _filled(
        self, sheet: Sheet, cell: SheetCell, parts: list[str | Placeholder], shared: list[str]
    ) -> _Change:
        found = [
            part if isinstance(part, str) else self._meant(sheet, cell, part, shared)
            for part in parts
        ]
        if len(found) == 1 and isinstance(found[0], FilledValue):
            value = found[0]
            if value.number and not value.uncertain:
                return with_number(sheet, cell, value.number)
        text = "".join(
            cell_value if isinstance(cell_value, str) else _shown(cell_value)
            for cell_value in found
        )
        # What the office has written into its template may begin as it likes.
        return with_text(sheet, cell, text if isinstance(parts[0], str) else plain_cell(text))

    def _meant(
        self, sheet: Sheet, cell: SheetCell, one: Placeholder, shared: list[str]
    ) -> str | FilledValue:
        """What a placeholder stands for."""
        if self.folder.has(one.name):
            if one.words:
                raise PlaceholderError(f"{one.words[0]!r} does not say axis=code. {HOW}")
            self.tables.add(one.name)
            chosen = {}
            for choice in one.chosen:
                code, numeric = choice.code, False
                if isinstance(code, CellReference):
                    code, numeric = _referred(sheet, cell, code, shared)
                chosen[choice.axis] = (code, choice.level, numeric)
            return self.folder.table(one.name).value(chosen)
        language = one.words[0] if one.words else self.language
        if one.chosen:
            raise PlaceholderError(self._unknown(one.name))
        if one.name in _WORDS:
            text = self.folder.word(_WORDS[one.name], language)
            if not text:
                raise PlaceholderError(f"the published files name no {one.name}.")
            return text
        table, _, field = one.name.rpartition(".")
        if field in _TEXTS and self.folder.has(table):
            self.tables.add(table)
            return self.folder.table(table).text(field, language)
        if self.folder.has(table):
            raise PlaceholderError(unknown("text of a table", field, _TEXTS))
        raise PlaceholderError(self._unknown(table if field in _TEXTS and table else one.name))

    def _unknown(self, name: str) -> str:
        return unknown("published table", name, [*self.folder.files, *_WORDS])


def _text_of(cell: SheetCell, shared: list[str]) -> str:
    """The text of a cell; nothing for numbers, errors and truth values."""
    if cell.kind == "s":
        at = int(cell.text) if cell.text.isdecimal() else len(shared)
        return shared[at] if at < len(shared) else ""
    return cell.text if cell.kind in ("inlineStr", "str") else ""


def _referred(
    sheet: Sheet, cell: SheetCell, to: CellReference, shared: list[str]
) -> tuple[str, bool]:
    """What another cell of the sheet holds, and whether that is a number."""
    column, row = split_name(cell.name)
    name = f"{to.column or column}{row if to.row is None else to.row}"
    other = sheet.at(name)
    if other is None:
        raise PlaceholderError(f"the cell {name}, which should hold a code, is empty.")
    if other.is_number:
        return _plain_number(other.text), True
    text = _text_of(other, shared).strip()
    if not text or "{" in text:
        raise PlaceholderError(f"the cell {name}, which should hold a code, holds none.")
    return text, False


def _plain_number(text: str) -> str:
    """A number without the fraction that spreadsheets may give it."""
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def _shown(value: FilledValue) -> str:
    """A value as text: signs as they are, uncertain numbers in brackets."""
    if not value.number:
        return value.sign
    return f"({value.number})" if value.uncertain else value.number
