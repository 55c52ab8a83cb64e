"""``sdcensus publish``: everything that a plan names, protected and delivered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, SecretFile, Yes, examples
from sdcensus.cli.shared.questions import ask, can_answer
from sdcensus.cli.shared.run import INTERRUPTED, Interrupted
from sdcensus.errors import SpecError, Unconfirmed
from sdcensus.model.quantities import bytes_text, duration_text
from sdcensus.model.vocabulary import EngineName

if TYPE_CHECKING:
    from sdcensus.session.publish.run import PublishReport

EXAMPLES = examples(
    "sdcensus publish plan.toml --secret office.secret",
    "sdcensus publish plan.xlsx --out published",
    "sdcensus publish plan.toml --memory 4GB --threads 2",
    "sdcensus publish plan.toml --revision 2026-corrections --old-store old.store",
    "sdcensus publish plan.toml --revision new-keys --rekey",
    'sdcensus publish plan.toml --accept-risk "Ana Ruiz" --reason "by law"',
)

#: Names that a list shows.
SHOWN = 12

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN", help="The plan: plan.toml, or an Excel workbook.")
]
PublishedFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="The published folder, instead of the plan's."),
]
Memory = Annotated[
    str, typer.Option("--memory", metavar="SIZE", help="Memory to keep within, such as 4GB.")
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Processors to use; by default all."),
]


def publish(
    plan: PlanFile,
    out: PublishedFolder = None,
    secret: SecretFile = None,
    engine: Annotated[
        EngineName | None,
        typer.Option("--engine", help="Where it is counted; the numbers are the same."),
    ] = None,
    data: Annotated[
        str,
        typer.Option(
            "--parquet",
            metavar="FOLDER",
            help="Count the encoded files that sdcensus export wrote, instead of the store.",
        ),
    ] = "",
    memory: Memory = "4GB",
    threads: Threads = None,
    revision: Annotated[
        str | None,
        typer.Option(
            "--revision",
            metavar="NAME",
            help="Published numbers may change, as far as the guard of revisions lets them.",
        ),
    ] = None,
    rekey: Annotated[
        bool,
        typer.Option("--rekey", help="With --revision: change every number, as a named event."),
    ] = False,
    old_store: Annotated[
        Path | None,
        typer.Option(
            "--old-store",
            metavar="STORE",
            help="The store that was published before, if it is no longer where it was.",
        ),
    ] = None,
    two_lines: Annotated[
        bool,
        typer.Option(
            "--two-lines",
            help="With --revision: tables made from another store, original or derived, stay out"
            " beside these.",
        ),
    ] = False,
    revision_minimum: Annotated[
        int | None,
        typer.Option(
            "--revision-minimum",
            metavar="N",
            min=1,
            help="How many changed records must stand behind every changed number.",
        ),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Throw away what an interrupted run has left."),
    ] = False,
    accept_risk: Annotated[
        str | None,
        typer.Option(
            "--accept-risk",
            metavar="NAME",
            help="Who accepts that the plan would give people away, where it would; kept with the"
            " approval.",
        ),
    ] = None,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why somebody accepts that.")
    ] = "",
    yes: Yes = False,
    quiet: Quiet = False,
) -> None:
    """Publish all tables of a plan: count, protect, write, evaluate.

    The published folder appears when everything is complete. A run that was interrupted goes on
    where it stopped when the same command is run again. Numbers that were published before never
    change without --revision.
    """
    from sdcensus.session.publish.run import PublishOptions, publish as publish_plan

    output = Output(quiet=quiet)
    if rekey and not revision:
        raise SpecError("--rekey changes every published number: name the event, --revision NAME.")
    options = PublishOptions(
        out=out,
        secret=secret,
        engine=None if engine is None else engine.value,
        data=data or None,
        memory=memory,
        threads=threads,
        revision=revision,
        rekey=rekey,
        old_store=old_store,
        two_lines=two_lines,
        revision_minimum=revision_minimum,
        restart=restart,
        accept_risk=accept_risk,
        reason=reason,
        yes=yes,
    )

    announced: set[str] = set()

    def before(cautions: tuple[str, ...], undecided: str) -> None:
        """Say what the first publication decides for good, while it can still be decided."""
        lines = [*(f"caution: {caution}" for caution in cautions), *filter(None, [undecided])]
        for line in lines if not announced else []:
            output.say(line)
        if cautions and not announced and not yes and can_answer():
            ask(output, Unconfirmed("Nothing is written yet."))
        announced.update(cautions)

    def published(options: PublishOptions) -> PublishReport:
        with _resumable(), Stages(output, "checking the plan") as stages:
            return publish_plan(plan, options, progress=stages, before=before)

    try:
        report = published(options)
    except Unconfirmed as error:
        ask(output, error)
        report = published(replace(options, yes=True))
    _say(output, replace(report, cautions=_others(report.cautions, announced)))


def _others(cautions: tuple[str, ...], announced: set[str]) -> tuple[str, ...]:
    return tuple(caution for caution in cautions if caution not in announced)


@contextmanager
def _resumable() -> Iterator[None]:
    """Around work that goes on where it stopped: says so when it is interrupted."""
    goes_on = "the same command goes on where it stopped"
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(f"interrupted; {goes_on}", INTERRUPTED) from None
    except Interrupted as end:
        raise Interrupted(f"ended from outside; {goes_on}", end.exit_code) from None


def _say(output: Output, report: PublishReport) -> None:
    products = len(report.products)
    tables = f"{products:,} table{'s' if products != 1 else ''}"
    if report.unchanged:
        output.say(f"{report.published} holds exactly this already: {tables}, nothing to do.")
        return
    output.say(f"Published {tables} in {report.published}", style="bold")
    facts = plain_table(header=False)
    facts.add_column()
    facts.add_column(overflow="fold")
    facts.add_row("cells", f"{report.cells:,}")
    facts.add_row("files", f"{report.files:,}, {bytes_text(report.size)}")
    if report.made < products:
        facts.add_row("made now", f"{report.made:,}; the others by the run that was interrupted")
    facts.add_row("passes over the records", f"{report.scans:,}")
    if report.changed:
        facts.add_row("numbers that changed", f"{report.changed:,}")
    facts.add_row("time", duration_text(report.seconds))
    facts.add_row("for the office", str(report.office))
    output.show(facts)
    for sentence in report.looks:
        output.say(f"Look budget of {sentence}")
    for remark in report.remarks:
        output.note(f"for the office: {remark}")
    for warning in report.warnings:
        output.note(f"warning: {warning}")
    for caution in report.cautions:
        output.note(f"caution: {caution}")
    output.say(
        f"Check the files with: sdcensus verify {typed(report.published)}\n"
        f"Try to break them with: sdcensus attack {typed(report.published)}"
    )
