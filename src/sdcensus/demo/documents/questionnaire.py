"""The questions of the demo census: variables and code lists, as the data files describe them."""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any, TypeAlias

from sdcensus.model.schema.schema import DeclaredUniverse
from sdcensus.model.text import Text

FILES = ("building", "dwelling", "household", "person")

#: The languages of the demo census: a country has its own, whatever the product speaks.
LANGUAGES = ("en", "es", "fr", "nl")
#: A text in all languages of the demo census, in the order of ``LANGUAGES``.
Words: TypeAlias = tuple[str, ...]
#: The columns of a code list that hold its labels: the first language has no mark.
LABEL_COLUMNS = ("label", *(f"label_{language}" for language in LANGUAGES[1:]))


@dataclass(frozen=True, slots=True)
class DemoCode:
    """A code with its label in all languages, and the code that it belongs to."""

    code: str
    label: Words
    parent: str = ""


@dataclass(frozen=True, slots=True)
class DemoTree:
    """A further tree over the codes of a variable, not nested in its own."""

    name: str
    levels: tuple[str, ...]
    codes: tuple[DemoCode, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoQuestion:
    """A variable of the demo census.

    Attributes:
        codes: Its leaves, missing codes among them; a column holds positions in this list.
        groups: The codes above the leaves, from the top down.
        levels: Names of the levels of ``groups``, from the leaves up.
        level_labels: Names of levels, the leaves among them, and what readers see for them.
        bounds: For whole numbers: names and bounds of levels.
        trees: Further trees.
        listed: Name of the file in ``codes/`` that holds the codes; empty: in the schema itself.
    """

    name: str
    file: str
    entity: str
    label: Words
    description: Words
    topic: Words | None = None
    role: str = ""
    codes: tuple[DemoCode, ...] = ()
    groups: tuple[DemoCode, ...] = ()
    levels: tuple[str, ...] = ()
    level_labels: tuple[tuple[str, Words], ...] = ()
    range: tuple[int, int] | None = None
    bounds: tuple[tuple[str, str], ...] = ()
    trees: tuple[DemoTree, ...] = ()
    listed: str = ""
    not_stated: str = ""
    not_applicable: str = ""
    continuous: bool = False
    unit: Words = ()
    decimals: int = 0
    empty: str = ""
    imputed: str = ""
    counts: str = ""
    counts_open: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """What a file holds for each position."""
        return tuple(code.code for code in self.codes)

    def position(self, code: str) -> int:
        """The position of a code."""
        return self.texts.index(code)


@dataclass(frozen=True, slots=True)
class DemoCodeList:
    """A code list that depends on the country."""

    codes: tuple[DemoCode, ...]
    groups: tuple[DemoCode, ...] = ()
    trees: tuple[DemoTree, ...] = ()


class Questionnaire:
    """All variables of one country, in the order of the schema."""

    def __init__(self, lists: Mapping[str, DemoCodeList]) -> None:
        described = data_table("variables")
        topics = described["topics"]
        self._by_name = {
            name: _question(name, file, table, topics, lists)
            for file in FILES
            for name, table in described[file].items()
        }

    def __getitem__(self, name: str) -> DemoQuestion:
        return self._by_name[name]

    def __iter__(self) -> Iterator[DemoQuestion]:
        return iter(self._by_name.values())


def data_text(file: str, **blanks: object) -> str:
    """The text of a data file of the demo country, with its blanks such as ``$store`` filled."""
    text = (files("sdcensus.demo") / "data" / file).read_text(encoding="utf-8")
    return Template(text).substitute(blanks) if blanks else text


@cache
def data_table(name: str) -> dict[str, Any]:
    """The entries of a data file of the demo country."""
    return tomllib.loads(data_text(f"{name}.toml"))


def rules() -> list[tuple[Words, str]]:
    """Combinations that cannot occur: what they are about, and the condition."""
    return [(tuple(one["label"]), one["when"]) for one in data_table("rules")["impossible"]]


def identities() -> list[dict[str, str | int]]:
    """Counts of one kind of unit that are those of another: the settings of each."""
    return [dict(one) for one in data_table("rules")["identity"]]


def universes() -> list[DeclaredUniverse]:
    """Records in common use, by name."""
    return [
        DeclaredUniverse(
            name=entry["name"],
            condition=entry["condition"],
            label=Text.of(dict(zip(LANGUAGES, entry["label"], strict=True))),
        )
        for entry in data_table("rules")["universe"]
    ]


@cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a data file of the demo country."""
    return tuple(csv.DictReader(data_text(f"{name}.csv").splitlines()))


def label_of(row: Mapping[str, str]) -> Words:
    """The label in a row of a data file, in all languages."""
    return tuple(row[column] for column in LABEL_COLUMNS)


def words(kind: str) -> dict[str, Words]:
    """The labels of a kind in the file of words, by their code."""
    return {row["code"]: label_of(row) for row in rows("words") if row["kind"] == kind}


def codes_of(kind: str) -> tuple[DemoCode, ...]:
    """The codes of a kind in the file of words."""
    found = [row for row in rows("words") if row["kind"] == kind]
    return tuple(DemoCode(row["code"], label_of(row), row["parent"]) for row in found)


def categories(name: str) -> range:
    """The positions of the codes of a variable that is the same in every country."""
    described = data_table("variables")
    table = next(described[file][name] for file in FILES if name in described[file])
    return range(len(table["codes"]))


def _question(
    name: str,
    file: str,
    table: Mapping[str, Any],
    topics: Mapping[str, list[str]],
    lists: Mapping[str, DemoCodeList],
) -> DemoQuestion:
    listed = table.get("list", "")
    code_list = lists[listed] if listed else DemoCodeList(_codes(table), _groups(table))
    codes, groups = code_list.codes, code_list.groups
    if groups and not listed:
        parent = {leaf: row[0] for row in table["groups"] for leaf in row[-1].split()}
        codes = tuple(DemoCode(code.code, code.label, parent.get(code.code, "")) for code in codes)
        listed = name
    topic = table.get("topic")
    numbers = table.get("range")
    return DemoQuestion(
        name=name,
        file=file,
        entity=table.get("entity", file),
        label=tuple(table["label"]),
        description=tuple(data_table("definitions")[name][one] for one in LANGUAGES),
        topic=tuple(topics[topic]) if topic else None,
        role=table.get("role", ""),
        codes=codes,
        groups=groups,
        levels=tuple(table.get("levels", ())),
        level_labels=tuple(
            (level, tuple(label)) for level, label in data_table("levels").get(name, {}).items()
        ),
        range=(numbers[0], numbers[1]) if numbers else None,
        bounds=tuple((level, bounds) for level, bounds in table.get("bounds", ())),
        trees=code_list.trees,
        listed=listed,
        not_stated=table.get("not_stated", ""),
        not_applicable=table.get("not_applicable", ""),
        continuous=table.get("continuous", False),
        unit=tuple(table.get("unit", ())),
        decimals=table.get("decimals", 0),
        empty=table.get("empty", ""),
        imputed=table.get("imputed", ""),
        counts=table.get("counts", ""),
        counts_open=tuple(table.get("counts_open", ())),
    )


def _codes(table: Mapping[str, Any]) -> tuple[DemoCode, ...]:
    if "range" in table:
        low, high = table["range"]
        missing = words("missing")
        numbers = [DemoCode(str(one), (str(one),) * len(LANGUAGES)) for one in range(low, high + 1)]
        kinds = [one for one in ("not_applicable", "not_stated") if one in table]
        return tuple(numbers + [DemoCode(table[kind], missing[kind]) for kind in kinds])
    return tuple(_code(row) for row in table.get("codes", ()))


def _groups(table: Mapping[str, Any]) -> tuple[DemoCode, ...]:
    return tuple(_code(row) for row in table.get("groups", ()))


def _code(row: Sequence[str]) -> DemoCode:
    return DemoCode(row[0], tuple(row[1 : 1 + len(LANGUAGES)]))
