"""``sdcensus recommend``: scheme, policy and tables for a census, with reasons."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import (
    Language,
    Quiet,
    SecretFile,
    Store,
    Units,
    check_language,
    complete_axes,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError
from sdcensus.model.quantities import number_text, written_as
from sdcensus.model.sentences import Value, in_language, speak
from sdcensus.model.spec.headings import entity_text

if TYPE_CHECKING:
    from sdcensus.session.recommend.recommendation import AskedTable, Recommendation

EXAMPLES = examples(
    "sdcensus recommend census.store",
    "sdcensus recommend census.store --product report,builder --out advice",
    "sdcensus recommend census.store --for ed,age,ethnicity,religion",
    "sdcensus recommend census.store --swap-for eu-plan.toml --secret office.secret",
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
            help="Write plan.toml and policy.toml there, and noise of its own if there is any; with"
            " --swap-for a page and a table of all trials, for the office only.",
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
    swap_for: Annotated[
        Path | None,
        typer.Option(
            "--swap-for",
            metavar="PLAN",
            help="Try swapping against attacks on the tables of this plan: without --step the one"
            " that touches fewest households and is enough is searched. Needs the secret.",
        ),
    ] = None,
    step: Annotated[
        list[str] | None,
        typer.Option(
            "--step",
            metavar="STEP",
            help="--swap-for: a change of records in one line, such as 'targeted-swap k=4"
            " risk_variables=sex,age rate={rate}'. Several: the mildest first.",
        ),
    ] = None,
    rates: Annotated[
        str,
        typer.Option("--rates", metavar="RATES", help="--swap-for: what stands for {rate}."),
    ] = "0.02,0.05,0.1,0.2,0.4",
    limit: Annotated[
        float,
        typer.Option(
            "--limit",
            metavar="P",
            help="--swap-for: claims about groups of one to three shall be no better.",
        ),
    ] = 0.5,
    tables: Annotated[
        str,
        typer.Option(
            "--tables", metavar="NAMES", help="--swap-for: only these tables, such as eu-2021-9.*"
        ),
    ] = "",
    attacks: Annotated[
        str, typer.Option("--attacks", metavar="NAMES", help="--swap-for: the attacks.")
    ] = "patterns,zero-patterns,twins",
    secret: SecretFile = None,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Look at a census and propose how to protect it, what to allow, and which tables to make.

    Every figure is computed from the census and from the tables that are proposed. The answer
    holds sizes of the census: it is for the office, not for the public. It needs no secret, unless
    swapping is tried (--swap-for).
    """
    if swap_for is not None:
        from sdcensus.cli.decision.swapping import try_swapping

        try_swapping(
            store,
            swap_for,
            Output(quiet=quiet),
            steps=step or [],
            rates=listed(rates),
            limit=limit,
            tables=listed(tables),
            attacks=listed(attacks),
            out=out,
            secret=secret,
            language=language,
        )
        return
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
    check_language(census, language)
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
        _show(output, recommendation, store, language)
    else:
        _show_asked(output, answer, recommendation, language)
    for path in written:
        key = "private" if path.suffix == ".csv" else "wrote"
        output.say(speak(f"recommend.show.{key}", language, path=str(path)))
    if out is not None:
        _show_next(output, store, out, policy or out / POLICY_FILE, recommendation, language)
    if out is None and answer is None:
        output.say(f"\n{speak('recommend.show.write', language)}")
        kept = "" if policy is None else f" --policy {typed(policy)}"
        output.command(
            f"sdcensus recommend {typed(store)} --product {','.join(named)}{kept} --out FOLDER"
        )
    output.note(speak("recommend.show.office", language))


def _show_next(
    output: Output,
    store: Path,
    out: Path,
    policy: Path,
    found: Recommendation,
    language: str | None,
) -> None:
    """The checks that pass, and what comes then."""
    from sdcensus.session.recommend.recommendation import PLAN_FILE

    plan = out / PLAN_FILE
    output.say(speak("recommend.show.next", language))
    output.command(f"sdcensus plan check {typed(plan)}")
    output.command(f"sdcensus policy check {typed(policy)} --store {typed(store)}")
    output.command(
        f"sdcensus serve {typed(store)} --policy {typed(policy)} --plan {typed(plan)}"
        " --secret FILE --check"
    )
    output.command(f"sdcensus publish {typed(plan)} --secret FILE")
    if found.swapping is not None:
        output.command(
            f"sdcensus recommend {typed(store)} --swap-for {typed(plan)} --secret FILE --out FOLDER"
        )


def _show(output: Output, found: Recommendation, store: Path, language: str | None) -> None:
    facts = found.facts

    def word(key: str, **values: Value) -> str:
        return speak(f"recommend.show.{key}", language, **values)

    output.say(
        word(
            "title",
            product=str(found.product),
            n=facts.units,
            units=entity_text(facts.of, language),
            variables=len(facts.variables),
        ),
        style="bold",
    )
    if facts.areas:
        table = plain_table()
        for title in ("areas", "number", "smallest", "middle", "largest"):
            table.add_column(word(title), justify="left" if title == "areas" else "right")
        for area_level in (*facts.areas, *facts.across):
            sizes = area_level.filled or (0,)
            table.add_row(
                area_level.axis,
                number_text(len(area_level.units), language),
                number_text(min(sizes), language),
                number_text(area_level.median, language),
                number_text(max(sizes), language),
            )
        output.show(table)
    _show_noise(output, found, language)
    output.say(f"\n{word('policy')}", style="bold")
    if found.policy_file is not None:
        output.say(word("given", file=str(found.policy_file)))
    for rule in found.policy_reasons:
        output.say(f"  {word('rule', what=rule.what, why=rule.why)}")
    output.say(f"\n{word('tables', n=len(found.tables))}", style="bold")
    tables = plain_table()
    tables.add_column(word("name"), overflow="fold")
    tables.add_column(word("by"), overflow="fold")
    tables.add_column(word("mean"), justify="right")
    for design in found.tables:
        mean = written_as(f"{design.mean:,.1f}", language)
        tables.add_row(design.table.name, ", ".join(design.table.by), mean)
    output.show(tables)
    output.say(f"\n{word('rejected')}", style="bold")
    for other in found.rejected:
        output.say(f"  {word('rule', what=other.what, why=other.why)}")
    if found.cautions:
        output.say(f"\n{word('look')}", style="bold")
        for caution in found.cautions:
            output.say(f"  {in_language(caution, language)}")
    if found.swapping is not None:
        output.say(f"\n{word('swapping')}", style="bold")
        for line in found.swapping.lines:
            output.say(f"  {in_language(line, language)}")
        options = " ".join(found.swapping.swap.options)
        output.command(f"sdcensus swap {typed(store)} {options} --secret FILE --out STORE")


def _show_noise(output: Output, found: Recommendation, language: str | None) -> None:
    from sdcensus.session.recommend.recommendation import noise_words

    output.say(f"\n{speak('recommend.show.scheme', language)}", style="bold")
    for line in noise_words(found.noise):
        output.say(f"  {in_language(line, language)}")


def _show_asked(
    output: Output, answer: AskedTable, found: Recommendation, language: str | None
) -> None:
    def word(key: str, **values: Value) -> str:
        return speak(f"recommend.show.{key}", language, **values)

    title, policy = answer.spec.title, repr(found.policy.name)
    output.say(word("under", title=title, policy=policy), style="bold")
    passes = answer.versions == (answer.spec,)
    if passes:
        output.say(word("as_is"))
        return
    from sdcensus.session.policy.words import reason_in

    reasons = answer.verdict.reasons
    for reason in reasons:
        output.say(f"  {reason_in(reason, found.policy.schema, language)}")
    if not reasons:
        output.say(f"  {word('decide')}")
    if not answer.versions:
        output.say(word("no_version"))
        return
    output.say(f"\n{word('finest')}")
    table = plain_table()
    table.add_column(word("by"), overflow="fold")
    table.add_column(word("cells"), justify="right")
    for version in answer.versions:
        axes = ", ".join(axis.name for axis in version.axes) or word("total_alone")
        table.add_row(axes, number_text(version.cells, language))
    output.show(table)
