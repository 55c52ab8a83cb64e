"""First looks at a file: is it there, is it a file, is it what its ending says."""

from __future__ import annotations

import codecs
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.model.schema.source import FileFormat

#: How files of the binary formats begin, and what to call them.
_BEGINNINGS: tuple[tuple[bytes, FileFormat | None, str], ...] = (
    (b"PAR1", FileFormat.PARQUET, "a parquet file"),
    (b"$FL2", FileFormat.SPSS, "an SPSS file"),
    (b"$FL3", FileFormat.SPSS, "an SPSS file"),
    (b"<stata_dta>", FileFormat.STATA, "a Stata file"),
    (
        b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60\xb3\x14\x11\xcf",
        FileFormat.SAS,
        "a SAS data set",
    ),
    (b"PK\x03\x04", FileFormat.EXCEL, "an Excel workbook or another zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileFormat.EXCEL, "an old Excel workbook"),
    (
        b"SQLite format 3\0",
        None,
        "a database; one of CSPro has the ending .csdb",
    ),
    (b"\x1f\x8b", None, "a gzip archive; unpack it"),
    (b"%PDF-", None, "a PDF document"),
)
_TEXT_FORMATS = frozenset({FileFormat.CSV, FileFormat.REDATAM, FileFormat.FIXED, FileFormat.CSPRO})
#: Formats whose files always begin in the same way.
_MARKED = frozenset({FileFormat.PARQUET, FileFormat.SPSS, FileFormat.SAS, FileFormat.EXCEL})


def check_file(path: Path, expected: FileFormat | None = None) -> None:
    """Refuse a path that cannot be a file of the expected format, in plain words."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Give the path of a file.")
        if not path.exists():
            raise InputError(f"There is no file {path}. Check the path; it may be misspelt.")
        with path.open("rb") as stream:
            head = stream.read(64)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be opened: {_reason(error)}.") from error
    if not head:
        raise InputError(f"{path} is empty. Was it copied completely?")
    if expected is not None:
        _check_beginning(path, head, expected)


def _check_beginning(path: Path, head: bytes, expected: FileFormat) -> None:
    beginning = next((known for known in _BEGINNINGS if head.startswith(known[0])), None)
    if beginning is None:
        if expected in _MARKED:
            raise InputError(
                f"{path.name}: this is not {_article(expected)} file. "
                "Check that the file is complete and that its format is named rightly."
            )
        return
    _, actual, description = beginning
    if actual is expected:
        return
    if expected in _TEXT_FORMATS or expected in _MARKED or expected is FileFormat.STATA:
        hint = f' Set format = "{actual}".' if actual is not None else ""
        raise InputError(
            f"{path.name}: this is not {_article(expected)} file; it looks like "
            f"{description}.{hint}"
        )


def _article(kind: FileFormat) -> str:
    names = {
        FileFormat.CSV: "a csv",
        FileFormat.PARQUET: "a parquet",
        FileFormat.SPSS: "an SPSS",
        FileFormat.STATA: "a Stata",
        FileFormat.SAS: "a SAS",
        FileFormat.FIXED: "a fixed width",
        FileFormat.CSPRO: "a CSPro",
        FileFormat.EXCEL: "an Excel",
        FileFormat.REDATAM: "a REDATAM csv",
    }
    return names[kind]


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return "the path is not valid"


def text_encoding(encoding: str, *, file: str) -> str:
    """The codec's own name of a text encoding, or an error that says which are common."""
    try:
        codec = codecs.lookup(encoding)
        known = getattr(codec, "_is_text_encoding", True) and "a".encode(codec.name) != b""
    except (LookupError, UnicodeError, ValueError):
        known = False
    if not known:
        raise InputError(
            f"{file}: there is no text encoding {encoding!r}. Common ones are "
            '"utf-8", "latin-1", "cp1252", "cp850" and "utf-16".'
        )
    return codec.name
