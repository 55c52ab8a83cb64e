"""``sdcensus recommend``: scheme, policy and tables for a census, with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, Store, Units, complete_axes, examples, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError

if TYPE_CHECKING:
    from sdcensus.session.recommend.recommendation import AskedTable, Recommendation

EXAMPLES = examples(
    "sdcensus recommend census.store",
    "sdcensus recommend census.store --product report,builder --out advice",
    "sdcensus recommend census.store --for ed,age,ethnicity,religion",
)


def recommend(
    store: Store,
    product: Annotated[
        str,
        typer.Option(
            "--product",
            metavar="PRODUCT",
            help="report: printed; programme: more tables with more detail; builder: users put"
            " their own tables together. Several, separated by commas, share one noise.",
        ),
    ] = "programme",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FOLDER",
            help="Write plan.toml and policy.toml there, and noise of its own if there is any.",
        ),
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", metavar="FILE", help="Keep to this policy instead of a proposed one."
        ),
    ] = None,
    wanted: Annotated[
        str | None,
        typer.Option(
            "--for",
            metavar="AXES",
            help="A table that somebody asks for: what of it can be published.",
            autocompletion=complete_axes,
        ),
    ] = None,
    of: Units = "persons",
    quiet: Quiet = False,
) -> None:
    """Look at a census and propose how to protect it, what to allow, and which tables to make.

    Every figure is computed from the census and from the tables that are proposed. The answer
    holds sizes of the census: it is for the office, not for the public. It needs no secret.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.recommend.files import check_folder, write_recommendation
    from sdcensus.session.recommend.recommendation import (
        POLICY_FILE,
        RecommendedProduct,
        read_given_policy,
        recommend as propose,
        versions_of,
    )

    output = Output(quiet=quiet)
    named = RecommendedProduct.several(product)
    census = open_store(store)
    asked = None
    if wanted is not None:
        if not listed(wanted):
            raise SpecError("--for needs axes, such as ed@parish,age,religion.")
        asked = census.spec(*listed(wanted), of=of)
    given = None if policy is None else read_given_policy(policy, census)
    if out is not None:
        check_folder(out)
    with all_or_nothing(), Stages(output, "looking at areas") as stages:
        recommendation = propose(census, named, policy=given, policy_file=policy, progress=stages)
        answer = None if asked is None else versions_of(recommendation, census, asked)
        written = () if out is None else write_recommendation(recommendation, store, out)
    if answer is None:
        _show(output, recommendation)
    else:
        _show_asked(output, answer, recommendation)
    for path in written:
        private = " Only you can read it: it is the noise itself." if path.suffix == ".csv" else ""
        output.say(f"Wrote {path}.{private}")
    if out is not None:
        _show_next(output, store, out, policy or out / POLICY_FILE)
    if out is None and answer is None:
        output.say("\nWrite plan and policy with:")
        kept = "" if policy is None else f" --policy {typed(policy)}"
        output.command(
            f"sdcensus recommend {typed(store)} --product {','.join(named)}{kept} --out FOLDER"
        )
    output.note("This is for the office: it was computed from true counts.")


def _show_next(output: Output, store: Path, out: Path, policy: Path) -> None:
    """The checks that pass, and what comes then."""
    from sdcensus.session.recommend.recommendation import PLAN_FILE

    plan = out / PLAN_FILE
    output.say("Read and change them. What checks them, and then all of it:")
    output.command(f"sdcensus plan check {typed(plan)}")
    output.command(f"sdcensus policy check {typed(policy)} --store {typed(store)}")
    output.command(
        f"sdcensus serve {typed(store)} --policy {typed(policy)} --plan {typed(plan)}"
        " --secret FILE --check"
    )
    output.command(f"sdcensus publish {typed(plan)} --secret FILE")


def _show(output: Output, found: Recommendation) -> None:
    facts = found.facts
    output.say(
        f"A {found.product} for {facts.units:,} {facts.of.plural} with"
        f" {len(facts.variables)} variables",
        style="bold",
    )
    if facts.areas:
        table = plain_table()
        for title in ("areas", "number", "smallest", "in the middle", "largest"):
            table.add_column(title, justify="left" if title == "areas" else "right")
        for area_level in (*facts.areas, *facts.across):
            sizes = area_level.filled or (0,)
            table.add_row(
                area_level.axis,
                f"{len(area_level.units):,}",
                f"{min(sizes):,}",
                f"{area_level.median:,}",
                f"{max(sizes):,}",
            )
        output.show(table)
    _show_noise(output, found)
    output.say("\nPolicy", style="bold")
    if found.policy_file is not None:
        output.say(f"The one in {found.policy_file}.")
    for rule in found.policy_reasons:
        output.say(f"  {rule.what}: {rule.why}.")
    output.say(f"\nTables: {len(found.tables)}", style="bold")
    tables = plain_table()
    tables.add_column("name", overflow="fold")
    tables.add_column("by", overflow="fold")
    tables.add_column("mean cell", justify="right")
    for design in found.tables:
        tables.add_row(design.table.name, ", ".join(design.table.by), f"{design.mean:,.1f}")
    output.show(tables)
    output.say("\nConsidered and not proposed", style="bold")
    for other in found.rejected:
        output.say(f"  {other.what}: {other.why}.")
    if found.cautions:
        output.say("\nLook at", style="bold")
        for caution in found.cautions:
            output.say(f"  {caution}")


def _show_noise(output: Output, found: Recommendation) -> None:
    from sdcensus.session.recommend.recommendation import noise_words

    output.say("\nScheme", style="bold")
    for line in noise_words(found.noise):
        output.say(f"  {line}")


def _show_asked(output: Output, answer: AskedTable, found: Recommendation) -> None:
    output.say(f"{answer.spec.title}: under the policy {found.policy.name!r}", style="bold")
    passes = answer.versions == (answer.spec,)
    if passes:
        output.say("It can be published as it is.")
        return
    reasons = answer.verdict.reasons
    for reason in reasons:
        output.say(f"  {reason.sentence}")
    if not reasons:
        output.say("  Published numbers decide: some of its areas or cells would be too sparse.")
    if not answer.versions:
        output.say("No version of it can be published: every coarser one is refused as well.")
        return
    output.say("\nThe finest versions that can be published, those that keep most first")
    table = plain_table()
    table.add_column("by", overflow="fold")
    table.add_column("cells", justify="right")
    for version in answer.versions:
        axes = ", ".join(axis.name for axis in version.axes) or "the total alone"
        table.add_row(axes, f"{version.cells:,}")
    output.show(table)
