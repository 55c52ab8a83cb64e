"""``smallest_group`` in policies and plans: read, written back, refused where it is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.plan.text import plan_text
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.documents.policy.document import policy_text, read_policy
from sdcensus.errors import DocumentError
from sdcensus.testing.island import island_schema

PLAN = """
store = "census.store"
[[table]]
name = "t"
rows = ["sex"]
[protect]
method = "cell-key"
strength = "medium"
smallest_group = 23
[office]
symbols = { not_broken_down = "-" }
"""


def test_a_plan_says_it_and_is_written_back(tmp_path: Path) -> None:
    schema = island_schema()
    path = tmp_path / "plan.toml"
    path.write_text(PLAN, encoding="utf-8")
    plan = read_plan(path, lambda _: schema)
    assert plan.protect is not None
    assert plan.protect.smallest_group == 23
    assert dict(plan.protect.settings) == {"strength": "medium"}
    path.write_text(plan_text(plan), encoding="utf-8")
    assert read_plan(path, lambda _: schema) == plan
    book = tmp_path / "plan.xlsx"
    book.write_bytes(plan_workbook(plan))
    assert read_plan(book, lambda _: schema) == plan


@pytest.mark.parametrize("wrong", ["1", "-2", "2.5", '"many"', "true"])
def test_what_is_no_size_is_a_mistake_of_the_document(tmp_path: Path, wrong: str) -> None:
    schema = island_schema()
    path = tmp_path / "plan.toml"
    path.write_text(PLAN.replace("= 23", f"= {wrong}"), encoding="utf-8")
    with pytest.raises(DocumentError, match="smallest_group"):
        read_plan(path, lambda _: schema)
    rules = tmp_path / "policy.toml"
    rules.write_text(f'name = "p"\n[online]\nsmallest_group = {wrong}\n', encoding="utf-8")
    with pytest.raises(DocumentError, match="smallest_group"):
        read_policy(rules, schema)


def test_a_policy_says_it_and_is_written_back(tmp_path: Path) -> None:
    schema = island_schema()
    path = tmp_path / "policy.toml"
    path.write_text('name = "p"\n[online]\nsmallest_group = 23\n', encoding="utf-8")
    made = read_policy(path, schema)
    assert made.online.smallest_group == 23
    # It is no rule that needs another table: areas and shares are not judged by it.
    assert not made.online.on_values
    path.write_text(policy_text(made), encoding="utf-8")
    assert read_policy(path, schema) == made
