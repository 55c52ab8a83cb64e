"""One question has one number: in a plan, in the builder, in a program and by ``protect``."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sdcensus.cli.shared.run import run as run_command
from sdcensus.errors import DocumentError, Refused
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy, VariableRule
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census
from sdcensus.session.commands import compile_program, finish
from sdcensus.session.protect.table import published_spec
from sdcensus.session.publish.resolution import resolve
from sdcensus.session.publish.run import PublishOptions, publish
from tests.hamlet import SCHEMA, Hamlet, rows, write_hamlet

#: No level of the hamlet has a code for it.
ADULTS = '\n[universe.adults]\ncondition = "age >= 18"\nlabel = { en = "18 and over" }\n'
PLAN = """\
store = "census.store"

[protect]
method = "cell-key"
scheme = "CP4"

[output]
folder = "{folder}"
date = 2026-01-01
formats = ["csv"]

[[table]]
name = "t"
rows = ["ed@parish"]
columns = ["{by}"]
{condition}
"""
BY = ("ed@parish", "married")
#: Groups that are published below this are not broken down.
SMALLEST = 23
#: Stands for a value that is not shown.
HIDDEN = -999
#: The published value of each pair of codes.
Numbers = dict[tuple[str, str], int]


@dataclass(frozen=True)
class Products:
    """A census, and everything that shows numbers of it, with one method and secret."""

    hamlet: Hamlet
    census: Census
    service: TableService

    def plan(self, name: str, condition: str, smallest: int | None = None) -> Numbers:
        """What ``publish`` writes."""
        text = PLAN.format(folder=name, by=BY[1], condition=condition)
        if smallest is not None:
            text = text.replace("[output]", f"smallest_group = {smallest}\n\n[output]")
        plan = self.hamlet.write(f"{name}.toml", text)
        accepted = PublishOptions(
            secret=self.hamlet.secret, accept_risk="The office", reason="a test"
        )
        publish(plan, accepted)
        return written(self.hamlet.folder / name / "t.csv")

    def builder(self, where: str, *by: str, service: TableService | None = None) -> Numbers:
        """What the table builder answers."""
        answer = (service or self.service).answer(Question(of="persons", by=by or BY, where=where))
        assert answer.table is not None, answer.verdict
        return shown(answer.table)

    def program(self, clauses: str) -> Numbers:
        """What a program of the command language shows."""
        text = clauses.format(table="TABLE t AS CROSSTABS OF ed@parish BY married")
        (table,) = compile_program(text, self.census.schema).tables
        answer = self.service.answer(table.question)
        assert answer.table is not None, answer.verdict
        return shown(finish(table, answer.table))

    def protect(self, where: str, out: Path) -> Numbers:
        """What ``protect`` writes."""
        told = ("--method", "cell-key", "--scheme", "CP4", "--secret", str(self.hamlet.secret))
        code = run_command(
            [
                *("protect", str(self.hamlet.store), "--by", ",".join(BY), "--where", where),
                *(*told, "--out", str(out), "--quiet"),
            ]
        )
        assert code == 0
        return written(out)


def written(path: Path) -> Numbers:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return {
            (line["ed"], line["married"]): int(line["published"] or HIDDEN)
            for line in csv.DictReader(file)
        }


def shown(table: DeliveredTable) -> Numbers:
    first, second = table.axes
    values = table.values
    if table.marks is not None:
        values = np.where(table.marks != 0, HIDDEN, values)
    return {
        (row, column): int(values[at, place])
        for at, row in enumerate(first.codes)
        for place, column in enumerate(second.codes)
    }


def products(folder: Path, schema: str) -> Products:
    persons, households = rows(120)
    hamlet = write_hamlet(folder, schema=schema, persons=persons, households=households)
    census = hamlet.load()
    text = PLAN.format(folder="none", by="married", condition="")
    resolved = resolve(hamlet.write("method.toml", text), secret=hamlet.secret)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=4, cells=100_000),
        online=OnlineRules(),
    )
    service = TableService(census, policy, {Entity.PERSON: resolved.methods.main(Entity.PERSON)})
    return Products(hamlet, census, service)


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Products:
    return products(tmp_path_factory.mktemp("declared"), SCHEMA + ADULTS)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Products:
    """The same people in a schema without universes."""
    return products(tmp_path_factory.mktemp("plain"), SCHEMA)


def test_a_declared_universe_has_one_number_everywhere(declared: Products, tmp_path: Path) -> None:
    expected = declared.plan("named", 'universe = "adults"')
    for name, universe in (("spelt", "age >= 18"), ("turned", "not (age < 18 or age == 999)")):
        assert declared.plan(name, f'universe = "{universe}"') == expected
    assert declared.plan("sum", 'where = "age >= 18"') == expected
    for where in ("adults", "age >= 18", "not (age < 18 or age == 999)", "age@adults == 'adults'"):
        assert declared.builder(where) == expected
    for clauses in (
        "{table} FOR adults",
        "{table} FOR person.age >= 18",
        "RUNDEF r UNIVERSE adults {table}",
        "RUNDEF r SELECTION adults UNIVERSE NOT (age < 18 OR age = 999) {table}",
    ):
        assert declared.program(clauses) == expected
    for at, where in enumerate(("adults", "18 <= age")):
        assert declared.protect(where, tmp_path / f"{at}.csv") == expected


def test_it_is_one_number_as_a_code_and_within_further_conditions(declared: Products) -> None:
    expected = declared.builder("adults")
    question = Question(of="persons", by=("ed@parish", "married", "age@adults"))
    answer = declared.service.answer(question)
    assert answer.table is not None
    assert answer.table.axes[2].codes == ("adults", "not_adults", "_T")
    for at, row in enumerate(answer.table.axes[0].codes):
        for place, column in enumerate(answer.table.axes[1].codes):
            assert answer.table.values[at, place, 0] == expected[row, column]
    women = declared.builder("sex == 2 and adults")
    assert women == declared.builder("age >= 18 and not (sex == 1 or sex == 9)")
    assert women == declared.plan("women", 'universe = "adults and sex == 2"')
    by_sex = declared.builder("adults", "ed@parish", "sex")
    assert all(women[row, "_T"] == by_sex[row, "2"] for row, _ in women)


def test_any_other_condition_is_the_same_sum_everywhere(declared: Products) -> None:
    condition = "age >= 21 and age < 57"
    expected = declared.plan("sums", f'where = "{condition}"')
    assert declared.builder(condition) == expected
    assert declared.program(f"{{table}} FOR {condition}") == expected
    assert declared.plan("both", f'universe = "adults"\nwhere = "{condition}"') == expected
    # 21 to 29, 30-39, 40-49, 50 to 56: nothing is drawn anew for the condition.
    parts = ["30-39", "40-49"]
    ages = [*map(str, range(21, 30)), *map(str, range(50, 57))]
    added = dict.fromkeys(expected, 0)
    for part in [f"age@ten_year == '{part}'" for part in parts] + [f"age == {age}" for age in ages]:
        for cell, value in declared.builder(part).items():
            added[cell] += value
    assert added == expected
    either = "married == 1 and sex == 1 or age >= 18"
    assert declared.plan("either", f'where = "{either}"') == declared.builder(either)


def test_what_the_smallest_group_hides_is_the_same_in_plan_and_builder(declared: Products) -> None:
    service = TableService(
        declared.census,
        declared.service.policy,
        declared.service.methods,
        smallest_group=SMALLEST,
    )
    for name, setting, condition in (
        ("counted", "universe", "adults"),
        ("added", "where", "age >= 21 and age < 57"),
    ):
        numbers = declared.plan(f"group-{name}", f'{setting} = "{condition}"', smallest=SMALLEST)
        assert numbers == declared.builder(condition, service=service)
        assert 0 < list(numbers.values()).count(HIDDEN) < len(numbers)


def test_what_is_not_declared_is_refused_with_the_lines_to_add(
    plain: Products, declared: Products, tmp_path: Path
) -> None:
    with pytest.raises(DocumentError) as caught:
        plain.plan("refused", 'universe = "age >= 18"')
    message = str(caught.value)
    assert "line 16: table (number 1): the schema declares no such universe" in message
    assert 'where = "..."' in message
    with pytest.raises(Refused) as refused:
        published_spec(plain.census, *BY, where="not age < 18 and age != 999")
    found = re.search(r"\[universe\..*?\n\n", message, re.DOTALL)
    assert found is not None
    assert found.group() in str(refused.value)
    # As a sum it is told, and its number is another one: that of many codes.
    assert plain.plan("sum", 'where = "age >= 18"') == plain.builder("age >= 18")
    assert plain.builder("age >= 18") != declared.builder("age >= 18")
    # The lines make the plan pass, with the number that the office has elsewhere.
    pasted = products(tmp_path, f"{SCHEMA}\n{found.group()}")
    assert pasted.plan("passes", 'universe = "age >= 18"') == declared.builder("adults")
    # Loading once more changes no record and no number that is out.
    assert pasted.census.origin.data_version == plain.census.origin.data_version
    assert pasted.builder("age >= 15 and age < 65") == plain.builder("age >= 15 and age < 65")


@pytest.mark.parametrize(
    ("condition", "lines"),
    [
        (
            "age >= 18 and sex != 9",
            ['[universe.age_from_18]\ncondition = "age >= 18"', "[universe.sex_not_9]"],
        ),
        ("age >= 18 and married == 1", ['[universe.age_from_18]\ncondition = "age >= 18"']),
        ("ed in ('E1', 'E4')", ["condition = \"ed in ('E1', 'E4')\""]),
        ("age >= 18 or married == 1", []),
    ],
)
def test_the_lines_are_those_that_are_missing(
    plain: Products, tmp_path: Path, condition: str, lines: list[str]
) -> None:
    with pytest.raises(Refused) as caught:
        published_spec(plain.census, "ed", where=condition)
    message = str(caught.value)
    assert message.count("[universe.") == len(lines)
    assert all(line in message for line in lines)
    if lines:
        wider = products(tmp_path, SCHEMA + message[message.index("[") : message.rindex("\n")])
        assert published_spec(wider.census, "ed", where=condition).cells == 6


def test_a_policy_does_not_open_what_is_finer_than_it_allows(declared: Products) -> None:
    """18 cuts through the classes of ten years, so it is not offered beside them."""
    census = declared.census
    policy = Policy(
        name="coarse",
        schema=census.schema,
        limits=Limits(dimensions=4, cells=100_000),
        online=OnlineRules(),
        variables=(VariableRule(variable="age", finest_level="ten_year"),),
    )
    service = TableService(census, policy, declared.service.methods)
    assert [
        universe.name for universe in declared.service.catalogue.population("persons").universes
    ] == ["adults"]
    assert service.catalogue.population("persons").universes == ()
    answer = service.answer(Question(of="persons", by=BY, where="adults"))
    assert answer.table is None
