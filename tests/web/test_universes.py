"""Universes of the schema on the server: told by name, asked for by name, counted as one number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sdcensus.client import connect
from sdcensus.model.cube.cube import Origin
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy, VariableRule
from sdcensus.model.schema.schema import DeclaredUniverse, KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.declared_universes import with_universe
from sdcensus.model.text import Text
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units
from tests.session.answer.services import METHOD
from tests.web.servers import opened

GROWN = DeclaredUniverse(
    name="grown",
    condition="age >= 4",
    label=Text.of({"en": "4 and over", "es": "4 años y más"}),
    description=Text.of("For a test."),
)


def grown_island() -> TableService:
    schema = with_universe(island_schema(), GROWN)
    schema = with_universe(schema, DeclaredUniverse(name="wed", condition="married == 1"))
    units = island_units(2_000)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: leaves.astype(np.uint8) for name, leaves in units.leaves.items()},
        keys=units.keys,
        values=dict(units.values),
        origin=Origin(KeySpace(), SECRET.id, "island"),
    )
    policy = Policy(
        name="test",
        schema=schema,
        limits=Limits(dimensions=5, cells=100_000),
        online=OnlineRules(),
        variables=(VariableRule(variable="married", as_filter=False),),
    )
    return TableService(Census(schema, records), policy, {Entity.PERSON: METHOD})


def test_universes_are_told_and_asked_for_by_name(tmp_path: Path) -> None:
    with opened(tmp_path, grown_island()) as place:
        told = place.client.get("/api/v1/datasets?lang=es").json()["datasets"][0]["universes"]
        # Who is married cannot stand in a condition.
        assert told == [{"name": "grown", "label": "4 años y más", "description": "For a test."}]
        asked = [
            place.client.post(
                "/api/v1/tables", json={"of": "persons", "by": ["sex"], "where": where}
            ).json()
            for where in ("grown", "age >= 4", "not (age < 4)")
        ]
        assert asked[0]["value"] == asked[1]["value"] == asked[2]["value"]
        answer = place.client.post(
            "/api/v1/tables", json={"of": "persons", "by": ["sex"], "where": "grwn"}
        )
        error = answer.json()["error"]
        assert (answer.status_code, error["place"], error["at"]) == (400, "where", 0)
        assert "Did you mean 'grown'" in error["message"]
        assert connect(place.server.url).datasets()[0].universes == ("grown",)
