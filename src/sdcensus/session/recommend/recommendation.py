"""Advice for an office that has one statistician: scheme, policy and tables, with reasons."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path

from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import SpecError, UnknownName
from sdcensus.methods.cell_key import CellKey
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Setting
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.plan.plan import Plan, PlanOutput, PlanPolicy, Protection
from sdcensus.model.policy.policy import Policy, UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.risk.looks.budget import LookBudget, look_budget_of_tables
from sdcensus.session.census.census import Census
from sdcensus.session.census.sample import refuse_unweighted_menu
from sdcensus.session.policy.online import ask
from sdcensus.session.policy.small_codes import undecided, undecided_lines
from sdcensus.session.policy.verdict import Verdict
from sdcensus.session.policy.versions import publishable_versions
from sdcensus.session.protect.smallest_group import suggested_smallest_group
from sdcensus.session.recommend.choice import chosen_noise, later_builder, offered_menu
from sdcensus.session.recommend.facts import Facts, facts_of
from sdcensus.session.recommend.menus import (
    MEAN_CELL,
    first_policy,
)
from sdcensus.session.recommend.noise import Noise, Rejected, shows_none
from sdcensus.session.recommend.swapping import SwapAdvice, swap_advice
from sdcensus.session.recommend.tables import (
    PRINTED_AREAS,
    TableDesign,
    has_many_small,
    small_share,
    standard_tables,
)
from sdcensus.session.recommend.uniques import unique_advice, with_coarser
from sdcensus.session.recommend.words import (
    cautions,
    noise_words,
    policy_reasons,
)

__all__ = [
    "PERTURBATION_FILE",
    "PLAN_FILE",
    "POLICY_FILE",
    "Advice",
    "AskedTable",
    "Recommendation",
    "RecommendedProduct",
    "noise_words",
    "own_group",
    "read_given_policy",
    "recommend",
    "versions_of",
]

PLAN_FILE, POLICY_FILE, PERTURBATION_FILE = "plan.toml", "policy.toml", "perturbation.csv"


class RecommendedProduct(StrEnum):
    """What the office wants to publish.

    ``report``: a printed report, a few tables for each topic. ``programme``: a programme of tables
    with more detail. ``builder``: users put their own tables together.
    """

    REPORT = "report"
    PROGRAMME = "programme"
    BUILDER = "builder"

    @classmethod
    def named(cls, name: str | RecommendedProduct) -> RecommendedProduct:
        """The product of that name."""
        try:
            return cls(name)
        except ValueError:
            raise UnknownName("product", str(name), known=list(cls)) from None

    @classmethod
    def several(cls, names: str | Collection[str]) -> tuple[RecommendedProduct, ...]:
        """Products by their names, separated by commas or one by one, each once and in order.

        Examples:
            >>> [str(product) for product in RecommendedProduct.several("builder, report")]
            ['report', 'builder']
        """
        words = names.split(",") if isinstance(names, str) else names
        wanted = {cls.named(word.strip()) for word in words if word.strip()}
        if not wanted:
            raise SpecError(f"Name what shall be published: {', '.join(cls)}, or several of them.")
        return tuple(product for product in cls if product in wanted)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that is proposed, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Recommendation(Confidential):
    """What is proposed for a census. Made from true counts: for the office.

    Attributes:
        products: What is to be published.
        facts: What the advice depends on.
        noise: The scheme, with reasons.
        policy: What may be asked.
        policy_file: The policy that was given; ``None`` if one is proposed.
        tables: The tables.
        budgets: The look budgets of everything that would be published, by kind of unit.
        plan: The plan, without the place of its store.
        policy_reasons: The rules of the policy and why.
        rejected: What else was considered, and why not.
        cautions: What to look at.
        swapping: Swapping for a programme that must deliver every cell, with the combined measure;
            ``None`` where no programme was asked for, or nothing can be swapped.
    """

    products: tuple[RecommendedProduct, ...]
    facts: Facts
    noise: Noise
    policy: Policy
    policy_file: Path | None
    tables: tuple[TableDesign, ...]
    budgets: tuple[LookBudget, ...]
    plan: Plan
    policy_reasons: tuple[Advice, ...]
    rejected: tuple[Rejected, ...]
    cautions: tuple[str, ...]
    swapping: SwapAdvice | None = None

    def __repr__(self) -> str:
        return f"<Recommendation of a {self.product}: confidential>"

    @property
    def product(self) -> str:
        """What is to be published, in words."""
        return joined(self.products)


@dataclass(frozen=True, slots=True)
class AskedTable:
    """A table that somebody wants, and what of it can be published.

    Attributes:
        spec: The table.
        verdict: What the policy says of it.
        versions: The finest versions that pass, those that keep most first.
    """

    spec: TableSpec
    verdict: Verdict
    versions: tuple[TableSpec, ...]


def recommend(
    census: Census,
    product: str | Collection[str] = RecommendedProduct.PROGRAMME,
    *,
    policy: Policy | None = None,
    policy_file: Path | None = None,
    progress: Progress = no_progress,
) -> Recommendation:
    """Look at a census and propose scheme, policy and tables for what shall be published.

    Noise is chosen for all of it together. What is proposed opens: its policy lets users ask for
    what its noise withstands, and for no more, also where no builder was asked for.

    Args:
        census: The census.
        product: What is to be published; several, separated by commas.
        policy: A policy that the office has already; else one is proposed.
        policy_file: Its file, which the plan shall name.
        progress: Told how far it is.

    Raises:
        SpecError: There is nothing to tabulate, or no noise and no menu would do.
    """
    wanted = RecommendedProduct.several(product)
    builder = RecommendedProduct.BUILDER in wanted
    facts = _facts(census, policy, progress, builder=builder)
    base, alone = _base(census, facts, wanted, policy, progress)
    progress("counting looks", 0.0)
    menu = None
    if builder:
        menu = offered_menu(facts, base, given=policy is not None, alone=len(wanted) == 1)
    chosen = base if menu is None else menu.policy
    progress("designing tables", 0.0)
    mean = chosen.online.mean_cell_size
    designed = partial(
        standard_tables,
        census,
        facts,
        replace(chosen, measure=facts.measure),
        mean=MEAN_CELL if mean is None else mean,
        crossed=RecommendedProduct.PROGRAMME in wanted,
        most_areas=PRINTED_AREAS if wanted == (RecommendedProduct.REPORT,) else None,
    )
    tables = designed()
    small = small_share(census, tables)
    if not shows_none(small) and has_many_small(census, chosen, tables):
        # Ones and twos will be seen: tables with too many of them get coarser areas.
        tables = designed(few_small=True)
        small = small_share(census, tables)
    if not tables:
        raise SpecError(_no_table(facts, chosen, given=policy is not None))
    specs = [table.table.spec(census.schema, Measure.COUNT) for table in tables]
    progress("choosing noise", 0.0)
    budgets = (*(() if menu is None else menu.budgets), *look_budget_of_tables(specs))
    choice = chosen_noise(census, chosen, specs, budgets, small, proposed=policy is None, menu=menu)
    noise, chosen = choice.noise, choice.policy
    smallest = suggested_smallest_group(census, noise.design.max_deviation)
    plan = _plan(tables, noise, policy_file, own_group(chosen, smallest), facts.unsaid)
    progress("looking ahead", 0.0)
    both = ",".join([*wanted, RecommendedProduct.BUILDER])
    ahead = (
        ()
        if builder
        else later_builder(facts, base, choice, small, given=policy is not None, products=both)
    )
    return Recommendation(
        wanted,
        facts,
        noise,
        chosen,
        policy_file,
        tables,
        choice.budgets,
        plan,
        tuple(Advice(*reason) for reason in policy_reasons(chosen, facts, plan)),
        (*noise.rejected, *(() if menu is None else menu.rejected)),
        (
            *ahead,
            *cautions(facts, tables, noise, chosen),
            *alone,
            *undecided_lines(chosen, undecided(chosen, census, specs)),
        ),
        _swapping(wanted, census, specs, noise),
    )


def _base(
    census: Census,
    facts: Facts,
    wanted: Collection[RecommendedProduct],
    given: Policy | None,
    progress: Progress,
) -> tuple[Policy, tuple[str, ...]]:
    """The policy to start from, and what is said about variables that single people out."""
    builder = RecommendedProduct.BUILDER in wanted
    name = f"{census.schema.census.name}: {joined(tuple(wanted))}"
    base = given or first_policy(census, facts, name, progress=progress)
    advice = unique_advice(census, facts, base, progress=progress) if builder else None
    if advice is None:
        return base, ()
    if given is None:
        base, advice = with_coarser(base, facts, advice)
    return base, tuple(advice.lines)


def _swapping(
    wanted: Collection[RecommendedProduct],
    census: Census,
    specs: Collection[TableSpec],
    noise: Noise,
) -> SwapAdvice | None:
    """Swapping, where a programme was asked for."""
    if RecommendedProduct.PROGRAMME not in wanted:
        return None
    return swap_advice(census, tuple(specs), noise.design)


def versions_of(
    recommendation: Recommendation,
    census: Census,
    spec: TableSpec,
    *,
    role: str | UserRole | None = None,
) -> AskedTable:
    """What of a table can be published under the policy: itself, or its finest versions.

    It is asked for by the public where a builder is proposed, else made by the office.

    Rules on published numbers are tried on tables with the proposed noise. They are thrown away:
    the office's own will have other numbers, since its secret picks them.
    """
    # Keys are in the store already; looked up as they are, they need no secret.
    method = CellKey(recommendation.noise.design, lookup=Lookup.ASCENDING)

    def show(version: TableSpec) -> AnyTable:
        return method.protect(census.tabulate(version)).table

    policy = recommendation.policy
    if role is None:
        opened = RecommendedProduct.BUILDER in recommendation.products
        role = UserRole.PUBLIC if opened else UserRole.PRODUCTION
    verdict = ask(policy, spec, role=role)
    return AskedTable(spec, verdict, publishable_versions(policy, spec, role, show))


def read_given_policy(path: str | Path, census: Census) -> Policy:
    """A policy that the office has, checked against the census."""
    return read_policy(path, census.schema)


def own_group(policy: Policy, smallest: int) -> int | None:
    """The smallest group that a plan has to say itself: what its policy does not guarantee."""
    of_policy = policy.online_for(UserRole.PRODUCTION).smallest_group
    return smallest if of_policy is None or of_policy < smallest else None


def _facts(census: Census, policy: Policy | None, progress: Progress, *, builder: bool) -> Facts:
    """What the advice depends on, if the policy of the office says what is counted."""
    progress("looking at areas", 0.0)
    facts = facts_of(census, measure=None if policy is None else policy.measure)
    if policy is not None and builder:
        refuse_unweighted_menu(census, policy)
    return facts


def _plan(
    tables: tuple[TableDesign, ...],
    noise: Noise,
    policy_file: Path | None,
    smallest: int | None,
    measure: Measure | None,
) -> Plan:
    # The look-up is the usual one of such noise, so nothing has to be said about it.
    settings: tuple[tuple[str, Setting], ...] = (
        ("strength", noise.strength) if noise.strength else ("perturbation", PERTURBATION_FILE),
    )
    return Plan(
        store="census.store",
        measure=measure,
        tables=tuple(table.table for table in tables),
        protect=Protection(method="cell-key", settings=settings, smallest_group=smallest),
        policy=PlanPolicy(file=POLICY_FILE if policy_file is None else str(policy_file)),
        output=PlanOutput(
            folder="published",
            office_folder="published.office",
            formats=("csv", "xlsx"),
            evaluation=True,
        ),
    )


def _no_table(facts: Facts, policy: Policy, *, given: bool) -> str:
    if given:
        return (
            f"The policy {policy.name!r} lets none of the usual tables pass. Offer more variables,"
            " or more of them in one table."
        )
    return (
        f"The census is too small for any table with {MEAN_CELL:g} {facts.of.plural} in a cell on"
        " average. Publish totals only, or give its variables coarser levels in the schema."
    )
