"""Every number of the page is that of the API and of the batch, to the last; so are all files."""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from playwright.sync_api import expect
from python_calamine import CalamineWorkbook

from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService
from sdcensus.session.policy import Outcome
from tests.web.browser.building import Batch, Builder, number, published_numbers, values_in
from tests.web.servers import PATIENCE, TABLES, Place

BY = ("ed@parish", "age@broad", "sex")
SPARSE = ("ed", "ethnicity", "age@five_year")


def reading_order(table: Table) -> np.ndarray[Any, np.dtype[Any]]:
    """The values as the page shows them: totals first, which the model has last."""
    values = published_numbers(table)
    for axis in range(values.ndim):
        values = np.roll(values, 1, axis=axis)
    return np.asarray(values)


@pytest.mark.parametrize(
    ("of", "by"),
    [
        ("persons", BY),
        ("persons", ("ed", "sex")),
        ("households", ("ed@parish", "tenure", "household_size")),
        ("dwellings", ("ed@district", "rooms")),
    ],
)
def test_the_page_shows_the_numbers_of_the_batch(
    of: str,
    by: tuple[str, ...],
    place: Place,
    batch: Batch,
    builder: Callable[..., Builder],
) -> None:
    page = builder(None).ask(*by, of=of, rows=by[0].split("@")[0])
    entity = next(one for one in Entity if one.plural == of)
    table = batch(*by, of=entity)
    shown = page.numbers()
    expected = reading_order(table)
    assert shown == expected.reshape(expected.shape[0], -1).tolist()
    answer = place.client.post(TABLES, json={"of": of, "by": list(by)}).json()
    assert values_in(answer) == published_numbers(table).reshape(-1).tolist()
    # What is not broken down has a sign, and never a number.
    signs = [text for row in page.grid() for text in row if number(text) is None]
    assert {*signs} <= {"k"}
    assert len(signs) == values_in(answer).count(None)
    assert bool(signs) is (of == "households")


def test_groups_and_conditions_are_sums_of_numbers_of_the_batch(
    service: TableService, batch: Batch, builder: Callable[..., Builder]
) -> None:
    groups = {
        "ed": [{"label": "One", "codes": ["P001", "P003"]}, {"label": "Two", "codes": ["P005"]}]
    }
    codes = [code.code for code in service.census.schema.variable("age").level("broad").codes]
    page = builder(None).ask(
        "ed@parish",
        "sex",
        where=f"age@broad in ('{codes[0]}', '{codes[1]}')",
        groups=json.dumps(groups),
    )
    table = batch("ed@parish", "sex", "age@broad").published
    part = table[:, :, :2].sum(axis=2)
    expected = np.stack([part[5], part[0] + part[2], part[4]])[:, [2, 0, 1]]
    assert page.numbers() == expected.tolist()


#: The heading and the numbers of the last row in sight, read at one moment.
LAST_ROW = """() => {
    const row = [...document.querySelectorAll("#result .r-table tbody tr:has(th)")].at(-1);
    const cells = [...row.querySelectorAll("td:not(.r-gap)")].map(cell => cell.innerText);
    return [row.querySelector("th").innerText, cells];
}"""


def test_large_tables_show_the_numbers_of_the_part_in_sight(
    service: TableService, batch: Batch, builder: Callable[..., Builder]
) -> None:
    page = builder(None).ask(*SPARSE)
    answer = service.answer(Question(of="persons", by=SPARSE))
    assert answer.verdict.outcome is Outcome.WITHHELD
    published = published_numbers(batch(*SPARSE))
    box = page.page.locator("#result .r-scroll")
    box.evaluate("one => one.scrollTo(one.scrollWidth, one.scrollHeight)")
    expect(page.page.locator("#result .r-table tbody")).to_contain_text("0050006")
    codes = [code.code for code in service.census.schema.variable("ed").codes]

    def agrees() -> bool:
        """Whether the last row in sight has its numbers; the page draws it while it is scrolled."""
        heading, columns = page.page.evaluate(LAST_ROW)
        at = next(place for place, code in enumerate(codes) if code in heading)
        wanted = np.roll(np.roll(published[at], 1, axis=0), 1, axis=1).reshape(-1)
        assert None in wanted
        shown = [number(column.split("\n")[0]) for column in columns]
        return len(shown) > 3 and shown == wanted[-len(shown) :].tolist()

    end = time.monotonic() + PATIENCE
    while not agrees() and time.monotonic() < end:
        page.page.wait_for_timeout(50)
    assert agrees()


def test_every_file_has_the_numbers_of_the_batch_and_notes(
    place: Place, batch: Batch, builder: Callable[..., Builder], tmp_path: Path
) -> None:
    page = builder(None).ask(*BY)
    table = batch(*BY)
    values = table.published
    files = {}
    page.control("download").click()
    for name in ("xlsx", "csv-zip", "json-stat", "sdmx-csv-zip", "px", "parquet"):
        with page.page.expect_download() as caught:
            page.page.locator(f"a[data-format='{name}']").click()
        expect(page.page.locator(".r-download-state")).to_contain_text(
            caught.value.suggested_filename
        )
        files[name] = tmp_path / caught.value.suggested_filename.replace("/", "")
        caught.value.save_as(files[name])
        direct = place.client.get(
            TABLES,
            params=[
                ("of", "persons"),
                *(("by", one) for one in BY),
                ("format", name),
                ("lang", "en"),
            ],
        )
        assert direct.status_code == 200
        if not name.endswith("zip") and name != "xlsx":
            assert files[name].read_bytes() == direct.content
    assert json.loads(files["json-stat"].read_bytes())["value"] == values.reshape(-1).tolist()
    assert json.loads(files["json-stat"].read_bytes())["note"]
    check_workbook(files["xlsx"], values)
    check_csv(files["csv-zip"], table)
    check_sdmx(files["sdmx-csv-zip"], table)
    check_px(files["px"], values)
    stored = pq.read_table(files["parquet"])
    assert stored.column("published").to_pylist() == values.reshape(-1).tolist()
    assert any("protected" in str(one) for one in (stored.schema.metadata or {}).values())


def check_workbook(path: Path, values: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    book = CalamineWorkbook.from_path(str(path))
    found, texts = [], []
    for name in book.sheet_names:
        for row in book.get_sheet_by_name(name).to_python():
            found += [
                int(one)
                for one in row
                if isinstance(one, int | float) and not isinstance(one, bool)
            ]
            texts += [one for one in row if isinstance(one, str)]
    assert sorted(found) == sorted(values.reshape(-1).tolist())
    assert any("protected" in text for text in texts)


def check_csv(path: Path, table: Table) -> None:
    with zipfile.ZipFile(path) as packed:
        name = next(one for one in packed.namelist() if one.endswith(".csv"))
        lines = list(csv.DictReader(io.StringIO(packed.read(name).decode("utf-8-sig"))))
        rest = [one for one in packed.namelist() if one != name]
        assert any(b"protected" in packed.read(one) for one in rest)
    column = "published" if "published" in lines[0] else list(lines[0])[-1]
    assert [int(line[column]) for line in lines] == table.published.reshape(-1).tolist()


def check_sdmx(path: Path, table: Table) -> None:
    with zipfile.ZipFile(path) as packed:
        name = next(one for one in packed.namelist() if one.endswith(".csv"))
        lines = list(csv.DictReader(io.StringIO(packed.read(name).decode("utf-8-sig"))))
        assert len(packed.namelist()) > 1
    assert [int(line["OBS_VALUE"]) for line in lines] == table.published.reshape(-1).tolist()


def check_px(path: Path, values: np.ndarray[Any, np.dtype[np.int64]]) -> None:
    text = path.read_text(encoding="utf-8")
    data = re.search(r"\bDATA=(.*);", text, re.DOTALL)
    assert data is not None
    assert sorted(map(int, data.group(1).split())) == sorted(values.reshape(-1).tolist())
    assert "protected" in text


#: Everything that a page says, to eyes and to screen readers; drawings have numbers of their own.
SAID = """() => {
  const copy = document.body.cloneNode(true);
  copy.querySelectorAll("svg, script, #texts").forEach(one => one.remove());
  const names = ["title", "aria-label", "aria-valuetext", "aria-valuenow", "value", "alt"];
  const told = [...document.querySelectorAll("*")]
    .flatMap(one => names.map(name => one.getAttribute(name)));
  const drawn = [...document.querySelectorAll("svg text, svg title")].map(one => one.textContent);
  const cells = [...copy.querySelectorAll("td, th, p, li, span, b, option")]
    .map(one => one.textContent);
  return [copy.textContent, ...told, ...drawn, ...cells].filter(Boolean);
}"""


def test_no_true_count_is_anywhere_on_the_page(
    place: Place, service: TableService, batch: Batch, builder: Callable[..., Builder]
) -> None:
    """Counts that no published number happens to be, whatever the secret: not one is read."""
    by = ("ed@parish", "age@five_year", "sex")
    spec = TableSpec.build(service.census.schema, by, of=Entity.PERSON)
    cube = service.census.tabulate(spec)
    assert isinstance(cube, Cube)
    published = batch(*by).published
    told = place.client.post(TABLES, json={"of": "persons", "by": list(by)}).json()
    about = told["extension"]["sdcensus"]
    words = json.dumps([told["label"], told["note"], told["dimension"], about["cells"]])
    words += json.dumps([about["limit"], about["example"]])
    words += place.client.get("/", headers={"Accept-Language": "en"}).text  # such as a year
    known = {int(one.replace(",", "")) for one in re.findall(r"\d{1,3}(?:,\d{3})+|\d+", words)}
    known |= set(published.reshape(-1).tolist())
    # Smaller ones are ages and sizes of lists, round ones stand along axes of charts.
    secret = {one for one in set(cube.count.reshape(-1).tolist()) if one > 130 and one % 10} - known
    assert secret
    page = builder(None).ask(*by, rows="age,sex", columns="ed")
    numbers = numbers_of(page)
    assert set(published[published > 130].tolist()) <= numbers  # so it would see them
    for tab in ("chart", "map"):
        page.control(f"tab-{tab}").click()
        expect(page.page.locator(".r-drawing svg path").first).to_be_attached()
        numbers |= numbers_of(page)
    assert sorted(secret & numbers) == []


def numbers_of(page: Builder) -> set[int]:
    said = "\n".join(page.page.evaluate(SAID))
    return {
        int(one.replace(",", "")) for one in re.findall(r"(?<![\w.:,-])\d[\d,]*(?![\w.-])", said)
    }
