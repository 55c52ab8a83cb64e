"""How often things occur in the demo country: buildings, dwellings, equipment of households.

Each table says for each condition (the rows) how often each category occurs (the columns).
Numbers are weights; only their proportions within a row matter. Where there are four rows they
are poor, modest, comfortable and rich districts; three are villages, towns and the capital.
"""

from __future__ import annotations

import numpy as np

from sdcensus.demo.words import Shares

#: Private households that share the dwelling of the household before them, per million.
SHARES_DWELLING = 25_000
#: How many vacant dwellings follow an occupied one.
VACANT = Shares([[82, 14, 4], [87, 11, 2], [89, 9, 2]])
OCCUPANCY_VACANT = Shares(
    # occupied, for rent or sale, now and then, abandoned, not stated
    [[0, 30, 33, 36, 1], [0, 45, 24, 30, 1], [0, 58, 18, 23, 1]]
)
#: Dwellings in a building: 1, 2, ... 12.
BUILDING_SIZE = Shares(
    [
        [930, 45, 12, 8, 2, 2, 0, 1, 0, 0, 0, 0],
        [820, 95, 35, 25, 6, 9, 1, 5, 0, 1, 0, 3],
        [700, 130, 55, 45, 12, 20, 3, 15, 1, 4, 0, 15],
    ]
)
BUSINESS = np.array([15, 35, 45]) * 1000
PERIOD = Shares(
    [
        [6, 9, 30, 55, 70, 100, 150, 190, 210, 100, 80],
        [10, 14, 40, 75, 90, 120, 150, 170, 190, 80, 61],
        [22, 28, 70, 95, 110, 130, 140, 140, 150, 60, 55],
    ]
)
#: Materials by wealth.
WALLS = Shares(
    [
        [380, 380, 110, 20, 60, 30, 20],
        [530, 290, 130, 25, 15, 8, 2],
        [700, 160, 100, 36, 3, 1, 0],
        [830, 60, 40, 69, 1, 0, 0],
    ]
)
ROOF = Shares(
    [
        [870, 50, 30, 5, 30, 15],
        [820, 100, 55, 15, 8, 2],
        [690, 160, 100, 48, 2, 0],
        [480, 230, 140, 150, 0, 0],
    ]
)
#: Living quarters in houses, duplexes, large buildings and business buildings; the first by
#: wealth: detached, row, apartment, with business, part of a house, shack, boat.
QUARTERS = Shares(
    [
        [
            [880, 0, 0, 0, 35, 80, 5],
            [960, 0, 0, 0, 20, 18, 2],
            [985, 0, 0, 0, 12, 2, 1],
            [993, 0, 0, 0, 6, 0, 1],
        ],
        [[0, 620, 180, 0, 200, 0, 0]] * 4,
        [[0, 230, 740, 0, 30, 0, 0]] * 4,
        [[0, 0, 240, 750, 10, 0, 0]] * 4,
    ]
)
ROOMS = Shares(
    # by living quarters (house, row, apartment, business, part) and by occupants (0-2, 3-5, 6+)
    [
        [
            [30, 60, 140, 240, 240, 150, 75, 35, 30],
            [12, 35, 105, 230, 275, 185, 85, 40, 33],
            [15, 30, 90, 190, 265, 210, 110, 50, 40],
        ],
        [
            [25, 110, 240, 300, 200, 80, 30, 10, 5],
            [10, 60, 200, 320, 250, 105, 35, 13, 7],
            [10, 50, 160, 300, 270, 130, 50, 20, 10],
        ],
        [
            [80, 200, 310, 260, 105, 30, 10, 3, 2],
            [30, 120, 300, 330, 150, 45, 15, 6, 4],
            [20, 90, 270, 330, 190, 65, 22, 8, 5],
        ],
        [
            [60, 150, 240, 260, 160, 75, 30, 13, 12],
            [25, 90, 200, 290, 210, 105, 45, 20, 15],
            [20, 70, 170, 270, 240, 130, 55, 25, 20],
        ],
        [
            [160, 330, 290, 140, 55, 15, 6, 2, 2],
            [90, 270, 330, 190, 80, 25, 9, 4, 2],
            [60, 220, 330, 230, 105, 35, 12, 5, 3],
        ],
    ]
)
BEDROOMS = Shares(
    # by rooms: 0, 1, 2, 3, 4, 5 or more
    [
        [60, 40, 0, 0, 0, 0],
        [5, 90, 5, 0, 0, 0],
        [0, 55, 44, 1, 0, 0],
        [0, 10, 72, 18, 0, 0],
        [0, 3, 37, 58, 2, 0],
        [0, 1, 12, 70, 16, 1],
        [0, 1, 5, 50, 38, 6],
        [0, 0, 2, 30, 48, 20],
        [0, 0, 1, 14, 40, 45],
    ]
)
WATER = Shares(
    [
        [420, 60, 240, 140, 100, 40],
        [680, 100, 130, 45, 30, 15],
        [800, 140, 40, 6, 8, 6],
        [760, 225, 5, 1, 4, 5],
    ]
)
TOILET = Shares(
    [[60, 470, 400, 20, 50], [130, 690, 165, 6, 9], [200, 770, 27, 2, 1], [230, 768, 2, 0, 0]]
)
BATHING = Shares([[620, 280, 100], [850, 120, 30], [965, 30, 5], [995, 4, 1]])
HEATING = Shares([[0, 5, 15, 980], [1, 9, 80, 910], [3, 17, 270, 710], [12, 28, 590, 370]])
LIGHTING = Shares([[870, 20, 70, 40], [965, 12, 15, 8], [985, 12, 2, 1], [975, 24, 1, 0]])
TENURE = Shares(
    # owned, mortgage, rented privately, rented from the state, free, squatted, other
    [
        [520, 40, 230, 60, 110, 35, 5],
        [510, 110, 260, 40, 70, 7, 3],
        [470, 230, 245, 15, 35, 1, 4],
        [420, 340, 210, 3, 22, 0, 5],
    ]
)
#: The second household in a dwelling mostly rents or lives there for nothing.
TENURE_SECOND = Shares([60, 5, 520, 0, 400, 5, 10])
COOKING = Shares(
    [[810, 20, 45, 115, 10], [915, 40, 15, 20, 10], [905, 80, 2, 3, 10], [800, 190, 0, 2, 8]]
)
WASTE = Shares(
    [[680, 130, 120, 45, 25], [820, 90, 60, 22, 8], [910, 55, 25, 8, 2], [950, 35, 10, 5, 0]]
)
INTERNET = Shares([[160, 420, 420], [380, 370, 250], [650, 240, 110], [840, 120, 40]])
COMPUTER = Shares([[240, 760], [450, 550], [690, 310], [870, 130]])
VEHICLES = Shares(
    [[740, 220, 35, 5], [520, 370, 90, 20], [300, 440, 200, 60], [120, 400, 340, 140]]
)
REMITTANCES = Shares([[260, 740], [230, 770], [170, 830], [90, 910]])
EMIGRANTS = Shares([[900, 75, 18, 7], [915, 65, 15, 5], [930, 55, 11, 4], [940, 49, 8, 3]])
#: Rent for each room, by wealth and by settlement.
RENT_OF_ROOM = np.array([[70, 95, 130], [100, 140, 185], [160, 215, 280], [290, 360, 450]])
#: What a district has to add to the weight of its households at most, in ten thousandths.
NON_RESPONSE = 1_800
SINGLE_ADDS, YOUNG_ADDS = 400, 250
