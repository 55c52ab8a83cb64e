"""Which areas pass, and what would help where a table is refused: coarser areas, fewer categories.

Every remedy is a table that the rules on code lists allow; that is checked. Where published numbers
decide, remedies are functions of published numbers and code lists, like the decision itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sdcensus.model.policy.policy import OnlineRules, Policy, UserRole
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy.code_rules import about, code_reasons, name_of, passes
from sdcensus.session.policy.lattice import MOST_VERSIONS, CoarserVersions, changes
from sdcensus.session.policy.value_rules import (
    Areas,
    Mask,
    below_mean,
    interior_cells,
    population_specs,
    sums_at,
)
from sdcensus.session.policy.verdict import (
    RemedyKind,
    RemedyStep,
    StepKind,
    VerdictReason,
    VerdictRemedy,
    Withheld,
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


#: Versions whose published figures are worked out before the search for a remedy gives up.
_MOST_LOOKED_AT = 400


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """What the rules say of each area of a table.

    Attributes:
        axis: The axis of areas; ``None`` where the areas are those of the condition, or all.
        judged: The positions of that axis that are areas of the table; one for a table without.
        sparse: Of those, which have a mean cell size below the limit.
        small: Of those, which have too small a population.
        table_is_sparse: Whether the table as a whole has too small a mean cell size.
    """

    axis: Axis | None
    judged: Mask
    sparse: Mask
    small: Mask
    table_is_sparse: bool

    @property
    def areas(self) -> int:
        """How many areas there are."""
        return int(self.judged.sum())

    def withheld(self, which: Mask) -> tuple[Withheld, ...]:
        """Some areas, by level."""
        if self.axis is None:
            return ()
        codes_of_level: dict[str, list[str]] = {}
        for at in np.flatnonzero(which):
            code = self.axis.codes[int(at)]
            codes_of_level.setdefault(code.level, []).append(code.code)
        name = self.axis.variable.name
        return tuple(Withheld(name, level, tuple(codes)) for level, codes in codes_of_level.items())


def judge(policy: Policy, spec: TableSpec, areas: Areas, rules: OnlineRules) -> Judgement:
    """Judge the areas of a table by their published populations."""
    cells = interior_cells(policy, spec, areas, rules)
    none = np.zeros(areas.population.shape, dtype=bool)
    sparse, small = none, none
    if rules.mean_cell_size is not None:
        sparse = below_mean(areas.population, cells, rules.mean_cell_size)
    if rules.minimum_population is not None:
        small = np.asarray(areas.population < rules.minimum_population)
    whole = False
    if rules.mean_cell_size_of_table is not None:
        below = below_mean(areas.population, cells, rules.mean_cell_size_of_table)
        whole = bool(below.reshape(-1)[-1])
    if areas.use is None:
        mask = np.ones(1, dtype=bool)
        return Judgement(None, mask, sparse.reshape(-1)[-1:], small.reshape(-1)[-1:], whole)
    if areas.use.axis is None:
        # One area that does not pass is enough: the table shows their sum, and nothing else.
        chosen = about(areas.spec.axes[0], areas.use.chosen)
        some_sparse, some_small = (np.array([(mask & chosen).any()]) for mask in (sparse, small))
        return Judgement(None, np.ones(1, dtype=bool), some_sparse, some_small, whole)
    axis = areas.use.axis
    places = _places(axis, areas.spec.axes[0])
    judged = about(axis, areas.use.chosen)
    return Judgement(axis, judged, sparse[places] & judged, small[places] & judged, whole)


def _places(axis: Axis, other: Axis) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Where the codes of an axis stand on another one that has all its levels and a total."""
    starts = {block.level: block.start for block in other.blocks}
    places = np.zeros(len(axis.codes), dtype=np.int64)
    for block in axis.blocks:
        places[block.start : block.start + block.size] = starts[block.level] + np.arange(block.size)
    return places


def remedies_by_numbers(
    policy: Policy,
    spec: TableSpec,
    role: str | UserRole,
    areas: Sequence[Areas],
    rules: OnlineRules,
    also: Callable[[TableSpec], bool] | None = None,
) -> tuple[VerdictRemedy, ...]:
    """Versions of a table that show every area, by published numbers; else more of them.

    Populations of coarser areas are sums of published ones, so nothing else is looked at.
    """
    shown = min(_share(judge(policy, spec, own, rules)) for own in areas)
    by_name = {own.use.variable.name: own for own in areas if own.use is not None}

    def judgements(version: TableSpec) -> list[Judgement]:
        judged = []
        for use, wanted in population_specs(policy, version):
            own = areas[0] if use is None else by_name[use.variable.name]
            population = sums_at(own, wanted)
            if population is None:
                return []
            judged.append(judge(policy, version, Areas(use, wanted, population), rules))
        return judged

    def enough(version: TableSpec, least: float) -> bool:
        if code_reasons(policy, version, role):
            return False
        judged = judgements(version)
        if not judged or any(own.table_is_sparse or _share(own) < least for own in judged):
            return False
        return also is None or also(version)

    def counted(version: TableSpec) -> tuple[int, int] | None:
        judged = next(iter(judgements(version)), None)
        if judged is None or judged.axis is None:
            return None
        return judged.areas - int((judged.sparse | judged.small).sum()), judged.areas

    for least in (1.0, (1.0 + shown) / 2):
        remedies = remedies_for(
            policy,
            spec,
            role,
            enough=partial(enough, least=least),
            areas=counted,
            looked_at=_MOST_LOOKED_AT,
        )
        if remedies:
            return remedies
    return ()


def _share(judged: Judgement) -> float:
    """Of all areas the share that is neither sparse nor small."""
    if not judged.areas:
        return 1.0
    return 1 - int((judged.sparse | judged.small).sum()) / judged.areas
