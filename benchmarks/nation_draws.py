"""The people, homes and families of the nation for measuring, drawn piece by piece."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

NUTS1, NUTS2, NUTS3, LAU, PARTS = 4, 12, 40, 352, 30
#: Kilometres of the block of a municipality on the grid, and blocks in a row.
WIDE, HIGH, IN_ROW = 9, 13, 22
EAST, NORTH = 3_900_000, 3_100_000
_CHUNK = 400_000

Places = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, slots=True)
class Lists:
    """The codes of each variable, in order."""

    codes: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]]

    def at(self, variable: str, *codes: str) -> list[int]:
        """Where codes stand."""
        return [self.codes[variable].index(code) for code in codes]


def second_level(lau: Places) -> Places:
    """The area of the second level that a municipality lies in."""
    return third_level(lau) * NUTS2 // NUTS3


def third_level(lau: Places) -> Places:
    """The area of the third level that a municipality lies in."""
    return lau * NUTS3 // LAU


class Draw:
    """Draws of one piece of the nation."""

    def __init__(self, seed: Sequence[int]) -> None:
        self.random = np.random.default_rng(list(seed))

    def chance(self, share: Any, size: int) -> npt.NDArray[np.bool_]:
        """True with that chance."""
        return np.asarray(self.random.random(size, dtype=np.float32) < share)

    def choice(self, shares: Sequence[float], size: int) -> Places:
        """Positions with shares."""
        bounds = np.cumsum(np.array(shares) / np.sum(shares)).astype(np.float32)
        found = np.searchsorted(bounds, self.random.random(size, dtype=np.float32), side="right")
        return np.minimum(found, len(shares) - 1)

    def ranked(self, most: int, size: int, steep: float = 2.5) -> Places:
        """Positions below ``most``, the first ones far more often than the last."""
        return (most * self.random.random(size, dtype=np.float32) ** steep).astype(np.int64)

    def whole(self, low: Any, high: Any, size: int) -> Places:
        """Whole numbers from ``low`` to below ``high``."""
        span = np.asarray(high) - np.asarray(low)
        return np.asarray(low + span * self.random.random(size)).astype(np.int64)


#: Variables that some people have at random in a varied nation.
_VARIED = ("housing", "birthplace", "citizenship", "arrival", "residence_before")

#: Kinds of households: alone, couple, couple with children, lone parent, others together,
#: two families, institution; their shares.
_ALONE, _COUPLE, _CHILDREN, _LONE, _TOGETHER, _TWO, _INSTITUTION = range(7)
_KINDS = (0.385, 0.27, 0.245, 0.072, 0.018, 0.008, 0.0009)


def _sizes(kind: Places, draw: Draw) -> Places:
    size = kind.size
    children = 1 + draw.choice([0.36, 0.43, 0.15, 0.04, 0.013, 0.005, 0.002], size)
    by_kind = [
        np.ones(size, dtype=np.int64),
        np.full(size, 2),
        2 + children,
        1 + children,
        2 + draw.choice([0.7, 0.2, 0.1], size),
        4 + draw.choice([0.4, 0.3, 0.2, 0.1], size),
        5 + draw.ranked(120, size, 2.0),
    ]
    return np.choose(kind, by_kind)


def people(
    lists: Lists, draw: Draw, kind: Places, size: Places, lau: Places, varied: float
) -> tuple[dict[str, Places], Places, Places]:
    """Places in the code lists for each person, with household and number in it."""
    household = np.repeat(np.arange(kind.size), size)
    first = np.repeat(np.cumsum(size) - size, size)
    rows = household.size
    number = np.arange(rows) - first
    kind, lau = kind[household], lau[household]
    couple = np.isin(kind, (_COUPLE, _CHILDREN, _TWO))
    partner = couple & (number < 2)
    lone = (kind == _LONE) & (number == 0)
    child = (np.isin(kind, (_CHILDREN, _TWO)) & (number >= 2)) | ((kind == _LONE) & (number > 0))
    institution = kind == _INSTITUTION

    head_age = np.choose(
        np.minimum(kind, 6),
        [
            draw.whole(20, 96, rows),
            draw.whole(24, 92, rows),
            draw.whole(26, 60, rows),
            draw.whole(22, 60, rows),
            draw.whole(18, 50, rows),
            draw.whole(30, 60, rows),
            100 - draw.ranked(90, rows, 2.5),
        ],
    )
    alike = head_age[first]
    spread = draw.whole(-5, 6, rows)
    age = np.where(
        number == 0, alike, np.where(partner, np.clip(alike + spread, 18, 100), head_age)
    )
    young = np.minimum(draw.whole(0, 25, rows), np.maximum(alike - 17, 0))
    grown = draw.chance(0.04, rows) & (alike > 46)
    age = np.where(child, np.where(grown, np.clip(alike - 24, 25, 60), young), age)
    age = np.clip(age, 0, 100)
    woman = draw.chance(0.505, rows)
    woman = np.where(partner, (number == 1) ^ draw.chance(0.006, rows), woman)
    woman = np.where(lone, draw.chance(0.84, rows), woman)
    adult = age >= 15
    work_age = adult & (age < 75)

    made: dict[str, Places] = {"sex": woman.astype(np.int64), "age": age}
    married = draw.chance(np.clip((alike - 20) / 50, 0.1, 0.92), rows)[first] & partner
    same = draw.chance(0.008, rows)[first]
    code = lists.at
    never, opposite, same_sex, widowed, divorced, unknown = code(
        "marital_status", "1", "2.1", "2.2", "3", "4", "5"
    )
    single = np.where(draw.chance(np.clip((age - 60) / 45, 0, 0.8), rows), widowed, divorced)
    single = np.where(draw.chance(np.clip((70 - age) / 45, 0.06, 1), rows), never, single)
    marital = np.where(married, np.where(same, same_sex, opposite), single)
    marital = np.where(adult & (age > 17), marital, never)
    made["marital_status"] = np.where(draw.chance(0.001, rows), unknown, marital)
    nucleus, alone, together, unstated, inside, homeless = code(
        "household_status", "1.1", "1.2.1", "1.2.2", "1.3", "2.1", "2.2"
    )
    status = np.where(partner | lone | child, nucleus, together)
    status = np.where(kind == _ALONE, alone, np.where(institution, inside, status))
    status = np.where(draw.chance(0.002, rows), unstated, status)
    made["household_status"] = np.where(draw.chance(0.0003, rows), homeless, status)
    role = code("family_status", "1.1.1", "1.1.2", "1.2", "2", "3.1", "3.2", "4", "5")
    family = np.where(
        partner, np.where(married, np.where(same, role[1], role[0]), role[2]), role[7]
    )
    family = np.where(lone, role[3], family)
    family = np.where(child, np.where(kind == _LONE, role[5], role[4]), family)
    made["family_status"] = np.where(draw.chance(0.002, rows), role[6], family)
    housing = code("housing", "1.1", "1.2", "2", "3")
    where = np.where(institution, housing[1], housing[0])
    made["housing"] = np.where(draw.chance(0.004, rows), housing[2], where)
    made["locality"] = np.minimum(2 + (lau % 37) ** 2 // 120 + draw.choice([8, 1, 1], rows), 12)

    foreign_home = draw.chance(0.06 + 0.3 * (lau % 37 < 3), rows)[first]
    abroad = draw.chance(np.where(foreign_home, np.where(adult, 0.75, 0.15), 0.02), rows)
    births = np.arange(len(lists.codes["birthplace"]))
    here, other, unstated = code("birthplace", "1", "3", "4")
    countries = births[~np.isin(births, (here, other, unstated))]
    country = countries[(draw.ranked(countries.size, rows, 4.0) * 89) % countries.size]
    birth = np.where(abroad, country, here)
    made["birthplace"] = np.where(draw.chance(0.0008, rows), unstated, birth)
    known = {one: at for at, one in enumerate(lists.codes["citizenship"])}
    own, stateless, unstated = code("citizenship", "1", "3", "4")
    twin = np.array([known.get(one, own) for one in lists.codes["birthplace"]])
    kept = draw.chance(np.where(abroad, 0.42, 0.0), rows)
    born_foreign = draw.chance(np.where(foreign_home & ~abroad, 0.15, 0.001), rows)
    citizen = np.where(kept, twin[birth], np.where(born_foreign, twin[country], own))
    citizen = np.where(draw.chance(0.0006, rows), stateless, citizen)
    made["citizenship"] = np.where(draw.chance(0.0006, rows), unstated, citizen)
    years = np.minimum(draw.ranked(60, rows, 1.5), age)
    at = lists.codes["arrival"]
    by_year = [at.index(f"1.1.{one + 1}") for one in range(2)]
    by_year += [at.index(f"1.{2 + one // 5}.{one % 5 + 1}") for one in range(15)]
    by_year += [at.index(f"1.{5 + one // 5}") for one in range(25)]
    never_came, unstated = code("arrival", "2", "3")
    by_year += [never_came] * 20
    returned = draw.chance(0.02, rows) & ~abroad
    arrival = np.where(abroad | returned, np.array(by_year)[years], never_came)
    made["arrival"] = np.where(draw.chance(0.004, rows), unstated, arrival)
    moved = code("residence_before", "1", "2.1.1", "2.1.2", "2.2", "3", "4")
    move = draw.choice([90, 6, 3.2], rows)
    residence = np.where((abroad | returned) & (years < 1), moved[3], np.array(moved[:3])[move])
    residence = np.where(draw.chance(0.002, rows), moved[4], residence)
    made["residence_before"] = np.where(age < 1, moved[5], residence)

    employed = work_age & draw.chance(np.clip(1.05 - np.abs(age - 42) / 42, 0.03, 0.86), rows)
    jobless = work_age & ~employed & draw.chance(0.1, rows)
    act = code("activity", "1.1", "1.2", "2.1", "2.2", "2.3", "2.4", "3")
    idle = np.where(age >= 62, act[3], np.where(age < 28, act[4], act[5]))
    activity = np.where(employed, act[0], np.where(jobless, act[1], idle))
    activity = np.where(adult, activity, act[2])
    made["activity"] = np.where(adult & draw.chance(0.003, rows), act[6], activity)
    level = np.clip(draw.choice([1, 5, 17, 33, 3, 2, 24, 14, 1], rows) + (age < 18) * -2, 0, 8)
    education = np.where(adult, level, code("education", "11")[0])
    made["education"] = np.where(
        adult & draw.chance(0.02, rows), code("education", "10")[0], education
    )
    order = np.array([8, 7, 4, 4, 3, 2, 1, 1, 0])[level]
    occupation = np.clip(order + draw.whole(-3, 4, rows), 0, 9)
    unstated, not_working = code("occupation", "11", "12")
    occupation = np.where(draw.chance(0.04, rows), unstated, occupation)
    made["occupation"] = np.where(employed, occupation, not_working)
    unstated, not_working = code("industry", "11", "12")
    trades = len(lists.codes["industry"]) - 2
    industry = (occupation * 5 + draw.ranked(trades, rows, 2.2)) % trades
    industry = np.where(draw.chance(0.03, rows), unstated, industry)
    made["industry"] = np.where(employed, industry, not_working)
    unstated, not_working = code("employment", "5", "6")
    employment = draw.choice([84, 4, 10.5, 1], rows)
    employment = np.where(draw.chance(0.01, rows), unstated, employment)
    made["employment"] = np.where(employed, employment, not_working)
    home = second_level(lau)
    unknown_place, outside, not_fixed, unstated, not_working = code(
        "work_place", "1.unknown", "2", "3", "4", "5"
    )
    place = np.where(draw.chance(0.82, rows), home, draw.whole(0, NUTS2, rows))
    further = np.array([-1, unknown_place, outside, not_fixed, unstated])[
        draw.choice([90, 3, 0.6, 5, 1], rows)
    ]
    made["work_place"] = np.where(employed, np.where(further < 0, place, further), not_working)
    for name in _VARIED if varied else ():
        among = draw.whole(0, len(lists.codes[name]), rows)
        made[name] = np.where(draw.chance(varied, rows), among, made[name])
    return made, household, number


def households(lists: Lists, draw: Draw, kind: Places, size: Places) -> dict[str, Places]:
    """Places in the code lists for each household."""
    code, count = lists.at, kind.size
    types = code("household_type", "1.1", "1.2", "2.1.1", "2.1.2", "2.1.3", "3", "I")
    lone = code("household_type", "2.2.1", "2.2.2", "2.3.1", "2.3.2")
    old = draw.chance(0.06, count)
    couple = np.where(old, types[4], types[3])
    parent = np.array(lone)[draw.choice([14, 2, 74, 10], count)]
    kinds: list[Any] = [types[0], types[2], couple, parent, types[1], types[5], types[6]]
    sizes = np.array(code("household_size", "1", "2", "3.1", "3.2", "3.3", "4", "5"))
    steps = np.searchsorted([2, 3, 4, 5, 6, 11], size, side="right")
    institution = kind == _INSTITUTION
    tenure = draw.choice([56, 40, 3, 1], count)
    return {
        "household_type": np.choose(kind, np.broadcast_arrays(*kinds, kind)[:-1]),
        "household_size": np.where(institution, code("household_size", "I")[0], sizes[steps]),
        "tenure": np.where(institution, code("tenure", "I")[0], tenure),
    }


def families(
    lists: Lists, draw: Draw, kind: Places, size: Places
) -> tuple[dict[str, Places], Places, Places]:
    """Places in the code lists for each family, with household and number in it."""
    one = np.flatnonzero(np.isin(kind, (_COUPLE, _CHILDREN, _LONE, _TWO)))
    two = np.flatnonzero(kind == _TWO)
    household = np.concatenate([one, two])
    number = np.concatenate([np.ones(one.size, dtype=np.int64), np.full(two.size, 2)])
    order = np.argsort(household, kind="stable")
    household, number = household[order], number[order]
    kind, members = kind[household], np.where(kind[household] == _TWO, 2, size[household])
    types = np.array(lists.at("family_type", "1.1.1", "1.1.2", "2.1"))
    with_children = np.array(
        lists.at("family_type", "1.2.1", "1.2.2", "1.3.1", "1.3.2", "2.2", "2.3")
    )
    lone = np.array(lists.at("family_type", "3.1", "3.2", "4.1", "4.2"))
    rows = household.size
    made = types[draw.choice([78, 1, 21], rows)]
    children = with_children[draw.choice([72, 0.5, 7, 0.1, 19, 0.4], rows)]
    made = np.where(kind == _CHILDREN, children, made)
    made = np.where(kind == _LONE, lone[draw.choice([14, 2, 74, 10], rows)], made)
    sizes = np.array(lists.at("family_size", "1", "2.1", "2.2", "2.3", "3.1", "3.2"))
    steps = np.searchsorted([3, 4, 5, 6, 11], members, side="right")
    return {"family_type": made, "family_size": sizes[steps]}, household, number


def dwellings(
    lists: Lists, draw: Draw, kind: Places, size: Places, area: Places
) -> tuple[dict[str, Places], Places, dict[str, Places]]:
    """Those of the households, then vacant ones; their areas, and coordinates."""
    code, homes = lists.at, kind.size
    vacant = homes // 22
    area = np.concatenate([area, area[draw.whole(0, homes, vacant)]])
    rows = area.size
    occupied = np.arange(rows) < homes
    institution = np.concatenate([kind == _INSTITUTION, np.zeros(vacant, dtype=bool)])
    members = np.concatenate([size, np.zeros(vacant, dtype=np.int64)])
    conventional, other, collective, _, empty = code("quarters", "1", "2", "3", "4", "V")
    quarters = np.where(draw.chance(0.01, rows), other, conventional)
    quarters = np.where(institution, collective, np.where(occupied, quarters, empty))
    made: dict[str, Places] = {"quarters": quarters}
    made["occupancy"] = np.where(occupied, code("occupancy", "1")[0], code("occupancy", "2")[0])
    owned = draw.choice([56, 40, 3, 1], rows)
    made["ownership"] = np.where(occupied, owned, code("ownership", "5")[0])
    made["occupants"] = np.clip(members - 1, 0, len(lists.codes["occupants"]) - 1)
    for name in ("floor_space", "density", "water", "toilet", "bath", "heating"):
        made[name] = draw.ranked(len(lists.codes[name]), rows, 3.0)
    village = area // PARTS % 37 > 3
    made["building_type"] = draw.choice([60, 8, 30, 1, 1], rows) * (
        1 - village * draw.chance(0.5, rows)
    )
    made["construction"] = draw.choice([6, 11, 12, 29, 25, 9, 4, 3, 1], rows)
    lau = area // PARTS
    column, row = lau % IN_ROW, lau // IN_ROW
    middle = draw.random.normal(0.5, 0.16, (2, rows))
    x = EAST + 1000 * WIDE * (column + np.clip(middle[0], 0, 0.999))
    y = NORTH + 1000 * HIGH * (row + np.clip(middle[1], 0, 0.999))
    return made, area, {"easting": x.astype(np.int64), "northing": y.astype(np.int64)}


def pieces(persons: int) -> Iterator[tuple[Places, Places, Places]]:
    """Area, kind and size of households, sorted by area, piece by piece."""
    draw = Draw([20260301, persons])
    share = 1 / (np.arange(LAU) % 37 + 1.5)
    parts = np.repeat(share, PARTS) * draw.random.exponential(1.0, LAU * PARTS)
    homes = persons * 2 // 4 + 64
    kind = draw.choice(_KINDS, homes)
    size = _sizes(kind, draw)
    while int(size.sum()) < persons:
        kind, size = np.concatenate([kind, kind]), np.concatenate([size, size])
    keep = int(np.searchsorted(np.cumsum(size), persons)) + 1
    kind, size = kind[:keep], size[:keep]
    size[-1] -= int(size.sum()) - persons
    kind[-1] = _TOGETHER if size[-1] > 1 else _ALONE
    area = np.sort(draw.choice(parts.tolist(), keep))
    for start in range(0, keep, _CHUNK):
        piece = slice(start, start + _CHUNK)
        yield area[piece], kind[piece], size[piece]
