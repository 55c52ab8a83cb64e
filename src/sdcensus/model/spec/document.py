"""A table specification as plain values, with nothing in it but code lists, and back.

It stands beside published tables and in the registry of what was published, so it holds all that
is needed to tell which records a cell is about, and nothing that was counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sdcensus.errors import InputError, SdcensusError
from sdcensus.model.schema.number_codes import LARGEST_NUMBER
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Hierarchy, Level, Role, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import Text

Json = dict[str, Any]
#: The version of this form.
VERSION = 1


def spec_to_json(spec: TableSpec, *, code_lists: bool = True) -> Json:
    """The specification as plain values; the same for the same specification.

    Args:
        spec: The table.
        code_lists: Whether its code lists are in it; whoever has them already leaves them out.
    """
    lists = code_lists_of(spec) if code_lists else []
    return {
        "version": VERSION,
        "name": spec.name,
        "of": spec.of.value,
        "measure": spec.measure.value,
        "weight_decimals": spec.weight_decimals,
        # Left out where nothing is added up, so that descriptions of counts stay what they were.
        **({} if spec.amount is None else {"amount": _amount(spec.amount)}),
        "code_lists": [code_list_to_json(one, levels) for one, levels in lists],
        "axes": [
            {
                "variable": axis.variable.name,
                "levels": [level.name for level in axis.levels],
                "total": axis.total,
            }
            for axis in spec.axes
        ],
        "universe": _universe(spec.universe),
    }


def spec_from_json(document: Mapping[str, Any], *, where: str = "the table") -> TableSpec:
    """Read what ``spec_to_json`` made; code lists may be variables that were read before.

    Raises:
        InputError: It is damaged, or was written by a newer version.
    """
    try:
        if document["version"] > VERSION:
            raise InputError(f"{where} was described by a newer version of sdcensus. Update it.")
        lists = [_list_from(code_list) for code_list in document["code_lists"]]
        variables = {variable.name: variable for variable in lists}
        axes = []
        for shown in document["axes"]:
            variable = variables[shown["variable"]]
            levels = [variable.level(name) for name in shown["levels"]]
            axes.append(make_axis(variable, levels, total=bool(shown["total"])))
        return TableSpec(
            of=Entity(document["of"]),
            axes=tuple(axes),
            universe=_universe_from(document["universe"], variables),
            measure=Measure(document["measure"]),
            name=str(document["name"]),
            weight_decimals=int(document["weight_decimals"]),
            amount=_amount_from(document.get("amount")),
        )
    except InputError:
        raise
    except (SdcensusError, LookupError, TypeError, ValueError, AttributeError) as error:
        detail = f": {error}" if isinstance(error, SdcensusError) else ""
        raise InputError(f"The description of {where} is damaged{detail}.") from None


def _amount(amount: Variable) -> Json:
    return {
        "name": amount.name,
        "label": _text(amount.label),
        "entity": amount.entity.value,
        "decimals": amount.decimals,
        "unit": _text(amount.unit_text) if amount.unit_by_language else amount.unit,
    }


def _amount_from(document: Mapping[str, Any] | None) -> Variable | None:
    if document is None:
        return None
    unit = document["unit"]
    units = Text() if isinstance(unit, str) else Text.of(unit)
    return Variable(
        name=str(document["name"]),
        entity=Entity(document["entity"]),
        label=Text.of(document["label"]),
        continuous=True,
        decimals=int(document["decimals"]),
        unit=unit if isinstance(unit, str) else units.show(),
        unit_by_language=units,
    )


def code_lists_of(spec: TableSpec) -> list[tuple[Variable, tuple[Level, ...]]]:
    """The variables of a specification, each with those of its levels that are shown."""
    on_axes = [(axis.variable, axis.levels) for axis in spec.axes]
    shown = {variable.name for variable, _ in on_axes}
    return on_axes + [
        (variable, ()) for variable in spec.universe.variables if variable.name not in shown
    ]


def code_list_to_json(variable: Variable, levels: Sequence[Level]) -> Json:
    """The leaves of a variable, and of its levels those that are shown."""
    shown = [level for level in levels if level.name != variable.leaf_level]
    names = {variable.leaf_level, *(level.name for level in shown)}
    labels = {name: _text(text) for name, text in variable.level_labels if name in names}
    return {
        "name": variable.name,
        "label": _text(variable.label),
        "entity": variable.entity.value,
        "role": "" if variable.role is None else variable.role.value,
        "leaf_level": variable.leaf_level,
        "leaves": [_code(code) for code in variable.codes],
        "levels": [
            {
                "name": level.name,
                "codes": [_code(code) for code in level.codes],
                "leaf_belongs_to": list(level.group),
            }
            for level in shown
        ],
        # Left out where there are none, so that descriptions stay what they were.
        **({"level_labels": labels} if labels else {}),
        **({} if variable.main is None else {"main": variable.main}),
    }


def _list_from(one: Mapping[str, Any] | Variable) -> Variable:
    return one if isinstance(one, Variable) else variable_from_json(one)


def variable_from_json(one: Mapping[str, Any]) -> Variable:
    """One of the code lists of a specification, with the levels that it shows."""
    levels = [
        Level(
            str(level["name"]),
            _codes(level["codes"]),
            tuple(int(at) for at in level["leaf_belongs_to"]),
        )
        for level in one["levels"]
    ]
    return Variable(
        name=str(one["name"]),
        entity=Entity(one["entity"]),
        label=Text.of(one["label"]),
        role=Role(one["role"]) if one["role"] else None,
        leaf_level=str(one["leaf_level"]),
        level_labels=tuple(
            (str(name), Text.of(text)) for name, text in one.get("level_labels", {}).items()
        ),
        main=one.get("main"),
        codes=_codes(one["leaves"]),
        # Each level is a tree of its own: which of them nest follows from their groups.
        hierarchies=tuple(Hierarchy(level.name, (level,)) for level in levels),
    )


def _code(code: Code) -> Json:
    written: Json = {"code": code.code}
    if code.label:
        written["label"] = _text(code.label)
    if code.is_missing:
        written["kind"] = code.kind.value
    # Any number at all has no lowest: what stands for it inside would be read as one.
    if code.lower is not None and code.lower > -LARGEST_NUMBER:
        written["from"] = code.lower
    if code.upper is not None:
        written["to"] = code.upper
    return written


def _codes(codes: Sequence[Mapping[str, Any]]) -> tuple[Code, ...]:
    return tuple(
        Code(
            str(code["code"]),
            Text.of(code.get("label", "")),
            CodeKind(code.get("kind", CodeKind.VALID)),
            _bound(code.get("from")),
            _bound(code.get("to")),
        )
        for code in codes
    )


def _bound(number: object) -> int | None:
    if number is None or type(number) is int:
        return number
    raise InputError("The numbers that a code stands for are whole.")


def _text(text: Text) -> dict[str, str]:
    return dict(text.by_language)


def _universe(universe: Universe) -> Json | None:
    if universe.everything:
        return None
    return {
        "variables": [variable.name for variable in universe.variables],
        "leaf_belongs_to": [class_.tolist() for class_ in universe.classes],
        "holds": universe.truth.astype(int).tolist(),
    }


def _universe_from(document: Mapping[str, Any] | None, variables: dict[str, Variable]) -> Universe:
    if document is None:
        return Universe((), (), np.array(True))
    truth = np.array(document["holds"], dtype=bool)
    classes = tuple(np.array(group, dtype=np.int64) for group in document["leaf_belongs_to"])
    chosen = tuple(variables[name] for name in document["variables"])
    for variable, class_ in zip(chosen, classes, strict=True):
        if class_.size != len(variable.codes):
            raise InputError(f"The condition on {variable.name!r} does not fit its code list.")
    if truth.shape != tuple(int(class_.max()) + 1 for class_ in classes):
        raise InputError("The condition of a table does not fit its code lists.")
    return Universe(chosen, classes, truth)
