"""Labels in the syntax of SPSS (``.sps``) and Stata (``.do``).

Only the commands that give labels and missing values are understood; all others are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.entries import Collector, Dictionary, Place
from sdcensus.ingest.dictionaries.headings import language_of
from sdcensus.ingest.dictionaries.sheets import read_text
from sdcensus.ingest.readers.files import check_file
from sdcensus.model.text import Text

#: Texts in quotation marks (those of Stata may be nested), numbers and names, single signs.
_TOKEN = re.compile(
    r"`\"(?P<compound>.*?)\"'|\"(?P<double>(?:[^\"]|\"\")*)\"|'(?P<single>(?:[^']|'')*)'"
    r"|(?P<word>[^\s,;/()\"'`=]+)|(?P<sign>[,;/()=])",
    re.DOTALL,
)
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MOST_MISSING = 1000


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    quoted: bool


@dataclass(slots=True)
class _Labels:
    """What the commands of a file say."""

    names: dict[str, str] = field(default_factory=dict)
    lists: dict[str, dict[str, str]] = field(default_factory=dict)
    list_of: dict[str, str] = field(default_factory=dict)
    missing: dict[str, list[str]] = field(default_factory=dict)


def read_syntax(
    path: Path, files: CensusColumns, *, language: str | None = None, encoding: str | None = None
) -> Dictionary:
    """The labels that a file of commands gives.

    Raises:
        InputError: There is no command that gives a label.
    """
    check_file(path)
    text = read_text(path, encoding)
    labels = _stata(text) if path.suffix.lower() == ".do" else _spss(text)
    if not labels.names and not labels.list_of:
        raise InputError(
            f"{path.name}: no labels were found. Expected are commands such as VARIABLE LABELS and"
            " VALUE LABELS (SPSS), or label variable, label define and label values (Stata)."
        )
    texts = [
        *labels.names.values(),
        *(text for codes in labels.lists.values() for text in codes.values()),
    ]
    main = language or language_of(texts) or "en"
    table = files.file_named(path.stem)
    collector, place = Collector(), Place(path.name)
    for name in dict.fromkeys([*labels.names, *labels.list_of, *labels.missing]):
        label = Text.of(labels.names.get(name, ""), language=main)
        collector.variable(name, table, label, place)
        missing = labels.missing.get(name, [])
        codes = labels.lists.get(labels.list_of.get(name, ""), {})
        for code, meaning in codes.items():
            spoken = Text.of(meaning, language=main)
            collector.code(name, table, code, spoken, place, missing=code in missing)
        for code in missing:
            if code not in codes:
                collector.code(name, table, code, Text(), place, missing=True)
    return collector.dictionary(main, file=path.name)


def _tokens(command: str) -> list[_Token]:
    tokens = []
    for match in _TOKEN.finditer(command):
        kind = match.lastgroup or "word"
        text = match[kind]
        if kind == "double":
            text = text.replace('""', '"')
        elif kind == "single":
            text = text.replace("''", "'")
        tokens.append(_Token(text, kind in ("compound", "double", "single")))
    return tokens


# ---------------------------------------------------------------- SPSS


def _spss(text: str) -> _Labels:
    labels = _Labels()
    for command in _spss_commands(text):
        tokens = _tokens(command)
        words = [token.text.casefold() for token in tokens[:3]]
        start = 1 if words[:1] == ["add"] else 0
        first, second = [*words[start : start + 2], "", ""][:2]
        rest = tokens[start + 2 :]
        if first.startswith("var") and second.startswith("lab"):
            _spss_names(rest, labels)
        elif first.startswith("val") and second.startswith("lab"):
            for part in _split(rest, "/"):
                _spss_codes(part, labels)
        elif first.startswith("mis") and second.startswith("val"):
            _spss_missing(rest, labels)
    return labels


def _spss_commands(text: str) -> Iterator[str]:
    """Commands end with a point at the end of a line, or with an empty line."""
    plain = _BLOCK_COMMENT.sub(" ", text)
    command: list[str] = []
    for line in [*plain.splitlines(), ""]:
        stripped = line.strip()
        ended = stripped.endswith(".") and not stripped.endswith("..")
        command.append(stripped[:-1] if ended else stripped)
        if ended or not stripped:
            whole = " ".join(command).strip()
            if whole and not whole.startswith("*"):
                yield whole
            command = []


def _split(tokens: Sequence[_Token], sign: str) -> Iterator[list[_Token]]:
    part: list[_Token] = []
    for token in tokens:
        if token.text == sign and not token.quoted:
            yield part
            part = []
        else:
            part.append(token)
    yield part


def _spss_names(tokens: Sequence[_Token], labels: _Labels) -> None:
    names: list[_Token] = []
    for token in tokens:
        if token.quoted:
            for name in _spss_list(names):
                labels.names.setdefault(name, token.text)
            names = []
        elif token.text != "/":
            names.append(token)


def _spss_codes(tokens: Sequence[_Token], labels: _Labels) -> None:
    """``v1 v2 1 'a' 2 'b'``: the last word before each text is its code."""
    codes: dict[str, str] = {}
    names: list[_Token] = []
    waiting: list[_Token] = []
    for token in tokens:
        is_code = bool(waiting) and (
            bool(codes) or waiting[-1].quoted or _is_number(waiting[-1].text)
        )
        if token.quoted and is_code:
            if not codes:
                names = waiting[:-1]
            codes.setdefault(waiting[-1].text.strip(), token.text)
            waiting = []
        else:
            waiting.append(token)
    for name in _spss_list(names):
        labels.lists.setdefault(f"={name}", {}).update(codes)
        labels.list_of[name] = f"={name}"


def _spss_missing(tokens: Sequence[_Token], labels: _Labels) -> None:
    """``v1 v2 (98, 99) / v3 (LO THRU -1)``."""
    names: list[_Token] = []
    inside: list[_Token] | None = None
    for token in tokens:
        if token.text == "(" and not token.quoted:
            inside = []
        elif token.text == ")" and not token.quoted and inside is not None:
            for name in _spss_list(names):
                labels.missing[name] = _missing_codes(inside)
            names, inside = [], None
        elif inside is not None:
            inside.append(token)
        elif token.text not in "/,":
            names.append(token)


def _missing_codes(tokens: Sequence[_Token]) -> list[str]:
    words = [token.text for token in tokens if token.quoted or token.text != ","]
    codes: list[str] = []
    at = 0
    while at < len(words):
        if words[at + 1 : at + 2] and words[at + 1].casefold() in ("thru", "to"):
            low, high = words[at], words[at + 2] if at + 2 < len(words) else ""
            if _is_number(low) and _is_number(high) and int(high) - int(low) < _MOST_MISSING:
                codes += map(str, range(int(low), int(high) + 1))
            at += 3
        else:
            codes.append(words[at].strip())
            at += 1
    return codes


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]{1,12}", text) is not None


def _spss_list(tokens: Sequence[_Token]) -> list[str]:
    """Names of variables; ``V1 TO V3`` where they differ in a number at the end only."""
    names: list[str] = []
    at = 0
    words = [token.text for token in tokens]
    while at < len(words):
        ends = [
            re.fullmatch(r"(.*?)([0-9]+)", word) for word in (words[at], *words[at + 2 : at + 3])
        ]
        if words[at + 1 : at + 2] and words[at + 1].casefold() == "to" and len(ends) == 2:
            first, last = ends
            if first and last and first[1] == last[1] and int(last[2]) - int(first[2]) < 1000:
                width = len(first[2])
                numbers = range(int(first[2]), int(last[2]) + 1)
                names += [f"{first[1]}{number:0{width}}" for number in numbers]
            else:
                names += [words[at], words[at + 2]]
            at += 3
        else:
            names.append(words[at])
            at += 1
    return names


# ---------------------------------------------------------------- Stata


def _stata(text: str) -> _Labels:
    labels = _Labels()
    for command in _stata_commands(text):
        tokens = _tokens(command)
        while tokens and re.fullmatch(r"cap\w*|qui\w*|noi\w*|:", tokens[0].text):
            tokens = tokens[1:]
        if len(tokens) < 4 or re.fullmatch(r"la(b|be|bel)?", tokens[0].text) is None:
            continue
        kind, rest = tokens[1].text, tokens[2:]
        if re.fullmatch(r"var(i|ia|iab|iabl|iable)?", kind) and rest[1].quoted:
            labels.names[rest[0].text] = rest[1].text
        elif re.fullmatch(r"def(i|in|ine)?", kind):
            codes = labels.lists.setdefault(rest[0].text, {})
            for code, meaning in pairwise(rest[1:]):
                if meaning.quoted and not code.quoted:
                    codes[code.text] = meaning.text
        elif re.fullmatch(r"val(u|ue|ues)?", kind):
            words = [token.text for token in rest]
            words = words[: words.index(",")] if "," in words else words
            for name in words[:-1]:
                labels.list_of[name] = words[-1]
    return labels


def _stata_commands(text: str) -> Iterator[str]:
    """Lines, or what stands between semicolons after ``#delimit ;``."""
    plain = _BLOCK_COMMENT.sub(" ", re.sub(r"///[^\n]*\n", " ", text))
    by_semicolon = False
    command: list[str] = []
    for line in plain.splitlines():
        stripped = line.strip()
        switched = re.match(r"#d(?:elimit|elim|el)?\s*(;|cr)", stripped)
        if switched:
            by_semicolon = switched[1] == ";"
            command = []
            continue
        if stripped.startswith(("*", "//")) and not command:
            continue
        command.append(stripped)
        if not by_semicolon or stripped.endswith(";"):
            yield " ".join(command).rstrip(";")
            command = []
