"""``sdcensus tabulate``: true counts and cell keys of a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.cli.shared.options import (
    Axes,
    Confidential,
    EngineOption,
    Language,
    MeasureOption,
    Quiet,
    Store,
    Units,
    Where,
    check_language,
    examples,
    listed,
)
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.cli.shared.tables import show_cube
from sdcensus.errors import Refused
from sdcensus.model.quantities import bytes_text, duration_text
from sdcensus.model.vocabulary import EngineName, Measure

if TYPE_CHECKING:
    from sdcensus.model.cube.sparse_cube import AnyCube

EXAMPLES = examples(
    "sdcensus tabulate census.store --by ed@parish,sex,age@five_year",
    'sdcensus tabulate census.store --by sex,religion --where "age >= 15"',
    "sdcensus tabulate census.store --of households --by ed@parish+district-total",
    "sdcensus tabulate census.store --by sex --show --confidential",
    "sdcensus tabulate census.store --by ed,sex --out counts.parquet --confidential",
)


def tabulate(
    store: Store,
    by: Axes = "",
    of: Units = "persons",
    where: Where = None,
    measure: MeasureOption = Measure.COUNT.value,
    engine: EngineOption = EngineName.MEMORY,
    show: Annotated[
        bool, typer.Option("--show", help="Show the true counts. Needs --confidential.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Write true counts and cell keys to a new .csv or .parquet file that only you"
            " can read. Needs --confidential.",
        ),
    ] = None,
    confidential: Confidential = False,
    language: Language = None,
    quiet: Quiet = False,
) -> None:
    """Count a table exactly, with its cell keys.

    True counts are confidential. Without --confidential the answer is the shape of the table and
    the time that it took.
    """
    from sdcensus.model.published.record_changes import cautions_of_records
    from sdcensus.session.census.census import open_census
    from sdcensus.session.office.confidential_output import check_target, write_confidential

    output = Output(quiet=quiet)
    if show and not confidential:
        raise Refused(
            "The table holds true counts. If you may see them, and nobody else looks at your"
            " screen, add --confidential."
        )
    if out is not None:
        check_target(out, confidential=confidential)
    where = where.strip() or None if where else None
    census = open_census(store)
    check_language(census, language)
    spec = census.spec(*listed(by), of=of, universe=where, measure=measure)
    census.origin.refuse_records(spec)
    began = time.perf_counter()
    with Stages(output, f"counting {spec.title}"):
        cube = census.tabulate(spec, engine=engine.value)
    took = time.perf_counter() - began
    decimals = None
    if spec.measure.is_weighted:
        weight = census.schema.weight(spec.of)
        decimals = weight.decimals if weight is not None else 0
    _say_shape(output, cube, where, engine, took)
    origin = census.origin
    for caution in cautions_of_records(origin.lineage, origin.listed, [spec]):
        output.note(f"caution: {caution}")
    if out is not None:
        with all_or_nothing(), Stages(output, f"writing {out}"):
            write_confidential(
                cube,
                out,
                confidential=confidential,
                language=language,
                weight_decimals=decimals or 0,
            )
        size = bytes_text(out.stat().st_size)
        output.say(f"Wrote {out} ({size}). It is confidential: only you can read it.")
    if show:
        show_cube(output, cube, language=language, weight_decimals=decimals)
    elif out is None:
        output.say(
            "The counts are confidential. See them with --show --confidential, or write them with"
            " --out FILE --confidential."
        )


def _say_shape(
    output: Output, cube: AnyCube, where: str | None, engine: EngineName, took: float
) -> None:
    spec = cube.spec
    what = spec.title if spec.axes else spec.of.plural
    if spec.measure is not Measure.COUNT:
        what = f"{spec.measure} {what}"
    shape = " × ".join(f"{size:,}" for size in spec.shape)
    cells = f"{spec.cells:,} cell{'s' if spec.cells != 1 else ''}"
    output.say(f"{what}{f', where {where}' if where else ''}: confidential", style="bold")
    output.say(
        f"{f'{shape} = ' if len(spec.shape) > 1 else ''}{cells},"
        f" {duration_text(took)} with the engine {engine}"
    )
