"""Table services over the island, for tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import Answer, TableService
from sdcensus.testing.island import SECRET, island

#: Strong noise, so that a number from the wrong cell is seen.
METHOD = CellKey(design_perturbation(8, 12.0), secret=SECRET.sub_secret(Purpose.LOOKUP, 1))


def service(people: int = 2_000, *, method: CellKey = METHOD, **rules: Any) -> TableService:
    census = island(people)
    rules.setdefault("limits", Limits(dimensions=5, cells=100_000))
    rules.setdefault("online", OnlineRules())
    policy = Policy(name="test", schema=census.schema, **rules)
    return TableService(census, policy, {Entity.PERSON: method})


def asked(*by: str, **parts: Any) -> Question:
    return Question.from_json({"of": "persons", "by": list(by), **parts})


def published(made: TableService, *by: str, where: str | None = None) -> Table:
    """The table as the batch publishes it."""
    spec = TableSpec.build(made.census.schema, by, universe=where)
    table = METHOD.protect(made.census.tabulate(spec)).table
    assert isinstance(table, Table)
    return table


def values(answer: Answer) -> npt.NDArray[np.int64]:
    assert answer.table is not None
    return answer.table.values
