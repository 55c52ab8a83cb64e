"""What everybody may know about a file: from a release document, or from published tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.mapping.harmonisation import read_harmonisation
from sdcensus.documents.release.document import read_release
from sdcensus.documents.release.groupings import read_groupings
from sdcensus.errors import InputError
from sdcensus.formats.read.tables import scan_published
from sdcensus.microdata.release.words import census_texts, languages_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.harmonisation import Harmonisation
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.resolution import file_design
from sdcensus.model.release.structure import PublicStructure
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.store.census_store import read_schema
from sdcensus.store.registry import Registry
from sdcensus.store.registry_files import ABOUT_FILE

#: What a file is called that has no document.
NAME = "file"
_IN_HOUSEHOLD = (Entity.HOUSEHOLD, Entity.DWELLING, Entity.BUILDING)


@dataclass(frozen=True, slots=True, eq=False)
class PlannedStructure:
    """The structure that a release document plans.

    Attributes:
        structure: The structure.
        layout: How its units stand in files.
        harmonisation: Its international codes; ``None`` for none.
    """

    structure: PublicStructure
    layout: Layout = Layout.LINKED
    harmonisation: Harmonisation | None = None


def published_tables(folder: str | Path, progress: Progress = no_progress) -> list[AnyTable]:
    """The tables of a published folder or of a registry.

    Raises:
        InputError: There are none.
    """
    path = Path(folder)
    if not (path / ABOUT_FILE).is_file():
        counts = scan_published(path, progress=progress).of_counts(path)
        return [published.table for published in counts.tables]
    registry = Registry.open(path)
    tables = [registry.table(entry) for entry in registry.latest() if entry.has_values]
    if not tables:
        raise InputError(f"The registry {path} holds no table with values. Publish tables first.")
    return tables


def planned_structure(document: str | Path, design: str = "") -> PlannedStructure:
    """The structure of a design: the document, the code lists of its census, and nothing else.

    No record of the census is looked at; its columns may even be elsewhere.

    Raises:
        DocumentError: The document has mistakes.
        SpecError: There is no such design, or it does not fit the census.
    """
    plan = read_release(document, read_schema)
    schema = read_schema(plan.store)
    chosen = plan.design(design)
    approved = plan.thresholds.groupings
    resolved = file_design(plan, chosen, schema)
    if approved is not None:
        every = [file_design(plan, each, schema) for each in plan.designs]
        resolved = file_design(plan, chosen, schema, read_groupings(approved, every))
    census, country = census_texts(schema)
    structure = PublicStructure(
        name=plan.name,
        title=plan.title or census,
        languages=languages_of(plan, schema),
        census=census,
        country=country,
        unit=resolved.unit,
        variables=resolved.variables,
        persons=any(spec.entity is Entity.PERSON for spec in schema.entities),
        fraction=chosen.fraction,
        licence=plan.licence,
        reference_date=schema.census.reference_date,
        producer=plan.producer,
        contact=plan.contact,
        flags=plan.making.imputation_flags,
        design=resolved,
    )
    mapping = plan.making.harmonisation
    international = None if mapping is None else read_harmonisation(mapping, schema)
    return PlannedStructure(structure, plan.making.layout, international)


def structure_of_tables(tables: Sequence[AnyTable]) -> PublicStructure:
    """The structure that published tables tell: their variables, each at its finest level."""
    finest: dict[str, tuple[Variable, Level]] = {}
    for table in tables:
        for axis in table.spec.axes:
            level = axis.levels[0]
            known = finest.get(axis.variable.name)
            if known is None or len(level.codes) > len(known[1].codes):
                finest[axis.variable.name] = (axis.variable, level)
    kinds = {table.spec.of for table in tables}
    entities = {variable.entity for variable, _ in finest.values()}
    households = Entity.HOUSEHOLD in kinds or bool(entities & set(_IN_HOUSEHOLD))
    persons = bool((kinds | entities) & {Entity.PERSON, Entity.FAMILY}) or not households
    variables = tuple(
        FileVariable(
            name=name,
            source=variable,
            entity=_place(variable.entity, households=households, persons=persons),
            level=level,
        )
        for name, (variable, level) in sorted(finest.items())
    )
    return PublicStructure(
        name=NAME,
        title=Text.named("release_utility.dummy.tables"),
        languages=_languages(variables),
        census=Text(),
        country=Text(),
        unit=Entity.HOUSEHOLD if households else Entity.PERSON,
        variables=variables,
        persons=persons,
    )


def _place(entity: Entity, *, households: bool, persons: bool) -> Entity:
    held = entity in _IN_HOUSEHOLD
    return Entity.HOUSEHOLD if households and (held or not persons) else Entity.PERSON


def _languages(variables: Sequence[FileVariable]) -> tuple[str, ...]:
    spoken = {
        language
        for variable in variables
        for code in variable.level.codes
        for language, _ in code.label.by_language
    }
    return tuple(language for language in LANGUAGES if language in spoken) or LANGUAGES[:1]
