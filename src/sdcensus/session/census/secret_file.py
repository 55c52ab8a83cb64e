"""The office secret, from the file that somebody or the environment names."""

from __future__ import annotations

import os
from pathlib import Path

from sdcensus.errors import SecretError
from sdcensus.model.secret import Secret
from sdcensus.store.secrets import read_secret

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
