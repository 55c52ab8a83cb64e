"""Files that readers save: whose numbers they are, of when, and where they come from."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect

from sdcensus.session.answer import TableService, form_names
from tests.web.browser.building import Builder
from tests.web.servers import TABLES, Place

BY = ("ed@parish", "sex")
CHOSEN = {"ed": ["P002"]}


def told_in(name: str, content: bytes) -> str:
    """Everything that a file says, packed or not."""
    if name == "gpkg":
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(content)
            query = "SELECT identifier, description, last_change FROM gpkg_contents"
            return "\n".join(database.execute(query).fetchone())
    if name in ("parquet", "geoparquet"):
        metadata = pq.read_schema(io.BytesIO(content)).metadata
        return "\n".join(value.decode() for value in metadata.values())
    if content[:2] != b"PK":
        return content.decode()
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return "\n".join(packed.read(one).decode() for one in packed.namelist())


@pytest.mark.parametrize("language", ["en", "es"])
def test_a_file_says_whose_numbers_it_holds_and_of_when(
    language: str, service: TableService, tmp_path: Path, builder: Callable[..., Builder]
) -> None:
    census = service.census.schema.census
    assert census.country
    assert census.reference_date
    page = builder(None).ask(*BY, codes=json.dumps(CHOSEN), lang=language)
    address = page.page.url.partition("&rows")[0]
    page.control("download").click()
    for link in page.page.locator(".r-formats a").all():
        name = str(link.get_attribute("data-format"))
        with page.page.expect_download() as caught:
            link.click()
        saved = caught.value.suggested_filename
        assert saved.startswith("persons-ed_parish-sex."), name
        caught.value.save_as(tmp_path / saved)
        content = (tmp_path / saved).read_bytes()
        said = told_in(name.removesuffix("-zip"), content)
        for fact in (census.country, census.reference_date, service.source.show(language)):
            assert fact in said, (name, fact)
        assert str(service.catalogue.census.name) in said or name in ("parquet", "geoparquet")
        found = re.search(r"http://127\.0\.0\.1:\d+/\?of=persons[^\s\"<]*", said)
        assert found is not None, name
        # The link shows this table again, with what was chosen of it.
        parts = urlsplit(found[0].replace("&amp;", "&").rstrip("\\"))
        assert parts.netloc == urlsplit(address).netloc
        assert not re.search(r"\b(1970|2000)-\d\d-\d\d", said), name
        assert not re.search(r"\b(1970|2000)(0101|\d{4} \d\d:)", said), name
        check_times(content, service.date, name)
        again = builder(None).open(f"{parts.path}?{parts.query}&lang={language}")
        assert again.question["by"] == list(BY)
        assert json.loads(again.question["codes"]) == CHOSEN


def check_times(content: bytes, day: str, name: str) -> None:
    """Times of packed files are those of the publication, or none."""
    if content[:2] != b"PK":
        return
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        for entry in packed.infolist():
            said = "{:04}-{:02}-{:02}".format(*entry.date_time[:3])
            assert said in ((day,) if name.endswith("-zip") else (day, "1980-01-01"))
        if "docProps/core.xml" in packed.namelist():
            assert f">{day}T00:00:00Z<" in packed.read("docProps/core.xml").decode()


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_page_says_of_which_census_it_is(
    language: str, service: TableService, builder: Callable[..., Builder]
) -> None:
    census = service.census.schema.census
    page = builder(None).ask(*BY, lang=language)
    notes = page.page.locator("#result-notes")
    expect(notes).to_contain_text(census.country)
    expect(notes).to_contain_text(service.source.show(language))
    day = page.page.evaluate(
        "([day, language]) => new Intl.DateTimeFormat(language, {dateStyle: 'long',"
        " timeZone: 'UTC'}).format(new Date(`${day}T00:00:00Z`))",
        [census.reference_date, language],
    )
    expect(notes).to_contain_text(page.says("result.notes.reference_date", date=day))


@pytest.mark.parametrize("language", ["en", "es", "fr", "nl", "pt"])
def test_the_menu_says_where_files_are_not_the_page(
    language: str, place: Place, builder: Callable[..., Builder]
) -> None:
    """Files hold what is published: no percentages, no arrangement, whatever the page shows."""
    page = builder(None).ask(*BY, show="row", rows="sex", columns="ed", lang=language)
    page.control("download").click()
    lead = page.page.locator(".r-menu .r-lead, [role=dialog] .r-lead, #result .r-lead").first
    for key in ("no_percentages", "no_arrangement"):
        expect(lead).to_contain_text(page.says(f"result.download.{key}"))
    # Only what the table can be had as.
    links = page.page.locator(".r-formats a")
    offered = {str(link.get_attribute("data-format")).removesuffix("-zip") for link in links.all()}
    document = place.client.get(f"{TABLES}?of=persons&by=ed@parish&by=sex").json()
    formats = document["extension"]["sdcensus"]["formats"]
    assert offered == {name.removesuffix("-zip") for name in formats}
    assert "gpkg" in offered
    page.ask("marital_status", "sex", lang=language)
    page.control("download").click()
    assert page.page.locator(".r-formats a[data-format=gpkg]").count() == 0
    assert page.page.locator(".r-formats a[data-format=csv-zip]").count() == 1


def test_every_form_has_a_name_that_says_what_it_is(place: Place) -> None:
    for name in form_names():
        answer = place.client.get(f"{TABLES}?of=persons&by=ed@parish&by=sex&format={name}")
        said = answer.headers["content-disposition"]
        assert re.search(r'filename="persons-ed_parish-sex\.[\w.-]+"$', said), (name, said)


def test_what_stands_beside_a_csv_has_its_own_codes_only(place: Place) -> None:
    """Not those of finer levels, and not those that were not chosen."""
    every = {code.code for code in place.site.service.census.schema.variable("ed").codes}

    def codes_beside(**more: Any) -> set[str]:
        parameters = {"of": "persons", "by": "ed@parish", "format": "csv-zip", **more}
        content = place.client.get(TABLES, params=parameters).content
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            beside = next(one for one in packed.namelist() if one.endswith(".about.json"))
            text = packed.read(beside).decode()
        assert not [code for code in every if f'"{code}"' in text]
        (axis,) = json.loads(text)["axes"]
        return {code["code"] for code in axis["codes"]}

    assert codes_beside() == {"P001", "P002", "P003", "P004", "P005", "_T"}
    assert codes_beside(codes=json.dumps(CHOSEN)) == {"P002", "_T"}
    assert codes_beside(where="ed@district == 'D02'") == {"P004", "P005", "_T"}


def test_figures_of_a_program_have_their_own_link(place: Place) -> None:
    program = "TABLE men AS SEX-RATIO BY person.age@broad PER 1000\n"
    (told,) = place.client.post("/api/v1/commands", json={"program": program}).json()["tables"]
    document = place.client.get(told["result"]).json()
    assert document["href"].endswith(told["result"])
    assert document["extension"]["census"]["link"] == document["href"]
    assert place.client.get(document["href"]).json()["value"] == document["value"]
