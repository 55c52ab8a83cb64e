from __future__ import annotations

from typing import Any

import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.model.policy.policy import (
    AtLevel,
    Decided,
    DesignRules,
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
from sdcensus.model.schema.variable import Entity
from sdcensus.session.policy import conflicts, tightened
from tests.session.policy.policy_tables import SCHEMA, policy


def locked(**rules: Any) -> Policy:
    return policy(
        lock=True,
        limits=Limits(dimensions=3, cells=100),
        online=OnlineRules(
            mean_cell_size=2,
            when_sparse=WhenSparse.WITHHOLD_AREA,
            ones=0.25,
            minimum_population=20,
            recovery=0.1,
            smallest_group=23,
        ),
        design=DesignRules(minimum_population=100),
        exempt=(RecordSet("people by district", Entity.PERSON, ("area@district",)),),
        variables=(
            VariableRule(variable="married", finest_area=AtLevel("area", "district")),
            VariableRule(variable="age", finest_level="class", as_filter=False),
            VariableRule(variable="sex", offered=False),
        ),
        never_together=((AtLevel("age"), AtLevel("married")),),
        roles=(RoleRules(role=UserRole.STAFF, dimensions=4, tables_per_day=10),),
        decided=Decided(not_offered=(NotOffered(AtLevel("area", "parish"), ("P5", "P6")),)),
        **rules,
    )


@pytest.mark.parametrize(
    ("overrides", "text"),
    [
        ({"limits": {"dimensions": 4}}, "dimensions for the role public: 4 instead of 3"),
        ({"limits": {"cells": 101}}, "cells for the role public"),
        ({"role": {"public": {"cells": 500}}}, "cells for the role public: 500 instead of 100"),
        ({"role": {"staff": {"tables_per_day": 11}}}, "tables_per_day for the role staff"),
        ({"role": {"production": {"online": "off"}}}, "online for the role production"),
        ({"online": {"mean_cell_size": 1}}, "online.mean_cell_size: 1.0 instead of 2"),
        ({"online": {"when_sparse": "c"}, "exempt": {"record_sets": []}}, "online.when_sparse"),
        ({"online": {"ones": 0.3}}, "online.ones: 0.3 instead of 0.25"),
        ({"online": {"minimum_population": 19}}, "online.minimum_population"),
        ({"online": {"recovery": 0.2}}, "online.recovery"),
        ({"online": {"smallest_group": 22}}, "online.smallest_group: 22 instead of 23"),
        ({"online": {"exclude_structural_zeros": True}}, "exclude_structural_zeros"),
        ({"design": {"minimum_population": 99}}, "design.minimum_population: 99 instead of 100"),
        ({"exempt": {"record_sets": ["people by parish"]}}, "'people by parish'"),
        ({"variable": {"married": {"finest_area": "area@parish"}}}, "married.finest_area"),
        ({"variable": {"age": {"finest_level": "age"}}}, "age.finest_level"),
        ({"variable": {"age": {"finest_level": "half"}}}, "age.finest_level"),
        ({"variable": {"age": {"as_filter": True}}}, "usable in conditions"),
        ({"variable": {"sex": {"offered": True}}}, "variable.sex: offered"),
        ({"never_together": {"combinations": []}}, "age, married would be allowed together"),
        ({"decided": {"not_offered": []}}, "would be offered again"),
        ({"lock": False}, "cannot be unlocked"),
    ],
)
def test_nothing_can_loosen_a_locked_policy(overrides: dict[str, Any], text: str) -> None:
    with pytest.raises(Refused) as refused:
        tightened(locked(), overrides)
    assert text in str(refused.value)
    assert refused.value.exit_code == 4


def test_a_locked_policy_can_be_made_stricter() -> None:
    made = tightened(
        locked(),
        {
            "limits": {"dimensions": 2, "cells": 50},
            "online": {
                "mean_cell_size": 3,
                "ones": 0.1,
                "when_sparse": "refuse-table",
                "smallest_group": 30,
            },
            "variable": {"married": {"offered": False}},
            "never_together": {"combinations": [["married", "age"], ["area", "age"]]},
            "exempt": {"record_sets": []},
        },
    )
    assert made.online.mean_cell_size == 3
    assert made.online.smallest_group == 30
    assert not made.rule_of("married").offered
    assert len(made.never_together) == 2
    assert made.lock
    # Roles that may do more get the new limit as well.
    assert [made.role(role).dimensions for role in UserRole] == [2, 2, 2, 2]
    assert made.role("staff").tables_per_day == 10


def test_an_open_policy_can_be_changed_either_way() -> None:
    made = tightened(policy(limits=Limits(dimensions=3)), {"limits": {"dimensions": 5}})
    assert made.limits.dimensions == 5
    assert tightened(policy(), {}) == policy()


def test_settings_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SpecError, match="Did you mean 'limits'"):
        tightened(policy(), {"limit": {"cells": 4}})
    with pytest.raises(SpecError, match="'recovery' is a chance"):
        tightened(locked(), {"online": {"recovery": 0}})


def test_what_is_given_is_not_changed() -> None:
    overrides = {"limits": {"cells": 10}, "role": {"registered": {"cells": 90}}}
    tightened(locked(), overrides)
    assert overrides == {"limits": {"cells": 10}, "role": {"registered": {"cells": 90}}}


def test_rules_without_effect_are_told() -> None:
    made = policy(
        limits=Limits(dimensions=2),
        online=OnlineRules(ones=0.5, ones_and_twos=0.25, mean_cell_size=0),
        design=DesignRules(minimum_population=10),
        exempt=(RecordSet("people by parish", Entity.PERSON, ("area",)),),
        variables=(
            VariableRule(variable="sex", offered=False),
            VariableRule(variable="age", finest_level="class"),
        ),
        never_together=(
            (AtLevel("sex"), AtLevel("age", "age")),
            (AtLevel("married"), AtLevel("area"), AtLevel("age")),
        ),
        roles=(RoleRules(role=UserRole.REGISTERED, dimensions=1),),
        decided=Decided(not_offered=(NotOffered(AtLevel("area", "parish"), ("P6",)),)),
    )
    told = " ".join(conflicts(made))
    for words in (
        "'sex' is not offered anyway",
        "no table can have so many variables: married, area, age",
        "age@age is finer than class",
        "'ones' has no effect",
        "'mean_cell_size' has no effect at 0",
        "there is no 'recovery'",
        "role.registered: dimensions is less",
        "'people by parish' shows codes of area@parish exactly",
    ):
        assert words in told
    undecided = policy(design=DesignRules(minimum_population=10))
    assert any("nothing is decided yet" in conflict for conflict in conflicts(undecided))
    sound = policy(limits=Limits(dimensions=3), online=OnlineRules(recovery=0.1))
    assert conflicts(sound) == ()
    assert sound.schema is SCHEMA
