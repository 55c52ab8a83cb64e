"""Reads a demo country back as anybody would: text columns, linked by their ids."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as pa_csv

from sdcensus.demo import DemoFiles
from sdcensus.documents.schema.document import read_schema
from sdcensus.model.schema.schema import Schema

Column = npt.NDArray[np.str_]


def read_csv(path: Path) -> dict[str, Column]:
    """The columns of a csv as text; an empty field is an empty text."""
    with path.open(encoding="utf-8") as file:
        names = file.readline().rstrip("\n").split(",")
    options = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
    )
    table = pa_csv.read_csv(path, convert_options=options)
    return {name: np.array(table[name].to_pylist(), dtype=np.str_) for name in names}


def join(*columns: Column) -> Column:
    """The parts of an id as one text."""
    joined = columns[0]
    for column in columns[1:]:
        joined = np.strings.add(np.strings.add(joined, "|"), column)
    return joined


@dataclass(frozen=True)
class Written:
    """A demo country on disk."""

    files: DemoFiles

    @cached_property
    def schema(self) -> Schema:
        return read_schema(self.files.schema)

    @cached_property
    def tables(self) -> dict[str, dict[str, Column]]:
        return {name: read_csv(path) for name, path in self.files.files.items()}

    @property
    def persons(self) -> dict[str, Column]:
        return self.tables["person"]

    @property
    def households(self) -> dict[str, Column]:
        return self.tables["household"]

    @property
    def dwellings(self) -> dict[str, Column]:
        return self.tables["dwelling"]

    @property
    def buildings(self) -> dict[str, Column]:
        return self.tables["building"]

    @cached_property
    def household_of_person(self) -> npt.NDArray[np.int64]:
        return rows_of(self.persons, self.households, "ed", "household_no")

    @cached_property
    def dwelling_of_household(self) -> npt.NDArray[np.int64]:
        return rows_of(self.households, self.dwellings, "ed", "dwelling_no")

    @cached_property
    def building_of_dwelling(self) -> npt.NDArray[np.int64]:
        return rows_of(self.dwellings, self.buildings, "ed", "building_no")

    @cached_property
    def age(self) -> npt.NDArray[np.int64]:
        return self.persons["age"].astype(np.int64)

    def of_persons(self, name: str) -> Column:
        """Any variable, for every person: his or hers, or that of household or home."""
        if name in self.persons:
            return self.persons[name]
        if name in self.households:
            return self.households[name][self.household_of_person]
        dwelling = self.dwelling_of_household[self.household_of_person]
        if name in self.dwellings:
            return self.dwellings[name][dwelling]
        return self.buildings[name][self.building_of_dwelling[dwelling]]

    def level(self, variable: str, level: str, codes: Column) -> Column:
        """Codes of a variable, one level up."""
        found = self.schema.variable(variable)
        parents = found.level(level)
        table = {
            leaf.code: parents.codes[parents.group[i]].code for i, leaf in enumerate(found.codes)
        }
        return np.array([table[code] for code in codes.tolist()], dtype=np.str_)

    @cached_property
    def areas(self) -> list[dict[str, Any]]:
        text = (self.files.folder / "codes" / "areas.geojson").read_text(encoding="utf-8")
        features: list[dict[str, Any]] = json.loads(text)["features"]
        return features


def rows_of(
    child: dict[str, Column], parent: dict[str, Column], *link: str
) -> npt.NDArray[np.int64]:
    """For each row of a child its row in the parent's table; -1 where there is none."""
    keys = join(*(parent[name] for name in link))
    place = {key: row for row, key in enumerate(keys.tolist())}
    return np.array(
        [place.get(key, -1) for key in join(*(child[name] for name in link)).tolist()],
        dtype=np.int64,
    )
