"""The rules of a proposed policy in plain words, and what else to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.methods.perturbation.schemes import STRENGTHS
from sdcensus.model.lookups import Lookup
from sdcensus.model.policy import Policy
from sdcensus.risk.looks_chance import large_variance
from sdcensus.session.recommending_facts import Facts
from sdcensus.session.recommending_noise import LARGEST_VARIANCE, Noise
from sdcensus.session.recommending_tables import TableDesign

#: With fewer units than this, tables say little that neighbours do not know.
SMALL_CENSUS = 1_000


def noise_words(noise: Noise) -> Iterator[str]:
    """The proposed scheme in words, and why it."""
    design = noise.design
    large = design.tail.rows + 2 * design.max_deviation
    if noise.strength:
        yield f"The strength {noise.strength}. {STRENGTHS[noise.strength].sentence}"
    else:
        yield (
            f"Noise of its own: every count moves by at most {design.max_deviation}, with a"
            f" variance of {large_variance(design):.3g}; large counts move by"
            f" {design.mean_absolute_deviation(large):.2f} on average."
        )
        if design.blocked:
            yield f"Counts from 1 to {design.blocked} are never published."
    yield (
        f"The look-up {noise.lookup}: "
        + (
            "the same question has the same number everywhere, and noise of different questions is"
            " independent, also about the same people, and that of a total and of its parts."
            if noise.lookup is Lookup.DEFINITION
            else "with deviations this small, noise that hangs together is harder to unpick."
        )
    )
    yield from noise.reasons
    yield (
        f"From one table alone, the best guess of a count is right in {noise.alone:.0%} of cases."
        f" {noise.given_away:.2g} sums are expected to give all their parts away."
    )


def policy_reasons(policy: Policy, facts: Facts) -> Iterator[tuple[str, str]]:
    """Each rule of a policy with its reason."""
    limits, online, design = policy.limits, policy.online, policy.design
    if limits.dimensions is not None:
        yield (
            f"tables of at most {limits.dimensions} variables, filters and area included",
            "every further variable multiplies the ways to add up to the same count",
        )
    if limits.cells is not None:
        yield (
            f"tables of at most {limits.cells:,} cells",
            "larger tables are mostly empty, and their filled cells are single units",
        )
    if online.mean_cell_size is not None:
        yield (
            f"at least {online.mean_cell_size:g} units in a cell on average, by area",
            "sparse tables show who is there; judged by published numbers only",
        )
    if online.ones is not None or online.ones_and_twos is not None:
        yield (
            "a table with too many published ones and twos is refused",
            "readers take them for people, whether they are true or not",
        )
    if online.recovery is not None:
        yield (
            f"all tables together may give a count away with a chance of {online.recovery:.0%}",
            "found by adding up and subtracting published values, in the cell that they show best",
        )
    if design.minimum_population is not None:
        small = _below(facts, design.minimum_population)
        yield (
            f"areas with fewer than {design.minimum_population:,} people are not offered",
            small or "the office decides once, by true counts, which these are",
        )
    for rule in policy.variables:
        if rule.finest_area is not None:
            yield (
                f"{rule.variable} with areas down to {rule.finest_area} only",
                "it is marked as sensitive in the schema, and smaller areas are too small for it",
            )
        if not rule.offered:
            places = {one.name for one in policy.areas}
            yield (
                f"{rule.variable} is not offered",
                "its areas cut across the others, so that differences would be a few people"
                if rule.variable in places
                else "it shows counts of larger units once more (an identity of the schema)",
            )
        elif rule.units is not None:
            yield (
                f"{rule.variable} on tables of {', '.join(one.plural for one in rule.units)} only",
                "persons by it are a known multiple of the units that hold them",
            )
        elif rule.finest_level:
            yield (
                f"{rule.variable} down to the level {rule.finest_level}",
                "finer areas or categories do not bear the tables",
            )


def cautions(
    facts: Facts, tables: Sequence[TableDesign], noise: Noise, *, opened: bool
) -> Iterator[str]:
    """What the office should look at before it follows the advice; ``opened``: users ask."""
    if not opened:
        yield (
            "The noise is enough for these tables, not for all that the policy would let users ask"
            " for: it judges one table at a time. Before you open it, ask for --product builder."
        )
    variance = large_variance(noise.design)
    if variance > LARGEST_VARIANCE:
        yield (
            f"The tables that are open ask for noise with a variance of {variance:.3g}, more than"
            f" the {LARGEST_VARIANCE:g} that any table bears. Narrow the policy: fewer variables in"
            " a table, coarser areas, fewer variables offered."
        )
    if facts.units < SMALL_CENSUS:
        yield (
            f"The census has fewer than {SMALL_CENSUS:,} {facts.of.plural}. Whoever lives there"
            " knows many of them; ask people of the place what tables would give away."
        )
    if not facts.areas:
        yield "The schema has no geography, so all tables are about the country as a whole."
    for one in facts.areas:
        empty = len(one.units) - len(one.filled)
        if empty:
            areas = "area has" if empty == 1 else "areas have"
            yield f"{one.axis}: {empty:,} {areas} no {facts.of.plural}; they are published as 0."
    if facts.age is None or facts.sex is None:
        missing = [name for name, one in (("age", facts.age), ("sex", facts.sex)) if one is None]
        yield (
            f"No variable was recognised as {' or '.join(missing)} by its name or label; tables by"
            " it have to be added to the plan by hand."
        )
    for one in facts.across:
        yield (
            f"{one.axis} cuts across the other areas. No table has it: areas that overlap differ by"
            " a few people."
        )
    if facts.areas:
        yield from _without_areas(tables)


def _without_areas(tables: Sequence[TableDesign]) -> Iterator[str]:
    whole = [one for one in tables if one.area is None]
    reasons = {
        True: "the policy refuses every level of areas that their cells bear.",
        False: "at every level too many areas would have sparse cells, or there is one area only.",
    }
    for refused, reason in reasons.items():
        number = sum(one.refused is refused for one in whole)
        if number:
            have = "has" if number == 1 else "have"
            yield f"{number} of {len(tables)} tables {have} no areas: {reason}"


def _below(facts: Facts, population: int) -> str:
    parts = []
    for one in facts.areas:
        small = sum(0 < size < population for size in one.units)
        if small:
            parts.append(f"{small:,} of {len(one.units):,} areas of {one.axis}")
    return f"here that is {', '.join(parts)}" if parts else "here all areas are larger"
