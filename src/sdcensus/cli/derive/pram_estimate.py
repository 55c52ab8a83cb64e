"""``sdcensus pram estimate``: what counts were before PRAM, for analysts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, plain_table
from sdcensus.cli.shared.options import Quiet, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError

EXAMPLES = examples(
    "sdcensus pram estimate sex.csv --matrix sex=pram-matrix-sex.csv",
    "sdcensus pram estimate ed-sex.csv --matrix sex=pram-matrix-sex.csv --out est.csv",
)

#: Lines that are shown on the console; a file has all of them.
_MOST_SHOWN = 40


def estimate(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A published table, as csv or Parquet.")
    ],
    matrix: Annotated[
        list[str],
        typer.Option(
            "--matrix",
            metavar="VARIABLE=FILE",
            help="The published matrix of a variable of the table; marital+sex=FILE for variables"
            " that changed together. Can be given several times.",
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write all estimates as csv.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Write over a file that exists.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Estimate what a table was before values were changed by PRAM, with standard errors.

    For a table by the changed variable, alone or with others, and the matrix that the office has
    published. The errors are those that PRAM leaves; noise of the table itself comes on top.
    """
    from sdcensus.session.derive.estimation import estimate_table

    output = Output(quiet=quiet)
    matrices: dict[str, str] = {}
    for text in matrix:
        name, equals, file = text.partition("=")
        if not equals or not name.strip() or not file.strip():
            raise SpecError(f"--matrix {text}: write the variable and its file: sex=FILE.")
        if name.strip() in matrices:
            raise SpecError(f"--matrix names {name.strip()!r} twice. Name one matrix for it.")
        matrices[name.strip()] = file.strip()
    with all_or_nothing():
        estimates = estimate_table(table, matrices)
        if out is not None:
            estimates.write(out, replace=replace)
    lines = estimates.lines()
    if out is None:
        shown = plain_table()
        for heading in lines[0]:
            number = heading in ("published", "estimate", "standard_error")
            shown.add_column(heading, justify="right" if number else "left")
        for line in lines[1 : _MOST_SHOWN + 1]:
            shown.add_row(*line)
        output.show(shown)
        if len(lines) > _MOST_SHOWN + 1:
            output.note(f"{len(lines) - 1:,} cells; --out FILE writes all of them.")
    else:
        output.say(f"Wrote {out}: {len(lines) - 1:,} cells.")
