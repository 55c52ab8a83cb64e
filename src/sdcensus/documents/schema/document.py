"""Reading ``schema.toml``: a census described once, checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from sdcensus.documents.schema.identities import read_identities
from sdcensus.documents.schema.keys import read_impossible, read_keys
from sdcensus.documents.schema.sections import CensusSection, KeysSection, read_section
from sdcensus.documents.schema.units import read_entities, read_files
from sdcensus.documents.schema.universes import with_universes
from sdcensus.documents.schema.variables import read_variables
from sdcensus.documents.toml.languages import Languages
from sdcensus.documents.toml.lines import TomlDocument, read_toml
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.schema import CensusInfo, KeyScope, Schema
from sdcensus.model.schema.variable import Entity

_TABLES = ("census", "files", "entity", "keys", "impossible", "identity", "universe", "variable")
_NEEDED = {
    "census": 'add [census] with name = "…"',
    "files": "add an entry such as [files.person]",
    "entity": "add an entry such as [entity.person]",
    "variable": "add an entry such as [variable.sex]",
}


def read_schema(path: str | Path) -> Schema:
    """Read a schema and check it in full, with the code lists that it names.

    The census files themselves are not opened.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    return schema_from_document(read_toml(Path(path), what="schema"))


def schema_from_document(document: TomlDocument) -> Schema:
    """Build the schema that a document describes, or list all its mistakes."""
    mistakes = Mistakes(document)
    data = document.data
    for name in data:
        if name not in _TABLES:
            mistakes.add((name,), unknown("table", name, _TABLES))
    for name, remedy in _NEEDED.items():
        if name not in data:
            mistakes.add((), f"There is no table {name!r}: {remedy}.")
    section = None
    if "census" in data:
        section = read_section(CensusSection, data["census"], ("census",), mistakes)
    languages = Languages(tuple(section.languages)) if section else Languages()
    files = read_files(data.get("files", {}), mistakes)
    entities = read_entities(
        data.get("entity", {}), data.get("files", {}), data.get("variable", {}), mistakes
    )
    keys_section = read_section(KeysSection, data.get("keys", {}), ("keys",), mistakes)
    census = _census(section, keys_section, mistakes)
    units = Schema(census=census, entities=entities, variables=())
    variables = read_variables(
        data.get("variable", {}), _rows_of(data.get("files")), units, languages, mistakes
    )
    described = Schema(
        census=census,
        entities=entities,
        variables=tuple(variables.variables),
        grids=tuple(variables.grids),
        files=tuple(files.values()),
    )
    keys = read_keys(keys_section, described, variables.broken, mistakes)
    impossible = read_impossible(
        data.get("impossible", []), described, variables.broken, languages, mistakes
    )
    identities = read_identities(data.get("identity", []), described, variables.broken, mistakes)
    described = with_universes(
        data.get("universe", {}), described, variables.broken, languages, mistakes
    )
    mistakes.raise_if_any()
    return replace(described, keys=keys, impossible=impossible, identities=identities)


def _census(
    section: CensusSection | None, keys: KeysSection | None, mistakes: Mistakes
) -> CensusInfo:
    if section is None:
        return CensusInfo(name="")
    code = tuple(section.code)
    if not code and section.reference_date:
        code = (section.reference_date,)
    doubtful = {"code", "reference_date"} & section.faulty or keys is None or "scope" in keys.faulty
    if not code and not doubtful and keys is not None and keys.scope is KeyScope.CENSUS:
        mistakes.add(
            ("census",),
            "record keys belong to this census, so it needs 'code' or 'reference_date'. (Keys that"
            ' follow a person through the years: scope = "person-number" in [keys].)',
        )
    return CensusInfo(
        name=section.name,
        country=section.country,
        code=code,
        reference_date=section.reference_date,
        languages=tuple(section.languages) or ("en",),
    )


def _rows_of(files: object) -> Mapping[str, Entity | None]:
    """The kind of unit of each file that is named, even if its entry has mistakes."""
    rows: dict[str, Entity | None] = {}
    for name, one in files.items() if isinstance(files, dict) else ():
        kind = one.get("entity") if isinstance(one, dict) else None
        known = isinstance(kind, str) and kind in list(Entity)
        rows[name] = Entity(str(kind)) if known else None
    return rows
