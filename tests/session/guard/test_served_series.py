"""A table builder under a plan serves what the plan has published, or stays closed."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sdcensus.errors import Refused
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.cell_key import CellKey
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import TableService, open_service, render
from sdcensus.session.census.census import open_store
from sdcensus.session.guard.guard import read_lock
from sdcensus.testing.island import island_units
from tests.session.publish.plans import PROTECT, Office, new_office
from tests.session.publish.publications import corrected

ACCEPTED: dict[str, Any] = {"accept_risk": "Ana Ruiz", "reason": "a series that goes on"}
#: Little work, and a table that the builder can answer whole.
TABLE = """
[[table]]
name = "marital"
rows = ["married"]
columns = ["sex"]
"""


def served(office: Office, smallest: int | None = None, **asked: Any) -> TableService:
    """The table builder of an office, by its plan."""
    census = open_store(office.store)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=2),
        online=OnlineRules(recovery=0.99, smallest_group=smallest),
    )
    return open_service(census, policy, plan=office.plan, secret=office.secret, **asked)


def method(service: TableService) -> CellKey:
    found = service._methods[Entity.PERSON]
    assert isinstance(found, CellKey)
    return found


def same_numbers(service: TableService, office: Office) -> bool:
    """Whether a question has the numbers of the published table."""
    published = read_published(office.published / "marital.csv").table
    assert isinstance(published, Table)
    answer = service.answer(Question.from_json({"of": "persons", "by": ["married", "sex"]}))
    assert answer.table is not None
    return sorted(answer.table.values.reshape(-1)) == sorted(published.published.reshape(-1))


@pytest.mark.parametrize("lookup", ["hashed", "ascending"])
def test_a_series_with_set_keys_is_not_served_by_other_numbers(tmp_path: Path, lookup: str) -> None:
    named = f'{PROTECT}lookup = "{lookup}"\n'
    office = new_office(tmp_path / "office", 600, tables=TABLE, protect=named)
    office.publish(**ACCEPTED)
    # The plan of an office whose version had this default does not name it.
    office.write_plan(tables=TABLE)
    with pytest.raises(Refused, match="published with set keys") as refused:
        served(office)
    assert "publish --revision NAME --rekey" in str(refused.value)
    assert "one more look" in str(refused.value)
    # Nor by a plan that names another one, without the event.
    office.write_plan(tables=TABLE, protect=f'{PROTECT}lookup = "definition"\n')
    with pytest.raises(Refused, match="other numbers than what is published"):
        served(office)
    # Re-keyed, it is served with the numbers and the version of keys of what is out.
    office.write_plan(tables=TABLE)
    office.publish(revision="by definition", rekey=True)
    service = served(office)
    version = read_lock(office.office).key_version()
    assert (version, method(service).key_version) == (2, 2)
    assert same_numbers(service, office)
    with pytest.raises(Refused, match="key version 2, and 1 is asked for"):
        served(office, key_version=1)


def test_before_the_first_publication_nothing_binds(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office", 600, tables=TABLE)
    assert method(served(office)).key_version == 1
    assert method(served(office, key_version=3)).key_version == 3
    assert not office.office.exists()  # looking makes nothing
    office.publish()
    assert same_numbers(served(office), office)


def test_groups_that_are_not_broken_down_in_print_are_not_online(tmp_path: Path) -> None:
    office = new_office(
        tmp_path / "office", 600, tables=TABLE, protect=f"{PROTECT}smallest_group = 40\n"
    )
    office.publish()
    assert served(office)._rule.smallest == 40
    office.write_plan(tables=TABLE, protect=f"{PROTECT}smallest_group = 30\n")
    for smallest in (None, 20):
        with pytest.raises(Refused, match="smallest_group = 40, and smallest_group = 30"):
            served(office, smallest)
    office.write_plan(tables=TABLE)
    with pytest.raises(Refused, match="and no smallest group would be served"):
        served(office)
    assert served(office, 40)._rule.smallest == 40
    assert served(office, 50)._rule.smallest == 50


def test_other_records_than_published_are_not_served_beside_them(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office", 600, tables=TABLE)
    office.publish()
    units = island_units(600, seed=7)
    married = units.leaves["married"].copy()
    married[0] = 1 - np.minimum(married[0], 1)
    office.replace_store(corrected(units, married=married))
    with pytest.raises(Refused, match="other records"):
        served(office)


#: Where each format says whose numbers these are, and since when.
IDENTITY = {
    "csv": (r'"source": {[^}]*}', r'"date": "[^"]*"'),
    "json-stat": (r'"source":"[^"]*"', r'"updated":"[^"]*"'),
    "px": (r"(?m)^SOURCE.*$", r"(?m)^(?:CREATION-DATE|LAST-UPDATED).*$"),
    "sdmx-csv": (
        r'agencyID="(?!SDMX)[^"]*"',
        r'<mes:Sender id="[^"]*"',
        r"<mes:Prepared>[^<]*<",
        r'<str:Agency id="[^"]*".*?</str:Agency>',
    ),
    "xlsx": (r"Statistical Office[^<]*", r"2026-03-01"),
    "parquet": (r'"source": *{[^}]*}', r'"date": *"[^"]*"'),
}


def identity(name: str, contents: list[bytes]) -> set[str]:
    """What the files of a table say of its source and its date."""
    texts = []
    for content in contents:
        if name == "parquet":
            metadata = pq.read_schema(io.BytesIO(content)).metadata
            texts += [value.decode() for value in metadata.values()]
        elif name == "xlsx":
            with zipfile.ZipFile(io.BytesIO(content)) as book:
                texts.append(book.read("xl/sharedStrings.xml").decode())
        else:
            texts.append(content.decode())
    text = re.sub(r'": +', '":', "\n".join(texts)) if name == "json-stat" else "\n".join(texts)
    lines = [set(re.findall(pattern, text)) for pattern in IDENTITY[name]]
    assert all(lines), (name, lines)
    return {re.sub(r"\s", "", line) for each in lines for line in each}


def test_files_of_the_builder_have_the_identity_of_the_plan(tmp_path: Path) -> None:
    """The same table by plan and by question: one agency, one source, one date in every format."""
    office = new_office(
        tmp_path / "office",
        600,
        tables=TABLE,
        head='[office]\nname = { en = "Statistical Office of Aru" }\n',
        formats=list(IDENTITY),
    )
    office.publish()
    # What the command line calls the office is for the pages.
    answer = served(office, source="Another name").answer(
        Question.from_json({"of": "persons", "by": ["married", "sex"]})
    )
    for name in IDENTITY:
        published = [
            path.read_bytes()
            for path in sorted(office.published.glob("marital.*"))
            if name in format_names(path.name)
        ]
        form = f"{name}-zip" if name in ("csv", "sdmx-csv") else name
        content = render(answer, form, "en").content
        delivered = [content]
        if form != name:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                delivered = [archive.read(member) for member in archive.namelist()]
        assert identity(name, delivered) == identity(name, published), name


def format_names(file: str) -> set[str]:
    """The formats that write a file of this name."""
    endings = {
        "csv": (".csv", ".about.json"),
        "json-stat": (".json",),
        "sdmx-csv": (".sdmx.csv", ".sdmx.xml"),
        "xlsx": (".xlsx",),
        "px": (".px",),
        "parquet": (".parquet",),
    }
    return {name for name, known in endings.items() if file in {f"marital{end}" for end in known}}


def test_without_a_plan_files_name_the_office_of_the_command_and_no_date(tmp_path: Path) -> None:
    office = new_office(tmp_path / "office", 600, tables=TABLE)
    census = open_store(office.store)
    rules = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=2),
        online=OnlineRules(recovery=0.99),
    )
    for source, agency in (("", "OFFICE"), ("Bureau of Aru", "BUREAU_OF_ARU")):
        service = open_service(census, rules, secret=office.secret, source=source)
        answer = service.answer(Question.from_json({"of": "persons", "by": ["married", "sex"]}))
        content = render(answer, "sdmx-csv", "en").content.decode()
        assert f"dataflow,{agency}:DF_" in content
        assert answer.table is not None
        assert (answer.table.source.show(), answer.table.date) == (source, "")
