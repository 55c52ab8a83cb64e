from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SecretError
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.store.owner_only import write_owner_only
from sdcensus.store.secrets import read_secret, restore_secret, write_secret
from sdcensus.store.sub_secrets import read_any_secret, read_sub_secret, write_sub_secret

SECRET = Secret(bytes(range(32)))
LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)


def text_of(secret: SubSecret, folder: Path) -> str:
    path = folder / "text.secret"
    path.unlink(missing_ok=True)
    write_sub_secret(secret, path)
    return path.read_text(encoding="ascii")


def put(folder: Path, text: str) -> Path:
    path = folder / "put.secret"
    path.unlink(missing_ok=True)
    write_owner_only(path, text.encode("utf-8"))
    return path


@given(
    material=st.binary(min_size=16, max_size=64),
    purpose=st.sampled_from(Purpose),
    version=st.integers(0, 10**9 - 1),
)
def test_a_secret_for_one_purpose_is_read_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, material: bytes, purpose: Purpose, version: int
) -> None:
    path = tmp_path_factory.mktemp("secret") / "one.secret"
    made = Secret(material).sub_secret(purpose, version)
    write_sub_secret(made, path)
    assert read_sub_secret(path) == made
    assert read_any_secret(path) == made


def test_the_file_holds_the_derived_key_and_not_the_office_secret(tmp_path: Path) -> None:
    text = "".join(text_of(LOOKUP, tmp_path).split())
    assert "f36e418740ae2a6b" in text
    assert "26523bdc600882a0" in text
    assert not re.search(r"00010203|04050607|1c1d1e1f", text)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
def test_only_the_owner_can_read_it_and_a_file_that_others_can_read_is_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "one.secret"
    before = os.umask(0)
    try:
        write_sub_secret(LOOKUP, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(SecretError, match="can be read by other users"):
        read_sub_secret(path)


def test_it_is_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "one.secret"
    write_sub_secret(LOOKUP, path)
    before = path.read_bytes()
    with pytest.raises(SecretError, match="exists already"):
        write_sub_secret(SECRET.sub_secret(Purpose.LOOKUP, 2), path)
    assert path.read_bytes() == before


def test_neither_kind_is_taken_for_the_other(tmp_path: Path) -> None:
    office, one = tmp_path / "office.secret", tmp_path / "one.secret"
    write_secret(SECRET, office)
    write_sub_secret(LOOKUP, one)
    with pytest.raises(SecretError, match=r"is a secret for one purpose\. The office secret is"):
        read_secret(one)
    with pytest.raises(SecretError, match=r"is an office secret .* sdcensus secret lookup"):
        read_sub_secret(office)
    assert read_any_secret(office) == SECRET


def test_what_is_left_of_a_damaged_file_is_never_an_office_secret(tmp_path: Path) -> None:
    lines = text_of(LOOKUP, tmp_path).splitlines()
    for left_out in range(1 << len(lines)):
        kept = [line for at, line in enumerate(lines) if not left_out >> at & 1]
        if len(kept) == len(lines):
            continue
        with pytest.raises(SecretError):
            read_any_secret(put(tmp_path, "\n".join(kept)))
        with pytest.raises(SecretError):
            restore_secret("\n".join(kept))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version: 1", "version: 2"),
        ("version: 1", "version: -1"),
        ("version: 1", "version: 01"),
        ("version: 1", "version: one"),
        ("purpose: lookup", "purpose: swap"),
        ("purpose: lookup", "purpose: everything"),
        ("id: b7a5", "id: b7a6"),
        ("key 1: f36e", "key 1: f36f"),
        ("key 2: 2652", "key 2: 265"),
        ("key 2: 2652", "key 2: 26zz"),
        ("check: ", "check: é"),
    ],
)
def test_a_changed_line_is_noticed(tmp_path: Path, old: str, new: str) -> None:
    text = text_of(LOOKUP, tmp_path)
    assert old in text
    with pytest.raises(SecretError, match="changed or damaged") as caught:
        read_sub_secret(put(tmp_path, text.replace(old, new)))
    assert "f36e" not in str(caught.value)


def test_other_mistakes_are_named(tmp_path: Path) -> None:
    text = text_of(LOOKUP, tmp_path)
    newer = text.replace("format 1", "format 7")
    with pytest.raises(SecretError, match="format 7, which a newer sdcensus wrote"):
        read_sub_secret(put(tmp_path, newer))
    with pytest.raises(SecretError, match="'version' stands there twice"):
        read_sub_secret(put(tmp_path, text + "version: 2\n"))
    with pytest.raises(SecretError, match="the line 'check' is missing"):
        read_sub_secret(put(tmp_path, text.partition("check")[0]))
    with pytest.raises(SecretError, match="the first line is missing"):
        read_sub_secret(put(tmp_path, text.partition("\n")[2]))
    with pytest.raises(SecretError, match="is empty"):
        read_sub_secret(put(tmp_path, ""))
    with pytest.raises(SecretError, match="does not exist"):
        read_sub_secret(tmp_path / "none.secret")


def test_files_from_other_editors_are_read(tmp_path: Path) -> None:
    text = text_of(LOOKUP, tmp_path)
    assert read_sub_secret(put(tmp_path, "\ufeff" + text.replace("\n", "\r\n"))) == LOOKUP
    assert read_sub_secret(put(tmp_path, text.upper())) == LOOKUP
