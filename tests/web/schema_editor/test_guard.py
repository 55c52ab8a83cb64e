"""Nobody but the browser that was opened with the address sees anything, or changes it."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.session.schema_editing.country import make_draft
from tests.web.schema_editor.editors import RunningEditor, opened_editor
from tests.web.servers import new_client, until


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[RunningEditor]:
    with opened_editor(make_draft(tmp_path)) as running:
        yield running


@pytest.fixture
def client(editor: RunningEditor) -> Iterator[httpx.Client]:
    with new_client(editor.origin) as opened:
        yield opened


def welcome(client: httpx.Client, editor: RunningEditor) -> None:
    answer = client.get(editor.address)
    assert (answer.status_code, answer.headers["location"]) == (303, f"{editor.base}/")


def check_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 403
    assert answer.text.startswith("Refused.")
    check_headers(answer)


def check_headers(answer: httpx.Response) -> None:
    assert answer.headers["cache-control"] == "no-store"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert "access-control-allow-origin" not in answer.headers
    assert "server" not in answer.headers


def test_the_address_works_once(editor: RunningEditor, client: httpx.Client) -> None:
    for path in (
        "/",
        f"{editor.base}/",
        f"{editor.base}/api/state",
        f"{editor.base}/static/site.css",
    ):
        check_refused(client.get(path))
    check_refused(client.get(f"{editor.base}/?token=wrong"))
    welcome(client, editor)
    (cookie,) = client.cookies.jar
    assert (cookie.name, cookie.path) == ("sdcensus_editor", f"{editor.base}/")
    assert cookie.has_nonstandard_attr("HttpOnly")
    assert cookie.get_nonstandard_attr("SameSite") == "Strict"
    page = client.get(f"{editor.base}/")
    assert page.status_code == 200
    check_headers(page)
    assert "http" not in page.text.replace("http://www.w3.org", "")  # nothing from elsewhere
    with new_client(editor.origin) as other:
        check_refused(other.get(editor.address))
        other.cookies.set("sdcensus_editor", "wrong", path=f"{editor.base}/")
        check_refused(other.get(f"{editor.base}/api/state"))


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "census.example"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:1"},
        {"host": "census.example:{port}"},
        {"host": ""},
        {"origin": "http://census.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_another_name_or_another_site_is_refused(
    editor: RunningEditor, client: httpx.Client, headers: dict[str, str]
) -> None:
    welcome(client, editor)
    port = str(urlsplit(editor.origin).port)
    sent = {name: value.replace("{port}", port) for name, value in headers.items()}
    check_refused(client.get(f"{editor.base}/api/state", headers=sent))
    body = {"version": 1, "what": "accept", "variable": "sexo"}
    ours = {"origin": editor.origin, **sent}
    check_refused(client.post(f"{editor.base}/api/change", json=body, headers=ours))
    assert editor.editing.version == 1


def test_a_change_must_say_that_it_comes_from_the_page(
    editor: RunningEditor, client: httpx.Client
) -> None:
    welcome(client, editor)
    body = {"version": 1, "what": "accept", "variable": "sexo", "shown": "sexo"}
    for path in ("change", "undo", "redo", "save", "close"):
        check_refused(client.post(f"{editor.base}/api/{path}", json=body))
    ours = {"origin": editor.origin}
    check_refused(client.post(f"{editor.base}/api/change", content=iter([b"{}"]), headers=ours))
    large = b"x" * (4 * 1024 * 1024 + 1)
    assert client.post(f"{editor.base}/api/change", content=large, headers=ours).status_code == 413
    plain = client.post(f"{editor.base}/api/change", content="{}", headers=ours)
    assert (plain.status_code, plain.json()["error"]["code"]) == (400, "input")
    done = client.post(f"{editor.base}/api/change", json=body, headers=ours)
    assert done.status_code == 200
    assert done.json()["variable"]["looked_at"] is True
    check_headers(done)
    stale = client.post(f"{editor.base}/api/change", json=body, headers=ours)
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "stale")


@pytest.mark.parametrize(
    "path",
    ["static/../app.py", "static/%2e%2e/app.py", "static/builder/app.js", "static/", "api/none"],
)
def test_other_files_are_not_there(editor: RunningEditor, client: httpx.Client, path: str) -> None:
    welcome(client, editor)
    assert client.get(f"{editor.base}/{path}").status_code in (403, 404)


def test_it_listens_on_loopback_only_and_logs_nothing(
    editor: RunningEditor, client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        welcome(client, editor)
        client.get(f"{editor.base}/api/variable?name=sexo")
        client.get("/nowhere")
    own = [record for record in caplog.records if not record.name.startswith(("httpcore", "httpx"))]
    assert [record for record in own if editor.base in record.getMessage()] == []
    assert [
        record for record in own if record.name.startswith(("uvicorn.access", "sdcensus"))
    ] == []
    port = urlsplit(editor.origin).port
    address = socket.gethostbyname(socket.gethostname())
    if not address.startswith("127."):
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((address, port), timeout=5)


def test_it_ends_when_it_is_closed(editor: RunningEditor, client: httpx.Client) -> None:
    welcome(client, editor)
    ours = {"origin": editor.origin}
    assert client.post(f"{editor.base}/api/close", json={}, headers=ours).status_code == 200
    until(lambda: not editor.thread.is_alive())
    with pytest.raises(httpx.TransportError), new_client(editor.origin) as other:
        other.get("/")


def test_what_we_did_wrong_is_told_without_values(
    editor: RunningEditor, client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    welcome(client, editor)
    editor.editing._sources["person"].profiles["SEXO"].counts = {"1": "Zacarías"}  # type: ignore[dict-item]
    answer = client.get(f"{editor.base}/api/variable?name=sexo")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    check_headers(answer)
    assert "Zacar" not in caplog.text
    assert "TypeError" in caplog.text
