"""The figures that studies printed, to stand beside ours.

ECLAC (2020), Tables 9, 10, 12, A1 and A2: the censuses of Saint Kitts and Nevis 2011, Belize 2010
and Jamaica 2011, whose records are not public. The presets of the demo country have their numbers
of people and of categories, and fictional people.

ONS (2011), Tables 5, 6, 7, 9 and 10: measures of the two tables on which it tried its methods. Its
Table 8, changes of margins variable by variable, has no counterpart here.
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

#: The study of the Office for National Statistics, as ``compare --study`` names it.
ONS = "ons"
#: By which measures the order of methods is compared.
_ORDERED = ("R", "mean_absolute_distance", "hellinger", "disclosed_cells_pct")
ONS_MEASURES = (
    "untouched_records",
    "hellinger",
    "relative",
    "absolute",
    "variance_ratio",
    "ranks",
)
#: Tables of the demo country that are nearest to the two on which the ONS measured: religion by age
#: and sex in output areas (A), and economic activity by sex and long-term illness in wards (B). The
#: others are ours, of the same kind.
ONS_TABLES: Mapping[str, str] = MappingProxyType(
    {
        "A": "ed,religion@faith,sex",
        "B": "ed@parish,activity,sex,disability",
        "C": "ed,travel,sex",
        "D": "ed,birthplace@origin,sex",
        "E": "ed,health_condition,age@broad,sex",
    }
)


@dataclass(frozen=True, slots=True)
class Published:
    """What was printed about one census.

    Attributes:
        country: The census.
        source: The key of the words for where it was printed.
        figures: By number of axes or letter of the table, and name of the scheme (``original``
            before protection), the measures that were printed.
        measures: By which of them methods are put in order.
        lettered: Whether tables are known by their letters.
    """

    country: str
    source: str
    figures: Mapping[tuple[int | str, str], Figures]
    measures: tuple[str, ...] = _ORDERED
    lettered: bool = False

    def of(self, table: StudyTable, scheme: str = ORIGINAL) -> Figures:
        """What was printed for a table and a scheme; empty where nothing was."""
        key = table.spec.name if self.lettered else len(table.spec.axes)
        return self.figures.get((key, scheme), {})


def published_for(study: Study) -> Published | None:
    """What was printed about the tables of a study: of its preset, or of a demo country.

    Of other tables than those of the demo country the ONS has printed nothing.
    """
    if study.preset == ONS:
        lists = {table.spec.name: ",".join(_names(table.spec)) for table in study.tables}
        return published_ons() if lists == dict(ONS_TABLES) else None
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
    alike = _names(spec) == axes[:ways] and spec.base_shape == sizes[:ways]
    return 1 < ways <= len(axes) and alike


def _names(spec: TableSpec) -> tuple[str, ...]:
    return tuple(axis.name for axis in spec.axes)


@cache
def published(country: str) -> Published:
    """The printed figures of one census."""
    text = (files("sdcensus.report.study") / "published_study.csv").read_text(encoding="utf-8")
    figures: dict[tuple[int | str, str], Figures] = {}
    for row in csv.DictReader(text.splitlines()):
        if row["country"] == country:
            key = int(row["ways"]), row["scheme"]
            measures = {name: value for name, value in row.items() if name not in _KEYS}
            figures[key] = MappingProxyType(
                {name: float(value) for name, value in measures.items() if value}
            )
    return Published(country, ECLAC_SOURCE, MappingProxyType(figures))


@cache
def published_ons() -> Published:
    """What the ONS printed; its shares of untouched records in percent."""
    text = (files("sdcensus.report.study") / "ons_2011.csv").read_text(encoding="utf-8")
    figures: dict[tuple[int | str, str], dict[str, float]] = {}
    for row in csv.DictReader(text.splitlines()):
        value = float(row["value"]) * (100 if row["measure"] == "untouched_records" else 1)
        figures.setdefault((row["table"], row["method"]), {})[row["measure"]] = value
    return Published(
        "England and Wales 2001",
        ONS_SOURCE,
        MappingProxyType({key: MappingProxyType(of) for key, of in figures.items()}),
        measures=ONS_MEASURES,
        lettered=True,
    )


#: The words for where it was printed.
ECLAC_SOURCE, ONS_SOURCE = "source", "source_ons"


_KEYS = frozenset({"country", "ways", "scheme"})
