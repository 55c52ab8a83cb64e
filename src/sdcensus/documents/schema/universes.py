"""Universes of a schema: records in common use, by name."""

from __future__ import annotations

from collections.abc import Collection

from sdcensus.documents.schema.sections import UniverseSection, read_section
from sdcensus.documents.toml.languages import Languages
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.spec.declared_universes import with_universe
from sdcensus.model.spec.predicate import comparisons, parse_condition


def with_universes(
    raw: object, schema: Schema, broken: Collection[str], languages: Languages, mistakes: Mistakes
) -> Schema:
    """The schema with the universes of ``[universe.NAME]``.

    Args:
        raw: The table ``universe``.
        schema: The schema without them.
        broken: Names of variables that have mistakes; conditions about them are passed over.
        languages: Of the census.
        mistakes: Where mistakes are noted.
    """
    if not isinstance(raw, dict):
        mistakes.add(("universe",), "write one table for each universe: [universe.adults]")
        return schema
    for name, entry in raw.items():
        where: KeyPath = ("universe", name)
        section = read_section(UniverseSection, entry, where, mistakes)
        if section is None or section.faulty:
            continue
        declared = DeclaredUniverse(
            name=name,
            condition=section.condition,
            label=languages.text(section.label, (*where, "label"), mistakes),
            description=languages.text(section.description, (*where, "description"), mistakes),
        )
        try:
            named = comparisons(parse_condition(section.condition))
            if not {compared.operand.name.text for compared in named} & set(broken):
                schema = with_universe(schema, declared)
        except SpecError as error:
            mistakes.add((*where, "condition"), str(error))
    return schema
