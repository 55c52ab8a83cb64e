"""``sdcensus load``: from the files of a census to a store."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table, typed
from sdcensus.cli.shared.options import Quiet, SecretFile, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import duration_text
from sdcensus.model.vocabulary import OnProblem

EXAMPLES = examples(
    "sdcensus load census.toml --out census.store --secret office.secret",
    "sdcensus load census.toml --out census.store --replace --on-problem missing",
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
    quiet: Quiet = False,
) -> None:
    """Check the files of a census against its schema and write the store.

    The store appears when it is complete, or not at all. Problems in the files are listed with
    the rows on which they stand. Direct identifiers never enter the store. Rules that hold for all
    records and are not declared are proposed for the schema.
    """
    from sdcensus.session.census.census import load as load_census

    output = Output(quiet=quiet)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "reading the schema") as stages:
        report = load_census(
            schema,
            out,
            secret=secret,
            on_problem=on_problem.value,
            replace=replace,
            progress=stages,
        )
    if report.problems:
        output.note("Loaded with these problems (values that do not fit are 'not stated'):")
        for problem in report.problems:
            output.note(f"  {problem}")
    for note in report.notes:
        output.note(f"Note: {note}")
    if report.identities:
        output.note(
            "The records show counts of one kind of unit that are those of another, and the schema"
            " does not say so. Tables of both would give such counts away. To have plans and"
            " policies checked for it, add to the schema and load again:"
        )
        for identity in report.identities:
            output.note("\n".join(["", *(f"  {line}" for line in identity.lines)]))
    output.say(f"Made {out} in {duration_text(time.perf_counter() - began)}.")
    records = plain_table(header=False)
    records.add_column()
    records.add_column(justify="right")
    for entity, rows in report.rows.items():
        records.add_row(entity.plural, f"{rows:,}")
    output.show(records)
    for links in report.links:
        output.say(f"{links}.".capitalize())
    _say_proposals(output, out)
    output.say(f"Look at it with: sdcensus describe {typed(out)}")


def _say_proposals(output: Output, store: Path) -> None:
    """What holds for all records and is not declared, ready to be put into the schema."""
    from sdcensus.session.census.census import open_store
    from sdcensus.session.census.implied_codes import proposed_rules

    with Stages(output, "looking for rules that are not declared") as stages:
        rules = proposed_rules(open_store(store), progress=stages)
    if not rules:
        return
    output.say(
        "\nThese combinations occur in no record, and the schema does not declare them. Put those"
        " into the schema that are rules and no coincidence, before anything is published: what"
        " follows from the rest of a question is then the same question, with the same number."
    )
    for rule in rules:
        output.say(rule.toml())
