"""The office secret: made, compared, restored; its recovery sheet written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError, SecretError
from sdcensus.model.secret import Secret
from sdcensus.store.manifest import read_manifest
from sdcensus.store.owner_only import create_owner_only
from sdcensus.store.secrets import (
    new_secret,
    read_secret,
    recovery_sheet,
    restore_secret,
    write_secret,
)

_ID = re.compile(r"[0-9a-fA-F]{16}")


@dataclass(frozen=True, slots=True)
class SecretFile:
    """A file with a secret: which one it is, and its recovery sheet if one was written."""

    path: Path
    id: str
    sheet: Path | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
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


def compare_secret(
    path: Path, *, other: str | Path | None = None, store: Path | None = None
) -> Comparison:
    """Read a secret and compare it with another file or id, and with the one behind a store."""
    mine = read_secret(path)
    others: list[tuple[str, str]] = []
    if other is not None:
        text = str(other)
        if _ID.fullmatch(text) and not Path(text).exists():
            others.append((f"the id {text.lower()}", text.lower()))
        else:
            others.append((text, read_secret(Path(text)).id))
    if store is not None:
        others.append((str(store), read_manifest(store).secret_id))
    return Comparison(SecretFile(path, mine.id), tuple(others))


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


def require_same(comparison: Comparison) -> None:
    """Refuse where something belongs to another secret."""
    if comparison.different:
        raise SecretError(
            f"{comparison.secret.path} (id {comparison.secret.id}) is not the secret of "
            f"{' and '.join(comparison.different)}."
        )


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
