"""Commands of a page that stay until somebody stops them: a page on this machine, a server."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.docs.pages import ROOT

_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+\S*")


def stays(command: str) -> bool:
    """Whether a command opens something and stays."""
    program, *arguments = shlex.split(command)
    opens = arguments[:1] == ["serve"] or arguments[:2] == ["schema", "edit"]
    return program == "sdcensus" and opens and "--check" not in arguments


@contextmanager
def opened(command: str, folder: Path) -> Iterator[str]:
    """Run such a command in a folder, and stop it at the end.

    It runs as it is written, but for two things: a server takes a free port, since tests run beside
    each other, and no browser opens.

    Yields:
        The address that it shows.
    """
    _, *arguments = shlex.split(command)
    port = ["--port", "0"] if arguments[0] == "serve" else []
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "sdcensus", *arguments, *port],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONUNBUFFERED": "1",
            "COLUMNS": "400",
            "BROWSER": f'"{sys.executable}" -c pass %s',
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    said: list[str] = []
    try:
        for line in process.stdout:
            said.append(line)
            if address := _ADDRESS.search(line):
                yield address[0].rstrip(".")
                break
        else:
            raise AssertionError(f"{command} ended:\n{''.join(said)}")
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
