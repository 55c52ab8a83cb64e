"""Rules that read true counts: run at design time, by a person, who decides once. Confidential.

What goes into the policy is the decision (codes that are not offered, levels by area), never a
count. A rule on true counts that anybody could try out online would be an oracle: a dozen answers
give a population exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.ingest.identities import undeclared_identities
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.policy import (
    AtLevel,
    Decided,
    DetailOf,
    NotOffered,
    Policy,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.levels_told_apart import coarser_levels, strictly_coarser
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.differencing.published_before import exempt_differences
from sdcensus.session.census.census import Census
from sdcensus.session.gate.tied_units import tie_lines, ties_in_policy
from sdcensus.session.policy.households import (
    OneHouseholdCells,
    one_household_cells,
    tables_of_areas,
)

Mask = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]
#: How many findings of a kind are told.
MOST_SENTENCES = 10
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
    """

    at: AtLevel
    minimum: int
    codes: tuple[str, ...]
    counts: tuple[int, ...]
    of: int
    alone: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<SmallCodes of {self.at}: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignReport(Confidential):
    """What the rules at design time found, and what they propose to decide.

    Attributes:
        policy: The policy whose rules they are.
        areas: Areas with too small a population, by level.
        categories: Categories with too few people, by variable and level.
        detail: How fine variables may be, by area.
        exempt: Few people whom exempt totals show, by themselves or together.
        one_household: Cells of one household, by table.
        identities: Identities between units: what the policy shows through two of them, and what
            the records show and the schema does not declare.
    """

    policy: Policy
    areas: tuple[SmallCodes, ...] = ()
    categories: tuple[SmallCodes, ...] = ()
    detail: tuple[DetailOf, ...] = ()
    exempt: tuple[Findings, ...] = ()
    one_household: tuple[OneHouseholdCells, ...] = ()
    identities: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<DesignReport of {self.policy.name!r}: confidential>"

    @property
    def decided(self) -> Decided:
        """The decisions that follow from the rules."""
        small = [
            NotOffered(small_codes.at, small_codes.codes)
            for small_codes in (*self.areas, *self.categories)
            if small_codes.codes
        ]
        return Decided(not_offered=tuple(small), detail=self.detail)

    def lines(self, *, counts: bool = False) -> Iterator[str]:
        """The report in sentences for the office; with true counts only where asked for."""
        for kind, small in (("Areas", self.areas), ("Categories", self.categories)):
            for small_codes in small:
                head = f"{kind} of {small_codes.at} with fewer than {small_codes.minimum:,} people"
                if not small_codes.codes:
                    if small is self.areas:
                        yield f"{head}: none of {small_codes.of:,}."
                    continue
                codes = list(small_codes.codes[:MOST_CODES])
                if counts:
                    pairs = zip(codes, small_codes.counts, strict=False)
                    codes = [f"{code} ({count:,})" for code, count in pairs]
                if len(small_codes.codes) > MOST_CODES:
                    codes.append(f"{len(small_codes.codes) - MOST_CODES:,} more")
                yield f"{head}: {len(small_codes.codes):,} of {small_codes.of:,}: {joined(codes)}."
                if small_codes.alone:
                    yield (
                        f"  The only one in its group, so that its figures can be estimated from"
                        f" the group less the others: {joined(small_codes.alone)}. Withhold another"
                        " one"
                        " there as well, or do not offer the level."
                    )
        if self.categories and not any(category.codes for category in self.categories):
            yield f"Categories with fewer than {self.categories[0].minimum:,} people: none."
        for detail in self.detail:
            levels = joined([str(at_level) for at_level in detail.finest])
            yield f"{len(detail.codes):,} areas of {detail.at} get at most {levels}."
        for cells in self.one_household:
            head = f"Cells of {cells.spec.title} whose members all live in one household"
            if cells.share is None:
                yield f"{head}: none, since no cell holds anybody."
            else:
                share = share_text(cells.share)
                yield f"{head}: {cells.count:,}, {share} of those that hold anybody."
        yield from self.identities
        if not self.policy.exempt:
            return
        alone = [
            findings for findings in self.exempt if findings.kind is FindingKind.IDENTIFICATION
        ]
        together = [
            findings for findings in self.exempt if findings.kind is not FindingKind.IDENTIFICATION
        ]
        for found_so, how in (
            (alone, "are few people by themselves"),
            (together, "show few people together"),
        ):
            count = sum(findings.count for findings in found_so)
            if count:
                yield f"Exempt totals that {how}: {count:,}."
            elif found_so is together:
                yield (
                    "Exempt totals: no two of them differ by few people. This looks at pairs of"
                    " them, not at longer sums."
                )
            for findings in found_so if counts else ():
                yield from (f"  {sentence}" for sentence in findings.sentences(MOST_SENTENCES))


def design(
    policy: Policy,
    census: Census,
    *,
    of: Entity = Entity.PERSON,
    tables: Sequence[TableSpec] = (),
    progress: Progress = no_progress,
) -> DesignReport:
    """Run the rules of design time on a census.

    Args:
        policy: The policy.
        census: The census that it is about.
        of: Whose numbers are the populations.
        tables: Tables of persons in which cells of one household are looked for; without any,
            and where the policy has a rule about them, those of areas by one variable.
        progress: Told what is being done.
    """
    rules = policy.design
    steps = _steps(policy, of)
    areas: list[SmallCodes] = []
    categories: list[SmallCodes] = []
    detail: list[DetailOf] = []
    for at, (variable, levels) in enumerate(steps):
        progress(f"counting {variable.name}", at / len(steps))
        counts = _counts(census, variable, levels, of)
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
    exempt: tuple[Findings, ...] = ()
    if policy.exempt:
        progress("comparing exempt totals", 0.9)
        exempt = check_exempt(policy, census)
    looked_at = tables
    if not tables and rules.one_household_cells is not None:
        looked_at = tables_of_areas(policy)
    households = []
    for at, spec in enumerate(looked_at):
        progress("looking for cells of one household", at / len(looked_at))
        households.append(one_household_cells(census.tabulate(spec, households=True)))
    return DesignReport(
        policy,
        tuple(areas),
        tuple(categories),
        tuple(detail),
        exempt,
        tuple(households),
        tuple(_identities(policy, census, progress)),
    )


def _identities(policy: Policy, census: Census, progress: Progress) -> Iterator[str]:
    """What is shown through two kinds of units, and what else the records tie."""
    yield from tie_lines(ties_in_policy(policy))
    if census.kept_store is None:
        return
    for identity in undeclared_identities(census.kept_store, progress):
        yield (
            "The records show an identity between units that the schema does not declare. Declare"
            f" it there and load again: {'; '.join(identity.lines)}"
        )


def with_decisions(report: DesignReport) -> Policy:
    """The policy with what its rules of design time propose, to be looked at by a person."""
    return replace(report.policy, decided=report.decided)


def check_exempt(policy: Policy, census: Census, *, threshold: int = 2) -> tuple[Findings, ...]:
    """Look for few people that the exempt totals of a policy show, alone or together.

    Exempt totals are exact. A total of one person is that person; and the difference of two totals
    is exact as well: nested areas that differ by a hamlet, or trees of areas that do not nest.

    Args:
        policy: The policy.
        census: The census.
        threshold: The largest number of units that is found, from 1.
    """
    specs = policy.exempt_specs()
    counted = {spec.hash(): census.tabulate(spec) for spec in specs}
    detected = [detect(cube, threshold=threshold)[0] for cube in counted.values()]
    for kind in sorted({spec.of for spec in specs}):
        alike = [spec for spec in specs if spec.of is kind]
        detected += exempt_differences(
            alike, lambda spec: counted[spec.hash()], threshold=threshold
        )
    return tuple(findings for findings in detected if findings.count)


def _steps(policy: Policy, of: Entity) -> list[tuple[Variable, tuple[Level, ...]]]:
    """The variables that the rules of design time are about, with their levels."""
    rules = policy.design
    places = policy.areas
    steps = []
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
    alone = _alone(variable, level, below & (counts[level.name] > 0), below)
    return SmallCodes(at, minimum, tuple(codes), tuple(numbers), len(level.codes), alone)


def _alone(variable: Variable, level: Level, held: Mask, below: Mask) -> tuple[str, ...]:
    """Codes that are the only ones below within a group of others, at any next coarser level."""
    single_codes: dict[str, None] = {}
    above = [coarse.group_array for coarse in coarser_levels(level, list(variable.levels()))]
    for group in above or [np.zeros(len(level.group), dtype=np.int64)]:
        parent = np.zeros(len(level.codes), dtype=np.int64)
        parent[level.group_array] = group
        inside = np.bincount(parent, minlength=1)
        withheld = np.bincount(parent[below], minlength=inside.size)
        single = held & (inside[parent] > 1) & (withheld[parent] == 1)
        single_codes |= {level.codes[int(at)].code: None for at in np.flatnonzero(single)}
    return tuple(single_codes)


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
