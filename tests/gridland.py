"""A census on a grid, written as files: households with coordinates, and their people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.model.cube.cube import Cube
from sdcensus.session.census.census import Census, load, open_files, open_store
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET

SCHEMA = """\
[census]
name = "Census of gridland"
code = "GL1"

[files.person]
path = "persons.csv"
entity = "person"

[files.household]
path = "households.csv"
entity = "household"

[entity.person]
id = ["house", "number"]
within = "household"

[entity.household]
id = ["house"]

[variable.sex]
file = "person"
label = "Sex"
codes = {{ 1 = "Male", 2 = "Female" }}

[variable.ed]
file = "household"
role = "geography"
label = "Area"
codes = {{ A = "North", B = "South" }}
grid = {{ x = "x", y = "y", {grid} }}
"""
#: A place of a household, as the file writes it.
Point = tuple[str | int | float, str | int | float]


@dataclass(frozen=True)
class Gridland:
    """The files of a census with a grid."""

    folder: Path

    @property
    def secret(self) -> Path:
        return self.folder / "office.secret"

    @property
    def schema(self) -> Path:
        return self.folder / "schema.toml"

    @property
    def store(self) -> Path:
        return self.folder / "census.store"

    def load(self, **options: object) -> Census:
        load(self.schema, self.store, secret=self.secret, replace=True, **options)  # type: ignore[arg-type]
        return open_store(self.store)

    def raw(self, **options: object) -> Census:
        return open_files(self.schema, secret=self.secret, **options)  # type: ignore[arg-type]


def gridland(
    folder: Path, points: Sequence[Point], grid: str, *, sizes: Sequence[int] = ()
) -> Gridland:
    """A household at each point, with so many people as ``sizes`` says (one where it does not)."""
    land = Gridland(folder)
    households = ["house,ed,x,y"]
    persons = ["house,number,sex"]
    for house, (x, y) in enumerate(points):
        households.append(f"{house},{'AB'[house % 2]},{x},{y}")
        for number in range(sizes[house] if house < len(sizes) else 1):
            persons.append(f"{house},{number},{1 + (house + number) % 2}")
    for name, lines in (("households.csv", households), ("persons.csv", persons)):
        (folder / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    land.schema.write_text(SCHEMA.format(grid=grid), encoding="utf-8")
    if not land.secret.exists():
        write_secret(SECRET, land.secret)
    return land


def counts(census: Census, axis: str, of: str = "person", **options: object) -> Mapping[str, int]:
    """The codes of an axis with the units in them, without empty ones."""
    cube = census.tabulate(axis, of=of, **options)  # type: ignore[arg-type]
    assert isinstance(cube, Cube)
    codes = [code.code for code in cube.spec.axes[0].codes]
    return {code: int(n) for code, n in zip(codes, cube.count, strict=True) if n}
