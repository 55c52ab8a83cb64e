"""Whoever walks through the whole menu is seen; whoever works on a subject is not."""

from __future__ import annotations

import itertools
import random

import pytest

from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.watch import Pattern, Watch, WatchAlarm, WatchLimits
from tests.session.watch.research_sessions import SESSIONS
from tests.session.watch.test_research_sessions import specs_of

VARIABLES = 24


@pytest.fixture(scope="module")
def crawl(demo_schema: Schema) -> list[TableSpec]:
    """Parish by every two of 24 variables: 276 tables."""
    named = [
        variable
        for variable in demo_schema.variables
        if variable.entity is Entity.PERSON
        and variable.role is not Role.GEOGRAPHY
        and not variable.continuous
        and len(variable.codes) > 1
    ]
    names = [f"{one.name}@{_coarse(one.name, demo_schema)}" for one in named][:VARIABLES]
    assert len(names) == VARIABLES
    tables = [
        TableSpec.build(demo_schema, ("ed@parish", *two))
        for two in itertools.combinations(names, 2)
    ]
    assert len(tables) == 276
    return tables


def _coarse(name: str, schema: Schema) -> str:
    levels = [level for level in schema.variable(name).levels() if len(level.codes) > 1]
    return min(levels, key=lambda level: len(level.codes)).name


def coverage_alarms(
    watch: Watch, tables: list[TableSpec], step: float
) -> list[tuple[int, WatchAlarm]]:
    return [
        (at, alarm)
        for at, spec in enumerate(tables)
        for alarm in watch.seen("crawler", spec, step * at).alarms
        if alarm.pattern is Pattern.COVERAGE
    ]


@pytest.mark.parametrize(("seed", "step"), [(None, 1.0), (1, 60.0), (2, 30 * 86_400.0)])
def test_a_crawl_of_276_parish_tables_raises_an_alarm(
    crawl: list[TableSpec], seed: int | None, step: float
) -> None:
    """In order or in none, within five minutes or at one table a month."""
    tables = list(crawl)
    if seed is not None:
        random.Random(seed).shuffle(tables)
    # A country so large that none of these tables is worth averaging or walking through.
    watch = Watch(limits=WatchLimits(information=1e6, information_all=1e6, scanned=1e6))
    alarms = coverage_alarms(watch, tables, step)
    assert alarms
    first, alarm = alarms[0]
    assert first < 120
    assert alarm.sentence.startswith("The account crawler went through")
    assert "persons by ed@parish" in alarm.sentence
    assert watch.score("crawler").covered > 200


def test_ten_research_sessions_come_nowhere_near(demo_schema: Schema) -> None:
    together = Watch()
    for name in SESSIONS:
        alone = Watch()
        for at, spec in enumerate(specs_of(demo_schema, name)):
            alone.seen(name, spec, float(at))
            together.seen("all", spec, float(at))
        assert alone.score(name).covered <= 16
    assert together.score("all").covered <= 46
    assert not together.report().alarms


def test_filters_are_a_walk_too(demo_schema: Schema, crawl: list[TableSpec]) -> None:
    """The same tables asked for under conditions, a code of one variable at a time."""
    shown, filtered = Watch(), Watch()
    for spec in crawl[:12]:
        shown.seen("a", spec, 0.0)
        area, first, second = spec.axes
        code = second.variable.codes[0].code
        by = (f"ed@{area.levels[0].name}", f"{first.variable.name}@{first.levels[0].name}")
        where = f"{second.variable.name} == '{code}'"
        filtered.seen("a", TableSpec.build(demo_schema, by, universe=where), 0.0)
    assert filtered.score("a").covered >= shown.score("a").covered > 0


def test_the_whole_of_a_small_menu_is_seen() -> None:
    for variables in (3, 5, 10, 14, 100):
        limits = WatchLimits.for_menu(looks=1.0, units=1e6, variables=variables)
        assert limits.covered <= variables * (variables - 1) / 2
    assert WatchLimits.for_menu(looks=1.0, units=1e6).covered == WatchLimits().covered
