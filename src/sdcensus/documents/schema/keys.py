"""How records get their keys, and which combinations are impossible."""

from __future__ import annotations

from collections.abc import Collection

from sdcensus.documents.schema.sections import ImpossibleSection, KeysSection, read_section
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.errors import SpecError, unknown
from sdcensus.model.schema.edit_rules import NumberRange, holder_of
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import (
    LARGEST_MODULUS,
    MOST_DIGITS,
    HouseholdKey,
    Impossible,
    KeyColumn,
    KeyRules,
    KeySpace,
    Schema,
)
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.predicate import comparisons, parse_condition
from sdcensus.model.spec.universe import Universe, unit_with, universe_of


def read_keys(
    section: KeysSection | None, schema: Schema, broken: Collection[str], mistakes: Mistakes
) -> KeyRules:
    """The rules of ``[keys]``.

    Args:
        section: The table, or ``None`` if it has mistakes.
        schema: The schema without its keys.
        broken: Names of variables that have mistakes; conditions about them are passed over.
        mistakes: Where mistakes are noted.
    """
    if section is None:
        return KeyRules()
    columns = _columns(section, schema, mistakes)
    if section.household is HouseholdKey.REFERENCE_PERSON:
        _check_reference_person(section, schema, broken, mistakes)
    elif section.reference_person:
        mistakes.add(
            ("keys", "reference_person"),
            "'reference_person' is used only with household = \"reference-person\".",
        )
    return KeyRules(
        scope=section.scope,
        household=section.household,
        reference_person=section.reference_person,
        space=_space(section, mistakes),
        columns=columns,
    )


def _columns(
    section: KeysSection, schema: Schema, mistakes: Mistakes
) -> tuple[tuple[Entity, KeyColumn], ...]:
    """The columns that hold keys already."""
    known = [spec.entity.value for spec in schema.entities]
    columns = []
    for name, column in section.columns.items():
        where: KeyPath = ("keys", "columns", name)
        if name not in list(Entity) or (known and name not in known):
            mistakes.add(where, f"columns: {unknown('entity', name, known or list(Entity))}")
            continue
        if name == Entity.HOUSEHOLD and section.household is HouseholdKey.REFERENCE_PERSON:
            mistakes.add(
                where,
                "a household cannot have a key column and take the key of its reference person.",
            )
        if known and schema.entity(Entity(name)).derived_from is not None:
            mistakes.add(
                where,
                f"{Entity(name).plural} have no file of their own that could hold their keys.",
            )
        columns.append((Entity(name), KeyColumn(column.column, column.digits)))
    return tuple(columns)


def _space(section: KeysSection, mistakes: Mistakes) -> KeySpace:
    """The key space, which decimal keys fix by their number of digits."""
    digits = {
        name: column.digits for name, column in section.columns.items() if column.digits is not None
    }
    whole = [name for name, column in section.columns.items() if column.digits is None]
    modulus = section.modulus or LARGEST_MODULUS
    for name, number in digits.items():
        where: KeyPath = ("keys", "columns", name, "digits")
        if number > MOST_DIGITS:
            mistakes.add(
                where,
                f"keys with {number} digits are too long to be summed exactly; at most"
                f" {MOST_DIGITS} are possible. Cut the column to its first {MOST_DIGITS} digits, or"
                " leave [keys.columns] out and let the keys come from the record ids.",
            )
        elif number != next(iter(digits.values())):
            mistakes.add(where, "all keys of a census need the same number of digits.")
        elif section.modulus not in (None, 10**number):
            mistakes.add(
                ("keys", "modulus"),
                f"keys with {number} digits have the modulus {10**number}; leave 'modulus' out.",
            )
        else:
            modulus = 10**number
    if digits and whole and section.modulus is None:
        mistakes.add(
            ("keys", "columns", whole[0]),
            "these keys are whole numbers, others are decimals. All keys have to lie below the"
            f" same modulus: write modulus = {modulus} if they do.",
        )
    try:
        return KeySpace(modulus=modulus, combine=section.combine)
    except SpecError as error:
        mistakes.add(("keys", "combine"), str(error))
        return KeySpace()


def _check_reference_person(
    section: KeysSection, schema: Schema, broken: Collection[str], mistakes: Mistakes
) -> None:
    where: KeyPath = ("keys", "household")
    if not section.reference_person:
        mistakes.add(
            where,
            "the condition that finds the reference person is missing, such as"
            ' reference_person = "relationship == 1".',
        )
    kinds = [spec.entity for spec in schema.entities]
    if kinds:
        for needed in (Entity.PERSON, Entity.HOUSEHOLD):
            if needed not in kinds:
                mistakes.add(
                    where, f'"reference-person" needs {needed.plural}: there is no entity {needed}.'
                )
        if {Entity.PERSON, Entity.HOUSEHOLD} <= set(kinds) and not schema.path(
            Entity.PERSON, Entity.HOUSEHOLD
        ):
            mistakes.add(where, '"reference-person" needs persons that lie within a household.')
    if section.reference_person:
        path: KeyPath = ("keys", "reference_person")
        found = resolved_condition(section.reference_person, path, schema, broken, mistakes)
        for variable in found[1] if found else ():
            if variable.entity is not Entity.PERSON:
                mistakes.add(
                    path,
                    f"{variable.name!r} describes {variable.entity.plural}; the condition has to be"
                    " about persons.",
                )


def read_impossible(
    raw: object,
    schema: Schema,
    broken: Collection[str],
    languages: Languages,
    mistakes: Mistakes,
) -> tuple[Impossible, ...]:
    """The combinations of ``[[impossible]]``, each a condition that the schema understands."""
    if not isinstance(raw, list):
        mistakes.add(("impossible",), "write it with two pairs of brackets: [[impossible]]")
        return ()
    rules = []
    for number, one in enumerate(raw):
        where: KeyPath = ("impossible", number)
        section = read_section(ImpossibleSection, one, where, mistakes)
        if section is None:
            continue
        path = (*where, "when")
        found = resolved_condition(section.when, path, schema, broken, mistakes)
        if found is not None:
            universe, variables = found
            if universe.everything:
                mistakes.add(path, "the condition is true for every record.")
            check_one_unit(variables, path, schema, mistakes)
        label = languages.text(section.label, (*where, "label"), mistakes)
        relation = _relation(section, where, schema, broken, mistakes)
        rules.append(Impossible(section.when, label, relation))
    return tuple(rules)


def _relation(
    section: ImpossibleSection,
    where: KeyPath,
    schema: Schema,
    broken: Collection[str],
    mistakes: Mistakes,
) -> Relation | None:
    """What a rule says about another record; ``None`` for a rule about one."""
    beside = ("within", "gap", "less_than", "more_than")
    said = [name for name in beside if getattr(section, name) not in (None, "")]
    if not section.beside:
        if said and "beside" not in section.faulty:
            mistakes.add(
                (*where, said[0]),
                f"{said[0]!r} is about two records: say which the other one is, such as"
                ' beside = "relationship == 1".',
            )
        return None
    limited = section.less_than is not None or section.more_than is not None
    if section.gap and not limited and not {"less_than", "more_than"} & section.faulty:
        mistakes.add((*where, "gap"), "say how large the gap is that cannot be: less_than = 12.")
    if limited and not section.gap and "gap" not in section.faulty:
        mistakes.add((*where, said[-1]), 'say of which numbers: gap = "age".')
    relation = Relation(
        beside=section.beside,
        within=section.within,
        gap=section.gap,
        less_than=section.less_than,
        more_than=section.more_than,
    )
    _check_relation(section.when, relation, where, schema, broken, mistakes)
    return relation


def _check_relation(
    when: str,
    relation: Relation,
    where: KeyPath,
    schema: Schema,
    broken: Collection[str],
    mistakes: Mistakes,
) -> None:
    """Both records are of one kind, something holds them, and a gap is one between numbers."""
    variables = []
    for condition, name in ((when, "when"), (relation.beside, "beside")):
        resolved = resolved_condition(condition, (*where, name), schema, broken, mistakes)
        if resolved is None:
            return
        variables += resolved[1]
    gap: KeyPath = (*where, "gap")
    if relation.gap:
        if relation.gap in broken:
            return
        try:
            number = schema.variable(relation.gap)
        except SpecError as error:
            mistakes.add(gap, str(error))
            return
        if not number.is_axis or not NumberRange.of(number).has_numbers:
            mistakes.add(gap, f"the codes of {relation.gap!r} are not numbers.")
        variables.append(number)
    check_one_unit(variables, (*where, "beside"), schema, mistakes)
    try:
        entity = unit_with(variables, schema)
        holder_of(entity, relation, schema)
    except StopIteration:
        return
    except SpecError as error:
        mistakes.add((*where, "beside" if relation.within is None else "within"), str(error))
        return
    if relation.gap and number.entity is not entity:
        mistakes.add(
            gap,
            f"{relation.gap!r} describes {number.entity.plural}, and the rule is about two"
            f" {entity.plural}.",
        )


def resolved_condition(
    condition: str,
    path: KeyPath,
    schema: Schema,
    broken: Collection[str],
    mistakes: Mistakes,
) -> tuple[Universe, list[Variable]] | None:
    """The universe of a condition and the variables in it, or ``None`` and a mistake.

    A condition about a variable that has mistakes of its own says nothing new.
    """
    try:
        names = {compared.operand.name.text for compared in comparisons(parse_condition(condition))}
        if names & set(broken):
            return None
        universe = universe_of(condition, schema)
    except SpecError as error:
        mistakes.add(path, str(error))
        return None
    return universe, [schema.variable(name) for name in sorted(names)]


def check_one_unit(
    variables: list[Variable], path: KeyPath, schema: Schema, mistakes: Mistakes
) -> None:
    """A combination is about one unit: its own variables and those of what holds it."""
    used = {variable.entity for variable in variables}
    kinds = [spec.entity for spec in schema.entities]
    if kinds and not any(used <= set(schema.lineage(kind)) for kind in kinds):
        listed = ", ".join(f"{variable.name} ({variable.entity})" for variable in variables)
        mistakes.add(path, f"no unit has all of these variables: {listed}.")
