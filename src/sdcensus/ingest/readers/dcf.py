"""The CSPro dictionary (``.dcf``): where the items of each record type stand and what they mean.

Two ways of writing it are read: the sections and ``Key=Value`` lines of CSPro up to 7, and the
JSON of CSPro 8. The first is turned into the words of the second, so that one builder knows what
they mean. What only concerns data entry is passed over.

With absolute positions every item says where it starts. With relative ones CSPro 8 leaves it out:
the record type comes first, then the id items of all levels, then the items of the record, one
behind the other, an item as often as it occurs. A subitem stands inside the item before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, unknown
from sdcensus.ingest.readers.columns import ColumnKind, SourceColumn
from sdcensus.ingest.readers.dcf_sections import read_sections
from sdcensus.ingest.readers.files import check_file, text_encoding
from sdcensus.model.text import Text, parse_json

#: A range of values is listed code by code up to this length.
_LONGEST_RANGE = 1000


@dataclass(frozen=True, slots=True)
class Item:
    """One item, or one occurrence of an item that occurs several times; start from 0.

    ``codes`` are those of the first value set with their labels in the languages of the
    dictionary; ``ranges`` are its ranges of whole numbers, whether or not they are listed there.
    """

    name: str
    text: Text
    start: int
    width: int
    numeric: bool = True
    decimals: int = 0
    decimal_mark: bool = False
    zero_fill: bool = False
    codes: tuple[tuple[str, Text], ...] = ()
    ranges: tuple[tuple[int, int, Text], ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """The label in the first language."""
        return self.text.show()

    @property
    def value_labels(self) -> tuple[tuple[str, str], ...]:
        """The codes with their labels in the first language."""
        return tuple((code, text.show() or code) for code, text in self.codes)


@dataclass(frozen=True, slots=True)
class Record:
    """A type of record with all the items that its lines hold, those of the ids first."""

    name: str
    type: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The record types of a data file and where a line says its type; start from 0."""

    file: str
    type_start: int
    type_width: int
    records: tuple[Record, ...]

    def record(self, name: str | None) -> Record:
        """The record type of this name; without a name the only one that there is."""
        names = [record.name for record in self.records]
        if name is None:
            if len(names) == 1:
                return self.records[0]
            raise InputError(
                f"{self.file}: the dictionary has several record types: {', '.join(names)}. "
                "Say with record which one to read."
            )
        for record in self.records:
            if record.name.casefold() == name.casefold():
                return record
        raise InputError(f"{self.file}: {unknown('record type', name, names)}")


def read_dictionary(path: Path, encoding: str = "utf-8") -> Dictionary:
    """Read a dictionary of either kind; ``encoding`` is tried if it is not UTF-8."""
    check_file(path)
    return dictionary_of(_text(path, encoding), path.name)


def dictionary_of(text: str, file: str) -> Dictionary:
    """The dictionary that a text of either kind says; ``file`` is for messages."""
    if text.lstrip().startswith("{"):
        try:
            root = parse_json(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0)
            raise InputError(
                f"{file}: line {line} is not valid JSON. Save the dictionary again."
            ) from error
    else:
        root = read_sections(text, file)
    return _Builder(file).dictionary(root)


def _text(path: Path, encoding: str) -> str:
    raw = path.read_bytes()
    for one in ("utf-8-sig", text_encoding(encoding, file=path.name)):
        try:
            return raw.decode(one)
        except UnicodeError:
            continue
    raise InputError(
        f"{path.name}: the dictionary is not text in UTF-8. "
        'Set encoding to that of the census, such as "cp1252".'
    )


class _Builder:
    """Makes sense of the tree; every surprise in it becomes an InputError."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._linked: dict[str, list[Any]] = {}
        self._zero_fill = False
        self._relative = True
        self._languages: list[str] = []

    def dictionary(self, root: Any) -> Dictionary:
        """The record types with the places of their items."""
        top = self._mapping(root, "the dictionary")
        place = self._mapping(top.get("recordType", {}), "recordType")
        type_start, type_width = self._count(place, "start", 0), self._count(place, "length", 0)
        self._languages = [
            self._name(self._mapping(node, "a language")).casefold()
            for node in self._list(top, "languages")
        ]
        defaults = self._mapping(top.get("defaults", {}), "defaults")
        self._zero_fill = bool(defaults.get("zeroFill", False))
        self._relative = bool(top.get("relativePositions", False))
        levels = [self._mapping(level, "a level") for level in self._list(top, "levels")]
        after = type_start + type_width if type_width else 1
        ids_of_level: list[list[Item]] = []
        for level in levels:
            ids, after = self._items(self._mapping(level.get("ids", {}), "ids"), after)
            ids_of_level.append(ids)
        records: list[Record] = []
        for depth, level in enumerate(levels):
            ids = [item for above in ids_of_level[: depth + 1] for item in above]
            for one in self._list(level, "records"):
                node = self._mapping(one, "a record")
                items, _ = self._items(node, after)
                kind = str(node.get("recordType", ""))
                records.append(Record(self._name(node), kind, (*ids, *items)))
        if not records:
            raise InputError(f"{self._file}: the dictionary has no record types.")
        if not type_width and len(records) > 1:
            raise InputError(
                f"{self._file}: the dictionary has several record types but does not say where "
                "a line gives its type (RecordTypeStart, RecordTypeLen)."
            )
        return Dictionary(self._file, max(type_start - 1, 0), type_width, tuple(records))

    def _items(self, holder: Mapping[str, Any], start: int) -> tuple[list[Item], int]:
        """All the items of a record, occurrence by occurrence, and where the next would start."""
        items: list[Item] = []
        parent, parent_occurs = None, 1
        furthest = start
        for one in self._list(holder, "items"):
            node = self._mapping(one, "an item")
            occurs = self._occurrences(node)
            is_sub = bool(node.get("subitem", False))
            if is_sub and parent is None:
                raise InputError(f"{self._at(node)}: a subitem without an item before it.")
            base = parent.start + 1 if is_sub and parent is not None else furthest
            item = self._item(node, base, is_sub)
            if not is_sub:
                parent, parent_occurs = item, occurs
                furthest = max(furthest, item.start + 1 + item.width * occurs)
            if item.numeric or node.get("contentType") in ("alpha", "text", "string"):
                outer = (parent_occurs, parent.width) if is_sub and parent is not None else (1, 0)
                items += _occurrences(item, outer, (occurs, item.width))
        return items, furthest

    def _item(self, node: Mapping[str, Any], base: int, is_sub: bool) -> Item:
        content = str(node.get("contentType", "numeric"))
        # Pictures, sounds and documents hold one character of the line.
        binary = content not in ("numeric", "alpha", "text", "string")
        width = 1 if binary else self._count(node, "length", 1)
        if "start" not in node and not self._relative and not binary:
            raise InputError(
                f"{self._at(node)}: item {self._name(node)!r} does not say where it starts, "
                "although positions are absolute."
            )
        offset = self._count(node, "subitemOffset", 0) if is_sub else 0
        start = self._count(node, "start", base + offset)
        if width < 1 or start < 1:
            raise InputError(
                f"{self._at(node)}: item {self._name(node)!r} needs a start and a length from 1."
            )
        item = Item(
            name=self._name(node),
            text=self._label(node),
            start=start - 1,
            width=width,
            numeric=content == "numeric",
            decimals=self._count(node, "decimals", 0),
            decimal_mark=bool(node.get("decimalMark", False)),
            zero_fill=bool(node.get("zeroFill", self._zero_fill)) and content == "numeric",
        )
        return self._with_values(node, item)

    def _with_values(self, node: Mapping[str, Any], item: Item) -> Item:
        """The item with the codes of its first value set, and those that mean "missing"."""
        sets: list[list[Any]] = []
        for one in self._list(node, "valueSets"):
            value_set = self._mapping(one, "a value set")
            values = self._list(value_set, "values")
            link = str(value_set.get("link", ""))
            if link:
                # Linked sets are written out once, where they first stand.
                values = values or self._linked.get(link, [])
                self._linked[link] = values
            sets.append(values)
        codes: dict[str, Text] = {}
        ranges: list[tuple[int, int, Text]] = []
        missing: dict[str, None] = {}
        for one in sets[0] if sets else ():
            value = self._mapping(one, "a value")
            label = self._label(value)
            for pair in self._list(value, "pairs"):
                ends = _ends(self._mapping(pair, "a value"))
                if ends is not None:
                    ranges.append((*ends, label))
                for code in _codes(pair, ends, item):
                    codes.setdefault(code, label)
                    if value.get("special"):
                        missing[code] = None
        return replace(
            item, codes=tuple(codes.items()), ranges=tuple(ranges), missing=tuple(missing)
        )

    def _label(self, node: Mapping[str, Any]) -> Text:
        """The label in its languages; a language that the dictionary does not name is empty."""
        labels = node.get("labels", ())
        texts: dict[str, str] = {}
        for at, label in enumerate(labels if isinstance(labels, Sequence) else ()):
            if not isinstance(label, Mapping):
                continue
            known = self._languages[at] if at < len(self._languages) else ""
            language = str(label.get("language", known)).casefold()
            if at == 0 or language:
                texts.setdefault(language, str(label.get("text", "")).strip())
        return Text.of(texts)

    def _occurrences(self, node: Mapping[str, Any]) -> int:
        occurs = node.get("occurrences", 1)
        count = occurs.get("maximum", 1) if isinstance(occurs, Mapping) else occurs
        if not isinstance(count, int) or not 1 <= count <= 100_000:
            raise InputError(f"{self._at(node)}: occurrences are a whole number from 1.")
        return count

    def _count(self, node: Mapping[str, Any], key: str, default: int) -> int:
        number = node.get(key, default)
        if not isinstance(number, int) or not 0 <= number < 10**9:
            raise InputError(f"{self._at(node)}: {key} is a whole number.")
        return number

    def _name(self, node: Mapping[str, Any]) -> str:
        name = node.get("name")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{self._at(node)}: a record or an item has no name.")
        return name.strip()

    def _mapping(self, node: Any, what: str) -> Mapping[str, Any]:
        if not isinstance(node, Mapping):
            raise InputError(f"{self._file}: {what} is not written as the dictionary needs it.")
        return node

    def _list(self, node: Mapping[str, Any], key: str) -> list[Any]:
        found = node.get(key, [])
        if not isinstance(found, list):
            raise InputError(f"{self._at(node)}: {key} is not a list.")
        return found

    def _at(self, node: Mapping[str, Any]) -> str:
        line = node.get("line")
        return f"{self._file}: line {line}" if isinstance(line, int) else self._file


def source_column(item: Item) -> SourceColumn:
    """The column that an item is for readers."""
    return SourceColumn(
        item.name,
        ColumnKind.TEXT,
        label=item.label,
        value_labels=item.value_labels,
        missing=item.missing,
        width=item.width,
    )


def _occurrences(item: Item, outer: tuple[int, int], inner: tuple[int, int]) -> list[Item]:
    """NAME, or NAME_1, NAME_2 ... for repeated items, NAME_1_1 ... for repeats within repeats."""
    items = []
    for first in range(outer[0]):
        for second in range(inner[0]):
            suffix = f"_{first + 1}" if outer[0] > 1 else ""
            suffix += f"_{second + 1}" if inner[0] > 1 else ""
            start = item.start + first * outer[1] + second * inner[1]
            items.append(replace(item, name=item.name + suffix, start=start))
    return items


def _ends(pair: Mapping[str, Any]) -> tuple[int, int] | None:
    """The ends of a range of whole numbers."""
    ends = pair.get("range")
    texts = [str(end).strip() for end in ends] if isinstance(ends, list) else []
    if len(texts) != 2 or not all(re.fullmatch(r"-?[0-9]{1,15}", text) for text in texts):
        return None
    low, high = map(int, texts)
    return low, high


def _codes(pair: Mapping[str, Any], ends: tuple[int, int] | None, item: Item) -> list[str]:
    """The codes of a value or of a range of integers, in the form that the data have."""
    if ends is not None:
        if ends[1] - ends[0] >= _LONGEST_RANGE:
            return []
        codes = [str(code) for code in range(ends[0], ends[1] + 1)]
    else:
        codes = [] if "range" in pair else [str(pair.get("value", "")).strip()]
    if item.zero_fill and not item.decimals:
        codes = [code.zfill(item.width) if code else "" for code in codes]
    return [code for code in codes if code]
