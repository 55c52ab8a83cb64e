"""The rules of a proposed policy in plain words, and what else to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.methods.perturbation.schemes import STRENGTHS
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.plan.plan import Plan
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.vocabulary import Measure
from sdcensus.risk.groups.broken_down import LARGEST_HOUSEHOLD
from sdcensus.risk.looks.chance import large_variance
from sdcensus.session.recommend.facts import Facts
from sdcensus.session.recommend.noise import LARGEST_VARIANCE, Noise
from sdcensus.session.recommend.tables import TableDesign

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
            " independent, also about the same people, and that of a total and of its parts. So"
            " nobody finds people by looking for equal numbers. It is the usual look-up: the plan"
            " need not name it."
            if noise.lookup is Lookup.DEFINITION
            else "with deviations this small, noise that hangs together is harder to unpick."
        )
    )
    yield from noise.reasons
    yield (
        "From one table alone, the best guess of a count is right in"
        f" {share_text(noise.alone, digits=0)} of cases."
        f" {noise.given_away:.2g} sums are expected to give all their parts away."
    )


def policy_reasons(policy: Policy, facts: Facts, plan: Plan) -> Iterator[tuple[str, str]]:
    """Each rule of a policy, and of the plan beside it, with its reason."""
    limits, online, design = policy.limits, policy.online, policy.design
    if facts.measure is Measure.WEIGHTED:
        yield (
            "weighted counts: estimates of how many there are, not of how many were asked",
            f"the records are a weighted sample: {facts.units:,} {facts.of.plural} stand for"
            f" {facts.stand_for or 0:,}. Cells are judged by records, since these can be found"
            " again",
        )
    if limits.dimensions is not None:
        own = policy.role(UserRole.PRODUCTION).dimensions
        office = "" if own in (None, limits.dimensions) else f" for users, {own} for the office"
        variables = "1 variable" if limits.dimensions == 1 else f"{limits.dimensions} variables"
        yield (
            f"tables of at most {variables}{office}, filters and area included",
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
            "all tables together may give a count away with a chance of"
            f" {share_text(online.recovery, digits=0)}",
            "found by adding up and subtracting published values, in the cell that they show best",
        )
    smallest = online.smallest_group
    if plan.protect is not None:
        smallest = plan.protect.smallest_group or smallest
    if smallest is not None:
        yield (
            f"groups that are published below {smallest} are not broken down further",
            "so that no group of few people, and no private household, has its attributes read off"
            " from several tables, whatever the noise did to it. The size is that of the largest"
            f" private household (more than {LARGEST_HOUSEHOLD} persons are taken for an"
            " institution), the largest deviation and one. Readers see it; keep the reason to"
            " yourself, since it tells how far numbers can be from the truth",
        )
    if design.minimum_population is not None:
        small = _below(facts, design.minimum_population)
        yield (
            f"areas with fewer than {design.minimum_population:,} people are not offered",
            small or "the office decides once, by true counts, which these are",
        )
    yield from _variable_reasons(policy)


def _variable_reasons(policy: Policy) -> Iterator[tuple[str, str]]:
    """The rules on variables; those that say the same about several of them together."""
    names: dict[tuple[str, str], list[str]] = {}
    places = {area.name for area in policy.areas}
    for rule in policy.variables:
        if not rule.offered:
            why = (
                "areas that cut across others have differences of a few people"
                if rule.variable in places
                else _why_left_out(policy, rule.variable)
            )
            names.setdefault(("not offered", why), []).append(rule.variable)
            continue
        if rule.units is not None:
            what = f"on tables of {', '.join(unit.plural for unit in rule.units)} only"
            names.setdefault((what, _WHY_UNITS), []).append(rule.variable)
        if rule.finest_area is not None:
            what = f"with areas down to {rule.finest_area} only"
            names.setdefault((what, _WHY_AREA), []).append(rule.variable)
        if rule.finest_level:
            what = f"down to the level {rule.finest_level}"
            names.setdefault((what, _WHY_LEVEL), []).append(rule.variable)
    for (what, why), variables in names.items():
        yield f"{', '.join(variables)} {what}", why


_WHY_UNITS = (
    "on other tables they would be a known multiple of other counts, or ask for more noise than"
    " tables bear"
)
_WHY_AREA = "marked as sensitive in the schema, and smaller areas are too small for that"
_WHY_LEVEL = "finer areas or categories do not bear the tables"


def _why_left_out(policy: Policy, name: str) -> str:
    tied = {variable.name for tie in ties_of(policy.schema) for variable, _ in tie.leaves}
    if name in tied:
        return "counts of larger units would be shown once more (an identity of the schema)"
    return "all that is open would ask for more noise than tables bear"


def no_builder_later() -> tuple[str, ...]:
    """That no builder can be opened over this census, now or later."""
    return ("No table builder can be recommended for this census, now or later.",)


def builder_later(
    opened: Policy, noise: Noise, both: Noise, *, carried: int | None, products: str
) -> tuple[str, ...]:
    """What a builder asks for that is opened after the first publication.

    Args:
        opened: What a builder would open.
        noise: What is proposed now.
        both: What would be proposed for a builder as well.
        carried: How many variables tables may have that users ask for with the noise of now.
        products: What to ask for to have both.
    """
    most = opened.limits.dimensions
    variables = "1 variable" if most == 1 else f"{most} variables"
    up_to = f"a table builder with tables of up to {variables}"
    if both.design == noise.design:
        return (
            f"The noise also carries {up_to}: it can be opened later, and no published number"
            f" changes. Its policy: --product {products}.",
        )
    return (
        f"Whoever opens {up_to} later needs noise with a variance of"
        f" {large_variance(both.design):.3g}; this one has {large_variance(noise.design):.3g}, and"
        f" carries tables of up to {carried}. Other noise changes every published number, so decide"
        f" before the first publication: --product {products} chooses noise for both.",
    )


def cautions(
    facts: Facts, tables: Sequence[TableDesign], noise: Noise, policy: Policy
) -> Iterator[str]:
    """What the office should look at before it follows the advice."""
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
    for area in facts.areas:
        empty = len(area.units) - len(area.filled)
        if empty:
            areas = "area has" if empty == 1 else "areas have"
            shown = "published as 0" if policy.design.minimum_population is None else "not offered"
            yield f"{area.axis}: {empty:,} {areas} no {facts.of.plural}; they are {shown}."
    if facts.age is None or facts.sex is None:
        missing = [
            name for name, variable in (("age", facts.age), ("sex", facts.sex)) if variable is None
        ]
        yield (
            f"No variable was recognised as {' or '.join(missing)} by its name or label; tables by"
            " it have to be added to the plan by hand."
        )
    for area_level in facts.across:
        yield (
            f"{area_level.axis} cuts across the other areas. No table has it: areas that overlap"
            " differ by"
            " a few people."
        )
    if facts.areas:
        yield from _without_areas(tables)


def _without_areas(tables: Sequence[TableDesign]) -> Iterator[str]:
    whole = [table for table in tables if table.area is None]
    reasons = {
        True: "the policy refuses every level of areas that their cells bear.",
        False: "at every level too many areas would have sparse cells, or there is one area only.",
    }
    for refused, reason in reasons.items():
        number = sum(table_design.refused is refused for table_design in whole)
        if number:
            have = "has" if number == 1 else "have"
            yield f"{number} of {len(tables)} tables {have} no areas: {reason}"


def _below(facts: Facts, population: int) -> str:
    parts = []
    for area in facts.areas:
        small = sum(0 < size < population for size in area.units)
        if small:
            parts.append(f"{small:,} of {len(area.units):,} areas of {area.axis}")
    return f"here that is {', '.join(parts)}" if parts else "here all areas are larger"
