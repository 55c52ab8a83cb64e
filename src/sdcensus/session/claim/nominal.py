"""How records move by the parameters of pre-tabular methods, without looking at any record.

What is told to the public must not depend on what is true, so these moves are those that the
parameters promise under the reference prior. What a method really did is measured by
``risk.combined.measured_moves``, for the office.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import parse_json
from sdcensus.risk.combined.moves import NO_MOVES, Moves, moves_by_rate, together
from sdcensus.risk.combined.priors import reference_prior
from sdcensus.session.attack.residents import COUNTRY, area_levels
from sdcensus.session.derive.office_files import REPORT_FILE
from sdcensus.store.manifest import Manifest

#: Methods that exchange places at a rate, and those that change answers at one.
PLACES = frozenset({"random-swap", "proportional-swap"})
ANSWERS = frozenset({"attribute-swap", "over-imputation"})


@dataclass(frozen=True, slots=True, repr=False)
class KnownStep(Confidential):
    """A pre-tabular method with its parameters.

    Attributes:
        method: Its name.
        settings: Its parameters. Confidential.
    """

    method: str
    settings: Mapping[str, Any]

    def __repr__(self) -> str:
        return f"<KnownStep {self.method!r}: confidential>"


def known_steps(
    manifest: Manifest, store: Path, given: Sequence[Path] = ()
) -> tuple[KnownStep, ...]:
    """The steps of a store's line with their parameters, from what the office keeps.

    Args:
        manifest: Of the store.
        store: Where it stands; reports of derivations are looked for beside it.
        given: Further reports.

    Raises:
        SpecError: The report of a step cannot be found.
    """
    if not manifest.lineage:
        return ()
    reports: dict[str, KnownStep] = {}
    beside = sorted(store.resolve().parent.glob(f"*/{REPORT_FILE}"))
    for path in (*given, *beside):
        version, step = _read_report(path, needed=path in given)
        if step is not None:
            reports.setdefault(version, step)
    versions = [step.parent for step in manifest.lineage[1:]] + [manifest.data_version]
    steps = []
    for derivation, version in zip(manifest.lineage, versions, strict=True):
        if version not in reports:
            raise SpecError(
                f"The records were changed by {derivation.method}, and its report"
                f" ({REPORT_FILE}) is not in a folder beside {store}. Name it: --derivation FILE."
            )
        steps.append(reports[version])
    return tuple(steps)


def _read_report(path: Path, *, needed: bool) -> tuple[str, KnownStep | None]:
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        settings = dict(content["parameters"])
        return str(content["data_version"]), KnownStep(str(content["method"]), settings)
    except (OSError, ValueError, KeyError, TypeError, json.JSONDecodeError):
        if needed:
            raise InputError(
                f"{path} is no report of a derivation. Name the {REPORT_FILE} that the office keeps"
                " beside a derived store."
            ) from None
        return "", None


def nominal_moves(steps: Sequence[KnownStep], spec: TableSpec, level: str, schema: Schema) -> Moves:
    """How records move between cells of a table by what parameters say. Looks at no record.

    Args:
        steps: The methods, in their order.
        spec: The table.
        level: The level of the areas of the cell; ``country`` for the whole of it.
        schema: Of the census.
    """
    return together([_moves_of(step, spec, level, schema) for step in steps])


def _moves_of(step: KnownStep, spec: TableSpec, level: str, schema: Schema) -> Moves:
    settings = step.settings
    shown = {axis.variable.name for axis in spec.axes}
    shown |= {variable.name for variable in spec.universe.variables}
    if step.method == "targeted-swap":
        return _targeted(settings, shown, level, schema)
    if step.method == "geographic-pram":
        shares = _shares(settings.get("move"))
        crossing = [share for at, share in shares if _finer(level, at.partition("/")[2], schema)]
        return moves_by_rate(max(crossing, default=0.0), reference_prior())
    if step.method in PLACES:
        if not _finer(level, str(settings.get("within") or ""), schema):
            return NO_MOVES
        return moves_by_rate(_rate(settings), reference_prior())
    if step.method == "pram":
        changed = _names(settings, "variables", "together")
        stays = dict(_shares(settings.get("stay")))
        leave = [1.0 - stays.get(name, stays.get("", 1.0)) for name in changed & shown]
        return moves_by_rate(max(leave, default=0.0), reference_prior())
    if step.method in ANSWERS:
        if not _names(settings, "blank", "attributes", "exchange", "variables") & shown:
            return NO_MOVES
        return moves_by_rate(_rate(settings), reference_prior())
    return NO_MOVES  # what is not known to move anybody is not counted as protection


def _targeted(settings: Mapping[str, Any], shown: set[str], level: str, schema: Schema) -> Moves:
    """Targeted swapping: all of a small cell of the risk variables, and few of the others.

    Who is rare at a level leaves its area of that level. The others are exchanged between areas of
    the finest level and stay inside those above it, unless the rules of the swap say more; no more
    is counted on than that.
    """
    if not _finer(level, str(settings.get("within") or ""), schema):
        return NO_MOVES
    levels = area_levels(schema)
    base = _rate(settings) if level == levels[-1] else 0.0
    below = settings.get("k")
    areas = {variable.name for variable in schema.geographies}
    if isinstance(below, int) and below > 1 and shown - areas <= _names(settings, "risk_variables"):
        return moves_by_rate(base, reference_prior(), small_rate=1.0, below=below)
    return moves_by_rate(base, reference_prior())


def _finer(level: str, within: str, schema: Schema) -> bool:
    """Whether places are exchanged between areas of a level, if partners share one of another."""
    levels = area_levels(schema)
    if level == COUNTRY or level not in levels:
        return False
    return within not in levels or levels.index(level) > levels.index(within)


def _rate(settings: Mapping[str, Any]) -> float:
    """The share of records that are changed."""
    value = settings.get("rate")
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0


def _shares(value: Any) -> list[tuple[str, float]]:
    """Shares as methods take them: one for all, or ``NAME=SHARE`` for each."""
    entries = value if isinstance(value, list | tuple) else [value]
    shares = []
    for entry in entries:
        name, _, number = str(entry).rpartition("=")
        try:
            share = float(number)
        except ValueError:
            continue
        if 0 <= share <= 1:
            shares.append((name.strip(), share))
    return shares


def _names(settings: Mapping[str, Any], *keys: str) -> set[str]:
    """The variables that parameters name, without their levels."""
    names: set[str] = set()
    for key in keys:
        value = settings.get(key)
        entries = [value] if isinstance(value, str) else value
        for entry in entries if isinstance(entries, list | tuple) else []:
            words = str(entry).replace("+", ",").split(",")
            names |= {word.partition("@")[0].strip() for word in words if word.strip()}
    return names
