"""The questions of the demo census: variables and code lists, as the data files describe them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

FILES = ("building", "dwelling", "household", "person")


@dataclass(frozen=True, slots=True)
class Code:
    """A code with its labels in English and Spanish, and the code that it belongs to."""

    code: str
    label: str
    label_es: str
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Tree:
    """A further tree over the codes of a variable, not nested in its own."""

    name: str
    levels: tuple[str, ...]
    codes: tuple[Code, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A variable of the demo census.

    Attributes:
        codes: Its leaves, missing codes among them; a column holds positions in this list.
        groups: The codes above the leaves, from the top down.
        levels: Names of the levels of ``groups``, from the leaves up.
        bounds: For whole numbers: names and bounds of levels.
        trees: Further trees.
        listed: Name of the file in ``codes/`` that holds the codes; empty: in the schema itself.
    """

    name: str
    file: str
    entity: str
    label: tuple[str, str]
    topic: tuple[str, str] | None = None
    role: str = ""
    codes: tuple[Code, ...] = ()
    groups: tuple[Code, ...] = ()
    levels: tuple[str, ...] = ()
    range: tuple[int, int] | None = None
    bounds: tuple[tuple[str, str], ...] = ()
    trees: tuple[Tree, ...] = ()
    listed: str = ""
    not_stated: str = ""
    not_applicable: str = ""
    continuous: bool = False
    unit: str = ""
    decimals: int = 0
    empty: str = ""
    imputed: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """What a file holds for each position."""
        return tuple(code.code for code in self.codes)

    def position(self, code: str) -> int:
        """The position of a code."""
        return self.texts.index(code)


@dataclass(frozen=True, slots=True)
class CodeList:
    """A code list that depends on the country."""

    codes: tuple[Code, ...]
    groups: tuple[Code, ...] = ()
    trees: tuple[Tree, ...] = ()


class Questionnaire:
    """All variables of one country, in the order of the schema."""

    def __init__(self, lists: Mapping[str, CodeList]) -> None:
        described = _described()
        topics = described["topics"]
        self._by_name = {
            name: _question(name, file, table, topics, lists)
            for file in FILES
            for name, table in described[file].items()
        }

    def __getitem__(self, name: str) -> Question:
        return self._by_name[name]

    def __iter__(self) -> Iterator[Question]:
        return iter(self._by_name.values())


@cache
def _described() -> dict[str, Any]:
    text = (files("sdcensus.demo") / "data" / "variables.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a data file of the demo country."""
    text = (files("sdcensus.demo") / "data" / f"{name}.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(text.splitlines()))


def categories(name: str) -> range:
    """The positions of the codes of a variable that is the same in every country."""
    described = _described()
    table = next(described[file][name] for file in FILES if name in described[file])
    return range(len(table["codes"]))


def _question(
    name: str,
    file: str,
    table: Mapping[str, Any],
    topics: Mapping[str, list[str]],
    lists: Mapping[str, CodeList],
) -> Question:
    listed = table.get("list", "")
    found = lists[listed] if listed else CodeList(_codes(table), _groups(table))
    codes, groups = found.codes, found.groups
    if groups and not listed:
        parent = {leaf: row[0] for row in table["groups"] for leaf in row[3].split()}
        codes = tuple(
            Code(one.code, one.label, one.label_es, parent.get(one.code, "")) for one in codes
        )
        listed = name
    topic = table.get("topic")
    numbers = table.get("range")
    return Question(
        name=name,
        file=file,
        entity=table.get("entity", file),
        label=(table["label"][0], table["label"][1]),
        topic=(topics[topic][0], topics[topic][1]) if topic else None,
        role=table.get("role", ""),
        codes=codes,
        groups=groups,
        levels=tuple(table.get("levels", ())),
        range=(numbers[0], numbers[1]) if numbers else None,
        bounds=tuple((level, bounds) for level, bounds in table.get("bounds", ())),
        trees=found.trees,
        listed=listed,
        not_stated=table.get("not_stated", ""),
        not_applicable=table.get("not_applicable", ""),
        continuous=table.get("continuous", False),
        unit=table.get("unit", ""),
        decimals=table.get("decimals", 0),
        empty=table.get("empty", ""),
        imputed=table.get("imputed", ""),
    )


def _codes(table: Mapping[str, Any]) -> tuple[Code, ...]:
    if "range" in table:
        low, high = table["range"]
        numbers = [Code(str(number), str(number), str(number)) for number in range(low, high + 1)]
        missing = (
            ("not_applicable", "Not applicable", "No aplicable"),
            ("not_stated", "Not stated", "No declarado"),
        )
        return tuple(
            numbers + [Code(table[kind], en, es) for kind, en, es in missing if kind in table]
        )
    return tuple(Code(*row) for row in table.get("codes", ()))


def _groups(table: Mapping[str, Any]) -> tuple[Code, ...]:
    return tuple(Code(*row[:3]) for row in table.get("groups", ()))
