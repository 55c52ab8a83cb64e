"""The store with which a line of derived stores begins, looked for where the derived one lies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import StoreError
from sdcensus.model.published.provenance import Derivation
from sdcensus.store.manifest import MANIFEST_FILE, read_manifest


def original_beside(store: Path, lineage: Sequence[Derivation]) -> Path | None:
    """The original store of a derived one, if it stands beside it; ``None`` if it does not.

    Args:
        store: The derived store.
        lineage: How it was derived, the first step first.
    """
    if not lineage:
        return None
    for folder in sorted(store.resolve().parent.iterdir()):
        if (folder / MANIFEST_FILE).is_file() and _version(folder) == lineage[0].parent:
            return folder
    return None


def _version(folder: Path) -> str:
    try:
        return read_manifest(folder).data_version
    except StoreError:  # what is no whole store is not the one
        return ""
