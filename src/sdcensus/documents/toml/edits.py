"""Changing single settings of a TOML document; every other line stays as it is, to the byte.

Comments, blank lines, the order of settings and the way in which they are written belong to the
office: a program that changes one setting must not touch the rest. What a change cannot leave
alone is only the value itself, and where a setting in braces comes or goes, its braces.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sdcensus.documents.toml.lines import (
    KeyPath,
    SettingPlace,
    TablePlace,
    TomlPlaces,
    toml_places,
)
from sdcensus.documents.toml.text import toml, toml_key

_ABSENT = object()
#: No change of one setting takes so many steps.
_MOST_PIECES = 100_000


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, with its sign: where it stands, and the blanks before it."""

    start: int
    end: int
    text: str
    alone: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that takes the place of another one."""

    start: int
    end: int
    text: str


def with_setting(text: str, path: KeyPath, value: object) -> str:
    """The document with a setting changed, or added to the table that it belongs to.

    Args:
        text: A valid document; its lines may end as on Windows.
        path: The names of the tables and of the setting; numbers for arrays of tables.
        value: A text, number, truth value, list, or table of such values.

    Examples:
        >>> print(with_setting('[a]\\nb = 1  # why\\nc = 2', ("a", "b"), 3))
        [a]
        b = 3  # why
        c = 2
    """
    if value == {} and not has_setting(tomllib.loads(text), path):
        return text
    for _ in range(_MOST_PIECES):
        # Each piece is found in the text that the one before it left.
        piece = next(_Editor(text).set(path, value), None)
        if piece is None:
            return text
        text = _applied(text, [piece])
    raise AssertionError(f"the change of {path} does not come to an end")


def without_setting(text: str, path: KeyPath) -> str:
    """The document without a setting or table; as it is if there is none."""
    editor = _Editor(text)
    return _applied(text, list(editor.remove(path))) if has_setting(editor.data, path) else text


def has_setting(data: Mapping[str, Any], path: KeyPath) -> bool:
    """Whether the values of a document have a setting or table."""
    return _value_at(data, path) is not _ABSENT


def with_table(text: str, path: KeyPath, values: Mapping[str, object]) -> str:
    """The document with one more table in an array of tables, such as ``[[variable.x.hierarchy]]``.

    Args:
        text: A valid document.
        path: The array.
        values: The settings of the new table.
    """
    return _applied(text, [_Editor(text).appended_table(path, values)])


def comments_of(text: str, path: KeyPath) -> tuple[Comment, ...]:
    """The comments of a table: directly above its name, beside its settings and between them."""
    return tuple(_Editor(text).comments(path))


def comments_by_table(text: str) -> dict[KeyPath, tuple[Comment, ...]]:
    """The comments of every table that has a name in brackets."""
    editor = _Editor(text)
    paths = [table.path for table in editor.places.tables]
    return {path: tuple(editor.comments(path)) for path in paths}


def without_comments(text: str, path: KeyPath, unwanted: Callable[[str], bool]) -> str:
    """The document without those comments of a table that are not wanted any more."""
    editor = _Editor(text)
    pieces = [
        _Piece(comment.start, comment.end + comment.alone, "")
        for comment in editor.comments(path)
        if unwanted(comment.text)
    ]
    return _applied(text, pieces)


def _applied(text: str, pieces: list[_Piece]) -> str:
    """Put pieces into a text; their places count the end of a line as one character."""
    plain = text.replace("\r\n", "\n")
    ending = "\r\n" if "\r\n" in text else "\n"
    shortened = [match.start() - at for at, match in enumerate(re.finditer(r"\r\n", text))]

    def place(at: int) -> int:
        return at + bisect_left(shortened, at)

    for piece in sorted(pieces, key=lambda piece: -piece.start):
        new = piece.text
        if new and piece.start == len(plain) and plain and not plain.endswith("\n"):
            new = f"\n{new}"
        written = new.replace("\n", ending)
        text = text[: place(piece.start)] + written + text[place(piece.end) :]
    return text


def _value_at(data: Any, path: KeyPath) -> Any:
    for step in path:
        known: Any = range(len(data)) if isinstance(data, list) else data
        if not isinstance(data, list | dict) or step not in known:
            return _ABSENT
        data = _member(data, step)
    return data


def _member(data: Any, step: str | int) -> Any:
    return data[step]


def _same(left: object, right: object) -> bool:
    """Equal in value, type and order."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(_same(one, other) for one, other in pairs)
    return type(left) is type(right) and left == right


class _Editor:
    """Finds what has to be put where."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.data: dict[str, Any] = tomllib.loads(text)
        self.places: TomlPlaces = toml_places(self.text)

    # ------------------------------------------------------------ changes

    def set(self, path: KeyPath, value: object) -> Iterator[_Piece]:
        """Make a setting what it should be."""
        old = _value_at(self.data, path)
        if _same(old, value):
            return
        setting = self.places.settings.get(path)
        if setting is not None:
            alike = isinstance(old, dict) and isinstance(value, Mapping)
            if alike and isinstance(value, Mapping) and list(old) == list(value):
                for key in value:
                    yield from self.set((*path, key), value[key])
            else:
                yield _Piece(setting.value, setting.end, toml(value))
        elif old is _ABSENT:
            yield from self._insert(path, value)
        elif isinstance(old, dict) and isinstance(value, Mapping) and value:
            yield from self._set_table(path, old, value)
        else:
            yield from self.remove(path)
            yield from self._insert(path, value)

    def _set_table(
        self, path: KeyPath, old: Mapping[str, object], value: Mapping[str, object]
    ) -> Iterator[_Piece]:
        kept = [key for key in old if key in value]
        in_order = kept == list(value)[: len(kept)]
        for key in old:
            if key not in value or not in_order:
                yield from self.remove((*path, key))
        for key, new in value.items():
            yield from self.set((*path, key), new)

    def remove(self, path: KeyPath) -> Iterator[_Piece]:
        """Take a setting or table out."""
        around = self._braces_around(path)
        if around is not None:
            value = deepcopy(_value_at(self.data, around))
            holder = _value_at(value, path[len(around) : -1])
            del holder[path[-1]]
            setting = self.places.settings[around]
            yield _Piece(setting.value, setting.end, toml(value))
            return
        for place, setting in self.places.settings.items():
            if place[: len(path)] == path and not setting.inside:
                yield self._line_piece(setting.start, setting.end)
        for table in self.places.tables:
            if table.path[: len(path)] == path:
                start, end = self._line_start(table.start), self._line_end(table.end)
                # One of the blank lines around it goes as well.
                after = re.compile(r"[ \t]*\n").match(self.text, end)
                lonely = start == 0 or self.text[:start].endswith("\n\n")
                yield _Piece(start, after.end() if after and lonely else end, "")

    def appended_table(self, path: KeyPath, values: Mapping[str, object]) -> _Piece:
        """One more table of an array of tables."""
        setting = self.places.settings.get(path)
        if setting is not None:
            tables = [*_value_at(self.data, path), dict(values)]
            return _Piece(setting.value, setting.end, toml(tables))
        around = self._braces_around(path)
        if around is not None:
            return self._in_braces(around, path, [dict(values)])
        name = ".".join(toml_key(step) for step in path if isinstance(step, str))
        lines = [f"[[{name}]]", *(f"{toml_key(key)} = {toml(new)}" for key, new in values.items())]
        near = [table for table in self.places.tables if table.path[: len(path)] == path] or [
            table for table in self.places.tables if table.path[: len(path) - 1] == path[:-1]
        ]
        end = max((self._body_end(table) for table in near), default=len(self.text))
        return _Piece(end, end, "\n" + "\n".join(lines) + "\n")

    def _insert(self, path: KeyPath, value: object) -> Iterator[_Piece]:
        *_, key = path
        parent = path[:-1]
        around = self._braces_around(path)
        if around is not None:
            yield self._in_braces(around, path, value)
            return
        line = f"{toml_key(str(key))} = {toml(value)}\n"
        table = next((table for table in self.places.tables if table.path == parent), None)
        if table is not None or not parent:
            end = self._root_end() if table is None else self._body_end(table)
            yield _Piece(end, end, line)
            return
        dotted = [
            (place, setting)
            for place, setting in self.places.settings.items()
            if place[: len(parent)] == parent
            and not setting.inside
            and len(self._table_around(setting)) < len(parent)
        ]
        if dotted:
            _, setting = dotted[-1]
            named = path[len(self._table_around(setting)) :]
            dots = ".".join(toml_key(str(step)) for step in named)
            end = self._line_end(setting.end)
            yield _Piece(end, end, f"{dots} = {toml(value)}\n")
            return
        header = f"[{'.'.join(toml_key(str(step)) for step in parent)}]\n"
        below = [table for table in self.places.tables if table.path[: len(parent)] == parent]
        if below:
            start = self._line_start(below[0].start)
            yield _Piece(start, start, f"{header}{line}\n")
        else:
            yield _Piece(len(self.text), len(self.text), f"\n{header}{line}")

    def _in_braces(self, around: KeyPath, path: KeyPath, value: object) -> _Piece:
        whole = deepcopy(_value_at(self.data, around))
        holder = whole
        for step in path[len(around) : -1]:
            holder = (
                _member(holder, step) if isinstance(holder, list) else holder.setdefault(step, {})
            )
        holder[path[-1]] = value
        setting = self.places.settings[around]
        return _Piece(setting.value, setting.end, toml(whole))

    # ------------------------------------------------------------ comments

    def comments(self, path: KeyPath) -> Iterator[Comment]:
        """The comments that belong to a table."""
        for table in self.places.tables:
            if table.path != path:
                continue
            start = self._line_start(table.start)
            while True:
                above = self._line_start(start - 1) if start else 0
                if start == 0 or not self.text[above:start].lstrip().startswith("#"):
                    break
                start = above
            yield from self._comments_between(start, self._body_end(table))

    def _comments_between(self, start: int, end: int) -> Iterator[Comment]:
        at = start
        while at < end:
            line_end = self._line_end(at)
            stop = line_end - 1 if self.text[line_end - 1 : line_end] == "\n" else line_end
            behind = self._last_of_line.get(at)
            if behind is not None:
                rest = self.text[behind:stop]
                if rest.lstrip().startswith("#"):
                    yield Comment(behind, stop, rest.strip(), alone=False)
            elif self.text[at:stop].lstrip().startswith("#") and not self._in_value(at):
                yield Comment(at, stop, self.text[at:stop].strip(), alone=stop < line_end)
            at = line_end

    @cached_property
    def _taken(self) -> list[tuple[int, int]]:
        """Where settings and names of tables stand, in their order."""
        settings = [
            (setting.start, setting.end)
            for setting in self.places.settings.values()
            if not setting.inside
        ]
        return sorted([*settings, *((table.start, table.end) for table in self.places.tables)])

    @cached_property
    def _last_of_line(self) -> dict[int, int]:
        """Where the last thing of a line ends, by the beginning of the line."""
        return {self._line_start(end): end for _, end in self._taken}

    def _in_value(self, at: int) -> bool:
        """Whether a place lies inside a value of several lines."""
        before = bisect_left(self._taken, (at, 0)) - 1
        return before >= 0 and self._taken[before][1] > at

    # ------------------------------------------------------------ places

    def _line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def _line_end(self, at: int) -> int:
        """Behind the end of the line."""
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def _line_piece(self, start: int, end: int) -> _Piece:
        return _Piece(self._line_start(start), self._line_end(end), "")

    def _body_end(self, table: TablePlace) -> int:
        """Behind the line of the last setting of a table, or of its name."""
        names = [other.start for other in self.places.tables]
        later = bisect_right(names, table.start)
        stop = names[later] if later < len(names) else len(self.text) + 1
        last = self._taken[bisect_left(self._taken, (stop, 0)) - 1]
        return self._line_end(max(last[1], table.end))

    def _root_end(self) -> int:
        first = min((table.start for table in self.places.tables), default=len(self.text))
        ends = [setting.end for setting in self.places.settings.values() if setting.start < first]
        return self._line_end(max(ends)) if ends else 0

    def _table_around(self, setting: SettingPlace) -> KeyPath:
        """The table under whose name a setting stands."""
        above = [table for table in self.places.tables if table.start < setting.start]
        return above[-1].path if above else ()

    def _braces_around(self, path: KeyPath) -> KeyPath | None:
        """The setting in whose braces a path lies."""
        for length in range(1, len(path)):
            if path[:length] in self.places.settings:
                return path[:length]
        return None
