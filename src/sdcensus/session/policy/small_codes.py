"""Codes with too few people, by rules of design time; what is not decided yet. Confidential.

A rule on true counts is decided once: the codes that it finds go into the policy. Drafts decide it
themselves; whoever publishes under a policy whose rules nobody has decided is stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import AtLevel, Decided, DetailOf, NotOffered, Policy
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.levels_told_apart import coarser_levels, strictly_coarser
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
#: How many codes of a level are listed; the policy with the decisions has all of them.
MOST_CODES = 30


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SmallCodes(Confidential):
    """Codes of a level with fewer people than they need.

    Attributes:
        at: The variable and level.
        minimum: How many people a code needs.
        codes, counts: The codes below it and their true counts.
        of: How many codes the level has.
        alone: Codes that are the only such one in the next coarser group: what is withheld of
            them can be estimated from the group less the others.
        neighbours: For each of these, the smallest other code of its group.
    """

    at: AtLevel
    minimum: int
    codes: tuple[str, ...]
    counts: tuple[int, ...]
    of: int
    alone: tuple[str, ...] = ()
    neighbours: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<SmallCodes of {self.at}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignDecisions(Confidential):
    """What the rules of design time propose to decide.

    Attributes:
        areas: Areas with too small a population, by level.
        categories: Categories with too few people, by variable and level.
        detail: How fine variables may be, by area.
    """

    areas: tuple[SmallCodes, ...] = ()
    categories: tuple[SmallCodes, ...] = ()
    detail: tuple[DetailOf, ...] = ()

    def __repr__(self) -> str:
        return "<DesignDecisions: confidential>"

    def decided(self, *, neighbours: bool = False) -> Decided:
        """As a policy writes it down.

        Args:
            neighbours: Whether a code that is the only small one of its group takes its smallest
                neighbour with it, as a draft does that nobody has looked at yet.
        """
        hidden = []
        for small in (*self.areas, *self.categories):
            more = small.neighbours if neighbours else ()
            if small.codes:
                hidden.append(NotOffered(small.at, (*small.codes, *more)))
        return Decided(not_offered=tuple(hidden), detail=self.detail)


def population_units(policy: Policy) -> Entity:
    """Whose numbers are the populations of areas: persons, or what else stands in areas."""
    kinds = [spec.entity for spec in policy.schema.entities]
    ordered = [Entity.PERSON, *kinds] if Entity.PERSON in kinds else kinds
    for kind in ordered:
        if any(area in policy.schema.usable(kind) for area in policy.areas):
            return kind
    return ordered[0]


def design_decisions(
    policy: Policy,
    census: Census,
    *,
    of: Entity | None = None,
    progress: Progress = no_progress,
) -> DesignDecisions:
    """Run the rules on small areas and categories.

    Args:
        policy: The policy.
        census: The census that it is about.
        of: Whose numbers are the populations; by default persons, or what stands in areas.
        progress: Told what is being done.
    """
    rules, units = policy.design, of or population_units(policy)
    steps = _steps(policy, units)
    areas: list[SmallCodes] = []
    categories: list[SmallCodes] = []
    detail: list[DetailOf] = []
    for at, (variable, levels) in enumerate(steps):
        progress(f"counting {variable.name}", at / len(steps))
        counts = _counts(census, variable, levels, units)
        is_area = variable in policy.areas
        for level in levels:
            place = AtLevel(variable.name, level.name)
            if not is_area:
                categories.append(_small(place, variable, level, counts, rules.minimum_category))
                continue
            minimum = dict(rules.minimum_population_at).get(place, rules.minimum_population)
            if minimum is not None:
                areas.append(_small(place, variable, level, counts, minimum))
            detail += _detail(policy, place, level, counts[level.name])
    return DesignDecisions(tuple(areas), tuple(categories), tuple(detail))


def with_drafted_decisions(
    policy: Policy, census: Census, *, progress: Progress = no_progress
) -> Policy:
    """A drafted policy that has decided its own rules of design time, to be looked at."""
    decisions = design_decisions(policy, census, progress=progress)
    return replace(policy, decided=decisions.decided(neighbours=True))


def undecided(
    policy: Policy, census: Census, specs: Sequence[TableSpec] | None = None
) -> tuple[SmallCodes, ...]:
    """Levels of tables with codes below a rule of design time about which nobody has decided.

    A level counts as decided as soon as ``[decided]`` names it, with whichever codes: the person
    who decides may keep some, or all.

    Args:
        policy: The policy.
        census: The census that it is about.
        specs: The tables; by default everything that the policy offers.
    """
    rules = policy.design
    if not (rules.minimum_population or rules.minimum_population_at or rules.minimum_category):
        return ()
    known = {
        (hidden.at.variable, policy.level(hidden.at).name) for hidden in policy.decided.not_offered
    }
    shown = None
    if specs is not None:
        axes = [axis for spec in specs for axis in spec.axes]
        shown = {(axis.variable.name, level.name) for axis in axes for level in axis.levels}
        if shown <= known:
            return ()
    decisions = design_decisions(policy, census)
    return tuple(
        small
        for small in (*decisions.areas, *decisions.categories)
        if small.codes
        and (small.at.variable, small.at.level) not in known
        and (shown is None or (small.at.variable, small.at.level) in shown)
    )


def undecided_lines(policy: Policy, small: Sequence[SmallCodes]) -> tuple[str, ...]:
    """What is not decided, and how to decide it: for the office, without a count."""
    if not small:
        return ()
    lines = [
        f"The policy {policy.name!r} has rules in [design] that nobody has decided, and what is"
        " published would show what they are about."
    ]
    for codes in small:
        listed = list(codes.codes[:MOST_CODES])
        if len(codes.codes) > MOST_CODES:
            listed.append(f"{len(codes.codes) - MOST_CODES:,} more")
        lines.append(f"  {codes.at}, fewer than {codes.minimum:,}: {joined(listed)}.")
    first = small[0]
    written = ", ".join(f'"{code}"' for code in first.codes[:3])
    more = ", ..." if len(first.codes) > 3 else ""
    lines += [
        "What would do, one of these:",
        "  - sdcensus policy design POLICY STORE --confidential --out NEW, a look at it, and NEW in"
        " the place of the policy;",
        f'  - in the policy, for each level: [[decided.not_offered]] with at = "{first.at}" and'
        f" codes = [{written}{more}]; a code that you leave out stays on offer;",
        f"  - a smaller minimum in [design]: {_smaller(policy, first)}.",
    ]
    return tuple(lines)


def _smaller(policy: Policy, small: SmallCodes) -> str:
    """The line of a policy with which fewer codes of a level are small."""
    if small.at.variable in {area.name for area in policy.areas}:
        return f'minimum_population_at = {{ "{small.at}" = N }}'
    return "minimum_category = N"


def refuse_undecided(
    policy: Policy | None, census: Census, specs: Sequence[TableSpec] | None = None
) -> None:
    """Stop what would show what a rule of design time would not, if it were decided.

    Args:
        policy: The policy, if there is one.
        census: The census.
        specs: What is published; by default everything that the policy offers.

    Raises:
        Refused: Some rule is not decided; the message says which, and what would do.
    """
    if policy is None:
        return
    lines = undecided_lines(policy, undecided(policy, census, specs))
    if lines:
        raise Refused("\n".join(lines))


def _steps(policy: Policy, of: Entity) -> list[tuple[Variable, tuple[Level, ...]]]:
    """The variables that the rules of design time are about, with their levels."""
    rules = policy.design
    places = policy.areas
    steps = []
    # What was decided before does not count: a level that it hides whole would be shown again.
    policy = replace(policy, decided=Decided())
    for variable in policy.schema.usable(of):
        if not policy.rule_of(variable.name).offered_for(of):
            continue
        levels = policy.allowed_levels(variable)
        if variable in places:
            wanted = rules.minimum_population is not None or rules.detail
            named = {at.variable for at, _ in rules.minimum_population_at}
            if wanted or variable.name in named:
                steps.append((variable, levels))
        elif rules.minimum_category is not None:
            steps.append((variable, levels))
    return steps


def _counts(
    census: Census, variable: Variable, levels: Sequence[Level], of: Entity
) -> dict[str, Int64]:
    """True counts of every code, by level."""
    axis = make_axis(variable, levels, total=False)
    cube = census.tabulate(TableSpec(of=of, axes=(axis,))).held_for("a decision about its codes")
    return {
        block.level: cube.count[block.start : block.start + block.size] for block in axis.blocks
    }


def _small(
    at: AtLevel,
    variable: Variable,
    level: Level,
    counts: dict[str, Int64],
    minimum: int | None,
) -> SmallCodes:
    minimum = minimum or 0
    below = counts[level.name] < minimum
    codes = [level.codes[number].code for number in np.flatnonzero(below)]
    numbers = [int(number) for number in counts[level.name][below]]
    # Nobody is shown by the figures of an empty group.
    alone, beside = _alone(variable, level, counts[level.name], below)
    return SmallCodes(at, minimum, tuple(codes), tuple(numbers), len(level.codes), alone, beside)


def _alone(
    variable: Variable, level: Level, counts: Int64, below: Mask
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Codes that are the only ones below within a group of others, at any next coarser level.

    With the smallest other code of each such group.
    """
    single_codes: dict[str, None] = {}
    neighbours: dict[str, None] = {}
    above = [coarse.group_array for coarse in coarser_levels(level, list(variable.levels()))]
    for group in above or [np.zeros(len(level.group), dtype=np.int64)]:
        parent = np.zeros(len(level.codes), dtype=np.int64)
        parent[level.group_array] = group
        inside = np.bincount(parent, minlength=1)
        withheld = np.bincount(parent[below], minlength=inside.size)
        single = below & (counts > 0) & (inside[parent] > 1) & (withheld[parent] == 1)
        for at in np.flatnonzero(single).tolist():
            single_codes[level.codes[at].code] = None
            others = np.flatnonzero((parent == parent[at]) & ~below)
            nearest = int(others[np.argmin(counts[others])])
            neighbours[level.codes[nearest].code] = None
    return tuple(single_codes), tuple(neighbours)


def _detail(policy: Policy, at: AtLevel, level: Level, counts: Int64) -> Iterator[DetailOf]:
    """How fine variables may be for the areas of a level, areas of the same detail together."""
    named = dict.fromkeys(
        level.variable for entry in policy.design.detail for level in entry.levels
    )
    groups: dict[tuple[AtLevel, ...], list[str]] = {}
    for code, count in zip(level.codes, counts.tolist(), strict=True):
        limits = (_finest(policy, name, count) for name in named)
        finest = tuple(limit for limit in limits if limit is not None)
        if finest:
            groups.setdefault(finest, []).append(code.code)
    for finest, codes in groups.items():
        yield DetailOf(at, tuple(codes), finest)


def _finest(policy: Policy, name: str, population: int) -> AtLevel | None:
    """The finest level of a variable for an area of that size; ``None`` where it is not limited."""
    variable = policy.schema.variable(name)
    entries = [
        (entry.population, level)
        for entry in policy.design.detail
        for level in entry.levels
        if level.variable == name
    ]
    fitting = [entry for entry in entries if entry[0] <= population]
    if fitting:
        limit = max(fitting, key=lambda entry: entry[0])[1]
        is_leaf = policy.level(limit).name == variable.leaf_level
        return None if is_leaf else limit
    lowest = policy.level(min(entries, key=lambda entry: entry[0])[1]).group_array
    coarser = [level for level in variable.levels() if strictly_coarser(level.group_array, lowest)]
    if not coarser:
        return None
    return AtLevel(name, min(coarser, key=lambda coarse: len(coarse.codes)).name)
