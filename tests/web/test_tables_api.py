from __future__ import annotations

import gzip
import io
import zipfile
from typing import Any

import numpy as np
import orjson
import pyarrow.parquet as pq
import pytest

from sdcensus.model.spec.question import Question
from sdcensus.model.text import LANGUAGES
from sdcensus.session.answer import form_names
from sdcensus.web.api.site import accepted
from tests.session.answer.services import published
from tests.web.servers import QUESTION, TABLES, Place, check_error, check_headers

LINK = f"{TABLES}?of=persons&by=area&by=sex"
SDMX = "application/vnd.sdmx.data+csv; version=2.0.0"
#: Two groups of one name.
ALIKE = [{"label": "a", "codes": [code]} for code in ("1", "2")]


def test_post_and_link_give_the_same_table_and_it_is_that_of_the_batch(place: Place) -> None:
    posted = place.client.post(TABLES, json=QUESTION)
    linked = place.client.get(LINK)
    assert posted.status_code == linked.status_code == 200
    assert posted.content == linked.content
    check_headers(linked)
    table = published(place.site.service, "area", "sex")
    assert linked.json()["value"] == table.published.reshape(-1).tolist()


def test_a_table_tells_everything_about_itself(place: Place) -> None:
    about = place.client.post(TABLES, json=QUESTION).json()["extension"]["sdcensus"]
    assert set(about) == {
        *("question", "link", "hash", "cells", "limit", "variables", "most_variables"),
        *("outcome", "areas", "withheld", "reasons", "remedies", "parts", "weak"),
        *("none_below", "example", "own_groups", "versions", "formats"),
    }
    assert about["question"] == QUESTION
    assert (about["cells"], about["variables"], about["outcome"]) == (24, 2, "allowed")
    assert about["areas"] == {"all": 7, "available": 7}
    assert "secret" not in orjson.dumps(about["versions"]).decode()
    assert place.client.get(about["link"]).json()["value"]


def test_links_of_strange_questions_lead_back_to_them(place: Place) -> None:
    asked = {
        "of": "persons",
        "by": ["area@district+parish", "age@class-total"],
        "where": "sex == 0 and not married == 1",
        "groups": {"area": [{"label": "Ñandú & + =;,", "codes": ["D0", "D1"]}]},
    }
    posted = place.client.post(TABLES, json=asked)
    assert posted.status_code == 200, posted.text
    about = posted.json()["extension"]["sdcensus"]
    assert Question.from_json(about["question"]) == Question.from_json(asked)
    assert place.client.get(about["link"]).content == posted.content
    assert about["own_groups"]["area"][0]["label"] == "Ñandú & + =;,"
    assert max(about["parts"]) > 1


def test_sums_that_shares_cannot_rest_on_are_those_of_figures(place: Place) -> None:
    """Four single ages of few people are a sum above 10, most of which comes from counts below."""
    groups = {"age": [{"label": "own", "codes": ["0", "4", "7", "9"]}]}
    asked = {"of": "persons", "by": ["area", "sex", "age", "married"], "groups": groups}
    told = place.client.post(TABLES, json=asked).json()
    answer = place.site.service.answer(Question.from_json(asked))
    assert answer.table is not None
    support = answer.table.support
    assert support is not None
    values, parts, small = (
        array.ravel() for array in (answer.table.values, support.parts, support.small)
    )
    weak = (values < 10) | (values**2 < 100 * parts) | (2 * small >= values)
    assert told["extension"]["sdcensus"]["weak"] == np.flatnonzero(weak).tolist()
    # Some are weak for their parts alone.
    assert (weak & (values**2 >= 100 * parts)).any()


@pytest.mark.parametrize("name", form_names())
def test_every_form_can_be_downloaded_under_a_name(place: Place, name: str) -> None:
    answer = place.client.get(LINK, params={"of": "persons", "by": "area", "format": name})
    if name in ("gpkg", "geoparquet"):
        # There is no map of the areas of this census: the message says what there is.
        error = check_error(answer, 406, "unsupported")
        assert "xlsx" in error["message"]
        assert name not in error["message"]
        return
    assert answer.status_code == 200
    check_headers(answer)
    assert answer.headers["content-language"] == "en"
    # JSON can be looked at in a browser; it has a name all the same.
    kind = "inline" if name == "json-stat" else "attachment"
    said = answer.headers["content-disposition"]
    assert said.startswith(f'{kind}; filename="persons-area')
    endings = {"json-stat": ".json", "csv": ".csv", "px": ".px"}
    assert said.endswith(f'{endings.get(name, "")}"')
    if name.endswith("-zip"):
        assert len(zipfile.ZipFile(io.BytesIO(answer.content)).namelist()) > 1
    if name == "parquet":
        numbers = pq.read_table(io.BytesIO(answer.content)).column("published").to_pylist()
        expected = published(place.site.service, "area").published.reshape(-1).tolist()
        assert numbers == expected


@pytest.mark.parametrize(
    ("header", "form"),
    [
        ("", "json-stat"),
        ("*/*", "json-stat"),
        ("application/json", "json-stat"),
        ("text/csv", "csv"),
        ("text/*", "csv"),
        ("text/csv;q=0.5, application/vnd.apache.parquet", "parquet"),
        ("application/vnd.sdmx.data+csv", "sdmx-csv"),
        ("application/vnd.sdmx.data+csv; version=2.0.0; labels=id", "sdmx-csv"),
        ('application/vnd.sdmx.data+csv;version="2.0"', "sdmx-csv"),
        # What the server itself once said.
        ("application/vnd.sdmx.data+csv;version=1.0", "sdmx-csv"),
        # Who reads SDMX-CSV 1.0 only, gets what it prefers next.
        ("application/vnd.sdmx.data+csv;version=1.0.0", None),
        ("application/vnd.sdmx.data+csv;version=1.0.0, text/csv;q=0.5", "csv"),
        ("application/vnd.sdmx.data+csv;version=2.0.0;q=0, application/*;q=0.1", "json-stat"),
        ("text/csv;version=7", "csv"),
        ("text/html, image/png;q=0.9", None),
        ("text/csv;q=0", None),
        ("text/csv;q=nonsense", None),
        (",;=,", None),
    ],
)
def test_accept_chooses_the_form(header: str, form: str | None) -> None:
    assert accepted(header) == form


def test_sdmx_is_called_by_the_version_that_it_has(place: Place) -> None:
    """SDMX-CSV 2.0: lines begin with STRUCTURE, and not with DATAFLOW as those of 1.0."""
    for more, accept in (("&format=sdmx-csv", "*/*"), ("", SDMX)):
        answer = place.client.get(f"{LINK}{more}", headers={"accept": accept})
        assert answer.headers["content-type"] == f"{SDMX}; charset=utf-8"
        assert answer.text.startswith("STRUCTURE,STRUCTURE_ID,ACTION,")
    formats = place.client.get("/api/v1/datasets").json()["formats"]
    assert SDMX.replace(" ", "") in {each["media_type"] for each in formats}
    document = place.client.get("/api/v1/openapi.json").json()
    content = document["paths"]["/tables"]["get"]["responses"]["200"]["content"]
    assert SDMX.replace(" ", "") in content


def test_a_form_that_does_not_exist_is_406(place: Place) -> None:
    error = check_error(place.client.get(f"{LINK}&format=doc"), 406, "unsupported")
    assert error["place"] == "format"
    image = {"accept": "image/png"}
    check_error(place.client.get(LINK, headers=image), 406, "unsupported")
    check_error(place.client.post(TABLES, json=QUESTION, headers=image), 406, "unsupported")


def test_known_content_is_not_sent_again(place: Place) -> None:
    plain = {"accept-encoding": "identity"}
    first = place.client.get(LINK, headers=plain)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    assert not tag.startswith("W/")
    for known in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = place.client.get(LINK, headers={**plain, "if-none-match": known})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert place.client.get(LINK, headers={"if-none-match": '"other"'}).status_code == 200
    packed = place.client.get(LINK, headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["etag"] != tag
    assert packed.content == first.content


def test_forms_languages_and_questions_have_tags_of_their_own(place: Place) -> None:
    tags = {
        place.client.get(f"{TABLES}?by={by}&lang={lang}&format={form}").headers["etag"]
        for by in ("area", "sex")
        for lang in LANGUAGES
        for form in ("json-stat", "xlsx")
    }
    assert len(tags) == 4 * len(LANGUAGES)


def test_anonymous_tables_may_be_kept_by_anybody_and_those_of_accounts_not(place: Place) -> None:
    anonymous = place.somebody().get(LINK)
    assert anonymous.headers["cache-control"].startswith("public, max-age=")
    for name in ("accept", "accept-encoding", "accept-language", "authorization", "cookie"):
        assert name in anonymous.headers["vary"].lower().split(", ")
    assert anonymous.headers["access-control-allow-origin"] == "*"
    assert 'rel="describedby"' in anonymous.headers["link"]
    known = place.somebody(**place.token("cachedana")).get(LINK)
    assert known.status_code == 200
    assert known.headers["cache-control"].startswith("private")
    assert known.json()["value"] == anonymous.json()["value"]


def test_the_language_is_that_of_the_link_then_of_the_browser(place: Place) -> None:
    client = place.somebody()
    spanish = client.get(LINK, headers={"accept-language": "es-AR, en;q=0.5"})
    assert spanish.headers["content-language"] == "es"
    french = client.get(f"{LINK}&lang=fr", headers={"accept-language": "es"})
    assert french.headers["content-language"] == "fr"
    assert spanish.json()["note"] != french.json()["note"]
    # The same link, asked again without a preference, is not answered in somebody else's language.
    assert client.get(LINK).headers["content-language"] == "en"
    check_error(client.get(f"{LINK}&lang=xx"), 400, "bad-question")


def test_a_check_counts_nothing_and_says_how_large_the_table_is(place: Place) -> None:
    found = place.client.post(f"{TABLES}/check", json=QUESTION).json()
    assert (found["cells"], found["limit"], found["variables"]) == (24, 100_000, 2)
    assert (found["outcome"], found["reasons"], found["remedies"]) == ("allowed", [], [])


@pytest.mark.parametrize(
    ("question", "status", "code", "spot"),
    [
        ({"by": ["nope"]}, 404, "unknown-name", "by[0]"),
        ({"by": ["area", "age@nope"]}, 404, "unknown-name", "by[1]"),
        ({"by": ["area", "area"]}, 400, "bad-question", "by"),
        ({"by": "area"}, 400, "bad-question", "by"),
        ({"by": ["area"], "where": "sex =="}, 400, "bad-question", "where"),
        ({"by": ["area"], "codes": {"sex": ["0"]}}, 404, "unknown-name", "codes.sex"),
        ({"by": ["area"], "codes": {"area": ["nope"]}}, 404, "unknown-name", "codes.area[0]"),
        ({"by": ["area"], "groups": {"x": ALIKE}}, 404, "unknown-name", "groups.x"),
        ({"by": ["area"], "groups": {"area": ALIKE}}, 400, "bad-question", "groups.area"),
        ({"more": 1}, 400, "bad-question", "more"),
        ([], 400, "bad-question", None),
        ("text", 400, "bad-question", None),
        (None, 400, "bad-question", None),
    ],
)
def test_nonsense_is_told_with_its_place(
    place: Place, question: Any, status: int, code: str, spot: str | None
) -> None:
    for path in (TABLES, f"{TABLES}/check"):
        answer = place.client.post(path, content=orjson.dumps(question), headers=JSON_TYPE)
        assert check_error(answer, status, code)["place"] == spot


def test_a_link_may_say_that_there_is_no_axis(place: Place) -> None:
    for link, same in (("by=", "of=persons"), ("by=&by=sex", "by=sex")):
        found, other = (place.client.get(f"{TABLES}?{one}") for one in (link, same))
        assert (found.status_code, found.content) == (200, other.content)
    for link in ("by=&by=", "by=%20", "by=sex,", "by=,"):
        check_error(place.client.get(f"{TABLES}?{link}"), 400, "bad-question")


JSON_TYPE = {"content-type": "application/json"}


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b'{"by":["\\ud800"]}', b"[" * 100_000, b"nan", b'{"a":1}{']
)
def test_malformed_bodies_are_400(place: Place, body: bytes) -> None:
    answer = place.client.post(TABLES, content=body, headers=JSON_TYPE)
    check_error(answer, 400, "bad-question")


def test_bodies_of_another_type_are_415(place: Place) -> None:
    body = orjson.dumps(QUESTION)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "application/jsonx"):
        answer = place.client.post(TABLES, content=body, headers={"content-type": kind})
        check_error(answer, 415, "unsupported")
    spaced = {"content-type": "application/json; charset=utf-8"}
    assert place.client.post(TABLES, content=body, headers=spaced).status_code == 200


def test_parameters_that_mean_nothing_are_mistakes(place: Place) -> None:
    for link in (f"{LINK}&colour=red", f"{LINK}&of=persons", f"{TABLES}?by=area&codes=%7B"):
        check_error(place.client.get(link), 400, "bad-question")
    check_error(place.client.post(f"{TABLES}?of=persons", json=QUESTION), 400, "bad-question")


def test_errors_are_in_the_language_of_the_reader(place: Place) -> None:
    said = {
        check_error(place.client.get(f"/api/v1/nothing?lang={one}"), 404, "not-found")["message"]
        for one in LANGUAGES
    }
    assert len(said) == len(LANGUAGES)


def test_packed_answers_unpack_to_the_plain_ones(place: Place) -> None:
    with place.client.stream("GET", LINK, headers={"accept-encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    plain = place.client.get(LINK, headers={"accept-encoding": "identity"}).content
    assert gzip.decompress(raw) == plain


def test_head_is_get_without_a_body(place: Place) -> None:
    got = place.client.get(LINK, headers={"accept-encoding": "identity"})
    head = place.client.head(LINK, headers={"accept-encoding": "identity"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(got.content))
    assert head.headers["etag"] == got.headers["etag"]


def test_every_question_is_in_the_audit(place: Place) -> None:
    before = {one.sequence for one in place.audit()}
    place.client.get(LINK)
    place.client.get(LINK)
    place.client.get(f"{TABLES}?by=nope")
    place.client.post(TABLES, content=b"{", headers=JSON_TYPE)
    place.client.get(f"{TABLES}?by=sex&format=csv")
    new = [one for one in place.audit() if one.sequence not in before]
    found = sorted((one.action, one.outcome, one.reason) for one in new)
    assert found == [
        ("download", "allowed", ""),
        ("table", "allowed", ""),
        ("table", "allowed", ""),
        ("table", "failed", "bad-question"),
        ("table", "failed", "unknown-name"),
    ]
    assert all(one.who.startswith("~") and "127.0.0.1" not in one.who for one in new)
