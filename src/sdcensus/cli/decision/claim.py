"""``sdcensus claim``: what to answer who says to have found somebody in a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, SecretFile, SpokenLanguage, examples
from sdcensus.cli.shared.run import all_or_nothing

EXAMPLES = examples(
    'sdcensus claim plan.toml --table age_by_area --cell "ed=12,age=47" --out answers',
    'sdcensus claim out/ --plan p.toml --table 7 --cell "ed=12" --out answers -l es',
)


def claim(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="The plan of the publication, or the published folder."
        ),
    ],
    table: Annotated[
        str, typer.Option("--table", metavar="NAME", help="The published table, by its name.")
    ],
    cell: Annotated[
        str,
        typer.Option(
            "--cell",
            metavar="CELL",
            help="AXIS=CODE for each axis, comma-separated, by codes or labels; an axis that is not"
            " named stands at its total.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where the public answer goes.")
    ],
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="The plan, where SOURCE is the folder."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="STORE", help="The store of the tables, if it is not the plan's."
        ),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(
            "--original",
            metavar="STORE",
            help="The store before records were changed; looked for beside the other.",
        ),
    ] = None,
    derivation: Annotated[
        list[Path] | None,
        typer.Option(
            "--derivation",
            metavar="FILE",
            help="The derivation.json of a derived store, where it is not kept beside it.",
        ),
    ] = None,
    office: Annotated[
        Path | None,
        typer.Option(
            "--office", metavar="FOLDER", help="The office's folder, if it is not the plan's."
        ),
    ] = None,
    secret: SecretFile = None,
    language: SpokenLanguage = None,
    quiet: Quiet = False,
) -> None:
    """Answer a claim: "I have found my neighbour in table 7".

    Two answers are written. The public one says how such numbers are made, and one of three fixed
    brackets for the chance that such a claim is right; it is the same whatever is true. The
    confidential one, in the office's folder, says what is true of the cell.
    """
    from sdcensus.report.claim.answer import answer_text
    from sdcensus.session.claim import answer_claim

    output = Output(quiet=quiet)
    with all_or_nothing(), Stages(output, "reading the table") as stages:
        files = answer_claim(
            source,
            table,
            cell,
            out,
            plan=plan,
            store=store,
            original=original,
            derivations=derivation or (),
            office=office,
            secret=secret,
            language=language,
            progress=stages,
        )
    output.say(answer_text(files.answer, language))
    for path in files.public:
        output.say(f"Wrote {path}, for the claimant.")
    for path in files.office:
        output.say(f"Wrote {path}. It is confidential: only you can read it.")
