"""The five example tables of ECLAC 2020: what its authors found, and what they missed."""

from __future__ import annotations

import numpy as np

from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.risk.detection.detectors import detect
from sdcensus.risk.detection.findings import FindingKind, Findings
from sdcensus.risk.differencing.differences import difference
from sdcensus.risk.discrepancies import (
    margins_that_do_not_add_up,
    misprints,
)
from sdcensus.testing.printed_tables import (
    labels_of,
    printed_cube,
    printed_spec,
    printed_table,
    printed_variable,
)

RELIGIONS = ("Anglican", "Baptist", "Methodist", "Pentecostal", "Catholic", "Seventh Day Adventist")
ETHNICITIES = ("Black", "East Indian", "Hispanic", "Mixed", "White", "Other")
AGES = ("15-24", "25-34", "35-44", "45-54", "55-64", "65+")
OCCUPATIONS = (
    "Managers",
    "Professional/ Technical",
    "Clerical",
    "Service/sales",
    "Agriculture",
)
AREAS = tuple(f"Area {at}" for at in range(1, 7))
ACTIVITIES = (
    "Worked",
    "Unemployed",
    "Home duties",
    "Attended school",
    "Retired",
    "Unable to work",
)
# ECLAC 2020, Table 1: ethnicity by religion, totals last.
TABLE_1 = [
    [7284, 2347, 7126, 4572, 1836, 2417, 25582],
    [20, 58, 9, 123, 40, 10, 260],
    [7, 5, 1, 120, 171, 53, 357],
    [138, 39, 93, 157, 309, 65, 801],
    [153, 45, 51, 13, 351, 1, 614],
    [11, 15, 6, 9, 80, 10, 131],
    [7613, 2509, 7286, 4994, 2787, 2556, 27745],
]
# ECLAC 2020, Table 2: ethnicity by health condition (no, yes, total) by religion.
TABLE_2 = [
    [
        [6795, 2268, 6616, 4408, 1746, 2342, 24175],
        [489, 79, 510, 164, 90, 75, 1407],
        [7284, 2347, 7126, 4572, 1836, 2417, 25582],
    ],
    [
        [18, 55, 7, 115, 40, 10, 245],
        [2, 3, 2, 8, 0, 0, 15],
        [20, 58, 9, 123, 40, 10, 260],
    ],
    [
        [7, 5, 0, 116, 166, 50, 344],
        [0, 0, 1, 4, 5, 3, 13],
        [7, 5, 1, 120, 171, 53, 357],
    ],
    [
        [131, 37, 89, 157, 289, 64, 767],
        [7, 2, 4, 0, 20, 1, 34],
        [138, 39, 93, 157, 309, 65, 801],
    ],
    [
        [148, 45, 49, 12, 345, 1, 600],
        [5, 0, 2, 1, 6, 0, 14],
        [153, 45, 51, 13, 351, 1, 614],
    ],
    [
        [7099, 2410, 6761, 4808, 2586, 2467, 26131],
        [503, 84, 519, 177, 121, 79, 1483],
        [7602, 2494, 7280, 4985, 2707, 2546, 27614],
    ],
]
# ECLAC 2020, Table 3: occupation by health insurance (no, yes, total) by age, as printed.
TABLE_3 = [
    [
        [0, 5, 14, 36, 26, 14, 95],
        [4, 10, 58, 129, 123, 872, 1196],
        [4, 15, 72, 165, 149, 886, 1291],
    ],
    [
        [8, 17, 36, 81, 55, 22, 219],
        [16, 39, 140, 290, 148, 112, 745],
        [24, 56, 176, 371, 203, 134, 964],
    ],
    [[6, 14, 18, 40, 21, 4, 103], [19, 43, 55, 117, 53, 7, 294], [25, 57, 73, 157, 74, 11, 397]],
    [[29, 40, 49, 56, 31, 9, 300], [30, 38, 37, 52, 23, 5, 180], [59, 78, 86, 108, 54, 14, 480]],
    [[6, 30, 34, 36, 31, 5, 142], [2, 16, 22, 15, 4, 0, 59], [8, 46, 56, 51, 35, 5, 201]],
    [
        [49, 106, 151, 249, 164, 140, 859],
        [71, 146, 312, 603, 351, 991, 2474],
        [120, 252, 463, 852, 515, 1131, 3333],
    ],
]
# ECLAC 2020, Tables 4 and 5: activity by area, totals last.
TABLE_4 = [
    [4923, 658, 887, 1367, 1520, 1834, 11189],
    [538, 58, 104, 247, 175, 185, 1307],
    [430, 65, 70, 93, 112, 116, 886],
    [1125, 257, 91, 173, 216, 534, 2396],
    [854, 97, 106, 148, 181, 250, 1636],
    [139, 8, 31, 65, 37, 45, 325],
    [8009, 1143, 1289, 2093, 2241, 2964, 17739],
]
TABLE_5 = [
    [4871, 650, 883, 1346, 1507, 1817, 11074],
    [535, 56, 104, 237, 169, 184, 1285],
    [419, 64, 63, 87, 107, 112, 852],
    [1120, 256, 90, 173, 215, 533, 2386],
    [742, 93, 81, 122, 157, 217, 1412],
    [72, 5, 14, 30, 16, 24, 161],
    [7759, 1124, 1235, 1994, 2171, 2887, 17170],
]
# ECLAC 2020, Table 8: religion by district after perturbation, totals perturbed on their own.
TABLE_8 = [
    [382, 485, 9737, 1496, 1545, 246, 13894],
    [26, 14, 44, 68, 45, 6, 200],
    [619, 421, 3856, 1850, 1764, 2400, 10912],
    [58, 104, 366, 162, 48, 7, 744],
    [104, 95, 336, 41, 22, 5, 606],
    [66, 0, 425, 49, 27, 5, 568],
    [710, 1006, 1432, 1081, 505, 335, 5071],
    [2536, 4947, 331, 2852, 206, 621, 11491],
    [525, 293, 6125, 369, 860, 577, 8747],
    [131, 189, 385, 500, 67, 7, 1277],
    [824, 150, 1905, 2605, 1260, 1852, 8591],
    [1720, 2035, 5079, 10844, 2845, 3120, 25643],
    [14, 18, 248, 113, 94, 35, 520],
    [18331, 19940, 33260, 24264, 12878, 13259, 121936],
    [3977, 2306, 5377, 3000, 1364, 465, 16491],
    [12, 7, 242, 102, 8, 3, 366],
    [2729, 7154, 5434, 6466, 2405, 3120, 27310],
    [6482, 5478, 12086, 13680, 5527, 3806, 47057],
    [39243, 44651, 86666, 69539, 31463, 29865, 301431],
]
TABLE_8_ROWS = [3, -3, 2, -1, 3, -4, 2, -2, -2, -2, -5, 0, -2, 4, 2, -8, 2, -2, 4]
TABLE_8_COLUMNS = [-3, 9, -2, -3, -7, -4, 7]

ETHNICITY = printed_variable("ethnicity", ETHNICITIES)
RELIGION = printed_variable("religion", RELIGIONS)
HEALTH = printed_variable("health_condition", ("No", "Yes"), role=Role.SENSITIVE)
INSURANCE = printed_variable("health_insurance", ("No", "Yes"), role=Role.SENSITIVE)
OCCUPATION = printed_variable("occupation", OCCUPATIONS)
AGE = printed_variable("age", AGES)
ACTIVITY = printed_variable("activity", ACTIVITIES)
AREA = printed_variable("area", AREAS, role=Role.GEOGRAPHY)


def table(name: str, numbers: object, *variables: Variable) -> Table:
    return printed_table(printed_spec(*variables, name=name), np.array(numbers))


def table_2() -> Table:
    five = printed_variable("ethnicity", ETHNICITIES[:5])
    return table("Table 2", TABLE_2, five, HEALTH, RELIGION)


def table_3() -> Table:
    return table("Table 3", TABLE_3, OCCUPATION, INSURANCE, AGE)


def table_4() -> Table:
    return table("Table 4", TABLE_4, ACTIVITY, AREA)


def table_5() -> Table:
    return table("Table 5", TABLE_5, ACTIVITY, AREA)


def corrected(printed: Table) -> Table:
    found = misprints(printed)
    assert found is not None
    return found


def by_kind(found: tuple[Findings, ...]) -> dict[FindingKind, set[tuple[str, ...]]]:
    return {one.kind: labels_of(one.spec, one.cells) for one in found if one}


def test_table_1_identifies_two_persons() -> None:
    printed = table("Table 1", TABLE_1, ETHNICITY, RELIGION)
    assert len(margins_that_do_not_add_up(printed)) == 0
    assert by_kind(detect(printed)) == {
        FindingKind.IDENTIFICATION: {
            ("Hispanic", "Methodist"),
            ("White", "Seventh Day Adventist"),
        }
    }


def test_table_2_tells_the_health_of_two_persons_and_six_groups() -> None:
    # The text of the study names the two persons; groups and the remaining ones and twos are ours.
    found = by_kind(detect(table_2(), coalition=1))
    assert found == {
        FindingKind.INDIVIDUAL_ATTRIBUTE: {
            ("Hispanic", "Yes", "Methodist"),
            ("White", "No", "Seventh Day Adventist"),
        },
        FindingKind.GROUP_ATTRIBUTE: {
            ("East Indian", "No", "Catholic"),
            ("East Indian", "No", "Seventh Day Adventist"),
            ("Hispanic", "No", "Anglican"),
            ("Hispanic", "No", "Baptist"),
            ("Mixed", "No", "Pentecostal"),
            ("White", "No", "Baptist"),
        },
        FindingKind.COALITION: {
            ("Mixed", "No", "Seventh Day Adventist"),
            ("White", "No", "Pentecostal"),
        },
        FindingKind.IDENTIFICATION: {
            ("Hispanic", "Total", "Methodist"),
            ("White", "Total", "Seventh Day Adventist"),
            ("Hispanic", "Yes", "Methodist"),
            ("White", "No", "Seventh Day Adventist"),
            ("Mixed", "Yes", "Seventh Day Adventist"),
            ("White", "Yes", "Pentecostal"),
        },
        FindingKind.PAIR: {
            ("East Indian", "Yes", "Anglican"),
            ("East Indian", "Yes", "Methodist"),
            ("Mixed", "Yes", "Baptist"),
            ("White", "Yes", "Methodist"),
        },
    }


def test_table_2_in_words() -> None:
    interior = np.array(TABLE_2)[:-1, :-1, :-1]
    cube = printed_cube(table_2().spec, interior)
    individual = next(one for one in detect(cube) if one.kind is FindingKind.INDIVIDUAL_ATTRIBUTE)
    assert individual.sentences() == (
        "There is one person with Ethnicity 'Hispanic' and Religion 'Methodist', and that person"
        " has Health condition 'Yes'.",
        "There is one person with Ethnicity 'White' and Religion 'Seventh Day Adventist', and that"
        " person has Health condition 'No'.",
    )
    published = detect(table_2())[2]
    assert published.sentences(1)[0].startswith("A reader would think: There is one person")


def test_table_3_as_printed_tells_the_insurance_of_two_groups() -> None:
    found = by_kind(detect(table_3(), coalition=2))
    assert found == {
        FindingKind.GROUP_ATTRIBUTE: {
            ("Managers", "Yes", "15-24"),
            ("Agriculture", "No", "65+"),
        },
        FindingKind.PAIR: {("Agriculture", "Yes", "15-24")},
        FindingKind.COALITION: {("Agriculture", "No", "15-24")},
    }


def test_table_3_has_three_misprinted_cells_which_hide_a_third_group() -> None:
    off = margins_that_do_not_add_up(table_3())
    assert labels_of(off.spec, off.cells) == {
        ("Total", "No", "65+"),
        ("Total", "Yes", "65+"),
        ("Total", "Total", "65+"),
        ("Service/sales", "No", "Total"),
        ("Service/sales", "Yes", "Total"),
        ("Service/sales", "Total", "Total"),
    }
    assert sorted(off.amounts.tolist()) == [-5, -5, 81, 81, 86, 86]
    assert off.sentences(1) == (
        "Total × No × 65+: the total is 86 more than its parts by Occupation add up to.",
    )
    right = corrected(table_3())
    changed = np.argwhere(right.published != table_3().published).tolist()
    assert changed == [[3, 0, 5], [3, 1, 5], [3, 2, 5]]
    assert right.published[3, :, 5].tolist() == [95, 0, 95]
    found = by_kind(detect(right))[FindingKind.GROUP_ATTRIBUTE]
    assert found == {
        ("Managers", "Yes", "15-24"),
        ("Agriculture", "No", "65+"),
        ("Service/sales", "No", "65+"),
    }


def test_tables_4_and_5_as_printed_differ_by_six_ones_and_a_two() -> None:
    found = difference(table_4(), table_5())
    ones = found.cells[found.values == 1]
    assert labels_of(found.spec, ones) == {
        ("Unemployed", "Area 6"),
        ("Home duties", "Area 2"),
        ("Attended school", "Area 2"),
        ("Attended school", "Area 3"),
        ("Attended school", "Area 5"),
        ("Attended school", "Area 6"),
    }
    assert labels_of(found.spec, found.cells[found.values == 2]) == {("Unemployed", "Area 2")}
    assert found.sentences(1, "en") == (
        "A reader would think: In Area 2 there are two persons with Activity 'Unemployed' in"
        " 'Table 4' and not in 'Table 5'.",
    )


def test_table_5_has_a_misprint_which_hides_a_seventh_one() -> None:
    assert misprints(table_4()) is None
    right = corrected(table_5())
    assert np.argwhere(right.published != table_5().published).tolist() == [[3, 3]]
    assert right.published[3, 3] == 172
    found = difference(table_4(), right)
    assert (found.values == 1).sum() == 7
    assert ("Attended school", "Area 4") in labels_of(found.spec, found.cells)
    # Taken alone, neither table tells anything.
    assert by_kind(detect(table_4(), coalition=1)) == by_kind(detect(right, coalition=1)) == {}


def test_table_8_has_the_published_discrepancies() -> None:
    rows = printed_variable("religion", [f"Religion {at}" for at in range(18)])
    districts = printed_variable("district", [f"District {at}" for at in range(6)])
    printed = table("Table 8", TABLE_8, rows, districts)
    off = margins_that_do_not_add_up(printed)
    by_axis = {axis: np.zeros(size, dtype=int) for axis, size in ((0, 7), (1, 19))}
    for cell, axis, amount in zip(off.cells, off.axes, off.amounts, strict=True):
        row, column = divmod(int(cell), 7)
        by_axis[int(axis)][column if axis == 0 else row] = amount
    assert by_axis[1].tolist() == TABLE_8_ROWS
    assert by_axis[0].tolist() == TABLE_8_COLUMNS
    corner = gaps(printed).from_interior
    assert corner is not None
    assert corner[-1, -1] == -6
    assert misprints(printed) is None  # noise in every line is no misprint


def test_the_example_of_a_review_of_the_australian_bureau() -> None:
    # ABS review 2005: 30 males are all 20 to 29; everybody up to 19 is female.
    sex = printed_variable("sex", ("Male", "Female"))
    age = printed_variable("age", ("0-19", "20-29", "30+"))
    cube = printed_cube(printed_spec(sex, age), [[0, 30, 0], [12, 25, 40]])
    found = by_kind(detect(cube))[FindingKind.GROUP_ATTRIBUTE]
    assert found == {("Male", "20-29"), ("Female", "0-19"), ("Female", "30+")}
