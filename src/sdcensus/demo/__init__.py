"""A synthetic small country, written as ordinary files that go through ingest like anybody's.

``write_country(folder, country=make_country("small-island"))`` makes regions, districts, parishes
and enumeration districts with a map, buildings, dwellings, households, families and persons, with
the questions of a Caribbean census and every breakdown of the European census programme.
"""

from sdcensus.demo.country import PRESETS, Country, make_country, study_axes, study_shape
from sdcensus.demo.eu import eu_mapping
from sdcensus.demo.write import DemoFiles, DemoFormat, write_country

__all__ = [
    "PRESETS",
    "Country",
    "DemoFiles",
    "DemoFormat",
    "eu_mapping",
    "make_country",
    "study_axes",
    "study_shape",
    "write_country",
]
