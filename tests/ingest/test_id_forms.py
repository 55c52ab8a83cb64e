"""One id written in several ways: links compare in the declared form, and nothing is merged."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import DataProblems, DocumentError
from sdcensus.ingest.id_parts import LinkMatches
from sdcensus.ingest.load import LoadReport, load_census
from sdcensus.model.schema.file_problems import OnProblem, ProblemKind
from sdcensus.model.schema.id_forms import LinkRule, plain_id
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.load.blocks import Words
from sdcensus.report.load.link_rules import link_line
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.conformance import same_cubes

SECRET = Secret(bytes(range(32)))

SCHEMA = """\
[census]
name = "Test census"
code = "TT"

[files.person]
path = "persons.{ending}"
entity = "person"

[files.household]
path = "households.{ending}"
entity = "household"

[entity.person]
id = ["home", "no"]
{person}
within = "household"
link = ["home"]

[entity.household]
id = ["hh"]
{household}

[variable.sex]
file = "person"
codes = {{ 1 = "Male", 2 = "Female" }}

[variable.tenure]
file = "household"
codes = {{ 1 = "Owned", 2 = "Rented" }}
empty = "not_stated"
"""


def write_census(
    folder: Path,
    homes: list[Any],
    links: list[Any],
    *,
    household: str = "",
    person: str = "",
    ending: str = "csv",
) -> Schema:
    folder.mkdir(parents=True, exist_ok=True)
    persons = {
        "home": links,
        "no": [str(at) for at in range(len(links))],
        "sex": ["1"] * len(links),
    }
    households = {"hh": homes, "tenure": [str(1 + at % 2) for at in range(len(homes))]}
    for name, columns in (("persons", persons), ("households", households)):
        if ending == "parquet":
            pq.write_table(pa.table(columns), folder / f"{name}.parquet")
            continue
        rows = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
        (folder / f"{name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    text = SCHEMA.format(ending=ending, household=household, person=person)
    (folder / "schema.toml").write_text(text, encoding="utf-8")
    return read_schema(folder / "schema.toml")


def loaded(schema: Schema, folder: Path, on_problem: OnProblem = OnProblem.MISSING) -> LoadReport:
    return load_census(schema, folder / "store", secret=SECRET, on_problem=on_problem)


def household_keys(report: LoadReport) -> list[int]:
    keys = CensusStore.open(report.store).record_keys(Entity.HOUSEHOLD)
    return sorted(int(key) for key in keys)


def link_of(report: LoadReport) -> LinkMatches:
    (link,) = report.links
    return link


def agree(report: LoadReport, schema: Schema, *, on_problem: str = "missing") -> bool:
    """Whether raw files give the cubes of the store, keys and all."""
    store = CensusStore.open(report.store)
    files = DuckdbEngine.over_files(schema, SECRET, on_problem=on_problem)
    return all(
        same_cubes(
            MemoryEngine(store).tabulate(Tabulate(spec=TableSpec.build(store.schema, by, of=of))),
            files.tabulate(Tabulate(spec=TableSpec.build(store.schema, by, of=of))),
        )
        for by, of in ((["sex", "tenure"], Entity.PERSON), (["tenure"], Entity.HOUSEHOLD))
    )


# One number, written in the ways that files write it; or a text that is no number.
@st.composite
def written(draw: st.DrawFn) -> str:
    number = draw(st.integers(0, 30))
    zeros = draw(st.sampled_from(["", "0", "00", "000"]))
    text = f"{zeros}{number}{draw(st.sampled_from(['', '', '', '.0', '.00']))}"
    letter = draw(st.sampled_from(["", "", "", "", "a", "A"]))
    blanks = draw(st.sampled_from(["", "", " "]))
    return f"{blanks}{letter}{text}{blanks}"


@given(
    homes=st.lists(written(), min_size=1, max_size=8),
    links=st.lists(written(), min_size=1, max_size=12),
    width=st.sampled_from([0, 6]),
    any_case=st.booleans(),
)
def test_links_match_as_plain_python_says_and_nothing_is_merged(
    tmp_path_factory: pytest.TempPathFactory,
    homes: list[str],
    links: list[str],
    width: int,
    any_case: bool,
) -> None:
    folder = tmp_path_factory.mktemp("ids")
    form = f"id_width = {width}\nid_any_case = {str(any_case).lower()}"
    schema = write_census(folder, homes, links, household=form)
    plain = [plain_id(home, width, any_case=any_case) for home in homes]
    if len(set(plain)) < len(plain):
        with pytest.raises(DataProblems) as refusal:
            loaded(schema, folder)
        files = DuckdbEngine.over_files(schema, SECRET, on_problem="missing")
        with pytest.raises(DataProblems) as also:
            files.tabulate(Tabulate(spec=TableSpec.build(schema, ["tenure"], of=Entity.HOUSEHOLD)))
        for kind in (ProblemKind.SAME_ID, ProblemKind.DUPLICATE_ID):
            said = [line for line in str(refusal.value).splitlines() if kind.value in line]
            assert said == [line for line in str(also.value).splitlines() if kind.value in line]
        first_text: dict[str, str] = {}
        respelt = any(
            first_text.setdefault(compared, home.strip()) != home.strip()
            for compared, home in zip(plain, homes, strict=True)
        )
        assert (ProblemKind.SAME_ID.value in str(refusal.value)) == respelt
        return
    report = loaded(schema, folder)
    assert report.rows[Entity.HOUSEHOLD] == len(homes)
    expected: Counter[LinkRule | None] = Counter()
    for link in links:
        compared = plain_id(link, width, any_case=any_case)
        if compared not in plain:
            expected[None] += 1
            continue
        home = homes[plain.index(compared)].strip()
        if home == link.strip():
            expected[LinkRule.AS_WRITTEN] += 1
        elif plain_id(home, width) != plain_id(link, width):
            expected[LinkRule.LETTERS] += 1
        elif home.split(".")[0] == link.strip().split(".")[0]:
            expected[LinkRule.WHOLE] += 1
        else:
            expected[LinkRule.ZEROS] += 1
    matches = link_of(report)
    assert {rule: count for rule, count in matches.matches if count} == {
        rule: count for rule, count in expected.items() if rule is not None
    }
    assert (matches.unmatched, matches.unnamed) == (expected[None], 0)
    named = {plain_id(link, width, any_case=any_case) for link in links}
    assert matches.alone == len([home for home in plain if home not in named])
    assert agree(report, schema)


def test_a_number_in_one_file_is_a_text_with_zeros_in_the_other(tmp_path: Path) -> None:
    texts = ["0000000007", "0000000012", "0012345678"]
    kinds: list[list[Any]] = [[7, 12, 12, 99], [7.0, 12.0, 12.0, 99.0]]
    for at, numbers in enumerate(kinds):
        folder = tmp_path / str(at)
        schema = write_census(
            folder,
            texts,
            numbers,
            household="id_width = 10",
            person="id_width = [10, 0]",
            ending="parquet",
        )
        report = loaded(schema, folder)
        assert link_line(link_of(report), Words("en")) == (
            "Households of persons: 0 match as written, 3 after filling with zeros to 10 digits,"
            " 1 do not match"
        )
        assert link_of(report).alone == 1
        assert "12" not in repr(report.links)
        assert agree(report, schema)
        # The form is that of the file of households, so their keys are what they were.
        plain = write_census(folder / "plain", texts, ["0000000007"], ending="parquet")
        before = loaded(plain, folder / "plain")
        keys = [
            CensusStore.open(one.store).record_keys(Entity.HOUSEHOLD) for one in (report, before)
        ]
        assert sorted(keys[0].tolist()) == sorted(keys[1].tolist())


def test_both_rows_of_an_id_in_two_spellings_are_named(tmp_path: Path) -> None:
    schema = write_census(tmp_path, ["01", "2", "1"], ["1"], household="id_width = 2")
    with pytest.raises(
        DataProblems, match=r"one id written in two ways in 2 records \(rows 2, 4\)"
    ):
        loaded(schema, tmp_path)
    # As written they are two households, and stay two.
    schema = write_census(tmp_path / "as-written", ["01", "2", "1"], ["1", "01"])
    report = loaded(schema, tmp_path / "as-written", OnProblem.REFUSE)
    assert report.rows[Entity.HOUSEHOLD] == 3


def test_derived_units_in_two_spellings_are_not_merged(tmp_path: Path) -> None:
    schema_text = (
        '[census]\nname = "T"\ncode = "TT"\n[files.person]\npath = "persons.csv"\n'
        'entity = "person"\n[entity.person]\nid = ["hh", "no"]\nwithin = "household"\n'
        '[entity.household]\nid = ["hh"]\nid_width = 3\n'
        '[variable.sex]\nfile = "person"\ncodes = { 1 = "Male", 2 = "Female" }\n'
    )
    (tmp_path / "schema.toml").write_text(schema_text, encoding="utf-8")
    schema = read_schema(tmp_path / "schema.toml")
    persons = tmp_path / "persons.csv"
    persons.write_text("hh,no,sex\n1,1,1\n1,2,2\n01,3,1\n2,1,1\n", encoding="utf-8")
    message = r"one id written in two ways in 2 records \(rows 2, 4\)"
    with pytest.raises(DataProblems, match=message):
        loaded(schema, tmp_path)
    spec = TableSpec.build(schema, [], of=Entity.HOUSEHOLD)
    with pytest.raises(DataProblems, match=message):
        DuckdbEngine.over_files(schema, SECRET).tabulate(Tabulate(spec=spec))
    persons.write_text("hh,no,sex\n1,1,1\n1,2,2\n2,1,1\n", encoding="utf-8")
    report = loaded(schema, tmp_path)
    assert report.rows[Entity.HOUSEHOLD] == 2
    stored = MemoryEngine(CensusStore.open(report.store)).tabulate(Tabulate(spec=spec))
    raw = DuckdbEngine.over_files(schema, SECRET).tabulate(Tabulate(spec=spec))
    assert same_cubes(stored, raw)


@pytest.mark.parametrize("home", [1.5, 2.0**60])
def test_a_decimal_that_is_no_whole_number_is_no_id(tmp_path: Path, home: float) -> None:
    schema = write_census(tmp_path, [1.0, home], ["1"], household="id_width = 20", ending="parquet")
    with pytest.raises(DataProblems, match="id that cannot be used in 1 record"):
        loaded(schema, tmp_path)
    spec = TableSpec.build(schema, ["tenure"], of=Entity.HOUSEHOLD)
    with pytest.raises(DataProblems, match="id that cannot be used in 1 record"):
        DuckdbEngine.over_files(schema, SECRET).tabulate(Tabulate(spec=spec))


def test_an_id_with_more_digits_than_declared_is_refused(tmp_path: Path) -> None:
    schema = write_census(tmp_path, ["123", "0007"], ["7"], household="id_width = 2")
    with pytest.raises(DataProblems, match=r"id that cannot be used in 1 record \(row 2\)"):
        loaded(schema, tmp_path)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("id_width = [1, 2]", "the id has 1 column (hh), and 'id_width' has 2"),
        ('id_width = "4"', "should be a whole number from 0 to 100"),
        ("id_width = 101", "should be a whole number from 0 to 100"),
        ('id_any_case = "yes"', "should be true or false"),
    ],
)
def test_mistakes_in_the_form_name_the_remedy(tmp_path: Path, setting: str, words: str) -> None:
    with pytest.raises(DocumentError) as refusal:
        write_census(tmp_path, ["1"], ["1"], household=setting)
    assert words in str(refusal.value)
