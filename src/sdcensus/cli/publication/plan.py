"""``sdcensus plan``: a first plan, and what a plan will take."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.publication.publish import Memory, PlanFile, PublishedFolder, Threads
from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, SecretFile, Store, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import bytes_text, duration_text

if TYPE_CHECKING:
    from sdcensus.session.publish.estimate import PlanCheck

#: Products that are listed one by one; of more, groups of them.
SHOWN = 30

app = command_group(
    "Draft a plan for a census, or check one.",
    "sdcensus plan draft census.store --out plan.toml",
    "sdcensus plan check plan.toml",
)


@app.command(
    "draft",
    epilog=examples(
        "sdcensus plan draft census.store --out plan.toml",
        "sdcensus plan draft census.store --out plan.xlsx --policy policy.toml",
    ),
)
def draft(
    store: Store,
    out: Annotated[
        Path,
        typer.Option("--out", metavar="FILE", help="The new plan: plan.toml or plan.xlsx."),
    ],
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            metavar="FILE",
            help="Keep to this policy; else policy.toml beside the plan, if it is there.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write a first plan for a census: tables, protection, outputs. Never overwrites a file.

    The tables are those that the census bears. The plan explains its parts: read it, change it,
    and publish it. As .xlsx it is a form with a row for each table.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.recommend.plan_draft import draft_plan

    output = Output(quiet=quiet)
    with all_or_nothing(), Stages(output, "looking at areas") as stages:
        plan_draft = draft_plan(open_store(store), store, out, policy=policy, progress=stages)
    tables = plain_table()
    tables.add_column("name", overflow="fold")
    tables.add_column("by", overflow="fold")
    for table in plan_draft.plan.tables:
        tables.add_row(table.name, ", ".join(table.by))
    output.show(tables)
    output.say(f"Wrote {plan_draft.path}: {len(plan_draft.plan.tables)} tables.")
    if plan_draft.policy is None:
        output.say("It names no policy. sdcensus recommend proposes one.")
    if plan_draft.mapping is not None:
        output.say(
            f"{plan_draft.mapping} fits this census: the plan says how to add its programme."
        )
    if plan_draft.own_noise:
        output.say("Its tables ask for noise of their own: the plan says how to make it.")
    output.say("Read and change it. What it takes, and then all of it:")
    output.command(f"sdcensus plan check {typed(plan_draft.path)}")
    output.command(f"sdcensus publish {typed(plan_draft.path)} --secret FILE")


@app.command(
    "check",
    epilog=examples(
        "sdcensus plan check plan.toml",
        "sdcensus plan check plan.xlsx --memory 2GB --all",
    ),
)
def check(
    plan: PlanFile,
    out: PublishedFolder = None,
    secret: SecretFile = None,
    memory: Memory = "4GB",
    threads: Threads = None,
    every: Annotated[
        bool, typer.Option("--all", help=f"List every table, also where there are over {SHOWN}.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Check a plan in full and show what it takes: tables, cells, passes, memory, time.

    Nothing is written. Small groups that its tables break down are counted, and its noise is held
    against its look budget. Mistakes of the plan, its mapping and its policy are
    listed with their lines. Whether numbers change that were published before is seen by publish
    alone, before it publishes.
    """
    from sdcensus.session.publish.estimate import check_plan

    output = Output(quiet=quiet)
    with Stages(output, "checking the plan") as stages:
        plan_check = check_plan(
            plan, out=out, secret=secret, memory=memory, threads=threads, progress=stages
        )
    _show_products(output, plan_check, every=every)
    facts = plain_table(header=False)
    facts.add_column()
    facts.add_column(overflow="fold")
    for name, text in _facts(plan_check, memory):
        facts.add_row(name, text)
    output.show(facts)
    if not plan_check.enough:
        output.note(
            f"warning: {memory} of memory is too little for the largest table. Allow more by"
            " --memory, or take fewer or coarser axes."
        )
    for caution in plan_check.cautions:
        output.note(f"caution: {caution}")
    _show_risk(output, plan_check)


def _show_risk(output: Output, found: PlanCheck) -> None:
    """What the plan would give away, and what keeps it from being published."""
    from sdcensus.cli.shared.tables import show_broken_down

    output.say("\nNoise against the look budget", style="bold")
    for look in found.looks:
        output.say(look.sentence)
    show_broken_down(output, found.census, found.measures, found.gate.limit)
    for risk in found.gate.risks:
        output.note(f"warning: {risk.of.plural}: {risk.describe(found.figures)}")
    for remedy in dict.fromkeys(risk.remedy for risk in found.gate.risks):
        output.note(f"What would do: {remedy}")
    for line in found.undecided:
        output.note(line)
    if found.undecided:
        output.note("publish refuses it until that is decided.")
    if found.gate.risks:
        output.note(
            "publish refuses it until then, or until somebody accepts the risk by name:"
            ' --accept-risk NAME --reason "WHY".'
        )


def _show_products(output: Output, found: PlanCheck, *, every: bool) -> None:
    table = plain_table()
    table.add_column("name", overflow="fold")
    table.add_column("of")
    table.add_column("by", overflow="fold")
    table.add_column("cells", justify="right", no_wrap=True)
    listed = found.products if every else found.products[:SHOWN]
    for checked_product in listed:
        cells = f"{checked_product.cells:,}"
        table.add_row(
            checked_product.name, checked_product.of, ", ".join(checked_product.axes) or "-", cells
        )
    output.show(table)
    left = len(found.products) - len(listed)
    if left:
        output.say(f"... and {left:,} more: --all lists them.")
    for product in found.products:
        if product.streamed:
            output.say(
                f"{product.name} is too large to be held: only cells that are published as"
                " something"
                " else than 0 are written."
            )


def _facts(found: PlanCheck, memory: str) -> list[tuple[str, str]]:
    count = len(found.products)
    facts = [
        ("tables", f"{count:,}"),
        ("cells", f"{found.cells:,}"),
        ("method", found.method),
        ("policy", found.policy or "none"),
        ("formats", ", ".join(found.formats)),
        ("languages", ", ".join(found.languages) or "those of the census"),
        ("published in", str(found.published)),
        ("for the office", str(found.office)),
        ("passes over the records", f"{found.scans:,}"),
        ("at the same time", f"{found.workers:,} table{'s' if found.workers != 1 else ''}"),
        ("memory", f"about {bytes_text(found.peak_bytes)}, of {memory} allowed"),
        ("time", _about(found.seconds)),
    ]
    if "xlsx" in found.formats:
        facts.append(("", "workbooks take up to three seconds more for each 100,000 cells"))
    return facts


def _about(seconds: float) -> str:
    return f"about {duration_text(seconds)}" if seconds >= 1 else "less than a second"
