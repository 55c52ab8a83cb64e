from __future__ import annotations

import re
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SecretError, SpecError
from sdcensus.web.identity import Headers, client_address, network_of
from sdcensus.web.pages import data_block
from sdcensus.web.security import content_disposition, local_path, read_keys
from sdcensus.web.settings import Settings
from tests.web.servers import (
    PASSWORD,
    PATIENCE,
    QUESTION,
    TABLES,
    Place,
    check_error,
    check_headers,
    csrf_of,
    opened,
)

PAGES = ("/", "/about", "/commands", "/api", "/login")


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_closed_to_everything_from_outside(place: Place, path: str) -> None:
    page = place.client.get(path)
    assert page.status_code == 200
    check_headers(page)
    rules = page.headers["content-security-policy"]
    assert "default-src 'self'" in rules
    assert "unsafe" not in rules
    addresses = re.findall(r'(?:src|href|action)="([^"]+)"', page.text)
    assert addresses
    assert all(not urlsplit(address).netloc for address in addresses)
    assert "<style" not in page.text
    assert not re.search(r"<script(?![^>]*(?:src=|application/json))", page.text)
    assert not re.search(r'\son\w+="', page.text)


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/builder/../../settings.py",
        "/static/",
        "/static",
        "/metrics",
        "/docs",
        "/api/v1/tables/",
        "/api/v2/tables",
        "/nothing",
    ],
)
def test_nothing_else_is_there(place: Place, path: str) -> None:
    with socket.create_connection(_address(place), timeout=PATIENCE) as link:
        link.sendall(
            f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
        answer = _everything(link)
    assert answer.startswith(b"HTTP/1.1 404")
    assert b'"code":"not-found"' in answer


def test_people_who_are_lost_see_a_page_and_programs_the_one_shape(place: Place) -> None:
    page = place.client.get("/nothing", headers={"accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    check_headers(page)
    check_error(
        place.client.get("/api/v1/nothing", headers={"accept": "text/html"}), 404, "not-found"
    )


def test_other_methods_are_told_which_ones_there_are(place: Place) -> None:
    for method, path, allowed in (
        ("PUT", TABLES, "GET, HEAD, OPTIONS, POST"),
        ("DELETE", "/api/v1/datasets", "GET, HEAD, OPTIONS"),
        ("PATCH", "/api/v1/account/tokens", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/", "GET, HEAD, OPTIONS"),
        ("TRACE", "/health", "GET, HEAD, OPTIONS"),
        ("PUT", "/api/v1/feedback", "OPTIONS, POST"),
    ):
        answer = place.client.request(method, path)
        check_error(answer, 405, "not-found")
        assert answer.headers["allow"] == allowed
        asked = place.client.options(path)
        assert (asked.status_code, asked.content) == (204, b"")
        assert asked.headers["allow"] == allowed
    check_error(place.client.options("/api/v1/nothing"), 404, "not-found")


def test_requests_for_other_hosts_are_refused(place: Place) -> None:
    for host in ("evil.example", "localhost.evil.example", "", "localhost:80:80", "a b"):
        answer = place.client.get("/health", headers={"host": host})
        assert answer.status_code in (400, 421), host
    for host in ("localhost", "LOCALHOST:8000", "127.0.0.1", "[::1]:8000"):
        assert place.client.get("/health", headers={"host": host}).status_code == 200


def test_bodies_have_a_limit_also_when_they_do_not_say_how_long_they_are(tmp_path: Path) -> None:
    with opened(tmp_path, body_limit=1_000) as small:
        body = b'{"by":["area"]}' + b" " * 2_000
        kind = {"content-type": "application/json"}
        check_error(small.client.post(TABLES, content=body, headers=kind), 413, "too-large")

        def pieces() -> list[bytes]:
            return [body[:500], body[500:]]

        chunked = small.client.post(TABLES, content=iter(pieces()), headers=kind)
        check_error(chunked, 413, "too-large")
        with socket.create_connection(_address(small), timeout=PATIENCE) as link:
            link.sendall(
                b"POST /api/v1/tables HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 999999999\r\n\r\n"
            )
            assert b" 413 " in link.recv(1_000)


def test_addresses_and_headers_have_a_limit(tmp_path: Path) -> None:
    with opened(tmp_path, address_limit=500, header_limit=4_000) as small:
        check_error(small.client.get(f"{TABLES}?by={'a' * 600}"), 414, "too-large")
        long = {"x-long": "a" * 3_900}
        check_error(small.client.get(TABLES, headers=long), 431, "too-large")


def test_whoever_does_not_get_on_is_cut_off(tmp_path: Path) -> None:
    with opened(tmp_path, request_seconds=0.3) as hasty:
        with socket.create_connection(_address(hasty), timeout=PATIENCE) as silent:
            assert _everything(silent) == b""
        with socket.create_connection(_address(hasty), timeout=PATIENCE) as slow:
            slow.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ")
            assert _everything(slow) == b""
        with socket.create_connection(_address(hasty), timeout=PATIENCE) as body:
            body.sendall(
                b"POST /api/v1/tables HTTP/1.1\r\nHost: localhost\r\n"
                b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
            )
            assert b" 408 " in body.recv(1_000)
        assert hasty.client.get("/health").status_code == 200


def test_nonsense_is_answered_as_such(place: Place) -> None:
    with socket.create_connection(_address(place), timeout=PATIENCE) as nonsense:
        nonsense.sendall(b"nonsense\r\n\r\n")
        answer = _everything(nonsense)
    assert answer.startswith(b"HTTP/1.1 400")
    assert b'"error"' in answer


def test_other_sites_may_read_tables_without_a_session_and_nothing_else(place: Place) -> None:
    origin = {"origin": "https://elsewhere.example"}
    asked = {**origin, "access-control-request-method": "POST"}
    before = place.client.options(TABLES, headers=asked)
    assert before.status_code == 204
    assert before.headers["access-control-allow-origin"] == "*"
    assert "access-control-allow-credentials" not in before.headers
    allowed = before.headers["access-control-allow-headers"].lower().split(", ")
    assert {"authorization", "if-none-match", "content-type"} <= set(allowed)
    # A token is in the hands of the script; a session is in those of the browser.
    token = place.token("elsewhere")
    for headers in (origin, {**origin, **token}, {**origin, "if-none-match": '"other"'}):
        answer = place.somebody().get(f"{TABLES}?by=sex", headers=headers)
        assert answer.status_code == 200
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers
        exposed = answer.headers["access-control-expose-headers"].lower().split(", ")
        assert {"etag", "ratelimit", "retry-after"} <= set(exposed)
    place.account("session-elsewhere")
    browser, _ = place.logged_in("session-elsewhere")
    for headers in (origin, {**origin, **token}):
        answer = browser.get(f"{TABLES}?by=sex", headers=headers)
        assert "access-control-allow-origin" not in answer.headers
    for path in ("/api/v1/account", "/api/v1/staff/summary", "/api/v1/commands/table", "/"):
        before = place.client.options(path, headers=asked)
        assert "access-control-allow-headers" not in before.headers
    for path in ("/api/v1/account", "/", "/api/v1/staff/summary"):
        assert "access-control-allow-origin" not in place.client.get(path, headers=origin).headers


def test_logging_in_and_out(place: Place) -> None:
    place.account("bea")
    client, token = place.logged_in("bea")
    cookie = next(iter(client.cookies.jar))
    who = client.get("/api/v1/account").json()
    assert (who["account"]["name"], who["role"]) == ("bea", "registered")
    assert client.get("/login").status_code == 303
    assert cookie.name.startswith("sdcensus-")
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/api/v1/account").json()["account"] is None
    actions = [one.action for one in place.audit() if one.who == "bea"]
    assert actions[:2] == ["logout", "login"]


def test_a_wrong_password_is_told_kept_and_slowed_down(tmp_path: Path) -> None:
    with opened(tmp_path, login_attempts=2) as place:
        place.account("bea")
        for status in (401, 401, 429):
            body = {"name": "bea", "password": "wrong password wrong"}
            answer = place.client.post("/login", json=body)
            code = "unauthorised" if status == 401 else "quota"
            check_error(answer, status, code)
            assert PASSWORD not in answer.text
        # Not even the right one helps now.
        right = place.client.post("/login", json={"name": "bea", "password": PASSWORD})
        check_error(right, 429, "quota")
        assert int(right.headers["retry-after"]) > 0
        failed = [one for one in place.audit() if one.action == "login-failed"]
        assert len(failed) == 4
        assert all(PASSWORD not in repr(one) for one in failed)


def test_changes_by_cookie_need_what_only_our_own_pages_know(place: Place) -> None:
    place.account("carl")
    client, token = place.logged_in("carl")
    saved = {"name": "mine", "question": QUESTION}
    for headers in (
        {},
        {"x-csrf-token": ""},
        {"x-csrf-token": "0" * len(token)},
        {"x-csrf-token": token, "origin": "https://evil.example"},
        {"x-csrf-token": token, "origin": "null"},
        {"x-csrf-token": token, "sec-fetch-site": "cross-site"},
        {"x-csrf-token": token, "sec-fetch-site": "same-site"},
    ):
        check_error(client.post("/api/v1/saved", json=saved, headers=headers), 403, "csrf")
    check_error(client.post("/logout", data={"csrf": "wrong"}), 403, "csrf")
    good = {"x-csrf-token": token, "origin": place.server.url, "sec-fetch-site": "same-origin"}
    made = client.post("/api/v1/saved", json=saved, headers=good)
    assert made.status_code == 201
    assert client.get("/api/v1/saved").json()["saved"][0]["question"] == QUESTION
    other = place.somebody(**place.token("dora"))
    check_error(other.delete(f"/api/v1/saved/{made.json()['id']}"), 404, "not-found")
    assert client.delete(f"/api/v1/saved/{made.json()['id']}", headers=good).status_code == 204


def test_the_form_of_the_login_is_bound_to_the_browser(place: Place) -> None:
    place.account("emil")
    stolen = csrf_of(place.somebody().get("/login").text)
    victim = place.somebody()
    victim.get("/login")
    fields = {"name": "emil", "password": PASSWORD, "csrf": stolen}
    check_error(victim.post("/login", data=fields), 403, "csrf")
    elsewhere = {"origin": "https://evil.example"}
    check_error(place.somebody().post("/login", data=fields, headers=elsewhere), 403, "csrf")


def test_tokens_are_shown_once_work_and_can_be_revoked(place: Place) -> None:
    place.account("fay")
    client, csrf = place.logged_in("fay")
    sent = {"x-csrf-token": csrf}
    made = client.post("/api/v1/account/tokens", json={"name": "laptop"}, headers=sent).json()
    program = place.somebody(authorization=f"Bearer {made['secret']}")
    assert program.get("/api/v1/account").json()["account"]["name"] == "fay"
    # Whoever has found a token can ask for tables with it, and neither make nor revoke others.
    again = program.post("/api/v1/account/tokens", json={"name": "desk", "days": 3})
    check_error(again, 403, "forbidden")
    assert len(client.get("/api/v1/account/tokens").json()["tokens"]) == 1
    listed = client.get("/api/v1/account/tokens")
    assert made["secret"] not in listed.text
    where = f"/api/v1/account/tokens/{made['token']['id']}"
    check_error(program.delete(where), 403, "forbidden")
    place.account("gil")
    other, others = place.logged_in("gil")
    check_error(other.delete(where, headers={"x-csrf-token": others}), 404, "not-found")
    assert client.delete(where, headers=sent).status_code == 204
    check_error(program.get("/api/v1/account"), 401, "unauthorised")
    for wrong in ("Bearer", "Bearer nonsense", "Basic abc", "Bearer " + "a" * 5_000):
        check_error(place.somebody(authorization=wrong).get("/api/v1/account"), 401, "unauthorised")


def test_staff_routes_are_for_the_staff(place: Place) -> None:
    ordinary = place.somebody(**place.token("hugo"))
    for path in ("/api/v1/staff/summary", "/api/v1/staff/accounts", "/api/v1/staff/feedback"):
        check_error(place.somebody().get(path), 401, "unauthorised")
        check_error(ordinary.get(path), 403, "forbidden")
    staff = place.somebody(**place.token("ines", "staff"))
    assert (
        place.client.post(
            "/api/v1/feedback", json={"text": "=1+1 <b>", "contact": "", "question": QUESTION}
        ).status_code
        == 201
    )
    found = staff.get("/api/v1/staff/feedback").json()["feedback"]
    assert found[0]["text"] == "=1+1 <b>"
    read = staff.post(f"/api/v1/staff/feedback/{found[0]['id']}/read").json()
    assert read["feedback"]["read_by"] == "ines"
    new = {"name": "jan", "role": "registered", "password": PASSWORD}
    check_error(staff.post("/api/v1/staff/accounts", json=new), 403, "forbidden")
    browser, csrf = place.logged_in("ines")
    sent = {"x-csrf-token": csrf}
    assert browser.post("/api/v1/staff/accounts", json=new, headers=sent).status_code == 201
    again = browser.post("/api/v1/staff/accounts", json=new, headers=sent)
    check_error(again, 400, "bad-question")
    check_error(staff.post("/api/v1/staff/alarms/none/acknowledge"), 404, "not-found")
    summary = staff.get("/api/v1/staff/summary").json()
    assert summary["audit"]["healthy"] is True
    parts = {"load", "slowest", "refusals", "alarms", "versions", "outcomes", "groups"}
    assert parts <= set(summary)


def test_pages_for_accounts_send_others_to_the_login(place: Place) -> None:
    for path in ("/account", "/staff"):
        answer = place.somebody().get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, f"/login?next={path}")
    place.account("kai")
    client, _ = place.logged_in("kai")
    assert client.get("/account").status_code == 200
    assert client.get("/staff", headers={"accept": "text/html"}).status_code == 403
    place.account("lea", "staff")
    staff, _ = place.logged_in("lea")
    assert staff.get("/staff").status_code == 200


def test_cookies_over_https_are_for_https_and_this_host(tmp_path: Path) -> None:
    with opened(tmp_path, trusted_proxies=("127.0.0.1",)) as place:
        plain = place.somebody().get("/login")
        assert "Secure" not in plain.headers["set-cookie"]
        assert "strict-transport-security" not in plain.headers
        page = place.somebody().get("/login", headers={"x-forwarded-proto": "https"})
        assert page.headers["set-cookie"].startswith("__Host-")
        assert "Secure" in page.headers["set-cookie"]
        assert "strict-transport-security" in page.headers


def test_proxies_are_believed_if_they_are_ours() -> None:
    ours = Settings(trusted_proxies=("10.0.0.0/8",)).proxies
    headers = Headers([(b"x-forwarded-for", b"1.1.1.1, 8.8.8.8, 10.0.0.2")])
    inside = {"client": ("10.0.0.1", 1)}
    outside = {"client": ("9.9.9.9", 1)}
    assert client_address(inside, headers, ours) == "8.8.8.8"
    assert client_address(outside, headers, ours) == "9.9.9.9"
    assert client_address(inside, headers, ()) == "10.0.0.1"
    nonsense = Headers([(b"x-forwarded-for", b"<script>, 10.0.0.2")])
    assert client_address(inside, nonsense, ours) == "10.0.0.2"
    assert network_of("2001:db8:1:2:3:4:5:6") == network_of("2001:db8:1:2::9")
    assert network_of("::ffff:1.2.3.4") == "1.2.3.4"


@given(st.text())
def test_no_name_of_a_file_becomes_another_header(name: str) -> None:
    header = content_disposition(name)
    assert header.isascii()
    assert header.isprintable()
    assert re.fullmatch(r"attachment; filename=\"[\w.-]+\"(; filename\*=UTF-8''[\w.%~-]+)?", header)


@given(st.text())
def test_nothing_in_data_ends_its_block(text: str) -> None:
    if any("\ud800" <= one <= "\udfff" for one in text):
        return
    assert not set("<>&") & set(str(data_block({"a": text})))


@given(st.text())
def test_nobody_is_sent_to_another_site(text: str) -> None:
    for target in (text, f"/{text}", f"//{text}", f"/\\{text}"):
        went = local_path(target)
        assert went.startswith("/")
        assert not went.startswith(("//", "/\\"))
        assert not urlsplit(went).netloc


def test_keys_are_made_once_and_for_the_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SDCENSUS_COOKIE_KEY", raising=False)
    made = read_keys(tmp_path / "state")
    assert read_keys(tmp_path / "state") == made
    assert made.cookie.hex() not in repr(made)
    monkeypatch.setenv("SDCENSUS_COOKIE_KEY", "ab" * 32)
    assert read_keys(tmp_path).cookie == bytes.fromhex("ab" * 32)
    monkeypatch.setenv("SDCENSUS_COOKIE_KEY", "short")
    with pytest.raises(SecretError):
        read_keys(tmp_path)


@pytest.mark.parametrize(
    "wrong",
    [
        {"languages": ("xx",)},
        {"languages": ()},
        {"workers": 0},
        {"port": 70_000},
        {"port": 80, "metrics_port": 80},
        {"trusted_proxies": ("proxy.example",)},
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(SpecError):
        Settings(**wrong)  # type: ignore[arg-type]


def _address(place: Place) -> tuple[str, int]:
    url = httpx.URL(place.server.url)
    assert url.port is not None
    return url.host, url.port


def test_whoever_sends_headers_without_end_is_told_why(place: Place) -> None:
    with socket.create_connection(_address(place), timeout=PATIENCE) as link:
        link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 200_000)
        answer = _everything(link)
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large")
    assert b'"code":"too-large"' in answer


def test_a_server_that_loses_the_end_of_its_audit_does_not_end_well(tmp_path: Path) -> None:
    with opened(tmp_path, shutdown_seconds=1) as office:
        (file,) = tmp_path.rglob("*.db")
        with closing(sqlite3.connect(file)) as other:
            other.execute("BEGIN EXCLUSIVE")
            office.server.site.end()
            lost = office.server.site.lost
            assert lost is not None
            assert "entries of the audit are not written" in str(lost)
            office.server.site.lost = None  # told; the place itself ends as usual


def _everything(link: socket.socket) -> bytes:
    found = b""
    while True:
        try:
            part = link.recv(65_536)
        except ConnectionError:
            return found
        if not part:
            return found
        found += part
