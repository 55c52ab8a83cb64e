"""Exchanges that keep the edit rules: who would break one looks for the next partner."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.edit_rules import NewViolations, new_violations
from sdcensus.microdata.method import Changes
from sdcensus.microdata.swapping.earlier import SwapPairs
from sdcensus.microdata.swapping.search import SwapDesign, SwapOutcome
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable

Mask = npt.NDArray[np.bool_]

#: How often those look again whose exchange would break a rule.
_ATTEMPTS = 4
#: How often everybody looks again beside the pairs that are kept.
_ROUNDS = 6


def lawful_outcome(
    design: SwapDesign,
    earlier: SwapPairs,
    search: Callable[[SwapDesign, SwapPairs], SwapOutcome],
    exchange: Callable[[SwapPairs], Changes],
) -> tuple[SwapOutcome, int]:
    """Pairs whose exchange breaks no edit rule, alone or together with other records.

    Pairs that would break one are undone. Who began them looks for another partner among those who
    are left, a few times; whoever still finds none that fits stays as it is. The search goes on
    beside the pairs of the round before until no pair comes up: then the same pairs come out of the
    same census once they are given as earlier ones.

    Args:
        design: Who may exchange something with whom.
        earlier: Pairs that are kept if they break no rule.
        search: Finds pairs beside those that are kept.
        exchange: What pairs change in the store.

    Returns:
        The outcome, and how many pairs were undone.
    """
    if not design.units.store.schema.impossible:
        return search(design, earlier), 0
    outcome, undone = _lawful_round(design, earlier, search, exchange)
    kept, dropped = outcome.kept, undone
    for _ in range(_ROUNDS):
        if not dropped:
            break
        further, dropped = _lawful_round(design, outcome.pairs, search, exchange)
        settled = len(further.pairs) == len(outcome.pairs)
        outcome = further
        if settled:
            break
    return replace(outcome, kept=kept), undone


def _lawful_round(
    design: SwapDesign,
    earlier: SwapPairs,
    search: Callable[[SwapDesign, SwapPairs], SwapOutcome],
    exchange: Callable[[SwapPairs], Changes],
) -> tuple[SwapOutcome, int]:
    """The pairs of one round beside those that are kept, and how many were undone."""
    units, kept, undone = design.units, earlier, 0
    outcome = search(design, kept)
    wanted = outcome.wanted
    for attempt in range(_ATTEMPTS):
        pairs = outcome.pairs
        derived = DerivedRecords(units.store, exchange(pairs))
        breaking = _breaking(units, new_violations(derived))
        broken = breaking[pairs.initiators] | breaking[pairs.partners]
        earlier = earlier.chosen(~(breaking[earlier.initiators] | breaking[earlier.partners]))
        if not broken.any():
            break
        undone += int(broken.sum())
        kept = pairs.chosen(~broken)
        left = pairs.initiators[broken]
        if attempt == _ATTEMPTS - 1:
            # Rules that stand in the way of the rate are told, and not refused.
            least = min(wanted, len(kept))
            return replace(outcome, pairs=kept, kept=len(earlier), wanted=least), undone
        movable = design.units.movable.copy()
        movable[pairs.partners[broken]] = False
        movable[left] = units.movable[left]
        design = replace(design, units=replace(design.units, movable=movable))
        outcome = search(design, kept)
    return replace(outcome, kept=len(earlier)), undone


def _breaking(units: UnitTable, violations: Iterable[NewViolations]) -> Mask:
    """The units of records that break a rule, or with which others break it."""
    breaking = np.zeros(len(units), dtype=bool)
    for new in violations:
        entity = new.rule.entity
        if units.store.schema.path(entity, units.entity) is None:
            continue  # about what holds the units; whoever writes the store refuses it
        number = units.number_of(entity)
        for rows in (new.rows, new.others):
            if rows is not None:
                breaking[number[rows][number[rows] != NO_UNIT]] = True
    return breaking
