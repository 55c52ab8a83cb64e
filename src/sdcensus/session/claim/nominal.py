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
from sdcensus.session.derive.derivation import REPORT_FILE
from sdcensus.store.manifest import Manifest

#: Methods that exchange the places of households; the others change answers.
PLACES = frozenset({"targeted-swap", "random-swap", "proportional-swap", "geographic-pram"})
ANSWERS = frozenset({"attribute-swap", "pram", "over-imputation", "returned-imputation"})


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
    if step.method in PLACES:
        if not _crosses(settings, level, schema):
            return NO_MOVES
        return _at_rate(settings, targeted=step.method == "targeted-swap")
    if step.method in ANSWERS:
        changed = _names(settings)
        shown = {axis.variable.name for axis in spec.axes}
        shown |= {variable.name for variable in spec.universe.variables}
        if changed and not changed & shown:
            return NO_MOVES
        return _at_rate(settings, targeted=False)
    return NO_MOVES  # what is not known to move anybody is not counted as protection


def _crosses(settings: Mapping[str, Any], level: str, schema: Schema) -> bool:
    """Whether places are exchanged between areas of a level."""
    levels = area_levels(schema)
    if level == COUNTRY or level not in levels:
        return False
    within = str(settings.get("within") or "")
    if within not in levels:
        return True
    return levels.index(level) > levels.index(within)


def _at_rate(settings: Mapping[str, Any], *, targeted: bool) -> Moves:
    prior = reference_prior()
    rate = _share(settings)
    below = settings.get("k")
    if targeted and isinstance(below, int) and below > 1:
        return moves_by_rate(rate, prior, small_rate=1.0, below=below)
    return moves_by_rate(rate, prior)


def _share(settings: Mapping[str, Any]) -> float:
    """The share of records that are changed, by whatever a method calls it."""
    for name in ("rate", "share", "swap_rate"):
        value = settings.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return min(max(float(value), 0.0), 1.0)
    for name in ("stay", "probability_to_stay"):
        value = settings.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return min(max(1.0 - float(value), 0.0), 1.0)
    return 0.0


def _names(settings: Mapping[str, Any]) -> set[str]:
    """The variables whose answers a method changes."""
    for name in ("variables", "attributes", "swap", "exchange"):
        value = settings.get(name)
        if isinstance(value, str) and value:
            return {word.strip() for word in value.split(",")}
        if isinstance(value, Sequence) and value:
            return {str(word) for word in value}
    return set()
