"""``sdcensus export``: a store as encoded parquet."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, note_removed, plain_table, typed
from sdcensus.cli.shared.options import Quiet, Store, examples
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import bytes_text, duration_text

EXAMPLES = examples(
    "sdcensus export census.store --out census.parquet",
    "sdcensus export census.store --out /shared/census.parquet --replace",
)


def export(
    store: Store,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="The folder to make.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Put the folder in the place of an older export.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Write a store as encoded parquet, which Spark and DuckDB read.

    For clusters, and for censuses larger than memory. Each kind of unit is one flat dataset with
    all that it inherits. The folder is as confidential as the store; only you can enter it. It
    appears when it is complete, or not at all.
    """
    from sdcensus.session.census.export import export as export_store

    output = Output(quiet=quiet)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "opening the store") as stages:
        exported = export_store(store, out, replace=replace, progress=stages)
    note_removed(output, exported.removed)
    output.say(f"Made {out} in {duration_text(time.perf_counter() - began)}. It is confidential.")
    sizes = plain_table()
    for heading in ("", "records", "columns", "files", "size"):
        sizes.add_column(heading, justify="right" if heading else "left")
    for entity, dataset in exported.manifest.datasets.items():
        sizes.add_row(
            entity.plural,
            f"{dataset.rows:,}",
            f"{len(list(dataset.columns())):,}",
            f"{len(dataset.files):,}",
            bytes_text(sum(file.size for file in dataset.files)),
        )
    output.show(sizes)
    output.say(f"Count in it with: sdcensus tabulate {typed(out)} --engine spark")
