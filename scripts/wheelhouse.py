"""Write one zip with which sdcensus is installed on a machine that has no network.

The zip holds the wheels of ``requirements.lock`` for the target, the lock with its hashes, the
wheel of sdcensus itself, and INSTALL.txt with three commands.
"""

from __future__ import annotations

import argparse
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"

WINDOWS = """\
sdcensus {version} for Windows (64 bit) with Python {python}, without a network and without
administrator rights.

Unpack this zip into a folder of yours with a short name, open a command prompt in that folder,
and type these three commands:

  py -{python} -m venv app
  app\\Scripts\\python -m pip install --no-index --find-links wheels --require-hashes -r requirements.lock
  app\\Scripts\\python -m pip install --no-index --no-deps wheels\\{wheel}

Then try:  app\\Scripts\\sdcensus --help

Python {python} itself: the installer of python.org installs for one user without administrator
rights (leave "Use admin privileges" unticked) and needs no network. Where `py` is not found, write
%LOCALAPPDATA%\\Programs\\Python\\Python{short}\\python instead of `py -{python}`.
"""  # noqa: E501 - a command that is to be typed stands on one line

HERE = """\
sdcensus {version} for {system} with Python {python}, without a network and without administrator
rights.

Unpack this zip, open a terminal in its folder, and type these three commands:

  python{python} -m venv app
  app/bin/python -m pip install --no-index --find-links wheels --require-hashes -r requirements.lock
  app/bin/python -m pip install --no-index --no-deps wheels/{wheel}

Then try:  app/bin/sdcensus --help
"""


def pins(lock: str) -> list[str]:
    """Return the names in a lock file, with `-` where the file says `_` or `.`.

    Examples:
        >>> pins("# note" + chr(10) + "Pydantic_Core==2.50.4 " + chr(92) + chr(10) + "  --hash=x")
        ['pydantic-core']
    """
    names = re.findall(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==", lock, re.MULTILINE)
    return [normal(name) for name in names]


def normal(name: str) -> str:
    """Write a package name the one way in which all spellings are equal.

    Examples:
        >>> normal("Pydantic_Core")
        'pydantic-core'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def platform_options(target: str, python: str) -> list[str]:
    """Return what tells pip for which machine to fetch; nothing for this one.

    Examples:
        >>> platform_options("windows", "3.11")[:4]
        ['--platform', 'win_amd64', '--python-version', '3.11']
        >>> platform_options("here", "3.11")
        []
    """
    if target == "here":
        return []
    abi = "cp" + python.replace(".", "")
    options = ["--platform", "win_amd64", "--python-version", python, "--implementation", "cp"]
    return [*options, "--abi", abi, "--abi", "abi3", "--abi", "none"]


def pack(folder: Path, archive: Path, *, top: str) -> None:
    """Zip a folder so that the same files give the same bytes."""
    unfinished = archive.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_STORED) as out:  # wheels are compressed
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = f"{top}/{file.relative_to(folder).as_posix()}"
            out.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), file.read_bytes())
    unfinished.replace(archive)


def pip(*arguments: str) -> None:
    """Run pip of this environment; its own message says what went wrong."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq", *arguments]
    if subprocess.run(command, check=False).returncode:
        sys.exit("The wheelhouse was not written; the message of pip stands above.")


def build(target: str, python: str) -> Path:
    """Fetch and build all wheels for a target and zip them."""
    names = pins(LOCK.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheels = folder / "wheels"
        print(f"Fetching {len(names)} wheels (about 150 MB)", flush=True)
        pip(
            *("download", "--require-hashes", "--no-deps", "--only-binary", ":all:"),
            *("--progress-bar", "off", "--dest", str(wheels), "-r", str(LOCK)),
            *platform_options(target, python),
        )
        print("Building the wheel of sdcensus", flush=True)
        # What an earlier build left there would end up in the wheel.
        shutil.rmtree(ROOT / "build", ignore_errors=True)
        pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels), str(ROOT))

        found = {normal(wheel.name.split("-")[0]): wheel for wheel in wheels.glob("*.whl")}
        missing = sorted({*names, "sdcensus"} - found.keys())
        if missing:
            sys.exit(f"The wheelhouse was not written; no wheel for: {', '.join(missing)}.")
        own = found["sdcensus"].name
        version = own.split("-")[1]
        text = (WINDOWS if target == "windows" else HERE).format(
            version=version,
            python=python,
            short=python.replace(".", ""),
            wheel=own,
            system=f"{platform.system()} ({platform.machine()})",
        )
        # The reader may open it with an old Notepad.
        newline = "\r\n" if target == "windows" else "\n"
        (folder / "INSTALL.txt").write_text(text, encoding="utf-8", newline=newline)
        (folder / LOCK.name).write_bytes(LOCK.read_bytes())

        machine = "windows-amd64" if target == "windows" else this_machine()
        archive = ROOT / f"wheelhouse-sdcensus-{version}-{machine}-python{python}.zip"
        pack(folder, archive, top=f"sdcensus-{version}")
    return archive


def this_machine() -> str:
    """Name this machine as the zip should be named."""
    return f"{platform.system()}-{platform.machine()}".lower()


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", choices=["windows", "here"], default="windows")
    parser.add_argument("--python", default="3.11", help="version of Python at the target")
    chosen = parser.parse_args(arguments)
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    python = own if chosen.target == "here" else chosen.python
    archive = build(chosen.target, python)
    size = archive.stat().st_size / 1e6
    print(f"Wrote {archive.name} ({size:.0f} MB). INSTALL.txt inside says what to type.")


if __name__ == "__main__":
    main()
