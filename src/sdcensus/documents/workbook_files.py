"""Workbooks that users hand over, opened without trusting them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from sdcensus.documents.toml_lines import read_small_file
from sdcensus.errors import InputError

#: A workbook that a person made is never larger; nor is it, unpacked.
LARGEST_WORKBOOK = 64 * 1024 * 1024
LARGEST_UNPACKED = 512 * 1024 * 1024
_MOST_PARTS = 10_000
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
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as package:
            parts = package.infolist()
    except (zipfile.BadZipFile, ValueError, OSError, EOFError):
        raise InputError(f"{path} is no .xlsx workbook, or a damaged one.") from None
    names = [one.filename for one in parts]
    if len(set(names)) != len(names) or "[Content_Types].xml" not in names:
        raise InputError(f"{path} is no .xlsx workbook, or a damaged one.")
    if any(one.flag_bits & 1 for one in parts):
        raise InputError(f"{path} is locked with a password. Save it without one.")
    if sum(one.file_size for one in parts) > LARGEST_UNPACKED or len(parts) > _MOST_PARTS:
        raise InputError(
            f"{path} is larger than {LARGEST_UNPACKED // 2**20} MB when it is unpacked, so it"
            f" cannot be a {what}."
        )
    return content


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets call it, from positions that begin with 0.

    Examples:
        >>> cell_name(0, 0), cell_name(4, 27)
        ('A1', 'AB5')
    """
    return f"{column_name(column)}{row + 1}"


def column_name(column: int) -> str:
    """A column as spreadsheets call it, from a position that begins with 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
