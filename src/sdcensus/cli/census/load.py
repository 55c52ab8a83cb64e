"""``sdcensus load``: from the files of a census to a store."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, note_removed, plain_table, typed
from sdcensus.cli.shared.options import Language, Quiet, SecretFile, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import duration_text, number_text
from sdcensus.model.sentences import speak
from sdcensus.model.spec.headings import entity_text
from sdcensus.model.vocabulary import OnProblem

if TYPE_CHECKING:
    from sdcensus.session.census.load_report import LoadedCensus

EXAMPLES = examples(
    "sdcensus load census.toml --out census.store --secret office.secret",
    "sdcensus load census.toml --out census.store --replace --on-problem missing",
    "sdcensus load census.toml --out census.store --propose",
    "sdcensus load census.toml --out census.store -l es --report office/load.html",
)


def load(
    schema: Annotated[
        Path, typer.Argument(metavar="SCHEMA", help="The schema document of the census.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="STORE", help="The folder of the store to make.")
    ],
    secret: SecretFile = None,
    on_problem: Annotated[
        OnProblem,
        typer.Option(
            "--on-problem",
            help="Refuse files with values that do not fit the schema, or count such values as"
            " 'not stated'.",
        ),
    ] = OnProblem.REFUSE,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put the store in the place of an older one.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            metavar="FILE",
            help="The file of the load report, .html or .txt. Without it both stand beside the"
            " store, as STORE.report.html and STORE.report.txt, for their owner only.",
        ),
    ] = None,
    propose: Annotated[
        bool,
        typer.Option(
            "--propose",
            help="Look for identities between units that the records show and the schema does not"
            " declare, and propose them.",
        ),
    ] = False,
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no load report.")] = False,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Check the files of a census against its schema and write the store.

    The store appears when it is complete, or not at all. Problems in the files are listed with
    the rows on which they stand, and with what helps. Direct identifiers never enter the store.
    Rules that hold for all records and are not declared are proposed for the schema.

    The load report says what came in: records, links and those without, missing values, ranges,
    codes that never occur, weights, duplicates, areas. It is confidential.
    """
    from sdcensus.session.census.load_report import LoadReporting

    output = Output(quiet=quiet)
    began = time.perf_counter()
    reporting = LoadReporting(out, report, wanted=not no_report, language=language, replace=replace)
    with all_or_nothing(), Stages(output, "reading the schema") as stages:
        loaded = reporting.load(
            schema, secret=secret, on_problem=on_problem.value, propose=propose, progress=stages
        )
    took = time.perf_counter() - began
    _say_notes(output, loaded, language)
    output.say(speak("start.load.made", language, path=str(out), took=duration_text(took)))
    records = plain_table(header=False)
    records.add_column()
    records.add_column(justify="right")
    for entity, rows in loaded.report.rows.items():
        records.add_row(entity_text(entity, language), number_text(rows, language))
    output.show(records)
    for line in loaded.links:
        output.say(line)
    for sentence in loaded.findings:
        output.say(f"- {sentence}")
    _say_rules(output, loaded, language)
    if loaded.written:
        output.say(loaded.written)
    command = f"sdcensus describe {typed(out)}"
    output.say(speak("start.load.look", language, command=command))


def _say_notes(output: Output, loaded: LoadedCensus, language: str | None) -> None:
    """What was removed, what was made of values that do not fit, undeclared identities."""
    report = loaded.report
    note_removed(output, report.removed, language)
    if report.problems:
        output.note(speak("start.load.problems", language))
        for problem in report.problems:
            output.note(f"  {problem.passed}")
    if report.identities:
        output.note(speak("start.load.identities", language))
        for identity in report.identities:
            output.note("\n".join(["", *(f"  {line}" for line in identity.lines)]))


def _say_rules(output: Output, loaded: LoadedCensus, language: str | None) -> None:
    """What holds for all records and is not declared, ready to be put into the schema."""
    if not loaded.rules:
        return
    output.say("\n" + speak("start.load.rules", language))
    for rule in loaded.rules:
        output.verbatim(rule.toml())
