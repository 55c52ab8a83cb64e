"""``sdcensus map``: a published grid as a smoothed picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output
from sdcensus.cli.shared.options import Language, Quiet, examples

EXAMPLES = examples(
    "sdcensus map published/grid.csv --smooth 2000 --out grid.svg",
    "sdcensus map published/grid.csv --smooth 5000 --language es --out grid.svg",
)


def map(
    table: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A published table by a grid, .csv or .parquet."),
    ],
    smooth: Annotated[
        int,
        typer.Option(
            "--smooth", metavar="METRES", help="How far the kernel reaches around each square."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The new .svg or .png file.")],
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Draw a published grid as a smoothed picture.

    Every square gets the mean of the published numbers around it, the nearest weighing most.
    Only published numbers are read, and none is written: it is a picture, not data, and says so.
    """
    from sdcensus.session.figures.smoothed_map import write_smoothed_map

    output = Output(quiet=quiet)
    picture = write_smoothed_map(table, smooth, out, language)
    output.say(f"Wrote {out}.")
    for sentence in picture.sentences():
        output.say(sentence)
