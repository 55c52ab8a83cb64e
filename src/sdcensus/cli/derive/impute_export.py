"""Blanked records for an edit and imputation system: ``sdcensus impute STORE --export FILE``."""

from __future__ import annotations

import time
from pathlib import Path

from sdcensus.cli.shared.console import Output, Stages, typed
from sdcensus.cli.shared.run import all_or_nothing
from sdcensus.model.quantities import duration_text


def run_export(
    store: Path,
    file: Path,
    parameters: dict[str, object],
    *,
    secret: Path | None = None,
    replace: bool = False,
    quiet: bool = False,
) -> None:
    """Write blanked records, and say how they are read back.

    Args:
        store: The store.
        file: The file for the other system.
        parameters: What was said about the export, by name.
        secret: The file of the office secret.
        replace: Put it in the place of an older file.
        quiet: Say nothing.
    """
    from sdcensus.session.derive import export_blanks

    output = Output(quiet=quiet)
    began = time.perf_counter()
    with all_or_nothing(), Stages(output, "opening the store") as stages:
        exported = export_blanks(
            store, file, parameters, secret=secret, replace=replace, progress=stages
        )
    took = duration_text(time.perf_counter() - began)
    output.say(f"Wrote {file} in {took}. It is confidential: only you can read it.")
    output.say(
        f"{exported.records:,} {exported.unit.plural}, of which {exported.blanked:,} are blanked."
        f" What was asked is in {exported.note}; keep it."
    )
    output.say(
        f"When the values are filled in: sdcensus impute {typed(store)} --import {typed(file)}"
        " --out STORE2"
    )
