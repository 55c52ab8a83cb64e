"""The last files of a publication: pages, what the folder holds, what the office keeps."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus._version import __version__
from sdcensus.formats.shared.files import new_file
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.publish.office_folder import ACCEPTED_RISK, OFFICE_FILE
from sdcensus.session.publish.pages import evaluation_pages, reader_pages
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.workplace import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    Finished,
    Workplace,
    WrittenFile,
)
from sdcensus.store.owner_only import write_owner_only


def manifest_of(
    resolved: Resolved, products: Sequence[Finished], files: Sequence[WrittenFile]
) -> bytes:
    """What a published folder holds and how it was made: digests of all files, and no clock."""
    content = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "publication": resolved.publication,
        "census": str(resolved.census.schema.census.name),
        "office": dict(resolved.heading.source.by_language),
        "date": resolved.heading.date,
        "package_version": __version__,
        "tables": [
            {"name": product.name, **product.public, "files": [file.name for file in product.files]}
            for product in products
        ],
        "files": [file.to_json() for file in files],
    }
    return as_bytes(content)


def as_bytes(content: Mapping[str, Any]) -> bytes:
    """Plain values as a file that people can read."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


@dataclass(frozen=True, slots=True)
class LastFiles:
    """The files of a publication: all public ones, and the names of the office's pages."""

    public: list[WrittenFile]
    office: tuple[str, ...]


def write_last_files(
    resolved: Resolved,
    workplace: Workplace,
    products: Sequence[Finished],
    identity: Mapping[str, Any],
    accepted: AcceptedRisk | None,
) -> LastFiles:
    """Write the last public files, the manifest, and what the office keeps."""
    files = [file for product in products for file in product.files]
    for name, content in reader_pages(resolved, products).items():
        with new_file(workplace.hidden / name) as page:
            page.write(content)
        files.append(WrittenFile.of(workplace.hidden / name))
    with new_file(workplace.hidden / MANIFEST) as manifest:
        manifest.write(manifest_of(resolved, products, files))
    private = evaluation_pages(resolved, products)
    for name, content in private.items():
        write_owner_only(workplace.notes / name, content)
    policy = resolved.plan.policy
    kept = {
        "format": FORMAT_NAME,
        "version": FORMAT_VERSION,
        "publication": resolved.publication,
        "identity": dict(identity),
        "manifest": WrittenFile.of(workplace.hidden / MANIFEST).to_json(),
        "plan": _named(resolved.file),
        "policy": None if policy is None else _named(resolved.plan.path(policy.file)),
        "office": [WrittenFile.of(workplace.notes / name).to_json() for name in private],
    }
    if accepted is not None:
        kept[ACCEPTED_RISK] = accepted.to_json()
    write_owner_only(workplace.notes / OFFICE_FILE, as_bytes(kept))
    return LastFiles(files, tuple(private))


def _named(path: Path) -> dict[str, str | int]:
    """A document that a publication was made from: what it held, and where it lies."""
    return {**WrittenFile.of(path).to_json(), "path": str(path.resolve())}
