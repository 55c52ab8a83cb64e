"""The policy, the roles and the notes of answers."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from sdcensus.errors import QuestionError, Refused, SecretError, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import (
    AtLevel,
    Decided,
    Limits,
    NotOffered,
    OnlineRules,
    Policy,
    RecordSet,
    RoleRules,
    UserRole,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import table_format
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import form_names, open_service, question_of, render, told_example
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.policy import Outcome, ReasonCode
from sdcensus.session.protect.table import exempting
from sdcensus.testing.island import SECRET, island
from tests.session.answer.services import METHOD, asked, published, service, values

SPARSE = OnlineRules(mean_cell_size=2)


def test_sparse_areas_are_withheld_whatever_filter_is_asked_for() -> None:
    made = service(400, online=SPARSE)
    whole = made.answer(asked("area", "age", "married"))
    assert whole.verdict.outcome is Outcome.WITHHELD
    assert whole.table is not None
    assert whole.table.marks is not None
    withheld = {code for one in whole.verdict.withheld for code in one.codes}
    assert withheld
    assert whole.areas == 7
    assert whole.available == 7 - len(withheld)
    for area in range(7):
        code = f"P{area}"
        sliced = made.answer(asked("age", "married", where=f"area == '{code}'"))
        narrowed = made.answer(asked("area", "age", "married", codes={"area": [code]}))
        one = made.answer(asked("area", "age", where="married == 1", codes={"area": [code]}))
        for answer in (sliced, narrowed, one):
            refused = answer.verdict.outcome is Outcome.REFUSED
            assert refused is (code in withheld)
            assert (answer.table is None) is refused


def test_groups_that_hold_a_withheld_area_are_withheld() -> None:
    made = service(400, online=SPARSE)
    whole = made.answer(asked("area", "age", "married"))
    hidden = next(code for one in whole.verdict.withheld for code in one.codes)
    open_ = next(f"P{at}" for at in range(7) if f"P{at}" not in whole.verdict.withheld[0].codes)
    groups = [{"label": "a", "codes": [hidden, open_]}, {"label": "b", "codes": [open_]}]
    answer = made.answer(asked("area", "age", "married", groups={"area": groups}))
    assert answer.table is not None
    assert answer.table.marks is not None
    assert (answer.table.marks[0] == Mark.REFUSED).all()
    assert not answer.table.values[0].any()
    assert not answer.table.marks[1].any()
    assert (answer.areas, answer.available) == (2, 1)


def test_small_values_become_c_in_sparse_areas_and_sums_of_them_too() -> None:
    rules = OnlineRules(mean_cell_size=2, when_sparse=WhenSparse.C, below=6)
    made = service(400, online=rules)
    by = ("area", "age", "married")
    answer = made.answer(asked(*by))
    numbers = published(made, *by).published
    assert answer.table is not None
    assert answer.table.marks is not None
    marks = answer.table.marks
    assert set(np.unique(marks)) == {0, Mark.WITHHELD}
    assert (numbers[marks != 0] < 6).all()
    np.testing.assert_array_equal(values(answer)[marks == 0], numbers[marks == 0])
    grouped = made.answer(asked(*by, groups={"age": [{"label": "g", "codes": ["1", "2", "4"]}]}))
    axis = published(made, *by).spec.axes[1]
    parts = [axis.position(code) for code in ("1", "2", "4")]
    assert grouped.table is not None
    assert grouped.table.marks is not None
    np.testing.assert_array_equal(
        grouped.table.marks[:, 0] != 0, (marks[:, parts] != 0).any(axis=1)
    )


def test_all_roles_see_the_same_numbers_and_differ_in_limits_only() -> None:
    roles = (
        RoleRules(role=UserRole.REGISTERED, dimensions=4, cells=1_000),
        RoleRules(role=UserRole.STAFF, dimensions=4, cells=10_000),
    )
    made = service(limits=Limits(dimensions=2, cells=100), roles=roles)
    for role in (UserRole.REGISTERED, UserRole.STAFF):
        np.testing.assert_array_equal(
            values(made.answer(asked("area", "sex"), role)),
            values(made.answer(asked("area", "sex"))),
        )
    large = asked("area", "sex", "age")
    assert made.answer(large).verdict.outcome is Outcome.REFUSED
    assert made.answer(large).table is None
    codes = {reason.code for reason in made.answer(large).verdict.reasons}
    assert codes == {ReasonCode.TOO_MANY_VARIABLES, ReasonCode.TOO_MANY_CELLS}
    assert made.answer(large, UserRole.REGISTERED).table is not None


def test_the_limit_counts_the_cells_that_are_shown() -> None:
    made = service(limits=Limits(dimensions=3, cells=50))
    assert made.check(asked("area", "age")).verdict.outcome is Outcome.REFUSED
    narrowed = asked("area", "age", codes={"area": ["P0", "P1"]})
    checked = made.check(narrowed)
    assert (checked.cells, checked.limit) == (3 * 11, 50)
    assert checked.verdict.outcome is Outcome.ALLOWED
    assert made.answer(narrowed).table is not None


def test_exempt_totals_are_exact_in_every_answer() -> None:
    census = island(2_000)
    sets = (RecordSet("persons by district", Entity.PERSON, ("area@district",)),)
    policy = Policy(name="exact", schema=census.schema, exempt=sets)
    made = service(exempt=sets, method=exempting(METHOD, policy))  # type: ignore[arg-type]
    truth = census.tabulate("area@district").values.count
    for question in (
        asked("area@district"),
        asked("area@parish+district", "sex"),
        asked("area@district", codes={"area": ["D0", "D1", "D2"]}),
        asked("area", groups={"area": [{"label": "x", "codes": ["P0", "P1", "P2"]}]}),
    ):
        answer = made.answer(question)
        assert answer.table is not None
        axis = answer.table.axes[0]
        whole = values(answer).reshape(len(axis), -1)[:, -1]
        for at, code in enumerate(axis.codes):
            exact = {"D0": 0, "D1": 1, "D2": 2, "own_1": 0, "_T": 3}.get(code)
            if exact is not None:
                assert whole[at] == truth[exact]


def test_hidden_codes_are_withheld_also_in_sums() -> None:
    hidden = Decided(not_offered=(NotOffered(AtLevel("age", "age"), ("4",)),))
    made = service(decided=hidden)
    answer = made.answer(asked("sex", "age"))
    assert answer.table is not None
    assert answer.table.marks is not None
    at = answer.table.axes[1].codes.index("4")
    assert (answer.table.marks[:, at] == Mark.REFUSED).all()
    grouped = made.answer(asked("age", groups={"age": [{"label": "g", "codes": ["4", "8"]}]}))
    assert grouped.table is not None
    assert grouped.table.marks is not None
    assert grouped.table.marks[0] == Mark.REFUSED


def test_small_values_stand_in_brackets_and_sums_have_a_larger_limit() -> None:
    made = service(300, online=OnlineRules(brackets=10))
    answer = made.answer(asked("area", "age"))
    assert answer.table is not None
    assert answer.table.marks is not None
    low = answer.table.marks == Mark.LOW_RELIABILITY
    numbers = published(made, "area", "age").published
    np.testing.assert_array_equal(low, (numbers > 0) & (numbers < 10))
    np.testing.assert_array_equal(values(answer), numbers)
    grouped = made.answer(asked("sex", where="age in ('0', '4', '5', '9')"))
    assert grouped.parts is not None
    assert grouped.table is not None
    limit = 10 * np.sqrt(grouped.parts)
    marks = grouped.table.marks
    found = np.zeros(grouped.parts.shape, bool) if marks is None else marks != 0
    np.testing.assert_array_equal(found, (values(grouped) > 0) & (values(grouped) < limit))


def test_remedies_are_questions_that_pass() -> None:
    made = service(400, online=SPARSE, limits=Limits(dimensions=3, cells=10_000))
    question = asked("area", "age", "married", "sex")
    answer = made.answer(question)
    assert answer.verdict.outcome is Outcome.REFUSED
    assert answer.verdict.remedies
    for remedy in answer.verdict.remedies:
        helped = made.answer(question_of(remedy, question))
        assert helped.verdict.outcome is not Outcome.REFUSED


def test_the_example_stands_in_the_table() -> None:
    answer = service().answer(asked("area@district", "sex"))
    told = told_example(answer, "en")
    assert told is not None
    assert answer.table is not None
    assert told["sum"] == sum(one["value"] for one in told["parts"]) != told["total"]
    numbers = set(answer.table.values.ravel().tolist())
    assert {told["total"], *(one["value"] for one in told["parts"])} <= numbers


def _group(*codes: str) -> dict[str, object]:
    return {"age": [{"label": "x", "codes": list(codes)}]}


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ({"of": "elephants"}, "of"),
        ({"of": "households"}, "of"),
        ({"by": ["sex", "agee"]}, "by[1]"),
        ({"by": ["sex@nothing"]}, "by[0]"),
        ({"by": ["weight"]}, "by[0]"),
        ({"by": ["age", "age@class"]}, "by"),
        ({"by": ["sex"], "where": "age >"}, "where"),
        ({"by": ["sex"], "where": "age == 77"}, "where"),
        ({"by": ["sex"], "where": "age == 1 and age == 2"}, "where"),
        ({"by": ["sex"], "codes": {"age": ["1"]}}, "codes.age"),
        ({"by": ["age"], "codes": {"age": ["1", "77"]}}, "codes.age[1]"),
        ({"by": ["age"], "groups": _group("77")}, "groups.age[0].codes[0]"),
        ({"by": ["age"], "groups": _group("1", "c0")}, "groups.age[0].codes[1]"),
        ({"by": ["age"], "codes": {"age": ["1"]}, "groups": _group("1")}, "codes.age"),
    ],
)
def test_mistakes_say_which_part_of_the_question_is_wrong(
    question: dict[str, object], place: str
) -> None:
    with pytest.raises(QuestionError) as caught:
        service(50).answer(Question.from_json(question))
    assert caught.value.place == place


def test_a_condition_that_cannot_be_read_points_at_the_character() -> None:
    with pytest.raises(QuestionError) as caught:
        service(50).answer(asked("sex", where="age >= 3 und sex == 1"))
    assert caught.value.at == len("age >= 3 ")


def test_variables_that_can_never_pass_are_not_offered() -> None:
    made = service(
        40,
        online=OnlineRules(mean_cell_size=10),
        variables=(VariableRule(variable="married", offered=False),),
    )
    (population,) = made.catalogue.populations
    # 40 people and ten ages cannot have ten people each; three classes can.
    names = [variable.variable.name for variable in population.variables]
    assert names == ["area", "sex", "age"]
    assert made.answer(made.catalogue.start).table is not None
    # Of 200 people no two groups have 105 each, and one district alone has as many.
    few = service(200, online=OnlineRules(mean_cell_size=105))
    names = [variable.variable.name for variable in few.catalogue.populations[0].variables]
    assert names == ["area"]
    with pytest.raises(SpecError, match="no variable that could ever be shown"):
        _ = service(200, online=OnlineRules(mean_cell_size=500)).catalogue


def test_every_format_holds_the_numbers_and_the_notes() -> None:
    answer = service().answer(asked("area", "sex", where="age >= 2"))
    for name in form_names():
        if table_format(name.removesuffix("-zip")).areas:
            with pytest.raises(SpecError, match="shapes of areas"):
                render(answer, name, "fr")
            continue
        made = render(answer, name, "fr")
        assert made.content
        assert made.filename.startswith("persons-area-sex.")
        assert made == render(answer, name, "fr")
    refused = service(limits=Limits(cells=2)).answer(asked("area", "sex"))
    with pytest.raises(Refused):
        render(refused, "csv", "en")


def test_many_at_once_get_the_same_answer() -> None:
    made = service()
    found: list[bytes] = []

    def ask() -> None:
        found.append(values(made.answer(asked("area", "age", "sex"))).tobytes())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8
    assert len(set(found)) == 1


# ------------------------------------------------------------------------------------- opening


def test_too_little_noise_stays_closed_and_what_would_do_does() -> None:
    census = island(2_000)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=4),
        online=OnlineRules(recovery=0.3),
    )
    with pytest.raises(Refused) as caught:
        open_service(census, policy, options=MethodOptions(scheme="CP3(EU)"), secret=SECRET)
    message = str(caught.value)
    assert "stays closed" in message
    assert "persons" in message
    words = message.split()
    deviation = int(words[words.index("--max-deviation") + 1])
    variance = float(words[words.index("--variance") + 1])
    strong = CellKey(
        design_perturbation(deviation, variance), secret=SECRET.sub_secret(Purpose.LOOKUP, 1)
    )
    from sdcensus.session.answer.budgets import open_budgets

    assert all(budget.met for budget in open_budgets(policy, {Entity.PERSON: strong}))


@pytest.mark.parametrize(
    ("strength", "recovery"), [("medium", 0.4), ("medium", 0.5), ("strong", 0.5)]
)
def test_as_few_variables_as_are_said_to_be_enough_are_enough(
    strength: str, recovery: float
) -> None:
    census, options = island(2_000), MethodOptions(strength=strength)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=4),
        online=OnlineRules(recovery=recovery, smallest_group=20),
    )

    def refusal(dimensions: int) -> str:
        fewer = replace(policy, limits=Limits(dimensions=dimensions))
        try:
            open_service(census, fewer, options=options, secret=SECRET)
        except Refused as error:
            return str(error)
        return ""

    first = refusal(4)
    assert "stays closed" in first
    said = re.search(r"dimensions = ([0-9])", first)
    opened = [dimensions for dimensions in (3, 2) if not refusal(dimensions)]
    assert (int(said[1]) if said else None) == (opened[0] if opened else None)


def test_the_budget_is_that_of_the_widest_role_and_of_tables_of_any_size() -> None:
    roles = (RoleRules(role=UserRole.REGISTERED, dimensions=4, cells=500),)
    policy = Policy(
        name="roles",
        schema=island(10).schema,
        limits=Limits(dimensions=2, cells=100),
        roles=(*roles, RoleRules(role=UserRole.PRODUCTION, dimensions=9)),
    )
    menu = open_menu(policy, Entity.PERSON)
    assert menu is not None
    assert (menu.dimensions, menu.cells) == (4, None)


def test_a_service_keeps_the_look_up_secret_only_and_refuses_another_office() -> None:
    census = island(2_000)
    policy = Policy(name="two", schema=census.schema, limits=Limits(dimensions=1))
    options = MethodOptions(strength="strong")
    made = open_service(census, policy, options=options, secret=SECRET)
    method = made._methods[Entity.PERSON]
    assert type(method.secret).__name__ == "SubSecret"
    with pytest.raises(SecretError):
        open_service(census, policy, options=options, secret=Secret(bytes(range(1, 33))))
    with pytest.raises(Refused, match="by cell keys"):
        open_service(census, policy, method="conventional-rounding", secret=SECRET)
