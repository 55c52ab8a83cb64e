"""Random groups of households do not depend on the order of the files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sdcensus as sc
from sdcensus.model.secret import Secret

SCHEMA = """\
[census]
name = "Sample"
code = "S26"
measure = "weighted"

[files.person]
path = "persons.csv"
entity = "person"

[files.household]
path = "households.csv"
entity = "household"

[entity.person]
id = ["ed", "house", "number"]
within = "household"

[entity.household]
id = ["ed", "house"]

[variable.ed]
file = "household"
role = "geography"
codes = { A = "A", B = "B" }

[variable.house]
file = "household"
role = "record-id"

[variable.number]
file = "person"
role = "record-id"

[variable.weight]
file = "person"
role = "weight"
"""
HOUSES = [("A" if house % 3 else "B", house) for house in range(80)]


def _replicates(folder: Path, order: int, engine: str) -> list[list[int]]:
    """What each group adds to the cells, from files whose rows are turned round by so many."""
    folder.mkdir()
    persons = [f"{ed},{house},{no},{8 + no}" for ed, house in HOUSES for no in range(2)]
    households = [f"{ed},{house}" for ed, house in HOUSES]
    for name, head, rows in (
        ("persons.csv", "ed,house,number,weight", persons),
        ("households.csv", "ed,house", households),
    ):
        turned = [*rows[order:], *rows[:order]]
        (folder / name).write_text("\n".join([head, *turned]) + "\n", encoding="utf-8")
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    sc.load(folder / "schema.toml", folder / "store", secret=Secret(bytes(range(32))))
    census = sc.open_store(folder / "store")
    cube = census.tabulate("ed", measure="weighted", replicates=True, engine=engine)
    return [np.asarray(group).tolist() for group in cube.values.replicates]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_same_households_are_in_the_same_groups_whatever_the_order_of_rows(
    engine: str, tmp_path: Path
) -> None:
    first = _replicates(tmp_path / "first", 0, engine)
    assert first == _replicates(tmp_path / "turned", 17, engine)
    assert sum(any(group) for group in first) > 30
