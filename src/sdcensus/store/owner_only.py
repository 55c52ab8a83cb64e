"""Files and folders that only their owner can read, and places at which one process works.

A file is private before its first byte is written. Where files have modes, it is created with one
that gives others nothing; on Windows, where it would inherit the permissions of its folder, these
are taken away and the current user alone is let in.
"""

from __future__ import annotations

import csv
import errno
import os
import re
import secrets
import sqlite3
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sdcensus.errors import OutputError

_WINDOWS = os.name == "nt"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
# The disk is full, the user's part of it is, or files may not grow so large.
_NO_ROOM = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)
)
# How Windows abbreviates the system, its administrators, and whoever owns the file.
_NOBODY_ELSE = frozenset({"SY", "BA", "OW", "CO"})


def write_owner_only(path: Path, data: bytes) -> None:
    """Write a file, or replace it whole, that only its owner can read."""
    with open_owner_only(path) as file:
        file.write(data)


def create_owner_only(path: Path, data: bytes) -> None:
    """Write a file that only its owner can read, and that must not exist yet.

    Of several that try at the same time, exactly one succeeds.

    Raises:
        FileExistsError: Something of this name exists; it is left as it is.
    """
    try:
        file = _create(path)
    except FileExistsError:
        raise
    except OSError as error:
        raise _not_written(path, error) from error
    try:
        with file:
            _make_private(path)
            file.write(data)
            _sync(file)
    except BaseException as error:
        _remove(path)
        if isinstance(error, OSError):
            raise _not_written(path, error) from error
        raise
    _sync_folder(path.parent)


@contextmanager
def open_owner_only(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that only its owner can read.

    It gets its name, in place of an older file, when everything is written and on the disk. If
    anything fails before, nothing is left and an older file stays.
    """
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        file = _create(beside)
    except OSError as error:
        raise _not_written(path, error) from error
    try:
        with file:
            _make_private(beside)
            yield file
            _sync(file)
        beside.replace(path)
    except BaseException as error:
        _remove(beside)
        # Errors that name a file are the caller's, about another file.
        if isinstance(error, OSError) and error.filename in (None, str(beside)):
            raise _not_written(path, error) from error
        raise
    _sync_folder(path.parent)


def make_owner_only_folder(path: Path) -> None:
    """Make a folder, unless it exists, and let nobody but its owner in."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        _make_private(path)
    except OSError as error:
        raise _not_written(path, error) from error


@contextmanager
def taken_alone(path: Path, *, busy: str, otherwise: str, patience: float) -> Iterator[None]:
    """Keep others out while a file is taken; what a killed process had taken is nobody's.

    SQLite locks the file, in the way of each system.

    Args:
        path: The file. It stays: who removed it could take it from another.
        busy: What to say where another process has taken it.
        otherwise: What to do where it cannot be taken at all.
        patience: For how many seconds to wait for another process.

    Raises:
        OutputError: Another process has taken it, or it cannot be used.
    """
    connection: sqlite3.Connection | None = None
    try:
        try:
            connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise OutputError(busy) from None
            raise OutputError(f"{path} cannot be used: {error}. {otherwise}") from None
        yield
    finally:
        if connection is not None:
            connection.close()


@contextmanager
def taken_for_now(path: Path, *, busy: str, otherwise: str, patience: float) -> Iterator[None]:
    """The same with a file that is there only as long as it is taken.

    What is taken must be the file of that name: another process may have removed it, and a third
    one made a new one. A descriptor that stays open until the end tells, since the file that it is
    of cannot come back once it was removed.
    """
    key = os.fspath(path.absolute())
    with _TAKING:
        # Not opened a second time here: closing that would give up the lock on some systems.
        if key in _TAKEN:
            raise OutputError(busy)
        _TAKEN.add(key)
    try:
        while True:
            with ExitStack() as stack:
                descriptor = _descriptor(path)
                stack.callback(os.close, descriptor)
                try:
                    stack.enter_context(
                        taken_alone(path, busy=busy, otherwise=otherwise, patience=patience)
                    )
                except OutputError:
                    if _stands(path, descriptor):
                        raise
                    continue
                if _stands(path, descriptor):
                    stack.callback(_remove, path)
                    yield
                    break
        if _WINDOWS:
            _remove(path)  # it removes no open file, and now none that another process has taken
    finally:
        with _TAKING:
            _TAKEN.discard(key)


#: The files that this process has taken for now.
_TAKEN: set[str] = set()
_TAKING = threading.Lock()


def _descriptor(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise _not_written(path, error) from None


def _stands(path: Path, descriptor: int) -> bool:
    """Whether the file that a descriptor is of still has its name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def keep_writing_to_owner(path: Path) -> None:
    """Let others read a file or folder for the public, and nobody but its owner change it.

    Whatever the umask of the process says. On Windows, folders decide who may write in them.
    """
    mode = path.stat().st_mode
    if not _WINDOWS and mode & _OTHERS_WRITE:
        path.chmod(stat.S_IMODE(mode) & ~_OTHERS_WRITE)


def is_owner_only(path: Path) -> bool:
    """Whether nobody but the owner, and the system itself, can read a file or folder."""
    if not _WINDOWS:
        return not path.stat().st_mode & _OTHERS
    with tempfile.TemporaryDirectory() as folder:
        saved = Path(folder) / "permissions"
        _run_icacls(str(path), "/save", str(saved))
        return permissions_are_private(saved.read_text(encoding="utf-16-le"), _user_sid())


def permissions_are_private(saved: str, user_sid: str) -> bool:
    """Whether permissions, as ``icacls /save`` writes them, let in a user and the system only.

    Examples:
        >>> permissions_are_private("a.secret\\nD:PAI(A;;FA;;;S-1-5-21-7-1001)", "S-1-5-21-7-1001")
        True
        >>> permissions_are_private("a.secret\\nD:(A;ID;FR;;;BU)", "S-1-5-21-7-1001")
        False
    """
    _, mark, after = saved.partition("D:")
    # A list without entries lets nobody in; where there is no list at all, everybody may.
    if not mark or after.startswith("NO_ACCESS_CONTROL"):
        return False
    entries = re.findall(r"\(([^()]*)\)", re.split(r"(?<=\))S:", after)[0])
    allowed = [entry.split(";") for entry in entries if not entry.startswith("D;")]
    owners = _NOBODY_ELSE | {user_sid} | ({"LA"} if user_sid.endswith("-500") else set())
    return all(len(entry) >= 6 and entry[5] in owners for entry in allowed)


def restricting_arguments(path: Path, user_sid: str, *, folder: bool) -> list[str]:
    """Arguments of ``icacls`` that drop inherited permissions and let one user in."""
    rights = "(OI)(CI)F" if folder else "F"
    return [str(path), "/inheritance:r", "/grant:r", f"*{user_sid}:{rights}", "/q"]


def sid_of(line: str) -> str:
    r"""The user's security identifier in the answer of ``whoami /user /fo csv /nh``.

    Examples:
        >>> sid_of('"office\\ana","S-1-5-21-7-1001"')
        'S-1-5-21-7-1001'
    """
    fields = next(csv.reader([line.strip()]), [])
    if not fields or not re.fullmatch(r"S(-[0-9]+)+", fields[-1]):
        raise OSError("Windows does not tell who the current user is")
    return fields[-1]


def _create(path: Path) -> BinaryIO:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def _make_private(path: Path) -> None:
    folder = path.is_dir()
    if _WINDOWS:
        _run_icacls(*restricting_arguments(path, _user_sid(), folder=folder))
        return
    if not is_owner_only(path):
        path.chmod(0o700 if folder else 0o600)
    if not is_owner_only(path):
        raise OSError("this disk cannot keep files from other users; choose another one")


def _run_icacls(*arguments: str) -> None:
    _run("icacls.exe", *arguments)


def _user_sid() -> str:
    return sid_of(_run("whoami.exe", "/user", "/fo", "csv", "/nh"))


def _run(program: str, *arguments: str) -> str:
    # By its full name: Windows would look for it in the working folder first.
    system = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
    done = subprocess.run(
        [str(system / program), *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        raise OSError(f"{program} could not change or show the permissions")
    return done.stdout


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file survive a power cut, where folders can be synchronised."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _not_written(path: Path, error: OSError) -> OutputError:
    reason = error.strerror or str(error) or type(error).__name__
    if error.errno in _NO_ROOM:
        return OutputError(f"{path} cannot be written: {reason}. Make room on the disk.")
    return OutputError(
        f"{path} cannot be written for its owner only: {reason}. "
        "Choose a folder in which you may write, on a disk that keeps permissions."
    )
