"""What a published folder holds and how it was made, as its manifest says it. Public."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sdcensus._version import __version__
from sdcensus.session.publish.resolution import Resolved
from sdcensus.session.publish.workplace import (
    FORMAT_NAME,
    FORMAT_VERSION,
    Finished,
    WrittenFile,
)


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
            {"name": one.name, **one.public, "files": [file.name for file in one.files]}
            for one in products
        ],
        "files": [one.to_json() for one in files],
    }
    return as_bytes(content)


def as_bytes(content: Mapping[str, Any]) -> bytes:
    """Plain values as a file that people can read."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()
