"""A first schema from census files, and what it already says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError, InputError
from sdcensus.ingest.dictionaries.check import DictionaryCheck
from sdcensus.ingest.draft import CHECK_FILE, SCHEMA_FILE, DraftOptions, draft_schema
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.source import FileFormat


@dataclass(frozen=True, slots=True)
class Draft:
    """A drafted schema.

    Attributes:
        path: The document.
        code_lists: The files with code lists that were written beside it.
        guesses: How many lines of it tell that something was guessed.
        schema: What the document says; ``None`` where it must be completed before it can be read.
        mistakes: What is to be completed, if it cannot be read yet.
        check: Where dictionaries and files disagree, if there were dictionaries.
        check_file: The file that says so in full.
        areas: Files among those given that list areas and hold no records.
    """

    path: Path
    code_lists: tuple[Path, ...]
    guesses: int
    schema: Schema | None
    mistakes: str = ""
    check: DictionaryCheck | None = None
    check_file: Path | None = None
    areas: tuple[Path, ...] = ()


def draft(
    paths: Sequence[Path],
    out: Path,
    *,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    layout: Path | None = None,
    dictionaries: Sequence[Path] = (),
    dictionary_columns: Sequence[str] = (),
    language: str | None = None,
) -> Draft:
    """Look at census files and write a first schema with its code lists into a folder.

    Args:
        paths: The files; those with the same columns are parts of one.
        out: The folder; files that exist in it are never overwritten.
        format, encoding, delimiter, decimal, sheet, layout: How to read the files, as far as it
            cannot be seen from them.
        dictionaries: What the columns and codes mean: tables, CSPro, SPSS, Stata, DDI and others.
        dictionary_columns: The columns of a dictionary that is a table, as in ``value=Clave``.
        language: The language of labels, where files do not name it.
    """
    options = DraftOptions(
        format=None if format is None else _format(format),
        encoding=encoding,
        delimiter=delimiter,
        decimal=decimal,
        sheet=sheet,
        layout=layout,
        dictionaries=tuple(dictionaries),
        dictionary_columns=tuple(dictionary_columns),
        language=language,
    )
    for path in (*paths, *dictionaries):
        if not path.exists():
            raise InputError(f"{path} does not exist. Check the name of the file.")
    if decimal not in (None, ".", ","):
        raise InputError(f"{decimal!r} cannot be the decimal sign. It is '.' or ','.")
    before = set(out.rglob("*")) if out.is_dir() else set()
    drafted = draft_schema(paths, out, options)
    written = {path for path in out.rglob("*") if path.is_file()} - before
    path, check_file = out / SCHEMA_FILE, out / CHECK_FILE
    result = Draft(
        path,
        tuple(sorted(written - {path, check_file})),
        sum("guessed" in line for line in drafted.text.splitlines()[1:]),
        None,
        check=drafted.check,
        check_file=check_file if drafted.check is not None else None,
        areas=drafted.areas,
    )
    try:
        return replace(result, schema=read_schema(path))
    except DocumentError as error:
        return replace(result, mistakes=str(error))


def _format(name: str) -> FileFormat:
    try:
        return FileFormat(name)
    except ValueError:
        raise InputError(
            f"There is no format {name!r}. There are: {', '.join(FileFormat)}."
        ) from None
