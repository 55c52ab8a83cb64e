"""New codes for units that have another combination: leaves that somebody who had it has.

A listed variable at a coarser level says which group a unit comes to, not which leaf. The unit
takes the leaf of a *donor*, a unit that had the combination in the census, for every variable whose
group changes; what stays in its group keeps its leaf. Where that would break an edit rule other
donors are asked, and then all leaves are the donor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.edit_rules import CandidateRules
from sdcensus.microdata.method import Draws, NewValues
from sdcensus.microdata.safe.combinations import Combinations
from sdcensus.microdata.safe.rule_classes import RuleClasses
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Counter of the draws of donors.
_DONOR = 1 << 20
#: Donors that are asked before the one that certainly fits.
_ASKED = 4


def new_leaves(
    records: CensusStore,
    found: Combinations,
    rules: RuleClasses,
    cells: Int64,
    draws: Draws,
) -> tuple[dict[str, NewValues], dict[str, NewValues]]:
    """New codes, and new amounts of variables that are amounts, by variable.

    Args:
        records: The store.
        found: The combinations.
        rules: Who may have which of them.
        cells: For each unit its new combination.
        draws: Draws of the office secret.
    """
    names = [each.variable.name for each in found.listed.free]
    leaves = {name: records.raw(found.listed.unit, name) for name in names}
    moved = np.flatnonzero(cells != found.homes)
    donors = np.zeros(moved.size, dtype=np.int64)
    whole = np.zeros(moved.size, dtype=bool)
    candidates = CandidateRules(records, names)
    left = np.arange(moved.size)
    for attempt in range(_ASKED):
        if not left.size:
            break
        donors[left] = _donors(records, found, cells, moved[left], draws, attempt)
        asked = _codes(found, leaves, moved[left], cells, donors[left], whole[left])
        broken = candidates.broken(found.rows[moved[left]], asked)
        left = left[broken]
    if left.size:
        whole[left] = True
        donors[left] = _fitting(found, rules, cells, moved[left], donors[left])
    return _changes(records, found, leaves, moved, cells, donors, whole)


def _donors(
    records: CensusStore,
    found: Combinations,
    cells: Int64,
    units: Int64,
    draws: Draws,
    attempt: int,
) -> Int64:
    """For each unit a drawn one of those that had its new combination."""
    words = draws.words(records.digests(found.listed.unit)[found.rows[units]], _DONOR + attempt)
    there = cells[units]
    drawn = (words >> np.uint64(32)) * found.counts[there].astype(np.uint64)
    return found.starts[there] + (drawn >> np.uint64(32)).astype(np.int64)


def _codes(
    found: Combinations,
    leaves: Mapping[str, Integers],
    units: Int64,
    cells: Int64,
    donors: Int64,
    whole: npt.NDArray[np.bool_],
) -> dict[str, Integers]:
    """The leaves of units with those of their donors where their group changes, or all of them."""
    fixed = len(found.listed.fixed)
    codes = {}
    for at, (name, column) in enumerate(leaves.items()):
        before, there = found.codes[found.homes[units], fixed + at], cells[units]
        takes = (before != found.codes[there, fixed + at]) | whole
        codes[name] = np.where(takes, column[found.rows[donors]], column[found.rows[units]])
    return codes


def _fitting(
    found: Combinations, rules: RuleClasses, cells: Int64, units: Int64, drawn: Int64
) -> Int64:
    """For each unit the first donor, from the drawn one on, whose leaves break no rule for it."""
    starts, chosen = found.starts, drawn.copy()
    for at, unit in enumerate(units.tolist()):
        first, last = starts[cells[unit]], starts[cells[unit] + 1]
        turned = np.append(np.arange(drawn[at], last), np.arange(first, drawn[at]))
        fits = rules.fits[rules.own[turned], rules.classes[unit]]
        if fits.any():
            chosen[at] = turned[int(np.argmax(fits))]
    return chosen


def _changes(
    records: CensusStore,
    found: Combinations,
    leaves: Mapping[str, Integers],
    moved: Int64,
    cells: Int64,
    donors: Int64,
    whole: npt.NDArray[np.bool_],
) -> tuple[dict[str, NewValues], dict[str, NewValues]]:
    """What really changes, in the order of rows; amounts go with their classes."""
    rows = found.rows[moved]
    order = np.argsort(rows, kind="stable")
    rows, donor_rows = rows[order], found.rows[donors][order]
    codes: dict[str, NewValues] = {}
    amounts: dict[str, NewValues] = {}
    asked = _codes(found, leaves, moved, cells, donors, whole)
    for each in found.listed.free:
        name = each.variable.name
        new = asked[name][order]
        other = new != leaves[name][rows]
        if other.any():
            codes[name] = NewValues(rows[other], new[other])
            if each.variable.continuous:
                values = records.raw(found.listed.unit, value_column(name))
                amounts[name] = NewValues(rows[other], values[donor_rows[other]])
    return codes, amounts
