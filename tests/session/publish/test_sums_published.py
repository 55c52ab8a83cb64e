"""Tables of sums beside tables of counts, in one plan."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcensus.errors import SpecError
from sdcensus.session.protect.table import build_method, protect_table
from sdcensus.session.publish.run import publish
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

COUNTS = """
[protect]
method = "cell-key"
strength = "light"
smallest_group = 12
"""
SUMS = """
[protect.sums]
method = "cell-key-sums"
smallest_group = 12
"""
TABLES = """
[[table]]
name = "people"
rows = ["ed@parish+ed"]
columns = ["sex", "age@broad"]

[[table]]
name = "income"
rows = ["ed@parish+ed"]
columns = ["sex", "age@broad"]
measure = "sum(income)"
protect = "sums"
"""
OUTPUT = """
[output]
folder = "published"
office_folder = "office"
formats = ["csv"]
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    hamlet = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    hamlet.load()
    return hamlet


def shown(path: Path) -> dict[tuple[str, ...], tuple[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {
        (row["ed"], row["sex"], row["age"]): (
            row.get("value", row.get("count", "")),
            row.get("flag", ""),
        )
        for row in rows
    }


def test_sums_are_hidden_exactly_where_counts_are(hamlet: Hamlet) -> None:
    plan = hamlet.write(
        "plan.toml", f'store = "{hamlet.store.name}"\n{OUTPUT}{COUNTS}{SUMS}{TABLES}'
    )
    publish(plan, secret=hamlet.secret)
    folder = plan.parent / "published"
    people, income = shown(folder / "people.csv"), shown(folder / "income.csv")
    hidden = {cell for cell, (_, flag) in people.items() if flag == "k"}
    assert hidden
    assert {cell for cell, (_, flag) in income.items() if flag == "k"} == hidden
    assert all(income[cell][0] == "" for cell in hidden)
    assert any("." in value for value, _ in income.values())


def test_a_plan_that_protects_no_counts_says_how_groups_are_judged(hamlet: Hamlet) -> None:
    only = SUMS.replace("[protect.sums]", "[protect]")
    table = TABLES[TABLES.index("[[table]]", 12) :].replace('protect = "sums"\n', "")
    plan = hamlet.write("only.toml", f'store = "{hamlet.store.name}"\n{OUTPUT}{only}{table}')
    with pytest.raises(SpecError, match=r"reads the published counts .*\[protect.NAME\]"):
        publish(plan, secret=hamlet.secret)


def test_one_table_of_sums_has_no_counts_to_be_judged_by(hamlet: Hamlet) -> None:
    census = hamlet.census()
    method = build_method("cell-key-sums", census, secret=SECRET)
    spec = census.spec("ed@parish", "sex", measure="sum(income)")
    with pytest.raises(SpecError, match="nothing says how counts are protected"):
        protect_table(census, spec, method, smallest_group=12)


def test_the_note_about_totals_has_the_decimals_of_the_amount(hamlet: Hamlet) -> None:
    census = hamlet.census()
    method = build_method("cell-key-sums", census, secret=SECRET)
    spec = census.spec("ed@parish", "sex", measure="sum(income)")
    table = protect_table(census, spec, method).table.whole()
    total = int(table.published[-1, -1])
    assert total % 100 or total > 100
    text = f"{total // 100:,}.{total % 100:02}"
    assert any(text in note.show("en") for note in table.notes)


def test_sums_of_few_contributors_are_not_shown(hamlet: Hamlet) -> None:
    """Without a smallest group too: ten are asked for, of published contributors."""
    table = TABLES[TABLES.index("[[table]]", 12) :].replace('protect = "sums"\n', "")
    plan = hamlet.write(
        "few.toml",
        f'store = "{hamlet.store.name}"\n[protect]\nmethod = "cell-key-sums"\n'
        + OUTPUT.replace("published", "few").replace('"office"', '"office-few"')
        + table.replace("age@broad", "age@ten_year"),
    )
    report = publish(plan, secret=hamlet.secret)
    income = shown(plan.parent / "few" / "income.csv")
    census = hamlet.census()
    cube = census.tabulate("ed@parish+ed", "sex", "age@ten_year", measure="sum(income)").held_for(
        "a test"
    )
    known = cube.values.contributions
    assert known is not None
    numbers = known.contributors.reshape(-1).tolist()
    hidden = [flag == ".." for _, flag in income.values()]
    assert len(hidden) == len(numbers)
    # The noise of counts moves a number by few.
    assert all(few for few, number in zip(hidden, numbers, strict=True) if number <= 3)
    assert not any(few for few, number in zip(hidden, numbers, strict=True) if number >= 20)
    (looks,) = report.looks
    assert "the same contribution is in 12 cells" in str(looks)
