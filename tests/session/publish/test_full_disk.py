"""No room, no permission: the file is named, earlier outputs stay, the run can go on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sdcensus.errors import OutputError
from sdcensus.session.publish.approval import verify
from tests.cli.conftest import start, without_progress
from tests.session.publish.plans import TABLES, Office, contents, copy_of, new_office

MORE = TABLES + '[[table]]\nname = "more"\nrows = ["area@parish"]\ncolumns = ["age", "sex"]\n'
GOES_ON = "What was published before is as it was. When the cause is gone, the same command goes on"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Office:
    office = new_office(tmp_path_factory.mktemp("office"), formats=["csv", "parquet", "px"])
    office.publish()
    return office


@contextmanager
def mounted(folder: Path, *options: str) -> Iterator[None]:
    """A disk of its own, where one may be mounted."""
    folder.mkdir()
    mount = shutil.which("mount")
    done = mount and subprocess.run([mount, *options, str(folder)], capture_output=True)
    if not done or done.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def test_a_full_disk(made: Office, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=800k", "tmpfs"):
        office = copy_of(made, tmp_path / "own")
        out = disk / "out"
        office.publish(out=out)
        before = contents(out)
        office.write_plan(MORE, formats=["csv", "parquet", "px"])
        filler = disk / "filler"
        free = shutil.disk_usage(disk).free
        told = set()
        for left in range(8_192, 110_000, 16_384):
            filler.write_bytes(bytes(free - left))
            with pytest.raises(OutputError, match=f"No space left.*{GOES_ON}") as error:
                office.publish(out=out)
            told.add(str(error.value).split(" cannot be written")[0])
            assert contents(out) == before
            assert verify(out).sound
        # Wherever the room ended, that file is named.
        assert len(told) > 2
        assert all(Path(one).is_relative_to(disk) for one in told)
        filler.unlink()
        office.publish(out=out)
        assert {path.name for path in disk.iterdir()} == {"out", "out.office"}
        assert not list(disk.rglob(".*"))
        whole = copy_of(office, tmp_path / "whole")
        whole.publish()
        assert contents(out) == whole.files()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows limits no sizes of files")
def test_a_limit_on_the_size_of_files(made: Office, tmp_path: Path) -> None:
    """The same where nothing can be mounted, with the command itself."""
    office = copy_of(made, tmp_path / "own")
    office.write_plan(MORE, formats=["csv", "parquet", "px"])
    text = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, 12_000))\n"
        "sys.argv = ['sdcensus', *sys.argv[1:]]\n"
        "runpy.run_module('sdcensus', run_name='__main__')\n"
    )
    script = tmp_path / "limited.py"
    script.write_text(text, encoding="utf-8", newline="")
    process = subprocess.run(
        [sys.executable, str(script), "publish", str(office.plan), "--secret", str(office.secret)],
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    said = without_progress(process.stderr.decode("utf-8"))
    assert process.returncode == OutputError.exit_code, said
    assert said.startswith(f"error: {office.folder}")
    assert "cannot be written: File too large" in " ".join(said.split())
    assert not office.published.exists()
    office.publish()
    assert verify(office.published, office=office.office).sound
    assert not list(office.folder.rglob("*.part"))


def test_a_disk_that_cannot_be_written(made: Office, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        office = copy_of(made, tmp_path / "own")
        office.publish(out=disk / "out")
        before = contents(disk)
        office.write_plan(MORE)
        remount = ["mount", "-o", "remount,ro", str(disk)]
        subprocess.run(remount, check=True, capture_output=True)
        with pytest.raises(OutputError, match=r"Read-only file system|readonly"):
            office.publish(out=disk / "out")
        with pytest.raises(OutputError, match="Read-only file system"):
            office.publish(out=disk / "new")
        assert contents(disk) == before


def test_a_folder_in_which_one_may_not_write(made: Office, tmp_path: Path) -> None:
    office = copy_of(made, tmp_path / "own")
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o500)
    try:
        try:
            (closed / "probe").write_bytes(b"")
        except OSError:
            pass
        else:
            pytest.skip("this user may write everywhere")
        with pytest.raises(OutputError, match="Permission denied"):
            office.publish(out=closed / "out")
    finally:
        closed.chmod(0o700)
    assert list(closed.iterdir()) == []


def test_the_published_folder_cannot_be_a_disk_of_its_own(made: Office, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    with mounted(disk, "-t", "tmpfs", "-o", "size=1m", "tmpfs"):
        office = copy_of(made, tmp_path / "own")
        with pytest.raises(OutputError, match="is a disk of its own"):
            office.publish(out=disk)
        office.publish(out=disk / "published")


@pytest.mark.slow
def test_the_command_line_tells_it_too(made: Office, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    process = start(
        *("publish", made.plan, "--secret", made.secret, "--out", tmp_path / "file" / "out")
    )
    _, err = process.communicate(timeout=120)
    assert process.returncode == OutputError.exit_code
    assert "Not a directory" in " ".join(err.decode("utf-8").split())
