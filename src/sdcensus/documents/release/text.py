"""Release plans as documents that read back equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from sdcensus.documents.release.recodes import written_recodes
from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.model.release.licence import ACCEPTANCE
from sdcensus.model.release.plan import (
    Design,
    Making,
    ReleasePlan,
    RiskRules,
    Suppression,
    Thresholds,
)
from sdcensus.model.text import Text


def release_text(plan: ReleasePlan, folder: Path | None = None) -> str:
    """A plan as a document that reads back equal, if it is written into ``folder``.

    Everything is said, what a preset says as well: so the document stays the same when a preset is
    changed in a later version. Paths are relative to the folder where they lie in it.
    """
    lines = [f"{name} = {toml(value)}" for name, value in _head(plan, folder).items()]
    for name, table in _tables(plan, folder).items():
        lines += ["", f"[{name}]", *_settings(table)]
    for name, tables in _lists(plan).items():
        for entry in tables:
            lines += ["", f"[[{name}]]", *_settings(entry)]
    return "\n".join(lines) + "\n"


def _settings(table: Mapping[str, Any]) -> Iterator[str]:
    return (f"{toml_key(name)} = {toml(value)}" for name, value in table.items())


def _plain(value: Any) -> Any:
    """A value as documents write it."""
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple | list):
        return [_plain(member) for member in value]
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    return value


def _given(rules: Any, base: Any, preset: bool) -> dict[str, Any]:
    """The settings of a group of rules that are not as usual; all of them above a preset."""
    values = {each.name: getattr(rules, each.name) for each in fields(rules)}
    return {
        name: _plain(value)
        for name, value in values.items()
        if value is not None and value != "" and (preset or value != getattr(base, name))
    }


def _relative(path: Path, folder: Path | None) -> str:
    if folder is not None and path.is_relative_to(folder):
        return path.relative_to(folder).as_posix()
    return path.as_posix()


def _head(plan: ReleasePlan, folder: Path | None) -> dict[str, Any]:
    head: dict[str, Any] = {"name": plan.name}
    for name in ("title", "abstract", "producer"):
        text: Text = getattr(plan, name)
        if text:
            head[name] = dict(text.by_language)
    if plan.contact:
        head["contact"] = plan.contact
    head["store"] = _relative(plan.store, folder)
    head["office"] = _relative(plan.office, folder)
    head["licence"] = plan.licence.value
    if plan.preset:
        head["preset"] = plan.preset
    return head


def _tables(plan: ReleasePlan, folder: Path | None) -> dict[str, dict[str, Any]]:
    preset = bool(plan.preset)
    tables: dict[str, dict[str, Any]] = {"risk": _given(plan.risk, RiskRules(), preset)}
    thresholds = _given(plan.thresholds, Thresholds(), preset)
    if plan.thresholds.exempt:
        thresholds["exempt"] = dict(plan.thresholds.exempt)
    making = _given(plan.making, Making(), preset)
    if not plan.making.languages:
        making.pop("languages", None)
    for name, table in (("groupings", thresholds), ("delete", making), ("harmonisation", making)):
        if name in table:
            table[name] = _relative(table[name], folder)
    tables["thresholds"] = thresholds
    if plan.acceptance != ACCEPTANCE[plan.licence]:
        tables["acceptance"] = asdict(plan.acceptance)
    tables["roles"] = {name: role.value for name, role in plan.roles.items()}
    if plan.institutions:
        tables["institutions"] = {"where": plan.institutions}
    if plan.large_above is not None:
        large = {"above": plan.large_above, "treatment": plan.large.value}
        tables["large_households"] = {**large, "age_shift": plan.age_shift}
    tables["make"] = making
    tables = {name: table for name, table in tables.items() if table}
    if plan.suppression is not None:
        tables["suppress"] = _given(plan.suppression, Suppression(), preset)
    return tables


def _lists(plan: ReleasePlan) -> dict[str, list[dict[str, Any]]]:
    return {
        "design": [_design(design) for design in plan.designs],
        "treatment": [_entry(treatment) for treatment in plan.treatments],
        "survey": [_entry(survey) for survey in plan.surveys],
        "intruder": [_entry(intruder) for intruder in plan.intruder],
        "model": [_entry(model) for model in plan.models],
        "extract": [_entry(extract) for extract in plan.extracts],
    }


def _entry(noun: Any) -> dict[str, Any]:
    """A noun of few settings; what is empty is left out."""
    values = {each.name: _plain(getattr(noun, each.name)) for each in fields(noun)}
    return {name: value for name, value in values.items() if value not in ("", [], {}, None)}


def _design(design: Design) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": design.name, "households": str(design.fraction)}
    entry["keep"], entry["drop"] = list(design.keep), list(design.drop)
    entry |= dict(written_recodes(design.recodes))
    entry["optional"] = [recode.variable for recode in design.recodes if recode.optional]
    return {name: value for name, value in entry.items() if value not in ([], {})}
