"""One SQL writer for every engine that speaks SQL; a dialect only answers small questions.

Only the finest aggregation is pushed down. An engine registers small relations beside the records:
for each axis what a leaf adds to the number of its cell, for each variable of the universe what it
adds to the number of its combination, and the combinations that belong. The text of a query
therefore holds names and numbers that are ours, and nothing that a user wrote: codes, file names
and conditions travel as data.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sdcensus.engine.sql_contributions import OWNER, SummedAmounts
from sdcensus.engine.sql_dialect import DUCKDB as DUCKDB, SPARK as SPARK, Dialect as Dialect
from sdcensus.engine.sql_replicates import ReplicateSums
from sdcensus.model.schema.schema import Combine, KeySpace

#: Columns of the relations that are registered beside the records.
LEAF, PART, COMBINATION = "leaf", "part", "combination"
#: Columns of the answer; sums are ``sum_0``, ``sum_1`` and so on.
CELL, RECORDS, KEYS, FIRST, LAST = "cell", "records", "keys", "first", "last"


@dataclass(frozen=True, slots=True)
class Mapped:
    """A column of leaves, and the relation that says what each leaf adds to a number."""

    column: str
    relation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finest:
    """The finest aggregation of a table over a relation of encoded records.

    Attributes:
        source: The records: a relation, or a query in parentheses.
        axes: Leaves of each axis; their parts add up to the number of the cell.
        universe: Leaves of each variable of the universe; ``None`` if every record belongs.
        truth: The relation with the combinations that belong.
        key: The column with the record keys, integers below 2**32.
        key_space: How keys are combined.
        sums: Columns to add up.
        household: The column with the number of each record's household.
        amounts: What a table of sums adds up.
        replicates: What is added up by groups of households.
    """

    source: str
    axes: tuple[Mapped, ...]
    universe: tuple[Mapped, ...] | None
    truth: str
    key: str
    key_space: KeySpace
    sums: tuple[str, ...] = ()
    household: str | None = None
    amounts: SummedAmounts | None = None
    replicates: ReplicateSums | None = None


def finest_query(plan: Finest, dialect: Dialect) -> str:
    """The query whose rows are the non-empty cells of the finest tabulation.

    Key sums are exact: the keys are added as wide integers and reduced once.
    """
    name = dialect.name
    inner = [f"{_number('a', plan.axes, dialect)} AS {name(CELL)}", name("r", plan.key)]
    inner += [name("r", column) for column in plan.sums]
    if plan.household is not None:
        inner.append(name("r", plan.household))
    outer = [name(CELL), f"count(*) AS {name(RECORDS)}"]
    outer.append(f"{_combined_key(name(plan.key), plan, dialect)} AS {name(KEYS)}")
    outer += [
        f"{dialect.whole(f'sum({name(column)})')} AS {name(f'sum_{at}')}"
        for at, column in enumerate(plan.sums)
    ]
    if plan.household is not None:
        outer += [
            f"{dialect.whole(f'{function}({name(plan.household)})')} AS {name(column)}"
            for function, column in (("min", FIRST), ("max", LAST))
        ]
    ranks: list[str] = []
    if plan.amounts is not None:
        inner += plan.amounts.per_record(plan.key, dialect)
        ranks = plan.amounts.ranks(CELL, dialect)
        outer += plan.amounts.combined(lambda key: _combined_key(key, plan, dialect), dialect)
    if plan.replicates is not None:
        inner += plan.replicates.per_record(dialect)
        outer += plan.replicates.combined(dialect)
    cells = (
        f"(SELECT {', '.join(dict.fromkeys(inner))}\n"
        f"{from_records(plan.source, plan.axes, plan.universe, plan.truth, dialect)}"
        f") AS {name('cells')}"
    )
    if ranks:
        cells = f"(SELECT *, {', '.join(ranks)}\nFROM {cells}) AS {name('ranked')}"
    grouped = [name(CELL)]
    if plan.amounts is not None and plan.amounts.owner is not None:
        grouped.append(name(OWNER))
        outer.append(name(OWNER))
    return f"SELECT {', '.join(outer)}\nFROM {cells}\nGROUP BY {', '.join(grouped)}"


def from_records(
    source: str,
    axes: Iterable[Mapped],
    universe: tuple[Mapped, ...] | None,
    truth: str,
    dialect: Dialect,
) -> str:
    """The records of a universe, as ``r``, joined with the parts of their axes ``a0``, ``a1``…"""
    name = dialect.name
    lines = [f"FROM {source} AS {name('r')}"]
    lines += [_join("a", at, axis, dialect) for at, axis in enumerate(axes)]
    if universe is not None:
        lines += [_join("u", at, one, dialect) for at, one in enumerate(universe)]
        lines.append(
            f"JOIN {name(truth)} AS {name('t')} ON {name('t', COMBINATION)} ="
            f" {_number('u', universe, dialect)}"
        )
    return "\n".join(lines)


def _join(prefix: str, at: int, mapped: Mapped, dialect: Dialect) -> str:
    name, alias = dialect.name, f"{prefix}{at}"
    return (
        f"JOIN {name(mapped.relation)} AS {name(alias)} ON {name(alias, LEAF)} ="
        f" {name('r', mapped.column)}"
    )


def _number(prefix: str, mapped: tuple[Mapped, ...], dialect: Dialect) -> str:
    parts = [dialect.name(f"{prefix}{at}", PART) for at in range(len(mapped))]
    return " + ".join(parts) if parts else dialect.whole("0")


def _combined_key(key: str, plan: Finest, dialect: Dialect) -> str:
    if plan.key_space.combine is Combine.XOR:
        return f"{dialect.exclusive_or}({key})"
    return dialect.whole(f"sum({key}) % {plan.key_space.modulus:d}")
