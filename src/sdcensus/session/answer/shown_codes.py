"""What a verdict says about the codes that somebody is shown."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.model.policy.policy import Policy
from sdcensus.model.spec.axis import TOTAL
from sdcensus.session.answer.recipe import Compiled
from sdcensus.session.policy import Verdict, VerdictReason


def verdict_of_shown(policy: Policy, compiled: Compiled, verdict: Verdict) -> Verdict:
    """A verdict about the codes that are shown: what is withheld of others is nobody's concern."""
    shown = {}
    for axis in compiled.axes:
        codes_of = {level.name: level.codes for level in axis.asked.variable.levels()}
        every = {part for code in axis.codes for parts in code.parts for part in parts}
        shown[axis.asked.variable.name] = {
            (part.level, codes_of[part.level][part.at].code) for part in every if not part.total
        }
    reasons = []
    for reason in verdict.reasons:
        kept = []
        for withheld in reason.withheld:
            there = shown.get(withheld.variable, set())
            codes = tuple(code for code in withheld.codes if (withheld.level, code) in there)
            if codes:
                kept.append(replace(withheld, codes=codes))
        if kept or not reason.withheld:
            reasons.append(replace(reason, withheld=tuple(kept)))
    areas, available = _areas_shown(policy, compiled, reasons, verdict)
    if areas and available == 0:
        reasons = [replace(reason, refuses=True) for reason in reasons]
    return Verdict(tuple(reasons), areas, available, verdict.notes)


def _areas_shown(
    policy: Policy, compiled: Compiled, reasons: list[VerdictReason], verdict: Verdict
) -> tuple[int | None, int | None]:
    """Of the areas that are shown, groups of them included, how many there are and have numbers."""
    if verdict.areas is None:
        return None, None
    places = [area.name for area in policy.areas]
    for axis in compiled.axes:
        variable = axis.asked.variable
        if variable.name not in places:
            continue
        gone = {
            (withheld.level, code)
            for reason in reasons
            for withheld in reason.withheld
            if withheld.variable == variable.name
            for code in withheld.codes
        }
        codes = [code for code in axis.codes if code.level != TOTAL]
        if not gone:
            return len(codes), len(codes)
        names = {level.name: [code.code for code in level.codes] for level in variable.levels()}
        hidden = sum(
            any(
                (part.level, names[part.level][part.at]) in gone for part in parts if not part.total
            )
            for code in codes
            for parts in [[one for part in code.parts for one in part]]
        )
        return len(codes), len(codes) - hidden
    return verdict.areas, verdict.available
