"""How often things occur in the demo country: households, families, ages, marital status.

Each table says for each condition (the rows) how often each category occurs (the columns).
Numbers are weights; only their proportions within a row matter.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sdcensus.demo.words import Shares

# Kinds of households and of families -------------------------------------------------------

PRIVATE, INSTITUTION, HOMELESS = range(3)

#: What a private household is made of.
(
    ALONE,
    COUPLE,
    COUPLE_CHILDREN,
    LONE_MOTHER,
    LONE_FATHER,
    COUPLE_OTHERS,
    MOTHER_OTHERS,
    GENERATIONS,
    NO_FAMILY,
) = range(9)

#: Who somebody is in a household.
(
    HEAD,
    PARTNER,
    CHILD,
    SECOND_PARENT,
    SECOND_PARTNER,
    GRANDCHILD,
    OTHER,
    RESIDENT,
    WITHOUT_HOME,
) = range(9)

#: Kinds of couples.
MARRIED, CONSENSUAL, MARRIED_SAME, CONSENSUAL_SAME = range(4)

#: Kinds of members outside the family.
PARENT, SIBLING, LONE_GRANDCHILD, NEPHEW, RELATIVE, LODGER, DOMESTIC = range(7)

#: Kinds of institutions, in the order of their living quarters.
HOTEL, ELDERLY, PRISON, BARRACKS, STUDENTS, CONVENT, CHILDREN = range(7)

HOUSEHOLD_SIZE = Shares(
    #  1    2    3    4    5   6   7   8   9  10  11  12  13  14
    [
        [250, 215, 170, 155, 95, 55, 28, 15, 8, 4, 2, 1, 1, 1],  # village
        [275, 225, 172, 152, 85, 45, 22, 12, 6, 3, 1, 1, 1, 0],  # town
        [315, 240, 170, 140, 70, 34, 16, 8, 4, 2, 1, 0, 0, 0],  # capital
    ]
)

STRUCTURE = Shares(
    # alone couple +child mother father couple+o mother+o generations none
    [
        [1, 0, 0, 0, 0, 0, 0, 0, 0],  # 1 person
        [0, 480, 0, 225, 55, 0, 0, 0, 240],  # 2 persons
        [0, 0, 460, 260, 45, 45, 60, 60, 70],
        [0, 0, 560, 160, 25, 60, 75, 90, 30],
        [0, 0, 520, 120, 15, 85, 90, 150, 20],
        [0, 0, 430, 95, 10, 110, 115, 225, 15],
        [0, 0, 340, 80, 5, 140, 140, 285, 10],
        [0, 0, 280, 70, 5, 160, 150, 325, 10],  # 8 persons or more
    ]
)

#: Age of the head by structure; columns are groups of five years, from 15 to 19 on.
HEAD_AGE = Shares(
    [
        [20, 180, 400, 480, 480, 460, 500, 580, 660, 700, 660, 560, 440, 310, 180, 80, 26, 6],
        [10, 140, 360, 340, 260, 240, 300, 440, 580, 660, 620, 480, 320, 180, 80, 25, 5, 1],
        [10, 160, 560, 920, 1080, 1040, 920, 720, 480, 300, 180, 100, 50, 20, 10, 2, 0, 0],
        [40, 220, 480, 660, 720, 700, 620, 520, 400, 300, 240, 200, 160, 110, 60, 25, 8, 1],
        [5, 40, 120, 220, 320, 360, 360, 320, 260, 200, 150, 110, 80, 50, 20, 10, 2, 0],
        [10, 80, 240, 400, 500, 540, 560, 540, 480, 400, 300, 200, 120, 60, 20, 5, 1, 0],
        [20, 100, 240, 360, 440, 500, 520, 520, 480, 420, 340, 260, 180, 100, 50, 20, 5, 1],
        [0, 0, 0, 0, 120, 360, 620, 800, 840, 760, 600, 420, 260, 140, 60, 20, 5, 1],
        [40, 280, 440, 380, 320, 300, 320, 340, 360, 360, 340, 300, 240, 170, 100, 45, 14, 3],
    ]
)

#: The year within a group of five: even for most, falling for the very old.
YEAR_IN_GROUP = Shares([[20, 20, 20, 20, 20], [30, 24, 19, 15, 12], [40, 26, 16, 11, 7]])

#: Whether the head is a man, per million: of couples, and where a grandparent is alone.
HEAD_IS_MAN = 690_000
LONE_GRANDPARENT_IS_MAN = 280_000
#: Upper ends of age groups, and the share of men in them, per million.
SEX_AGES = np.array([20, 35, 50, 65, 75, 85, 95])
MEN = np.array([512, 560, 570, 560, 500, 440, 360, 280]) * 1000
MEN_ALONE = np.array([600, 640, 650, 560, 450, 350, 280, 200]) * 1000

COUPLE_AGES = np.array([25, 35, 45, 55, 65])
COUPLE_KIND = Shares(
    # married consensual same-sex married, consensual
    [
        [180, 800, 4, 16],  # under 25
        [470, 510, 6, 14],
        [650, 335, 6, 9],
        [740, 250, 5, 5],
        [830, 165, 3, 2],
        [905, 93, 1, 1],  # 65 and over
    ]
)

#: By how many years the man is older than the woman: from -6 to 14.
OLDER_BY = Shares([1, 2, 3, 5, 7, 10, 14, 16, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2, 2, 1, 1])
OLDER_FROM = -6

# Children -----------------------------------------------------------------------------------

#: Births by the age of the mother, from 14 to 46.
FERTILITY = np.array([
    2, 6, 15, 30, 48, 62, 72, 80, 86, 90, 92, 93, 94, 94, 93, 91, 88, 84, 79, 73, 66, 58, 50, 42,
    34, 27, 20, 14, 10, 6, 4, 2, 1,
])  # fmt: skip
FIRST_BIRTH = 14
OLDEST = 104


def _at_home() -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many of 1000 sons and daughters of an age from 0 to 90 live with their parents."""
    ages = [0, 17, 20, 23, 27, 32, 38, 50, 65, 90]
    share = [1000, 980, 860, 640, 380, 210, 130, 70, 30, 4]
    pieces = [
        low + (high - low) * np.arange(end - begin) // (end - begin)
        for (begin, end), (low, high) in zip(pairwise(ages), pairwise(share), strict=True)
    ]
    return np.concatenate([*pieces, [share[-1]]])


def _children(youngest: int) -> Shares:
    """Ages of children at home, by the age of the mother from 0 to the oldest."""
    home = _at_home()
    weights = np.zeros((OLDEST + 1, home.size), dtype=np.int64)
    for mother in range(OLDEST + 1):
        births = mother - FIRST_BIRTH - np.arange(FERTILITY.size)
        fits = (births >= youngest) & (births < home.size)
        weights[mother, births[fits]] = FERTILITY[fits] * home[births[fits]]
        if not fits.any():
            weights[mother, youngest] = 1
    return Shares(weights)


CHILD_AGE = _children(0)
#: Of sons and daughters who have a family of their own in the household.
PARENT_AGE = _children(17)

#: How many members outside the family there are, by those that there is room for (0, 1, 2, 3+).
OTHERS = Shares([[1, 0, 0, 0], [0, 1, 0, 0], [0, 75, 25, 0], [0, 65, 25, 10]])

OTHER_AGES = np.array([30, 45, 60])
OTHER_KIND = Shares(
    # parent sibling grandchild nephew relative lodger domestic
    [
        [
            [25, 30, 0, 12, 18, 13, 2],  # beside a family, head under 30
            [28, 16, 0, 20, 20, 12, 3],
            [16, 8, 34, 14, 16, 9, 3],
            [2, 8, 52, 10, 15, 9, 4],  # head 60 or older
        ],
        [
            [0, 38, 0, 8, 14, 40, 0],  # in a household without a family
            [0, 30, 0, 15, 20, 33, 2],
            [0, 26, 20, 12, 20, 19, 3],
            [0, 22, 32, 8, 18, 14, 6],
        ],
    ]
)
#: Years between the head and a parent, sibling, grandchild, nephew: lowest, and how many follow.
YEARS_APART = {PARENT: (18, 23), SIBLING: (-14, 29), LONE_GRANDCHILD: (38, 26), NEPHEW: (12, 28)}
#: Age of other relatives and of lodgers, and of domestic workers: groups of five years from 0.
STRANGER_AGE = Shares(
    [
        [30, 32, 36, 60, 90, 90, 80, 70, 60, 55, 50, 45, 40, 36, 30, 24, 18, 10, 5, 2, 0],
        [0, 0, 2, 40, 140, 160, 140, 110, 90, 80, 70, 55, 40, 28, 18, 10, 5, 2, 0, 0, 0],
        [0, 0, 0, 10, 80, 120, 140, 150, 140, 120, 100, 80, 40, 15, 5, 0, 0, 0, 0, 0, 0],
    ]
)
#: Men among parents of the head, lodgers and domestic workers, per million.
MEN_BY_KIND = {PARENT: 240_000, LODGER: 590_000, DOMESTIC: 80_000}

# Institutions -------------------------------------------------------------------------------

#: Institutions and homeless people in a district: chance for each person who lives there.
INSTITUTION_CHANCE = 330
HOMELESS_CHANCE = (200, 600, 1400)  # village, town, capital
HOMELESS_COUNT = Shares([70, 20, 10])
INSTITUTION_KIND = Shares([8, 30, 12, 10, 18, 7, 15])
INSTITUTION_SIZES = np.array(
    [(5, 16), (10, 50), (30, 170), (20, 80), (15, 65), (4, 12), (8, 24)]
)  # lowest, and how many follow
INSTITUTION_AGE = Shares(
    [
        [5, 4, 4, 10, 60, 80, 80, 70, 60, 50, 40, 30, 20, 10, 5, 2, 1, 0, 0, 0, 0],
        [0, 0, 0, 1, 2, 3, 4, 5, 8, 12, 20, 30, 60, 100, 150, 190, 190, 130, 60, 20, 4],
        [0, 0, 0, 30, 180, 190, 160, 120, 90, 70, 50, 30, 20, 10, 4, 2, 0, 0, 0, 0, 0],
        [0, 0, 0, 60, 300, 260, 180, 110, 60, 20, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 320, 480, 140, 40, 15, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 5, 30, 40, 50, 60, 70, 80, 90, 100, 100, 100, 90, 70, 60, 40, 15, 5, 1],
        [160, 220, 300, 300, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
)
INSTITUTION_MEN = np.array([520, 380, 940, 860, 430, 60, 520]) * 1000
HOMELESS_AGE = Shares(
    [[0, 0, 0, 20, 60, 90, 110, 130, 140, 140, 120, 90, 50, 30, 15, 5, 0, 0, 0, 0, 0]]
)
HOMELESS_MEN = 830_000

# Marital status -----------------------------------------------------------------------------

MARITAL_AGES = np.array([20, 25, 35, 45, 55, 65, 75])
#: Of people who live with no partner, by age (from 18 on) and sex.
MARITAL_ALONE = Shares(
    # never, married, same-sex, separated, widowed, divorced
    [
        [[990, 8, 0, 2, 0, 0], [985, 12, 0, 3, 0, 0]],
        [[960, 30, 0, 6, 1, 3], [945, 40, 0, 9, 1, 5]],
        [[860, 75, 1, 25, 3, 36], [830, 85, 1, 30, 6, 48]],
        [[700, 110, 1, 50, 10, 129], [660, 115, 1, 55, 24, 145]],
        [[560, 120, 1, 65, 30, 224], [520, 115, 1, 65, 75, 224]],
        [[450, 115, 0, 70, 85, 280], [390, 95, 0, 60, 215, 240]],
        [[360, 90, 0, 60, 240, 250], [290, 55, 0, 45, 440, 170]],
        [[260, 60, 0, 35, 520, 125], [210, 25, 0, 25, 660, 80]],
    ]
)
#: Of partners in a consensual union, by age.
MARITAL_CONSENSUAL = Shares(
    [
        [1000, 0, 0, 0, 0, 0],
        [985, 0, 0, 8, 1, 6],
        [930, 0, 0, 25, 3, 42],
        [820, 0, 0, 50, 10, 120],
        [700, 0, 0, 70, 25, 205],
        [580, 0, 0, 75, 75, 270],
        [480, 0, 0, 60, 200, 260],
        [420, 0, 0, 40, 360, 180],
    ]
)
#: Of people who live with no partner, those with a visiting partner, per million, by age.
VISITING_AGES = np.array([25, 45, 65])
VISITING = np.array([200, 280, 140, 30]) * 1000

#: Children that a woman had, by age: 15-19, 20-24, ..., 45-54, 55-64, 65 and over.
BORN_AGES = np.array([20, 25, 30, 35, 45, 55, 65])
CHILDREN_BORN = Shares(
    [
        [920, 70, 9, 1, 0, 0, 0, 0, 0, 0, 0],
        [640, 230, 95, 27, 6, 2, 0, 0, 0, 0, 0],
        [410, 270, 190, 85, 30, 10, 4, 1, 0, 0, 0],
        [250, 260, 250, 140, 60, 24, 10, 4, 1, 1, 0],
        [160, 220, 270, 180, 90, 42, 20, 10, 5, 2, 1],
        [130, 175, 260, 200, 115, 60, 30, 15, 8, 4, 3],
        [110, 130, 220, 200, 140, 85, 50, 30, 17, 9, 9],
        [100, 95, 150, 160, 140, 110, 85, 60, 42, 28, 30],
    ]
)
