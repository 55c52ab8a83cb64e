from __future__ import annotations

import os
import re
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import OutputError, SecretError
from sdcensus.model.secret import Secret
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.secrets import (
    new_secret,
    read_secret,
    recovery_sheet,
    restore_secret,
    write_secret,
)

WITH_MODES = pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
SECRET = Secret(bytes(range(32)))
SECRETS = st.binary(min_size=16, max_size=64).map(Secret)


def numbered(sheet: str) -> list[str]:
    return re.findall(r"^\s*([0-9]/[0-9]: .*)$", sheet, re.MULTILINE)


def read_text(path: Path, text: str | bytes) -> Secret:
    write_owner_only(path, text.encode("utf-8") if isinstance(text, str) else text)
    return read_secret(path)


# Files ---------------------------------------------------------------------------------------


def test_a_new_secret_is_random_and_can_be_read_again(tmp_path: Path) -> None:
    made = [new_secret(tmp_path / f"{number}.secret") for number in range(3)]
    read = [read_secret(tmp_path / f"{number}.secret") for number in range(3)]
    assert read == made
    assert len({secret.id for secret in made}) == 3
    assert {len(secret.reveal_for_record_keys()) for secret in made} == {32}


def test_paths_may_be_text(tmp_path: Path) -> None:
    path = str(tmp_path / "office.secret")
    assert new_secret(path) == read_secret(path)


@WITH_MODES
def test_only_the_owner_can_read_a_new_secret(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        new_secret(tmp_path / "office.secret")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "office.secret").stat().st_mode) == 0o600


def test_a_secret_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "office.secret"
    secret = new_secret(path)
    for again in (lambda: new_secret(path), lambda: write_secret(SECRET, path)):
        with pytest.raises(SecretError, match=r"exists already.*never overwritten"):
            again()
    assert read_secret(path) == secret
    assert list(tmp_path.iterdir()) == [path]


def test_of_several_that_make_the_same_secret_one_succeeds(tmp_path: Path) -> None:
    people = 8
    for attempt in range(20):
        path = tmp_path / f"{attempt}.secret"
        start = threading.Barrier(people)

        def make(_: int, path: Path = path, start: threading.Barrier = start) -> Secret | None:
            start.wait()
            try:
                return new_secret(path)
            except SecretError:
                return None

        with ThreadPoolExecutor(people) as threads:
            made = [one for one in threads.map(make, range(people)) if one is not None]
        assert made == [read_secret(path)]


def test_a_folder_that_does_not_exist_is_no_place_for_a_secret(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        new_secret(tmp_path / "missing" / "office.secret")


@given(secret=SECRETS)
def test_secrets_of_every_length_survive_file_and_sheet(
    tmp_path_factory: pytest.TempPathFactory, secret: Secret
) -> None:
    path = tmp_path_factory.mktemp("secret") / "office.secret"
    write_secret(secret, path)
    assert read_secret(path) == secret
    assert restore_secret(recovery_sheet(secret)) == secret


@pytest.mark.parametrize("length", [16, 17, 32, 64])
def test_bare_hex_is_read(tmp_path: Path, length: int) -> None:
    material = bytes(range(100, 100 + length))
    for text in (material.hex(), material.hex().upper() + "\r\n", material.hex(" ", 4)):
        assert read_text(tmp_path / "office.secret", text) == Secret(material)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_from_the_editors_of_windows_are_read(tmp_path: Path, encoding: str) -> None:
    for text in (bytes(range(32)).hex(), recovery_sheet(SECRET).replace("\n", "\r\n")):
        assert read_text(tmp_path / "office.secret", text.encode(encoding)) == SECRET


def test_the_sheet_typed_into_a_file_is_read(tmp_path: Path) -> None:
    typed = "\n".join(numbered(recovery_sheet(SECRET)))
    assert read_text(tmp_path / "typed.txt", typed) == SECRET


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(SecretError, match="does not exist"):
        read_secret(tmp_path / "office.secret")
    with pytest.raises(SecretError, match="is a folder"):
        read_secret(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \r\n\t", "is empty"),
        (b"00" * 15, "hex digits"),
        (b"00" * 65, "hex digits"),
        (b"0" * 33, "hex digits"),
        (b"my secret password", "is not a secret"),
        (b"\xff\x00\x80" * 20, "is not a secret"),
        (b"ab" * 32 + b"\nand a note", "is not a secret"),
        (b"a,b\n1,2\n" * 20_000, "is not a secret"),
        (b"\0" * 32, "is not a secret"),
        (b"sdcensus secret, format 1\n", "is not a secret"),
        (b"sdcensus secret, format 2\n1/1: 00", "newer sdcensus"),
        (b"1/1: 0001 0203 0405 0607  a8b0", "line 1 is mistyped"),
    ],
)
def test_files_that_hold_no_secret(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(SecretError, match=message) as caught:
        read_text(tmp_path / "office.secret", content)
    assert "office.secret" in str(caught.value)


@WITH_MODES
@pytest.mark.parametrize("bits", [0o640, 0o644, 0o604, 0o660])
def test_a_secret_that_others_can_read_is_refused_with_the_remedy(
    tmp_path: Path, bits: int
) -> None:
    path = tmp_path / "office.secret"
    secret = new_secret(path)
    path.chmod(bits)
    with pytest.raises(SecretError, match=r"can be read by other users.*chmod 600"):
        read_secret(path)
    path.chmod(0o400)
    assert read_secret(path) == secret


# Sheets --------------------------------------------------------------------------------------


def test_the_sheet_has_the_id_the_lines_and_how_to_use_them() -> None:
    sheet = recovery_sheet(SECRET)
    assert f"id: {SECRET.id}" in sheet
    assert "sdcensus secret check FILE" in sheet
    assert [line[:24] for line in numbered(sheet)] == [
        "1/4: 0001 0203 0405 0607",
        "2/4: 0809 0a0b 0c0d 0e0f",
        "3/4: 1011 1213 1415 1617",
        "4/4: 1819 1a1b 1c1d 1e1f",
    ]
    assert max(map(len, sheet.splitlines())) <= 85
    assert sheet.isascii()


@pytest.mark.parametrize(
    "typed",
    [
        lambda sheet: "\n".join(numbered(sheet)),
        lambda sheet: "\n".join(reversed(numbered(sheet))),
        lambda sheet: sheet.upper(),
        lambda sheet: sheet.replace("\n", "\r\n"),
        lambda sheet: re.sub(r"(?<=[0-9a-f]) (?=[0-9a-f])", "-", sheet),
        lambda sheet: "\n".join(line[:5] + line[5:].replace(" ", "") for line in numbered(sheet)),
        lambda sheet: "\n".join(line.replace("0", "O") for line in numbered(sheet)),
        lambda sheet: "\n".join(line.replace("1", "l") for line in numbered(sheet)),
        lambda sheet: sheet.replace("1/4:", "1 / 4"),
    ],
)
def test_ways_of_typing_that_do_not_matter(typed: Callable[[str], str]) -> None:
    sheet = recovery_sheet(SECRET)
    assert typed(sheet) != sheet
    assert restore_secret(typed(sheet)) == SECRET


@given(secret=SECRETS, data=st.data())
def test_any_wrong_digit_is_found_in_its_line(secret: Secret, data: st.DataObject) -> None:
    lines = numbered(recovery_sheet(secret))
    number = data.draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    places = [at for at in range(5, len(line)) if line[at] != " "]
    place = data.draw(st.sampled_from(places))
    wrong = data.draw(st.sampled_from(sorted(set("0123456789abcdefxz?") - {line[place]})))
    lines[number] = line[:place] + wrong + line[place + 1 :]
    with pytest.raises(SecretError, match=f"line {number + 1} is mistyped"):
        restore_secret("\n".join(lines))


@given(secret=SECRETS, data=st.data())
def test_exchanged_neighbours_are_found_in_their_line(secret: Secret, data: st.DataObject) -> None:
    lines = numbered(recovery_sheet(secret))
    number = data.draw(st.integers(0, len(lines) - 1))
    label, digits = lines[number][:5], lines[number][5:].replace(" ", "")
    pairs = [at for at in range(len(digits) - 1) if digits[at] != digits[at + 1]]
    place = data.draw(st.sampled_from(pairs))
    exchanged = digits[:place] + digits[place + 1] + digits[place] + digits[place + 2 :]
    lines[number] = label + exchanged
    with pytest.raises(SecretError, match=f"line {number + 1} is mistyped"):
        restore_secret("\n".join(lines))


def test_every_mistyped_line_is_named() -> None:
    lines = numbered(recovery_sheet(SECRET))
    lines[0] = lines[0].replace("0203", "0302")
    lines[2] = lines[2][:-1]
    lines[3] = lines[3] + " 00"
    with pytest.raises(SecretError, match=r"lines 1, 3 and 4 are mistyped"):
        restore_secret("\n".join(lines))


def test_missing_lines_are_named() -> None:
    lines = numbered(recovery_sheet(SECRET))
    with pytest.raises(SecretError, match="line 4 of 4 is missing"):
        restore_secret("\n".join(lines[:3]))
    with pytest.raises(SecretError, match="lines 1, 2 and 4 of 4 are missing"):
        restore_secret(lines[2])


def test_exchanged_doubled_and_foreign_lines_are_found() -> None:
    lines = numbered(recovery_sheet(SECRET))
    relabelled = [lines[0], "2/4:" + lines[2][4:], "3/4:" + lines[1][4:], lines[3]]
    with pytest.raises(SecretError, match="lines 2 and 3 are mistyped"):
        restore_secret("\n".join(relabelled))
    with pytest.raises(SecretError, match="line 2 stands there twice"):
        restore_secret("\n".join([*lines, lines[1]]))
    with pytest.raises(SecretError, match="how many there are"):
        restore_secret("\n".join([*lines[:3], lines[3].replace("4/4", "4/5")]))
    with pytest.raises(SecretError, match="no line 5 of 4"):
        restore_secret("\n".join([*lines, lines[3].replace("4/4", "5/4")]))


def test_lines_of_different_sheets_do_not_make_a_secret() -> None:
    sheet = recovery_sheet(SECRET)
    other = numbered(recovery_sheet(Secret(bytes(range(50, 82)))))
    mixed = sheet.replace(numbered(sheet)[1], other[1])
    with pytest.raises(SecretError, match="together they are not the secret of the id"):
        restore_secret(mixed)
    with pytest.raises(SecretError, match="id is mistyped"):
        restore_secret(sheet.replace(SECRET.id, SECRET.id[::-1]))


@pytest.mark.parametrize("text", ["", "nothing", bytes(range(32)).hex(), "1/4", "1/1/2026: 0001"])
def test_text_without_a_sheet_is_refused(text: str) -> None:
    with pytest.raises(SecretError, match=r"recovery sheet|mistyped|missing"):
        restore_secret(text)


@given(st.text(max_size=200))
def test_any_text_is_a_secret_or_a_plain_error(text: str) -> None:
    with pytest.raises(SecretError):
        restore_secret("1/2: " + text)


def leaks(error: BaseException | None, digits: str) -> bool:
    """Whether an error, or one behind it, repeats eight digits of a secret in a row."""
    while error is not None:
        shown = re.sub(r"[^0-9a-f]", "", f"{error} {error.args!r} {vars(error)!r}".lower())
        if any(digits[at : at + 8] in shown for at in range(len(digits) - 7)):
            return True
        error = error.__cause__ or error.__context__
    return False


def test_no_error_repeats_digits_of_the_secret(tmp_path: Path) -> None:
    material = bytes.fromhex("9f8e7d6c5b4a39281706f5e4d3c2b1a0") * 2
    digits = material.hex()
    sheet = recovery_sheet(Secret(material))
    lines = numbered(sheet)
    contents: list[bytes] = [
        digits[:-1].encode(),
        digits[:20].encode(),
        (digits * 3).encode(),
        (digits + "\nnote").encode(),
        digits.encode() + b"\xff",
        material,
        "\n".join(lines[:2]).encode(),
        "\n".join([*lines, lines[0]]).encode(),
        sheet.replace("9f8e", "9f8f").encode(),
        sheet.replace("id: ", "id: 0").encode(),
        sheet.replace("4/4", "4/9").encode(),
    ]
    for content in contents:
        with pytest.raises(SecretError) as caught:
            read_text(tmp_path / "office.secret", content)
        assert not leaks(caught.value, digits)
    assert leaks(ValueError(digits[4:20]), digits)
