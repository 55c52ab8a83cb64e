"""TOML documents with the line of every key.

The values come from the standard library. It does not say where a value stands, so a scanner of
our own walks over the same text, which by then is known to be valid, and notes the line of each
key, table and element of an array, and the places of settings and of names of tables.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sdcensus.errors import DocumentError, InputError, Mistake

#: Where a value stands in a document: names of tables and keys, numbers of array elements.
KeyPath = tuple[str | int, ...]

#: A document that a person wrote is never larger; anything that is, is something else.
LARGEST_DOCUMENT = 16 * 1024 * 1024

#: Tables whose entries have names of their own, which a message should say.
_NAMED = frozenset({"files", "entity", "variable", "role"})
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_PLAIN_WORDS = (
    ("Cannot overwrite a value", "this setting was given before"),
    ("Cannot declare", "this table was given before"),
    ("Cannot mutate immutable namespace", "this table was given before and cannot be extended"),
    ("Cannot redefine namespace", "this table was given before"),
    ("Expected '=' after a key", "expected '=' and a value after the name of a setting"),
    ("Expected newline or end of document", "expected the end of the line after a value"),
    ("Invalid value", "the value cannot be read; texts stand in double quotes"),
    ("Unterminated string", "a text is not closed; a double quote is missing"),
    ("Expected \"'", "a text is not closed; a quote is missing"),
    ("Unclosed array", "a list is not closed; a ']' is missing"),
    ("Unclosed inline table", "a table is not closed; a '}' is missing"),
    ("Expected ']' at the end of a table", "the name of a table is not closed; a ']' is missing"),
    ("Expected ']]' at the end of an array", "the name of a table is not closed; ']]' is missing"),
    ("Unescaped '\\' in a string", "write '/' or '\\\\' instead of a single '\\' in a text"),
    ("Invalid initial character for a key", "expected the name of a setting"),
    ("Illegal character", "there is a character here that a text may not have"),
    ("Found invalid character", "there is a character here that a comment may not have"),
)


@dataclass(frozen=True, slots=True)
class SettingPlace:
    """Where a setting stands: positions of its name, of its value and of the end of that.

    ``inside`` is true for settings in braces, which share their line with others.
    """

    start: int
    value: int
    end: int
    inside: bool


@dataclass(frozen=True, slots=True)
class TablePlace:
    """Where the name of a table stands: positions of its first bracket and behind its last."""

    path: KeyPath
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TomlPlaces:
    """Where everything stands in the text of a document whose lines end with ``\\n``."""

    lines: dict[KeyPath, int]
    settings: dict[KeyPath, SettingPlace]
    tables: tuple[TablePlace, ...]


def toml_places(text: str) -> TomlPlaces:
    """Where the parts of a valid document stand."""
    scanner = _Scanner(text)
    scanner.scan()
    return TomlPlaces(scanner.lines, scanner.settings, tuple(scanner.tables))


@dataclass(frozen=True, slots=True)
class TomlDocument:
    """The values of a TOML document and where each of them stands.

    Attributes:
        path: The file.
        data: The values.
        lines: For each key path the line on which it stands, from 1.
        unsaved: Files beside it that are not written yet, by their paths, with their content.
    """

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)

    def line_of(self, *path: str | int) -> int:
        """The line of a key, or of the nearest table around it that stands in the document."""
        for length in range(len(path), 0, -1):
            line = self.lines.get(path[:length])
            if line is not None:
                return line
        return 0

    def where(self, *path: str | int) -> str:
        """The part of the document that a key lies in, as messages call it."""
        return section_name(path)


def section_name(path: KeyPath) -> str:
    """How a message calls the part of the document that a path lies in.

    Examples:
        >>> section_name(("variable", "age", "range")), section_name(("impossible", 0, "when"))
        ('variable.age', 'impossible (number 1)')
    """
    if not path:
        return ""
    if len(path) > 1 and path[0] in _NAMED:
        return f"{path[0]}.{path[1]}"
    if len(path) > 1 and isinstance(path[1], int):
        return f"{path[0]} (number {path[1] + 1})"
    return str(path[0])


def read_toml(path: Path, *, what: str = "document") -> TomlDocument:
    """Read a TOML file; ``what`` names the kind of document in messages.

    Raises:
        InputError: It is not there, no file, too large, or cannot be opened.
        DocumentError: It is empty, not UTF-8 text or not TOML.
    """
    text = plain_text(path, read_small_file(path, what=what), save_as="UTF-8 text")
    return parse_toml(path, text, what=what)


def read_small_file(path: Path, *, what: str, largest: int = LARGEST_DOCUMENT) -> bytes:
    """The bytes of a small file that a user named; every way to fail is an ``InputError``."""
    try:
        if path.is_dir():
            raise InputError(f"{path} is a folder. Name the {what} file in it.")
        if not path.exists():
            raise InputError(f"{path} does not exist. Check the name of the {what}.")
        if not path.is_file():
            raise InputError(f"{path} is not an ordinary file, so it cannot be a {what}.")
        if path.stat().st_size > largest:
            raise InputError(
                f"{path} is larger than {largest // 2**20} MB, so it cannot be a {what}."
            )
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "the name is not valid"
        raise InputError(f"{path} cannot be opened: {reason}.") from None


def plain_text(path: Path, content: bytes, *, save_as: str) -> str:
    """The text of a file; ``save_as`` is the remedy if it is not UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _mistake(path, 1, f"The file is UTF-16. Save it as {save_as}.")
    if b"\0" in content:
        line = content[: content.index(b"\0")].count(b"\n") + 1
        what = f"There is a NUL byte here, so this is not plain text. Save the file as {save_as}."
        raise _mistake(path, line, what)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        what = f"There is a character here that is not UTF-8. Save the file as {save_as}."
        raise _mistake(path, line, what) from None


def _mistake(path: Path, line: int, text: str) -> DocumentError:
    return DocumentError(str(path), [Mistake(line, text)])


def parse_toml(
    path: Path, text: str, *, what: str = "document", unsaved: Mapping[Path, bytes] | None = None
) -> TomlDocument:
    """Parse the text of a TOML document that was read from ``path``, or will be written there."""
    if not text.strip():
        raise _mistake(path, 0, f"The {what} is empty.")
    text = text.replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
        lines = _Scanner(text).scan()
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(path, text, error) from None
    except RecursionError:
        raise _mistake(path, 0, f"The {what} is nested too deep to be read.") from None
    except ValueError:  # a whole number with thousands of digits
        raise _mistake(path, 0, f"The {what} has a number that is too long to be read.") from None
    return TomlDocument(path, data, lines, unsaved or {})


def _syntax_error(path: Path, text: str, error: tomllib.TOMLDecodeError) -> DocumentError:
    message = str(error)
    match = _POSITION.search(message)
    at_end = text.rstrip("\n").count("\n") + 1
    line = int(match[1]) if match and match[1] else at_end
    message = _POSITION.sub("", message)
    for start, plain in _PLAIN_WORDS:
        if message.startswith(start):
            message = plain
    return _mistake(path, line, f"This is not TOML: {message[:1].lower()}{message[1:]}.")


_SKIP = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_BLANK = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_BASIC = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_LITERAL = re.compile(r"'[^'\n]*'")
_PLAIN = re.compile(r"[^,\]}#\n]*")
# Up to two quotes may stand directly before the closing three.
_LONG_BASIC = re.compile(r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"{3,5}', re.DOTALL)
_LONG_LITERAL = re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}")


def _key(word: str) -> str:
    """A name without its quotes."""
    if word[:1] not in "\"'" or not word:
        return word
    return word[1:-1] if "\\" not in word else str(tomllib.loads(f"key = {word}")["key"])


@dataclass(slots=True)
class _Scanner:
    """Walks over valid TOML and notes lines and places."""

    text: str
    at: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    settings: dict[KeyPath, SettingPlace] = field(default_factory=dict)
    tables: list[TablePlace] = field(default_factory=list)
    _tables_in: dict[KeyPath, int] = field(default_factory=dict)
    _newlines: list[int] = field(default_factory=list)

    def scan(self) -> dict[KeyPath, int]:
        self._newlines = [at for at, character in enumerate(self.text) if character == "\n"]
        table: KeyPath = ()
        while True:
            self._skip(_SKIP)
            if self.at >= len(self.text):
                return self.lines
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text[self.at] == "[":
                table = self._header(1)
            else:
                self._setting(table)

    def _line(self) -> int:
        return bisect_right(self._newlines, self.at - 1) + 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()

    def _take(self, *patterns: re.Pattern[str]) -> str:
        for pattern in patterns:
            match = pattern.match(self.text, self.at)
            if match is not None:
                self.at = match.end()
                return match[0]
        return ""

    def _note(self, path: KeyPath, line: int) -> None:
        """Remember the first line on which a path, or a part of it, stands."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return
            self.lines[path[:length]] = line

    def _keys(self) -> list[str]:
        keys = []
        while True:
            self._skip(_BLANK)
            word = self._take(_BARE, _BASIC, _LITERAL)
            keys.append(_key(word))
            self._skip(_BLANK)
            if not self.text.startswith(".", self.at):
                return keys
            self.at += 1

    def _resolve(self, table: KeyPath, keys: list[str]) -> KeyPath:
        """The path of ``keys``; an array of tables on the way stands for its last table."""
        path = table
        for key in keys:
            path = (*path, key)
            if path in self._tables_in:
                path = (*path, self._tables_in[path])
        return path

    def _header(self, brackets: int) -> KeyPath:
        line, start = self._line(), self.at
        self.at += brackets
        keys = self._keys()
        self.at += brackets
        path = self._resolve((), keys[:-1])
        last: KeyPath = (*path, keys[-1])
        if brackets == 2:
            self._tables_in[last] = self._tables_in.get(last, -1) + 1
            last = (*last, self._tables_in[last])
        self._note(last, line)
        self.tables.append(TablePlace(last, start, self.at))
        return last

    def _setting(self, table: KeyPath, *, inside: bool = False) -> None:
        line, start = self._line(), self.at
        path = self._resolve(table, self._keys())
        self._note(path, line)
        self.at += 1  # the equals sign
        self._skip(_BLANK)
        value = self.at
        self._value(path)
        end = value + len(self.text[value : self.at].rstrip(" \t"))
        self.settings[path] = SettingPlace(start, value, end, inside)

    def _value(self, path: KeyPath) -> None:
        self._skip(_BLANK)
        mark = self.text[self.at : self.at + 1]
        if mark == "[":
            self._array(path)
        elif mark == "{":
            self._inline_table(path)
        else:
            self._take(_LONG_BASIC, _LONG_LITERAL, _BASIC, _LITERAL, _PLAIN)

    def _array(self, path: KeyPath) -> None:
        self.at += 1
        for number in range(len(self.text)):
            self._skip(_SKIP)
            if self.text.startswith("]", self.at):
                break
            self._note((*path, number), self._line())
            self._value((*path, number))
            self._skip(_SKIP)
            self.at += self.text.startswith(",", self.at)
        self.at += 1

    def _inline_table(self, path: KeyPath) -> None:
        self.at += 1
        while self.at < len(self.text):
            self._skip(_SKIP)
            if self.text.startswith("}", self.at):
                break
            self._setting(path, inside=True)
            self._skip(_SKIP)
            self.at += self.text.startswith(",", self.at)
        self.at += 1
