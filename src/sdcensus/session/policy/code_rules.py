"""Rules that read code lists only: they decide before anything is counted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.model.policy.policy import AtLevel, Policy, UserRole
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import joined, variable_heading
from sdcensus.model.spec.levels_told_apart import (
    Use,
    coarser_or_equal,
    strictly_coarser,
    uses_of,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.verdict import ReasonCode, VerdictReason, Withheld

Mask = npt.NDArray[np.bool_]


def code_reasons(
    policy: Policy, spec: TableSpec, role: str | UserRole, *, cells: int | None = None
) -> tuple[VerdictReason, ...]:
    """Every rule on code lists that does not let a table pass, without remedies.

    Args:
        policy: The policy.
        spec: The table.
        role: Who asks.
        cells: How many cells are asked for; by default all of the table.
    """
    uses = uses_of(spec)
    return (
        *_offered(policy, spec, uses),
        *_levels(policy, uses),
        *_areas(policy, uses),
        *_together(policy, uses),
        *_limits(policy, uses, spec.cells if cells is None else cells, role),
        *_not_offered(policy, uses),
        *_detail(policy, uses),
    )


def passes(policy: Policy, spec: TableSpec, role: str | UserRole) -> bool:
    """Whether rules on code lists let a table pass, if perhaps with some codes withheld.

    A table of which every area is withheld does not pass.
    """
    reasons = code_reasons(policy, spec, role)
    if any(reason.refuses for reason in reasons):
        return False
    areas, available = areas_shown(policy, spec, reasons)
    return not (reasons and areas and available == 0)


def areas_shown(
    policy: Policy, spec: TableSpec, reasons: Iterable[VerdictReason]
) -> tuple[int | None, int | None]:
    """How many areas a table is about, and how many of them these reasons leave."""
    use = next(iter(area_uses(policy, uses_of(spec))), None)
    if use is None or use.axis is None:
        return None, None
    places = np.flatnonzero(about(use.axis, use.chosen)).tolist()
    codes = {(use.axis.codes[at].level, use.axis.codes[at].code) for at in places}
    gone = {
        (withheld.level, code)
        for reason in reasons
        for withheld in reason.withheld
        if withheld.variable == use.variable.name
        for code in withheld.codes
    }
    return len(codes), len(codes - gone)


def about(axis: Axis, chosen: Mask) -> Mask:
    """For each position of an axis but its total, whether it holds any of the chosen leaves."""
    chosen_codes = np.zeros(len(axis.codes), dtype=bool)
    for block, level in zip(axis.blocks, axis.levels, strict=False):
        chosen_codes[block.start + level.group_array[chosen]] = True
    return chosen_codes


def name_of(variable: Variable) -> str:
    """How sentences call a variable: its label and, if that is another, its name."""
    label = variable_heading(variable)
    return label if label == variable.name else f"{label} ({variable.name})"


def area_uses(policy: Policy, uses: tuple[Use, ...]) -> tuple[Use, ...]:
    """How a table uses areas: the main geography first, then others, such as places of work."""
    names = [area.name for area in policy.areas]
    areas = [use for use in uses if use.variable.name in names]
    return tuple(sorted(areas, key=lambda place: names.index(place.variable.name)))


def _offered(policy: Policy, spec: TableSpec, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    for use in uses:
        rule = policy.rule_of(use.variable.name)
        if rule.offered and not rule.offered_for(spec.of):
            yield VerdictReason(
                ReasonCode.VARIABLE_NOT_OFFERED,
                f"{name_of(use.variable)} is not offered on tables of these units.",
                variables=(use.variable.name,),
                words="variable-not-offered-for-units",
                values=(("variable", use.variable.name),),
            )
        elif not rule.offered:
            yield VerdictReason(
                ReasonCode.VARIABLE_NOT_OFFERED,
                f"{name_of(use.variable)} is not offered.",
                variables=(use.variable.name,),
                words="variable-not-offered",
                values=(("variable", use.variable.name),),
            )
        elif not rule.as_filter and use.condition is not None:
            yield VerdictReason(
                ReasonCode.NOT_A_FILTER,
                f"{name_of(use.variable)} cannot stand in a condition; it can be an axis.",
                variables=(use.variable.name,),
                words="variable-not-a-filter",
                values=(("variable", use.variable.name),),
            )


def _levels(policy: Policy, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    for use in uses:
        finest = policy.rule_of(use.variable.name).finest_level
        if finest and not _all_coarser(use, policy.level(AtLevel(use.variable.name, finest))):
            yield VerdictReason(
                ReasonCode.LEVEL_TOO_FINE,
                f"{name_of(use.variable)} is offered at the level {finest} and at coarser ones.",
                variables=(use.variable.name,),
                words="level-too-fine",
                values=(("variable", use.variable.name), ("level", finest)),
            )


def _all_coarser(use: Use, limit: Level) -> bool:
    """Whether a table tells nothing apart that a level does not."""
    return all(coarser_or_equal(partition, limit.group_array) for partition in use.partitions)


def _areas(policy: Policy, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    names = {area.name for area in policy.areas}
    areas = [use for use in uses if use.variable.name in names]
    for use in uses:
        finest = policy.rule_of(use.variable.name).finest_area
        if finest is None:
            continue
        limit = policy.level(finest)
        fine = [
            area
            for area in areas
            # A place of work beside homes is limited by the homes, not by itself.
            if area is not use
            and (area.variable.name != finest.variable or not _all_coarser(area, limit))
        ]
        if fine:
            yield VerdictReason(
                ReasonCode.AREA_TOO_FINE,
                f"{name_of(use.variable)} is offered for areas of the level {finest} and for"
                " coarser ones.",
                variables=(use.variable.name, *(use.variable.name for use in fine)),
                words="area-too-fine",
                values=(("variable", use.variable.name), ("at", (str(finest),))),
            )


def _together(policy: Policy, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    used = {use.variable.name: use for use in uses}
    for combination in policy.never_together:
        if all(_held(policy, at_level, used.get(at_level.variable)) for at_level in combination):
            names = joined([str(at_level) for at_level in combination])
            at_levels = any(at_level.level for at_level in combination)
            finer = ", or at finer levels" if at_levels else ""
            yield VerdictReason(
                ReasonCode.NEVER_TOGETHER,
                f"No table holds {names} together{finer}.",
                variables=tuple(at_level.variable for at_level in combination),
                words="never-together.at-levels" if at_levels else "never-together.at-all",
                values=(("at", tuple(str(at_level) for at_level in combination)),),
            )


def _held(policy: Policy, one: AtLevel, use: Use | None) -> bool:
    """Whether a table holds a variable at a level, or at one that is not coarser.

    A condition has the level that can say it: one parish alone is no coarser than parishes.
    """
    if use is None or not one.level:
        return use is not None
    limit = policy.level(one).group_array
    said = use.condition_level
    parts = use.shown if said is None else (*use.shown, said.group_array)
    return not all(strictly_coarser(part, limit) for part in parts)


def _limits(
    policy: Policy, uses: tuple[Use, ...], cells: int, role: str | UserRole
) -> Iterator[VerdictReason]:
    limits = policy.role(role)
    if limits.dimensions is not None and len(uses) > limits.dimensions:
        yield VerdictReason(
            ReasonCode.TOO_MANY_VARIABLES,
            f"A table has at most {limits.dimensions:,} variables, those in conditions and the"
            f" area included. This one has {len(uses):,}.",
            words="too-many-variables",
            values=(("limit", limits.dimensions), ("found", len(uses))),
        )
    if limits.cells is not None and cells > limits.cells:
        yield VerdictReason(
            ReasonCode.TOO_MANY_CELLS,
            f"A table has at most {limits.cells:,} cells, totals included. This one has {cells:,}.",
            words="too-many-cells",
            values=(("limit", limits.cells), ("found", cells)),
        )


def _not_offered(policy: Policy, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    for hidden in policy.decided.not_offered:
        for use in uses:
            if use.variable.name != hidden.at.variable:
                continue
            name = name_of(use.variable)
            values = (("variable", use.variable.name), ("level", _level_name(hidden.at)))
            leaves = _leaves(policy, hidden.at, hidden.codes)
            if _chosen(policy, use, hidden.at, leaves):
                yield VerdictReason(
                    ReasonCode.NOT_OFFERED,
                    f"The condition chooses codes of {name} that are not offered at the level"
                    f" {_level_name(hidden.at)}.",
                    variables=(use.variable.name,),
                    words="code-not-offered.condition",
                    values=values,
                )
            reason = VerdictReason(
                ReasonCode.NOT_OFFERED,
                f"Some codes of {name} are not offered at the level {_level_name(hidden.at)}.",
                refuses=False,
                variables=(use.variable.name,),
                words="code-not-offered.withheld",
                values=values,
            )
            yield from _hiding(policy, use, hidden.at, leaves, reason)


def _detail(policy: Policy, uses: tuple[Use, ...]) -> Iterator[VerdictReason]:
    used = {use.variable.name: use for use in uses}
    for detail in policy.decided.detail:
        area = used.get(detail.at.variable)
        fine = [
            at_level
            for at_level in detail.finest
            if at_level.variable in used
            and not _all_coarser(used[at_level.variable], policy.level(at_level))
        ]
        if area is None or not fine:
            continue
        leaves = _leaves(policy, detail.at, detail.codes)
        said = joined([str(at_level) for at_level in fine])
        names = (area.variable.name, *(at_level.variable for at_level in fine))
        finest = ("at", tuple(str(at_level) for at_level in fine))
        if _chosen(policy, area, detail.at, leaves):
            yield VerdictReason(
                ReasonCode.DETAIL_OF_AREA,
                f"For the areas that the condition chooses, {said} is the finest that is offered.",
                variables=names,
                words="too-much-detail-for-area.condition",
                values=(finest,),
            )
        reason = VerdictReason(
            ReasonCode.DETAIL_OF_AREA,
            f"For some areas of the level {_level_name(detail.at)}, {said} is the finest that is"
            " offered.",
            refuses=False,
            variables=names,
            words="too-much-detail-for-area.withheld",
            values=(("level", _level_name(detail.at)), finest),
        )
        yield from _hiding(policy, area, detail.at, leaves, reason)


def _level_name(at: AtLevel) -> str:
    return at.level or at.variable


def _leaves(policy: Policy, at: AtLevel, codes: tuple[str, ...]) -> Mask:
    """The leaves of some codes of a level."""
    level = policy.level(at)
    wanted = np.array([code.code in codes for code in level.codes], dtype=bool)
    return wanted[level.group_array]


def _chosen(policy: Policy, use: Use, at: AtLevel, leaves: Mask) -> bool:
    """Whether the condition of a table singles out, at a level, codes with these leaves."""
    said = use.condition_level
    if use.axis is not None or said is None:
        return False  # rows that are chosen are withheld one by one
    as_fine = coarser_or_equal(policy.level(at).group_array, said.group_array)
    return as_fine and bool((use.chosen & leaves).any())


def _hiding(
    policy: Policy,
    use: Use,
    at: AtLevel,
    leaves: Mask,
    reason: VerdictReason,
) -> Iterator[VerdictReason]:
    """A reason with the codes of an axis that it withholds, if any are shown at their level."""
    if use.axis is None:
        return
    group = policy.level(at).group_array
    for level in use.axis.levels:
        same = coarser_or_equal(level.group_array, group)
        if same and coarser_or_equal(group, level.group_array):
            positions = np.unique(level.group_array[leaves & use.chosen])
            codes = tuple(level.codes[position].code for position in positions)
            if codes:
                withheld = (Withheld(use.variable.name, level.name, codes),)
                yield replace(reason, withheld=withheld)


def positions_of(axis: Axis, withheld: Withheld) -> list[int]:
    """Where the withheld codes stand on an axis."""
    codes = set(withheld.codes)
    return [
        at
        for at, code in enumerate(axis.codes)
        if code.level == withheld.level and code.code in codes
    ]
