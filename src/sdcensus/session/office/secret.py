"""The office secret: made, compared, restored; its recovery sheet, and the look-up secret."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SecretError
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.store.manifest import read_manifest
from sdcensus.store.owner_only import create_owner_only
from sdcensus.store.secrets import (
    new_secret,
    read_secret,
    recovery_sheet,
    restore_secret,
    write_secret,
)
from sdcensus.store.sub_secrets import read_any_secret, write_sub_secret

_ID = re.compile(r"[0-9a-fA-F]{16}")


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A file with a secret: which one it is, and its recovery sheet if one was written.

    Attributes:
        path: The file.
        id: The id of the office secret; a secret for one purpose has that of the one behind it.
        sheet: The recovery sheet.
        purpose: What it is for, such as ``lookup version 1``; empty for the office secret itself.
    """

    path: Path
    id: str
    sheet: Path | None = None
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class SecretComparison:
    """A secret beside something that was made with one: whose id is the same, and whose is not."""

    secret: SecretFile
    others: tuple[tuple[str, str], ...]

    @property
    def different(self) -> tuple[str, ...]:
        """What was made with, or is, another secret."""
        return tuple(name for name, identity in self.others if identity != self.secret.id)


def make_secret(path: Path, *, sheet: Path | None = None) -> SecretFile:
    """Make a secret in a new file; with ``sheet``, also write its recovery sheet.

    Either both are written or neither.
    """
    if sheet is not None:
        _check_new(sheet)
        if sheet.resolve() == path.resolve():
            raise OutputError("The secret and its recovery sheet need files of their own.")
    secret = new_secret(path)
    try:
        if sheet is not None:
            _create_sheet(secret, sheet)
    except BaseException:
        # Nothing can have been made with it yet.
        path.unlink(missing_ok=True)
        raise
    return SecretFile(path, secret.id, sheet)


def write_sheet(path: Path, sheet: Path) -> SecretFile:
    """Write the recovery sheet of a secret to a new file that only its owner can read."""
    secret = read_secret(path)
    _create_sheet(secret, sheet)
    return SecretFile(path, secret.id, sheet)


def sheet_text(path: Path) -> str:
    """The recovery sheet of a secret, to be shown to the one who asked for it."""
    return recovery_sheet(read_secret(path))


def make_lookup_secret(path: Path, out: Path, *, version: int = 1) -> SecretFile:
    """Write the look-up secret of an office secret to a new file that only its owner can read.

    It is all that a server needs to protect tables of a store. Record keys cannot be made from it,
    nor draws for another purpose or another version of the published numbers.

    Args:
        path: The file of the office secret.
        out: The file to make; must not exist.
        version: The version of the series of published numbers.
    """
    secret = read_secret(path).sub_secret(Purpose.LOOKUP, version)
    write_sub_secret(secret, out)
    return SecretFile(out, secret.id, purpose=_purpose(secret))


def find_lookup_secret(
    named: str | Path | Secret | SubSecret | None = None, *, version: int = 1
) -> SubSecret:
    """The look-up secret from the named file, or from the file that the environment names.

    Of an office secret only its look-up secret is kept.

    Args:
        named: The office secret, the look-up secret, or the file of either; else the environment
            variable ``SDCENSUS_SECRET_FILE`` names the file.
        version: The version of the series of published numbers.
    """
    sub_secret = find_any_secret(named) if isinstance(named, str | Path) or named is None else named
    if isinstance(sub_secret, Secret):
        return sub_secret.sub_secret(Purpose.LOOKUP, version)
    sub_secret.sub_key(Purpose.LOOKUP, version)  # refuses where it is for something else
    return sub_secret


def find_any_secret(named: str | Path | None = None) -> Secret | SubSecret:
    """The office secret or the look-up secret, from the named file or that of the environment."""
    # Here and not above: what is loaded with it is not needed to make a secret.
    from sdcensus.session.census.secret_file import SECRET_VARIABLE

    where = named or os.environ.get(SECRET_VARIABLE)
    if not where:
        raise SecretError(
            "The look-up secret is needed: noise is drawn with it. Name its file with --secret"
            f" FILE or in {SECRET_VARIABLE}. Make one where the office secret is kept:"
            " sdcensus secret lookup OFFICE_SECRET FILE"
        )
    return read_any_secret(Path(where))


def compare_secret(
    path: Path, *, other: str | Path | None = None, store: Path | None = None
) -> SecretComparison:
    """Read a secret and compare it with another file or id, and with the one behind a store."""
    mine = read_any_secret(path)
    others: list[tuple[str, str]] = []
    if other is not None:
        text = str(other)
        if _ID.fullmatch(text) and not Path(text).exists():
            others.append((f"the id {text.lower()}", text.lower()))
        else:
            others.append((text, read_any_secret(Path(text)).id))
    if store is not None:
        others.append((str(store), read_manifest(store).secret_id))
    return SecretComparison(SecretFile(path, mine.id, purpose=_purpose(mine)), tuple(others))


def restore(typed: Path | str, path: Path) -> SecretFile:
    """Write the secret that somebody typed from a recovery sheet to a file of its own.

    Args:
        typed: The file with what was typed, or the text itself.
        path: The file of the secret; must not exist.
    """
    if isinstance(typed, Path) and not typed.exists():
        raise SecretError(f"{typed} does not exist. Give the file with the lines of the sheet.")
    secret = read_secret(typed) if isinstance(typed, Path) else restore_secret(typed)
    write_secret(secret, path)
    return SecretFile(path, secret.id)


def require_same(comparison: SecretComparison) -> None:
    """Refuse where something belongs to another secret."""
    if comparison.different:
        raise SecretError(
            f"{comparison.secret.path} (id {comparison.secret.id}) is not the secret of "
            f"{' and '.join(comparison.different)}."
        )


def _purpose(secret: Secret | SubSecret) -> str:
    return "" if isinstance(secret, Secret) else f"{secret.purpose} version {secret.version}"


def _check_new(sheet: Path) -> None:
    if sheet.exists():
        raise OutputError(f"{sheet} already exists. Choose another name or remove it first.")
    if not sheet.parent.is_dir():
        raise OutputError(f"The folder {sheet.parent} does not exist.")


def _create_sheet(secret: Secret, sheet: Path) -> None:
    _check_new(sheet)
    try:
        create_owner_only(sheet, recovery_sheet(secret).encode("ascii"))
    except FileExistsError:
        raise OutputError(f"{sheet} already exists. Choose another name.") from None
