"""A first schema for census files: written by looking at them, finished by the office.

The draft is complete enough to be read at once. Everything that was guessed says so in a comment.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path

from sdcensus.errors import InputError, OutputError
from sdcensus.ingest.areas.gazetteers import is_gazetteer, read_gazetteer
from sdcensus.ingest.areas.trees import AreaTree
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.check import DictionaryCheck, check_dictionary
from sdcensus.ingest.dictionaries.matching import Matches, match
from sdcensus.ingest.dictionaries.opening import (
    DictionaryOptions,
    columns_named,
    is_table,
    open_dictionary,
)
from sdcensus.ingest.draft_columns import DraftFile, Profile, profiles_of
from sdcensus.ingest.draft_links import entity_by_columns, link_files
from sdcensus.ingest.draft_text import SchemaWriter
from sdcensus.ingest.draft_words import entity_named
from sdcensus.ingest.readers import open_reader
from sdcensus.ingest.readers.csdb import read_csdb_dictionary
from sdcensus.ingest.readers.dcf import read_dictionary
from sdcensus.ingest.readers.excel import sheet_names
from sdcensus.ingest.readers.files import check_file
from sdcensus.model.schema.source import (
    FORMAT_OF_ENDING,
    FileFormat,
    FileSource,
    is_cspro_database,
)
from sdcensus.model.schema.variable import Entity

SCHEMA_FILE = "schema.toml"
CHECK_FILE = "dictionary-check.txt"
_TEXT_FORMATS = frozenset({FileFormat.CSV, FileFormat.FIXED, FileFormat.CSPRO, FileFormat.REDATAM})


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftOptions:
    """What the office knows about its files; ``None`` means "find out"."""

    format: FileFormat | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    layout: Path | None = None
    dictionaries: tuple[Path, ...] = ()
    dictionary_columns: tuple[str, ...] = ()
    language: str | None = None


@dataclass(frozen=True, slots=True)
class DraftText:
    """The text of a first schema and, if there were dictionaries, how they fit the files.

    ``areas`` are files that list areas: they give the levels of the geography.
    """

    text: str
    check: DictionaryCheck | None = None
    areas: tuple[Path, ...] = ()


def draft_schema(
    paths: Sequence[Path], folder_out: Path, options: DraftOptions | None = None
) -> DraftText:
    """Look at census files and write a first schema with its code lists.

    Args:
        paths: The files; those with the same columns are taken as parts of one, and one that lists
            areas gives the levels of the geography.
        folder_out: Where ``schema.toml``, the folder ``codes`` and the check of dictionaries are
            written. Files that exist already are never overwritten.
        options: How to read the files, as far as it cannot be seen from them.

    Raises:
        InputError: A file cannot be read.
        OutputError: A file that would be written exists already.
    """
    if not paths:
        raise InputError("No file was given. Name one or more census files.")
    options = options or DraftOptions()
    if options.dictionary_columns and not any(map(is_table, options.dictionaries)):
        raise InputError("Columns of a dictionary were named, but no dictionary that is a table.")
    areas = [path for path in (*paths, *options.dictionaries) if is_gazetteer(path)]
    paths = [path for path in paths if path not in areas]
    if not paths:
        raise InputError(f"{areas[0]} lists areas and holds no records. Name census files as well.")
    given = tuple(path for path in options.dictionaries if path not in areas)
    options = replace(options, dictionaries=given)
    opened = _opened(paths, options)
    matches = _described(opened, options)
    files = _named(opened)
    link_files(files)
    if matches is None:
        language = options.language or "en"
        writer = SchemaWriter(folder_out, [language], gazetteer=_gazetteer(areas, language))
        text = writer.schema(files)
        _write_all(folder_out, {SCHEMA_FILE: text, **writer.code_lists})
        return DraftText(text, areas=tuple(areas))
    main = options.language or matches.dictionary.language or "en"
    languages = dict.fromkeys([main, *matches.dictionary.languages])
    writer = SchemaWriter(
        folder_out, list(languages), matches.entries, gazetteer=_gazetteer(areas, main)
    )
    text = writer.schema(files)
    check = check_dictionary(_columns(opened), matches, writer.guesses)
    contents = {SCHEMA_FILE: text, **writer.code_lists, CHECK_FILE: check.text()}
    _write_all(folder_out, contents)
    return DraftText(text, check, tuple(areas))


def columns_in(path: Path) -> dict[str, tuple[str, ...]]:
    """The columns of a census file by the title that it has in a draft.

    Raises:
        InputError: It cannot be read as one.
    """
    return {
        source.record or source.sheet or path.stem: tuple(
            column.name for column in open_reader(source).columns()
        )
        for source in _sources(path, DraftOptions())
    }


def _gazetteer(areas: Sequence[Path], language: str) -> AreaTree | None:
    return read_gazetteer(areas[0], language) if areas else None


# ---------------------------------------------------------------- looking at the files


def _opened(paths: Sequence[Path], options: DraftOptions) -> list[DraftFile]:
    files: list[DraftFile] = []
    for path in paths:
        for source in _sources(path, options):
            reader = open_reader(source)
            names = [column.name for column in reader.columns()]
            twin = next((file for file in files if _same_file_kind(file, source, names)), None)
            if twin is not None:
                twin.source = replace(twin.source, paths=(*twin.source.paths, *source.paths))
            else:
                title = _free_title(source.record or source.sheet or path.stem, files)
                files.append(DraftFile(source, title, reader, {}, notes=_unread_sheets(source)))
    for file in files:
        file.reader = open_reader(file.source)
        file.profiles = profiles_of(file.reader)
        if options.decimal is None and any(profile.comma for profile in file.profiles.values()):
            file.source = replace(file.source, decimal=",")
    filled = [file for file in files if any(each.filled for each in file.profiles.values())]
    for file in files:
        if file not in filled and (file.source.record is None or not filled):
            raise InputError(f"{file.reader.name} has no records, so there is nothing to look at.")
    return filled


def _free_title(title: str, files: Sequence[DraftFile]) -> str:
    """A title that no other file has."""
    taken = {file.title for file in files}
    numbered = (f"{title} ({number})" for number in count(2))
    return next(name for name in chain([title], numbered) if name not in taken)


def _columns(files: Sequence[DraftFile]) -> dict[str, dict[str, Profile]]:
    return {file.title: file.profiles for file in files}


def _described(files: Sequence[DraftFile], options: DraftOptions) -> Matches | None:
    """What dictionaries say about the columns; those of CSPro files are among them."""
    paths = [*options.dictionaries]
    for file in files:
        if file.source.format is FileFormat.CSPRO:
            inside = [path for path in file.source.paths if is_cspro_database(path)]
            beside = [] if file.source.dictionary is None else [file.source.dictionary]
            paths += inside or beside
    if not paths:
        return None
    names = {title: tuple(profiles) for title, profiles in _columns(files).items()}
    reading = DictionaryOptions(
        columns=columns_named(options.dictionary_columns),
        language=options.language,
        encoding=options.encoding,
        files=CensusColumns(names),
        alone=sum(map(is_table, options.dictionaries)) == 1,
    )
    unique = {path.absolute(): path for path in paths}
    return match(_columns(files), [open_dictionary(path, reading) for path in unique.values()])


def _same_file_kind(file: DraftFile, source: FileSource, names: list[str]) -> bool:
    return (
        file.source.format is source.format
        and file.source.record == source.record
        and file.source.encoding == source.encoding
        and sorted(column.name for column in file.reader.columns()) == sorted(names)
    )


def _sources(path: Path, options: DraftOptions) -> Iterator[FileSource]:
    """How to read a file; a CSPro file is read once for each type of record."""
    form = options.format or FORMAT_OF_ENDING.get(path.suffix.lower())
    if path.suffix.lower() == ".zip" and form is None:
        raise InputError(
            f"{path}: an archive is no census file. Unpack it and name its files; of an export of"
            " Survey Solutions, give the archive as --dictionary as well."
        )
    if form is None:
        known = ", ".join(FileFormat)
        raise InputError(
            f"{path}: the ending does not tell the format. Say which it is, one of: {known}."
        )
    encoding = options.encoding
    if encoding is None:
        encoding = _encoding(path) if form in _TEXT_FORMATS else "utf-8"
    source = FileSource(
        paths=(path,),
        format=form,
        encoding=encoding,
        delimiter=options.delimiter,
        decimal=options.decimal or ".",
        sheet=options.sheet,
        layout=options.layout,
    )
    if form is FileFormat.EXCEL and options.sheet is None:
        check_file(path, form)
        speaking = [name for name in sheet_names(path) if entity_named(name) is not None]
        if len({entity_named(name) for name in speaking}) == len(speaking) > 1:
            # One workbook for the whole census: a sheet for each kind of unit.
            for name in speaking:
                yield replace(source, sheet=name)
            return
    if form is not FileFormat.CSPRO:
        yield source
        return
    if is_cspro_database(path):
        for record in read_csdb_dictionary(path).records:
            yield replace(source, encoding="utf-8", record=record.name)
        return
    source = replace(source, dictionary=_cspro_dictionary(path, options.dictionaries))
    if source.dictionary is None:
        raise InputError(
            f"{path}: a CSPro file needs its dictionary. Put {path.stem}.dcf beside it, or name it."
        )
    for record in read_dictionary(source.dictionary, encoding).records:
        yield replace(source, record=record.name)


def _unread_sheets(source: FileSource) -> list[str]:
    """What to say about the sheets of a workbook of which only the first is read."""
    if source.format is not FileFormat.EXCEL or source.sheet is not None:
        return []
    first, *others = sheet_names(source.paths[0])
    listed = ", ".join(others)
    return [f"Only the sheet {first!r} is read. There are also: {listed}."] if others else []


def _cspro_dictionary(path: Path, dictionaries: Sequence[Path]) -> Path | None:
    """The dictionary of a CSPro text file: the one that was given, or the one beside it."""
    given = [file for file in dictionaries if file.suffix.lower() == ".dcf"]
    named = [file for file in given if file.stem.lower() == path.stem.lower()]
    beside = path.with_suffix(".dcf")
    if named or len(given) == 1:
        return (named or given)[0]
    return beside if beside.is_file() else None


def _encoding(path: Path) -> str:
    """UTF-8, or the encoding of Western Windows if the file is not UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252"
    except (OSError, ValueError):
        return "utf-8"  # the reader says what is wrong with the file
    return "utf-8"


def _named(files: list[DraftFile]) -> list[DraftFile]:
    """Guess which units the rows of each file are; a kind has one file."""
    free = list(Entity)
    left_out = []
    for file in sorted(files, key=lambda file: entity_named(file.title) is None):
        if not free:
            left_out.append(file)
            continue
        likely = entity_named(file.title)
        if likely not in free:
            likely = Entity.PERSON if len(files) == 1 else entity_by_columns(file)
            file.notes.append("guessed: which units the rows are.")
        usual = (entity for entity in (likely, Entity.HOUSEHOLD, Entity.DWELLING, *free))
        file.entity = next(entity for entity in usual if entity in free)
        file.name = file.entity.value
        free.remove(file.entity)
    if any(file.source.record is None for file in left_out):
        raise InputError(
            f"There are more files than kinds of units ({', '.join(Entity)}). Draft the schema"
            " from fewer files."
        )
    kept = [file for file in files if file not in left_out]
    if left_out:
        kept[0].notes.append(
            f"Records left out: {', '.join(draft_file.title for draft_file in left_out)}."
        )
    return kept


# ---------------------------------------------------------------- writing


def _write_all(folder: Path, contents: dict[str, str]) -> None:
    """Write all files, or none: nothing that exists is touched."""
    paths = {folder / name: text for name, text in contents.items()}
    for path in paths:
        if path.exists():
            raise OutputError(
                f"{path} exists already and is not overwritten. Choose another folder, or move it."
            )
    written: list[Path] = []
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as stream:
                written.append(path)
                stream.write(text)
    except (OSError, ValueError) as error:
        for path in written:
            path.unlink(missing_ok=True)
        reason = getattr(error, "strerror", None) or "the name is not valid"
        raise OutputError(f"The draft cannot be written to {folder}: {reason}.") from None
