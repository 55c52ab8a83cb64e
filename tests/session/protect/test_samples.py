"""Estimates of a sample on their whole way: from a store, by a plan, into every format."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from sdcensus.errors import Refused, SdcensusError, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.methods.pipeline import Pipeline
from sdcensus.methods.samples.sample_rounding import SampleRounding
from sdcensus.methods.withhold_sparse import WithholdSparse
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.published.table import Mark, Table
from sdcensus.session.answer.opening import open_service
from sdcensus.session.assess.planned import assess_plan
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.protect.table import ProtectedFiles, build_method, protect_table
from sdcensus.session.publish.run import publish
from tests.hamlet import Hamlet, rows, write_hamlet

PLAN = """\
store = "census.store"
measure = "weighted"

[[table]]
name = "sexes"
rows = ["ed@parish"]
columns = ["sex"]

[[table]]
name = "areas"
rows = ["ed@parish"]

[[table]]
name = "young"
rows = ["ed@parish"]
where = "age < 60"

[[table]]
name = "income"
rows = ["ed@parish"]
columns = ["sex"]
measure = "weighted-sum(income)"
protect = { method = "sample-rounding", base = 1000 }

[[indicator]]
name = "women"
kind = "share"
by = ["ed@parish"]
numerator = "sex == 2"

[protect]
method = "sample-rounding"
withheld_above = 0.3

[output]
folder = "published"
date = 2026-03-01
formats = ["csv", "sdmx-csv", "px", "xlsx", "json-stat", "parquet"]
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    persons, households = rows(250, seed=5)
    made = write_hamlet(tmp_path_factory.mktemp("h"), persons=persons, households=households)
    made.load()
    return made


@pytest.fixture(scope="module")
def census(hamlet: Hamlet) -> Census:
    return open_store(hamlet.store)


@pytest.fixture(scope="module")
def published(hamlet: Hamlet) -> Path:
    plan = hamlet.store.parent / "plan.toml"
    plan.write_text(PLAN, encoding="utf-8", newline="\n")
    return publish(plan, secret=hamlet.secret).published


def protected(census: Census, measure: str, engine: str = "memory", **said: int) -> Table:
    method = build_method("sample-rounding", census, options=MethodOptions(**said))
    spec = census.spec("ed@parish+ed", "sex", measure=measure)
    return protect_table(census, spec, method, engine=engine).table.whole()


@pytest.mark.parametrize(("measure", "base"), [("weighted", 10), ("weighted-sum(income)", 1000)])
def test_engines_publish_the_same_numbers_and_signs(
    census: Census, measure: str, base: int
) -> None:
    memory, duckdb = (protected(census, measure, engine, base=base) for engine in ENGINES)
    assert memory == duckdb
    seen = {Mark(int(mark)) for mark in np.unique(memory.marks)}  # type: ignore[arg-type]
    assert seen >= {Mark.MODERATE_ERROR, Mark.LOW_RELIABILITY, Mark.UNRELIABLE}


ENGINES = ("memory", "duckdb")


def test_readers_are_told_the_base_and_the_limits(census: Census) -> None:
    notes = protected(census, "weighted", base=20).notes
    for language, words in (("en", "multiples of 20"), ("fr", "multiples de 20")):
        (told,) = [note.show(language) for note in notes if words in note.show(language)]
        assert "5" in told
        assert "15" in told


def cells(path: Path) -> dict[tuple[str, ...], tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {
        (line["ed"], line.get("sex", "")): (
            line.get("published", line.get("value", "")),
            line.get("flag", ""),
        )
        for line in lines
    }


def test_a_plan_publishes_what_the_method_gives(census: Census, published: Path) -> None:
    method = build_method("sample-rounding", census, options=MethodOptions(withheld_above=0.3))
    table = protect_table(census, census.spec("ed@parish", "sex", measure="weighted"), method).table
    columns = table.columns()
    signs = columns.get("flag", [""] * len(columns["published"]))
    numbers = ["" if number is None else str(number) for number in columns["published"]]
    own = dict(
        zip(
            zip(columns["ed"], columns["sex"], strict=True),
            zip(numbers, signs, strict=True),
            strict=True,
        )
    )
    assert cells(published / "sexes.csv") == own
    assert {sign for _, sign in own.values()} >= {"", "B", "( )"}
    incomes = cells(published / "income.csv")
    whole = [number for number, sign in incomes.values() if sign != "/" and number != "0.00"]
    assert len(whole) > 5
    assert all(number.endswith("000.00") for number in whole)


def test_the_same_cell_has_one_number_and_one_sign_in_all_tables(published: Path) -> None:
    sexes, areas = cells(published / "sexes.csv"), cells(published / "areas.csv")
    for (area, _), shown in areas.items():
        assert sexes[area, "_T"] == shown


def test_every_format_has_the_signs(published: Path) -> None:
    shown = list(cells(published / "sexes.csv").values())
    signs = [sign for _, sign in shown]
    parquet = pq.read_table(published / "sexes.parquet").to_pydict()
    assert parquet["flag"] == signs
    assert [("" if one is None else str(one)) for one in parquet["published"]] == [
        number for number, _ in shown
    ]
    status = json.loads((published / "sexes.json").read_text("utf-8"))["status"]
    assert {int(at): sign for at, sign in status.items()} == {
        at: sign for at, sign in enumerate(signs) if sign
    }
    with (published / "sexes.sdmx.csv").open(encoding="utf-8", newline="") as file:
        codes = [line["OBS_STATUS"] for line in csv.DictReader(file)]
    assert codes == [{"": "A", "B": "E", "( )": "U", "/": "Q"}[sign] for sign in signs]
    px = (published / "sexes.px").read_text("utf-8")
    assert px.count('="B";') == signs.count("B")
    assert px.count('="( )";') == signs.count("( )")
    sheets = CalamineWorkbook.from_path(str(published / "sexes.xlsx"))
    words = {
        str(cell)
        for name in sheets.sheet_names
        for row in sheets.get_sheet_by_name(name).to_python()
        for cell in row
    }
    assert any("moderate sampling error" in word for word in words)
    read = read_published(published / "sexes.csv").table.whole()
    hidden = [sign == "/" for sign in signs]
    assert (read._flags().ravel() == Mark.UNRELIABLE).tolist() == hidden


def test_figures_and_sums_of_estimates_in_brackets_have_them_too(published: Path) -> None:
    sexes, women = cells(published / "sexes.csv"), cells(published / "women.csv")
    low = {area for area, sex in sexes if sex == "_T" and sexes[area, sex][1] == "( )"}
    assert low
    for (area, _), (_, sign) in women.items():
        if area in low:
            assert sign in ("( )", "/")
    assert {sign for _, sign in cells(published / "young.csv").values()} <= {"", "B", "( )", "/"}


# --------------------------------------------------------------------------------------- refusals


def test_a_plan_of_records_is_refused_before_anything_is_counted(hamlet: Hamlet) -> None:
    plan = hamlet.store.parent / "records.toml"
    text = PLAN.replace('"weighted"\n', '"count"\n', 1).replace("published", "of-records")
    plan.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(SdcensusError, match="for estimates of a weighted sample"):
        publish(plan, secret=hamlet.secret)
    assert not (hamlet.store.parent / "of-records").exists()


def test_what_assesses_records_says_that_it_does_not_assess_estimates(
    hamlet: Hamlet, published: Path
) -> None:
    assert published.exists()
    plan = hamlet.store.parent / "plan.toml"
    assessed = assess_plan(plan, secret=hamlet.secret)
    assert [name for name, _ in assessed.tables] == ["income"]
    assert len(assessed.skipped) == 3
    with pytest.raises(SpecError, match="weighted counts are not assessed"):
        assess_plan(plan, ["areas"], secret=hamlet.secret)


def test_the_table_builder_and_small_groups_take_other_methods(
    hamlet: Hamlet, census: Census, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('name = "Rules"\nmeasure = "weighted"\n', encoding="utf-8")
    with pytest.raises(Refused, match="cell keys, and not by 'sample-rounding'"):
        open_service(hamlet.store, policy, secret=hamlet.secret, method="sample-rounding")
    spec = census.spec("sex", measure="weighted")
    with pytest.raises(SpecError, match="smallest_group needs a method with a limit"):
        protect_table(census, spec, SampleRounding(), smallest_group=20)


def test_a_step_that_withholds_more_keeps_the_signs(census: Census, tmp_path: Path) -> None:
    method = Pipeline(SampleRounding(), WithholdSparse(mean_cell_size=200, below=400))
    spec = census.spec("ed@parish", "sex", measure="weighted")
    table = protect_table(census, spec, method).table.whole()
    marks = {Mark(int(mark)) for mark in np.unique(table.marks)}  # type: ignore[arg-type]
    assert {Mark.WITHHELD, Mark.MODERATE_ERROR} <= marks
    out = tmp_path / "t.csv"
    ProtectedFiles(out=out).write(protect_table(census, spec, method))
    assert ",B" in out.read_text("utf-8")


def test_the_audit_has_the_errors_themselves(census: Census, tmp_path: Path) -> None:
    """They decide the classes, and are for the office: an exact error tells how many were asked."""
    method = SampleRounding()
    spec = census.spec("ed@parish", "sex", measure="weighted")
    result = protect_table(census, spec, method)
    audit, out = tmp_path / "audit.csv", tmp_path / "table.csv"
    ProtectedFiles(out=out, audit=audit, confidential=True).write(result)
    assert "relative_error" not in out.read_text("utf-8")
    with audit.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert {line["flag"] for line in lines} >= {"B", "( )", "/"}
    for line in lines:
        if line["relative_error"]:
            error = float(line["relative_error"])
            sign = "" if error <= 0.05 else "B" if error <= 0.1 else "( )" if error <= 0.15 else "/"
            assert line["flag"] in (sign, "/" if int(line["count"]) < 3 else sign)
            assert (line["published"] == "") is (line["flag"] == "/")


def test_a_sign_that_an_office_gave_to_something_else_is_refused_where_both_stand(
    hamlet: Hamlet,
) -> None:
    """A plan of before keeps its signs, as long as no table has the sign of an estimate too."""
    plan = hamlet.store.parent / "signs.toml"
    office = '[office]\nname = "Office"\nsymbols = { low_reliability = "/" }\n\n[protect]'
    text = PLAN.replace("[protect]", office).replace('"published"', '"of-signs"')
    plan.write_text(text, encoding="utf-8", newline="\n")
    with pytest.raises(SpecError, match="'low_reliability' and 'unreliable' would have the same"):
        publish(plan, secret=hamlet.secret)
    plan.write_text(text.replace('"/" }', '"/", unreliable = "x" }'), encoding="utf-8")
    signs = {
        sign
        for _, sign in cells(publish(plan, secret=hamlet.secret).published / "sexes.csv").values()
    }
    assert signs >= {"B", "/"}
    assert "( )" not in signs
