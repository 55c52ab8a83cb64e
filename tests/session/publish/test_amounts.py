"""A plan publishes figures of amounts: both tables behind them go the way of every table."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from python_calamine import CalamineWorkbook

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import Refused, SdcensusError, SpecError
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.publish.resolution import resolve
from sdcensus.session.publish.run import publish
from tests.hamlet import SCHEMA, Hamlet, write_hamlet

PLAN = """\
store = "census.store"

[[table]]
name = "incomes"
rows = ["ed"]
measure = "sum(income)"

[[table]]
name = "classes"
rows = ["ed"]
columns = ["income@bracket"]

[[indicator]]
name = "mean"
kind = "mean"
variable = "income"
by = ["ed"]

[[indicator]]
name = "quartiles"
kind = "quartiles"
variable = "income"
by = ["ed@parish"]

[protect]
method = "cell-key"
strength = "medium"

[output]
folder = "published"
formats = ["csv"]
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    schema = SCHEMA.replace('label = "Income"\n', 'label = "Income"\nunit = "dollars"\n')
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"), schema=schema)
    made.load()
    return made


def run(hamlet: Hamlet, text: str, out: Path) -> Path:
    publish(hamlet.write("plan.toml", text), out=out / "published", secret=hamlet.secret)
    return out / "published"


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_a_mean_is_what_readers_would_compute_from_published_tables(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    folder = run(hamlet, PLAN, tmp_path)
    sums = {row["ed"]: Fraction(row["value"]) for row in rows(folder, "incomes")}
    counts: dict[str, int] = {}
    for row in rows(folder, "classes"):
        if row["income"] in ("0-999", "1000-2499", "2500+"):
            counts[row["ed"]] = counts.get(row["ed"], 0) + int(row["published"])
    means = {row["ed"]: row["value"] for row in rows(folder, "mean")}
    assert list(means) == list(sums)
    for area, mean in means.items():
        assert not mean or Fraction(mean) == round(sums[area] / counts[area], 2)
    assert sum(map(bool, means.values())) >= 5
    own = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["tables"]
    methods = {each["name"]: [one["method"] for one in each["provenance"]] for each in own}
    assert methods["mean"] == ["cell-key-sums", "cell-key"]
    assert methods["incomes"] == ["cell-key-sums"]
    assert methods["quartiles"] == ["cell-key"]


def test_units_and_decimals_are_in_every_format(hamlet: Hamlet, tmp_path: Path) -> None:
    formats = '["csv", "xlsx", "px", "json-stat", "sdmx-csv", "parquet"]'
    folder = run(hamlet, PLAN.replace('["csv"]', formats), tmp_path)
    shown = rows(folder, "mean")[-1]["value"]
    assert len(shown.partition(".")[2]) == 2
    sheet = CalamineWorkbook.from_path(folder / "mean.xlsx").get_sheet_by_index(0).to_python()
    cells = [cell for row in sheet for cell in row]
    assert float(shown) in cells
    assert any("dollars" in str(cell) for cell in cells)
    px = (folder / "mean.px").read_text(encoding="utf-8", errors="replace")
    assert "DECIMALS=2" in px
    assert "dollars" in px
    assert shown in px
    stat = json.loads((folder / "mean.json").read_text(encoding="utf-8"))
    assert float(shown) in stat["value"]
    assert "dollars" in json.dumps(stat)
    sdmx = (folder / "mean.sdmx.csv").read_text(encoding="utf-8-sig")
    assert f",{shown}," in sdmx
    assert "DOLLARS" in sdmx
    values = pq.read_table(folder / "mean.parquet").column("value").to_pylist()
    assert float(shown) in [float(value) for value in values if value is not None]
    quartiles = rows(folder, "quartiles")
    assert [row["quartile"] for row in quartiles[:3]] == ["25", "50", "75"]
    assert len(quartiles[0]["value"].partition(".")[2]) == 1


def methods_of(hamlet: Hamlet, text: str) -> dict[str, str]:
    resolved = resolve(hamlet.write("plan.toml", text), secret=hamlet.secret)
    return {
        ("sums" if spec.measure.is_sum else "counts"): resolved.method(spec).name
        for product in resolved.products
        for spec in product.specs
    }


def test_sums_have_the_method_that_the_plan_says(hamlet: Hamlet) -> None:
    section = '[protect.sums]\nmethod = "abs-top-contributors"\n\n[output]'
    plain = {"sums": "cell-key-sums", "counts": "cell-key"}
    assert methods_of(hamlet, PLAN) == plain
    named = PLAN.replace("[output]", section)
    assert methods_of(hamlet, named) == {**plain, "sums": "abs-top-contributors"}
    silent = PLAN.replace('[protect]\nmethod = "cell-key"\nstrength = "medium"\n', "")
    assert methods_of(hamlet, silent) == plain


def test_a_plan_for_sums_only_refuses_the_counts_of_a_mean(hamlet: Hamlet) -> None:
    of_sums = PLAN.replace('method = "cell-key"\nstrength = "medium"', 'method = "cell-key-sums"')
    with pytest.raises(SdcensusError, match="Counts are protected by the method 'cell-key'"):
        resolve(hamlet.write("plan.toml", of_sums), secret=hamlet.secret)


def test_two_methods_for_one_table_of_sums_are_refused(hamlet: Hamlet) -> None:
    own = PLAN.replace(
        'measure = "sum(income)"',
        'measure = "sum(income)"\nprotect = { method = "abs-top-contributors" }',
    )
    with pytest.raises(SpecError, match="two numbers for one question"):
        resolve(hamlet.write("plan.toml", own), secret=hamlet.secret)


def test_groups_that_counts_do_not_break_down_are_not_broken_down_by_sums(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    crossed = PLAN.replace('rows = ["ed"]\nmeasure', 'rows = ["ed"]\ncolumns = ["sex"]\nmeasure')
    crossed = crossed.replace('by = ["ed"]', 'by = ["ed", "sex"]')
    crossed = crossed.replace('rows = ["ed"]\ncolumns = ["income@bracket"]', COUNTS)
    ruled = crossed.replace('"medium"', '"medium"\nsmallest_group = 60')
    plain, hidden = run(hamlet, crossed, tmp_path / "a"), run(hamlet, ruled, tmp_path / "b")
    flags = {
        name: [row.get("flag", "") == "k" for row in rows(hidden, name)]
        for name in ("incomes", "classes", "mean")
    }
    assert any(flags["incomes"])
    assert not all(flags["incomes"])
    assert flags["incomes"] == flags["classes"]
    assert np.all(np.array(flags["mean"]) >= np.array(flags["incomes"]))
    before = [row["value"] for row in rows(plain, "incomes")]
    for row, value in zip(rows(hidden, "incomes"), before, strict=True):
        assert row["value"] in ("", value)


def test_the_office_is_told_how_far_noise_moves_percentiles_and_readers_are_not(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    folder = run(hamlet, PLAN, tmp_path)
    (remarks,) = tmp_path.rglob("remarks.txt")
    assert not remarks.is_relative_to(folder)
    told = remarks.read_text(encoding="utf-8").splitlines()
    assert [line.split(":")[0] for line in told] == ["quartiles"] * len(told)
    assert "standard deviation of the noise moves the percentile 25 by" in told[0]
    numbers = [int(word.replace(",", "")) for word in told[0].split() if word[0].isdigit()][1:]
    assert 0 < numbers[0] <= numbers[1] < 1_000
    for file in folder.iterdir():
        assert b"standard deviation" not in file.read_bytes()


def test_policy_lock_and_universes_hold_for_sums_as_for_counts(
    hamlet: Hamlet, tmp_path: Path
) -> None:
    hamlet.write(
        "policy.toml",
        'name = "Rules"\n[online]\nminimum_population = 80\nsmallest_group = 15\n',
    )
    plan = PLAN.replace("[output]", '[policy]\nfile = "policy.toml"\nrole = "public"\n\n[output]')
    plan = plan.replace('by = ["ed"]', 'by = ["ed"]\nuniverse = "age@broad == \'15-64\'"')
    folder = run(hamlet, plan, tmp_path)
    signs = {row["ed"]: row.get("flag", "") for row in rows(folder, "mean")}
    assert signs["E5"] == "."
    assert signs["_T"] == ""
    changed = plan.replace(
        "[policy]", '[protect.sums]\nmethod = "cell-key-sums"\nnoise_share = 0.4\n\n[policy]'
    )
    with pytest.raises(Refused, match="would change"):
        run(hamlet, changed, tmp_path)


def test_the_plan_of_the_page_is_published(hamlet: Hamlet, tmp_path: Path) -> None:
    page = Path(__file__).parents[3] / "docs" / "guide" / "amounts.md"
    text = page.read_text(encoding="utf-8").split("```toml\n")[1].split("```")[0]
    folder = run(hamlet, text, tmp_path)
    names = ("mean-income", "income-quartiles", "low-incomes", "income-per-head", "pay-gap")
    for name in names:
        assert any(row["value"] for row in rows(folder, name))


COUNTS = 'rows = ["ed"]\ncolumns = ["sex"]'


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("large_share = 0.03\nflex_point = 0", "The flex point is above 0"),
        ('contribution_shares = "1, 2"', "between 0 and 1, not 2"),
        ('anchors = "1, x"', "Anchors are whole numbers"),
    ],
)
def test_a_setting_that_a_method_refuses_is_told_with_the_plan_and_the_method(
    hamlet: Hamlet, tmp_path: Path, setting: str, reason: str
) -> None:
    sums = f'[protect.sums]\nmethod = "cell-key-sums"\n{setting}\n'
    with pytest.raises(SpecError, match=f"plan.toml: cell-key-sums: .*{reason}"):
        run(hamlet, f"{PLAN}\n{sums}", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("axes", "universe", "measure", "own"),
    [
        (["ed", "income@bracket"], None, "sum(income)", True),
        (["income"], None, "sum(income)", True),
        (["ed"], "income@bracket == '1000-2499'", "sum(income)", True),
        (["ed"], "income >= 1000 and sex == 1", "weighted-sum(income)", True),
        (
            ["ed"],
            "not (income == 99999)",
            "sum(income)",
            False,
        ),  # no class: the sum is that of everybody
        (["ed", "sex"], "age >= 15", "sum(income)", False),
        (["ed", "income@bracket"], None, "count", False),
    ],
)
def test_sums_by_classes_of_their_own_amount_are_known(
    hamlet: Hamlet, axes: list[str], universe: str | None, measure: str, own: bool
) -> None:
    schema = read_schema(hamlet.schema)
    spec = TableSpec.build(schema, axes, universe=universe, measure=measure)
    assert spec.by_own_classes is own


def test_sums_by_classes_of_their_own_amount_need_a_name(hamlet: Hamlet, tmp_path: Path) -> None:
    """The sum of incomes from 1000 to 2499, divided by 1750, is a count with hardly any noise."""
    more = '[[table]]\nname = "own"\nrows = ["income@bracket"]\nmeasure = "sum(income)"\n'
    with pytest.raises(Refused, match="sums of 'income' are shown by classes of 'income'"):
        run(hamlet, f"{PLAN}\n{more}", tmp_path)
