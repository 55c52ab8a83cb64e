"""Amounts in answers: offered by the policy, shown where counts are, the same everywhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import QuestionError, Refused, SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import AmountRule, AtLevel, Limits, OnlineRules, Policy
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.model.vocabulary import AmountFigure, Measure
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census
from sdcensus.session.policy import tightened
from sdcensus.testing.island import SECRET
from tests.hamlet import write_hamlet

#: What a server holds.
LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)
COUNTS = CellKey(design_perturbation(3, 2.0), secret=LOOKUP)
SUMS = CellKeySums(secret=LOOKUP)
ALL = (AmountFigure.SUM, AmountFigure.MEAN, AmountFigure.MEDIAN)
INCOME = AmountRule(variable="income", measures=ALL)
RENT = AmountRule(variable="rent")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return write_hamlet(tmp_path_factory.mktemp("hamlet")).load()


def service(
    census: Census, *amounts: AmountRule, online: OnlineRules | None = None, **rules: Any
) -> TableService:
    policy = Policy(
        name="test",
        schema=census.schema,
        limits=Limits(dimensions=5),
        online=online or OnlineRules(),
        amounts=amounts,
        **rules,
    )
    units = (Entity.PERSON, Entity.HOUSEHOLD)
    return TableService(
        census, policy, dict.fromkeys(units, COUNTS), sums=dict.fromkeys(units, SUMS)
    )


def asked(measure: str, *by: str, **parts: Any) -> Question:
    return Question.from_json({"of": "persons", "measure": measure, "by": list(by), **parts})


def test_a_server_answers_with_the_sums_that_a_plan_publishes(census: Census) -> None:
    """The server holds the look-up secret only, the office the whole one."""
    answer = service(census, INCOME).answer(asked("sum(income)", "ed@parish+ed", "sex"))
    assert answer.table is not None
    spec = census.spec("ed@parish+ed", "sex", measure="sum(income)")
    plan = CellKeySums(secret=SECRET).protect(census.tabulate(spec)).table
    assert isinstance(plan, Table)
    shown = answer.table.numbered
    assert shown.sum() > 10
    assert np.array_equal(answer.table.values[shown], plan.published[shown])
    assert answer.table.decimals == 2
    assert "income" in answer.table.unit.show("en").lower()


def test_sums_are_shown_where_enough_contributors_are_published(census: Census) -> None:
    made = service(census, AmountRule(variable="income", at_least=30))
    answer = made.answer(asked("sum(income)", "ed", "sex", "age@broad"))
    assert answer.table is not None
    assert answer.table.marks is not None
    spec = census.spec("ed", "sex", "age@broad", measure="sum(income)")
    known = census.tabulate(spec).values.contributions
    assert known is not None
    shown = answer.table.numbered
    # Noise moves a count by 3 at most.
    assert known.contributors[shown].min() >= 27
    assert known.contributors[~shown].max() <= 32
    assert set(np.unique(answer.table.marks)) == {Mark.NONE, Mark.BELOW_THRESHOLD}
    assert not answer.table.values[~shown].any()
    assert any("at least 30" in note.show("en") for note in answer.table.notes)
    fewer = service(census, AmountRule(variable="income", at_least=5))
    more = fewer.answer(asked("sum(income)", "ed", "sex", "age@broad")).table
    assert more is not None
    assert more.numbered.sum() > shown.sum()


def test_sums_are_not_broken_down_where_counts_are_not(census: Census) -> None:
    online = OnlineRules(smallest_group=40)
    made = service(census, AmountRule(variable="income", at_least=3), online=online)
    counts = made.answer(Question.from_json({"of": "persons", "by": ["ed", "sex", "age@broad"]}))
    sums = made.answer(asked("sum(income)", "ed", "sex", "age@broad"))
    assert counts.table is not None
    assert sums.table is not None
    assert counts.table.marks is not None
    assert sums.table.marks is not None
    hidden = counts.table.marks == Mark.NOT_BROKEN_DOWN
    assert hidden.any()
    assert np.array_equal(sums.table.marks == Mark.NOT_BROKEN_DOWN, hidden)


def test_without_a_number_of_its_own_the_smallest_group_is_asked_of_contributors() -> None:
    assert INCOME.contributors(None) == 10
    assert INCOME.contributors(23) == 23
    assert AmountRule(variable="income", at_least=5).contributors(23) == 5


def test_totals_that_are_exact_are_not_exact_numbers_of_contributors(census: Census) -> None:
    from sdcensus.model.policy.policy import RecordSet
    from sdcensus.session.protect.few_contributors import published_contributors

    exact = RecordSet("persons by ed", Entity.PERSON, ("ed",)).spec(census.schema)
    method = COUNTS.exempting([exact])
    cube = census.tabulate(census.spec("ed", measure="sum(income)")).dense
    assert cube is not None
    assert np.array_equal(
        published_contributors(method, cube), published_contributors(COUNTS, cube)
    )


def test_what_is_not_offered_is_refused_with_what_is(census: Census) -> None:
    made = service(census, RENT, AmountRule(variable="income", measures=(AmountFigure.MEAN,)))
    for question in (asked("sum(income)", "sex"),):
        for verdict in (made.answer(question).verdict, made.check(question).verdict):
            (reason,) = verdict.reasons
            assert reason.code == "measure-not-offered"
            assert reason.sentence == (
                "Not offered on tables of persons: sum of income. Offered are: mean of income."
            )
    assert made.answer(asked("sum(income)", "sex")).table is None
    none = service(census).answer(asked("mean(income)", "sex")).verdict
    assert "counts only" in none.reasons[0].sentence


def test_areas_that_are_too_fine_for_an_amount_are_refused_with_a_remedy(census: Census) -> None:
    rule = AmountRule(variable="income", finest_area=AtLevel("ed", "parish"))
    made = service(census, rule)
    refused = made.check(asked("sum(income)", "ed", "sex")).verdict
    assert [reason.code for reason in refused.reasons] == ["level-too-fine"]
    assert any("ed@parish" in remedy.by for remedy in refused.remedies)
    assert made.answer(asked("sum(income)", "ed", "sex")).table is None
    assert made.answer(asked("sum(income)", "ed@parish", "sex")).table is not None
    assert made.answer(asked("sum(income)", "sex", where="ed == 'E1'")).table is None
    counts = made.answer(Question.from_json({"of": "persons", "by": ["ed", "sex"]}))
    assert counts.table is not None


def test_an_amount_is_shown_by_its_own_variables_only(census: Census) -> None:
    rule = AmountRule(variable="income", by=(AtLevel("sex"), AtLevel("age", "broad")), dimensions=1)
    made = service(census, rule)
    assert made.answer(asked("sum(income)", "age@broad")).table is not None

    def reasons(*by: str, **parts: Any) -> list[str]:
        return [
            each.sentence
            for each in made.answer(asked("sum(income)", *by, **parts)).verdict.reasons
        ]

    why = "Area (ed) is not offered together with sum of income, which can be shown by sex and"
    why += " age@broad."
    assert reasons("ed@parish") == [why]
    assert reasons("sex", where="ed == 'E1'")[0] == why
    assert "at most 1" in reasons("sex", "age@broad")[0]
    assert "level broad" in reasons("age@ten_year")[0]
    # A group of codes is put together of the levels that are open for the amount.
    groups = {"age": [{"label": "Two", "codes": ["ten_year:0-9", "ten_year:10-19"]}]}
    assert reasons("age", groups=groups)


def test_a_median_is_shown_by_no_more_than_its_amount(census: Census) -> None:
    """It is computed of counts, which are offered by more."""
    rule = AmountRule(
        variable="income",
        measures=(AmountFigure.MEDIAN,),
        by=(AtLevel("ed"), AtLevel("sex")),
        dimensions=1,
        finest_area=AtLevel("ed", "parish"),
    )
    made = service(census, rule)
    for by, why in ((("age@broad",), "not offered together"), (("ed",), "parish")):
        question = asked("median(income)", *by)
        for verdict in (made.check(question).verdict, made.answer(question).verdict):
            assert any(why in reason.sentence for reason in verdict.reasons)
        assert made.answer(question).table is None
        assert made.answer(Question.from_json({"of": "persons", "by": list(by)})).table is not None
    assert made.answer(asked("median(income)", "ed@parish", "sex")).table is None
    assert made.answer(asked("median(income)", "ed@parish")).table is not None


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("total(income)", "There is no measure"),
        ("sum", "There is no measure"),
        ("sum()", "There is no measure"),
        ("sum(income) of all", "There is no measure"),
        ("sum(nothing)", "nothing"),
        ("sum(sex)", "cannot be summed"),
        ("sum(rent)", "describes households"),
    ],
)
def test_a_measure_that_means_nothing_is_a_mistake(
    census: Census, measure: str, message: str
) -> None:
    with pytest.raises(QuestionError, match=message) as mistake:
        service(census, INCOME, RENT).answer(asked(measure, "sex"))
    assert mistake.value.place == "measure"


def test_a_question_is_the_same_however_it_is_written() -> None:
    plain = asked("sum(income)", "sex")
    assert asked(" sum( income ) ", "sex") == plain
    assert Question.from_parameters(plain.to_parameters()) == plain
    assert asked("count", "sex") == Question.from_json({"of": "persons", "by": ["sex"]})
    assert plain.text != asked("mean(income)", "sex").text


def plan_figures(census: Census, kind: str, variable: str, *by: str) -> Any:
    """The figures that a plan publishes under the same methods."""
    from sdcensus.model.plan.plan import PlannedIndicator
    from sdcensus.model.published.figures import Counted
    from sdcensus.session.figures.indicators import indicator_product

    of = census.schema.variable(variable).entity
    decimals = 1 if kind == "median" else 2
    planned = PlannedIndicator(
        name="figures", kind=kind, of=of, variable=variable, by=by, decimals=decimals
    )
    product = indicator_product(planned, census.schema)
    counted = []
    for spec in product.specs:
        method = (
            CellKeySums(secret=SECRET) if spec.measure.is_sum else replace(COUNTS, secret=SECRET)
        )
        table = method.protect(census.tabulate(spec)).table
        assert isinstance(table, Table)
        counted.append(Counted(table.published))
    return product.compute(counted)


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_means_and_medians_are_those_that_a_plan_publishes(census: Census, kind: str) -> None:
    by = ("ed@parish+ed", "sex")
    table = service(census, INCOME).answer(asked(f"{kind}(income)", *by)).table
    assert table is not None
    figures = plan_figures(census, kind, "income", *by)
    shown = table.numbered
    assert shown.sum() >= 10
    assert table.decimals == figures.decimals
    assert np.array_equal(table.values[shown], figures.values[shown])
    assert [axis.column for axis in table.axes] == ["ed", "sex"]
    assert kind in table.title.show("en").lower()


def test_a_mean_is_not_shown_where_its_sum_is_not(census: Census) -> None:
    made = service(census, AmountRule(variable="income", measures=ALL, at_least=30))
    sums = made.answer(asked("sum(income)", "ed", "sex", "age@broad")).table
    means = made.answer(asked("mean(income)", "ed", "sex", "age@broad")).table
    assert sums is not None
    assert means is not None
    assert not (means.numbered & ~sums.numbered).any()


def test_a_mean_counts_the_amount_among_its_variables(census: Census) -> None:
    two = Limits(dimensions=2)
    made = TableService(
        census,
        Policy(name="test", schema=census.schema, amounts=(INCOME,), limits=two),
        {Entity.PERSON: COUNTS},
        sums={Entity.PERSON: SUMS},
    )
    assert made.answer(asked("sum(income)", "ed@parish", "sex")).table is not None
    for measure in ("mean(income)", "median(income)"):
        refused = made.check(asked(measure, "ed@parish", "sex")).verdict
        assert [reason.code for reason in refused.reasons] == ["too-many-variables"]
        assert made.answer(asked(measure, "ed@parish", "sex")).table is None
        assert made.answer(asked(measure, "ed@parish")).table is not None


def test_a_median_is_shown_by_what_its_amount_is_shown_by(census: Census) -> None:
    rule = AmountRule(
        variable="income",
        measures=ALL,
        by=(AtLevel("ed"), AtLevel("age", "broad")),
        dimensions=1,
        finest_area=AtLevel("ed", "parish"),
    )
    made = service(census, rule)
    for figure in ("median", "mean", "sum"):
        for by, code in (
            (("ed",), "level-too-fine"),
            (("sex",), "variable-not-offered"),
            (("ed@parish", "age@broad"), "too-many-variables"),
        ):
            refused = made.answer(asked(f"{figure}(income)", *by))
            assert refused.table is None, (figure, by)
            assert code in [reason.code for reason in refused.verdict.reasons]
        assert made.answer(asked(f"{figure}(income)", "ed@parish")).table is not None


@pytest.mark.parametrize("measure", ["mean(income)", "median(income)"])
def test_an_amount_is_no_group_of_its_own_mean(census: Census, measure: str) -> None:
    with pytest.raises(QuestionError, match="both a group") as mistake:
        service(census, INCOME).answer(asked(measure, "sex", "income@bracket"))
    assert mistake.value.place == "by[1]"


@pytest.mark.parametrize(
    "parts",
    [
        {"groups": {"income": [{"label": "Few", "codes": ["0-999"]}]}},
        {"codes": {"income": ["0-999"]}},
    ],
)
def test_groups_of_the_amount_itself_are_a_mistake(census: Census, parts: dict[str, Any]) -> None:
    for measure in ("mean(income)", "median(income)"):
        with pytest.raises(QuestionError, match="both a group"):
            service(census, INCOME).answer(asked(measure, "sex", **parts))


def test_weighted_answers_are_of_weighted_sums(census: Census) -> None:
    made = service(census, INCOME, measure=Measure.WEIGHTED)
    sums = made.answer(asked("sum(income)", "ed@parish")).table
    means = made.answer(asked("mean(income)", "ed@parish")).table
    assert sums is not None
    assert means is not None
    spec = census.spec("ed@parish", measure="weighted-sum(income)")
    plan = CellKeySums(secret=SECRET).protect(census.tabulate(spec)).table.whole()
    assert np.array_equal(sums.values[sums.numbered], plan.published[sums.numbered])
    assert all(500 < value / 100 < 3_500 for value in means.values[means.numbered])


def test_sums_without_a_method_are_not_offered(census: Census) -> None:
    policy = Policy(name="test", schema=census.schema, amounts=(INCOME,))
    with pytest.raises(SpecError, match="no method for sums of persons"):
        TableService(census, policy, {Entity.PERSON: COUNTS})


def test_conditions_and_own_groups_have_means(census: Census) -> None:
    made = service(census, INCOME)
    groups = {"ed": [{"label": "Two", "codes": ["E1", "E3"]}]}
    parts = {"where": "age >= 15 and married == 1", "groups": groups}
    sums = made.answer(asked("sum(income)", "ed", **parts)).table
    means = made.answer(asked("mean(income)", "ed", **parts)).table
    assert sums is not None
    assert means is not None
    assert means.values.shape == sums.values.shape
    assert 0 < means.values[0] / 100 < 4_000


@pytest.mark.parametrize("measure", ["sum(income)", "mean(income)"])
def test_an_amount_is_not_shown_under_a_condition_on_itself(census: Census, measure: str) -> None:
    """The sum of incomes from 1000 to 2499, divided by 1750, is a count without its noise."""
    made = service(census, INCOME)
    question = asked(measure, "sex", where="income@bracket == '1000-2499'")
    for answer in (made.answer(question), made.check(question)):
        assert [reason.words for reason in answer.verdict.reasons] == ["amount-by-its-classes"]
    assert made.answer(question).table is None
    median = made.answer(asked("median(income)", "sex", where="income@bracket == '1000-2499'"))
    assert median.table is not None  # which is made of counts alone


def test_a_sum_is_not_shown_by_classes_of_its_amount(census: Census) -> None:
    made = service(census, INCOME)
    groups = {"income": [{"label": "Some", "codes": ["1000-2499"]}]}
    for parts in ({"by": ["ed", "income@bracket"]}, {"by": ["income"], "groups": groups}):
        question = Question.from_json({"of": "persons", "measure": "sum(income)", **parts})
        assert made.answer(question).table is None
    counts = made.answer(Question.from_json({"of": "persons", "by": ["ed", "income@bracket"]}))
    assert counts.table is not None


def test_own_groups_are_sums_of_published_sums(census: Census) -> None:
    groups = {"ed": [{"label": "Coast", "codes": ["E1", "E3"]}]}
    made = service(census, INCOME)
    own = made.answer(asked("sum(income)", "ed", groups=groups)).table
    plain = made.answer(asked("sum(income)", "ed")).table
    assert own is not None
    assert plain is not None
    assert own.values[0] == plain.values[0] + plain.values[2]
    assert own.decimals == 2


def test_looks_at_sums_are_another_series_than_looks_at_counts(census: Census) -> None:
    made = service(census, INCOME)
    sums = made.watched(asked("sum(income)", "sex"))
    counts = made.watched(Question.from_json({"of": "persons", "by": ["sex"]}))
    assert sums.hash() != counts.hash()
    assert sums.amount is not None
    assert sums.amount.name == "income"


@pytest.mark.parametrize(
    ("said", "looser"),
    [
        ({"rent": {}}, "amount.rent: offered"),
        ({"income": {"measures": ["sum", "median"]}}, "amount.income.measures: median"),
        ({"income": {"by": ["sex", "ed"]}}, "amount.income.by"),
        ({"income": {"dimensions": 3}}, "amount.income.dimensions: 3 instead of 2"),
        ({"income": {"finest_area": "ed"}}, "amount.income.finest_area: ed instead of ed@parish"),
        ({"income": {"at_least": 5}}, "amount.income.at_least: 5 instead of 20"),
        ({"income": {"noise_left": 0.01}}, "amount.income.noise_left: 0.01 instead of 0.03"),
    ],
)
def test_a_locked_policy_offers_no_more_of_amounts(
    census: Census, said: dict[str, Any], looser: str
) -> None:
    rule = AmountRule(
        variable="income",
        measures=(AmountFigure.SUM,),
        by=(AtLevel("sex"),),
        dimensions=2,
        finest_area=AtLevel("ed", "parish"),
        at_least=20,
        noise_left=0.03,
    )
    policy = Policy(name="test", schema=census.schema, lock=True, amounts=(rule,))
    with pytest.raises(Refused, match=looser):
        tightened(policy, {"amount": said})
    stricter = tightened(policy, {"amount": {"income": {"at_least": 40, "dimensions": 1}}})
    assert stricter.amounts[0].at_least == 40


def test_a_policy_that_contradicts_itself_about_amounts_is_refused(census: Census) -> None:
    def problems(rule: AmountRule) -> str:
        from sdcensus.model.policy.policy import PolicyProblems

        with pytest.raises(PolicyProblems) as found:
            service(census, rule)
        return str(found.value)

    assert "continuous" in problems(AmountRule(variable="sex"))
    assert "incomes" in problems(AmountRule(variable="incomes"))
    assert "amount" in problems(AmountRule(variable="weight"))
    assert "has none" in problems(AmountRule(variable="rent", measures=(AmountFigure.MEDIAN,)))
    assert "Name measures" in problems(AmountRule(variable="income", measures=()))
    assert "'at_least'" in problems(AmountRule(variable="income", at_least=1))
    assert "'noise_left'" in problems(AmountRule(variable="income", noise_left=0))
    assert "nowhere" in problems(AmountRule(variable="income", finest_area=AtLevel("nowhere")))


def test_notes_have_the_decimals_and_no_sums_beside_means(census: Census) -> None:
    made = service(census, INCOME)
    sums = made.answer(asked("sum(income)", "ed@parish")).table
    assert sums is not None
    text = " ".join(note.show("en") for note in sums.notes)
    assert f"{sums.values[-1] / 100:,.2f}" in text
    means = made.answer(asked("mean(income)", "ed@parish")).table
    assert means is not None
    assert not any("Example" in note.show("en") for note in means.notes)


def test_files_have_the_decimals_and_the_unit(census: Census) -> None:
    from sdcensus.session.answer import json_stat, render

    answer = service(census, INCOME).answer(asked("sum(income)", "sex"))
    assert answer.table is not None
    dataset = json_stat(answer.table, "en")
    assert float(dataset["value"][0]) == answer.table.values[0] / 100
    text = render(answer, "csv", "en").content.decode()
    assert f"{answer.table.values[0] / 100:.2f}" in text
    assert render(answer, "xlsx", "en").content[:2] == b"PK"


def test_the_store_is_not_needed_beyond_its_folder(tmp_path: Path) -> None:
    """Households have amounts of their own."""
    census = write_hamlet(tmp_path).load()
    made = service(census, RENT)
    question = Question.from_json({"of": "households", "measure": "sum(rent)", "by": ["ed@parish"]})
    table = made.answer(question).table
    assert table is not None
    assert table.numbered.any()
