"""The arrays of a SAFE problem: what stays as it is, and what a search changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import siphash_words

Integers = npt.NDArray[Any]

_HALF = np.uint64(32)

#: Deviations from here on cost as much more for each unit as the last one before.
LARGEST_LISTED = 512


class Layout(NamedTuple):
    """What does not change: combinations, the control cells that they feed, and who may go where.

    A *layer* is a control table at one level of each of its axes: every combination feeds one
    control cell of it. Combinations that units can go between are a *block*; they lie together, in
    the same places of every order.

    Attributes:
        fed: For each combination and layer, which of the layer's control cells it feeds.
        starts: For each layer the number of its first control cell, and behind them how many
            there are.
        scales: For each layer by what a deviation is multiplied so that it can be compared.
        costs: For each layer which row of a table of costs is meant.
        layers: For each control cell its layer.
        member_starts, members: For each control cell the combinations that feed it.
        blocks: For each combination its block.
        block_starts: Where each block begins, and the last one ends.
        orders: Combinations in several orders, in which neighbours are alike.
        places: Where each combination stands in these orders.
        layer_orders: For each layer four orders, in which neighbours often differ in it alone.
        homes: For each unit the combination that it had.
        classes: For each unit by which rules it may go where.
        profiles: For each combination by which rules units may come.
        allowed: For each profile and class whether such a unit may come.
        ruled: One number: whether rules forbid anything.
        least: One number: how many units a combination has that has any.
    """

    fed: Integers
    starts: Integers
    scales: Integers
    costs: Integers
    layers: Integers
    member_starts: Integers
    members: Integers
    blocks: Integers
    block_starts: Integers
    orders: Integers
    places: Integers
    layer_orders: Integers
    homes: Integers
    classes: Integers
    profiles: Integers
    allowed: Integers
    ruled: Integers
    least: Integers


class State(NamedTuple):
    """What a search changes. The units of a combination are a list that is linked both ways.

    Attributes:
        counts: How many units each combination has.
        deviations: By how much each control cell is too large.
        levels, ties: A tree over control cells: its leaves hold how bad each is, every node above
            the worst below it, and how many are as bad.
        squares: One number: the sum of the squares of all deviations.
        cells: For each unit the combination that it has.
        firsts: For each combination its first unit, or -1.
        following, preceding: For each unit the next one and the one before, or -1.
        frozen: For each unit whether it has to stay.
        stream: The two words of a key, and how many numbers have been drawn under it.
    """

    counts: Integers
    deviations: Integers
    levels: Integers
    ties: Integers
    squares: Integers
    cells: Integers
    firsts: Integers
    following: Integers
    preceding: Integers
    frozen: Integers
    stream: npt.NDArray[np.uint64]


@compiled
def below(stream: npt.NDArray[np.uint64], limit: Any) -> Any:
    """A drawn number from 0 to below ``limit``, which is at most 2**32."""
    word = siphash_words(stream[0], stream[1], stream[2:3])
    stream[2] += np.uint64(1)
    return np.int64(((word >> _HALF) * np.uint64(limit)) >> _HALF)
