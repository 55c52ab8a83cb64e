"""Loading a census: the schema document, the office secret and the files, joined."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from sdcensus.errors import SecretError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.file_problems import OnProblem
from sdcensus.model.secret import Secret
from sdcensus.store.secrets import read_secret

if TYPE_CHECKING:
    from sdcensus.ingest.load import LoadReport

#: Where the office secret is looked for when no file is named.
SECRET_VARIABLE = "SDCENSUS_SECRET_FILE"


def find_secret(path: str | Path | Secret | None) -> Secret:
    """The office secret from the named file, or from the file that the environment names."""
    if isinstance(path, Secret):
        return path
    named = path or os.environ.get(SECRET_VARIABLE)
    if not named:
        raise SecretError(
            "The office secret is needed: record keys come from it. Name its file with --secret"
            f" FILE or in {SECRET_VARIABLE}; make one with: sdcensus secret new FILE"
        )
    return read_secret(Path(named))


def load(
    schema: str | Path,
    out: str | Path,
    *,
    secret: str | Path | Secret | None = None,
    on_problem: str | OnProblem = OnProblem.REFUSE,
    replace: bool = False,
    progress: Progress = no_progress,
) -> LoadReport:
    """Load the files that a schema describes into a store.

    Args:
        schema: The schema document.
        out: Where the store will stand.
        secret: The office secret or its file; else ``SDCENSUS_SECRET_FILE`` names it.
        on_problem: ``refuse``, or ``missing`` to count values that do not fit as "not stated".
        replace: Put the new store in the place of an older one.
        progress: Called with the stage and how much of it is done.
    """
    # Here and not above: whoever looks for the secret does not load a census.
    from sdcensus.documents.schema.document import read_schema
    from sdcensus.ingest.load import load_census, read_maps

    read = read_schema(Path(schema))
    key = find_secret(secret)
    return load_census(
        read,
        Path(out),
        secret=key,
        on_problem=OnProblem.parse(on_problem),
        replace=replace,
        maps=read_maps(read, Path(schema).parent),
        progress=progress,
    )
