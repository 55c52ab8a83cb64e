"""What engines that speak SQL have in common: the plan of a query, and the cube of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.owned import with_contributions
from sdcensus.engine.records import (
    HOUSEHOLD_COLUMN,
    HOUSEHOLD_KEY_COLUMN,
    KEY_COLUMN,
    OWNER_COLUMN,
    QuerySource,
    Register,
    added_up,
    register_universe,
)
from sdcensus.engine.requests import SUM_TOO_LARGE, Needs, Tabulate
from sdcensus.engine.sql import (
    CELL,
    FIRST,
    KEYS,
    LAST,
    LEAF,
    PART,
    RECORDS,
    Dialect,
    Finest,
    Mapped,
)
from sdcensus.engine.sql_contributions import CONTRIBUTION, TOTAL, SummedAmounts
from sdcensus.engine.sql_replicates import ReplicateSums, column_of
from sdcensus.errors import EngineError, StoreError
from sdcensus.model.cube.contributions import ABSOLUTE
from sdcensus.model.cube.cube import (
    COUNT,
    FIRST_HOUSEHOLD,
    KEY,
    LAST_HOUSEHOLD,
    SUM_OF,
    WEIGHT,
    Origin,
)
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.cube.replicates import replicate_names
from sdcensus.model.cube.sparse_cube import AnyCube, assemble
from sdcensus.store.parquet_census import ParquetCensus

Integers = npt.NDArray[Any]


def finest_plan(
    register: Register,
    source: QuerySource,
    request: Tabulate,
    needs: Needs,
    origin: Origin,
    *,
    prefix: str = "",
) -> Finest:
    """Register what the leaves of each axis and of the universe add up to, and say so.

    Args:
        register: Makes small relations known to the engine.
        source: The records.
        request: What is asked.
        needs: The variables behind it.
        origin: Where the numbers come from.
        prefix: In front of the names of the relations, where requests share them.
    """
    spec = request.spec
    axes = []
    for at, (axis, weight) in enumerate(zip(spec.axes, mixed_radix(spec.base_shape), strict=True)):
        parts = [int(group) * weight for group in axis.base]
        register(f"{prefix}axis_{at}", {LEAF: range(len(parts)), PART: parts})
        axes.append(Mapped(source.leaves[axis.variable.name], f"{prefix}axis_{at}"))
    truth = f"{prefix}universe"
    return Finest(
        source=source.relation,
        axes=tuple(axes),
        universe=register_universe(register, spec.universe, source.leaves, prefix=truth),
        truth=truth,
        key=KEY_COLUMN,
        key_space=origin.key_space,
        sums=tuple(source.values[variable.name] for variable in added_up(needs)),
        household=HOUSEHOLD_COLUMN if request.households else None,
        amounts=summed_amounts(source, request, needs),
        replicates=_replicate_sums(source, request, needs),
    )


def summed_amounts(source: QuerySource, request: Tabulate, needs: Needs) -> SummedAmounts | None:
    """What a table of sums adds up, over the columns of the records."""
    if needs.amount is None:
        return None
    weighted = request.spec.measure.is_weighted and needs.weight is not None
    weight = needs.weight if weighted else None
    return SummedAmounts(
        amount=source.values[needs.amount.name],
        weight=None if weight is None else source.values[weight.name],
        weight_unit=1 if weight is None else 10**weight.decimals,
        waiver=None if needs.waiver is None else source.leaves[needs.waiver[0].name],
        waiving=() if needs.waiver is None else needs.waiver[1],
        owner=OWNER_COLUMN if needs.owner else None,
        needs=request.contributions,
    )


def _replicate_sums(source: QuerySource, request: Tabulate, needs: Needs) -> ReplicateSums | None:
    """What is added up by groups of households, over the columns of the records."""
    if not request.replicates or needs.weight is None:
        return None
    return ReplicateSums(
        value=source.values[needs.weight.name] if needs.amount is None else CONTRIBUTION,
        key=KEY_COLUMN,
        household=HOUSEHOLD_KEY_COLUMN if needs.households else None,
    )


def parquet_source(
    census: ParquetCensus, request: Tabulate, needs: Needs, relation: str, dialect: Dialect
) -> QuerySource:
    """The records of an exported census that a request needs, as a query over its files.

    Args:
        census: The exported census.
        request: What is asked.
        needs: The variables behind it.
        relation: The files of what is counted, as a relation.
        dialect: Of the engine.
    """
    of, name = request.spec.of, dialect.name
    leaves = {code.name: f"leaf_{at}" for at, code in enumerate(needs.codes)}
    values = {variable.name: f"value_{at}" for at, variable in enumerate(needs.values)}
    wanted = [f"{name(census.dataset(of).key.name)} AS {name(KEY_COLUMN)}"]
    wanted += [
        f"{name(census.codes(of, code))} AS {name(leaves[code.name])}" for code in needs.codes
    ]
    # A missing amount adds nothing to a sum.
    wanted += [
        f"coalesce({name(census.values(of, variable))}, 0) AS {name(values[variable.name])}"
        for variable in needs.values
    ]
    if needs.households:
        wanted.append(f"{name(census.household(of))} AS {name(HOUSEHOLD_COLUMN)}")
        if request.replicates:
            column = name(census.household_key(of))
            wanted.append(f"{column} AS {name(HOUSEHOLD_KEY_COLUMN)}")
    if needs.owner and needs.amount is not None:
        wanted.append(f"{name(census.owner(of, needs.amount))} AS {name(OWNER_COLUMN)}")
    return QuerySource(
        relation=f"(SELECT {', '.join(wanted)} FROM {relation})", leaves=leaves, values=values
    )


def check_complete(rows: Any, request: Tabulate, known: int | None) -> None:
    """Refuse an answer that does not count every record, where every record belongs.

    A leaf that is in no code list meets nothing and would be lost without a word.

    Args:
        rows: The answer, a table of Arrow.
        request: What was asked.
        known: How many records there are; ``None`` where only the engine can say.
    """
    if known is None or not request.spec.universe.everything:
        return
    counted = int(np.sum(rows.column(RECORDS).to_numpy(), dtype=np.int64))
    if counted != known:
        raise StoreError(
            "The exported census is damaged, or files of it were exchanged: not every record could"
            " be counted. Export it again with: sdcensus export STORE --out FOLDER"
        )


def cube_of(
    rows: Any, request: Tabulate, needs: Needs, plan: Finest, origin: Origin, *, largest_dense: int
) -> AnyCube:
    """The cube of a table from the answer to its query, a table of Arrow with a row per cell."""
    amounts = plan.amounts

    def column(name: str, dtype: npt.DTypeLike) -> Integers:
        array: Integers = rows.column(name).to_numpy()
        return array.astype(dtype)

    sums = {COUNT: column(RECORDS, np.int64), KEY: column(KEYS, np.uint64)}
    if needs.weight is not None:
        sums[WEIGHT] = column("sum_0", np.int64)
    if request.households:
        sums[FIRST_HOUSEHOLD] = column(FIRST, np.uint32)
        sums[LAST_HOUSEHOLD] = column(LAST, np.uint32)
    before = int(needs.weight is not None)
    for at, variable in enumerate(needs.sums, start=before):
        sums[f"{SUM_OF}{variable.name}"] = column(f"sum_{at}", np.int64)
    if amounts is not None and needs.amount is not None:
        sums[f"{SUM_OF}{needs.amount.name}"] = column(TOTAL, np.int64)
        sums |= amounts.answered(lambda name: column(name, np.int64))
    if plan.replicates is not None:
        sums |= {name: column(column_of(name), np.int64) for name in replicate_names()}
    check_sums(sums)
    numbers = column(CELL, np.uint64)
    cube = assemble(request.spec, origin, numbers, sums, largest_dense=largest_dense)
    if amounts is None or amounts.owner is None or amounts.needs is None:
        return cube
    entries = amounts.owned(numbers, lambda name: np.asarray(rows.column(name).to_numpy()))
    return with_contributions(cube, entries, amounts.needs)


def check_sums(sums: Mapping[str, Integers]) -> None:
    """Refuse sums of cells that would leave 64 bits where cells are added up to margins.

    Raises:
        EngineError: They would, or might.
    """
    for name, array in sums.items():
        added = name in (WEIGHT, ABSOLUTE) or name.startswith(SUM_OF)
        if added and float(np.abs(array.astype(np.float64)).sum()) >= 2.0**62:
            raise EngineError(SUM_TOO_LARGE)
