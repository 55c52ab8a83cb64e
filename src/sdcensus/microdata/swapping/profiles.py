"""Similarity profiles: what two units must have in common to exchange their places.

A profile is a list of variables of the units, such as ``size,rooms@broad,tenure``. Behind ``~``
stands by how much numbers may differ: ``size~1`` is "differs by at most one". Every unit gets the
number of its class, exactly; classes that match each other are listed.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.units import UnitTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Entity, Level, Variable

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: The number of persons in a unit, where the schema has no variable of that name.
PERSONS = "persons"

_ITEM = re.compile(
    r"\s*(?P<name>[^\W]\w*)\s*(?:@\s*(?P<level>\w+))?\s*(?:(?:~|±|\+-)\s*(?P<width>\d{1,9}))?\s*",
    re.UNICODE,
)
#: More neighbouring classes than this are no similarity.
_MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile(Confidential):
    """The classes of one similarity profile.

    Attributes:
        text: How the office wrote it.
        classes: The class of each unit, from 0 without gaps.
        count: How many classes there are.
        starts: Where the classes that match a class begin in ``matches``; one more at the end.
        matches: The classes that match, each class itself among them. Matching goes both ways.
    """

    text: str
    classes: Int64
    count: int
    starts: Int64
    matches: Int64

    def __repr__(self) -> str:
        return f"<Profile {self.text!r}: confidential>"

    def similar(self, first: Int64, second: Int64) -> npt.NDArray[np.bool_]:
        """Whether units match, pair by pair."""
        one, other = self.classes[first], self.classes[second]
        alike: npt.NDArray[np.bool_] = one == other
        for at in np.flatnonzero(~alike).tolist():
            near = self.matches[self.starts[one[at]] : self.starts[one[at] + 1]]
            alike[at] = bool((near == other[at]).any())
        return alike


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Part(Confidential):
    """One variable of a profile: whole numbers by unit, and by how much they may differ."""

    numbers: Int64
    width: int


def similarity_profiles(
    units: UnitTable,
    texts: Sequence[str],
    *,
    missing_match: bool = False,
    ready: Mapping[str, Integers] | None = None,
) -> tuple[Profile, ...]:
    """The profiles of units, in the order in which they are tried.

    Args:
        units: The units.
        texts: A profile each, as comma-separated variables.
        missing_match: Whether "not stated" and "not applicable" are values like others, which
            match themselves. Otherwise a profile with such a unit is refused.
        ready: Numbers by unit that a method brings, by the name that profiles call them.

    Raises:
        SpecError: A variable does not exist, is no variable of the units, is an amount, or some
            units do not have it.
    """
    profiles = []
    for text in texts:
        items = [item for item in text.split(",") if item.strip()]
        if not items:
            raise SpecError("A profile is empty. Name variables, such as size,tenure.")
        parts = [_part(units, item, missing_match, ready or {}) for item in items]
        profiles.append(_profile(text.strip(), parts, len(units)))
    return tuple(profiles)


def everybody(units: UnitTable) -> Profile:
    """The profile that all units share."""
    return _profile("", [], len(units))


def _profile(text: str, parts: Sequence[_Part], size: int) -> Profile:
    exact, _ = combined([part.numbers for part in parts if not part.width], size)
    wide = [part for part in parts if part.width]
    classes, count = combined([exact, *(part.numbers for part in wide)], size)
    if not wide:
        return Profile(text, classes, count, np.arange(count + 1), np.arange(count))
    starts, matches = _neighbours(classes, count, exact, wide)
    return Profile(text, classes, count, starts, matches)


def _neighbours(
    classes: Int64, count: int, exact: Int64, wide: Sequence[_Part]
) -> tuple[Int64, Int64]:
    """For each class those whose numbers differ by no more than they may."""
    example = np.zeros(count, dtype=np.int64)
    example[classes] = np.arange(classes.size)
    axes = [part.numbers[example] for part in wide]
    widths = [
        min(part.width, int(np.ptp(axis)) if axis.size else 0)
        for part, axis in zip(wide, axes, strict=True)
    ]
    spans = [
        int(axis.max(initial=0)) + 1 + 2 * width for axis, width in zip(axes, widths, strict=True)
    ]
    steps = math.prod(2 * width + 1 for width in widths)
    if steps > _MOST_STEPS or math.prod(spans) * (int(exact.max(initial=0)) + 1) >= 1 << 62:
        raise SpecError(
            "A profile lets numbers differ by so much that nearly everything is similar. Name"
            " smaller differences, or a coarser level of the variable."
        )
    keys = exact[example]
    for axis, width, span in zip(axes, widths, spans, strict=True):
        keys = keys * span + axis + width
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    pairs = []
    for offsets in itertools.product(*(range(-width, width + 1) for width in widths)):
        shift = 0
        for step, span in zip(offsets, spans, strict=True):
            shift = shift * span + step
        at = np.minimum(np.searchsorted(ordered, keys + shift), max(count - 1, 0))
        same = ordered[at] == keys + shift
        pairs.append(np.stack([np.flatnonzero(same), order[at[same]]]))
    left, right = np.concatenate(pairs, axis=1)
    by_class = np.lexsort((right, left))
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(left, minlength=count), out=starts[1:])
    return starts, right[by_class]


def _part(units: UnitTable, item: str, missing_match: bool, ready: Mapping[str, Integers]) -> _Part:
    match = _ITEM.fullmatch(item)
    if match is None:
        raise SpecError(
            f"{item.strip()!r} cannot be read as part of a profile. Write a variable, one of its"
            " levels, or a number that may differ: size, rooms@broad, size~1."
        )
    name, width = match["name"], int(match["width"] or 0)
    schema = units.store.schema
    own = any(variable.name == name for variable in schema.variables)
    if name in ready:
        return _Part(np.asarray(ready[name], dtype=np.int64), width)
    if name == PERSONS and not own:
        return _Part(units.sizes(Entity.PERSON), width)
    if not own:
        raise UnknownName(
            "variable",
            name,
            known=[
                *(variable.name for variable in schema.usable(units.entity)),
                *ready,
                *([PERSONS] if Entity.PERSON is not units.entity else []),
            ],
        )
    variable = schema.variable(name)
    _check_variable(units, variable, match["level"])
    level = variable.level(match["level"])
    return _Part(_numbers(units, variable, level, width, missing_match), width)


def _check_variable(units: UnitTable, variable: Variable, level: str | None) -> None:
    """Refuse what does not say one thing about a unit."""
    schema = units.store.schema
    name, kind = variable.name, variable.entity
    classes = [each.name for each in variable.plain_levels if each.name != variable.name]
    if not variable.is_axis or (variable.continuous and not classes):
        what = "an amount without classes" if variable.continuous else "not kept in the store"
        raise SpecError(
            f"{name!r} is {what}, so that units cannot be alike in it. Give it levels in the"
            " schema and load again, or leave it out of the profile."
        )
    if variable.continuous and level is None:
        raise SpecError(
            f"{name!r} is an amount, and amounts are hardly ever equal. Name one of its classes in"
            f" the profile: {', '.join(f'{name}@{each}' for each in classes)}."
        )
    if kind in schema.lineage(units.entity) or variable is schema.geography:
        return
    remedy = f"variables of {units.entity.plural}"
    if schema.path(Entity.PERSON, units.entity):
        remedy += f", and of {PERSONS!r} for the number of persons in each"
    raise SpecError(
        f"{name!r} describes {kind.plural}, of which {units.entity.plural} may have several. A"
        f" profile consists of {remedy}."
    )


def _numbers(
    units: UnitTable, variable: Variable, level: Level, width: int, missing_match: bool
) -> Int64:
    """What a profile compares, as whole numbers by unit."""
    leaf = units.leaf if variable is units.store.schema.geography else units.codes(variable)
    codes = level.group_array[leaf]
    missing = np.array([code.is_missing for code in level.codes], dtype=bool)
    lacking = missing[codes] & units.movable
    if lacking.any() and not missing_match:
        raise SpecError(
            f"{int(lacking.sum()):,} {units.entity.plural} have no value of {variable.name!r},"
            " which is in a profile. Say --missing-match if they match others without a value, or"
            " leave the variable out of the profile."
        )
    if not width:
        return codes
    stated = [code for code in level.codes if not code.is_missing]
    by_number = all(code.lower is not None for code in stated)
    numbers = np.zeros(len(level.codes), dtype=np.int64)
    for position, code in enumerate(level.codes):
        numbers[position] = (code.lower or 0) if by_number else position
    lowest = int(numbers[~missing].min(initial=0))
    numbers -= lowest
    # Whoever has no value is like others without one, and like nobody else.
    highest = int(numbers[~missing].max(initial=0))
    numbers[missing] = highest + (width + 1) * (1 + np.arange(int(missing.sum())))
    return numbers[codes]
