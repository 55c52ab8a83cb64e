"""Universes of a schema: records in common use, by name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sdcensus.documents.schema.sections import UniverseSection, read_section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.documents.toml.text import toml
from sdcensus.errors import Refused, SpecError
from sdcensus.model.schema.schema import DeclaredUniverse, Schema
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.declared_universes import (
    Mask,
    set_condition,
    undeclared_sets,
    with_universe,
)
from sdcensus.model.spec.predicate import comparisons, parse_condition
from sdcensus.model.spec.record_sets import is_product
from sdcensus.model.spec.universe import Universe


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


#: Signs of conditions as parts of names.
_SIGNS = {">=": "from", "<=": "to", "<": "under", ">": "over", "not in": "not", "in": ""}


def universe_lines(declared: DeclaredUniverse) -> str:
    """A universe as it stands in a schema."""
    label = dict(declared.label.by_language) or declared.condition
    return (
        f"[universe.{declared.name}]\n"
        f"condition = {toml(declared.condition)}\n"
        f"label = {toml(label)}\n"
    )


def check_counted(universe: Universe, schema: Schema, instead: str) -> None:
    """Refuse a condition that is counted although it is no universe of the schema.

    Whatever is counted has noise of its own, and conditions that anybody thinks of would be an
    endless supply of it. So a table is counted for declared codes only.

    Args:
        universe: The condition.
        schema: The schema.
        instead: How the same can be asked as a sum of published values, as a sentence.

    Raises:
        Refused: It is not; the lines that would declare it are part of what is said.
    """
    if universe.everything or not universe.truth.any():
        return
    if not is_product(universe):
        raise Refused(
            "a condition that is counted must be a choice of codes of each of its variables, joined"
            f" by 'and'. {instead}"
        )
    missing = undeclared_sets(universe)
    if missing:
        lines = "\n".join(map(universe_lines, _proposed(missing, schema)))
        raise Refused(
            "the schema declares no such universe, so it is not counted. Add these lines to the"
            " schema and load the census again (numbers that are out stay as they are):\n\n"
            f"{lines}\n{instead}"
        )


def _proposed(
    missing: Sequence[tuple[Variable, Mask]], schema: Schema
) -> Iterator[DeclaredUniverse]:
    taken = {universe.name for universe in schema.universes} | {
        variable.name for variable in schema.variables
    }
    for variable, leaves in missing:
        condition = set_condition(variable, leaves)
        plain = condition
        for sign, word in _SIGNS.items():
            plain = plain.replace(f" {sign} ", f" {word} ")
        name = re.sub(r"\W+", "_", plain).strip("_").lower()
        levels = {level.name for level in variable.levels()}
        while name in taken | levels:
            name += "_2"
        taken.add(name)
        yield DeclaredUniverse(name=name, condition=condition)
