"""A store as encoded parquet, for engines that cannot map it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

from sdcensus.engine.spark import SparkEngine
from sdcensus.engine.spark_session import request_session, runs_here
from sdcensus.errors import EngineError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.store.census_store import CensusStore
from sdcensus.store.parquet_census import ParquetCensus
from sdcensus.store.parquet_export import ROWS_PER_FILE, export_parquet


def export(
    store: str | Path,
    out: str | Path,
    *,
    replace: bool = False,
    rows_per_file: int = ROWS_PER_FILE,
    progress: Progress = no_progress,
) -> ParquetCensus:
    """Write a store as encoded parquet, which Spark and DuckDB read.

    The folder is as confidential as the store. It appears when it is complete, or not at all, and
    only its owner can enter it.

    Args:
        store: The folder of the store.
        out: The folder to make.
        replace: Put it in the place of an older export.
        rows_per_file: How many records a file holds; a file is a piece of work for one core.
        progress: Called with the stage and how much of it is done.
    """
    return export_parquet(
        CensusStore.open(Path(store), verify=True),
        Path(out),
        replace=replace,
        rows_per_file=rows_per_file,
        progress=progress,
    )


def spark_over_store(store: CensusStore) -> SparkEngine:
    """Spark on this machine over a store: a temporary export, gone with the engine.

    A cluster cannot see temporary files of this machine and is refused.
    """
    session = request_session()
    if not runs_here(session):
        raise EngineError(
            "A cluster cannot read a store. Export it to storage that all machines share (sdcensus"
            " export STORE --out FOLDER) and open that folder."
        )
    folder = Path(tempfile.mkdtemp(prefix="sdcensus-"))
    try:
        engine = SparkEngine(export_parquet(store, folder / "encoded"), session=session)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(engine, shutil.rmtree, folder, ignore_errors=True)
    return engine
