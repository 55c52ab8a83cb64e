from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sdcensus.errors import OutputError
from sdcensus.store.owner_only import (
    create_owner_only,
    is_owner_only,
    make_owner_only_folder,
    open_owner_only,
    permissions_are_private,
    restricting_arguments,
    sid_of,
    taken_for_now,
    write_owner_only,
)

WITH_MODES = pytest.mark.skipif(os.name == "nt", reason="Windows has no file modes")
SID = "S-1-5-21-1004336348-1177238915-682003330-1001"


@pytest.fixture
def _open_umask() -> Iterator[None]:
    """A user whose new files everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_written_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    for data in (b"first\r\n\0", b"", b"x" * 100_000):
        write_owner_only(path, data)
        assert path.read_bytes() == data
        assert is_owner_only(path)
    assert list(tmp_path.iterdir()) == [path]


@WITH_MODES
@pytest.mark.usefixtures("_open_umask")
def test_files_are_private_from_their_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with open_owner_only(path) as file:
        file.write(b"confidential")
        file.flush()
        (unfinished,) = tmp_path.iterdir()
        assert mode(unfinished) == 0o600
    assert mode(path) == 0o600
    create_owner_only(tmp_path / "b.bin", b"confidential")
    assert mode(tmp_path / "b.bin") == 0o600


@WITH_MODES
@pytest.mark.usefixtures("_open_umask")
def test_replacing_an_open_file_closes_it(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    assert not is_owner_only(path)
    write_owner_only(path, b"new")
    assert mode(path) == 0o600


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "a.bin"
    write_owner_only(path, b"old")
    with pytest.raises(error), open_owner_only(path) as file:  # noqa: PT012
        file.write(b"half of the new")
        raise error
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    with open_owner_only(path) as file:
        file.write(b"all")
        assert not path.exists()
    assert path.read_bytes() == b"all"


def test_writing_where_nothing_can_be_written_is_said_plainly(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "file").write_bytes(b"")
    for path in (tmp_path / "missing" / "a.bin", tmp_path / "file" / "a.bin", folder):
        with pytest.raises(OutputError, match="cannot be written for its owner only"):
            write_owner_only(path, b"data")
    with pytest.raises(OutputError, match="cannot be written for its owner only"):
        create_owner_only(tmp_path / "missing" / "a.bin", b"data")
    with pytest.raises(OutputError, match="cannot be written for its owner only"):
        make_owner_only_folder(tmp_path / "file")
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["file", "folder"]


def test_a_full_disk_is_said_plainly_and_leaves_nothing(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no full device")
    path = tmp_path / "a.bin"
    with (
        pytest.raises(OutputError, match="No space left"),
        open_owner_only(path),
        full.open("wb", buffering=0) as device,
    ):
        device.write(b"x")
    assert list(tmp_path.iterdir()) == []


def test_errors_about_other_files_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), open_owner_only(tmp_path / "a.bin"):
        (tmp_path / "missing").read_bytes()
    assert list(tmp_path.iterdir()) == []


def test_creating_never_replaces(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    create_owner_only(path, b"first")
    with pytest.raises(FileExistsError):
        create_owner_only(path, b"second")
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


@WITH_MODES
def test_creating_does_not_follow_links(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        create_owner_only(tmp_path / "link", b"data")
    assert not (tmp_path / "elsewhere").exists()


def test_folders_let_nobody_else_in(tmp_path: Path) -> None:
    path = tmp_path / "office" / "audit"
    make_owner_only_folder(path)
    make_owner_only_folder(path)
    assert is_owner_only(path)
    write_owner_only(path / "a.bin", b"data")
    assert (path / "a.bin").read_bytes() == b"data"


@WITH_MODES
@pytest.mark.usefixtures("_open_umask")
def test_existing_folders_are_closed(tmp_path: Path) -> None:
    path = tmp_path / "office"
    path.mkdir()
    assert mode(path) == 0o777
    make_owner_only_folder(path)
    assert mode(path) == 0o700


@WITH_MODES
@pytest.mark.parametrize("bits", [0o640, 0o604, 0o610, 0o602])
def test_any_right_of_others_is_noticed(tmp_path: Path, bits: int) -> None:
    path = tmp_path / "a.bin"
    write_owner_only(path, b"data")
    assert is_owner_only(path)
    path.chmod(bits)
    assert not is_owner_only(path)


# Windows: what is asked of its programs, and how their answers are read --------------------------


def test_one_user_is_let_in_and_inherited_permissions_go() -> None:
    path = Path("office.secret")
    assert restricting_arguments(path, SID, folder=False) == [
        "office.secret", "/inheritance:r", "/grant:r", f"*{SID}:F", "/q"
    ]  # fmt: skip
    # Files that are made in a folder later inherit its permissions.
    assert f"*{SID}:(OI)(CI)F" in restricting_arguments(path, SID, folder=True)


def test_the_current_user_is_known_by_number_not_by_name() -> None:
    assert sid_of(f'"office\\ana, ""the boss""","{SID}"\r\n') == SID
    for line in ("", '"office\\ana"', '"office\\ana","Administrators"'):
        with pytest.raises(OSError, match="who the current user is"):
            sid_of(line)


@pytest.mark.parametrize(
    ("entries", "private"),
    [
        (f"D:PAI(A;;FA;;;{SID})", True),
        (f"D:P(A;;FA;;;{SID})(A;;FA;;;SY)(A;;FA;;;BA)", True),
        (f"D:P(A;OICI;FA;;;{SID})S:AI(AU;SA;FA;;;WD)", True),
        ("D:P", True),
        (f"D:P(D;;FA;;;WD)(A;;FA;;;{SID})", True),
        (f"D:AI(A;ID;FA;;;{SID})(A;ID;0x1200a9;;;BU)", False),
        ("D:(A;;FR;;;WD)", False),
        (f"D:(A;;FA;;;{SID[:-1]}2)", False),
        (f'D:(A;;FA;;;{SID})(XA;;FR;;;AU;(@User.Title=="PM"))', False),
        ("D:NO_ACCESS_CONTROL", False),
        ("", False),
    ],
)
def test_permissions_of_windows_are_understood(entries: str, private: bool) -> None:
    assert permissions_are_private(f"office.secret\r\n{entries}\r\n", SID) is private


def test_the_built_in_administrator_has_a_short_name() -> None:
    assert permissions_are_private("D:(A;;FA;;;LA)", "S-1-5-21-1-2-3-500")
    assert not permissions_are_private("D:(A;;FA;;;LA)", SID)


CONTENDER = """
import os, sys
from pathlib import Path
from sdcensus.errors import OutputError
from sdcensus.store.owner_only import taken_for_now

folder, inside = Path(sys.argv[1]), 0
while inside < 60:
    try:
        with taken_for_now(folder / "lock", busy="busy", otherwise="", patience=0.05):
            os.close(os.open(folder / "mark", os.O_CREAT | os.O_EXCL))
            os.unlink(folder / "mark")
            inside += 1
    except OutputError as error:
        assert str(error) == "busy", error
"""


@pytest.mark.slow
def test_of_several_processes_one_is_inside_and_no_file_is_left(tmp_path: Path) -> None:
    """Each removes the file when it is done, while others wait for it: none is let in by that."""
    command = [sys.executable, "-c", CONTENDER, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    processes = [
        subprocess.Popen(command, stderr=subprocess.PIPE, env=environment) for _ in range(4)
    ]
    said = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, said
    assert not list(tmp_path.iterdir())


def test_a_place_is_taken_once_in_a_process_too(tmp_path: Path) -> None:
    with taken_for_now(tmp_path / "lock", busy="busy", otherwise="", patience=0):
        assert (tmp_path / "lock").exists()
        again = taken_for_now(tmp_path / "lock", busy="busy", otherwise="", patience=0)
        with pytest.raises(OutputError, match="busy"), again:
            pass
    assert not list(tmp_path.iterdir())
    with taken_for_now(tmp_path / "lock", busy="busy", otherwise="", patience=0):
        pass
