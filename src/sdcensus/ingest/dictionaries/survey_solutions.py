"""Exports of Survey Solutions: an archive or a folder with data, labels and the questionnaire.

Labels come from the Stata commands beside tab separated files, from Stata or SPSS files, from a
DDI document, or from the questionnaire (``document.json``). The numbers and texts that stand for
"not answered" are missing codes of every variable. Other archives and folders of dictionaries are
read in the same way.
"""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import Collector, Dictionary, Place, joined
from sdcensus.ingest.dictionaries.headings import language_of
from sdcensus.model.text import Text, parse_json

#: What Survey Solutions writes where a question was asked and not answered.
NOT_ANSWERED = ("-999999999", "##N/A##")
#: Files of an export that describe interviews and not answers.
_ABOUT_INTERVIEWS = re.compile(r"(interview|assignment|export)__.*")
_MARKS = re.compile(r"interview__\w+\.\w+|export__readme\.txt|export__info\.json")
_ENDINGS = frozenset({".do", ".sps", ".dta", ".sav", ".xml", ".dcf"})
_LARGEST = 2 << 30
_TAGS = re.compile(r"<[^>]*>")

#: Reads one file of the export.
Opener = Callable[[Path], Dictionary]


def is_about_interviews(path: Path) -> bool:
    """Whether a file of an export tells of interviews and not of answers."""
    return _ABOUT_INTERVIEWS.fullmatch(path.name) is not None


def read_export(
    path: Path, files: CensusColumns, opener: Opener, *, language: str | None = None
) -> Dictionary:
    """The dictionaries of an archive or a folder as one.

    Args:
        path: The archive or folder.
        files: The census files.
        opener: Reads a single dictionary file.
        language: The language of labels.
    """
    if path.is_dir():
        return _folder(path, path.name, files, opener, language)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        _unpack(path, folder)
        return _folder(folder, path.name, files, opener, language)


def _unpack(path: Path, folder: Path) -> None:
    """Unpack what may hold labels; names inside an archive are never used as paths."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            wanted = [member for member in members if _is_wanted(member.filename)]
            if any(member.flag_bits & 1 for member in wanted):
                raise InputError(
                    f"{path.name}: the archive is locked with a password. Unpack it and give the"
                    " folder."
                )
            if sum(member.file_size for member in wanted) > _LARGEST:
                raise InputError(
                    f"{path.name}: the archive is too large. Unpack it and give the folder."
                )
            for member in wanted:
                name = PurePosixPath(member.filename.replace("\\", "/")).name
                (folder / name).write_bytes(archive.read(member))
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, EOFError, ValueError) as error:
        raise InputError(f"{path.name}: the archive cannot be read. Copy it again.") from error


def _is_wanted(name: str) -> bool:
    plain = PurePosixPath(name.replace("\\", "/")).name
    return (
        PurePosixPath(plain).suffix.lower() in _ENDINGS
        or plain in ("document.json", "content.zip")
        or _MARKS.fullmatch(plain) is not None
    )


def _folder(
    folder: Path, title: str, files: CensusColumns, opener: Opener, language: str | None
) -> Dictionary:
    members = sorted(member for member in folder.rglob("*") if member.is_file())
    is_export = any(_MARKS.fullmatch(member.name) for member in members)
    kept = [member for member in members if _ABOUT_INTERVIEWS.fullmatch(member.name) is None]
    by_ending = {
        ending: [member for member in kept if member.suffix.lower() == ending]
        for ending in _ENDINGS
    }
    # Commands say what the data files say, and hold no records.
    data_files = by_ending[".dta"] or by_ending[".sav"]
    chosen = [
        *(by_ending[".do"] or by_ending[".sps"] or data_files),
        *by_ending[".xml"],
        *by_ending[".dcf"],
    ]
    dictionaries = [opener(member) for member in chosen]
    dictionaries += _questionnaires(members, files, language)
    if not dictionaries:
        raise InputError(
            f"{title}: no dictionary was found in it. Expected are files with the endings"
            f" {', '.join(sorted(_ENDINGS))}, or the questionnaire (document.json)."
        )
    whole = joined(dictionaries)
    if not is_export:
        return Dictionary(whole.variables, whole.language, whole.doubts, title)
    collector = Collector()
    collector.add(whole)
    for variable in whole.variables:
        for code in NOT_ANSWERED:
            place = Place(title)
            collector.code(variable.name, variable.table, code, Text(), place, missing=True)
    return collector.dictionary(whole.language, file=title)


# ---------------------------------------------------------------- the questionnaire


def _questionnaires(
    members: list[Path], files: CensusColumns, language: str | None
) -> Iterator[Dictionary]:
    for member in members:
        content = b""
        if member.name == "document.json":
            content = member.read_bytes()
        elif member.name == "content.zip":
            content = _document_of(member)
        if content:
            yield read_questionnaire(content, member.name, files, language=language)


def _document_of(path: Path) -> bytes:
    try:
        with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
            names = [name for name in archive.namelist() if name.endswith("document.json")]
            return archive.read(names[0]) if names else b""
    except (zipfile.BadZipFile, RuntimeError, OSError, ValueError) as error:
        raise InputError(f"{path.name}: the questionnaire cannot be unpacked.") from error


def read_questionnaire(
    content: bytes, file: str, files: CensusColumns, *, language: str | None = None
) -> Dictionary:
    """The questions of a questionnaire document with their answers."""
    try:
        document = parse_json(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: the questionnaire is not valid JSON.") from error
    if not isinstance(document, Mapping):
        raise InputError(f"{file}: this is no questionnaire of Survey Solutions.")
    questions = list(_questions(document, ""))
    main = language or language_of(_plain(node) for node, _ in questions) or "en"
    collector = Collector()
    for number, (node, roster) in enumerate(questions, start=1):
        name = str(node.get("StataExportCaption") or node.get("VariableName") or "").strip()
        if not name:
            continue
        place = Place(file, "", number)
        table = files.file_named(roster) if roster else ""
        label = str(node.get("VariableLabel") or "") or _plain(node)
        answers = [
            (str(answer.get("AnswerValue", "")).strip(), str(answer.get("AnswerText", "")).strip())
            for answer in node.get("Answers") or ()
            if isinstance(answer, Mapping)
        ]
        if "Multy" in str(node.get("$type", "")) or node.get("QuestionType") == "MultyOption":
            for code, text in answers:  # one column for each answer
                both = Text.of(f"{label}: {text}", language=main)
                collector.variable(f"{name}__{code.replace('-', 'n')}", table, both, place)
            continue
        collector.variable(name, table, Text.of(label, language=main), place)
        for code, text in answers:
            if code:
                collector.code(name, table, code, Text.of(text, language=main), place)
    return collector.dictionary(main, file=file)


def _questions(node: Mapping[str, Any], roster: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    if "QuestionText" in node:
        yield node, roster
    if node.get("IsRoster"):
        roster = str(node.get("VariableName") or "")
    children = node.get("Children")
    for child in children if isinstance(children, list) else ():
        if isinstance(child, Mapping):
            yield from _questions(child, roster)


def _plain(node: Mapping[str, Any]) -> str:
    return " ".join(_TAGS.sub(" ", str(node.get("QuestionText") or "")).split())
