"""Advice for an office that has one statistician: scheme, policy and tables, with reasons."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from sdcensus.documents.plan.document import plan_text
from sdcensus.documents.policy.document import read_policy
from sdcensus.documents.policy.text import policy_text
from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.methods.cell_key import CellKey
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Setting
from sdcensus.model.perturbation.table import Lookup
from sdcensus.model.plan.plan import Plan, PlanOutput, PlanPolicy, Protection
from sdcensus.model.policy.policy import Limits, Policy, UserRole, menu_of
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.looks.budget import LookBudget, look_budget_of_tables, look_budgets
from sdcensus.session.census.census import Census
from sdcensus.session.looks.budget import LIMIT, menus_of
from sdcensus.session.perturbation import ExchangeFormat, write
from sdcensus.session.policy.online import ask
from sdcensus.session.policy.verdict import Verdict
from sdcensus.session.policy.versions import publishable_versions
from sdcensus.session.protect.smallest_group import suggested_smallest_group
from sdcensus.session.recommend.facts import Facts, facts_of
from sdcensus.session.recommend.menus import (
    MEAN_CELL,
    builder_menu,
    cells_limit,
    first_policy,
)
from sdcensus.session.recommend.noise import Noise, Rejected, noise_for
from sdcensus.session.recommend.tables import (
    PRINTED_AREAS,
    TableDesign,
    small_share,
    standard_tables,
)
from sdcensus.session.recommend.words import cautions, noise_words, policy_reasons

__all__ = [
    "PERTURBATION_FILE",
    "PLAN_FILE",
    "POLICY_FILE",
    "Advice",
    "AskedTable",
    "Recommendation",
    "RecommendedProduct",
    "check_folder",
    "noise_words",
    "own_group",
    "read_given_policy",
    "recommend",
    "versions_of",
    "write_recommendation",
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


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that is proposed, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Recommendation(Confidential):
    """What is proposed for a census. Made from true counts: for the office.

    Attributes:
        product: What is to be published.
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
    """

    product: RecommendedProduct
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

    def __repr__(self) -> str:
        return f"<Recommendation of a {self.product}: confidential>"


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
    product: str | RecommendedProduct = RecommendedProduct.PROGRAMME,
    *,
    policy: Policy | None = None,
    policy_file: Path | None = None,
    progress: Progress = no_progress,
) -> Recommendation:
    """Look at a census and propose scheme, policy and tables for a product.

    Args:
        census: The census.
        product: What is to be published.
        policy: A policy that the office has already; else one is proposed.
        policy_file: Its file, which the plan shall name.
        progress: Told how far it is.

    Raises:
        SpecError: There is nothing to tabulate, or no noise and no menu would do.
    """
    wanted = RecommendedProduct.named(product)
    progress("looking at areas", 0.0)
    facts = facts_of(census)
    progress("counting looks", 0.0)
    chosen, menus, rejected = _policy(census, facts, wanted, policy)
    progress("designing tables", 0.0)
    mean = chosen.online.mean_cell_size
    tables = standard_tables(
        census,
        facts,
        chosen,
        mean=MEAN_CELL if mean is None else mean,
        crossed=wanted is RecommendedProduct.PROGRAMME,
        most_areas=PRINTED_AREAS if wanted is RecommendedProduct.REPORT else None,
    )
    if not tables:
        raise SpecError(_no_table(facts, chosen, given=policy is not None))
    specs = [table.table.spec(census.schema) for table in tables]
    budgets = menus or look_budget_of_tables(specs)
    progress("choosing noise", 0.0)
    noise = noise_for(budgets, small_share(census, tables), limit=chosen.online.recovery or LIMIT)
    smallest = suggested_smallest_group(census, noise.design.max_deviation)
    if policy is None:
        chosen = _finished(chosen, specs, noise, smallest, opened=bool(menus))
    plan = _plan(tables, noise, policy_file, own_group(chosen, smallest))
    return Recommendation(
        wanted,
        facts,
        noise,
        chosen,
        policy_file,
        tables,
        budgets,
        plan,
        tuple(Advice(*reason) for reason in policy_reasons(chosen, facts, plan)),
        (*noise.rejected, *rejected),
        tuple(cautions(facts, tables, noise, opened=wanted is RecommendedProduct.BUILDER)),
    )


def versions_of(
    recommendation: Recommendation,
    census: Census,
    spec: TableSpec,
    *,
    role: str | UserRole = UserRole.PUBLIC,
) -> AskedTable:
    """What of a table can be published under the policy: itself, or its finest versions.

    Rules on published numbers are tried on tables with the proposed noise. They are thrown away:
    the office's own will have other numbers, since its secret picks them.
    """
    # Keys are in the store already; looked up as they are, they need no secret.
    method = CellKey(recommendation.noise.design, lookup=Lookup.ASCENDING)

    def show(version: TableSpec) -> AnyTable:
        return method.protect(census.tabulate(version)).table

    policy = recommendation.policy
    verdict = ask(policy, spec, role=role)
    return AskedTable(spec, verdict, publishable_versions(policy, spec, role, show))


def read_given_policy(path: str | Path, census: Census) -> Policy:
    """A policy that the office has, checked against the census."""
    return read_policy(path, census.schema)


def check_folder(folder: str | Path) -> None:
    """Refuse early a folder in which a recommendation could not be written.

    Raises:
        OutputError: It is no folder, or one of the files exists.
    """
    target = Path(folder)
    if os.path.lexists(target) and not target.is_dir():
        raise OutputError(f"{target} is not a folder. Name a folder, old or new.")
    for name in (PLAN_FILE, POLICY_FILE, PERTURBATION_FILE):
        if os.path.lexists(target / name):
            raise OutputError(
                f"{target / name} already exists. Choose another folder, or remove it first."
            )


def write_recommendation(
    recommendation: Recommendation, store: str | Path, folder: str | Path
) -> tuple[Path, ...]:
    """Write plan, policy and, where the noise is of its own, its perturbation table.

    The folder is made if it is not there. Nothing is written over, and a perturbation table can be
    read by its owner only.

    Raises:
        OutputError: One of the files exists, or cannot be written.
    """
    target = Path(folder)
    files: list[tuple[Path, Callable[[Path], object]]] = []
    noise, plan = recommendation.noise, recommendation.plan
    if not noise.strength:
        files.append(
            (
                target / PERTURBATION_FILE,
                lambda path: write(noise.design, path, ExchangeFormat.PLAIN),
            )
        )
    if recommendation.policy_file is None:
        policy = policy_text(recommendation.policy)
        files.append((target / POLICY_FILE, lambda path: _write_text(path, policy)))
    else:
        named = PlanPolicy(file=_from(target, recommendation.policy_file))
        plan = replace(plan, policy=named)
    plan = replace(plan, store=_from(target, Path(store)))
    text = plan_text(plan, comments=_HEAD)
    files.append((target / PLAN_FILE, lambda path: _write_text(path, text)))
    check_folder(target)
    return _write_all(target, files)


_HEAD = (
    "What is published, from what, protected how, delivered as what.",
    "Written by sdcensus recommend. Read it, change it, and then it is yours.",
)


def _write_all(
    folder: Path, files: list[tuple[Path, Callable[[Path], object]]]
) -> tuple[Path, ...]:
    """All files or none."""
    paths: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, writer in files:
            writer(path)
            paths.append(path)
    except BaseException as error:
        for path in paths:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{folder}: cannot be written: {reason}.") from error
        raise
    return tuple(paths)


def _write_text(path: Path, text: str) -> None:
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)


def _from(folder: Path, target: Path) -> str:
    """A path as a document in a folder names it; absolute where there is no way from there."""
    try:
        path = Path(os.path.relpath(target.resolve(), folder.resolve()))
    except ValueError:  # another drive
        path = target.resolve()
    return path.as_posix()


def _policy(
    census: Census, facts: Facts, product: RecommendedProduct, given: Policy | None
) -> tuple[Policy, tuple[LookBudget, ...], tuple[Rejected, ...]]:
    """The policy, and for a builder the budgets of what it opens, and what was not opened."""
    schema = census.schema
    name = f"{schema.census.name}: {product}"
    if product is not RecommendedProduct.BUILDER:
        return given or first_policy(facts, schema, name), (), ()
    if given is None:
        menu = builder_menu(facts, schema, name)
        return menu.policy, menu.budgets, menu.rejected
    menu_of(given, schema, of=facts.of)  # refuses where nothing is offered of these
    return given, tuple(look_budgets(schema, menus_of(given)).values()), ()


def _finished(
    policy: Policy, specs: list[TableSpec], noise: Noise, smallest: int, *, opened: bool
) -> Policy:
    """The policy with the numbers that depend on tables and noise."""
    online = replace(policy.online, smallest_group=smallest)
    if noise.design.blocked >= 2:  # neither is ever published
        online = replace(online, ones=None, ones_and_twos=None)
    limits = policy.limits
    if not opened:
        limits = Limits(
            dimensions=max(len(spec.axes) for spec in specs),
            cells=cells_limit(max(spec.cells for spec in specs)),
        )
    return replace(policy, online=online, limits=limits)


def own_group(policy: Policy, smallest: int) -> int | None:
    """The smallest group that a plan has to say itself: what its policy does not guarantee."""
    of_policy = policy.online_for(UserRole.PRODUCTION).smallest_group
    return smallest if of_policy is None or of_policy < smallest else None


def _plan(
    tables: tuple[TableDesign, ...], noise: Noise, policy_file: Path | None, smallest: int | None
) -> Plan:
    # The look-up is the usual one of such noise, so nothing has to be said about it.
    settings: tuple[tuple[str, Setting], ...] = (
        ("strength", noise.strength) if noise.strength else ("perturbation", PERTURBATION_FILE),
    )
    return Plan(
        store="census.store",
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
