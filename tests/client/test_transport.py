from __future__ import annotations

import gzip
import json
import pickle
import socket
from pathlib import Path

import pytest

import sdcensus as sc
from sdcensus.client import (
    Busy,
    Connection,
    NotAllowed,
    NotReached,
    NotUnderstood,
    QuotaUsedUp,
    ServiceError,
    StillRunning,
    TableRefused,
)
from sdcensus.client.transport import Transport
from sdcensus.errors import OutputError, QuestionError, Refused, SpecError, UnknownName
from tests.client.recorded import Answer, dataset, error, recorded

TOKEN = "sdc_4f1d0c9b8a7e6d5c4b3a29181706f5e4"


def patient(url: str, slept: list[float], *, patience: float = 60.0) -> Connection:
    """A connection that notes for how long it would have slept."""
    return Connection(Transport(url, lambda: None, patience=patience, sleep=slept.append))


# ---------------------------------------------------------------- addresses and tokens


def test_addresses_are_taken_as_people_write_them() -> None:
    for written, meant in {
        "http://127.0.0.1:8080": "http://127.0.0.1:8080",
        "http://127.0.0.1:8080/": "http://127.0.0.1:8080",
        "https://census.example/tables/": "https://census.example/tables",
        "https://census.example/api/v1": "https://census.example",
        "http://[::1]:8080": "http://[::1]:8080",
    }.items():
        assert sc.connect(written).url == meant


@pytest.mark.parametrize(
    "address",
    [
        "",
        "census.example",
        "ftp://census.example",
        "file:///secret",
        "https://",
        "https://me:word@census.example",
        "https://census.example/?of=persons",
        "https://census.example:port",
        "https://census .example",
        "http://[::1",
    ],
)
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(SpecError):
        sc.connect(address)


def test_a_token_does_not_travel_where_others_can_read_it() -> None:
    with pytest.raises(SpecError, match="everybody on the way can read the token"):
        sc.connect("http://census.example", token=TOKEN)
    sc.connect("http://census.example")
    sc.connect("http://census.example", token=TOKEN, allow_insecure=True)
    sc.connect("https://census.example", token=TOKEN)
    sc.connect("http://localhost:8080", token=TOKEN)


@pytest.mark.parametrize("token", ["", "short", "two words here", "a\r\nX-Role: staff", "é" * 20])
def test_what_is_no_token_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(SpecError, match="This is no token") as caught:
        sc.connect("https://census.example", token=token)
    assert not token or token not in str(caught.value)


def test_the_token_is_sent_and_shown_nowhere() -> None:
    with recorded(error(401, "unauthorised", "This token is not valid.")) as server:
        connection = sc.connect(server.url, token=TOKEN)
        with pytest.raises(NotAllowed) as caught:
            connection.datasets()
    assert server.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"
    shown = [repr(connection), repr(connection._transport), str(caught.value), repr(caught.value)]
    assert not [one for one in shown if TOKEN in one]
    assert "with a token" in repr(connection)
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        pickle.dumps(connection)


def test_a_token_never_follows_to_another_server() -> None:
    with recorded(Answer(body={"datasets": []})) as other:
        away = Answer(302, headers={"Location": f"{other.url}/api/v1/datasets"})
        with (
            recorded(away) as server,
            pytest.raises(NotReached, match="sends on to another one"),
        ):
            sc.connect(server.url, token=TOKEN).datasets()
        assert other.requests == []


def test_redirects_on_the_server_are_followed_for_what_only_reads() -> None:
    moved = Answer(307, headers={"Location": "/api/v1/datasets?moved=1"})
    with recorded(moved, Answer(body={"datasets": []})) as server:
        assert sc.connect(server.url).datasets() == ()
    assert server.requests[-1].path == "/api/v1/datasets?moved=1"
    with recorded(moved) as server:
        with pytest.raises(NotReached):
            sc.connect(server.url).datasets()
        with pytest.raises(NotReached, match="is not sent twice"):
            sc.connect(server.url).program("TABLE")


# ---------------------------------------------------------------- later


def test_a_busy_server_is_asked_again_when_it_says() -> None:
    later = error(503, "busy", headers={"Retry-After": "7"})
    slept: list[float] = []
    with recorded(later, later, Answer(body={"datasets": []})) as server:
        assert patient(server.url, slept).datasets() == ()
    assert slept == [7.0, 7.0]
    assert len(server.requests) == 3


def test_patience_has_an_end() -> None:
    slept: list[float] = []
    with (
        recorded(error(503, "busy", headers={"Retry-After": "25"})) as server,
        pytest.raises(Busy) as caught,
    ):
        patient(server.url, slept).datasets()
    assert slept == [25.0, 25.0]
    assert caught.value.retry_after == 25


def test_a_quota_that_comes_back_tomorrow_is_not_waited_for() -> None:
    slept: list[float] = []
    with (
        recorded(error(429, "quota", "Too many.", headers={"Retry-After": "7200"})) as server,
        pytest.raises(QuotaUsedUp, match=r"Too many\. Try again in 2 hours\.") as caught,
    ):
        patient(server.url, slept).datasets()
    assert slept == []
    assert (caught.value.retry_after, caught.value.status) == (7200, 429)


@pytest.mark.parametrize(
    ("said", "waits"),
    [("0", True), ("Wed, 21 Oct 2015 07:28:00 GMT", True), ("soon", False), ("-5", False)],
)
def test_other_ways_to_say_later(said: str, waits: bool) -> None:
    slept: list[float] = []
    busy = error(503, "busy", headers={"Retry-After": said})
    with recorded(busy, Answer(body={"datasets": []})) as server:
        connection = patient(server.url, slept)
        if waits:
            assert connection.datasets() == ()
            assert slept == [0.0]
        else:
            with pytest.raises(Busy):
                connection.datasets()
            assert slept == []


# ---------------------------------------------------------------- bad answers


def test_answers_that_are_cut_short_are_noticed() -> None:
    whole = json.dumps({"datasets": []}).encode()
    for answer in (
        Answer(raw=whole, length=len(whole) + 10),
        Answer(raw=gzip.compress(whole)[:-6], headers={"Content-Encoding": "gzip"}),
        Answer(raw=whole[:-3]),
        Answer(raw=b"<html>"),
        Answer(raw=b"[" * 100_000),
        Answer(raw=b"xx", headers={"Content-Encoding": "gzip"}),
        Answer(raw=whole, headers={"Content-Encoding": "br"}),
        Answer(body={"tables": []}),
        Answer(body={"datasets": [{"id": "persons"}]}),
        Answer(body=None),
    ):
        with recorded(answer) as server, pytest.raises(NotUnderstood):
            sc.connect(server.url).datasets()


def test_packed_answers_are_read() -> None:
    packed = gzip.compress(json.dumps({"datasets": []}).encode())
    with recorded(Answer(raw=packed, headers={"Content-Encoding": "gzip"})) as server:
        assert sc.connect(server.url).datasets() == ()
    assert server.requests[0].headers["Accept-Encoding"] == "gzip"


def test_a_server_that_is_not_there_is_said_in_one_sentence() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(NotReached, match="cannot be reached: Connection refused"):
            sc.connect(f"http://127.0.0.1:{port}").datasets()
        taken.listen()
        with pytest.raises(NotReached, match="did not answer in time"):
            sc.connect(f"http://127.0.0.1:{port}", timeout=0.05).datasets()


def test_a_proxy_that_has_too_much_to_do_is_no_other_server() -> None:
    for status in (429, 503):
        with (
            recorded(Answer(status, raw=b"<h1>nginx</h1>")) as server,
            pytest.raises(Busy) as caught,
        ):
            sc.connect(server.url).datasets()
        assert caught.value.status == status


def test_errors_of_others_are_said_to_be_no_table_builder() -> None:
    for answer in (Answer(404, raw=b"<h1>nginx</h1>"), Answer(502, raw=b""), Answer(404, body=[])):
        with (
            recorded(answer) as server,
            pytest.raises(ServiceError, match="not in the words of a table builder"),
        ):
            sc.connect(server.url).datasets()


# ---------------------------------------------------------------- errors of the api


def test_a_refusal_has_reasons_and_remedies_that_can_be_asked() -> None:
    reason = {"code": "cells", "text": "Too many cells.", "variables": ["age"], "values": {"n": 1}}
    remedy = {
        "kinds": ["coarser"],
        "text": "Take age in five-year groups.",
        "question": {"of": "persons", "by": ["age@five_year"]},
        "available": 14,
        "areas": 14,
    }
    refusal = error(403, "refused", "Not published.", reasons=[reason], remedies=[remedy])
    with recorded(refusal) as server, pytest.raises(Refused) as caught:
        sc.connect(server.url).table("age")
    found = caught.value
    assert isinstance(found, TableRefused)
    assert str(found).splitlines() == [
        "Not published.",
        "- Too many cells.",
        "What would help:",
        "- Take age in five-year groups.",
    ]
    assert [reason.code for reason in found.reasons] == ["cells"]
    (help,) = found.remedies
    assert help.question is not None
    assert help.question.by == ("age@five_year",)
    assert (help.available, help.areas) == (14, 14)


def test_other_errors_have_their_place_in_the_tree() -> None:
    for answer, kind in (
        (error(400, "bad-question", "by[0]: No.", place="by[0]", at=3), QuestionError),
        (error(413, "too-large"), QuestionError),
        (error(404, "unknown-name", "There is no variable 'sexx'."), UnknownName),
        (error(403, "forbidden"), NotAllowed),
        (error(500, "internal"), ServiceError),
        (error(404, "not-found"), ServiceError),
        (error(403, "refused", reasons="none", remedies=[1, {"question": 5}]), Refused),
    ):
        with recorded(answer) as server, pytest.raises(kind) as caught:
            sc.connect(server.url).table("sex")
        assert isinstance(caught.value, sc.SdcensusError)
    with (
        recorded(error(400, "bad-question", "by[0]: No.", place="by[0]", at=3)) as server,
        pytest.raises(QuestionError, match=r"^by\[0\]: No\.$") as where,
    ):
        sc.connect(server.url).table("sex")
    assert (where.value.place, where.value.at) == ("by[0]", 3)


def test_mistakes_of_form_are_found_before_anything_is_sent() -> None:
    with recorded(Answer(body=dataset())) as server:
        connection = sc.connect(server.url)
        for wrong in (
            {"by": ["sex"] * 30},
            {"by": ["sex"], "codes": {"sex": []}},
            {"by": ["sex"], "groups": {"sex": {"": ["1"]}}},
        ):
            by = wrong.pop("by")
            with pytest.raises(QuestionError):
                connection.table(*by, **wrong)
        for name in ("", " ", ".."):
            with pytest.raises(UnknownName):
                connection.variables(name)
    assert server.requests == []


def test_names_are_parts_of_an_address_and_never_ways() -> None:
    with recorded(Answer(body={"variables": []})) as server:
        sc.connect(server.url).variables("../account?x=1#")
    assert server.requests[0].path == "/api/v1/datasets/..%2Faccount%3Fx%3D1%23/variables"


# ---------------------------------------------------------------- cache


def test_what_did_not_change_is_not_sent_again() -> None:
    marked = Answer(body={"datasets": []}, headers={"ETag": '"a1"'})
    with recorded(marked, Answer(304, headers={"ETag": '"a1"'})) as server:
        connection = sc.connect(server.url)
        assert connection.datasets() == connection.datasets()
    assert "If-None-Match" not in server.requests[0].headers
    assert server.requests[1].headers["If-None-Match"] == '"a1"'


def test_the_cache_is_bounded_and_can_be_left_out() -> None:
    marked = Answer(body={"datasets": [], "more": "x" * 1_000}, headers={"ETag": '"a1"'})
    with recorded(marked) as server:
        without, small = sc.connect(server.url, cache=0), sc.connect(server.url, cache=2_500)
        for _ in range(2):
            without.datasets()
        assert all("If-None-Match" not in request.headers for request in server.requests)
        for language in ("en", "es", "fr", "nl"):
            small.datasets(language=language)
        assert len(small._transport._cache) == 2


# ---------------------------------------------------------------- jobs


def job(status: str, progress: float = 0.0, number: int = 200) -> Answer:
    state = {"id": "a" * 32, "status": status, "progress": progress, "stage": "counting"}
    return Answer(number, {"job": {**state, "result": None, "expires": None}})


def test_a_large_table_is_waited_for() -> None:
    steps: list[tuple[str, float]] = []
    slept: list[float] = []
    answers = (
        job("waiting", number=202),
        job("running", 0.4),
        job("done", 1),
        Answer(body=dataset()),
    )
    with recorded(*answers) as server:
        found = patient(server.url, slept).table(
            "ed@parish", "sex", progress=lambda stage, done: steps.append((stage, done))
        )
    assert found.value() == 30
    assert steps == [("counting", 0.4), ("counting", 1.0)]
    assert [request.path.partition("?")[0] for request in server.requests[1:]] == [
        f"/api/v1/jobs/{'a' * 32}",
        f"/api/v1/jobs/{'a' * 32}",
        f"/api/v1/jobs/{'a' * 32}/result",
    ]


def test_a_job_that_takes_too_long_is_given_up_and_taken_back() -> None:
    slept: list[float] = []
    with (
        recorded(job("waiting", number=202), job("running", 0.1)) as server,
        pytest.raises(StillRunning, match="not ready after 0 seconds"),
    ):
        patient(server.url, slept).table("sex", wait=0)
    assert server.requests[-1].method == "DELETE"


@pytest.mark.parametrize("status", ["failed", "expired", "unheard of"])
def test_a_job_that_fails_says_so(status: str) -> None:
    with (
        recorded(job("waiting", number=202), job(status)) as server,
        pytest.raises(ServiceError, match="could not be made"),
    ):
        sc.connect(server.url).table("sex")


def test_a_job_with_a_strange_id_is_not_followed() -> None:
    strange = Answer(202, {"job": {"id": "../account", "status": "waiting"}})
    with recorded(strange) as server, pytest.raises(NotUnderstood):
        sc.connect(server.url).table("sex")


# ---------------------------------------------------------------- files


#: What a server says of its formats, one of which this package does not know.
FORMATS = Answer(
    body={
        "formats": [
            {"name": "xlsx", "media_type": "application/x-sheet", "endings": [".xlsx"]},
            {"name": "csv", "media_type": "text/csv", "endings": [".csv", ".about.json"]},
            {"name": "px", "media_type": "application/x-pc-axis", "endings": [".px"]},
            {"name": "toy", "media_type": "text/x-toy", "endings": [".toy.csv", ".toy.txt"]},
        ]
    }
)


def test_a_download_gets_its_name_when_it_is_whole(tmp_path: Path) -> None:
    whole = Answer(raw=b"PK 1234", headers={"Content-Disposition": 'attachment; filename="t.xlsx"'})
    with recorded(FORMATS, whole) as server:
        connection = sc.connect(server.url)
        assert connection.download("sex", to=tmp_path, format="xlsx") == tmp_path / "t.xlsx"
        assert connection.download("sex", to=tmp_path / "a.px").read_bytes() == b"PK 1234"
        with pytest.raises(OutputError, match="already exists"):
            connection.download("sex", to=tmp_path / "a.px")
        assert connection.download("sex", to=tmp_path / "a.px", replace=True).exists()
        with pytest.raises(OutputError, match=r"The folder .* does not exist"):
            connection.download("sex", to=tmp_path / "none" / "a.px")
    assert "format=px" in server.requests[2].path
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.px", "t.xlsx"]


def test_a_download_that_breaks_leaves_nothing(tmp_path: Path) -> None:
    broken = Answer(raw=b"PK 12", length=900)
    with recorded(FORMATS, broken) as server, pytest.raises(NotUnderstood):
        sc.connect(server.url).download("sex", to=tmp_path / "t.xlsx")
    with recorded(FORMATS, error(403, "refused")) as server, pytest.raises(Refused):
        sc.connect(server.url).download("sex", to=tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../evil.xlsx", "C:\\\\evil.xlsx", "..", ""])
def test_the_server_cannot_choose_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    header = {"Content-Disposition": f'attachment; filename="{name}"'}
    with recorded(FORMATS, Answer(raw=b"PK", headers=header)) as server:
        path = sc.connect(server.url).download("sex", to=folder, format="xlsx")
    assert path.parent == folder
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


def test_a_large_file_comes_by_a_job(tmp_path: Path) -> None:
    answers = (FORMATS, job("waiting", number=202), job("done"), Answer(raw=b"PK"))
    with recorded(*answers) as server:
        path = patient(server.url, []).download("sex", to=tmp_path / "t.xlsx")
    assert path.read_bytes() == b"PK"
    assert server.requests[-1].path.startswith(f"/api/v1/jobs/{'a' * 32}/result")


def test_formats_have_names_and_endings(tmp_path: Path) -> None:
    with recorded(FORMATS) as server:
        connection = sc.connect(server.url)
        with pytest.raises(UnknownName, match="Did you mean 'xlsx'"):
            connection.download("sex", to=tmp_path, format="xslx")
        with pytest.raises(SpecError, match=r"Say in which format.* toy, csv-zip, toy-zip"):
            connection.download("sex", to=tmp_path / "table.doc")
    assert len(server.requests) == 1


def test_the_formats_are_those_of_the_server(tmp_path: Path) -> None:
    """Also one that this package does not have; the longest ending tells it."""
    endings = {"t.csv": "csv", "t.toy.csv": "toy", "t.zip": "csv-zip", "t.toy.zip": "toy-zip"}
    for name, expected in endings.items():
        with recorded(FORMATS, Answer(raw=b"12")) as server:
            sc.connect(server.url).download("sex", to=tmp_path / name)
        assert f"format={expected}" in server.requests[1].path.split("&")
    with recorded(Answer(body={"datasets": []})) as server, pytest.raises(NotUnderstood):
        sc.connect(server.url).download("sex", to=tmp_path / "other.csv")


# ---------------------------------------------------------------- long questions


def test_a_question_too_long_for_a_link_is_sent_as_a_body() -> None:
    codes = [f"{number:05}" for number in range(2_000)]
    with recorded(Answer(body=dataset())) as server:
        sc.connect(server.url, language="es").table("ed", codes={"ed": codes})
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/api/v1/tables?lang=es")
    assert json.loads(sent.body)["codes"]["ed"] == codes
