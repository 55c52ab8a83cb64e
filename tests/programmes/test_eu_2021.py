"""The European programme as laid down in Regulations (EU) 2017/543, 2017/712, 2018/1799."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.plan.programme import Breakdown, BreakdownCode, Programme
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text
from sdcensus.programmes import PROGRAMMES, load_programme

#: Leaves, all codes with totals and groups, and levels below the total (2017/543, Annex).
BREAKDOWNS = """
SEX:2/3/1 AGE.L:6/7/1 AGE.M:21/28/2 AGE.H:101/128/3 LMS.L:5/6/1 LMS.H:6/8/2 CAS.L:4/6/2
CAS.H:7/10/2 OCC:12/13/1 IND.L:12/13/1 IND.H:23/29/2 SIE:6/7/1 EDU:11/12/1 POB.L:5/7/2
POB.M:10/13/3 POB.H:234/244/4 COC.L:5/7/2 COC.M:10/13/3 COC.H:211/221/4 YAT:3/4/1
YAE.L:11/13/2 YAE.H:24/30/3 ROY:6/9/3 FST.L:5/6/1 FST.M:7/10/2 FST.H:8/12/3 HST.L:2/3/1
HST.M:5/8/2 HST.H:6/10/3 TFN.L:4/5/1 TFN.H:13/21/3 SFN:6/9/2 TPH.L:4/6/2 TPH.H:10/16/3
SPH:7/9/2 HAR:4/6/2 TSH:4/5/1 TLQ:4/5/1 OCS:3/4/1 OWS:5/6/1 NOC:11/15/3 UFS:10/11/1
NOR:10/11/1 DFS:9/10/1 DRM:9/10/1 WSS:3/4/1 TOI:3/4/1 BAT:3/4/1 TOH:3/4/1 TOB:5/7/2
POC:9/10/1 LOC:13/14/1 LPW.N:5/6/1 LPW.L:17/23/3 AGE.G:3/4/1
"""
#: Cells for each area: leaves only, and with totals and groups (2017/712, Annex I), with the 4
#: areas of the first and 12 of the second level of the Netherlands in LPW.L.
HYPERCUBES = """
1.1:1212/3072 1.2:1212/3840 1.3:1616/4608 1.4:72/240 2.1:480/1512 2.2:288/1260 2.3:2184/7056
3.1:42/84 3.2:10/24 3.3:10/18 4.1:1414/3840 4.2:2424/4992 4.3:2222/4608 5.1:6048/14196
5.2:3024/7644 5.3:5544/13104 5.4:792/1764 5.5:3168/6084 5.6:3024/7644 5.7:1584/3276
6.1:2520/6552 6.2:2310/6048 6.3:720/1638 7.1:8568/25116 7.2:4284/13524 8.1:10/21 8.2:10/21
9.1:49140/143472 9.2:1008/2520 9.3:9828/20496 9.4:11232/21960 10.1:630/2352 10.2:630/2352
10.3:2520/14112 11.1:8862/18564 11.2:4642/8619 12.1:2772/9828 12.2:2520/9828 12.3:1200/4563
12.4:1512/5292 13.1:1920/7020 13.2:1008/4536 13.3:840/2184 13.4:840/2184 13.5:2400/5070
14.1:1470/5880 14.2:1470/5880 14.3:3234/10920 14.4:1764/7560 14.5:1152/6804 15.1:2640/10584
15.2:2112/6480 15.3:960/3780 15.4:4200/24696 16.1:2520/7644 16.2:2520/7644 16.3:5544/14196
16.4:3024/9828 16.5:1320/3549 17.1:4830/17052 17.2:10626/31668 17.3:5796/21924
18.1:1380/4263 18.2:2530/7308 18.3:600/1911 19.1:2310/7056 19.2:5082/13104 19.3:2640/7560
20.1:1050/3528 20.2:1050/3528 21.1:1470/5040 21.2:2310/6048 21.3:2058/8400 21.4:3234/10080
21.5:1764/8400 22.1:2772/10080 22.2:1512/5880 23.1:3696/18144 23.2:9240/36288
24.1:4200/18144 24.2:4200/24192 25.1:1050/3528 25.2:5250/28224 25.3:5250/28224
26.1:1050/3528 26.2:1050/4704 26.3:5250/32928 27.1:924/2730 27.2:660/2184 28.1:1764/7560
28.2:1260/6048 29.1:4200/21168 29.2:4200/21168 29.3:4200/28224 30.1:4200/21168
30.2:4200/21168 30.3:4200/28224 31.1:6300/32928 31.2:6300/24696 31.3:550/2016
32.1:6300/32928 32.2:6300/24696 32.3:550/2016 33.1:280/720 34.1:78/189 35.1:4/6 35.2:7/9
36.1:4/5 36.2:6/9 37.1:135/280 38.1:15/28 39.1:275/630 39.2:550/1155 39.3:495/1050 40.1:3/4
40.2:3/4 40.3:3/4 40.4:3/4 41.1:4/5
"""
#: Areas of the Netherlands in 2021: the country, 4 + 12 + 40 NUTS areas, 352 municipalities.
AREAS = {"GEO.N": 1, "GEO.L": 17, "GEO.M": 57, "GEO.H": 409}
EU: Programme = load_programme("eu-2021")
COARSER = [breakdown.name for breakdown in EU.breakdowns if breakdown.finer]


def _numbers(text: str) -> dict[str, list[int]]:
    pairs = (one.split(":") for one in text.split())
    return {name: [int(part) for part in parts.split("/")] for name, parts in pairs}


def _dutch(name: str) -> Breakdown:
    """A breakdown with the areas of the Netherlands where it has any."""
    areas = []
    for first in range(1, 5):
        areas.append(BreakdownCode(f"NL{first}", Text(), "1"))
        areas += [BreakdownCode(f"NL{first}{at}", Text(), f"NL{first}") for at in range(1, 4)]
    return EU.breakdown(name).with_areas(areas)


def test_there_are_119_hypercubes_in_41_groups() -> None:
    assert PROGRAMMES == ("eu-2021",)
    assert len(EU.hypercubes) == 119
    assert len(EU.groups) == 41
    assert [group.group for group in EU.groups] == [str(at) for at in range(1, 42)]
    assert {hypercube.group for hypercube in EU.hypercubes} == {group.group for group in EU.groups}
    assert EU.sources[1] == "Commission Regulation (EU) 2017/712"
    with pytest.raises(UnknownName, match=r"no programme 'eu-2031'. Did you mean 'eu-2021'"):
        load_programme("eu-2031")


def test_every_breakdown_has_the_codes_of_the_regulation() -> None:
    found = {}
    for breakdown in EU.breakdowns:
        tree = _dutch(breakdown.name)
        found[breakdown.name] = [len(tree.leaves), len(tree.codes), tree.depth]
    assert found == _numbers(BREAKDOWNS)


def test_every_hypercube_has_the_cells_of_the_regulation() -> None:
    found = {}
    for cube in EU.hypercubes:
        trees = [_dutch(names[0]) for names in cube.dimensions[1:]]
        found[cube.name] = [
            math.prod(len(tree.leaves) for tree in trees),
            math.prod(len(tree.codes) for tree in trees),
        ]
    assert found == _numbers(HYPERCUBES)


@pytest.mark.parametrize(("municipalities", "cells"), [(352, 21_487_527), (355, 21_488_031)])
def test_the_tables_of_persons_have_21_and_a_half_million_cells(
    municipalities: int, cells: int
) -> None:
    areas = AREAS | {"GEO.H": 57 + municipalities}
    known = _numbers(HYPERCUBES)
    persons = [hypercube for hypercube in EU.hypercubes if hypercube.unit.name == "population"]
    assert len(persons) == 103
    assert (
        sum(known[person.name][1] * areas[person.dimensions[0][0]] for person in persons) == cells
    )


def test_group_13_crossed_has_more_than_a_thousand_million_cells() -> None:
    (cube,) = (group for group in EU.groups if group.group == "13")
    assert [names[0] for names in cube.dimensions] == [
        "GEO.M", "SEX", "AGE.M", "COC.M", "POB.M", "YAE.H", "ROY", "HAR",
    ]  # fmt: skip
    assert 57 * EU.cells_of(cube) == 1_310_858_640


def test_a_country_chooses_between_floor_space_and_rooms() -> None:
    known = {hypercube.name: hypercube.dimensions for hypercube in EU.hypercubes}
    assert known["39.2"][2] == ("UFS", "NOR")
    assert known["39.3"][2] == ("DFS", "DRM")
    for cube in (*EU.hypercubes, *EU.groups):
        for names in cube.dimensions[1:]:
            assert len({len(EU.breakdown(name).codes) for name in names}) == 1


def test_areas_are_added_level_by_level() -> None:
    levels = dict(EU.geography)
    assert levels["GEO.N"] == ()
    assert levels["GEO.H"] == ("nuts1", "nuts2", "nuts3", "lau") == EU.area_levels
    ordered = [levels[name] for name in ("GEO.N", "GEO.L", "GEO.M", "GEO.H")]
    assert all(fine[: len(coarse)] == coarse for coarse, fine in pairwise(ordered))
    assert all(cube.dimensions[0][0] in levels for cube in EU.hypercubes)


@pytest.mark.parametrize("name", COARSER)
def test_leaves_of_a_finer_breakdown_fall_into_those_of_a_coarser_one(name: str) -> None:
    fine, coarse = _dutch(EU.breakdown(name).finer), EU.breakdown(name)
    held: dict[str, set[str]] = {leaf.code: set() for leaf in coarse.leaves}
    for leaf in fine.leaves:
        held[EU.coarser_leaf(fine.name, name, leaf.code)].add(leaf.code)
    assert all(held.values())
    # Codes that both have are the same people: the same leaves, the same words.
    labels = {code.code: code.label for code in fine.codes}
    for one in coarse.codes[1:]:
        below = set().union(*(held[leaf] for leaf in coarse.below(one.code)))
        if name in ("YAT", "AGE.G"):
            assert below == set().union(*(fine.below(code) for code in _SPANS[name][one.code]))
        else:
            assert below == set(fine.below(one.code))
            assert labels[one.code] == one.label


#: Coarser breakdowns with numbers of their own: codes of YAE.L and AGE.L that make up each.
_SPANS: dict[str, dict[str, Sequence[str]]] = {
    "YAT": {"1": ["1.1", "1.2", "1.3"], "2": [*(f"1.{at}" for at in range(4, 10)), "2"], "3": "3"},
    "AGE.G": {"1": "1", "2": "234", "3": "56"},
}


def test_single_years_become_the_ages_of_the_grid() -> None:
    years = [leaf.code for leaf in EU.breakdown("AGE.H").leaves]
    groups = [EU.coarser_leaf("AGE.H", "AGE.G", year) for year in years]
    assert groups == ["1"] * 15 + ["2"] * 50 + ["3"] * 36


@given(st.sampled_from(EU.breakdowns), st.data())
def test_a_code_stands_for_the_leaves_of_the_codes_below_it(
    tree: Breakdown, data: st.DataObject
) -> None:
    code = data.draw(st.sampled_from(tree.codes)).code
    children = [one.code for one in tree.codes if one.parent == code]
    below = [leaf for child in children for leaf in tree.below(child)]
    assert tree.below(code) == (tuple(below) if children else (code,))
    assert all(tree.at_depth(leaf, tree.depth_of(code)) == code for leaf in tree.below(code))


def test_a_tree_with_a_code_that_stands_twice_or_under_nothing_is_refused() -> None:
    top = BreakdownCode("0", Text())
    with pytest.raises(SpecError, match="'1' stands twice"):
        Breakdown(
            "X", Text(), (top, BreakdownCode("1", Text(), "0"), BreakdownCode("1", Text(), "0"))
        )
    with pytest.raises(SpecError, match=r"'2' is not above '2.1'"):
        Breakdown("X", Text(), (top, BreakdownCode("2.1", Text(), "2")))


def test_missing_values_are_told_from_values() -> None:
    kinds = {code.code: code.kind for code in EU.breakdown("EDU").codes}
    assert kinds["10"] is CodeKind.NOT_STATED
    assert kinds["11"] is CodeKind.NOT_APPLICABLE
    assert kinds["9"] is CodeKind.VALID


def test_the_grid_has_13_figures_and_only_the_first_is_marked_and_never_withheld() -> None:
    assert [one.code for one in EU.grid] == [f"STAT.G.{at}" for at in range(13)]
    assert [one.populated for one in EU.grid] == [True] + [False] * 12
    assert [one.may_be_confidential for one in EU.grid] == [False] + [True] * 12
    for one in EU.grid:
        assert EU.breakdown(one.breakdown).place(one.breakdown_code) >= 0


def test_there_are_flags_and_one_special_value() -> None:
    values = [value.name for value in EU.cell_values if value.kind == "value"]
    flags = {value.name for value in EU.cell_values if value.kind == "flag"}
    assert values == ["not available"]
    assert {"confidential", "populated"} <= flags
