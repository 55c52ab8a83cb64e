"""Before and around a derivation: a dry run, pairs of an older store, what a report needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sdcensus.errors import MissingExtra, OutputError, SdcensusError
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.swapping.earlier import PAIRS_FILE
from sdcensus.model.method.registry import Part, declared
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.secret import Secret
from sdcensus.report.derivation.files import require_report_libraries, write_plan
from sdcensus.session.derive.step import prepared
from sdcensus.store.census_store import CensusStore


def foreseen(
    store: str | Path,
    method: str,
    parameters: Mapping[str, object] | None = None,
    *,
    secret: Secret | str | Path | None = None,
    folder: str | Path | None = None,
    language: str | None = None,
    progress: Progress = no_progress,
) -> tuple[tuple[FactTable, ...], tuple[Path, ...]]:
    """What a method would meet; no store is written.

    Args:
        store: The store that it would begin with.
        method: The name of a pre-tabular method.
        parameters: What is said about it, by name.
        secret: The office secret with which the store was loaded, or its file.
        folder: A new folder for the same as a page and a workbook, for its owner only.
        language: Of these files.
        progress: Called with the stage and how much of it is done.

    Returns:
        The tables, and the files that were written.
    """
    target = None if folder is None else Path(folder)
    if target is not None:
        if target.exists():
            raise OutputError(f"{target} already exists. Choose another name or remove it first.")
        require_report_libraries()
    step = prepared(store, method, parameters or {}, secret=secret)
    facts = step.foresee(progress)
    if target is None:
        return facts, ()
    census = step.store.schema.census.name_in(language)
    return facts, write_plan(census, method, facts, target, language)


def earlier_pairs(method: str, out: Path, office: Path | None = None) -> Path | None:
    """The pairs of an older store of the same method that a new one takes the place of.

    A corrected census keeps its pairs that way, wherever both still qualify.

    Args:
        method: The name of the pre-tabular method.
        out: Where the older store stands.
        office: Where the office keeps what is about it, if not beside it.
    """
    if declared(Part.PRE_TABULAR, method).parameter("earlier") is None:
        return None
    folder = out.with_name(f"{out.name}.office") if office is None else office
    pairs = folder / PAIRS_FILE
    try:
        lineage = CensusStore.open(out).manifest.lineage
    except SdcensusError:
        return None
    same = bool(lineage) and lineage[-1].method == method
    return pairs if same and pairs.is_file() else None


def without_libraries() -> str:
    """Why no report can be written: what is not installed; empty where all is."""
    try:
        require_report_libraries()
    except MissingExtra as error:
        return str(error)
    return ""
