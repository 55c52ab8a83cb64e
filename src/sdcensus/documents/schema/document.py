"""Reading ``schema.toml``: a census described once, checked as a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from sdcensus.documents.schema.amounts import check_amounts
from sdcensus.documents.schema.keys import (
    check_one_unit,
    read_impossible,
    read_keys,
    resolved_condition,
)
from sdcensus.documents.schema.roles import read_roles
from sdcensus.documents.schema.sections import (
    CensusSection,
    IdentitySection,
    KeysSection,
    read_section,
)
from sdcensus.documents.schema.units import read_entities, read_files
from sdcensus.documents.schema.universes import with_universes
from sdcensus.documents.schema.variables import read_variables
from sdcensus.documents.toml.lines import KeyPath, TomlDocument, read_toml
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.identities import number_of
from sdcensus.model.schema.schema import CensusInfo, KeyScope, Schema, UnitIdentity
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.record_sets import is_product
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure

_TABLES = (
    *("census", "files", "entity", "keys", "impossible", "identity", "universe", "variable"),
    "roles",
)
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
    census = _census(section, keys_section, languages, mistakes)
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
    if census.measure is Measure.WEIGHTED and not described.weighted and not variables.broken:
        mistakes.add(
            ("census", "measure"),
            'weighted counts need a weight: a [variable.NAME] with role = "weight".',
        )
    check_amounts(described, variables.broken, mistakes)
    keys = read_keys(keys_section, described, variables.broken, mistakes)
    impossible = read_impossible(
        data.get("impossible", []), described, variables.broken, languages, mistakes
    )
    identities = read_identities(data.get("identity", []), described, variables.broken, mistakes)
    described = with_universes(
        data.get("universe", {}), described, variables.broken, languages, mistakes
    )
    # A variable with mistakes of its own is none that nobody knows.
    known = None if variables.broken else described
    roles = read_roles(data.get("roles", {}), known, mistakes)
    mistakes.raise_if_any()
    return replace(described, keys=keys, impossible=impossible, identities=identities, roles=roles)


def _census(
    section: CensusSection | None,
    keys: KeysSection | None,
    languages: Languages,
    mistakes: Mistakes,
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
    names = languages.text(section.name, ("census", "name"), mistakes)
    countries = languages.text(section.country, ("census", "country"), mistakes)
    return CensusInfo(
        name=names.show(languages.first),
        country=countries.show(languages.first),
        names=names if len(names.by_language) > 1 else Text(),
        countries=countries if len(countries.by_language) > 1 else Text(),
        code=code,
        reference_date=section.reference_date,
        languages=tuple(section.languages) or ("en",),
        measure=section.measure,
    )


def _rows_of(files: object) -> Mapping[str, Entity | None]:
    """The kind of unit of each file that is named, even if its entry has mistakes."""
    rows: dict[str, Entity | None] = {}
    for name, one in files.items() if isinstance(files, dict) else ():
        kind = one.get("entity") if isinstance(one, dict) else None
        known = isinstance(kind, str) and kind in list(Entity)
        rows[name] = Entity(str(kind)) if known else None
    return rows


def read_identities(
    raw: object, schema: Schema, broken: Collection[str], mistakes: Mistakes
) -> tuple[UnitIdentity, ...]:
    """The identities of ``[[identity]]``; checks those of ``counts`` of variables as well.

    Args:
        raw: The list ``identity``.
        schema: The schema without them.
        broken: Names of variables that have mistakes; conditions about them are passed over.
        mistakes: Where mistakes are noted.
    """
    for variable in schema.variables:
        _check_counts(variable, schema, mistakes)
    if not isinstance(raw, list):
        mistakes.add(("identity",), "write it with two pairs of brackets: [[identity]]")
        return ()
    unit_identities = []
    for number, entry in enumerate(raw):
        where: KeyPath = ("identity", number)
        section = read_section(IdentitySection, entry, where, mistakes)
        if section is None or section.faulty:
            continue
        before = len(mistakes.found)
        _check_units(section.each, section.holds, (*where, "holds"), schema, mistakes)
        if len(mistakes.found) == before:
            _check_condition(section, (*where, "when"), schema, broken, mistakes)
        unit_identities.append(
            UnitIdentity(
                each=section.each, holds=section.holds, when=section.when, times=section.times
            )
        )
    return tuple(unit_identities)


def _check_counts(variable: Variable, schema: Schema, mistakes: Mistakes) -> None:
    where: KeyPath = ("variable", variable.name)
    if variable.counts is None:
        if variable.counts_open:
            mistakes.add(
                (*where, "counts_open"),
                "'counts_open' belongs to 'counts': say which units the codes are numbers of, such"
                ' as counts = "persons".',
            )
        return
    _check_units(variable.entity, variable.counts, (*where, "counts"), schema, mistakes)
    known = [code.code for code in variable.codes if not code.is_missing]
    for at, code in enumerate(variable.counts_open):
        if code not in known:
            mistakes.add((*where, "counts_open", at), unknown("code", code, known))
    if not any(number_of(variable, code) for code in variable.codes):
        mistakes.add(
            (*where, "counts"),
            "no code is a whole number from 1 on, so none says how many units there are.",
        )


def _check_units(
    each: Entity, holds: Entity, where: KeyPath, schema: Schema, mistakes: Mistakes
) -> None:
    """Whether units of the one kind lie in units of the other."""
    known = [spec.entity for spec in schema.entities]
    if not known:  # entities have mistakes of their own
        return
    for kind in (each, holds):
        if kind not in known:
            mistakes.add(where, unknown("entity", kind.value, [entity.value for entity in known]))
            return
    if each is holds or each not in schema.lineage(holds):
        mistakes.add(where, f"{holds.plural} do not lie in {each.plural}.")


def _check_condition(
    section: IdentitySection,
    where: KeyPath,
    schema: Schema,
    broken: Collection[str],
    mistakes: Mistakes,
) -> None:
    resolved = resolved_condition(section.when, where, schema, broken, mistakes)
    if resolved is None:
        return
    universe, variables = resolved
    if universe.everything or not universe.truth.any():
        always = "every" if universe.everything else "no"
        mistakes.add(where, f"the condition is true for {always} record.")
        return
    if not is_product(universe):
        mistakes.add(
            where,
            "the condition must be codes of one variable, or of several that are joined by 'and'.",
        )
    check_one_unit(variables, where, schema, mistakes)
    outside = [
        variable.name
        for variable in variables
        if variable.entity not in schema.lineage(section.holds)
    ]
    if outside:
        mistakes.add(where, f"{section.holds.plural} do not have {', '.join(outside)}.")
