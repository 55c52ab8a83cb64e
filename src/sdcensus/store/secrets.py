"""The file of the office secret, and the sheet of paper from which it can be typed again.

File and sheet hold the same numbered lines: eight bytes in groups of four hex digits, then a group
that checks the line, its number and how many lines there are. A mistyped, missing or exchanged
line is named. The id, which is derived from the whole secret, checks that the lines belong
together. A file may also hold nothing but the hex digits of a secret that was made elsewhere.
"""

from __future__ import annotations

import binascii
import codecs
import os
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

from sdcensus.errors import SecretError
from sdcensus.model.secret import LONGEST, SHORTEST, Secret
from sdcensus.store.owner_only import create_owner_only, is_owner_only

NEW_SECRET_BYTES = 32

_HEADER = "sdcensus secret, format 1"
_BYTES_IN_A_LINE = 8
_LARGEST_FILE = 1 << 16
# Letters that people and scanners take for digits; none of them is a hex digit.
_LOOK_ALIKE = str.maketrans("OoIl|", "00111")
_NUMBERED = re.compile(r"\s*([0-9OoIl|]{1,2})\s*/\s*([0-9OoIl|]{1,2})(?![0-9/])\s*[:.)]?(.*)")
_ID = re.compile(r"\s*id\s*:?\s*([0-9a-fA-FOoIl|][0-9a-fA-FOoIl|\s-]*)", re.IGNORECASE)
# Every line of a secret for one purpose but its id; no line of an office secret begins so.
_ONE_PURPOSE = re.compile(
    r"^\s*(?:sdcensus secret for one purpose|(?:purpose|version|check|key [12])\s*:)",
    re.IGNORECASE | re.MULTILINE,
)
_FORMAT = re.compile(r"\s*sdcensus secret,? format ([0-9]+)\s*", re.IGNORECASE)


def new_secret(path: str | os.PathLike[str]) -> Secret:
    """Make a secret at random and write it to a file that only its owner can read.

    An existing file is never overwritten: losing a secret is losing the series of published
    numbers.
    """
    secret = Secret(secrets.token_bytes(NEW_SECRET_BYTES))
    write_secret(secret, path)
    return secret


def write_secret(secret: Secret, path: str | os.PathLike[str]) -> None:
    """Write a secret to a new file that only its owner can read; never over an existing one."""
    text = "\n".join([_HEADER, f"id: {secret.id}", *_lines(secret), ""])
    try:
        create_owner_only(Path(path), text.encode("ascii"))
    except FileExistsError as error:
        raise SecretError(
            f"{path} exists already, and a secret is never overwritten. Choose another name; "
            "delete the old secret only when nothing published depends on it."
        ) from error


def read_secret(path: str | os.PathLike[str]) -> Secret:
    """Read a secret from its file: written by ``new_secret``, typed from a sheet, or bare hex."""
    return parse_secret(text_of_secret(path), where=str(path))


def text_of_secret(path: str | os.PathLike[str]) -> str:
    """What stands in the file of a secret of either kind; refused where others can read it."""
    path = Path(path)
    try:
        problem = _problem_of(path)
        if problem:
            raise SecretError(f"{path} {problem}")
        with path.open("rb") as file:
            data = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise SecretError(f"{path} cannot be read: {reason}.") from error
    text = _decoded(data)
    if text is None or len(data) > _LARGEST_FILE:
        raise SecretError(f"{path} is not a secret: {_ALLOWED}")
    if not text.strip():
        raise SecretError(f"{path} is empty. Restore the secret from its recovery sheet.")
    return text


def parse_secret(text: str, *, where: str) -> Secret:
    """The office secret of the text of its file; ``where`` is how errors name that file."""
    if is_for_one_purpose(text):
        raise SecretError(
            f"{where} is a secret for one purpose. The office secret is needed here, from which it"
            " was made; nothing else can be made from the one at hand."
        )
    bare = "".join(text.split())
    if re.fullmatch(r"[0-9a-fA-F]+", bare):
        if len(bare) % 2 or not SHORTEST <= len(bare) // 2 <= LONGEST:
            raise SecretError(
                f"{where} holds too few, too many or an odd number of hex digits: {_ALLOWED}"
            )
        return Secret(bytes.fromhex(bare))
    return _parsed(text, where=where)


def is_for_one_purpose(text: str) -> bool:
    """Whether a text is, or was, that of a secret for one purpose, even one without its head."""
    return _ONE_PURPOSE.search(text) is not None


def restore_secret(text: str) -> Secret:
    """The secret that somebody typed from a recovery sheet; a mistyped line is named.

    Only the numbered lines are needed. Spaces, dashes and capitals do not matter, nor does an O
    for a zero or an l for a one.
    """
    return _parsed(text, where="The recovery sheet")


def recovery_sheet(secret: Secret) -> str:
    """A page to print and lock away, from which the secret can be typed again."""
    numbered = _lines(secret)
    return "\n".join(
        [
            "RECOVERY SHEET OF AN OFFICE SECRET (sdcensus)",
            "",
            f"id: {secret.id}",
            "",
            *(f"    {line}" for line in numbered),
            "",
            "Whoever holds this page can undo the protection of every table that was",
            "published with the secret. Print it, lock it away, keep no copy on a computer.",
            "",
            "If the file of the secret is lost:",
            "",
            "1. Type the numbered lines, and the line with the id, into a text file SHEET.",
            "   The last group of each line checks that line.",
            "2. Run: sdcensus secret restore SHEET FILE",
            "   It names a line that is mistyped. Only you will be able to read FILE.",
            "3. Run: sdcensus secret check FILE",
            "   It must show the id above. Then delete SHEET.",
            "",
        ]
    )


_ALLOWED = (
    f"it should hold the numbered lines of a recovery sheet, or {2 * SHORTEST} to {2 * LONGEST} "
    "hex digits and nothing else. `sdcensus secret new FILE` makes a secret."
)


def _lines(secret: Secret) -> list[str]:
    material = secret.reveal_for_record_keys()
    parts = [
        material[at : at + _BYTES_IN_A_LINE] for at in range(0, len(material), _BYTES_IN_A_LINE)
    ]
    return [
        f"{number}/{len(parts)}: {part.hex(' ', -2)}  {_check(number, len(parts), part)}"
        for number, part in enumerate(parts, start=1)
    ]


def _check(number: int, total: int, part: bytes) -> str:
    """Sixteen bits that change with any mistyped digit, exchanged neighbours or wrong number."""
    return f"{binascii.crc_hqx(bytes([number, total]) + part, 0xFFFF):04x}"


def _parsed(text: str, *, where: str) -> Secret:
    typed: dict[int, str] = {}
    totals: set[int] = set()
    identity: str | None = None
    for line in text.splitlines():
        version = _FORMAT.fullmatch(line)
        if version and version[1] != "1":
            raise SecretError(
                f"{where} has format {version[1]}, which a newer sdcensus wrote. Update sdcensus."
            )
        numbered, named = _NUMBERED.fullmatch(line), _ID.fullmatch(line)
        if numbered:
            number, total = (int(numbered[group].translate(_LOOK_ALIKE)) for group in (1, 2))
            if number in typed:
                raise SecretError(f"{where}: line {number} stands there twice. Remove one.")
            typed[number] = re.sub(r"[\s:.,-]", "", numbered[3].translate(_LOOK_ALIKE)).lower()
            totals.add(total)
        elif named:
            identity = re.sub(r"[\s-]", "", named[1].translate(_LOOK_ALIKE)).lower()
    if not typed:
        raise SecretError(f"{where} is not a secret: {_ALLOWED}")
    return _assembled(typed, totals, identity, where)


def _assembled(typed: dict[int, str], totals: set[int], identity: str | None, where: str) -> Secret:
    if len(totals) > 1:
        raise SecretError(
            f"{where}: the lines do not agree on how many there are. Compare what stands behind "
            "the / at the beginning of each line with the sheet."
        )
    total = totals.pop()
    unknown = sorted(number for number in typed if not 1 <= number <= total)
    if unknown:
        raise SecretError(f"{where}: there can be no {_named(unknown)} of {total}.")
    missing = sorted(set(range(1, total + 1)) - set(typed))
    if missing:
        raise SecretError(f"{where}: {_named(missing)} of {total} {_is_or_are(missing)} missing.")
    mistyped = [number for number in sorted(typed) if _part(number, total, typed[number]) is None]
    if mistyped:
        raise SecretError(
            f"{where}: {_named(mistyped)} {_is_or_are(mistyped)} mistyped. Compare with the sheet."
        )
    parts = [_part(number, total, typed[number]) or b"" for number in sorted(typed)]
    secret = Secret(b"".join(parts))
    if identity is not None and identity != secret.id:
        raise SecretError(
            f"{where}: every line is right on its own, but together they are not the secret of "
            "the id. Either the id is mistyped, or lines of different sheets are mixed."
        )
    return secret


def _part(number: int, total: int, typed: str) -> bytes | None:
    """The bytes of a line, or None when it is mistyped."""
    longest = 2 * _BYTES_IN_A_LINE + 4
    if not re.fullmatch(r"([0-9a-f]{2})+", typed) or not 6 <= len(typed) <= longest:
        return None
    # Only the last line may be short.
    if number < total and len(typed) != longest:
        return None
    part = bytes.fromhex(typed[:-4])
    return part if _check(number, total, part) == typed[-4:] else None


def _problem_of(path: Path) -> str:
    """What is wrong with the file as such, so that it must not or cannot be read."""
    if path.is_dir():
        return "is a folder. Give the path of the file of the secret."
    if not path.exists():
        return (
            "does not exist. Give the path of the file of the secret; "
            "`sdcensus secret new FILE` makes one for an office, and `sdcensus secret lookup "
            "OFFICE_SECRET FILE` the part of it that a server needs."
        )
    if os.name != "nt" and not is_owner_only(path):
        return (
            "can be read by other users, so the secret may be known to them. Make the file "
            f"private (chmod 600 {path}), and consider whether the secret is still one."
        )
    return ""


def _decoded(data: bytes) -> str | None:
    """The text of a file from any editor, or None.

    The error of a failed decoding holds the bytes, so nothing is raised while it is handled.
    """
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        return None


def _named(numbers: Iterable[int]) -> str:
    *most, last = map(str, numbers)
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"


def _is_or_are(numbers: list[int]) -> str:
    return "are" if len(numbers) > 1 else "is"
