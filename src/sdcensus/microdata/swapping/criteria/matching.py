"""Units that are alike by their members: the design of swaps that are not about levels of risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from sdcensus.microdata.method import Draws
from sdcensus.microdata.swapping.criteria.members import compositions
from sdcensus.microdata.swapping.levels import AreaLevels, area_levels, several_areas
from sdcensus.microdata.swapping.profiles import similarity_profiles
from sdcensus.microdata.swapping.reach import levels_inside, reach_by_level
from sdcensus.microdata.swapping.risk import draw_waits, without_risk
from sdcensus.microdata.swapping.search import SwapDesign
from sdcensus.microdata.swapping.units import UnitTable
from sdcensus.model.method.parameter import Parameter, ValueKind

Integers = npt.NDArray[Any]

#: What profiles call as many members of each kind, and being in a small cell.
_MEMBERS, _FLAG = "members", "flag"
#: Counter of the draws by which donors are offered.
_OFFERING = 21

MEMBERS = Parameter(
    "members",
    ValueKind.VARIABLES,
    "By what members are counted, of whom partners have equally many: variables of persons, levels,"
    " or numbers at which groups begin, such as sex,age:15:65.",
    default=("sex", "age:15:65"),
)

BETWEEN = Parameter(
    "between",
    ValueKind.TEXT,
    "The level in whose areas partners differ; the finest if nothing is said. A file that tells"
    " coarser areas is changed by exchanges between these only.",
)


def member_design(
    units: UnitTable,
    draws: Draws,
    *,
    members: Sequence[str],
    stratum: Sequence[str] = (),
    within: str = "",
    between: str = "",
    farther: bool = False,
    missing_match: bool = False,
    flag: Integers | None = None,
) -> SwapDesign:
    """Who may exchange places: units with equally many members of each kind, in different areas.

    Args:
        units: The units that move.
        draws: The order in which donors are offered.
        members: By what members are counted.
        stratum: Further variables in which partners are equal.
        within: The level inside whose areas partners lie; anywhere where nothing is said.
        between: The level in whose areas they differ; the finest where nothing is said.
        farther: Whether the next larger region is tried where there is no partner.
        missing_match: Whether units without a value of a stratum match each other.
        flag: A further mark of each unit in which partners are equal.

    Raises:
        SpecError: Nobody could exchange a place, or something that is named does not exist.
    """
    level = exchange_level(units, between)
    if within:
        levels_inside(level, within)
    ready = {units.unused_name(_MEMBERS): compositions(units, members)}
    if flag is not None:
        ready[units.unused_name(_FLAG)] = flag
    text = ",".join([*ready, *stratum])
    return SwapDesign(
        units=units,
        levels=level,
        profiles=similarity_profiles(units, [text], missing_match=missing_match, ready=ready),
        risk=without_risk(units),
        waits=draw_waits(draws.words(units.digests, _OFFERING)),
        reach=reach_by_level(level, within=within, farther=farther),
        draws=draws,
    )


def exchange_level(units: UnitTable, between: str = "") -> AreaLevels:
    """The level in whose areas partners differ: the finest of the geography if none is named."""
    leaf = units.leaf[units.movable]
    if between:
        return several_areas(area_levels(units.store.schema, [between]), leaf, named=True)
    levels = area_levels(units.store.schema)
    finest = AreaLevels(levels.geography, levels.levels[-1:])
    return several_areas(finest, leaf, named=False)


def large_area(units: UnitTable) -> str:
    """The coarsest level of the geography, if there is one above the finest."""
    levels = area_levels(units.store.schema)
    return levels.names[0] if len(levels) > 1 else ""
