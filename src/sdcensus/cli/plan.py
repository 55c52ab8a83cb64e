"""``sdcensus plan``: a first plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.console import Output, plain_table, typed
from sdcensus.cli.options import Quiet, Store, examples
from sdcensus.cli.progress import Stages
from sdcensus.cli.running import all_or_nothing

app = typer.Typer(
    help="Draft a plan for a census, or check one.",
    epilog=examples("sdcensus plan draft census.store --out plan.toml"),
    invoke_without_command=True,
)


@app.callback()
def start(context: typer.Context) -> None:
    """Draft a plan for a census, or check one."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


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
    from sdcensus.session.census import open_store
    from sdcensus.session.plan_drafting import draft_plan

    output = Output(quiet=quiet)
    with all_or_nothing(), Stages(output, "looking at areas") as stages:
        made = draft_plan(open_store(store), store, out, policy=policy, progress=stages)
    tables = plain_table()
    tables.add_column("name", overflow="fold")
    tables.add_column("by", overflow="fold")
    for one in made.plan.tables:
        tables.add_row(one.name, ", ".join(one.by))
    output.show(tables)
    output.say(f"Wrote {made.path}: {len(made.plan.tables)} tables.")
    if made.policy is None:
        output.say("It names no policy. sdcensus recommend proposes one.")
    if made.mapping is not None:
        output.say(f"{made.mapping} fits this census: the plan says how to add its programme.")
    if made.own_noise:
        output.say("Its tables ask for noise of their own: the plan says how to make it.")
    output.say("Read and change it, then publish with:")
    output.command(f"sdcensus publish {typed(made.path)} --secret FILE")
