"""What the watch sees, and what it never does."""

from __future__ import annotations

import dataclasses
import itertools
import math
import threading

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Level
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.watch import Observation, Pattern, Watch, WatchAlarm, WatchLimits
from sdcensus.testing.island import island_schema

ISLAND = island_schema()
#: So strict that the small island alarms all the time.
STRICT = WatchLimits(
    information=1.5,
    information_all=2.0,
    differences=1.0,
    differences_all=2.0,
    scanned=2.0,
    units=500,
    small=100,
    fine=50,
)

AXES = ("area", "area@district", "sex", "age", "age@class", "age@half", "marital", "sex-total")
CONDITIONS = (
    "",
    "sex == '0'",
    "age >= 3",
    "age >= 4",
    "age >= 5",
    "area == 'P3'",
    "area == 'P4' and sex == '1'",
    "sex == '0' or age >= 7",
)


def spec_of(schema: Schema, *by: str, where: str = "") -> TableSpec:
    return TableSpec.build(schema, by, universe=where or None)


def _distinct(axes: list[str]) -> list[str]:
    return list({axis.partition("@")[0].partition("-")[0]: axis for axis in axes}.values())


ISLAND_AXES = [
    one
    for one in AXES
    if one.partition("@")[0].partition("-")[0] in {variable.name for variable in ISLAND.variables}
]
specs = st.builds(
    lambda axes, where: spec_of(ISLAND, *_distinct(axes), where=where),
    st.lists(st.sampled_from(ISLAND_AXES), max_size=4),
    st.sampled_from(CONDITIONS),
)
series = st.lists(
    st.tuples(st.sampled_from("abc"), specs, st.floats(allow_nan=True, allow_infinity=True)),
    max_size=25,
)


@given(series)
def test_whatever_is_asked_it_answers_with_a_bounded_delay(
    asked: list[tuple[str, TableSpec, float]],
) -> None:
    """There is no way to say no: a score, a delay, and alarms for the staff."""
    assert {field.name for field in dataclasses.fields(Observation)} == {"score", "delay", "alarms"}
    watch = Watch(limits=STRICT)
    for who, spec, at in asked:
        seen = watch.seen(who, spec, at)
        assert type(seen) is Observation
        assert 0 <= seen.delay <= STRICT.longest_delay
        assert seen.score >= 0
        assert math.isfinite(seen.score)
        for alarm in seen.alarms:
            assert alarm.sentence
            assert alarm.score >= 1 - 1e-3
            assert math.isfinite(alarm.score)
    assert watch.report().everybody.questions == len(asked)


@given(series)
def test_nobody_changes_what_another_one_is_told(
    asked: list[tuple[str, TableSpec, float]],
) -> None:
    together, alone = Watch(limits=STRICT), Watch(limits=STRICT)
    asked = [(who, spec, float(at)) for at, (who, spec, _) in enumerate(asked)]
    for who, spec, at in asked:
        seen = together.seen(who, spec, at)
        if who == "a":
            own = alone.seen(who, spec, at)
            assert (own.score, own.delay) == (seen.score, seen.delay)
            assert [alarm for alarm in own.alarms if alarm.who == "a"] == [
                alarm for alarm in seen.alarms if alarm.who == "a"
            ]


@given(series)
def test_a_watch_that_is_rebuilt_from_the_audit_is_the_same(
    asked: list[tuple[str, TableSpec, float]],
) -> None:
    asked = [(who, spec, 1000.0 * at) for at, (who, spec, _) in enumerate(asked)]
    watch, again = Watch(limits=STRICT), Watch(limits=STRICT)
    for who, spec, at in asked:
        watch.seen(who, spec, at)
    assert again.restore(asked) == len(asked)
    assert again.report() == watch.report()


@given(st.lists(specs, min_size=1, max_size=8))
def test_repeated_tables_and_other_spellings_add_nothing(asked: list[TableSpec]) -> None:
    watch = Watch(limits=dataclasses.replace(STRICT, information=100.0, scanned=100.0))
    for spec in asked:
        watch.seen("a", spec, 0.0)
    before = watch.score("a")
    for spec in asked:
        turned = dataclasses.replace(spec, axes=spec.axes[::-1], name="another name")
        seen = watch.seen("a", turned, 0.0)
        assert not seen.alarms
    after = watch.score("a")
    assert dataclasses.replace(after, questions=0) == dataclasses.replace(before, questions=0)


def test_slices_of_a_table_are_the_table(demo_schema: Schema) -> None:
    """One area at a time, the two sexes apart, or at once: the same published values."""
    whole, slices = Watch(), Watch()
    whole.seen("a", spec_of(demo_schema, "ed@parish", "age@five_year", "sex-total"), 0.0)
    for parish, sex in itertools.product(demo_schema.variable("ed").level("parish").codes, "12"):
        where = f"ed@parish == '{parish.code}' and sex == '{sex}'"
        slices.seen("a", spec_of(demo_schema, "age@five_year", where=where), 0.0)
    one, other = whole.score("a"), slices.score("a")
    assert one.information == pytest.approx(other.information)
    assert one.target == other.target


def test_own_groups_are_the_declared_codes_that_they_are_made_of(demo_schema: Schema) -> None:
    """They are sums of published values, without noise of their own."""
    age = demo_schema.variable("age")
    watch = Watch()
    declared = spec_of(demo_schema, "ed@parish", "age@five_year+broad", "marital_status")
    watch.seen("a", declared, 0.0)
    before = watch.score("a").information
    other = spec_of(demo_schema, "ed@parish", "marital_status")
    five = age.level("five_year").group
    adults = age.level("five_year").group[15]
    for cut in (at for at in range(2, 18) if at != adults):
        own = Level("mine", (Code("y"), Code("o")), tuple(int(one >= cut) for one in five))
        axis = make_axis(age, [own], total=True)
        seen = watch.seen("a", other.with_axes([*other.axes, axis]), 0.0)
        assert not seen.alarms
    assert watch.score("a").information == before
    # 15 and over is declared, and seen for the first time.
    watch.seen("a", spec_of(demo_schema, "ed@parish", "age@adults", "marital_status"), 0.0)
    assert watch.score("a").information > before


def _alarms(watch: Watch, asked: list[TableSpec], who: str = "eve") -> list[WatchAlarm]:
    return [
        alarm for at, spec in enumerate(asked) for alarm in watch.seen(who, spec, float(at)).alarms
    ]


def test_conditions_that_leave_out_one_code_after_the_other_are_differencing(
    demo_schema: Schema,
) -> None:
    asked = [spec_of(demo_schema, "education")]
    for year in range(20, 60):
        asked.append(spec_of(demo_schema, "education", where=f"age != {year}"))
    watch = Watch()
    raised = _alarms(watch, asked)
    assert {one.pattern for one in raised} == {Pattern.DIFFERENCING}
    values = dict(raised[0].values)
    assert values["variable"] == "age"
    assert values["times"] == WatchLimits().differences
    assert "differs by at most 2 codes" in raised[0].sentence
    assert watch.seen("eve", spec_of(demo_schema, "education", where="age != 70"), 60.0).delay > 0
    # The same, but the whole comes last.
    assert _alarms(late := Watch(), asked[1:]) == []
    assert [alarm.pattern for alarm in late.seen("eve", asked[0], 50.0).alarms] == [
        Pattern.DIFFERENCING
    ]


def test_nested_areas_that_grow_by_one_are_differencing(demo_schema: Schema) -> None:
    """A parish is many enumeration districts and yet one code."""
    eds = [code.code for code in demo_schema.variable("ed").codes]
    names = [", ".join(f"'{one}'" for one in eds[: 40 + at]) for at in range(30)]
    asked = [spec_of(demo_schema, "religion", where=f"ed in ({name})") for name in names]
    assert Pattern.DIFFERENCING in {alarm.pattern for alarm in _alarms(Watch(), asked)}
    parishes = [code.code for code in demo_schema.variable("ed").level("parish").codes]
    asked = [
        spec_of(demo_schema, axis, *also, where=f"ed@parish != '{parish}'")
        for axis in ("religion", "ethnicity")
        for also in ([], ["sex"])
        for parish in parishes
    ]
    asked += [spec_of(demo_schema, *by) for by in (["religion"], ["ethnicity"])]
    watch = Watch()
    _alarms(watch, asked)
    # Two of the parishes are too large: a fifth of the island is more than a few codes.
    size = [demo_schema.variable("ed").level("parish").group.count(at) for at in range(14)]
    near = sum(one <= 0.2 * len(eds) for one in size)
    assert near == 12
    assert watch.score("eve").differences == pytest.approx(2 * near, rel=1e-3)


def test_areas_that_the_table_shows_are_no_differencing(demo_schema: Schema) -> None:
    """Somebody adds areas to a table one by one: each has its own row anyway."""
    codes = [code.code for code in demo_schema.variable("ed").codes]
    watch = Watch()
    for at in range(10, 60):
        chosen = ", ".join(f"'{code}'" for code in codes[:at])
        watch.seen("a", spec_of(demo_schema, "ed", "sex", where=f"ed in ({chosen})"), float(at))
    assert watch.score("a").differences == 0


def test_odd_conditions_that_leave_out_single_combinations_are_differencing(
    demo_schema: Schema,
) -> None:
    asked = [spec_of(demo_schema, "education")]
    for year in range(20, 60):
        where = f"not (age == {year} and marital_status == '2')"
        asked.append(spec_of(demo_schema, "education", where=where))
    raised = _alarms(Watch(), asked)
    assert {one.pattern for one in raised} == {Pattern.DIFFERENCING}
    assert dict(raised[0].values)["variable"] == "age, marital_status"


def test_a_walk_through_single_areas_of_a_fine_table_is_scanning(demo_schema: Schema) -> None:
    codes = [code.code for code in demo_schema.variable("ed").codes]
    fine = [
        spec_of(demo_schema, "age@five_year", "sex", "marital_status", where=f"ed == '{code}'")
        for code in codes
    ]
    watch = Watch()
    raised = _alarms(watch, fine)
    assert next(one.pattern for one in raised if one.who == "eve") is Pattern.SCANNING
    values = dict(raised[0].values)
    assert values["places"] == WatchLimits().scanned
    assert values["variables"] == "ed"
    assert "ed" in str(values["table"])
    # A coarse table for every area is none, nor are a few areas of a fine one.
    coarse = [spec_of(demo_schema, "sex", where=f"ed == '{code}'") for code in codes]
    assert _alarms(Watch(), coarse) == []
    assert _alarms(Watch(), fine[:20]) == []


def test_a_walk_through_cells_by_two_conditions_is_scanning(demo_schema: Schema) -> None:
    parishes = [code.code for code in demo_schema.variable("ed").level("parish").codes]
    ages = [code.code for code in demo_schema.variable("age").level("five_year").codes]
    asked = [
        spec_of(
            demo_schema,
            "occupation@major",
            "sex",
            where=f"ed@parish == '{parish}' and age@five_year == '{age}'",
        )
        for parish, age in itertools.product(parishes[:4], ages[3:14])
    ]
    raised = _alarms(Watch(), asked)
    assert Pattern.SCANNING in {one.pattern for one in raised}


def _walk(schema: Schema) -> list[TableSpec]:
    others = ["sex", "marital_status", "activity", "education@broad", "disability", "ethnicity"]
    others += [
        "health_condition",
        "health_insurance",
        "birthplace@origin",
        "income",
        "religion@faith",
    ]
    pairs = itertools.combinations(others, 2)
    return [spec_of(schema, "ed@parish", "age@five_year", *pair) for pair in pairs]


def test_slowing_down_ages_and_alarms_do_not(demo_schema: Schema) -> None:
    """An attack that is spread over years is not slowed down, and yet seen."""
    year = 365 * 86_400.0
    quick, slow = Watch(), Watch()
    for at, spec in enumerate(_walk(demo_schema)):
        quick.seen("eve", spec, float(at))
        slow.seen("eve", spec, year * at)
    assert quick.score("eve").score > 1
    assert slow.score("eve").score < WatchLimits().slow_from
    assert slow.score("eve").information == pytest.approx(quick.score("eve").information)
    assert {alarm.pattern for alarm in slow.report().alarms} == {Pattern.AVERAGING}
    # And who stops is not slowed down for ever.
    before = quick.score("eve").score
    quick.seen("bob", spec_of(demo_schema, "sex"), year)
    assert quick.score("eve").score < before / 100


def test_only_questions_that_go_on_with_a_pattern_wait(demo_schema: Schema) -> None:
    """Behind one name may be many people; who asks for something else is not slowed down."""
    watch = Watch()
    asked = _walk(demo_schema)
    delays = [watch.seen("anonymous", spec, 0.0).delay for spec in asked]
    assert max(delays) > 0
    for other in (
        spec_of(demo_schema, "sex"),
        spec_of(demo_schema, "ed@parish", "language"),
        spec_of(demo_schema, "occupation", "sex"),
        asked[-1],
    ):
        seen = watch.seen("anonymous", other, 0.0)
        assert seen.delay == 0
        assert seen.score >= 1


def test_the_staff_is_told_at_the_limit_and_when_it_has_grown_by_half(demo_schema: Schema) -> None:
    watch = Watch()
    raised = [alarm for alarm in _alarms(watch, _walk(demo_schema)) if alarm.who == "eve"]
    told = [float(dict(one.values)["information"]) for one in raised]
    assert told[0] >= 6
    assert all(later >= 1.49 * former for former, later in itertools.pairwise(told))
    assert watch.report().raised == len(watch.report().alarms)


def test_memory_is_bounded_and_the_worst_account_is_not_forgotten(demo_schema: Schema) -> None:
    limits = WatchLimits(accounts=40, entries=3_000)
    watch = Watch(limits=limits)
    _alarms(watch, _walk(demo_schema))
    variables = ["sex", "marital_status", "activity", "ethnicity", "religion", "language"]
    pairs = itertools.cycle(itertools.permutations(variables, 2))
    for at in range(600):
        first, second = next(pairs)
        watch.seen(f"user {at}", spec_of(demo_schema, "ed", first, second), 1000.0 + at)
        assert watch.entries <= limits.entries
        assert watch.report().watched <= limits.accounts
    assert watch.report().forgotten > 0
    assert watch.report().accounts[0].who == "eve"


def test_one_account_that_asks_for_everything_does_not_grow_for_ever(
    demo_schema: Schema,
) -> None:
    watch = Watch(limits=WatchLimits(each=100))
    names = [
        "sex",
        "marital_status",
        "activity",
        "ethnicity",
        "religion",
        "education",
        "disability",
    ]
    for one, two in itertools.combinations(names, 2):
        for parish in ("P001", "P002", "P003"):
            where = f"ed@parish == '{parish}'"
            watch.seen("a", spec_of(demo_schema, "age@five_year", one, two, where=where), 0.0)
            assert watch.entries <= 4 * 100 + 10


def test_threads_see_what_one_thread_sees(demo_schema: Schema) -> None:
    asked = _walk(demo_schema)
    alone, shared = Watch(), Watch()
    for spec in asked:
        for who in "abcd":
            alone.seen(who, spec, 0.0)

    def ask(who: str) -> None:
        for spec in asked:
            shared.seen(who, spec, 0.0)

    threads = [threading.Thread(target=ask, args=(who,)) for who in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [shared.score(who) for who in "abcd"] == [alone.score(who) for who in "abcd"]
    assert shared.score().information == pytest.approx(alone.score().information)
    assert shared.score().questions == alone.score().questions


def test_an_account_without_questions_has_no_score() -> None:
    watch = Watch()
    assert watch.score("nobody").score == 0
    assert watch.score("nobody").target == ""
    assert watch.report().accounts == ()
    assert watch.report().everybody.who == "*"


def test_limits_are_numbers_above_zero() -> None:
    for wrong in (
        {"information": 0.0},
        {"half_life": -1.0},
        {"units": math.nan},
        {"entries": 0},
        {"slow_from": 1.5},
    ):
        with pytest.raises(SpecError):
            WatchLimits(**wrong)
    assert WatchLimits(longest_delay=0.0).longest_delay == 0


def test_limits_for_a_menu_follow_its_look_budget() -> None:
    assert WatchLimits.for_menu(looks=5.0, units=50_000).information == 6
    wide = WatchLimits.for_menu(looks=60.0, units=3_000_000)
    assert (wide.information, wide.information_all) == (15, 30)
    assert wide.target_cells == 6_000
