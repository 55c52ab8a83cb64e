"""The public part of the answer to a claim: kinds of method, and one of three fixed brackets.

It is a function of published values and of the office's parameters, and of these through the
bracket only. No record is looked at: the chance is computed with the fixed reference prior, once
for everything that is protected in the same way at the same level of areas.
"""

from __future__ import annotations

from collections.abc import Iterable

from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.record_changes import RecordChange, record_changes
from sdcensus.model.published.table import Mark
from sdcensus.model.vocabulary import Measure
from sdcensus.report.claim.answer import Bracket, CellCase, MethodKind
from sdcensus.risk.combined.chances import CLAIMED, combined_risk
from sdcensus.risk.combined.moves import Moves
from sdcensus.risk.combined.priors import reference_prior

#: The brackets end here; fixed for every census, table and method.
LOW_UP_TO, MIDDLE_UP_TO = 0.25, 0.75
#: Chances are compared with the ends of the brackets in steps of this, on every machine alike.
_DIGITS = 9

_KINDS = {
    "cell-key": MethodKind.NOISE,
    "per-unit": MethodKind.NOISE,
    "per-unit-deviations": MethodKind.NOISE,
    "light-touch": MethodKind.NOISE,
    "building-blocks": MethodKind.NOISE,
    "small-cell-adjustment": MethodKind.ROUNDING,
    "threshold": MethodKind.HIDING,
    "withhold-sparse": MethodKind.HIDING,
}
#: Steps behind a method that make totals add up protect nothing by themselves.
_SILENT = frozenset({"additivity", "nearest-additive", "exact", "none"})


def kinds_of(provenance: Provenance | None) -> tuple[RecordChange | MethodKind, ...]:
    """The kinds of protection that a published table names, each once. Public."""
    if provenance is None:
        return ()
    methods = [name.strip() for name in provenance.method.replace("→", "|").split("|")]
    kinds = {_kind(name) for name in methods if name and name not in _SILENT}
    if provenance.smallest_group:
        kinds.add(MethodKind.GROUPS)
    return (
        *record_changes(provenance.lineage),
        *(kind for kind in MethodKind if kind in kinds),
    )


def _kind(name: str) -> MethodKind:
    if name in _KINDS:
        return _KINDS[name]
    if "round" in name:
        return MethodKind.ROUNDING
    return MethodKind.OTHER


def case_of(value: int | None, mark: Mark, measure: Measure) -> CellCase:
    """What a reader sees in a cell. Public."""
    if value is None or not mark.has_number:
        return CellCase.NOT_SHOWN
    if value == 0:
        return CellCase.NOBODY
    if measure is not Measure.COUNT:
        return CellCase.WEIGHTED
    return CellCase.FEW if value <= CLAIMED[-1] else CellCase.SEVERAL


def chance_of_claim(perturbation: Perturbation | None, moves: Iterable[Moves]) -> float | None:
    """The chance that a claim about a cell that is published as 1, 2 or 3 is right.

    The largest of the three values, and of what is possible: one answer for all such cells.
    ``None`` where none of these values is ever published. Confidential: it is told as a bracket.
    """
    prior = reference_prior()
    chances = [combined_risk(perturbation, prior, each).worst_claim for each in moves]
    return max((chance for chance in chances if chance is not None), default=None)


def bracket_of(case: CellCase, chance: float | None) -> Bracket:
    """The bracket of a claim: of a small cell that of the chance, else the lowest."""
    if case not in (CellCase.FEW, CellCase.WEIGHTED) or chance is None:
        return Bracket.LOW
    rounded = round(chance, _DIGITS)
    if rounded <= LOW_UP_TO:
        return Bracket.LOW
    return Bracket.MIDDLE if rounded <= MIDDLE_UP_TO else Bracket.HIGH
