"""The reference pages name everything that there is, and nothing else."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from enum import StrEnum
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

import sdcensus
from sdcensus.cli.shared.run import OTHER_EXIT_CODES
from sdcensus.documents.schema import sections
from sdcensus.errors import SdcensusError
from sdcensus.model.schema.file_problems import FATAL, OnProblem, ProblemKind
from sdcensus.model.schema.schema import Combine, HouseholdKey, KeyScope
from sdcensus.model.schema.source import FORMAT_OF_ENDING, FileFormat
from sdcensus.model.schema.variable import NEVER_STORED, EmptyField, Entity, Role
from tests.docs.pages import ROOT, blocks, page_text, rows, section, words

SECTIONS: dict[str, type[BaseModel]] = {
    "## `[census]`": sections.CensusSection,
    "## `[files.NAME]`": sections.FileSection,
    "## `[entity.KIND]`": sections.EntitySection,
    "## `[keys]`": sections.KeysSection,
    "### `[keys.columns]`": sections.KeyColumnSection,
    "## `[[impossible]]`": sections.ImpossibleSection,
    "## `[[identity]]`": sections.IdentitySection,
    "## `[universe.NAME]`": sections.UniverseSection,
    "## `[variable.NAME]`": sections.VariableSection,
    "### `[[variable.NAME.hierarchy]]`": sections.HierarchySection,
    "### `grid`": sections.GridSection,
    "### `[variable.NAME.file_units]`": sections.FileUnitSection,
}


def own_part(heading: str, page: str = "schema.md") -> str:
    """What stands below a heading before the next one of any depth."""
    lines = section(page_text(page), heading).splitlines()
    until = next((at for at, line in enumerate(lines) if line.startswith("##")), len(lines))
    return "\n".join(lines[:until])


def test_every_kind_of_table_has_its_part() -> None:
    kinds = {
        var
        for var in vars(sections).values()
        if isinstance(var, type) and issubclass(var, sections.Section)
    }
    assert kinds - {sections.Section} == set(SECTIONS.values())


@pytest.mark.parametrize("heading", SECTIONS)
def test_settings_are_those_of_the_schema(heading: str) -> None:
    fields = SECTIONS[heading].model_fields
    documented = {words(cells[0])[0]: cells for cells in rows(own_part(heading))}
    assert set(documented) == set(fields)
    for name, field in fields.items():
        _, meaning, default = documented[name]
        assert meaning
        assert (default == "required") == field.is_required(), name


def shown_default(value: object) -> str:
    """A default as the page writes it; empty where there is nothing to write."""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else ""


@pytest.mark.parametrize("heading", SECTIONS)
def test_defaults_are_those_of_the_schema(heading: str) -> None:
    documented = {words(cells[0])[0]: cells[2] for cells in rows(own_part(heading))}
    fields = SECTIONS[heading].model_fields
    wrong = {
        name: field.default
        for name, field in fields.items()
        if not field.is_required() and shown_default(field.default) not in documented[name]
    }
    assert wrong == {}


TABLES: dict[str, type[BaseModel]] = {
    "census": sections.CensusSection,
    "files": sections.FileSection,
    "entity": sections.EntitySection,
    "keys": sections.KeysSection,
    "impossible": sections.ImpossibleSection,
    "identity": sections.IdentitySection,
    "universe": sections.UniverseSection,
    "variable": sections.VariableSection,
}


def entries(table: str, content: Any) -> list[Any]:
    """The tables of settings that stand under the name of a table."""
    if table in ("census", "keys"):
        return [content]
    return list(content) if isinstance(content, list) else list(content.values())


@pytest.mark.parametrize(
    "page", ["files.md", "first-census.md", "keys-and-secrets.md", "schema.md"]
)
def test_examples_of_settings_are_accepted(page: str) -> None:
    checked = [
        TABLES[table].model_validate(entry)
        for block in blocks(page, "toml")
        for table, content in tomllib.loads(block.text).items()
        if table != "roles"  # free of settings: names of variables
        for entry in entries(table, content)
    ]
    assert checked


@pytest.mark.parametrize("kind", [Entity, FileFormat, Role, EmptyField, KeyScope, HouseholdKey])
def test_every_word_that_a_setting_takes_is_in_the_schema_page(kind: type[StrEnum]) -> None:
    page = page_text("schema.md")
    assert [word for word in kind if f"`{word}`" not in page and f'`"{word}"`' not in page] == []


def test_ways_to_combine_keys_are_in_the_schema_page() -> None:
    assert all(f'`"{word}"`' in page_text("schema.md") for word in Combine)


def test_roles_say_what_is_stored() -> None:
    table = rows(section(page_text("schema.md"), "### Roles"))
    stored = {words(cells[0])[0]: cells[2].startswith("yes") for cells in table}
    assert stored == {role.value: role not in NEVER_STORED for role in Role}


# ---------------------------------------------------------------- other pages


def test_formats_and_endings_are_those_that_are_read() -> None:
    table = rows(section(page_text("files.md"), "## Formats"))
    documented = {words(cells[0])[0]: set(words(cells[1])) for cells in table}
    assert documented == {
        form.value: {ending for ending, one in FORMAT_OF_ENDING.items() if one is form}
        for form in FileFormat
    }


def test_problems_are_those_that_a_load_finds() -> None:
    table = rows(section(page_text("problems.md"), "## Kinds of problems"))
    documented = {cells[0]: cells[3] for cells in table}
    assert documented == {
        kind.value: "always refused" if kind in FATAL else documented[kind.value]
        for kind in ProblemKind
    }
    for kind in set(ProblemKind) - FATAL:
        assert documented[kind.value] not in ("", "always refused")


def test_ways_to_deal_with_problems_are_in_the_page() -> None:
    table = rows(section(page_text("problems.md"), "## Refuse, or count as missing"))
    assert {words(cells[0])[0] for cells in table} == {f"--on-problem {one}" for one in OnProblem}


def errors_below(above: type[SdcensusError]) -> Iterator[type[SdcensusError]]:
    for below in above.__subclasses__():
        yield below
        yield from errors_below(below)


def test_exit_codes_are_those_of_the_errors() -> None:
    table = rows(section(page_text("problems.md"), "## Exit codes"))
    codes = {error.exit_code for error in errors_below(SdcensusError)}
    assert sorted(int(cells[0]) for cells in table) == sorted(codes | set(OTHER_EXIT_CODES))


@pytest.mark.parametrize(
    ("heading", "module"),
    [
        ("## Every name", sdcensus),
        ("### What is in `sc.census`", sdcensus.census),
        ("### What is in `sc.confidential`", sdcensus.confidential),
    ],
)
def test_every_public_name_is_in_the_python_page(heading: str, module: ModuleType) -> None:
    table = rows(own_part(heading, "python.md"))
    documented = [words(cells[0])[0].removeprefix("sc.").partition("(")[0] for cells in table]
    assert sorted(documented) == dir(module)
    for name in documented:
        assert getattr(module, name) is not None


def test_commands_that_speak_english_only_are_listed() -> None:
    """Those without ``--language``; the page names a whole group where it has none at all."""
    pages = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").split("\n## sdcensus ")
    texts = {text.partition("\n")[0].strip("`"): text for text in pages[1:]}
    single = {name for name, text in texts.items() if "\nCommands:" not in text}
    english = {name for name in single if "--language" not in texts[name]}
    part = section(page_text("languages.md"), "### What is in English only")
    line = next(line for line in part.split("\n- ") if "commands without" in line)
    listed = set(words(line)) - {"--language"}
    speaking = {"secret new"}
    told = {
        name
        for name in single
        if (name in listed or name.partition(" ")[0] in listed) and name not in speaking
    }
    assert told == english
