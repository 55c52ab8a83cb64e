"""How far a unit may move: a rule by the level at which it is at risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError, UnknownName
from sdcensus.microdata.swapping.levels import ANYWHERE, AreaLevels, main_levels
from sdcensus.model.schema.variable import Level


@dataclass(frozen=True, slots=True)
class Reach:
    """The regions in which partners are looked for, by level at risk.

    Attributes:
        regions: For each level, from coarse to fine, the regions that are tried one after the
            other: levels of the geography, or ``None`` for anywhere.
    """

    regions: tuple[tuple[Level | None, ...], ...]


def region_name(region: Level | None) -> str:
    """What files and tables call a region."""
    return ANYWHERE if region is None else region.name


def reach_by_level(
    levels: AreaLevels, rules: Sequence[str] = (), *, within: str = "", farther: bool = False
) -> Reach:
    """The regions of each level.

    Where nothing is said, a partner lies inside the next larger area: who is rare in a district
    moves within its parish, who is rare in the coarsest area moves anywhere.

    Args:
        levels: The levels at which units may be at risk, from coarse to fine.
        rules: What the office says, as ``district:parish`` or ``parish:anywhere``.
        within: The region of every level.
        farther: Whether the next larger region is tried where there is no partner.

    Raises:
        SpecError: A level does not exist, or nobody could leave its area without leaving the
            region.
    """
    said = _said(levels, rules)
    chosen: list[Level | None] = []
    for at, level in enumerate(levels.levels):
        if within:
            region = _region(levels, within)
        elif level.name in said:
            region = said[level.name]
        else:
            region = levels.levels[at - 1] if at else None
        if region is not None and level.refines(region) and region.refines(level):
            region = _larger(levels, region)[0]
        chosen.append(region)
    return Reach(
        tuple(
            (region, *(_larger(levels, region) if farther and region is not None else ()))
            for region in chosen
        )
    )


def levels_inside(levels: AreaLevels, within: str) -> AreaLevels:
    """The levels that are finer than a region that nobody leaves.

    Who is rare at a coarser level is rare at these as well, and is exchanged there.

    Raises:
        SpecError: There is none.
    """
    region = _region(levels, within)
    if region is None:
        return levels
    finer = tuple(
        level for level in levels.levels if level.refines(region) and not region.refines(level)
    )
    if not finer:
        raise SpecError(
            f"No level is finer than {within!r}, inside which partners should lie, so nobody could"
            f" leave an area. Name a coarser region, or finer levels; there are"
            f" {', '.join(level.name for level in main_levels(levels.geography))}."
        )
    return AreaLevels(levels.geography, finer)


def _said(levels: AreaLevels, rules: Sequence[str]) -> Mapping[str, Level | None]:
    said: dict[str, Level | None] = {}
    for rule in rules:
        name, colon, where = (part.strip() for part in rule.partition(":"))
        if not colon or not name or not where:
            raise SpecError(
                f"{rule!r} is no rule. Write the level at risk and where its partners lie, such as"
                " district:parish or parish:anywhere."
            )
        if name not in levels.names:
            raise UnknownName("level at risk", name, known=levels.names)
        if name in said:
            raise SpecError(f"There are two rules for {name!r}. Write one for each level.")
        level, region = levels.levels[levels.index(name)], _region(levels, where)
        if region is not None and (not level.refines(region) or region.refines(level)):
            coarser = [each.name for each in _larger(levels, level) if each is not None]
            raise SpecError(
                f"Whoever is rare in its {name} has to leave it, and cannot do so inside {where!r}."
                f" Name a larger region: {', '.join([*coarser, ANYWHERE])}."
            )
        said[name] = region
    return said


def _region(levels: AreaLevels, name: str) -> Level | None:
    plain = name.removeprefix(f"{levels.geography.name}@")
    return None if plain == ANYWHERE else levels.geography.level(plain)


def _larger(levels: AreaLevels, region: Level) -> tuple[Level | None, ...]:
    """The regions around a region, the next larger first, and last anywhere."""
    known = {level.name: level for level in (*levels.levels, *main_levels(levels.geography))}
    coarser = [
        level for level in known.values() if region.refines(level) and not level.refines(region)
    ]
    coarser.sort(key=lambda level: -np.unique(level.group_array).size)
    return (*coarser, None)
