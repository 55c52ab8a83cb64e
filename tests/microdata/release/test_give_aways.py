"""Categories that are found in one area only are told to the office."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sdcensus.microdata.release.give_aways import give_aways
from sdcensus.model.schema.variable import Entity
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.release.designs import design_of, plan_of
from tests.microdata.release.valley import P, valley_schema, valley_units


def test_a_language_that_is_spoken_in_one_parish_is_a_give_away(tmp_path: Path) -> None:
    units = valley_units(1, 400)
    household = units[P].parents[Entity.HOUSEHOLD]
    parish = units[Entity.DWELLING].leaves["area"]
    area = [-1 if at < 0 else int(parish[at]) for at in household]
    sex = units[P].leaves["sex"].copy()
    rare = [at for at, own in enumerate(area) if own == 4]
    sex[rare[:9]] = 3  # a code that nobody else has
    district = [at for at, own in enumerate(area) if own >= 0 and own % 3 == 1]
    relation = units[P].leaves["relation"].copy()
    relation[district[::3]] = 5
    leaves = {**units[P].leaves, "sex": sex, "relation": relation}
    units[P] = replace(units[P], leaves=leaves)
    store = write_store(tmp_path / "store", valley_schema(), units, secret_id=SECRET.id)
    table = give_aways(store, design_of(store.schema, plan_of()))
    assert table is not None
    persons = [row for row in table.rows if row[0] in ("sex", "relation")]
    assert persons == [
        ("sex", "9999", "parish", "P4", 9),
        ("relation", "9999", "district", "D1", len(district[::3])),
    ]
    kept = give_aways(store, design_of(store.schema, plan_of(), areas="district"))
    assert kept is not None
    assert [row[:4] for row in kept.rows if row[0] in ("sex", "relation")] == [
        ("sex", "9999", "parish", "P4")
    ]
    assert give_aways(store, design_of(store.schema, plan_of(), areas="parish")) is None
