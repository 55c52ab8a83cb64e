"""The stores that published tables are scored with: the census, and what was derived from it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import SpecError, StoreError
from sdcensus.model.published.provenance import lines_of
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.census.census import Census, open_store
from sdcensus.store.manifest import MANIFEST_FILE, read_manifest


def stores_to_score(
    tables: Sequence[PublishedTable], store: Path, derived: Path | None = None
) -> tuple[Census, Census | None]:
    """The census to score with, and the derived one of which the tables were made, if they were.

    Args:
        tables: What was published.
        store: The census of which they were made, or from which that was derived.
        derived: The derived store; without it, it is looked for beside the other.

    Raises:
        SpecError: The derived store cannot be found, or the tables were not made of it.
    """
    census = open_store(store)
    lines = lines_of(table.provenance for table in tables)
    if len(lines) > 1:
        raise SpecError(
            f"These tables were made from several lines of records: {'; '.join(lines)}. Score the"
            " tables of each line by themselves, in a folder of their own."
        )
    versions = {
        table.provenance.data_version for table in tables if table.provenance is not None
    } - {census.origin.data_version}
    if derived is not None:
        counted = check_derived(store, derived)
        known = [table for table in tables if table.provenance is not None]
        if known and not versions:
            raise SpecError(
                f"The tables were made of {store} itself, and not of {derived}. Leave out"
                " --score-derived."
            )
        return census, counted
    if not versions or not any(t.provenance and t.provenance.lineage for t in tables):
        return census, None
    beside = derived_store_beside(store, versions)
    if beside is None:
        raise SpecError(
            f"The tables were made of a store that was derived from another one, and it does not"
            f" stand beside {store}. Name it: --score-derived STORE."
        )
    return census, open_store(beside)


def check_derived(store: Path, derived: Path) -> Census:
    """The derived store, if it was derived from the other; refused before any work.

    Raises:
        SpecError: It was not.
    """
    counted = open_store(derived)
    lineage = counted.store.manifest.lineage
    if not lineage:
        raise SpecError(
            f"{derived} was not derived from any store, so it stands in no line. --score names the"
            " original store, and --score-derived the one that was made of it."
        )
    if open_store(store).store.manifest.data_version not in {step.parent for step in lineage}:
        raise SpecError(
            f"{derived} was not derived from {store}. Name the store with which its line begins:"
            " --score STORE."
        )
    return counted


def derived_store_beside(original: Path, data_versions: set[str]) -> Path | None:
    """The derived store of one of some data versions that stands beside another store."""
    for folder in sorted(original.resolve().parent.iterdir()):
        if not (folder / MANIFEST_FILE).is_file():
            continue
        try:
            manifest = read_manifest(folder)
        except StoreError:  # what is no whole store is not the one
            continue
        if manifest.lineage and manifest.data_version in data_versions:
            return folder
    return None
