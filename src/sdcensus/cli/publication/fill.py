"""``sdcensus fill``: published values in the office's own workbook."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Language, Quiet, examples
from sdcensus.cli.shared.run import all_or_nothing

EXAMPLES = examples(
    "sdcensus fill template.xlsx --published published --out filled.xlsx",
    "sdcensus fill template.xlsx --published published --out lleno.xlsx --language es",
)


def fill(
    template: Annotated[
        Path, typer.Argument(metavar="TEMPLATE", help="Your .xlsx workbook with placeholders.")
    ],
    published: Annotated[
        Path,
        typer.Option("--published", metavar="FOLDER", help="The folder of published tables."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The new workbook.")],
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Put published values into your own workbook. Never changes the template.

    A cell with {religion-by-district: ed=P01, religion=3} gets that number; axes that are not named
    stand at their totals. With {table: ed=@A, religion=@4} the codes stand in column A and in row
    4, so the placeholder can be copied over a block. Styles, formulas and everything else stay.
    """
    from sdcensus.session.publish.fill import fill_template

    output = Output(quiet=quiet)
    with all_or_nothing(), Stages(output, "filling") as stages:
        filled = fill_template(template, published, out, language=language, progress=stages)
    tables = f"{len(filled.tables)} table{'s' if len(filled.tables) != 1 else ''}"
    cells = f"{filled.cells:,} cell{'s' if filled.cells != 1 else ''}"
    output.say(f"Wrote {filled.path}: {cells} from {tables}.")
    if len(filled.lines) > 1:
        output.note(
            f"Its numbers come from several lines of records: {'; '.join(filled.lines)}. Who has"
            " related numbers from both learns from their differences what was changed, and for"
            " whom. Fill each workbook from tables of one line."
        )
    if filled.formulas:
        output.say(f"Its {filled.formulas:,} formulas are computed anew when it is opened.")
