"""The file of a secret for one purpose, for a machine that must not hold the office secret.

It says what it is for, which version of the published numbers it belongs to, and from which office
secret it comes. A check over all of it finds a line that was changed: with another version the
wrong numbers would be drawn, and nobody would notice. No line of it is one of an office secret, so
that neither can be taken for the other. There is no recovery sheet: the holder of the office
secret makes it again.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
from pathlib import Path

from sdcensus.errors import SecretError
from sdcensus.model.secret import SUB_KEY_BYTES, Purpose, Secret, SubSecret
from sdcensus.store.owner_only import create_owner_only
from sdcensus.store.secrets import is_for_one_purpose, parse_secret, text_of_secret

_HEADER = "sdcensus secret for one purpose, format 1"
_FORMAT = re.compile(r"sdcensus secret for one purpose,? format ([0-9]+)", re.IGNORECASE)
_LINE = re.compile(r"\s*(purpose|version|id|key 1|key 2|check)\s*:\s*(.*?)\s*", re.IGNORECASE)
_PARTS = ("purpose", "version", "id", "key 1", "key 2", "check")


def write_sub_secret(secret: SubSecret, path: str | os.PathLike[str]) -> None:
    """Write a secret for one purpose to a new file that only its owner can read."""
    key = secret.sub_key(secret.purpose, secret.version)
    half = SUB_KEY_BYTES // 2
    lines = [
        _HEADER,
        f"purpose: {secret.purpose}",
        f"version: {secret.version}",
        f"id: {secret.id}",
        f"key 1: {key[:half].hex(' ', -2)}",
        f"key 2: {key[half:].hex(' ', -2)}",
        f"check: {_check(key, secret.purpose, str(secret.version), secret.id)}",
        "",
    ]
    try:
        create_owner_only(Path(path), "\n".join(lines).encode("ascii"))
    except FileExistsError as error:
        raise SecretError(
            f"{path} exists already, and a secret is never overwritten. Choose another name, or"
            " remove the old file first."
        ) from error


def read_sub_secret(path: str | os.PathLike[str]) -> SubSecret:
    """Read a secret for one purpose from its file; an office secret is refused."""
    read = read_any_secret(path)
    if isinstance(read, Secret):
        raise SecretError(
            f"{path} is an office secret (id {read.id}), and a secret for one purpose is needed"
            " here. Make one where the office secret is kept, and bring that:"
            " sdcensus secret lookup OFFICE_SECRET FILE"
        )
    return read


def read_any_secret(path: str | os.PathLike[str]) -> Secret | SubSecret:
    """Read the office secret, or a secret for one purpose: the file says which it is."""
    text = text_of_secret(path)
    where = str(path)
    return _parsed(text, where) if is_for_one_purpose(text) else parse_secret(text, where=where)


def _parsed(text: str, where: str) -> SubSecret:
    formats = _FORMAT.findall(text)
    if formats and formats[0] != "1":
        raise SecretError(
            f"{where} has format {formats[0]}, which a newer sdcensus wrote. Update sdcensus."
        )
    lines_by_name: dict[str, str] = {}
    for line in text.splitlines():
        matched = _LINE.fullmatch(line)
        if matched is None:
            continue
        name = matched[1].lower()
        if name in lines_by_name:
            raise SecretError(f"{where}: the line {name!r} stands there twice. {_AGAIN}")
        lines_by_name[name] = matched[2].lower()
    missing = [name for name in _PARTS if name not in lines_by_name]
    if missing or not formats:
        what = f"the line {missing[0]!r}" if missing else "the first line"
        raise SecretError(f"{where} is not whole: {what} is missing. {_AGAIN}")
    key = _bytes(lines_by_name["key 1"], lines_by_name["key 2"])
    version = lines_by_name["version"]
    known = lines_by_name["purpose"] in list(Purpose) and re.fullmatch(
        r"0|[1-9][0-9]{0,8}", version
    )
    right = (
        "" if key is None else _check(key, lines_by_name["purpose"], version, lines_by_name["id"])
    )
    if key is None or not known or not _same(right, lines_by_name["check"]):
        raise SecretError(
            f"{where} was changed or damaged: its lines do not belong together. {_AGAIN}"
        )
    return SubSecret(
        key,
        purpose=Purpose(lines_by_name["purpose"]),
        version=int(version),
        secret_id=lines_by_name["id"],
    )


_AGAIN = "Let the holder of the office secret make it again: sdcensus secret lookup."


def _bytes(*parts: str) -> bytes | None:
    """The bytes of both halves, or None where they are not as many hex digits as a key has."""
    digits = ["".join(part.split()) for part in parts]
    if not all(re.fullmatch(rf"[0-9a-fA-F]{{{SUB_KEY_BYTES}}}", digit) for digit in digits):
        return None
    return bytes.fromhex("".join(digits))


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode("utf-8", errors="replace"))


def _check(key: bytes, purpose: str, version: str, identity: str) -> str:
    """Eight hex digits that change with every part of the file."""
    message = "\n".join((purpose, version, identity)).encode("utf-8", errors="replace")
    return hashlib.blake2b(message, key=key, person=b"sub-secret-file", digest_size=4).hexdigest()
