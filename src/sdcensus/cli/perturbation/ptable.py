"""``sdcensus ptable``: perturbation tables, designed, shown, checked and converted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.perturbation import design as ptable_design
from sdcensus.cli.perturbation.options import (
    CONFIDENTIAL,
    ConvertedOrder,
    Format,
    KeyCount,
    KeyVersion,
    Repeat,
    office_secret,
)
from sdcensus.cli.perturbation.tables import (
    rows_up_to,
    say_hidden,
    say_written,
    show_figures,
    show_lookups,
    show_probabilities,
    show_relaxed,
)
from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, SecretFile, command_group, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import DocumentError, Mistake, SpecError
from sdcensus.model.vocabulary import ExchangeFormat, PerturbationChart

app = command_group(
    "Design, show, check and convert perturbation tables.",
    "sdcensus ptable show medium",
    "sdcensus ptable design --max-deviation 3 --variance 1.5 --stay 0.4",
    "sdcensus ptable check ptable.csv",
    "sdcensus ptable convert ptable.csv for-sas.csv --to sas",
)


app.command("design", epilog=ptable_design.EXAMPLES)(ptable_design.design)


@app.command(
    "show",
    epilog=examples(
        "sdcensus ptable show medium",
        "sdcensus ptable show 'CP3(1,2)' --plot table.html",
        "sdcensus ptable show ptable.csv --secret office.secret",
        "sdcensus ptable show ptable.csv --plot matrix.png --chart transitions",
    ),
)
def show(
    what: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A file, a scheme (CP1, CP2, CP3(EU), RR3, CP3, CP4, CP3(1,2), RR5) or a strength"
            " (light, medium, strong, no-ones-and-twos).",
        ),
    ],
    plot: Annotated[
        list[Path] | None,
        typer.Option(
            "--plot",
            metavar="FILE",
            help="Draw it to a new .png, .svg or .html file that only you can read; may be"
            " repeated.",
        ),
    ] = None,
    chart: Annotated[
        list[PerturbationChart] | None,
        typer.Option(
            "--chart",
            metavar="NAME",
            help="What is drawn: distribution, transitions or rows; may be repeated. By default"
            " all of them.",
        ),
    ] = None,
    counts: Annotated[
        int,
        typer.Option("--counts", metavar="N", min=0, help="Show rows of counts up to N."),
    ] = 20,
    file_format: Format = None,
    repeat: Repeat = None,
    secret: SecretFile = None,
    quiet: Quiet = False,
) -> None:
    """Show the rows and the risk of a table, and draw it.

    Prints the probability of each change, row by row with its figures, and what an intruder could
    learn from a total and its parts with each look-up.
    With --secret, the figures of the scrambled look-up are those of the office's own order;
    otherwise they are a mean over several orders.
    """
    from sdcensus.report.perturbation.words import in_words, key_space_text
    from sdcensus.session import perturbation as session

    output = Output(quiet=quiet)
    if chart and not plot:
        raise SpecError("--chart says what is drawn. Say where as well: --plot FILE.")
    if plot:
        from sdcensus.report.perturbation.page import check_targets

        check_targets(plot)
    key = None if secret is None else office_secret(secret)
    chosen = None if file_format is None else file_format.value
    with Stages(output, "looking at the table"):
        source = session.find(what, format=chosen, repeat=repeat)
        summary = session.summarise(source.perturbation, secret=key)
    output.say(f"{source.title}: confidential", style="bold")
    output.say(in_words(summary))
    rows = rows_up_to(summary, counts)
    show_probabilities(output, rows)
    show_figures(output, rows)
    say_hidden(output, summary, rows, "See them with --counts N.")
    keys = "any number of keys" if summary.keys is None else f"{key_space_text(summary.keys)} keys"
    output.say(f"{summary.tail} For {keys}.")
    show_relaxed(output, summary)
    show_lookups(output, summary)
    if plot:
        from sdcensus.report.perturbation.page import write_pictures

        with all_or_nothing(), Stages(output, "drawing"):
            written = write_pictures(
                source.perturbation,
                summary,
                plot,
                title=f"Perturbation table {source.title}",
                charts=[perturbation_chart.value for perturbation_chart in chart or ()],
            )
        output.say()
        for path in written:
            output.say(f"Wrote {path}. {CONFIDENTIAL}")


@app.command(
    "check",
    epilog=examples(
        "sdcensus ptable check ptable.csv",
        "sdcensus ptable check rows.csv --format plain",
        "sdcensus ptable check rounding.csv --repeat 5",
    ),
)
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file with a perturbation table.")],
    file_format: Format = None,
    repeat: Repeat = None,
    quiet: Quiet = False,
) -> None:
    """Say everything that is wrong with a file.

    Reads anybody's perturbation table and finds gaps, overlaps, sums that are not 1, bias, negative
    or blocked results, missing rows and rows that change nothing, each with its line. The exit code
    is 3 if there is an error.
    """
    from sdcensus.session import perturbation as session

    output = Output(quiet=quiet)
    with Stages(output, "reading the table"):
        chosen = None if file_format is None else file_format.value
        report = session.check(file, chosen, repeat=repeat)
    for finding in report.findings:
        if finding.severity is not session.Severity.ERROR:
            where = f"line {finding.line}: " if finding.line else ""
            output.say(f"  {finding.severity}: {where}{finding.text}")
    if report.errors:
        raise DocumentError(str(file), [Mistake(error.line, error.text) for error in report.errors])
    warned = len(report.warnings)
    output.say(
        f"{file} has no mistakes"
        + (f", and {warned} warning{'s' if warned != 1 else ''}." if warned else ".")
    )


@app.command(
    "convert",
    epilog=examples(
        "sdcensus ptable convert ptable.csv for-sas.csv --to sas",
        "sdcensus ptable convert ptable.csv matrix.csv --to abs --lossy",
        "sdcensus ptable convert medium ons.csv --to ons --lossy --order scrambled",
    ),
)
def convert(
    source: Annotated[
        str, typer.Argument(metavar="IN", help="A file, or the name of a scheme or strength.")
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The new file.")],
    to: Annotated[ExchangeFormat, typer.Option("--to", help="The layout of the new file.")],
    from_format: Annotated[
        ExchangeFormat | None,
        typer.Option("--from", help="The layout of the old file, where its header does not tell."),
    ] = None,
    repeat: Repeat = None,
    key_space: KeyCount = None,
    order: Annotated[
        ConvertedOrder,
        typer.Option(
            "--order", help="In which order the changes stand; scrambled needs the secret."
        ),
    ] = ConvertedOrder.KEPT,
    secret: SecretFile = None,
    key_version: KeyVersion = 1,
    lossy: Annotated[
        bool,
        typer.Option(
            "--lossy", help="Also if the new file has too few keys for the same probabilities."
        ),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a table in the layout of another program.

    Says how far probabilities move, and whether every key still adds the same. A file with too few
    keys to hold the same probabilities is written with --lossy only.
    """
    from sdcensus.session import perturbation as session

    output = Output(quiet=quiet)
    scramble = order is ConvertedOrder.SCRAMBLED
    with all_or_nothing(), Stages(output, "converting the table"):
        written = session.convert(
            source,
            target,
            to.value,
            format=None if from_format is None else from_format.value,
            repeat=repeat,
            modulus=key_space,
            scramble=scramble,
            secret=office_secret(secret) if scramble else None,
            key_version=key_version,
            lossy=lossy,
        )
    say_written(output, written)
