"""``sdcensus dummy``: a file of nobody, to write programs on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import Quiet, examples, listed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.errors import SpecError

EXAMPLES = examples(
    "sdcensus dummy published --out dummy",
    "sdcensus dummy published --release release.toml --design B --out dummy",
    "sdcensus dummy published --records 20000 --formats csv,sav,dta --out dummy",
)


def dummy(
    published: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="Published tables: a folder of sdcensus publish, or a registry."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The new folder.")],
    release: Annotated[
        Path | None,
        typer.Option(
            "--release",
            metavar="FILE",
            help="The release document whose design says what the file holds. Without it: the"
            " variables of the published tables.",
        ),
    ] = None,
    design: Annotated[
        str, typer.Option("--design", metavar="NAME", help="The design; the one to make if none.")
    ] = "",
    records: Annotated[
        int, typer.Option("--records", metavar="N", help="How many persons.")
    ] = 1000,
    formats: Annotated[
        str,
        typer.Option(
            "--formats", metavar="LIST", help="csv, parquet, sav, dta: one or several, with commas."
        ),
    ] = "csv",
    quiet: Quiet = False,
) -> None:
    """Make a data set of the same structure as a file for researchers, from published tables only.

    No record is about a person, and no record of a census is read: two censuses with equal
    published values give the same dummy file. It is for writing programs before the real file is
    at hand, and for teaching.
    """
    from sdcensus.model.release.plan import MicrodataFormat
    from sdcensus.model.vocabulary import option
    from sdcensus.session.release.dummy.writing import write_dummy

    output = Output(quiet=quiet)
    chosen = [option(MicrodataFormat, "format", name) for name in listed(formats)]
    if not chosen:
        raise SpecError("--formats names no format. Say csv, parquet, sav or dta.")
    if design and release is None:
        raise SpecError(f"--design {design} needs the document that has it: --release FILE.")
    with all_or_nothing(), Stages(output, "drawing dummy records") as stages:
        written = write_dummy(
            published,
            out,
            release=release,
            design=design,
            records=records,
            formats=chosen,
            progress=stages,
        )
    rows = ", ".join(f"{table.rows:,} {table.entity.plural}" for table in written.file.tables)
    output.say(
        f"Wrote {out}: {rows}, drawn from {written.tables:,} published tables. Nobody is in it."
    )
