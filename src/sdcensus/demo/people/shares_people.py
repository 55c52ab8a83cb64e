"""How often things occur in the demo country: migration, schooling, work, income, health.

Each table says for each condition (the rows) how often each category occurs (the columns).
Numbers are weights; only their proportions within a row matter. "Per million" are chances.
"""

from __future__ import annotations

import numpy as np

from sdcensus.demo.words import Shares

# Neighbourhoods -----------------------------------------------------------------------------

#: Poor, modest, comfortable and rich districts: villages, towns, the capital.
WEALTH = Shares([[30, 40, 22, 8], [22, 38, 28, 12], [26, 32, 26, 16]])
#: Districts where an inherited condition is frequent, per million.
HOT_SPOT = 20_000
#: Of households outside the leading group of a parish, how many percent stay so.
MINORITY_PERCENT = np.array([10, 45, 100])
MINORITY = Shares([40, 35, 25])

# Ethnicity and religion ---------------------------------------------------------------------

#: Households that belong to the group that their district leans to, per million.
LEANS = 260_000
#: Members who do not share the ethnic group of their household, per million.
OTHER_ETHNICITY_PARTNER = 110_000
OTHER_ETHNICITY_RELATIVE = 60_000
MIXED_CHILD = 550_000
#: Households with the religion that their culture has in their district, per million.
DISTRICT_RELIGION = 200_000
OTHER_RELIGION_PARTNER = 120_000
OTHER_RELIGION_GROWN = 110_000
OTHER_RELIGION_CHILD = 30_000
#: Households that speak the language of their ethnic group rather than English, per million.
OWN_LANGUAGE = 620_000

# Migration ----------------------------------------------------------------------------------

#: How foreign households are spread: by wealth of the district, in percent of the average.
FOREIGN_BY_WEALTH = np.array([80, 90, 105, 160])
#: Years since somebody arrived, in groups: 0, 1, 2, 3-4, 5-9, 10-19, 20-29, 30-39, 40-59.
YEARS_HERE = Shares([50, 50, 55, 100, 220, 260, 150, 70, 45])
YEARS_LEAST = np.array([0, 1, 2, 3, 5, 10, 20, 30, 40])
YEARS_MORE = np.array([1, 1, 1, 2, 5, 10, 10, 10, 20])
FOREIGN_PARTNER_OF_MIGRANT = 750_000
FOREIGN_PARTNER_OF_NATIVE = 45_000
FOREIGN_RELATIVE_OF_MIGRANT = 600_000
FOREIGN_RELATIVE_OF_NATIVE = 15_000
FOREIGN_LODGER = 120_000
FOREIGN_DOMESTIC = 450_000
FOREIGN_RESIDENT = 60_000
#: Natives born in the district where they live, per million, under 15 and older.
BORN_HERE_CHILD = 880_000
BORN_HERE_GROWN = 690_000
#: Natives from 20 to 79 who lived abroad, per million.
RETURNED = 45_000
#: Naturalised per million, by years here: under 5, 10, 20 and more.
NATURAL_YEARS = np.array([5, 10, 20])
NATURALISED = np.array([40_000, 150_000, 380_000, 620_000])
FOREIGN_CITIZEN_CHILD = 120_000
STATELESS = 250
DUAL_NATIVE = 3_000
#: Households that moved within a year, per million, by age of the head.
MOVER_AGES = np.array([30, 45, 65])
MOVED = np.array([160_000, 90_000, 50_000, 25_000])
MOVED_FROM = Shares([45, 25, 30])  # same parish, same district, other district

# Schooling ----------------------------------------------------------------------------------

ATTENDANCE_AGES = np.array([3, 5, 15, 17, 19, 22, 25, 35, 50])
ATTENDANCE = Shares(
    # full time, part time, not
    [
        [0, 0, 1],  # under 3, not asked
        [80, 8, 12],
        [990, 4, 6],
        [930, 15, 55],  # 15-16
        [640, 40, 320],
        [300, 60, 640],
        [120, 60, 820],
        [30, 45, 925],
        [8, 20, 972],
        [1, 5, 994],  # 50 and over
    ]
)
SCHOOL_AGES = np.array([17, 19, 22, 25, 35, 45, 55, 65, 75])
_SCHOOLING = np.array(
    # none, some primary, primary, lower, upper, vocational, post, associate, bachelor, master, dr
    [
        [[4, 30, 420, 520, 24, 2, 0, 0, 0, 0, 0], [3, 22, 375, 570, 28, 2, 0, 0, 0, 0, 0]],
        [[5, 20, 190, 470, 240, 40, 30, 5, 0, 0, 0], [4, 14, 145, 450, 300, 40, 40, 7, 0, 0, 0]],
        [
            [6, 16, 120, 330, 330, 80, 70, 40, 8, 0, 0],
            [5, 10, 80, 285, 380, 70, 90, 65, 15, 0, 0],
        ],
        [
            [6, 15, 110, 310, 310, 90, 65, 50, 42, 2, 0],
            [5, 10, 70, 250, 350, 75, 80, 80, 76, 4, 0],
        ],
        [
            [7, 16, 130, 300, 290, 95, 55, 45, 50, 12, 0],
            [6, 12, 85, 240, 320, 75, 75, 75, 90, 22, 1],
        ],
        [
            [8, 20, 180, 290, 260, 95, 45, 40, 45, 15, 2],
            [7, 16, 125, 250, 300, 75, 65, 65, 72, 22, 3],
        ],
        [
            [10, 30, 260, 280, 220, 80, 35, 35, 34, 13, 3],
            [9, 24, 205, 270, 260, 65, 52, 50, 47, 15, 3],
        ],
        [
            [14, 50, 380, 250, 160, 60, 25, 25, 24, 10, 2],
            [12, 42, 335, 270, 185, 50, 36, 34, 27, 8, 1],
        ],
        [
            [25, 90, 490, 200, 105, 40, 15, 15, 14, 5, 1],
            [24, 80, 470, 230, 110, 30, 22, 17, 13, 4, 0],
        ],
        [
            [50, 160, 540, 140, 60, 22, 9, 9, 7, 3, 0],
            [52, 150, 540, 155, 60, 14, 13, 8, 6, 2, 0],
        ],
    ]
)
#: Rich districts have more schooling: percent of the weight of lower and of tertiary levels.
_BY_WEALTH = np.array([[135, 45], [115, 75], [85, 130], [60, 260]])
SCHOOLING = Shares(
    np.concatenate(
        [
            _SCHOOLING[None, :, :, :4] * _BY_WEALTH[:, 0, None, None, None],
            _SCHOOLING[None, :, :, 4:7] * np.full((4, 1, 1, 1), 100),
            _SCHOOLING[None, :, :, 7:] * _BY_WEALTH[:, 1, None, None, None],
        ],
        axis=-1,
    )
)
#: Low, lower secondary, upper secondary, tertiary: for each level of education.
SCHOOLING_BAND = np.array([0, 0, 0, 1, 2, 2, 2, 3, 3, 3, 3])

# Work ---------------------------------------------------------------------------------------

WORK_AGES = np.array([17, 20, 25, 35, 45, 55, 60, 65, 75])
_ACTIVITY = np.array(
    # employed, unemployed, student, retired, home, unable
    [
        [[180, 330, 150, 0, 40, 10], [90, 260, 200, 0, 120, 10]],
        [[480, 330, 60, 0, 25, 10], [340, 330, 80, 0, 130, 8]],
        [[740, 190, 15, 0, 20, 12], [600, 210, 25, 0, 140, 10]],
        [[860, 90, 4, 0, 18, 15], [730, 115, 8, 0, 135, 12]],
        [[880, 70, 2, 3, 20, 22], [765, 85, 4, 2, 130, 18]],
        [[850, 65, 1, 15, 25, 40], [735, 70, 2, 12, 150, 32]],
        [[760, 55, 0, 80, 35, 65], [610, 50, 0, 75, 210, 55]],
        [[600, 40, 0, 230, 45, 85], [420, 30, 0, 210, 270, 70]],
        [[240, 10, 0, 610, 55, 90], [110, 5, 0, 520, 290, 80]],
        [[50, 2, 0, 760, 60, 130], [15, 1, 0, 650, 210, 130]],
    ]
)
_EMPLOYED_BY_BAND = np.array([78, 92, 112, 165])
_OTHERWISE_BY_BAND = np.array([120, 105, 92, 70])
ACTIVITY = Shares(
    np.concatenate(
        [
            _ACTIVITY[None, :, :, :1] * _EMPLOYED_BY_BAND[:, None, None, None],
            _ACTIVITY[None, :, :, 1:] * _OTHERWISE_BY_BAND[:, None, None, None],
        ],
        axis=-1,
    )
)
#: Of full-time students.
ACTIVITY_STUDENT = Shares([90, 15, 890, 0, 4, 1])

#: Farm work is frequent in villages and rare in towns: percent of its weight.
FARM_PERCENT = np.array([230, 45, 12])

#: Classes of work: public service, schools and health, managers, farms, trades, homes, others.
PUBLIC, SCHOOLS_HEALTH, MANAGERS, FARMS, TRADES, HOMES, REST = range(7)
STATUS = Shares(
    # private, public, employer, own account, unpaid, apprentice
    [
        [10, 988, 0, 1, 0, 1],
        [240, 735, 5, 18, 1, 1],
        [560, 110, 190, 138, 2, 0],
        [270, 15, 50, 620, 44, 1],
        [640, 40, 40, 258, 6, 16],
        [900, 0, 0, 96, 3, 1],
        [815, 45, 25, 100, 11, 4],
    ]
)
PLACE_OF_WORK = Shares(
    # own district, other district, not known where, abroad, no fixed place
    [
        [760, 220, 10, 2, 8],
        [770, 215, 10, 1, 4],
        [740, 220, 10, 8, 22],
        [820, 75, 10, 2, 93],
        [600, 215, 12, 6, 167],
        [830, 140, 10, 2, 18],
        [745, 205, 12, 5, 33],
    ]
)
#: Where people work who do not work in their own district: the capital draws them.
CAPITAL_DRAWS = 3
HOURS = Shares(
    # 1-14, 15-34, 35-39, 40, 41-48, 49-69, 70-97
    [
        [12, 45, 190, 640, 80, 28, 5],
        [20, 90, 220, 560, 80, 26, 4],
        [20, 60, 80, 420, 200, 190, 30],
        [60, 200, 110, 240, 200, 160, 30],
        [40, 130, 90, 430, 180, 110, 20],
        [110, 280, 120, 330, 110, 40, 10],
        [50, 150, 100, 460, 160, 70, 10],
    ]
)
HOURS_LEAST = np.array([1, 15, 35, 40, 41, 49, 70])
HOURS_MORE = np.array([14, 20, 5, 1, 8, 21, 28])
TRAVEL = Shares(
    # own, bus, taxi, on foot, bicycle, boat, at home
    [
        [[330, 340, 60, 170, 30, 10, 60], [460, 300, 50, 110, 20, 8, 52]],  # village
        [[300, 360, 70, 200, 30, 5, 35], [480, 290, 60, 110, 15, 3, 42]],  # town
        [[290, 400, 80, 190, 15, 2, 23], [520, 280, 60, 85, 8, 2, 45]],  # capital
    ]
)

#: Income as part of 1000 of the pay of the occupation: 64 equally frequent values, log-normal.
SPREAD = np.array([
    299, 370, 414, 449, 479, 505, 529, 552, 573, 594, 613, 632, 651, 669, 687, 705,
    722, 740, 757, 775, 792, 809, 827, 844, 862, 879, 897, 915, 934, 952, 971, 990,
    1010, 1030, 1050, 1071, 1093, 1115, 1137, 1161, 1185, 1210, 1236, 1263, 1291, 1321, 1352, 1384,
    1419, 1455, 1494, 1536, 1581, 1631, 1685, 1745, 1812, 1890, 1980, 2089, 2227, 2413, 2701, 3349,
])  # fmt: skip
#: Pay by age, and for women, in percent.
PAY_AGES = np.array([20, 25, 30, 40, 55, 65])
PAY_BY_AGE = np.array([55, 72, 86, 100, 112, 104, 70])
PAY_OF_WOMEN = 91
#: Middle income of people who are not employed, by activity, and how many percent have any.
OTHER_INCOME = np.array([0, 180, 150, 1050, 220, 320, 0, 0])
HAVE_INCOME = np.array([0, 24, 12, 90, 26, 62, 0, 0]) * 10_000
IMPUTED_INCOME = 35_000

# Health -------------------------------------------------------------------------------------

HEALTH_AGES = np.array([5, 15, 30, 45, 60, 70, 80])
DISABILITY = Shares(
    # none, seeing, hearing, walking, learning, self-care, several
    [
        [9880, 15, 12, 20, 35, 30, 8],
        [9740, 70, 35, 25, 90, 30, 10],
        [9700, 110, 35, 45, 80, 15, 15],
        [9480, 230, 50, 120, 80, 15, 25],
        [8900, 480, 110, 330, 90, 20, 70],
        [7900, 820, 230, 720, 110, 40, 180],
        [6400, 1150, 450, 1330, 180, 100, 390],
        [4100, 1350, 780, 2050, 340, 320, 1060],
    ]
)
INSURANCE = Shares(
    # public, through work, private, none; by wealth, for those at work and for others
    [
        [[330, 240, 20, 410], [330, 60, 20, 590]],
        [[330, 330, 40, 300], [350, 90, 35, 525]],
        [[290, 430, 80, 200], [340, 150, 90, 420]],
        [[210, 480, 190, 120], [280, 190, 240, 290]],
    ]
)
#: Persons with the condition, per million, in most districts and in hot spots: three in ten
#: thousand on the whole. It runs in households, where every second member has it.
CONDITION = np.array([120, 9_000])

# Not stated ---------------------------------------------------------------------------------

#: Households that answer few questions, per million, and how many percent they leave out.
RETICENT = 3_000
RETICENT_PERCENT = 60
#: Not stated, per million, of those who were asked.
NOT_STATED = {
    "marital_status": 4_000,
    "union_status": 9_000,
    "children_born": 14_000,
    "religion": 12_000,
    "language": 4_000,
    "birthplace": 6_000,
    "citizenship": 5_000,
    "arrival_year": 22_000,
    "previous_residence": 7_000,
    "school_attendance": 8_000,
    "education": 13_000,
    "activity": 6_000,
    "occupation": 14_000,
    "industry": 16_000,
    "employment_status": 9_000,
    "place_of_work": 12_000,
    "hours_worked": 20_000,
    "travel": 11_000,
    "income": 28_000,
    "disability": 6_000,
    "health_insurance": 15_000,
    "health_condition": 5_000,
    "tenure": 6_000,
    "rent": 22_000,
    "cooking_fuel": 5_000,
    "waste": 6_000,
    "internet": 8_000,
    "computer": 7_000,
    "vehicles": 6_000,
    "remittances": 21_000,
    "emigrants": 12_000,
    "living_quarters": 3_000,
    "rooms": 8_000,
    "bedrooms": 9_000,
    "water": 5_000,
    "toilet": 6_000,
    "bathing": 7_000,
    "heating": 9_000,
    "lighting": 4_000,
    "building_type": 3_000,
    "construction_period": 30_000,
    "walls": 4_000,
    "roof": 4_000,
}
