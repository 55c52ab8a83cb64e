"""The rules of a proposed policy in plain words, and what else to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from sdcensus.errors import Sentence
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.plan.plan import Plan
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.quantities import decimal_text, share_text, written_as
from sdcensus.model.schema.identities import ties_of
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import Value, in_every_language, in_language, sentence
from sdcensus.model.spec.headings import entity_text, entity_words
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.risk.groups.broken_down import LARGEST_HOUSEHOLD
from sdcensus.risk.looks.chance import large_variance
from sdcensus.session.recommend.facts import Facts
from sdcensus.session.recommend.noise import LARGEST_VARIANCE, Noise
from sdcensus.session.recommend.tables import TableDesign

#: With fewer units than this, tables say little that neighbours do not know.
SMALL_CENSUS = 1_000


def _significant(figure: float, digits: int) -> Text:
    """A figure with so many digits, as each language writes it."""
    return in_every_language(lambda language: written_as(f"{figure:.{digits}g}", language))


def _decimals(figure: float, digits: int) -> Text:
    return in_every_language(partial(decimal_text, figure, digits))


def _share(share: float) -> Text:
    return in_every_language(partial(share_text, share, digits=0))


def _variables(number: int | None) -> Sentence:
    key = "recommend.one_variable" if number == 1 else "recommend.variables"
    return sentence(key, n=number or 0)


def noise_words(noise: Noise) -> Iterator[str]:
    """The proposed scheme in words, and why it."""
    design = noise.design
    large = design.tail.rows + 2 * design.max_deviation
    if noise.strength:
        meaning = sentence(f"recommend.strength.{noise.strength}")
        yield sentence("recommend.noise.strength", name=noise.strength, sentence=meaning)
    else:
        yield sentence(
            "recommend.noise.own",
            most=design.max_deviation,
            variance=_significant(large_variance(design), 3),
            mean=_decimals(design.mean_absolute_deviation(large), 2),
        )
        if design.blocked:
            yield sentence("recommend.noise.blocked", n=design.blocked)
    key = "definition" if noise.lookup is Lookup.DEFINITION else "together"
    yield sentence(f"recommend.noise.{key}", name=str(noise.lookup))
    yield from noise.reasons
    yield sentence(
        "recommend.noise.alone", share=_share(noise.alone), sums=_significant(noise.given_away, 2)
    )


def policy_reasons(policy: Policy, facts: Facts, plan: Plan) -> Iterator[tuple[str, str]]:
    """Each rule of a policy, and of the plan beside it, with its reason."""
    limits, online, design = policy.limits, policy.online, policy.design
    if facts.measure is Measure.WEIGHTED:
        units, whole = entity_words(facts.of), facts.stand_for or 0
        yield _rule("weighted", "weighted", n=facts.units, units=units, whole=whole)
    if limits.dimensions is not None:
        own = policy.role(UserRole.PRODUCTION).dimensions
        more = own if own not in (None, limits.dimensions) else None
        key = "dimensions" if more is None else "dimensions_office"
        most = _variables(limits.dimensions)
        yield _rule(key, "dimensions", variables=most, own=more or 0)
    if limits.cells is not None:
        yield _rule("cells", "cells", n=limits.cells)
    if online.mean_cell_size is not None:
        yield _rule("mean", "mean", n=float(online.mean_cell_size))
    if online.ones is not None or online.ones_and_twos is not None:
        yield _rule("ones", "ones")
    if online.recovery is not None:
        yield _rule("recovery", "recovery", share=_share(online.recovery))
    smallest = online.smallest_group
    if plan.protect is not None:
        smallest = plan.protect.smallest_group or smallest
    if smallest is not None:
        yield (
            sentence("recommend.policy.smallest", n=smallest),
            sentence("recommend.policy.smallest_why", largest=LARGEST_HOUSEHOLD),
        )
    if design.minimum_population is not None:
        yield (
            sentence("recommend.policy.population", n=design.minimum_population),
            _below(facts, design.minimum_population),
        )
    yield from _variable_reasons(policy)


def _rule(what: str, why: str, **values: Value) -> tuple[str, str]:
    """A rule and its reason, by their keys."""
    return sentence(f"recommend.policy.{what}", **values), sentence(f"recommend.policy.{why}_why")


def _variable_reasons(policy: Policy) -> Iterator[tuple[str, str]]:
    """The rules on variables; those that say the same about several of them together."""
    names: dict[tuple[str, str, tuple[Entity, ...], str], list[str]] = {}
    places = {grid.variable for grid in policy.schema.grids}
    for rule in policy.variables:
        if not rule.offered:
            across = rule.variable in places
            why = "across" if across else _why_left_out(policy, rule.variable)
            names.setdefault(("not_offered", "", (), why), []).append(rule.variable)
            continue
        if rule.units is not None:
            names.setdefault(("units", "", tuple(rule.units), "units"), []).append(rule.variable)
        if rule.finest_area is not None:
            key = ("area", str(rule.finest_area), (), "area")
            names.setdefault(key, []).append(rule.variable)
        if rule.finest_level:
            names.setdefault(("level", rule.finest_level, (), "level"), []).append(rule.variable)
    for (what, finest, units, why), variables in names.items():
        listed = in_every_language(partial(_units_list, units))
        yield _rule(
            what, why, variables=", ".join(variables), area=finest, level=finest, units=listed
        )


def _units_list(units: Sequence[Entity], language: str) -> str:
    return ", ".join(entity_text(unit, language) for unit in units)


def _why_left_out(policy: Policy, name: str) -> str:
    """The key of the reason why a variable is not offered."""
    tied = {variable.name for tie in ties_of(policy.schema) for variable, _ in tie.leaves}
    return "identity" if name in tied else "noise"


def no_builder_later() -> tuple[str, ...]:
    """That no builder can be opened over this census, now or later."""
    return (sentence("recommend.later.never"),)


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
    most = _variables(opened.limits.dimensions)
    if both.design == noise.design:
        return (sentence("recommend.later.carried", variables=most, products=products),)
    return (
        sentence(
            "recommend.later.needs",
            variables=most,
            variance=_significant(large_variance(both.design), 3),
            own=_significant(large_variance(noise.design), 3),
            carried=str(carried),
            products=products,
        ),
    )


def cautions(
    facts: Facts, tables: Sequence[TableDesign], noise: Noise, policy: Policy
) -> Iterator[str]:
    """What the office should look at before it follows the advice."""
    variance = large_variance(noise.design)
    units = entity_words(facts.of)
    if variance > LARGEST_VARIANCE:
        yield sentence(
            "recommend.caution.variance",
            variance=_significant(variance, 3),
            most=float(LARGEST_VARIANCE),
        )
    if facts.measure is Measure.WEIGHTED:
        yield sentence("recommend.caution.weights")
    if facts.units < SMALL_CENSUS:
        yield sentence("recommend.caution.small_census", n=SMALL_CENSUS, units=units)
    if not facts.areas:
        yield sentence("recommend.caution.no_geography")
    for area in facts.areas:
        empty = len(area.units) - len(area.filled)
        if empty:
            shown = "empty" if policy.design.minimum_population is None else "not_offered"
            number = "_one" if empty == 1 else ""
            key = f"recommend.caution.{shown}{number}"
            yield sentence(key, axis=area.axis, n=empty, units=units)
    if facts.age is None or facts.sex is None:
        missing = [
            f"no_{name}"
            for name, variable in (("age", facts.age), ("sex", facts.sex))
            if variable is None
        ]
        yield sentence(f"recommend.caution.{'_'.join(missing)}")
    for area_level in facts.across:
        yield sentence("recommend.caution.across", axis=area_level.axis)
    if facts.areas:
        yield from _without_areas(tables)


def _without_areas(tables: Sequence[TableDesign]) -> Iterator[str]:
    whole = [table for table in tables if table.area is None]
    for refused, reason in ((True, "refused"), (False, "sparse")):
        number = sum(table_design.refused is refused for table_design in whole)
        if number:
            key = f"recommend.caution.no_areas_{reason}{'_one' if number == 1 else ''}"
            yield sentence(key, n=number, all=len(tables))


def _below(facts: Facts, population: int) -> str:
    parts = []
    for area in facts.areas:
        small = sum(0 < size < population for size in area.units)
        if small:
            total = len(area.units)
            parts.append(
                sentence("recommend.policy.below_areas", n=small, all=total, axis=area.axis)
            )
    if not parts:
        return sentence("recommend.policy.none_below")
    listed = in_every_language(
        lambda language: ", ".join(in_language(part, language) for part in parts)
    )
    return sentence("recommend.policy.below", areas=listed)
