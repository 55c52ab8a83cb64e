"""How records move by the parameters of pre-tabular methods, without looking at any record.

What is told to the public must not depend on what is true, so these moves are those that the
parameters promise under the reference prior, of every census: what depends on the records, such as
how often a donor gives the same answer, is not counted on. What a method really did is measured by
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

#: Methods that exchange places between areas of the finest level at a rate. Of proportional
#: swapping the rate is that of those who begin; their partners move as well.
PLACES = frozenset({"random-swap", "proportional-swap"})


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
    near = store.resolve().parent
    # Beside the store, or in the office's folder that stands there.
    beside = [*sorted(near.glob(f"*/{REPORT_FILE}")), *sorted(near.glob(f"*/*/{REPORT_FILE}"))]
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
                f" ({REPORT_FILE}) is not in a folder beside {store}, nor in the office's folder"
                " there. Name it: --derivation FILE."
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
    if step.method == "targeted-swap":
        return _targeted(settings, spec, level, schema)
    if step.method in PLACES:
        # Partners lie in different areas of the finest level, and maybe in one of a coarser.
        if level != area_levels(schema)[-1] or level == COUNTRY:
            return NO_MOVES
        return moves_by_rate(_rate(settings), reference_prior())
    if step.method == "pram":
        return moves_by_rate(_changing(settings, _shown_whole(spec)), reference_prior())
    if step.method == "attribute-swap":
        # Partners differ in what they exchange; in which part of it, nobody can say.
        exchanged = _names(settings, "attributes")
        if not exchanged or not exchanged <= _shown_whole(spec):
            return NO_MOVES
        return moves_by_rate(_rate(settings), reference_prior())
    # Not counted as protection: an imputed value may be the same again, moves between areas by
    # PRAM are as often as said in the smallest area only, and of other methods nothing is known.
    return NO_MOVES


def _shown_whole(spec: TableSpec) -> set[str]:
    """Variables that a table shows code by code: whoever has another code is in another cell."""
    return {
        axis.variable.name
        for axis in spec.axes
        if axis.blocks and axis.blocks[0].level == axis.variable.leaf_level
    }


def _changing(settings: Mapping[str, Any], shown: set[str]) -> float:
    """How likely a value that a table shows becomes another one by PRAM.

    An invariant matrix, one from a file and moves inside groups of codes promise no such number.
    """
    if settings.get("invariant"):
        return 0.0
    stays = dict(_shares(settings.get("stay")))
    kept_inside = [str(entry) for entry in _entries(settings.get("similar")) if "@" in str(entry)]
    if any("=" not in entry for entry in kept_inside):
        return 0.0
    inside = {entry.partition("=")[0].strip() for entry in kept_inside}
    targets = _names(settings, "variables") & shown - inside
    return max((1.0 - stays.get(name, stays.get("", 1.0)) for name in targets), default=0.0)


def _targeted(settings: Mapping[str, Any], spec: TableSpec, level: str, schema: Schema) -> Moves:
    """Targeted swapping: all of a small cell of the risk variables, and few of the others.

    Who is rare at a level leaves its area of that level. The others are exchanged between areas of
    the finest level that is named and stay inside those above it, unless the rules of the swap say
    more; no more is counted on than that.
    """
    levels = area_levels(schema)
    if level == COUNTRY or level not in levels:
        return NO_MOVES
    within = str(settings.get("within") or "")
    if within in levels and levels.index(level) <= levels.index(within):
        return NO_MOVES
    named = [name for name in _names(settings, "levels") if name in levels] or list(levels[1:])
    finest = max(map(levels.index, named))
    base = _rate(settings) if levels.index(level) >= finest else 0.0
    below = settings.get("k")
    rare = level in named and _rare_by(settings, spec, schema)
    if isinstance(below, int) and below > 1 and rare:
        return moves_by_rate(base, reference_prior(), small_rate=1.0, below=below)
    return moves_by_rate(base, reference_prior())


def _rare_by(settings: Mapping[str, Any], spec: TableSpec, schema: Schema) -> bool:
    """Whether whoever is in a small cell of a table is rare by the risk variables of a swap.

    That is so if the table shows nothing else, and nothing in more detail.
    """
    areas = {variable.name for variable in schema.geographies}
    said: dict[str, str] = {}
    for entry in _entries(settings.get("risk_variables")):
        for word in str(entry).split(","):
            name, _, level = word.strip().partition("@")
            said[name] = level
    for axis in spec.axes:
        name = axis.variable.name
        if name in areas:
            continue
        if name not in said:
            return False
        leaf = schema.variable(name).leaf_level
        if (said[name] or leaf) not in (leaf, axis.blocks[0].level):
            return False
    conditions = {variable.name for variable in spec.universe.variables} - areas
    return all(said.get(name) == "" for name in conditions)


def _rate(settings: Mapping[str, Any]) -> float:
    """The share of records that are changed."""
    value = settings.get("rate")
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else 0.0


def _entries(value: Any) -> list[Any]:
    """What a parameter lists; one value is a list of it."""
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def _shares(value: Any) -> list[tuple[str, float]]:
    """Shares as methods take them: one for all, or ``NAME=SHARE`` for each."""
    shares = []
    for entry in _entries(value):
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
        for entry in _entries(settings.get(key)):
            words = str(entry).split(",")
            names |= {word.partition("@")[0].strip() for word in words if word.strip()}
    return names
