"""``sdcensus looks``: how often all tables together look at a cell, and what that gives away."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.options import Quiet, Store, Units, examples, listed
from sdcensus.errors import SpecError
from sdcensus.model.policy.rules import BROKEN_DOWN
from sdcensus.model.quantities import limit_text, share_text

if TYPE_CHECKING:
    from sdcensus.session.census.census import Census
    from sdcensus.session.gate.broken_down import BrokenDown
    from sdcensus.session.looks.budget import CellLooks, LookBudget

EXAMPLES = examples(
    "sdcensus looks census.store --policy policy.toml",
    "sdcensus looks census.store --plan plan.toml --limit 0.3",
    "sdcensus looks census.store --policy policy.toml --cells ed@parish,age@five_year",
)

PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", metavar="FILE", help="Everything that a policy opens to a role."),
]
PlanFile = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="All tables of a plan.")
]


def looks(
    store: Store,
    policy: PolicyFile = None,
    plan: PlanFile = None,
    of: Units = "persons",
    role: Annotated[
        str, typer.Option("--role", metavar="ROLE", help="--policy: for whom it is open.")
    ] = "public",
    scheme: Annotated[
        str | None,
        typer.Option(
            "--scheme", metavar="NAMES", help="Schemes to compare, comma-separated. None: all."
        ),
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit",
            metavar="CHANCE",
            help="How often averaging may find a count. Else as the policy says, or 0.5.",
        ),
    ] = None,
    variables: Annotated[
        int,
        typer.Option(
            "--variables", metavar="N", min=0, max=3, help="Variables of a cell besides its area."
        ),
    ] = 1,
    cells: Annotated[
        str | None,
        typer.Option(
            "--cells",
            metavar="AXES",
            help="--policy: also count the looks at these cells in the census itself.",
        ),
    ] = None,
    unbroken: Annotated[
        int,
        typer.Option(
            "--unbroken",
            metavar="N",
            min=0,
            help="--cells: groups of fewer are not broken down; smallest_group less the largest"
            " deviation.",
        ),
    ] = 0,
    quiet: Quiet = False,
) -> None:
    """Count the looks that all tables together give at a cell: the look budget.

    A cell that is published has one look. Every other table from which its count can be added up or
    subtracted makes it better known. Whoever solves all of them by least squares comes closer to
    the true count; this says how close, and what noise is needed against it.

    Budgets say nothing about equal groups of people in different tables. What the tables break
    down is counted in the census, and shown below.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.looks.budget import (
        budget_of_plan,
        budget_of_policy,
        limit_of,
        looks_in_policy,
        named_noise,
    )

    output = Output(quiet=quiet)
    _check(policy, plan, limit, cells, unbroken)
    census = open_store(store)
    with Stages(output, "counting looks") as stages:
        if policy is not None:
            budget = budget_of_policy(census, policy, of=of, role=role, own=variables)
            budgets: tuple[LookBudget, ...] = (budget,)
        else:
            assert plan is not None
            budgets = budget_of_plan(plan, census, own=variables)
        cell_looks = None
        if policy is not None and cells is not None:
            cell_looks = looks_in_policy(
                census,
                policy,
                listed(cells),
                of=of,
                role=role,
                perturbation=named_noise(next(iter(listed(scheme or "")), None)),
                unbroken=unbroken,
                progress=stages,
            )
    most = limit_of(census, policy) if limit is None else limit
    for budget in budgets:
        _show(output, budget, most)
        _show_schemes(output, budget, listed(scheme or ""), most)
    _explain(output)
    if cell_looks is not None:
        _show_cells(output, cell_looks, listed(scheme or ""))
    _show_groups(output, census, policy, plan, of, role, listed(scheme or ""))


def _show_groups(
    output: Output,
    census: Census,
    policy: Path | None,
    plan: Path | None,
    of: str,
    role: str,
    names: list[str],
) -> None:
    """What budgets do not cover: groups that the tables together break down."""
    from sdcensus.cli.shared.tables import show_broken_down
    from sdcensus.session.gate.broken_down import (
        broken_down_in_plan,
        broken_down_in_policy,
        read_plan_of,
        read_policy_of,
    )
    from sdcensus.session.looks.budget import named_noise

    assumed = ""
    with Stages(output, "counting what is broken down") as stages:
        if policy is not None:
            rules = read_policy_of(census, policy)
            noise = named_noise(names[0] if names else None)
            assumed = noise.name
            measures: tuple[BrokenDown, ...] = (
                broken_down_in_policy(
                    census, rules, of=of, role=role, perturbation=noise, progress=stages
                ),
            )
            limit = rules.broken_down
        else:
            assert plan is not None
            planned, obeyed = read_plan_of(census, plan)
            measures = broken_down_in_plan(census, planned, obeyed, progress=stages)
            limit = BROKEN_DOWN if obeyed is None else obeyed.broken_down
    show_broken_down(output, census, measures, limit, assumed=assumed)


def _check(
    policy: Path | None,
    plan: Path | None,
    limit: float | None,
    cells: str | None,
    unbroken: int,
) -> None:
    if (policy is None) == (plan is None):
        raise SpecError("Say what is published: --policy FILE or --plan FILE, one of the two.")
    if limit is not None and not 0 < limit < 1:
        raise SpecError(f"--limit is a chance above 0 and below 1, such as 0.5, not {limit:g}.")
    if cells is not None and policy is None:
        raise SpecError("--cells is for what a policy opens: --policy FILE.")
    if unbroken and cells is None:
        raise SpecError("--unbroken is for the cells of a census: --cells AXES.")
    if cells is not None and not listed(cells):
        raise SpecError("--cells needs axes, such as ed@parish,age@five_year.")


def _show(output: Output, budget: LookBudget, limit: float) -> None:
    output.say(f"Look budget: {budget.of.plural}", style="bold")
    output.say(budget.sentence)
    if budget.across:
        output.say(budget.across)
    table = plain_table()
    table.add_column("area")
    table.add_column("worst cell by")
    table.add_column("looks", justify="right")
    table.add_column(f"variance\nfor {limit_text(limit)}", justify="right")
    for level in budget.levels:
        table.add_row(
            level.area or "none",
            ", ".join(level.axes) or "-",
            f"{level.looks:,.2f}" if level.exact else f"≤ {level.looks:,.4g}",
            f"{level.variance(limit):,.3g}",
        )
    output.show(table)


def _show_schemes(output: Output, budget: LookBudget, names: list[str], limit: float) -> None:
    from sdcensus.session.looks.budget import needed, schemes_against

    worst = budget.asked
    output.say(f"\nAt the worst cell ({worst.title})", style="bold")
    table = plain_table()
    table.add_column("scheme", no_wrap=True)
    table.add_column("one table", justify="right")
    table.add_column("all tables", justify="right")
    table.add_column("sums given\naway", justify="right")
    table.add_column(f"within {limit_text(limit)}")
    for scheme_looks in schemes_against(budget, names):
        title = (
            f"{scheme_looks.scheme} ({scheme_looks.strength})"
            if scheme_looks.strength
            else scheme_looks.scheme
        )
        table.add_row(
            title,
            share_text(scheme_looks.alone, digits=0),
            share_text(scheme_looks.together, digits=0),
            f"{scheme_looks.given_away:.2g}",
            "yes" if scheme_looks.together <= limit else "no",
        )
    output.show(table)
    wanted = needed(budget, limit)
    output.say(
        f"Within {limit_text(limit)} stays noise with a variance of at least {wanted.variance:.3g},"
        f" in which the largest deviation has a probability of at most {wanted.edge:.2g}.\n"
    )


def _explain(output: Output) -> None:
    from sdcensus.session.looks.budget import NOT_COVERED

    output.say(
        "One table: the chance to guess a count from its published value. All tables: the chance"
        " that the best estimate from all looks, rounded, is the count. Sums given away: how many"
        " sums are expected in which every part and the total moved as far as they can. Filters"
        " select the same records as codes of an axis, which have the same noise: they add no"
        " looks."
        f" {NOT_COVERED}"
    )
    output.note("This is for the office: whoever knows the noise can undo more of it.")


def _show_cells(output: Output, found: CellLooks, names: list[str]) -> None:
    from sdcensus.session.looks.budget import NOT_COVERED, named_noise

    noise = named_noise(names[0] if names else None)
    output.say(f"\nIn the census itself: cells of {found.title}", style="bold")
    table = plain_table()
    table.add_column("true count")
    table.add_column("cells", justify="right")
    table.add_column("looks", justify="right")
    table.add_column(f"found with\n{noise.name}", justify="right")
    for looks_by_size in found.by_size(noise):
        size = f"{looks_by_size.smallest}"
        if looks_by_size.largest is None:
            size = f"{looks_by_size.smallest} and over"
        elif looks_by_size.largest != looks_by_size.smallest:
            size = f"{looks_by_size.smallest} to {looks_by_size.largest}"
        chance = (
            "-" if looks_by_size.recovery is None else share_text(looks_by_size.recovery, digits=0)
        )
        table.add_row(size, f"{looks_by_size.cells:,}", f"{looks_by_size.looks:.2f}", chance)
    output.show(table)
    rest = f" {found.left_out:,} more were not." if found.left_out else ""
    output.say(
        f"At most so many looks, from {found.tables:,} choices of variables that were"
        f" counted.{rest} Cells without records carry no noise. Groups that are not broken down"
        f" (smallest_group) have fewer looks than this. {NOT_COVERED}"
    )
    output.note("These are counts of cells by their true size: not for the public.")
