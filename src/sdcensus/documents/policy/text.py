"""Writing a policy as TOML, so that reading it back gives the same policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from sdcensus.documents.policy.sections import parse_record_set
from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.errors import SpecError
from sdcensus.model.policy.policy import (
    AmountRule,
    AtLevel,
    OnlineRules,
    Policy,
    RecordSet,
    RoleRules,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.policy.rules import NOISE_LEFT

Data = dict[str, Any]

_HEAD = "What may be asked, and what happens when it may not. One file for batch and web."
#: Tables that hold tables by name, which may be empty themselves.
_NAMED = ("variable", "amount", "role")
_ABOUT = {
    "limits": "axes, filters and geography all count",
    "online": "read published numbers and code lists only",
    "design": "may read true counts; decided once, by a person",
    "exempt": "published exactly in every product; checked for differencing",
    "never_together": "no table may hold all of one of these",
    "decided": "decisions of design time; no counts",
}


def policy_data(policy: Policy) -> Data:
    """A policy as the plain values of its document; what is as usual is left out."""
    data: Data = {"name": policy.name, "lock": policy.lock}
    if policy.measure is not None:
        data["measure"] = policy.measure.value
    data["limits"] = _given(policy.limits)
    data["online"] = _online(policy.online)
    design = _given(policy.design)
    if policy.design.minimum_population_at:
        sizes = policy.design.minimum_population_at
        design["minimum_population_at"] = {str(at): size for at, size in sizes}
    design["detail"] = [
        {"population": detail.population, "levels": _levels(detail.levels)}
        for detail in policy.design.detail
    ]
    data["design"] = design
    data["exempt"] = {"record_sets": [_record_set(one, policy) for one in policy.exempt]}
    data["variable"] = {variable.variable: _rule(variable) for variable in policy.variables}
    data["amount"] = {amount.variable: _amount(amount) for amount in policy.amounts}
    combinations = [
        [str(at_level) for at_level in combination] for combination in policy.never_together
    ]
    data["never_together"] = {"combinations": combinations}
    data["role"] = {role.role.value: _role(role) for role in policy.roles}
    data["decided"] = {
        "not_offered": [
            {"at": str(not_offered.at), "codes": list(not_offered.codes)}
            for not_offered in policy.decided.not_offered
        ],
        "detail": [
            {
                "areas": str(detail_of.at),
                "codes": list(detail_of.codes),
                "levels": _levels(detail_of.finest),
            }
            for detail_of in policy.decided.detail
        ],
    }
    return {name: kept for name, one in data.items() if (kept := _without_empty(one, name)) != {}}


def policy_text(policy: Policy) -> str:
    """A policy as a TOML document.

    Reading it back with the same schema gives the same policy.
    """
    data = policy_data(policy)
    lines = [f"# {_HEAD}"]
    head = [name for name in ("name", "lock", "measure") if name in data]
    lines += [f"{name} = {toml(data.pop(name))}" for name in head]
    for name, table in data.items():
        lines += ["", *_table((name,), table, _ABOUT.get(name, ""))]
    return "\n".join(lines) + "\n"


def _given(rules: Any) -> Data:
    """The settings of a group of rules that have a plain value."""
    made = {field.name: getattr(rules, field.name) for field in fields(rules)}
    return {name: value for name, value in made.items() if value is not None and value != ()}


def _online(rules: OnlineRules) -> Data:
    data = _given(rules)
    if rules.mean_cell_size is None:
        del data["when_sparse"]
    if rules.when_sparse is not WhenSparse.C:
        del data["below"]
    if not rules.exclude_structural_zeros:
        del data["exclude_structural_zeros"]
    return data


def _record_set(one: RecordSet, policy: Policy) -> str | Data:
    try:
        if parse_record_set(one.text, policy.schema) == one:
            return one.text
    except SpecError:
        pass
    made: Data = {"name": one.text} if one.text else {}
    made |= {"of": one.of.value, "by": list(one.by)}
    return made | ({"where": one.where} if one.where else {})


def _amount(rule: AmountRule) -> Data:
    data: Data = {"measures": [figure.value for figure in rule.measures]}
    if rule.by is not None:
        data["by"] = [str(at) for at in rule.by]
    if rule.dimensions is not None:
        data["dimensions"] = rule.dimensions
    if rule.finest_area is not None:
        data["finest_area"] = str(rule.finest_area)
    if rule.at_least is not None:
        data["at_least"] = rule.at_least
    if rule.noise_left != NOISE_LEFT:
        data["noise_left"] = rule.noise_left
    return data


def _rule(rule: VariableRule) -> Data:
    data: Data = {}
    if not rule.offered:
        data["offered"] = False
    if not rule.as_filter:
        data["as_filter"] = False
    if rule.finest_level:
        data["finest_level"] = rule.finest_level
    if rule.finest_area is not None:
        data["finest_area"] = str(rule.finest_area)
    if rule.units is not None:
        data["units"] = [unit.plural for unit in rule.units]
    return data


def _role(rules: RoleRules) -> Data:
    data = _given(rules)
    del data["role"], data["online"]
    return data if rules.online else data | {"online": "off"}


def _levels(levels: tuple[AtLevel, ...]) -> Data:
    return {level.variable: level.level or level.variable for level in levels}


def _without_empty(value: Any, name: str) -> Any:
    """Tables without their empty lists and tables; rules and roles may be empty themselves."""
    if not isinstance(value, dict) or name in _NAMED:
        return value
    return {key: one for key, one in value.items() if one not in ([], {})}


def _table(path: tuple[str, ...], table: Mapping[str, Any], about: str) -> Iterator[str]:
    """A table and the tables in it."""
    plain = {key: one for key, one in table.items() if not _is_list_of_tables(one)}
    inner: dict[str, Any] = {}
    if path[0] in _NAMED and len(path) == 1:
        plain, inner = {}, plain
    head = ".".join(map(toml_key, path))
    if plain or not (inner or table):
        yield f"[{head}]{f'  # {about}' if about else ''}"
        for key, one in plain.items():
            yield f"{toml_key(key)} = {toml(one)}"
    blank = False
    for key, one in inner.items():
        yield from ([""] if blank else [])
        yield from _table((*path, key), one, "")
        blank = True
    for key, entries in table.items():
        for entry in entries if _is_list_of_tables(entries) else ():
            yield from ([""] if blank or plain else [])
            yield f"[[{head}.{toml_key(key)}]]"
            yield from (f"{toml_key(name)} = {toml(one)}" for name, one in entry.items())
            blank = True


def _is_list_of_tables(value: object) -> bool:
    """A list that is written with double brackets; record sets stand in theirs."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(one, dict) and "by" not in one for one in value)
