"""Ordinary research is left in peace: ten people at work raise no alarm and wait for nothing."""

from __future__ import annotations

import random

import pytest

from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.watch import Watch, WatchLimits
from tests.session.watch.research_sessions import SESSIONS, questions_of


def specs_of(schema: Schema, session: str) -> list[TableSpec]:
    return [
        TableSpec.build(schema, axes, of=_unit(units), universe=condition or None)
        for units, axes, condition in questions_of(session)
    ]


def _unit(units: str) -> Entity:
    return next(one for one in Entity if one.plural == units)


def test_there_are_ten_sessions_of_ordinary_length() -> None:
    assert len(SESSIONS) == 10
    assert all(20 <= len(questions_of(one)) <= 40 for one in SESSIONS)


@pytest.mark.parametrize("session", SESSIONS)
def test_a_session_raises_no_alarm_and_waits_for_nothing(demo_schema: Schema, session: str) -> None:
    watch = Watch()
    for at, spec in enumerate(specs_of(demo_schema, session)):
        seen = watch.seen(session, spec, 60.0 * at)
        assert not seen.alarms
        assert seen.delay == 0
    # None of them comes near: the slowing down begins at three quarters of a limit.
    assert watch.score(session).score < 0.6
    assert watch.report().raised == 0


def test_all_sessions_together_and_again_raise_no_alarm(demo_schema: Schema) -> None:
    """Ten people at the same time, and the same ten again the day after."""
    watch = Watch()
    asked = [(name, spec) for name in SESSIONS for spec in specs_of(demo_schema, name)]
    random.Random(5).shuffle(asked)
    for day in (0, 1):
        for at, (name, spec) in enumerate(asked):
            seen = watch.seen(name, spec, 86_400.0 * day + at)
            assert not seen.alarms
            assert seen.delay == 0
    assert watch.score().score < 0.5
    assert watch.score().questions == 2 * len(asked)


def test_all_sessions_of_one_client_raise_no_alarm(demo_schema: Schema) -> None:
    """Everybody without an account may be one client to the server."""
    watch = Watch()
    for name in SESSIONS:
        for at, spec in enumerate(specs_of(demo_schema, name)):
            assert not watch.seen("anonymous", spec, float(at)).alarms
    assert watch.score("anonymous").score < 0.75


def test_the_sessions_of_a_large_country_are_farther_from_the_limits(demo_schema: Schema) -> None:
    """What is small depends on how many people there are."""
    small, large = Watch(), Watch(limits=WatchLimits(units=5_000_000))
    for at, spec in enumerate(specs_of(demo_schema, "health")):
        small.seen("h", spec, float(at))
        large.seen("h", spec, float(at))
    assert large.score("h").information < small.score("h").information
