"""What would help where a table is refused: coarser areas, fewer categories, fewer variables.

Every remedy is a table that the rules on code lists allow; that is checked. Where published numbers
decide, remedies are functions of published numbers and code lists, like the decision itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.code_rules import name_of, passes
from sdcensus.session.policy.lattice import MOST_VERSIONS, CoarserVersions, changes
from sdcensus.session.policy.verdict import (
    RemedyKind,
    RemedyStep,
    StepKind,
    VerdictReason,
    VerdictRemedy,
)

#: How many remedies are told.
MOST_REMEDIES = 4

#: More variables than this are not listed one by one to be left out; those that stay are.
_MOST_LEFT_OUT = 2

#: How many areas of how many a table would show; ``None`` where it shows no areas.
Counted = Callable[[TableSpec], tuple[int, int] | None]


def remedies_for(
    policy: Policy,
    spec: TableSpec,
    role: str | UserRole,
    *,
    enough: Callable[[TableSpec], bool] | None = None,
    areas: Counted | None = None,
    most: int = MOST_REMEDIES,
    looked_at: int = MOST_VERSIONS,
) -> tuple[VerdictRemedy, ...]:
    """The finest versions of a table that would be answered.

    Args:
        policy: The policy.
        spec: The table that is refused, or shown in part.
        role: Who asks.
        enough: What else a version has to fulfil, by code lists and published numbers.
        areas: How many areas of how many a version would show, by published numbers.
        most: How many remedies at most.
        looked_at: After how many versions the search gives up.
    """

    def answered(version: TableSpec) -> bool:
        return passes(policy, version, role) and (enough is None or enough(version))

    remedies = []
    for version in CoarserVersions(policy, spec, role).finest(
        answered, most=most, looked_at=looked_at
    ):
        counted = None if areas is None else areas(version)
        available, all_areas = counted or (None, None)
        remedies.append(_remedy(policy, spec, version, available, all_areas))
    return tuple(remedies)


def with_remedies(
    reasons: Iterable[VerdictReason], remedies: tuple[VerdictRemedy, ...]
) -> tuple[VerdictReason, ...]:
    """Reasons with the remedies that change what each is about."""
    return tuple(
        replace(
            reason,
            remedies=tuple(
                remedy
                for remedy in remedies
                if not reason.variables or set(reason.variables) & set(remedy.variables)
            ),
        )
        for reason in reasons
    )


def _remedy(
    policy: Policy,
    spec: TableSpec,
    version: TableSpec,
    available: int | None,
    areas: int | None,
) -> VerdictRemedy:
    coarser, dropped, free = changes(spec, version)
    places = {area.name for area in policy.areas}
    kinds = [
        (RemedyKind.COARSER_AREA, [name for name in coarser if name in places]),
        (RemedyKind.FEWER_CATEGORIES, [name for name in coarser if name not in places]),
        (RemedyKind.FEWER_VARIABLES, dropped),
        (RemedyKind.FEWER_CONDITIONS, free),
    ]
    parts = []
    steps = []
    for name in coarser:
        axis = version.axis(name)
        levels = joined([level.name for level in axis.levels])
        parts.append(f"show {name_of(axis.variable)} at the level {levels}")
        steps.append(RemedyStep(StepKind.COARSER, name, tuple(level.name for level in axis.levels)))
    if len(dropped) > max(_MOST_LEFT_OUT, len(version.axes)):
        names = [name_of(axis.variable) for axis in version.axes]
        parts.append(f"of the axes keep only {joined(names)}")
        steps += [RemedyStep(StepKind.KEEP_ONLY, axis.variable.name) for axis in version.axes]
    elif dropped:
        names = [name_of(spec.axis(name).variable) for name in dropped]
        parts.append(f"leave out {joined(names)}")
        steps += [RemedyStep(StepKind.LEAVE_OUT, name) for name in dropped]
    if free:
        named = {variable.name: variable for variable in spec.universe.variables}
        names = [name_of(named[name]) for name in free]
        parts.append(f"ask without the condition on {joined(names)}")
        steps += [RemedyStep(StepKind.WITHOUT_CONDITION, name) for name in free]
    sentence = joined(parts)
    sentence = f"{sentence[:1].upper()}{sentence[1:]}"
    if available is not None and areas is not None:
        sentence += f" ({available:,} of {areas:,} areas)"
    return VerdictRemedy(
        kinds=tuple(kind for kind, names in kinds if names),
        sentence=f"{sentence}.",
        spec=version,
        variables=(*coarser, *dropped, *free),
        available=available,
        areas=areas,
        steps=tuple(steps),
    )
