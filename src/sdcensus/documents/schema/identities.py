"""Identities between units: what a schema says about counts of one kind that are another's."""

from __future__ import annotations

from collections.abc import Collection

from sdcensus.documents.schema.keys import check_one_unit, resolved_condition
from sdcensus.documents.schema.sections import IdentitySection, read_section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.identities import number_of
from sdcensus.model.schema.schema import Schema, UnitIdentity
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.record_sets import is_product


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
