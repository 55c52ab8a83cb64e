"""The European census programme of 2021: 119 hypercubes in 41 groups, and the 1 km² grid.

The facts in ``data/`` are those of Commission Implementing Regulation (EU) 2017/543 (breakdowns),
Commission Regulation (EU) 2017/712 (hypercubes, special values, flags) and Commission Implementing
Regulation (EU) 2018/1799 (grid), written anew as tables. ``correspondence.csv`` says which codes
of a finer breakdown make up a leaf of a coarser one.
"""

from __future__ import annotations

from sdcensus.model.plan.programme import ProgrammeUnit
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text

NAME = "eu-2021"
TITLE = Text.of("European population and housing census 2021")
SOURCES = (
    "Commission Implementing Regulation (EU) 2017/543",
    "Commission Regulation (EU) 2017/712",
    "Commission Implementing Regulation (EU) 2018/1799",
)
UNITS = (
    ProgrammeUnit("population", Text.of("Total population"), Entity.PERSON, whole=True),
    ProgrammeUnit("private_households", Text.of("Private households"), Entity.HOUSEHOLD),
    ProgrammeUnit("families", Text.of("Families"), Entity.FAMILY),
    ProgrammeUnit("conventional_dwellings", Text.of("Conventional dwellings"), Entity.DWELLING),
    ProgrammeUnit(
        "occupied_conventional_dwellings",
        Text.of("Occupied conventional dwellings"),
        Entity.DWELLING,
    ),
    ProgrammeUnit("living_quarters", Text.of("Living quarters"), Entity.DWELLING),
)
#: The code below which a country puts its areas in the breakdown by place of work.
AREAS_BELOW = {"LPW.L": "1"}
