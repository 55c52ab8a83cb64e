"""Reading a programme of tables from the data that come with the product."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from sdcensus.errors import UnknownName
from sdcensus.model.plan.programme import (
    Breakdown,
    BreakdownCode,
    CellValue,
    GridStatistic,
    Hypercube,
    Programme,
    ProgrammeUnit,
)
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text
from sdcensus.programmes import eu_2021

_MODULES = MappingProxyType({eu_2021.NAME: eu_2021})
#: The programmes that there are, by name.
PROGRAMMES = tuple(_MODULES)


@cache
def load_programme(name: str) -> Programme:
    """A programme of tables by its name.

    Examples:
        >>> load_programme("eu-2021")
        <Programme eu-2021: 119 hypercubes>
    """
    if name not in _MODULES:
        raise UnknownName("programme", name, known=PROGRAMMES)
    module = _MODULES[name]
    folder = module.__name__
    codes: dict[str, list[BreakdownCode]] = {}
    for row in _rows(folder, "codes"):
        code = BreakdownCode(
            row["code"], Text.of(row["label"]), row["parent"], CodeKind(row["kind"])
        )
        codes.setdefault(row["breakdown"], []).append(code)
    breakdowns = tuple(
        Breakdown(
            row["breakdown"],
            Text.of(row["topic"]),
            tuple(codes[row["breakdown"]]),
            row["finer"],
            module.AREAS_BELOW.get(row["breakdown"], ""),
        )
        for row in _rows(folder, "breakdowns")
    )
    units = {unit.name: unit for unit in module.UNITS}
    groups = {
        row["group"]: _hypercube(f"{row['group']}.all", row["group"], units[row["unit"]], row)
        for row in _rows(folder, "groups")
    }
    return Programme(
        name=module.NAME,
        title=module.TITLE,
        sources=module.SOURCES,
        units=module.UNITS,
        breakdowns=breakdowns,
        geography=tuple(
            (row["breakdown"], tuple(row["levels"].split())) for row in _rows(folder, "geography")
        ),
        hypercubes=tuple(
            _hypercube(row["hypercube"], row["group"], groups[row["group"]].unit, row)
            for row in _rows(folder, "hypercubes")
        ),
        groups=tuple(groups.values()),
        grid=tuple(
            GridStatistic(
                row["statistic"],
                Text.of(row["label"]),
                row["breakdown"],
                row["code"],
                row["may_be_confidential"] == "yes",
                row["populated"] == "yes",
                row["optional"] == "yes",
            )
            for row in _rows(folder, "grid")
        ),
        cell_values=tuple(
            CellValue(row["kind"], row["name"], row["on"], Text.of(row["meaning"]))
            for row in _rows(folder, "cell_values")
        ),
        correspondence=_correspondence(
            folder, {breakdown.name: breakdown for breakdown in breakdowns}
        ),
    )


def _hypercube(name: str, group: str, unit: ProgrammeUnit, row: dict[str, str]) -> Hypercube:
    dimensions = tuple(tuple(names.split("|")) for names in row["breakdowns"].split())
    return Hypercube(name, group, unit, dimensions)


def _correspondence(
    folder: str, breakdowns: dict[str, Breakdown]
) -> MappingProxyType[str, MappingProxyType[str, str]]:
    """For each leaf of a finer breakdown, and each group named, the leaf of the coarser one."""
    held: dict[str, dict[str, str]] = {}
    for row in _rows(folder, "correspondence"):
        fine = breakdowns[row["finer"]]
        for leaf in dict.fromkeys([row["finer_code"], *fine.below(row["finer_code"])]):
            held.setdefault(row["breakdown"], {})[leaf] = row["code"]
    return MappingProxyType({name: MappingProxyType(one) for name, one in held.items()})


def _rows(folder: str, name: str) -> Iterator[dict[str, str]]:
    text = (files(folder) / "data" / f"{name}.csv").read_text(encoding="utf-8")
    yield from csv.DictReader(io.StringIO(text, newline=""))
