"""The fewest blanks that make a small file safe, as integer programs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_matrix

from sdcensus.microdata.release.records import FileRecords
from tests.microdata.release.small_files import H, P, keys_of_persons


def stated_blanks_can_cost(
    records: FileRecords,
    k: int,
    costs: Mapping[str, float],
    below: float,
    strata: Sequence[int] = (),
    seconds: float = 20,
) -> bool | None:
    """Whether blanks that cost at most ``below`` give everybody ``k`` who state what they state.

    Every record takes one set of missing keys. A set is open for records that state the same beside
    it, if ``k`` of these have no other key missing. None if the program gives up.
    """
    codes, missing = keys_of_persons(records)
    size, width = codes.shape
    given = [sum(1 << key for key in range(width) if row[key]) for row in missing]
    names = [variable.name for variable in records.design.ladder]
    chosen: dict[tuple[int, int], int] = {}
    members: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for record in range(size):
        for keys in range(1 << width):
            if given[record] & ~keys == 0:
                chosen[record, keys] = len(chosen)
    for record in range(size):
        for keys in range(1 << width):
            if given[record] & ~keys == 0:
                stated = tuple(
                    int(codes[record, key]) for key in range(width) if not keys >> key & 1
                )
                members[keys, stated, strata[record] if strata else 0].append(record)
    number = len(chosen)
    opened = {cell: number + at for at, cell in enumerate(members)}
    number += len(opened)
    values: dict[tuple[int, int], int] = {}
    for at, variable in enumerate(records.design.ladder):
        units = records.holders[P, H] if variable.entity is H else np.arange(size)
        for record in range(size):
            values.setdefault((at, int(units[record])), number + len(values))
    objective = np.zeros(number + len(values))
    for (at, _), column in values.items():
        objective[column] = costs[names[at]]
    entries: list[tuple[int, int, float]] = []
    least: list[float] = []
    most: list[float] = []

    def line(terms: Sequence[tuple[int, float]], low: float, high: float) -> None:
        entries.extend((len(least), column, value) for column, value in terms)
        least.append(low)
        most.append(high)

    for record in range(size):
        sets = [keys for keys in range(1 << width) if (record, keys) in chosen]
        line([(chosen[record, keys], 1) for keys in sets], 1, 1)
        for at, variable in enumerate(records.design.ladder):
            if given[record] >> at & 1:
                continue
            unit = int(records.holders[P, H][record]) if variable.entity is H else record
            with_blank = [(chosen[record, keys], 1.0) for keys in sets if keys >> at & 1]
            line([*with_blank, (values[at, unit], -1.0)], 0, 0)
    for cell, own in members.items():
        open_set = cell[0]
        assert isinstance(open_set, int)
        for record in own:
            line([(opened[cell], 1), (chosen[record, open_set], -1)], 0, np.inf)
        inside = [
            (chosen[record, part], 1.0)
            for record in own
            for part in range(1 << width)
            if part & ~open_set == 0 and (record, part) in chosen
        ]
        line([*inside, (opened[cell], -float(k))], 0, np.inf)
    line([(column, float(cost)) for column, cost in enumerate(objective) if cost], 0, below)
    lines, columns, entered = zip(*entries, strict=True)
    matrix = coo_matrix((entered, (lines, columns)), shape=(len(least), objective.size))
    program: Any = milp(
        objective,
        constraints=LinearConstraint(matrix, least, most),
        integrality=np.ones(objective.size),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds},
    )
    return {0: True, 2: False}.get(program.status)
