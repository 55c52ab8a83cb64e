"""What helps where a file and the columns of a schema do not fit: tried before it is said.

A delimiter, a sheet or an encoding is proposed if the file has all the columns with it; another
name, if a column of the file differs from the one that is missing by capital letters, accents or
signs only.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from sdcensus.errors import InputError, SdcensusError
from sdcensus.ingest.readers.csvfile import DELIMITERS, read_header
from sdcensus.ingest.readers.excel import sheets_with
from sdcensus.ingest.readers.statfiles import described_columns
from sdcensus.model.schema.encoding import CodeEncoder
from sdcensus.model.schema.schema import CensusFile, Schema
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import CodeKind, Role

#: Signs between fields that are not looked for by themselves: they stand in names as well.
_RARE_DELIMITERS = (":", " ", "^", "~", "#", "\\", "/")
_ENCODINGS = ("utf-8", "cp1252", "cp850", "latin-1", "utf-16")


def column_hints(
    schema: Schema, file: CensusFile, path: Path, columns: Sequence[str], known: Sequence[str]
) -> list[str]:
    """Sentences that help against missing columns.

    Args:
        schema: The census.
        file: The file as the schema describes it.
        path: The one of its files that was opened.
        columns: All columns that are needed.
        known: The columns that it has.
    """
    as_a_whole = [*_other_reading(file, path, columns)]
    if as_a_whole:
        return as_a_whole[:1]
    return [*_other_names(schema, file, [name for name in columns if name not in known], known)]


def refuse_missing_amounts(schema: Schema, file: CensusFile, path: Path) -> None:
    """Refuse amounts that the file itself declares to be no answer, and the schema does not.

    As codes they would be found to be unknown; as amounts they would be added up.

    Raises:
        InputError: There are such.
    """
    amounts = {
        variable.source.column: variable
        for variable in schema.variables
        if variable.continuous and variable.role is not Role.WEIGHT
        if variable.source is not None and variable.source.file == file.name
    }
    if file.source.format is not FileFormat.SPSS or not amounts:
        return
    remedies = []
    for column in described_columns(path, file.source.format):
        variable = amounts.get(column.name)
        if variable is None:
            continue
        encoder = CodeEncoder(variable)
        known = {at for at, code in enumerate(variable.codes) if code.is_missing}
        codes = [code for code in column.missing if encoder.position(code) not in known]
        if codes:
            before = [code.code for code in variable.codes if code.kind is CodeKind.NOT_STATED]
            listed = json.dumps([*(code for code in before if code != "_U"), *codes])
            remedies.append(f"not_stated = {listed} in [variable.{variable.name}]")
    if remedies:
        raise InputError(
            f"{path.name}: the file declares values of amounts to mean that there is no answer, and"
            f" the schema does not; they would be added up. Declare them: {'; '.join(remedies)}."
        )


def _other_reading(file: CensusFile, path: Path, columns: Sequence[str]) -> Iterator[str]:
    source, where = file.source, f"[files.{file.name}]"
    if source.format is FileFormat.EXCEL:
        for sheet in sheets_with(path, columns):
            yield f"Another sheet has them: sheet = {json.dumps(sheet)} in {where}."
    if source.format is not FileFormat.CSV:
        return
    for delimiter in (*DELIMITERS, *_RARE_DELIMITERS):
        if _names(path, source.encoding, delimiter) >= set(columns):
            setting = f"delimiter = {json.dumps(delimiter)}"
            yield f"With another delimiter they are there: {setting} in {where}."
    for encoding in _ENCODINGS:
        if _names(path, encoding, source.delimiter) >= set(columns):
            setting = f"encoding = {json.dumps(encoding)}"
            yield f"In another encoding they are there: {setting} in {where}."


def _names(path: Path, encoding: str, delimiter: str | None) -> set[str]:
    try:
        return set(read_header(path, encoding, delimiter).names)
    except SdcensusError:
        return set()


def _other_names(
    schema: Schema, file: CensusFile, missing: Sequence[str], known: Sequence[str]
) -> Iterator[str]:
    """The setting that names a column as the file does."""
    alike = {name: like for name in missing if (like := _like(name, known))}
    for variable in schema.variables:
        source = variable.source
        if source is not None and source.file == file.name and source.column in alike:
            name = json.dumps(alike[source.column], ensure_ascii=False)
            yield _said(f"column = {name}", f"variable.{variable.name}")
    spec = schema.entity(file.entity)
    if set(spec.id) & set(alike):
        yield _said(f"id = {_listed(spec.id, alike)}", f"entity.{spec.entity}")
    if spec.within is not None:
        link = spec.link or schema.entity(spec.within).id
        if set(link) & set(alike):
            yield _said(f"link = {_listed(link, alike)}", f"entity.{spec.entity}")


def _said(setting: str, section: str) -> str:
    return f"The file may call it differently: {setting} in [{section}]."


def _listed(columns: Sequence[str], alike: dict[str, str]) -> str:
    return json.dumps([alike.get(column, column) for column in columns], ensure_ascii=False)


def _like(name: str, known: Sequence[str]) -> str:
    return next((other for other in known if _plain(other) == _plain(name)), "")


def _plain(name: str) -> str:
    """A name without capital letters, accents and signs."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if letter.isalnum())
