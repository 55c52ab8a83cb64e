"""Sums of few contributors: they are told about themselves, however much noise there is.

The noise of a sum is in proportion to its largest contribution, so a sum of one person's income
tells that income within the noise. Sums are therefore shown only where enough contributors are
*published* behind them: the number of contributors as the method for counts publishes numbers.
Table builder and plans go through this module.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.policy.policy import Policy
from sdcensus.model.policy.rules import LEAST_CONTRIBUTORS
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]


def contributors_needed(policy: Policy | None, spec: TableSpec, smallest_group: int | None) -> int:
    """How many contributors are published behind every sum of a table that is shown; 0: any.

    Args:
        policy: What may be asked, where there is one: it may say another number for an amount.
        spec: The table.
        smallest_group: The smallest group in force.
    """
    return 0 if spec.amount is None else least_behind(policy, spec.amount.name, smallest_group)


def least_behind(
    policy: Policy | None, amount: str, smallest_group: int | None, said: int | None = None
) -> int:
    """How many are published at least behind a figure of an amount.

    Args:
        policy: What may be asked, where there is one: it may say another number for the amount.
        amount: The amount.
        smallest_group: The smallest group in force.
        said: The number that a plan says, which is never below that of the policy.
    """
    rule = None if policy is None else policy.amount_rule(amount)
    if rule is None:
        return said or smallest_group or LEAST_CONTRIBUTORS
    return max(said or 0, rule.contributors(smallest_group))


def published_contributors(method: Method, cube: Cube) -> Int64:
    """Behind sums, the numbers of contributors as the method for counts publishes numbers.

    Whose amount is missing or 0 contributes nothing. Where everybody contributes, the number is
    the published count of the cell: the same records have the same key.
    """
    known = cube.values.contributions
    if known is None:
        raise TypeError("Only a table of sums has contributors.")
    origin = replace(cube.origin, weights_only=False)
    values = Accumulators(known.contributors, known.contributor_key)
    judge = method.first
    if isinstance(judge, CellKey):
        # Totals that are published exactly are those of all units, never of those with an amount.
        judge = replace(judge, exempt=())
    return judge.protect(Cube(cube.spec.records, origin, values)).table.whole().published


def hide_few(table: Table, contributors: Int64, least: int) -> Table:
    """A table of sums without those behind which fewer contributors are published.

    A sum of nobody is not shown either: it would tell that nobody has an amount.
    """
    flags = np.zeros(table.shape, dtype=np.uint8) if table.flags is None else table.flags
    few = (contributors < least) & (flags == Mark.NONE)
    if not few.any():
        return table
    flags = np.where(few, np.uint8(Mark.BELOW_THRESHOLD), flags).astype(np.uint8)
    return Table(table.spec, np.where(few, 0, table.published), flags, table.notes)
