"""Short ways to make a source, to read it whole, and to catch its error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sdcensus.errors import InputError
from sdcensus.ingest.readers import Reader, open_reader
from sdcensus.model.schema.source import FORMAT_OF_ENDING, FileFormat, FileSource


def source(*paths: Path, **options: Any) -> FileSource:
    """A source whose format is that of the ending unless it is given."""
    options.setdefault("format", FORMAT_OF_ENDING.get(paths[0].suffix, FileFormat.CSV))
    return FileSource(paths=paths, **options)


def opened(*paths: Path, **options: Any) -> Reader:
    """The reader of a source."""
    return open_reader(source(*paths, **options))


def whole(reader: Reader, columns: Sequence[str] | None = None, **options: Any) -> dict[str, Any]:
    """All the rows as lists, after the checks that every reader must pass."""
    names = reader.names() if columns is None else columns
    batches = list(reader.batches(names, **options))
    assert all(batch.num_rows > 0 for batch in batches)
    assert all(batch.schema.equals(batches[0].schema) for batch in batches)
    assert all(batch.schema.names == list(names) for batch in batches)
    if not batches:
        return {name: [] for name in names}
    for batch in batches:
        batch.validate(full=True)
    found: dict[str, Any] = pa.Table.from_batches(batches).to_pydict()
    return found


def refusal(*paths: Path, columns: Sequence[str] | None = None, **options: Any) -> str:
    """What the error says when the file is opened and read."""
    with pytest.raises(InputError) as caught:
        whole(opened(*paths, **options), columns)
    return str(caught.value)
