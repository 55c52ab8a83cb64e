"""Pairs of units: initiators in order, each with the first donor in a fixed order that fits it.

A partner is free, lies outside the initiator's own area, inside the same region, not farther away
than allowed, and matches it in the first profile in which anybody does. Every swapping method
finds its partners here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.records.ordering import gather
from sdcensus.kernels.swapping.partners import FAILED, NOT_TRIED, donor_keys, find_in_turn
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.profiles import Profile
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class Failure(StrEnum):
    """Why a unit has no partner: the first of these that is true."""

    NOBODY_ALIKE = "nobody-alike"
    SAME_VALUES = "same-values"
    OWN_AREA = "own-area"
    REGION = "region"
    DISTANCE = "distance"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places(Confidential):
    """Where units are, in metres of a map.

    Attributes:
        x, y: Their coordinates. Units in one place have the same ones.
    """

    x: Int64
    y: Int64


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Rules(Confidential):
    """Who may be whose partner.

    Attributes:
        profiles: Tried in this order.
        area: The area of each unit that it must leave. For an exchange that need not leave an
            area, the number of the unit itself.
        values: What each unit would give, which must differ from what its partner gives; ``None``
            where the exchange of a place is worth something whatever the units say.
        region: The region of each unit inside which its partner lies; ``None`` for anywhere.
        places: Where units are, for a largest distance.
        farthest: The largest distance, in the units of places.
    """

    profiles: tuple[Profile, ...]
    area: Int64
    values: Int64 | None = None
    region: Int64 | None = None
    places: Places | None = None
    farthest: int | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pairs(Confidential):
    """Who found whom.

    Attributes:
        initiators, partners: The units of each pair, in the order in which they were found.
        profiles: The number of the profile by which each pair was found, from 0.
        failed: The units that looked for a partner and found none.
    """

    initiators: Int64
    partners: Int64
    profiles: Int64
    failed: Int64

    def __len__(self) -> int:
        return int(self.initiators.size)


def find_pairs(
    rules: Rules,
    initiators: Int64,
    donors: Int64,
    used: Mask,
    *,
    turn_starts: Sequence[int] | Int64 | None = None,
    quotas: Sequence[int] | Int64 | None = None,
) -> Pairs:
    """Let units find partners, one after the other.

    Args:
        rules: Who may be whose partner.
        initiators: The units that look for one, in order. Those that are taken by then are passed
            over.
        donors: The units that may be found, in the order in which they are offered. Whoever may
            not move is not among them.
        used: Which units are taken; those of new pairs are marked.
        turn_starts: Where each turn begins among the initiators; without it there is one turn.
        quotas: After how many pairs each turn is over; without it after its last initiator.
    """
    starts = np.asarray([0] if turn_starts is None else turn_starts, dtype=np.int64)
    starts = np.append(starts, initiators.size)
    limits = np.diff(starts) if quotas is None else np.asarray(quotas, dtype=np.int64)
    partners, profiles = _search(rules, initiators, donors, used, starts, limits, taking=True)
    paired = partners >= 0
    return Pairs(
        initiators[paired], partners[paired], profiles[paired], initiators[partners == FAILED]
    )


def with_partner(rules: Rules, initiators: Int64, donors: Int64) -> Mask:
    """Which units have a partner among donors that nobody else takes."""
    if not initiators.size:
        return np.zeros(0, dtype=bool)
    nobody = np.zeros(rules.area.size, dtype=bool)
    starts = np.array([0, initiators.size])
    limits = np.array([initiators.size])
    partners, _ = _search(rules, initiators, donors, nobody, starts, limits, taking=False)
    return partners >= 0


def failure_reasons(rules: Rules, failed: Int64, donors: Int64) -> list[Failure]:
    """Why units found no partner: what would still have to be given up.

    Args:
        rules: Who may be whose partner; with the largest region that was tried.
        failed: The units.
        donors: The units that could have been found, taken or not.
    """
    reasons = np.full(failed.size, Failure.TAKEN, dtype=object)
    within = replace(rules, places=None, farthest=None)
    open_rules = replace(within, region=None)
    other = replace(open_rules, area=np.arange(rules.area.size))
    left = np.arange(failed.size)
    for reason, wider in (
        (Failure.NOBODY_ALIKE, replace(other, values=None)),
        (Failure.SAME_VALUES, other),
        (Failure.OWN_AREA, open_rules),
        (Failure.REGION, within),
        (Failure.DISTANCE, rules),
    ):
        if reason is Failure.SAME_VALUES and rules.values is None:
            continue
        fits = with_partner(wider, failed[left], donors)
        reasons[left[~fits]] = reason
        left = left[fits]
    return [Failure(reason) for reason in reasons]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Sites(Confidential):
    """Places in areas in regions, and the wards in which they are looked for.

    A ward is a region, or a square of a region as large as the largest distance: partners lie in
    it or in one of those around it.
    """

    of: Int64
    area: Int64
    values: Int64
    x: Int64
    y: Int64
    ward: Int64
    ward_starts: Int64
    wards: Int64


def _sites(rules: Rules) -> _Sites:
    size = rules.area.size
    nowhere = np.zeros(size, dtype=np.int64)
    region = nowhere if rules.region is None else rules.region
    x = y = square_x = square_y = nowhere
    squares, points = [], []
    if rules.places is not None and rules.farthest is not None:
        x, y = rules.places.x, rules.places.y
        side = max(rules.farthest, 1)
        points = [line - line.min(initial=0) for line in (x, y)]
        squares = [line // side + 1 for line in points]
        square_x, square_y = squares
    ward, _ = combined([region, *squares], size)
    values = np.full(size, -1, dtype=np.int64) if rules.values is None else rules.values
    told_apart = [] if rules.values is None else [values]
    site, count = combined([ward, rules.area, *told_apart, *points], size)
    example = np.zeros(count, dtype=np.int64)
    example[site] = np.arange(size)
    starts, wards = _neighbouring_wards(ward, region, square_x, square_y)
    return _Sites(
        site,
        rules.area[example],
        values[example],
        x[example],
        y[example],
        ward[example],
        starts,
        wards,
    )


def _neighbouring_wards(
    ward: Int64, region: Int64, square_x: Int64, square_y: Int64
) -> tuple[Int64, Int64]:
    """For each ward those of its region that touch it, itself among them."""
    count = int(ward.max(initial=-1)) + 1
    example = np.zeros(count, dtype=np.int64)
    example[ward] = np.arange(ward.size)
    region, across, along = region[example], square_x[example], square_y[example]
    if not across.any():
        return np.arange(count + 1), np.arange(count)
    # Squares are numbered from 1, so that a step to either side stays inside its row.
    wide, high = int(across.max()) + 2, int(along.max()) + 2
    keys = (region * wide + across) * high + along
    order = np.argsort(keys)
    lists = []
    for step in (left * high + up for left in (-1, 0, 1) for up in (-1, 0, 1)):
        at = np.minimum(np.searchsorted(keys[order], keys + step), count - 1)
        same = keys[order][at] == keys + step
        lists.append(np.stack([np.flatnonzero(same), order[at[same]]]))
    left, right = np.concatenate(lists, axis=1)
    by_ward = np.argsort(left, kind="stable")
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(left, minlength=count), out=starts[1:])
    return starts, right[by_ward]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Classes(Confidential):
    """The classes of all profiles, numbered one after the other."""

    of: Int64
    starts: Int64
    matches: Int64


def _classes(profiles: Sequence[Profile]) -> _Classes:
    offsets = np.cumsum([0, *(profile.count for profile in profiles)])
    filled = np.cumsum([0, *(profile.matches.size for profile in profiles)])
    return _Classes(
        np.stack([profile.classes + at for profile, at in zip(profiles, offsets, strict=False)]),
        np.concatenate(
            [profile.starts[:-1] + at for profile, at in zip(profiles, filled, strict=False)]
            + [filled[-1:]]
        ),
        np.concatenate(
            [profile.matches + at for profile, at in zip(profiles, offsets, strict=False)]
        ),
    )


def _wanted(classes: _Classes, initiators: Int64) -> Mask:
    """The classes of which anybody may look for a member."""
    asked = np.zeros(classes.starts.size - 1, dtype=bool)
    for own in classes.of:
        asked[own[initiators]] = True
    owners = np.repeat(np.arange(asked.size), np.diff(classes.starts))
    wanted = np.zeros(asked.size, dtype=bool)
    wanted[classes.matches[asked[owners]]] = True
    return wanted


def _search(
    rules: Rules,
    initiators: Int64,
    donors: Int64,
    used: Mask,
    turn_starts: Int64,
    quotas: Int64,
    *,
    taking: bool,
) -> tuple[Int64, Int64]:
    """Partner and profile of each initiator."""
    partners = np.full(initiators.size, NOT_TRIED, dtype=np.int64)
    profiles = np.zeros(initiators.size, dtype=np.int64)
    if not initiators.size or not rules.profiles:
        return partners, profiles
    sites, classes = _sites(rules), _classes(rules.profiles)
    free = donors[~used[donors]]
    wanted = _wanted(classes, initiators)
    keys, rank = donor_keys(free, classes.of, wanted, sites.of, sites.area.size)
    largest = classes.starts.size * max(sites.area.size, 1)
    ordered, order = sort_cells(keys, largest=largest)
    ranks = np.empty(rank.size, dtype=np.uint32)
    gather(rank, order, ranks)
    fresh = np.ones(ordered.size, dtype=bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    begins = np.flatnonzero(fresh)
    queue_keys = ordered[begins].astype(np.int64)
    queue_sites = queue_keys % max(sites.area.size, 1)
    ward_count = sites.ward_starts.size - 1
    groups = (queue_keys // max(sites.area.size, 1)) * ward_count + sites.ward[queue_sites]
    first = np.ones(groups.size, dtype=bool)
    first[1:] = groups[1:] != groups[:-1]
    group_begins = np.flatnonzero(first)
    find_in_turn(
        initiators,
        turn_starts,
        quotas,
        taking,
        classes.of,
        classes.starts,
        classes.matches,
        sites.of,
        sites.area,
        sites.values,
        sites.x,
        sites.y,
        sites.ward,
        sites.ward_starts,
        sites.wards,
        -1 if rules.farthest is None or rules.places is None else rules.farthest,
        groups[group_begins],
        np.append(group_begins, groups.size),
        begins.copy(),
        np.append(begins[1:], ordered.size),
        queue_sites,
        ranks,
        free,
        used,
        partners,
        profiles,
    )
    return partners, profiles
