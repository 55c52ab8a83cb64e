"""Looks across units: how much tables of one kind of unit tell about counts of another.

Where each larger unit holds k smaller ones, a count of these is k times the count of those. Noise
of variance V on it is noise of V / k² on the count of the larger units: a look worth k² looks. The
other way round a look at the larger units is worth 1 / k² looks at the smaller ones.

Nothing here reads a count. Information is one over a variance; information of independent looks
adds up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.entity import Entity
from sdcensus.model.identities import Tie, tied_parts, ties_of
from sdcensus.model.menu import Menu
from sdcensus.model.schema import Schema
from sdcensus.model.variable import Level

#: Says how many looks a menu has at a cell by these variables at these levels, its own included.
LooksOf = Callable[[Menu, Mapping[str, Level]], float]


@dataclass(frozen=True, slots=True)
class CrossLooks:
    """What tables of other units tell about one code of a cell.

    Attributes:
        through: The other units.
        variable, code: The code that ties them; the first one of several variables.
        times: How many smaller units lie in each larger one.
        looks: How many looks the other menu has at the tied cell.
        information: One over the variance of what they tell, about the cell itself.
    """

    through: Entity
    variable: str
    code: str
    times: int
    looks: float
    information: float


def look_weight(times: int, *, upwards: bool = True) -> float:
    """What a look at tied units is worth, in looks at the units themselves.

    Args:
        times: How many smaller units lie in each larger one.
        upwards: Whether smaller units are looked at, and the larger ones are meant.

    Examples:
        >>> look_weight(5), look_weight(5, upwards=False)
        (25.0, 0.04)
    """
    if type(times) is not int or times < 1:
        raise SpecError("Units hold a whole number of others, 1 or more.")
    return float(times**2) if upwards else 1.0 / times**2


def looks_across_units(
    schema: Schema,
    menus: Mapping[Entity, Menu],
    variances: Mapping[Entity, float],
    of: Entity,
    chosen: Mapping[str, Level],
    looks_of: LooksOf,
) -> tuple[CrossLooks, ...]:
    """What all other menus tell about cells of some units, by the code that ties them.

    Args:
        schema: What declares identities.
        menus: Everything that may be asked for, by kind of unit.
        variances: Of the noise of large counts, by kind of unit.
        of: The units that are meant.
        chosen: The variables of the cell, each at its level.
        looks_of: How many looks a menu has at a cell.

    Returns:
        One entry for each code and each other kind of unit; what different entries about the same
        code tell adds up.
    """
    found: list[CrossLooks] = []
    for tie in ties_of(schema):
        if of not in (tie.each, tie.holds):
            continue
        upwards = of is tie.each
        other = tie.holds if upwards else tie.each
        if other not in menus:
            continue
        tied = _tied_cell(schema, tie, other, chosen, menus[other])
        if tied is None:
            continue
        variable, codes, there = tied
        looks = looks_of(menus[other], there)
        information = look_weight(tie.times, upwards=upwards) * looks / _variance(variances, other)
        found += [
            CrossLooks(other, variable, code, tie.times, looks, information) for code in codes
        ]
    return tuple(found)


def _variance(variances: Mapping[Entity, float], of: Entity) -> float:
    variance = variances.get(of)
    if variance is None or not variance > 0:
        raise SpecError(f"Looks across units need the variance of the noise of {of.plural}.")
    return variance


def _tied_cell(
    schema: Schema, tie: Tie, other: Entity, chosen: Mapping[str, Level], menu: Menu
) -> tuple[str, tuple[str, ...], dict[str, Level]] | None:
    """The tied code of a cell, and the cell of the other units; ``None`` if there is none."""
    offered = {one.variable.name: one.levels for one in menu.variables}
    has = {variable.name for variable in schema.usable(other)}
    there = {name: level for name, level in chosen.items() if name in has}
    if len(there) < len(chosen) and {*chosen} - {*there} - {one.name for one, _ in tie.leaves}:
        return None  # the other units are not told apart like that
    named = ""
    codes: tuple[str, ...] = ()
    for variable, leaves in tie.leaves:
        level = chosen.get(variable.name)
        if level is None and variable.name in has:
            # Not in the cell, but the other units have to be cut down to the condition.
            fitting = [
                one for one in offered.get(variable.name, ()) if tied_parts(leaves, one.group_array)
            ]
            level = fitting[-1] if fitting else None
            if level is None:
                continue  # not offered: taken to hold for nearly all
            there[variable.name] = level
        if level is None:
            continue
        parts = tied_parts(leaves, level.group_array)
        if not parts:
            return None
        if not named:
            named, codes = variable.name, tuple(level.codes[part].code for part in parts)
    if not named or not menu.allows(there):
        return None
    return named, codes, there


def mixed_information(
    times: Sequence[int], variance: float, held_variance: float
) -> tuple[float, ...]:
    """What a count of smaller units tells about each class of larger ones that it mixes.

    The classes are counted with noise as well, so the mixed count tells about each of them what the
    others leave open. It is the exact best linear estimate.

    Args:
        times: For each class how many smaller units lie in each of its units.
        variance: Of the noise of each class.
        held_variance: Of what is known about the mixed count.

    Returns:
        For each class how much its information grows: one over its variance, less ``1/variance``.

    Examples:
        >>> [round(one, 6) for one in mixed_information([3], 7.0, 7.0)] == [round(9 / 7, 6)]
        True
    """
    if not variance > 0 or not held_variance > 0:
        raise SpecError("The variance of noise is a number above 0.")
    weights = np.array(times, dtype=np.float64)
    if weights.size == 0 or (weights < 1).any():
        raise SpecError("Units hold a whole number of others, 1 or more.")
    whole = held_variance + variance * float((weights**2).sum())
    left = variance - (weights * variance) ** 2 / whole
    return tuple(float(one) for one in 1 / left - 1 / variance)
