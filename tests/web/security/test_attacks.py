"""Attacks on a real server: what is sent to break it comes back as an error of the one shape."""

from __future__ import annotations

import csv
import gzip
import io
import socket
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import orjson
import pytest

from sdcensus.model.policy.policy import Limits, RoleRules, UserRole
from sdcensus.web.database import COMMAND_LINE
from sdcensus.web.identity import Headers, client_address
from sdcensus.web.settings import Settings
from tests.session.answer.services import service
from tests.web.servers import (
    PASSWORD,
    QUESTION,
    TABLES,
    PausingService,
    Place,
    check_error,
    check_headers,
    csrf_of,
    opened,
    until,
)

API = "/api/v1"
INJECTIONS = (
    "' OR '1'='1",
    "'; DROP TABLE accounts; --",
    "%' AND 1=0 UNION ALL SELECT sql FROM sqlite_master --",
    "{{7*7}}",
)
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg/onload=alert(3)>"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Place, httpx.Client]]:
    """A server that takes any number of messages, and somebody of the staff with a token."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    with opened(folder, feedback_per_day=1_000, login_attempts=0, longest_delay=0) as place:
        yield place, place.somebody(**place.token("boss", "staff"))
        place.site.writer.flush()
        proof = place.database.audit.verify()
        assert not proof.findings, "the chain of the audit holds after all of this"


def in_one_shape(response: httpx.Response) -> None:
    """An error as errors are: never one of the inside, never with words of the inside."""
    assert 400 <= response.status_code < 500, (response.status_code, response.text[:200])
    check_error(response, response.status_code, response.json()["error"]["code"])
    said = response.text.lower()
    for word in ("traceback", "sqlalchemy", "sqlite3", "psycopg", "site-packages", ".py"):
        assert word not in said


def raw(place: Place, data: bytes, seconds: float = 10.0) -> bytes:
    """What comes back for these bytes."""
    host, port = place.server.url.removeprefix("http://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=seconds) as wire:
        wire.sendall(data)
        found = b""
        while True:
            try:
                part = wire.recv(65_536)
            except (TimeoutError, ConnectionResetError):
                return found
            if not part:
                return found
            found += part


# ---------------------------------------------------------------------------------- injections


@pytest.mark.parametrize("text", INJECTIONS)
def test_words_of_databases_and_templates_are_words(
    staffed: tuple[Place, httpx.Client], text: str
) -> None:
    place, staff = staffed
    client = place.somebody()
    before = len(place.database.accounts.all())
    written = quote(text, safe="")
    for question in (
        {"of": text},
        {"by": [text]},
        {"by": [f"area@{text}"]},
        {"by": ["area"], "where": text},
        {"by": ["area"], "where": f"area == {orjson.dumps(text).decode()}"},
        {"by": ["area"], "codes": {"area": [text]}},
        {"by": ["area"], "codes": {text: ["P0"]}},
        {"by": ["area"], "groups": {"area": [{"label": "x", "codes": [text]}]}},
    ):
        in_one_shape(client.post(TABLES, json=question))
        in_one_shape(client.post(f"{TABLES}/check", json=question))
    for path in (
        f"datasets/{written}/variables",
        f"datasets/persons/variables/{written}",
        f"datasets/persons/areas?level={written}",
        f"datasets/persons/areas?parent={written}",
        f"datasets/persons/map?variable={written}",
        f"tables?of={written}",
        f"tables?by=area&lang={written}",
        f"tables?by=area&format={written}",
        f"jobs/{written}",
        f"commands/table?program={written}",
        f"{written}",
    ):
        in_one_shape(client.get(f"{API}/{path}"))
    found = client.get(f"{API}/datasets/persons/areas", params={"search": text})
    assert found.json()["total"] == 0
    in_one_shape(client.post(f"{API}/commands", json={"program": text}))
    for path in (f"account/tokens/{written}", f"saved/{written}"):
        in_one_shape(staff.delete(f"{API}/{path}"))
    for path in (f"staff/alarms/{written}/acknowledge", f"staff/feedback/{written}/read"):
        in_one_shape(staff.post(f"{API}/{path}"))
    for header in (f"Bearer {text}", f"Bearer sdc_{text}", f"Basic {text}"):
        in_one_shape(client.get(f"{API}/account", headers={"authorization": header}))
    for cookie in (f"sdcensus-session={written}", f"sdcensus-client={written}"):
        assert client.get(f"{API}/account", headers={"cookie": cookie}).json()["account"] is None
    login = {"name": text, "password": text}
    assert client.post("/login", json=login).status_code in (401, 429)
    assert client.post("/login", json={**login, "name": "boss"}).status_code in (401, 429)
    # What is only kept is kept as it is, and given back as it is.
    saved = staff.post(f"{API}/saved", json={"name": text, "question": QUESTION})
    assert (saved.status_code, saved.json()["name"]) == (201, text)
    assert client.post(f"{API}/feedback", json={"text": text, "contact": text}).status_code == 201
    kept = staff.get(f"{API}/staff/feedback").json()["feedback"]
    assert text in {one["text"] for one in kept}
    assert staff.delete(f"{API}/saved/{saved.json()['id']}").status_code == 204
    assert len(place.database.accounts.all()) == before


@pytest.mark.parametrize(
    "path",
    [
        "/static/../settings.py",
        "/static/..%2fsettings.py",
        "/static/%2e%2e/settings.py",
        "/static/%252e%252e/settings.py",
        "/static/..%5csettings.py",
        "/static/..\\settings.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/site.css%00.js",
        "/static/result/../../settings.py",
        "/api/v1/jobs/../../../etc/passwd",
        "/api/v1/jobs/%2e%2e%2f%2e%2e",
        "/api/v1/jobs/..%2f..%2fstate%2fcookie.key/result",
        "/state/cookie.key",
        "/web.db",
        "/metrics",
        "//evil.example/",
        "/%0d%0aset-cookie:a=b",
    ],
)
def test_no_path_leads_out_of_the_server(place: Place, path: str) -> None:
    said = raw(
        place, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )
    head, _, body = said.partition(b"\r\n\r\n")
    assert head.split()[1] in (b"404", b"400", b"405"), head
    assert b"set-cookie" not in head.lower()
    assert b"root:" not in body
    assert b"class Settings" not in body


# ------------------------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    "body",
    [
        b"\xff\xfe\x00",
        b'{"by": ["area"',
        b'{"by": ["area"]} trailing',
        b'{"by": ["a\\u0000"]}',
        b'{"by": [1e999]}',
        b'{"by": [' + b"9" * 5_000 + b"]}",
        b'{"where": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
        b'{"codes": {"area": [' + b"[" * 900 + b"]" * 900 + b"]}}",
        b'{"of": null, "by": null}',
        b'{"by": ["area"], "by": "area"}',
        b'{"where": false}',
        b'{"groups": {"area": [{"label": "\\u202e", "codes": ["P0"]}, 1]}}',
        b'{"by": ["area"], "where": "' + b"(" * 3_000 + b'"}',
        b'{"by": ["area"], "where": "' + b"not " * 900 + b'sex == 1"}',
        b'{"by": ["area"], "where": "age == ' + b"9" * 3_900 + b'"}',
        b'{"by": ["area"], "where": "age == -1e400"}',
    ],
    ids=range(16),
)
def test_bodies_that_are_no_questions_are_told_so(place: Place, body: bytes) -> None:
    for path in (TABLES, f"{TABLES}/check", f"{API}/commands", f"{API}/saved", "/login"):
        in_one_shape(place.somebody().post(path, content=body, headers=JSON))


@pytest.mark.parametrize(
    "program",
    [
        "(" * 20_000,
        "TABLE t AS FREQUENCY OF person.age FOR " + "(" * 9_000,
        "TABLE t AS FREQUENCY OF person.age FOR " + "NOT " * 4_000 + "person.age > 1",
        "TABLE t AS FREQUENCY OF person.age FOR person.age > " + "9" * 10_000,
        "\n".join(f"TABLE t{at} AS FREQUENCY OF person.age" for at in range(500)),
        "'" * 19_999,
        "/*" * 9_999,
        "a" * 19_999,
        "TABLE t AS FREQUENCY OF person.age TITLE '" + "\u202e" * 500 + "'",
    ],
    ids=range(9),
)
def test_programs_that_are_bombs_do_not_go_off(place: Place, program: str) -> None:
    for path in ("commands", "commands/table"):
        answer = place.somebody().post(f"{API}/{path}", json={"program": program})
        assert answer.status_code < 500
        assert answer.elapsed.total_seconds() < 20


def test_lines_in_parameters_never_become_headers(place: Place) -> None:
    label = "x\r\nset-cookie: a=b"
    for bad in (label, "x\ny", "\x00", "\x7f"):
        group = {"area": [{"label": bad, "codes": ["P0"]}]}
        in_one_shape(place.client.post(TABLES, json={"by": ["area"], "groups": group}))
    target = "/\r\nset-cookie: a=b"
    page = place.client.get("/login", params={"next": target})
    assert "a=b" not in str(page.headers)
    title = 'TABLE t AS FREQUENCY OF person.sex TITLE "a b; filename=evil.exe"'
    made = place.client.post(f"{API}/commands/table?format=csv", json={"program": title})
    assert made.headers.get("content-disposition", "").count("filename=") <= 1
    said = raw(
        place,
        b"GET /login?next=/%0d%0aX-Evil:1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    )
    assert b"x-evil" not in said.partition(b"\r\n\r\n")[0].lower()


@pytest.mark.parametrize(
    "lines",
    [
        b"Host: evil.example",
        b"Host: localhost\r\nHost: evil.example",
        b"Host: localhost@evil.example",
        b"Host: evil.example#localhost",
        b"Host:",
        b"X-Forwarded-Host: evil.example",
        b"Host: localhost\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example",
    ],
)
def test_a_made_up_host_is_in_no_answer(place: Place, lines: bytes) -> None:
    for path in (b"/login?next=//evil.example", b"/account", b"/api/v1/tables?by=sex"):
        said = raw(
            place, b"GET " + path + b" HTTP/1.1\r\nConnection: close\r\n" + lines + b"\r\n\r\n"
        )
        assert b"evil.example" not in said


def test_nobody_smuggles_a_second_request(place: Place) -> None:
    """A body that two lengths describe: the connection ends, and nothing of it is a request."""
    inner = b"GET /api/v1/datasets HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for lines in (
        b"Content-Length: 5\r\nTransfer-Encoding: chunked",
        b"Content-Length: 0\r\nContent-Length: 40",
        b"Transfer-Encoding: chunked, identity",
        b"Content-Length: -1",
        b"Content-Length: 1e9",
    ):
        head = (
            b"POST /api/v1/tables HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        said = raw(place, head + lines + b"\r\n\r\n0\r\n\r\n" + inner, seconds=3)
        assert b'"datasets"' not in said, lines


# ------------------------------------------------------------------------------ markup, formulas


def test_markup_of_users_is_text_on_every_page(staffed: tuple[Place, httpx.Client]) -> None:
    place, staff = staffed
    client, token = place.logged_in("boss")
    headers = {"x-csrf-token": token}
    group = {"area": [{"label": MARKUP[:79], "codes": ["P0"]}]}
    question = {"by": ["area"], "groups": group}
    name = MARKUP[:70]
    made = client.post(f"{API}/saved", json={"name": name, "question": question}, headers=headers)
    assert made.status_code == 201
    assert place.client.post(f"{API}/feedback", json={"text": MARKUP}).status_code == 201
    written = quote(orjson.dumps(group).decode())
    for path in (
        f"/?by=area&groups={written}",
        f"/?lang={quote(MARKUP)}",
        f"/login?next={quote(MARKUP)}",
        *("/account", "/staff", f"/commands?program={quote(MARKUP)}", f"/{quote(MARKUP)}"),
    ):
        page = client.get(path, headers={"accept": "text/html"}, follow_redirects=True)
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert "<svg/onload" not in page.text
        check_headers(page)
    failed = place.client.post("/login", data={"name": MARKUP, "password": "x", "csrf": ""})
    assert "<script>alert" not in failed.text
    for path in ("saved", "staff/feedback"):
        told = staff.get(f"{API}/{path}") if "staff" in path else client.get(f"{API}/{path}")
        assert told.headers["content-type"] == "application/json"
        assert told.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("label", ["=1+1", "+1", "-1", "@SUM(A1)", "=cmd|'/c calc'!A1", "\u2014=1"])
def test_labels_of_users_are_no_formulas(place: Place, label: str) -> None:
    group = {"area": [{"label": label, "codes": ["P0", "P1"]}]}
    for form in ("csv", "sdmx-csv", "csv-zip", "xlsx"):
        answer = place.client.post(
            f"{TABLES}?format={form}", json={"by": ["area"], "groups": group}
        )
        assert answer.status_code == 200, answer.text
        texts = [answer.content]
        if answer.content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
                texts = [archive.read(name) for name in archive.namelist()]
        for data in texts:
            if form == "xlsx":
                assert b"<f>" not in data
                continue
            for row in csv.reader(io.StringIO(data.decode("utf-8-sig"))):
                for cell in row:
                    number = cell.lstrip("+-").replace(".", "").isdigit()
                    assert number or not cell.startswith(("=", "+", "-", "@", "\t")), cell


# ------------------------------------------------------------------------- tokens and sessions


def test_stolen_altered_and_dead_tokens_are_worth_nothing(
    staffed: tuple[Place, httpx.Client],
) -> None:
    place, _ = staffed
    account = place.account("victor")
    made = place.database.tokens.make(account, "t", by=COMMAND_LINE)
    good = {"authorization": f"Bearer {made.text}"}
    client = place.somebody()
    assert client.get(f"{API}/account", headers=good).json()["account"]["name"] == "victor"
    text = made.text
    for bad in (
        text[:-1] + ("a" if text[-1] != "a" else "b"),
        text.upper(),
        text + "a",
        text[:-1],
        text.replace("sdc_", ""),
        text.replace("_", "-"),
        f"{text} {text}",
        "sdc_" + "a" * (len(text) - 4),
    ):
        check_error(
            client.get(f"{API}/account", headers={"authorization": f"Bearer {bad}"}),
            401,
            "unauthorised",
        )
    # A token is in no address: there it would be in histories and logs.
    for parameter in ("token", "access_token", "authorization"):
        in_one_shape(client.get(f"{API}/account", params={parameter: text}))
        in_one_shape(client.get(TABLES, params={"by": "area", parameter: text}))
    # Two of them are none.
    twice = [("authorization", f"Bearer {text}"), ("authorization", "Bearer other")]
    check_error(client.get(f"{API}/account", headers=twice), 401, "unauthorised")
    place.database.accounts.disable("victor", by=COMMAND_LINE)
    check_error(client.get(f"{API}/account", headers=good), 401, "unauthorised")
    check_error(client.get(f"{TABLES}?by=area", headers=good), 401, "unauthorised")
    place.database.accounts.enable("victor", by=COMMAND_LINE)
    place.database.tokens.revoke(made.token.id, account=account, by=COMMAND_LINE)
    check_error(client.get(f"{API}/account", headers=good), 401, "unauthorised")


def test_a_session_is_not_chosen_by_anybody_else_and_ends_with_the_account(
    staffed: tuple[Place, httpx.Client],
) -> None:
    place, _ = staffed
    place.account("wanda")
    client = place.somebody()
    client.cookies.set("sdcensus-session", "chosen-by-the-attacker")
    token = csrf_of(client.get("/login").text)
    answer = client.post("/login", data={"name": "wanda", "password": PASSWORD, "csrf": token})
    assert answer.status_code == 303
    set_cookie = answer.headers["set-cookie"]
    assert "chosen-by-the-attacker" not in set_cookie
    assert "HttpOnly" in set_cookie
    session = set_cookie.split(";")[0].split("=", 1)[1]
    # The cookie alone, in another browser, is the session; after logging out it is nothing.
    thief = place.somebody(cookie=f"sdcensus-session={session}")
    assert thief.get(f"{API}/account").json()["account"]["name"] == "wanda"
    check_error(thief.post(f"{API}/saved", json={"name": "x", "question": QUESTION}), 403, "csrf")
    place.database.accounts.disable("wanda", by=COMMAND_LINE)
    assert thief.get(f"{API}/account").json()["account"] is None


UNSAFE = (
    ("POST", "tables", QUESTION),
    ("POST", "tables/check", QUESTION),
    ("POST", "commands", {"program": "TABLE t AS FREQUENCY OF person.sex"}),
    ("POST", "commands/table", {"program": "TABLE t AS FREQUENCY OF person.sex"}),
    ("DELETE", "jobs/" + "A" * 22, None),
    ("POST", "account/tokens", {"name": "x"}),
    ("DELETE", "account/tokens/x", None),
    ("POST", "saved", {"name": "x", "question": QUESTION}),
    ("DELETE", "saved/x", None),
    ("POST", "feedback", {"text": "x"}),
    ("POST", "staff/alarms/x/acknowledge", None),
    ("POST", "staff/feedback/x/read", None),
    ("POST", "staff/accounts", {"name": "eve", "role": "staff", "password": PASSWORD}),
)


@pytest.mark.parametrize(("method", "path", "body"), UNSAFE)
def test_every_unsafe_route_needs_the_token_of_the_page(
    staffed: tuple[Place, httpx.Client], method: str, path: str, body: dict[str, Any] | None
) -> None:
    place, _ = staffed
    client, token = place.logged_in("boss")
    for headers in (
        {},
        {"x-csrf-token": "wrong"},
        {"x-csrf-token": token, "origin": "http://evil.example"},
        {"x-csrf-token": token, "sec-fetch-site": "cross-site"},
    ):
        answer = client.request(method, f"{API}/{path}", json=body, headers=headers)
        check_error(answer, 403, "csrf")
    right = client.request(method, f"{API}/{path}", json=body, headers={"x-csrf-token": token})
    assert right.status_code in (200, 201, 404), right.text
    # Other sites may not even ask with somebody's cookies.
    preflight = client.options(
        f"{API}/{path}",
        headers={"origin": "http://evil.example", "access-control-request-method": method},
    )
    assert "access-control-allow-credentials" not in preflight.headers


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https://evil.example", "/\\evil.example", "\\/evil", "javascript:alert(1)"],
)
def test_nobody_is_sent_elsewhere_after_the_login(
    staffed: tuple[Place, httpx.Client], target: str
) -> None:
    place, _ = staffed
    client = place.somebody()
    token = csrf_of(client.get("/login", params={"next": target}).text)
    fields = {"name": "boss", "password": PASSWORD, "csrf": token, "next": target}
    answer = client.post("/login", data=fields)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    again = client.get("/login", params={"next": target})
    assert (again.status_code, again.headers["location"]) == (303, "/")


# --------------------------------------------------------------------------- quotas and caches


def limited(tables: int) -> Any:
    rules = tuple(
        RoleRules(role=role, tables_per_day=tables, cells=cells)
        for role, cells in ((UserRole.PUBLIC, 30), (UserRole.REGISTERED, 10_000))
    )
    return service(limits=Limits(dimensions=5, cells=10_000), roles=rules)


def test_no_spelling_of_a_request_is_free(tmp_path: Path) -> None:
    """Each of these counts, and none of them is somebody new."""
    link = f"{TABLES}?by=area&by=sex"
    ways: list[dict[str, Any]] = [
        {},
        {"headers": {"x-forwarded-for": "203.0.113.9"}},
        {"headers": {"forwarded": "for=203.0.113.10", "x-real-ip": "203.0.113.11"}},
        {"headers": {"cookie": "sdcensus-client=a; sdcensus-session=b"}},
        {"headers": {"user-agent": "another"}},
        {"headers": {"if-none-match": "*"}},
        {"method": "HEAD"},
        {"headers": {"accept-language": "fr"}},
        {"headers": {"accept": "text/csv"}},
        {"headers": {"range": "bytes=0-1"}},
    ]
    with opened(tmp_path, limited(len(ways))) as place:
        for way in ways:
            answer = place.somebody().request(
                way.get("method", "GET"),
                link,
                **{name: value for name, value in way.items() if name != "method"},
            )
            assert answer.status_code in (200, 304)
        for way in ways:
            answer = place.somebody().request(
                way.get("method", "GET"),
                link,
                **{name: value for name, value in way.items() if name != "method"},
            )
            assert answer.status_code == 429, way
            assert int(answer.headers["retry-after"]) >= 1
        job = place.somebody().post(TABLES, json=QUESTION, headers={"prefer": "respond-async"})
        check_error(job, 429, "quota")


def test_a_larger_table_of_an_account_is_never_given_to_others(tmp_path: Path) -> None:
    link = f"{TABLES}?by=area&by=age"
    with opened(tmp_path, limited(1_000)) as place:
        known = place.somebody(**place.token("lara"))
        for _ in range(3):
            large = known.get(link)
            assert large.status_code == 200
            assert large.headers["cache-control"].startswith("private")
            for headers in ({}, {"if-none-match": large.headers["etag"]}, {"accept": "text/csv"}):
                check_error(place.somebody().get(link, headers=headers), 403, "refused")
            head = place.somebody().head(link)
            assert (head.status_code, head.content) == (403, b"")
        small = f"{TABLES}?by=sex"
        first = place.somebody().get(small)
        assert known.get(small).json()["value"] == first.json()["value"]
        assert (
            place.somebody()
            .get(small, headers={"accept": "text/csv"})
            .headers["content-type"]
            .startswith("text/csv")
        )
        assert place.somebody().get(small).headers["content-type"] == "application/json"
        plain = place.somebody().get(small, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers


def test_proxies_that_add_a_line_of_their_own_are_read_to_the_end() -> None:
    """The first line is the client's word: believing it would give a new quota to every request."""
    scope: dict[str, Any] = {"client": ("10.0.0.1", 1)}
    proxies = Settings(trusted_proxies=("10.0.0.0/8",)).proxies
    lines = [(b"x-forwarded-for", b"1.2.3.4"), (b"x-forwarded-for", b"198.51.100.7")]
    assert client_address(scope, Headers(lines), proxies) == "198.51.100.7"
    both = [(b"x-forwarded-for", b"1.2.3.4, 198.51.100.7, 10.0.0.2")]
    assert client_address(scope, Headers(both), proxies) == "198.51.100.7"
    assert client_address({"client": ("9.9.9.9", 1)}, Headers(lines), proxies) == "9.9.9.9"


# -------------------------------------------------------------------------------------- crowds


def test_clients_that_go_away_and_errors_in_between_leave_nothing_behind(tmp_path: Path) -> None:
    """Equal questions share one piece of work: nobody waits for ever, nobody gets another's."""
    pausing = PausingService(service())
    with opened(tmp_path, pausing, workers=1, queue=2, longest_delay=0) as place:
        request = b"GET /api/v1/tables?by=age HTTP/1.1\r\nHost: localhost\r\n\r\n"
        host, port = place.server.url.removeprefix("http://").rsplit(":", 1)
        gone = [socket.create_connection((host, int(port))) for _ in range(5)]
        asked = pausing.asked
        for one in gone:
            one.sendall(request)
        until(lambda: pausing.asked == asked + 1)
        for one in gone:
            one.close()
        others: list[httpx.Response] = []
        threads = [
            threading.Thread(
                target=lambda by=by: others.append(place.somebody().get(f"{TABLES}?by={by}"))
            )
            for by in ("age", "age", "sex", "married", "area")
        ]
        for thread in threads:
            thread.start()
        until(lambda: any(other.status_code == 503 for other in others))
        full = next(other for other in others if other.status_code == 503)
        assert int(full.headers["retry-after"]) >= 1
        check_error(full, 503, "busy")
        assert place.somebody().get("/health").status_code == 200
        pausing.gate.set()
        for thread in threads:
            thread.join()
        assert sorted(other.status_code for other in others).count(200) >= 3
        ages = [
            other for other in others if other.status_code == 200 and other.json()["id"][0] == "age"
        ]
        assert len({age.content for age in ages}) == 1
        until(lambda: len(place.site.flights) == 0)
        assert place.somebody().get(f"{TABLES}?by=area").status_code == 200
        assert not place.database.audit.verify().findings


def test_many_silent_connections_do_not_stop_anybody(tmp_path: Path) -> None:
    with opened(tmp_path, request_seconds=2, connections=50) as place:
        host, port = place.server.url.removeprefix("http://").rsplit(":", 1)
        silent = [socket.create_connection((host, int(port))) for _ in range(150)]
        for at, one in enumerate(silent):
            if at % 2:
                one.sendall(b"GET /api/v1/tables?by=area HTTP/1.1\r\nHost: lo")
        assert place.somebody().get(f"{TABLES}?by=sex").status_code == 200
        until(lambda: all(_closed(one) for one in silent))
        for one in silent:
            one.close()
        assert place.somebody().get("/health").status_code == 200


def _closed(wire: socket.socket) -> bool:
    wire.settimeout(0.01)
    try:
        return wire.recv(10) == b""
    except TimeoutError:
        return False
    except OSError:
        return True


def test_what_people_send_is_in_no_line_of_the_log(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody writes lines into the log: it names requests by numbers."""
    with caplog.at_level("DEBUG"):
        forged = "x\nERROR sdcensus.web request 1 failed"
        for path in (
            f"/{quote(forged)}",
            f"{TABLES}?by={quote(forged)}",
            f"{API}/jobs/{quote(forged)}",
        ):
            place.client.get(path)
        place.client.post("/login", json={"name": forged, "password": forged})
        raw(place, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03forged\r\n\r\n", seconds=2)
    ours = [record for record in caplog.records if record.name.startswith(("sdcensus", "uvicorn"))]
    assert all("forged" not in our.getMessage() and "\n" not in our.getMessage() for our in ours)


def test_packed_bodies_are_not_unpacked(place: Place) -> None:
    """A small body that would become a large one: it is no JSON, and nothing more."""
    bomb = gzip.compress(b" " * 50_000_000)
    answer = place.client.post(TABLES, content=bomb, headers={**JSON, "content-encoding": "gzip"})
    in_one_shape(answer)
