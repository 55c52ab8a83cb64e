"""A schema as JSON, for the manifest of a store: everything but where the files lie.

The form is compact (ranges and grids by their bounds, levels as codes and one group number for
each leaf) and canonical: the same schema always gives the same text, so that its digest tells two
schemas apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from sdcensus.errors import SdcensusError, StoreError
from sdcensus.model.schema.code_lists import LONGEST_RANGE, range_codes
from sdcensus.model.schema.grids import GridSpec, grid_hierarchies, leaf_codes
from sdcensus.model.schema.id_forms import IdForm
from sdcensus.model.schema.number_codes import LARGEST_NUMBER
from sdcensus.model.schema.relation import Relation
from sdcensus.model.schema.schema import (
    CensusInfo,
    DeclaredUniverse,
    HouseholdKey,
    Impossible,
    KeyColumn,
    KeyRules,
    KeyScope,
    KeySpace,
    Schema,
    UnitIdentity,
)
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.store.json_values import (
    checked,
    listed,
    optional,
    string,
    text_from_json,
    text_to_json,
    whole,
)

#: The version of this form; a reader refuses what is newer than itself.
SCHEMA_VERSION = 2
#: The version of schemas without universes, which versions of before can read as well.
_WITHOUT_UNIVERSES = 1

Json = dict[str, Any]

_KINDS = {CodeKind.VALID: 0, CodeKind.NOT_STATED: 1, CodeKind.NOT_APPLICABLE: 2}
#: What an entry of a code says where it says nothing: code, label, kind, lower and upper bound.
_NO_ENTRY: tuple[int | None, ...] = (None, None, 0, None, None)
_KIND_OF = {number: kind for kind, number in _KINDS.items()}


def schema_to_json(schema: Schema) -> Json:
    """The schema as plain values, without ``files`` and the ``source`` of variables."""
    plain = _plain(schema)
    # Stores that were written before these could be declared keep their digest.
    if schema.identities:
        plain["identities"] = [
            [identity.each.value, identity.holds.value, identity.when, identity.times]
            for identity in schema.identities
        ]
    if schema.universes:
        plain["universes"] = [
            [each.name, each.condition, *map(text_to_json, (each.label, each.description))]
            for each in schema.universes
        ]
    if schema.census.measure is not None:
        plain["census"]["measure"] = schema.census.measure.value
    if schema.census.weights_only:
        plain["census"]["weights_only"] = True
    if schema.roles:
        plain["roles"] = [list(role) for role in schema.roles]
    return plain


def _plain(schema: Schema) -> Json:
    return {
        "version": SCHEMA_VERSION if schema.universes else _WITHOUT_UNIVERSES,
        "census": {
            "name": schema.census.name,
            "country": schema.census.country,
            "code": list(schema.census.code),
            "reference_date": schema.census.reference_date,
            "languages": list(schema.census.languages),
            **_if_any("names", schema.census.names),
            **_if_any("countries", schema.census.countries),
        },
        "entities": [_entity_to_json(entity) for entity in schema.entities],
        "variables": [_variable_to_json(variable, schema.grids) for variable in schema.variables],
        "keys": {
            "scope": schema.keys.scope.value,
            "household": schema.keys.household.value,
            "reference_person": schema.keys.reference_person,
            "space": schema.keys.space.to_json(),
            "columns": [[of.value, key.column, key.digits] for of, key in schema.keys.columns],
        },
        "impossible": [_impossible_to_json(rule) for rule in schema.impossible],
        "grids": [grid.to_json() for grid in schema.grids],
    }


def schema_from_json(document: Mapping[str, Any]) -> Schema:
    """Read what ``schema_to_json`` made.

    Raises:
        StoreError: It is damaged, or was written by a newer version.
    """
    try:
        version = whole(document["version"])
        if version > SCHEMA_VERSION:
            raise StoreError(
                "The schema of this store was written by a newer version of sdcensus. Update"
                " sdcensus to read it."
            )
        return _schema(document)
    except StoreError:
        raise
    except (SdcensusError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        detail = f": {error}" if isinstance(error, SdcensusError) else ""
        raise StoreError(
            f"The schema in this store is damaged{detail}. Load the census again."
        ) from None


def canonical_json(schema: Schema) -> str:
    """The schema as the one text that stands for it."""
    return json.dumps(schema_to_json(schema), ensure_ascii=False, separators=(",", ":"))


def schema_digest(schema: Schema) -> str:
    """BLAKE2b-128 of the canonical text, in hexadecimal."""
    return hashlib.blake2b(canonical_json(schema).encode(), digest_size=16).hexdigest()


# ---------------------------------------------------------------- writing


def _impossible_to_json(rule: Impossible) -> list[Any]:
    relation = [] if rule.relation is None else [rule.relation.to_json()]
    return [rule.when, text_to_json(rule.label), *relation]


def _if_any(name: str, text: Text) -> Json:
    """A member for a text in several languages, and none for a schema without one."""
    return {name: text_to_json(text)} if text else {}


def _entity_to_json(spec: EntitySpec) -> Json:
    plain: Json = {
        "entity": spec.entity.value,
        "id": list(spec.id),
        "within": spec.within.value if spec.within else None,
        "link": list(spec.link),
        "optional": spec.optional,
        "from_content": spec.from_content,
        "derived_from": spec.derived_from.value if spec.derived_from else None,
    }
    # Stores that were written before a form could be declared keep their digest.
    if spec.form.declared:
        plain["form"] = [list(spec.form.widths), spec.form.any_case]
    return plain


def _variable_to_json(variable: Variable, grids: tuple[GridSpec, ...]) -> Json:
    """A variable without what has its default, so that short ones stay short."""
    entries: Json = {
        "name": variable.name,
        "entity": variable.entity.value,
        "role": variable.role.value if variable.role else None,
        "label": text_to_json(variable.label),
        "description": text_to_json(variable.description),
        "topic": text_to_json(variable.topic),
        "unit": variable.unit or None,
        "unit_by_language": text_to_json(variable.unit_by_language),
        "continuous": variable.continuous or None,
        "decimals": variable.decimals or None,
        "main": variable.main,
        "map": variable.map or None,
        "imputed": variable.imputed or None,
        "counts": variable.counts.value if variable.counts else None,
        "counts_open": list(variable.counts_open) or None,
        "codes_from_records": variable.codes_from_records or None,
        "owner": variable.owner or None,
        "waiver": variable.waiver or None,
        "leaf_level": variable.leaf_level if variable.leaf_level != variable.name else None,
        "level_labels": [[name, text_to_json(text)] for name, text in variable.level_labels]
        or None,
        "codes": _codes_to_json(variable, grids) or None,
        "hierarchies": _hierarchies_to_json(variable, grids) or None,
    }
    return {name: value for name, value in entries.items() if value is not None}


def _codes_to_json(variable: Variable, grids: tuple[GridSpec, ...]) -> list[Any]:
    """Codes one by one; numbers in a row as ``{"range": …}`` and a grid as ``{"grid": …}``."""
    codes = variable.codes
    for number, grid in enumerate(grids):
        if grid.variable == variable.name:
            squares = grid.squares_of(codes)
            if codes == leaf_codes(grid, squares):
                inhabited = {"squares": squares.tolist()} if grid.inhabited else {}
                return [{"grid": number, **inhabited}]
    numbers = sum(code.lower is not None for code in codes)
    low = codes[0].lower if codes else None
    if low is not None and 2 < numbers <= LONGEST_RANGE and abs(low) < LARGEST_NUMBER // 2:
        high = low + numbers - 1
        if codes[:numbers] == range_codes(low, high):
            return [{"range": [low, high]}, *map(_code_to_json, codes[numbers:])]
    return [_code_to_json(code) for code in codes]


def _code_to_json(code: Code) -> list[Any]:
    """Code, label, kind and bounds, up to the last one that says something."""
    entry = [code.code, text_to_json(code.label), _KINDS[code.kind], code.lower, code.upper]
    while len(entry) > 1 and entry[-1] == _NO_ENTRY[len(entry) - 1]:
        entry.pop()
    return entry


def _hierarchies_to_json(variable: Variable, grids: tuple[GridSpec, ...]) -> list[Json]:
    """Trees one by one; that of the coarser squares of a grid as ``{"grid": …}``."""
    numbers = {
        trees[0]: number
        for number, grid in enumerate(grids)
        if grid.variable == variable.name
        and (trees := grid_hierarchies(grid, grid.squares_of(variable.codes)))
    }
    return [
        {"grid": numbers[tree]} if tree in numbers else _hierarchy_to_json(tree)
        for tree in variable.hierarchies
    ]


def _hierarchy_to_json(hierarchy: Hierarchy) -> Json:
    return {
        "name": hierarchy.name,
        "levels": [
            {
                "name": level.name,
                "codes": [_code_to_json(code) for code in level.codes],
                "group": list(level.group),
                **({"universe": True} if level.universe else {}),
            }
            for level in hierarchy.levels
        ],
    }


# ---------------------------------------------------------------- reading


def _kind_of_unit(value: object) -> Entity:
    return Entity(string(value))


def _role(value: object) -> Role:
    return Role(string(value))


def _schema(document: Mapping[str, Any]) -> Schema:
    census = document["census"]
    keys = document["keys"]
    grids = listed(document["grids"], GridSpec.from_json)
    return Schema(
        census=CensusInfo(
            name=string(census["name"]),
            country=string(census["country"]),
            code=listed(census["code"], string),
            reference_date=string(census["reference_date"]),
            languages=listed(census["languages"], string),
            names=text_from_json(census.get("names")),
            countries=text_from_json(census.get("countries")),
            measure=Measure(census["measure"]) if "measure" in census else None,
            weights_only=checked(census.get("weights_only", False), bool),
        ),
        entities=listed(document["entities"], _entity),
        variables=listed(document["variables"], lambda variable: _variable(variable, grids)),
        keys=KeyRules(
            scope=KeyScope(keys["scope"]),
            household=HouseholdKey(keys["household"]),
            reference_person=string(keys["reference_person"]),
            space=KeySpace.from_json(checked(keys["space"], dict)),
            columns=listed(keys["columns"], _key_column),
        ),
        impossible=listed(document["impossible"], _impossible),
        grids=grids,
        identities=listed(document.get("identities", []), _identity),
        universes=listed(document.get("universes", []), _universe),
        roles=listed(document.get("roles", []), _named_role),
    )


def _named_role(value: Any) -> tuple[str, str]:
    role, name = listed(value, string)
    return role, name


def _entity(value: Any) -> EntitySpec:
    return EntitySpec(
        entity=Entity(value["entity"]),
        id=listed(value["id"], string),
        within=optional(value["within"], _kind_of_unit),
        link=listed(value["link"], string),
        optional=checked(value["optional"], bool),
        from_content=checked(value["from_content"], bool),
        derived_from=optional(value["derived_from"], _kind_of_unit),
        form=optional(value.get("form"), _form) or IdForm(),
    )


def _form(value: Any) -> IdForm:
    widths, any_case = value
    return IdForm(listed(widths, whole), checked(any_case, bool))


def _key_column(value: Any) -> tuple[Entity, KeyColumn]:
    entity, column, digits = value
    return Entity(entity), KeyColumn(string(column), optional(digits, whole))


def _impossible(value: Any) -> Impossible:
    when, label, *relation = value
    second = Relation.from_json(checked(relation[0], dict)) if relation else None
    return Impossible(string(when), text_from_json(label), second)


def _identity(value: Any) -> UnitIdentity:
    each, holds, when, times = value
    return UnitIdentity(
        each=_kind_of_unit(each),
        holds=_kind_of_unit(holds),
        when=string(when),
        times=whole(times),
    )


def _universe(value: Any) -> DeclaredUniverse:
    name, condition, label, description = value
    return DeclaredUniverse(
        name=string(name),
        condition=string(condition),
        label=text_from_json(label),
        description=text_from_json(description),
    )


def _variable(value: Any, grids: tuple[GridSpec, ...]) -> Variable:
    entries: Json = checked(value, dict)
    codes = _codes(entries.get("codes", []), grids)
    return Variable(
        name=string(entries["name"]),
        entity=Entity(entries["entity"]),
        codes=codes,
        hierarchies=_hierarchies(entries.get("hierarchies", []), grids, codes),
        leaf_level=string(entries.get("leaf_level", "")),
        level_labels=listed(entries.get("level_labels", []), _level_label),
        role=optional(entries.get("role"), _role),
        label=text_from_json(entries.get("label")),
        description=text_from_json(entries.get("description")),
        topic=text_from_json(entries.get("topic")),
        unit=string(entries.get("unit", "")),
        unit_by_language=text_from_json(entries.get("unit_by_language")),
        continuous=checked(entries.get("continuous", False), bool),
        decimals=whole(entries.get("decimals", 0)),
        main=optional(entries.get("main"), lambda value: checked(value, bool)),
        map=string(entries.get("map", "")),
        imputed=checked(entries.get("imputed", False), bool),
        counts=optional(entries.get("counts"), _kind_of_unit),
        counts_open=listed(entries.get("counts_open", []), string),
        codes_from_records=checked(entries.get("codes_from_records", False), bool),
        owner=checked(entries.get("owner", False), bool),
        waiver=string(entries.get("waiver", "")),
    )


def _level_label(value: Any) -> tuple[str, Text]:
    name, label = value
    return string(name), text_from_json(label)


def _codes(value: object, grids: tuple[GridSpec, ...]) -> tuple[Code, ...]:
    codes: list[Code] = []
    for code in checked(value, list):
        if isinstance(code, dict) and "grid" in code:
            squares = np.array(listed(code.get("squares", []), whole), dtype=np.int64)
            codes += leaf_codes(grids[whole(code["grid"])], squares)
        elif isinstance(code, dict):
            low, high = listed(code["range"], whole)
            codes += range_codes(low, high)
        else:
            codes.append(_code(code))
    return tuple(codes)


def _code(value: object) -> Code:
    entry = checked(value, list)
    filled: list[object] = [*entry, *_NO_ENTRY[len(entry) :]]
    code, label, kind, lower, upper = filled
    return Code(
        string(code),
        text_from_json(label),
        _KIND_OF[whole(kind)],
        optional(lower, whole),
        optional(upper, whole),
    )


def _hierarchies(
    value: Any, grids: tuple[GridSpec, ...], codes: tuple[Code, ...]
) -> tuple[Hierarchy, ...]:
    trees: list[Hierarchy] = []
    for entry in checked(value, list):
        grid = grids[whole(entry["grid"])] if "grid" in entry else None
        squares = None if grid is None else grid_hierarchies(grid, grid.squares_of(codes))
        trees += (_hierarchy(entry),) if squares is None else squares
    return tuple(trees)


def _hierarchy(value: Any) -> Hierarchy:
    return Hierarchy(string(value["name"]), listed(value["levels"], _level))


def _level(value: Any) -> Level:
    return Level(
        string(value["name"]),
        listed(value["codes"], _code),
        listed(value["group"], whole),
        checked(value.get("universe", False), bool),
    )
