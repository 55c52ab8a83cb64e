"""The figures that the founding study printed, to stand beside ours.

ECLAC (2020), Tables 9, 10, 12, A1 and A2: the censuses of Saint Kitts and Nevis 2011, Belize 2010
and Jamaica 2011, whose records are not public. The presets of the demo country have their numbers
of people and of categories, and fictional people.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING

from sdcensus.demo import PRESETS, study_axes, study_shape
from sdcensus.model.spec.table_spec import TableSpec

if TYPE_CHECKING:
    from sdcensus.report.study.results import Study, StudyTable

#: Which census each preset of the demo country resembles.
COUNTRIES: Mapping[str, str] = MappingProxyType(
    {
        "small-island": "Saint Kitts and Nevis 2011",
        "mid-country": "Belize 2010",
        "large-island": "Jamaica 2011",
    }
)
#: The row of a table before protection.
ORIGINAL = "original"
#: How far the number of people may be from that of a preset.
_NEAR = 0.1

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Published:
    """What was printed about one census.

    Attributes:
        country: The census.
        figures: By number of axes and name of the scheme (``original`` before protection), the
            measures that were printed.
    """

    country: str
    figures: Mapping[tuple[int, str], Figures]

    def of(self, table: StudyTable, scheme: str = ORIGINAL) -> Figures:
        """What was printed for a table and a scheme; empty where nothing was."""
        return self.figures.get((len(table.spec.axes), scheme), {})


def published_for(study: Study) -> Published | None:
    """The printed figures for the tables of a study, if they are those of a demo preset."""
    specs = [table.spec for table in study.tables]
    preset = preset_of(specs, max(table.original.population for table in study.tables))
    return None if preset is None else published(COUNTRIES[preset])


def preset_of(specs: Sequence[TableSpec], persons: int) -> str | None:
    """The demo preset whose study tables these are, by axes, categories and number of people."""
    for preset, country in PRESETS.items():
        axes, sizes = study_axes(country), study_shape(country)
        near = abs(persons - country.persons) <= _NEAR * country.persons
        if near and all(_same(spec, axes, sizes) for spec in specs):
            return preset
    return None


def _same(spec: TableSpec, axes: tuple[str, ...], sizes: tuple[int, ...]) -> bool:
    ways = len(spec.axes)
    names = tuple(axis.name for axis in spec.axes)
    return 1 < ways <= len(axes) and names == axes[:ways] and spec.base_shape == sizes[:ways]


@cache
def published(country: str) -> Published:
    """The printed figures of one census."""
    text = (files("sdcensus.report.study") / "published_study.csv").read_text(encoding="utf-8")
    figures = {}
    for row in csv.DictReader(text.splitlines()):
        if row["country"] == country:
            key = int(row["ways"]), row["scheme"]
            measures = {name: value for name, value in row.items() if name not in _KEYS}
            figures[key] = MappingProxyType(
                {name: float(value) for name, value in measures.items() if value}
            )
    return Published(country, MappingProxyType(figures))


_KEYS = frozenset({"country", "ways", "scheme"})
