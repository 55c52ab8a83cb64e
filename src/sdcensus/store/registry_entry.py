"""One table of one publication, as a registry describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, StoreError
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.document import spec_from_json
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.registry_files import FOLDER, FORMAT_VERSION, checksum, damaged, get_spec
from sdcensus.store.registry_values import making_of


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """One table of one publication.

    Attributes:
        id: A digest of what was published and how.
        order: How many tables the registry held before.
        name: How the office calls it.
        spec: The table.
        provenance: How the numbers were made.
        sparse: Whether cells that are not listed were published as 0.
        publication: The name of the publication or revision.
        consistent: Whether the method gives the same records the same number in every table.
        has_values: Whether the values are kept; of tables that were streamed only a digest is.
        digest: A digest of the published values.
        series: Of which census it is, where the office tells them apart.
        spec_hash: The hash of ``spec``.
    """

    id: str
    order: int
    name: str
    spec: TableSpec
    provenance: Provenance | None
    sparse: bool
    publication: str = ""
    consistent: bool = False
    has_values: bool = True
    digest: str = ""
    series: str = ""
    spec_hash: str = ""

    def agrees_with(self, provenance: Provenance | None, *, consistent: bool) -> bool:
        """Whether a table made like that has the same numbers for the same records anyway."""
        if provenance is None or self.provenance is None or not (consistent and self.consistent):
            return False
        return making_of(self.provenance) == making_of(provenance)


def entry_from(
    folder: Path, identity: str, content: Mapping[str, Any], lists: dict[str, Variable]
) -> RegistryEntry:
    """Read the description of a table.

    Args:
        folder: The registry.
        identity: Under what the table is kept.
        content: Its description.
        lists: Code lists that were read before, by the names of their files.

    Raises:
        StoreError: It is damaged, or a newer version wrote it.
    """
    path = folder / FOLDER / identity
    try:
        if int(content["version"]) > FORMAT_VERSION:
            raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
        document = get_spec(folder, content["spec"], lists)
        spec = spec_from_json(document, where=f"the table in {path.name}")
        made = content["provenance"]
        entry = RegistryEntry(
            id=str(content["id"]),
            order=0,
            name=str(content["name"]),
            spec=spec,
            provenance=None if made is None else Provenance(**made),
            sparse=bool(content["sparse"]),
            consistent=bool(content.get("consistent", False)),
            has_values=content.get("values", "kept") != "none",
            digest=str(content.get("digest", "")),
            series=str(content.get("series", "")),
            spec_hash=str(content["spec_hash"]),
        )
        same = entry.id == identity and _is_intact(content, spec)
    except (InputError, LookupError, TypeError, ValueError, AttributeError):
        raise damaged(path) from None
    if not same:
        raise damaged(path)
    return entry


def _is_intact(content: Mapping[str, Any], spec: TableSpec) -> bool:
    """Whether a specification is the one that was written."""
    written = content.get("checksum")
    if written is None:  # the first version had none
        return bool(spec.hash() == content["spec_hash"])
    return bool(written == checksum({"spec": content["spec"], "hash": content["spec_hash"]}))
