"""The rule on identities between units, in policies, plans, the table builder and drafts."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from sdcensus.documents.policy.document import policy_from_document, policy_text
from sdcensus.documents.toml.lines import parse_toml
from sdcensus.errors import DocumentError, Refused
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import Limits, Policy, VariableRule, menu_of
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer.opening import open_service
from sdcensus.session.census.census import Census
from sdcensus.session.gate.tied_units import (
    TiedTable,
    check_tables,
    looks_between_units,
    refuse_ties_in_policy,
    ties_in_policy,
    without_ties,
)
from sdcensus.session.policy import Outcome, ask, loosened, tightened
from sdcensus.session.policy.design import design
from sdcensus.session.publish.estimate import check_plan
from sdcensus.session.publish.run import publish
from sdcensus.session.recommend.recommendation import recommend
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.attack.housed import housed, housed_schema, without_identities

SCHEMA = housed_schema()
APART = (
    VariableRule(variable="size", units=(Entity.HOUSEHOLD,)),
    VariableRule(variable="place", offered=False),
)


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return housed(tmp_path_factory.mktemp("housed") / "census.store")


def policy(*rules: VariableRule, **more: object) -> Policy:
    return Policy(name="test", schema=SCHEMA, variables=rules, **more)  # type: ignore[arg-type]


def spec(*by: str, of: Entity = Entity.PERSON, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, of=of, universe=where)


# ------------------------------------------------------------------------------- units of a rule


def test_a_variable_is_offered_on_tables_of_its_units_only() -> None:
    made = policy(*APART)
    assert ask(made, spec("area", "size", of=Entity.HOUSEHOLD)).outcome is Outcome.ALLOWED
    for refused in (spec("area", "size"), spec("area", where="size == '01'")):
        verdict = ask(made, refused)
        assert verdict.outcome is Outcome.REFUSED
        assert [str(reason.code) for reason in verdict.reasons] == ["variable-not-offered"]
    names = {
        of: {variable.variable.name for variable in menu_of(made, SCHEMA, of=of).variables}
        for of in (Entity.PERSON, Entity.HOUSEHOLD)
    }
    assert "size" in names[Entity.HOUSEHOLD]
    assert "size" not in names[Entity.PERSON]


def test_what_helps_is_a_table_without_it() -> None:
    verdict = ask(policy(*APART), spec("area", "size", "sex"))
    assert verdict.remedies
    for remedy in verdict.remedies:
        assert "size" not in {axis.variable.name for axis in remedy.spec.axes}


def test_units_are_written_and_read_back_and_mistakes_have_their_line() -> None:
    made = policy(*APART)
    again = policy_from_document(parse_toml(Path("p.toml"), policy_text(made)), SCHEMA)
    assert again == made
    text = 'name = "x"\n[variable.size]\nunits = {}\n'
    for units, words in (
        ('["household", "households"]', None),
        ('["dwellings"]', "dwellings"),
        ('["homes"]', "homes"),
        ("[]", "offered = false"),
        ('["households"]\noffered = false', "offered = false says on none"),
    ):
        document = parse_toml(Path("p.toml"), text.format(units))
        if words is None:
            rule = policy_from_document(document, SCHEMA).rule_of("size")
            assert rule.units == (Entity.HOUSEHOLD,)
            continue
        with pytest.raises(DocumentError) as caught:
            policy_from_document(document, SCHEMA)
        assert words in str(caught.value)
        assert [mistake.line for mistake in caught.value.mistakes] == [3]


def test_a_locked_policy_offers_it_on_no_other_units() -> None:
    locked = policy(*APART, lock=True)
    with pytest.raises(Refused, match="tables of persons"):
        tightened(locked, {"variable": {"size": {"units": ["persons", "households"]}}})
    assert list(loosened(locked, policy(*APART))) == []
    stricter = tightened(policy(lock=True), {"variable": {"size": {"units": ["households"]}}})
    assert not stricter.rule_of("size").offered_for(Entity.PERSON)


# -------------------------------------------------------------------------------------- the rule


def test_a_policy_that_offers_everything_shows_households_through_persons() -> None:
    found = {tie.variable: tie for tie in ties_in_policy(policy())}
    assert sorted(found) == ["place", "size"]
    with pytest.raises(Refused) as caught:
        refuse_ties_in_policy(policy())
    for words in (
        '[variable.size] finest_level = "grouped"',
        '[variable.size] units = ["households"]',
    ):
        assert words in str(caught.value)
    # What the message says would do, does, but for two ways to group that are offered at once.
    for rule in (
        VariableRule(variable="size", finest_level="grouped"),
        VariableRule(variable="size", finest_level="shifted"),
        APART[0],
    ):
        refuse_ties_in_policy(policy(rule, APART[1]))


def test_nothing_is_declared_so_nothing_is_refused() -> None:
    open_to_all = Policy(name="test", schema=without_identities(SCHEMA))
    refuse_ties_in_policy(open_to_all)
    assert ties_in_policy(open_to_all) == ()
    assert ties_in_policy(Policy(name="test", schema=SCHEMA))


def test_the_builder_stays_closed(census: Census) -> None:
    options = MethodOptions(strength="strong")
    limits = Limits(dimensions=1)
    with pytest.raises(Refused, match="two kinds of units"):
        open_service(census, policy(limits=limits), options=options, secret=SECRET)
    made = policy(*APART, limits=limits)
    service = open_service(census, made, options=options, secret=SECRET)
    for asked, outcome in (
        ({"of": "households", "by": ["size"]}, Outcome.ALLOWED),
        ({"of": "persons", "by": ["size"]}, Outcome.REFUSED),
        ({"of": "persons", "by": ["size@grouped"]}, Outcome.REFUSED),
        ({"of": "persons", "by": ["sex"], "where": "size == '02'"}, Outcome.REFUSED),
    ):
        answer = service.answer(Question.from_json(asked), "public")
        assert answer.verdict.outcome is outcome
        assert (answer.table is None) == (outcome is Outcome.REFUSED)


def test_design_names_what_is_shown_twice_and_what_is_not_declared(
    census: Census, tmp_path: Path
) -> None:
    lines = "\n".join(design(policy(), census).lines())
    assert "persons by size" in lines
    assert "persons by size" not in "\n".join(design(policy(*APART), census).lines())
    plain = without_identities(SCHEMA)
    undeclared = housed(tmp_path / "census.store", schema=plain)
    lines = "\n".join(design(Policy(name="test", schema=plain), undeclared).lines())
    assert 'counts = "persons"' in lines


def test_larger_units_that_hold_each_other_are_told_as_looks() -> None:
    assert looks_between_units(policy()) == ()


def test_drafts_show_nothing_twice(census: Census) -> None:
    made = without_ties(policy())
    assert ties_in_policy(made) == ()
    assert made.rule_of("size").units == (Entity.HOUSEHOLD,)
    assert not made.rule_of("place").offered
    advice = recommend(census, "report")
    assert ties_in_policy(advice.policy) == ()
    specs = [table.spec(census.schema) for table in advice.plan.tables]
    assert check_tables(SCHEMA, [TiedTable(spec.name, spec) for spec in specs]) == ()


# ----------------------------------------------------------------------------------------- plans

PLAN = """
store = "census.store"

[protect]
method = "cell-key"
strength = "medium"

[output]
folder = "published"

[[table]]
name = "homes"
of = "households"
rows = ["area"]
columns = ["size"]

[[table]]
name = "people"
rows = ["area"]
columns = ["{axis}"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    housed(tmp_path / "census.store")
    write_secret(SECRET, tmp_path / "office.secret")
    return tmp_path


def plan(folder: Path, axis: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(PLAN.format(axis=axis), encoding="utf-8", newline="\n")
    return path


def test_a_plan_with_both_is_refused_before_any_work(folder: Path) -> None:
    secret = folder / "office.secret"
    for work in (check_plan, publish):
        with pytest.raises(Refused) as caught:
            work(plan(folder, "size"), secret=secret)
        assert "size@grouped" in str(caught.value)
        assert "people" in str(caught.value)
    assert not (folder / "published").exists()
    assert check_plan(plan(folder, "size@grouped"), secret=secret).cautions == ()


def test_what_is_out_already_is_warned_about(folder: Path) -> None:
    secret = folder / "office.secret"
    # Published when nothing was declared; then the schema of the store says more.
    plain = without_identities(SCHEMA)
    shutil.rmtree(folder / "census.store")
    housed(folder / "census.store", schema=plain)
    publish(plan(folder, "size"), secret=secret)
    shutil.rmtree(folder / "census.store")
    housed(folder / "census.store")
    [caution] = check_plan(plan(folder, "size"), secret=secret).cautions
    assert "published already" in caution
    assert "people" in caution


def test_required_tables_are_warned_about_with_their_number() -> None:
    tables = [
        TiedTable("homes", replace(spec("area", "size", of=Entity.HOUSEHOLD), name="homes")),
        TiedTable("a", replace(spec("area", "size"), name="a"), required=True),
        TiedTable("b", replace(spec("size", "sex"), name="b"), required=True),
    ]
    # The office's own table of households completes it, and can be left out.
    with pytest.raises(Refused, match="publish no tables of households"):
        check_tables(SCHEMA, tables)
    [caution] = check_tables(SCHEMA, [replace(table, required=True) for table in tables])
    assert "(2): a and b" in caution
    with pytest.raises(Refused):
        check_tables(SCHEMA, [replace(table, required=False) for table in tables])


HOMES = """
[[table]]
name = "homes"
of = "households"
rows = ["area"]
columns = ["size"]
"""
PEOPLE = """
[[table]]
name = "people"
rows = ["area"]
columns = ["size"]
"""


@pytest.mark.parametrize("order", [(HOMES, PEOPLE), (PEOPLE, HOMES)])
def test_what_another_plan_has_published_counts(folder: Path, order: tuple[str, str]) -> None:
    secret = folder / "office.secret"
    head = PLAN.partition("[output]")[0]
    for at, (name, table) in enumerate(zip(("first", "second"), order, strict=True)):
        output = f'[output]\nfolder = "{name}"\noffice_folder = "office"\n'
        path = folder / f"{name}.toml"
        path.write_text(head + output + table, encoding="utf-8", newline="\n")
        if at == 0:
            publish(path, secret=secret)
            continue
        with pytest.raises(Refused, match="once more"):
            publish(path, secret=secret)
        assert not (folder / name).exists()
    # The first one may be published again.
    assert publish(folder / "first.toml", secret=secret).unchanged
