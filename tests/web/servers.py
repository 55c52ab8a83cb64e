"""Servers over the island, for tests: real ones, on a free port, in a thread."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import Answer, TableService
from sdcensus.session.watch import Watch
from sdcensus.web.api.site import Site
from sdcensus.web.database import COMMAND_LINE, Account, Database, Hashing, WrittenEntry
from sdcensus.web.database.link import Clock, utc_now
from sdcensus.web.server import RunningServer
from sdcensus.web.settings import Settings
from tests.session.answer.services import service

#: Next to no work, so that tests are quick.
CHEAP = Hashing(passes=1, memory=8, lanes=1)
PASSWORD = "correct horse battery staple"
#: Seconds after which something that hangs is called so; no test passes or fails by being quick.
PATIENCE = 180
QUESTION: dict[str, Any] = {"of": "persons", "by": ["area", "sex"]}
TABLES = "/api/v1/tables"


class PausingService(TableService):
    """A service whose answers wait until they are let go."""

    def __init__(self, base: TableService) -> None:
        super().__init__(base.census, base.policy, base.methods, sums=base.sums)
        self.gate = threading.Event()
        self.asked = 0

    def answer(
        self,
        question: Question,
        role: str | UserRole = UserRole.PUBLIC,
        *,
        progress: Progress = no_progress,
    ) -> Answer:
        self.asked += 1
        assert self.gate.wait(PATIENCE)
        return super().answer(question, role, progress=progress)


@dataclass(frozen=True, slots=True)
class Place:
    """A real server in a thread, and a client of it that keeps cookies."""

    server: RunningServer
    client: httpx.Client
    database: Database
    clients: ExitStack

    @property
    def site(self) -> Site:
        return self.server.site

    def account(self, name: str = "ana", role: str = "registered") -> Account:
        return self.database.accounts.add(name, role, PASSWORD, by=COMMAND_LINE)

    def token(self, name: str = "ana", role: str = "registered") -> dict[str, str]:
        """The header of somebody with a token."""
        made = self.database.tokens.make(self.account(name, role), "test", by=COMMAND_LINE)
        return {"authorization": f"Bearer {made.text}"}

    def somebody(self, **headers: str) -> httpx.Client:
        """A client without cookies."""
        return self.clients.enter_context(new_client(self.server.url, headers))

    def logged_in(self, name: str) -> tuple[httpx.Client, str]:
        """A browser in which somebody has logged in, and what its pages send back."""
        client = self.somebody()
        page = client.get("/login")
        token = csrf_of(page.text)
        fields = {"name": name, "password": PASSWORD, "csrf": token}
        assert client.post("/login", data=fields).status_code == 303
        return client, csrf_of(client.get("/account").text)

    def audit(self) -> list[WrittenEntry]:
        self.site.writer.flush()
        return list(self.database.audit.latest(limit=1_000))


def new_client(url: str, headers: dict[str, str] | None = None) -> httpx.Client:
    """A client; to prepare it for certificates, which nobody shows here, takes it longest."""
    return httpx.Client(base_url=url, headers=headers, timeout=PATIENCE, verify=False)


def csrf_of(page: str) -> str:
    """What a page says in its head."""
    found = re.search(r'<meta name="csrf" content="([^"]*)"', page)
    assert found is not None
    return found.group(1)


@contextmanager
def opened(
    folder: Path,
    made: TableService | None = None,
    *,
    watch: Watch | None = None,
    clock: Clock = utc_now,
    url: str | None = None,
    **settings: Any,
) -> Iterator[Place]:
    """A server on a free port, in a thread; its database is a file, unless a URL says otherwise."""
    settings.setdefault("metrics_port", None)
    with Database.open(url or folder / "web.db", hashing=CHEAP, clock=clock) as database:
        chosen = Settings(state=folder / "state", port=0, **settings)
        server = RunningServer(made or service(), chosen, database, watch=watch or Watch())
        thread = threading.Thread(target=server.run)
        thread.start()
        try:
            until(lambda: server.started)
            with ExitStack() as clients:
                client = clients.enter_context(new_client(server.url))
                yield Place(server, client, database, clients)
        finally:
            server.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()


def until(condition: Callable[[], object]) -> None:
    """Wait for something that happens elsewhere."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def check_error(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """That an answer is an error of the one shape; gives its member."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/json"
    assert response.headers["cache-control"] == "no-store"
    document = response.json()
    assert set(document) == {"error"}
    error: dict[str, Any] = document["error"]
    assert set(error) == {
        *("status", "code", "message", "place", "at", "reasons", "remedies", "request"),
    }
    assert (error["status"], error["code"]) == (status, code)
    assert error["message"]
    assert error["request"] == response.headers["x-request-id"]
    check_headers(response)
    return error


def check_headers(response: httpx.Response) -> None:
    """The headers of protection, which no answer goes without."""
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors" in response.headers["content-security-policy"]
    assert response.headers["cross-origin-opener-policy"] == "same-origin"
    assert "referrer-policy" in response.headers
    assert "permissions-policy" in response.headers
    assert "server" not in response.headers
