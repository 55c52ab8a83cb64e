"""A PostgreSQL server of the tests' own, in a temporary folder, gone when they end."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

#: A password that is recognised wherever it turns up.
PASSWORD = "p4ss:word@of/the#server"
_ENCODED = "p4ss%3Aword%40of%2Fthe%23server"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs."""

    port: int
    #: Databases that nobody uses any more: emptying one is quicker than making one.
    free: list[str] = field(default_factory=list)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres:{_ENCODED}@127.0.0.1:{self.port}/{database}"

    def new_database(self) -> str:
        """The URL of an empty database."""
        if self.free:
            url = self.free.pop()
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("DROP SCHEMA public CASCADE")
                connection.execute("CREATE SCHEMA public")
            return url
        name = f"test_{secrets.token_hex(6)}"
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url(name)


def programs() -> Path | None:
    """The folder of the programs of the newest server that is installed."""
    found = shutil.which("initdb")
    if found:
        return Path(found).parent
    folders = Path("/usr/lib/postgresql").glob("*/bin")
    known = [folder for folder in folders if (folder / "initdb").exists()]
    return max(known, key=lambda folder: int(folder.parent.name.split(".")[0]), default=None)


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a server and stop it in the end."""
    where = programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed: no initdb on the path or in /usr/lib/postgresql")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and shutil.which("runuser") is None:
        pytest.skip("PostgreSQL does not run as root, and there is no runuser")
    # A server refuses to run as root, and its folder must belong to whom it runs as.
    before = ["runuser", "-u", "postgres", "--"] if root else []
    folder = Path(tempfile.mkdtemp(prefix="sdcensus-postgres-"))
    try:
        data, password, log = folder / "data", folder / "password", folder / "log"
        password.write_text(PASSWORD, encoding="utf-8", newline="\n")
        if root:
            shutil.chown(folder, "postgres")
            shutil.chown(password, "postgres")

        def run(program: str, *arguments: object, check: bool = True) -> int:
            done = subprocess.run(
                [*before, str(where / program), *map(str, arguments)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=check,
            )
            return done.returncode

        run(
            "initdb",
            *("-D", data, "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync"),
            *("-A", "scram-sha-256", f"--pwfile={password}"),
        )
        for _ in range(5):
            port = _free_port()
            settings = (
                f"-c port={port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
                " -c fsync=off -c synchronous_commit=off -c full_page_writes=off"
                " -c shared_buffers=16MB"
            )
            start = ("-D", data, "-l", log, "-w", "-t", 30, "-o", settings, "start")
            if run("pg_ctl", *start, check=False) == 0:  # otherwise somebody took the port
                break
        else:
            pytest.fail(f"PostgreSQL does not start:\n{log.read_text(encoding='utf-8')}")
        try:
            yield Server(port)
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "-w", "stop", check=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
