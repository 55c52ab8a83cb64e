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
from sdcensus.ingest.readers.files import check_file, text_encoding
from sdcensus.model.text import parse_json

_NUMBER_KEYS = {
    "start": "start",
    "len": "length",
    "decimal": "decimals",
    "occurrences": "occurrences",
}
_TOKEN = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|([^\s;'"]+))""")


def read_sections(text: str, file: str) -> dict[str, Any]:
    """The words of the older dictionary as a tree in the words of the newer one."""
    root: dict[str, Any] = {"levels": []}
    node: dict[str, Any] = {}
    items: list[dict[str, Any]] | None = None
    seen = False
    for line, raw in enumerate(text.splitlines(), start=1):
        entry = raw.strip()
        if not entry:
            continue
        if entry.startswith("[") and entry.endswith("]"):
            section = entry[1:-1].strip().casefold()
            try:
                node, items = _open_section(section, root, items, line)
            except LookupError as error:
                raise InputError(
                    f"{file}: line {line}: a section {entry} cannot stand here."
                ) from error
            seen = True
            continue
        key, equals, value = entry.partition("=")
        if not equals or not seen:
            raise InputError(
                f"{file}: line {line} is neither a [section] nor a Key=Value line. "
                "Is this a CSPro dictionary?"
            )
        _set(node, key.strip().casefold(), value, file, line)
    if not root["levels"]:
        raise InputError(f"{file}: the dictionary has no [Level]. Is this a CSPro dictionary?")
    return root


def _open_section(
    section: str, root: dict[str, Any], items: list[dict[str, Any]] | None, line: int
) -> tuple[dict[str, Any], list[dict[str, Any]] | None]:
    """Add a section to the tree: the node that its lines fill, and where items go from now on."""
    node: dict[str, Any] = {"line": line}
    if section == "dictionary":
        return root, items
    if section == "level":
        root["levels"].append(node | {"ids": {"items": []}, "records": []})
        return root["levels"][-1], None
    if section == "iditems":
        return {}, root["levels"][-1]["ids"]["items"]
    if section == "record":
        root["levels"][-1]["records"].append(node | {"items": []})
        record = root["levels"][-1]["records"][-1]
        return record, record["items"]
    if section == "item":
        if items is None:
            raise LookupError(section)
        items.append(node | {"contentType": "numeric", "valueSets": []})
        return items[-1], items
    if section == "valueset":
        if not items:
            raise LookupError(section)
        items[-1]["valueSets"].append(node | {"values": []})
        return items[-1]["valueSets"][-1], items
    return {}, items


def _set(node: dict[str, Any], key: str, value: str, file: str, line: int) -> None:
    """Put one Key=Value line into the tree."""
    plain = value.strip()
    if key == "value" and "values" in node:
        node["values"].append(_value(plain))
    elif key == "name" and node.get("values"):
        # After a value, Name gives it a special meaning: Name=MISSING,Special.
        node["values"][-1]["special"] = plain.split(",")[0].strip()
    elif key == "name":
        node["name"] = plain
    elif key == "label":
        node.setdefault("labels", [{"text": plain.split("|")[0]}])
    elif key == "link":
        node["link"] = plain
    elif key in ("recordtypestart", "recordtypelen"):
        part = "start" if key.endswith("start") else "length"
        node.setdefault("recordType", {})[part] = _integer(plain, file, line)
    elif key == "recordtypevalue":
        node["recordType"] = plain[1:-1] if plain[:1] in "'\"" and len(plain) > 1 else plain
    elif key == "positions":
        node["relativePositions"] = plain.casefold() == "relative"
    elif key in _NUMBER_KEYS:
        number = _integer(plain, file, line)
        node[_NUMBER_KEYS[key]] = {"maximum": number} if key == "occurrences" else number
    elif key == "datatype":
        node["contentType"] = plain.casefold()
    elif key == "itemtype":
        node["subitem"] = plain.casefold() == "subitem"
    elif key in ("decimalchar", "zerofill"):
        node["decimalMark" if key == "decimalchar" else "zeroFill"] = plain.casefold() == "yes"


def _integer(text: str, file: str, line: int) -> int:
    digits = text.strip("'\"")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise InputError(f"{file}: line {line}: {text!r} is not a whole number.")
    return int(digits)


def _value(text: str) -> dict[str, Any]:
    """``1:5 9;Label``: values, ranges, or texts in quotation marks, then the label."""
    pairs: list[dict[str, Any]] = []
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        quoted = match[1] if match[1] is not None else match[2]
        if quoted is not None:
            pairs.append({"value": quoted})
        elif ":" in match[3].strip(":"):
            low, _, high = match[3].partition(":")
            pairs.append({"range": [low, high]})
        else:
            pairs.append({"value": match[3]})
    label = text[at:].lstrip().removeprefix(";")
    return {"pairs": pairs, "labels": [{"text": label.split("|")[0].strip()}]}


#: A range of values is listed code by code up to this length.
_LONGEST_RANGE = 1000


@dataclass(frozen=True, slots=True)
class Item:
    """One item, or one occurrence of an item that occurs several times; start from 0."""

    name: str
    label: str
    start: int
    width: int
    numeric: bool = True
    decimals: int = 0
    decimal_mark: bool = False
    zero_fill: bool = False
    value_labels: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()


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
    text = _text(path, encoding)
    if text.lstrip().startswith("{"):
        try:
            root = parse_json(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 0)
            raise InputError(
                f"{path.name}: line {line} is not valid JSON. Save the dictionary again."
            ) from error
    else:
        root = read_sections(text, path.name)
    return _Builder(path.name).dictionary(root)


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

    def dictionary(self, root: Any) -> Dictionary:
        """The record types with the places of their items."""
        top = self._mapping(root, "the dictionary")
        place = self._mapping(top.get("recordType", {}), "recordType")
        type_start, type_width = self._count(place, "start", 0), self._count(place, "length", 0)
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
            label=_label(node),
            start=start - 1,
            width=width,
            numeric=content == "numeric",
            decimals=self._count(node, "decimals", 0),
            decimal_mark=bool(node.get("decimalMark", False)),
            zero_fill=bool(node.get("zeroFill", self._zero_fill)) and content == "numeric",
        )
        labels, missing = self._values(node, item)
        return replace(item, value_labels=labels, missing=missing)

    def _values(
        self, node: Mapping[str, Any], item: Item
    ) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """The codes of the first value set, and those of them that mean "missing"."""
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
        labels: dict[str, str] = {}
        missing: dict[str, None] = {}
        for one in sets[0] if sets else ():
            value = self._mapping(one, "a value")
            for pair in self._list(value, "pairs"):
                for code in _codes(self._mapping(pair, "a value"), item):
                    labels.setdefault(code, _label(value) or code)
                    if value.get("special"):
                        missing[code] = None
        return tuple(labels.items()), tuple(missing)

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


def _label(node: Mapping[str, Any]) -> str:
    labels = node.get("labels", ())
    first = labels[0] if isinstance(labels, Sequence) and labels else {}
    text = first.get("text", "") if isinstance(first, Mapping) else ""
    return str(text).strip()


def _codes(pair: Mapping[str, Any], item: Item) -> list[str]:
    """The codes of a value or of a range of integers, in the form that the data have."""
    if "range" in pair:
        ends = (
            [str(end).strip() for end in pair["range"]] if isinstance(pair["range"], list) else []
        )
        if len(ends) != 2 or not all(re.fullmatch(r"-?[0-9]{1,15}", end) for end in ends):
            return []
        low, high = map(int, ends)
        if high - low >= _LONGEST_RANGE:
            return []
        codes = [str(code) for code in range(low, high + 1)]
    else:
        codes = [str(pair.get("value", "")).strip()]
    if item.zero_fill and not item.decimals:
        codes = [code.zfill(item.width) if code else "" for code in codes]
    return [code for code in codes if code]
