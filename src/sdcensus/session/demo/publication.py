"""One table of the demo country as the office knows it, and as four methods publish it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sdcensus.errors import MissingExtra, OutputError
from sdcensus.formats.shared.arrow_columns import published_values
from sdcensus.methods.method import Method
from sdcensus.methods.notes import find_example
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.model.text import Text
from sdcensus.session.census.census import open_store
from sdcensus.session.demo.country import OFFICE, PUBLISHED, Demonstration
from sdcensus.session.office.confidential_output import (
    Columns,
    Positions,
    cell_tables,
    write_owner_only_table,
)
from sdcensus.session.protect.table import ProtectedFiles, build_method, protect_table
from sdcensus.store.owner_only import make_owner_only_folder

#: Few categories, some of them rare, in small areas.
AXES = ("ed-total", "marital_status")
#: The methods that are shown, with what is said about them.
SHOWN: tuple[tuple[str, str, MethodOptions], ...] = (
    ("cell keys, medium", "cell-key", MethodOptions()),
    ("random rounding", "random-rounding", MethodOptions(base=3)),
    ("small cells adjusted", "small-cell-adjustment", MethodOptions()),
    ("light touch", "light-touch", MethodOptions()),
)


@dataclass(frozen=True, slots=True, repr=False)
class PublishedWay:
    """A table as one method publishes it."""

    title: str
    method: Method
    protected: Protected
    files: tuple[Path, ...]

    @property
    def table(self) -> Table:
        """What is public of it."""
        return self.protected.table.held_for("the demonstration")


@dataclass(frozen=True, slots=True, repr=False)
class DemoPublication(Confidential):
    """The same table under several methods, beside the truth. Of nobody who exists.

    Attributes:
        cube: True counts.
        ways: What each method publishes.
        area: The area, as a position of the first axis, that the note about sums tells of.
        public: The folder of the published files.
        comparison: The file with true and published counts side by side, for the office.
        seconds: How long it took to protect and write all of it.
    """

    cube: Cube
    ways: tuple[PublishedWay, ...]
    area: int
    public: Path
    comparison: Path
    seconds: float

    def __repr__(self) -> str:
        return f"<DemoPublication of {self.cube.spec.title}: confidential>"

    @property
    def note(self) -> Text:
        """What the first way tells its readers about sums."""
        return next(note for note in self.ways[0].table.notes if "sum" in note.show("en"))


def publish_demonstration(
    made: Demonstration, *, progress: Progress = no_progress
) -> DemoPublication:
    """Protect a table of the demo country by several methods and write it, for both sides."""
    began = time.perf_counter()
    census = open_store(made.store)
    spec = census.spec(*AXES)
    public, office = made.folder / PUBLISHED, made.folder / OFFICE
    try:
        public.mkdir(exist_ok=True)
        make_owner_only_folder(office)
    except OSError as error:
        raise OutputError(f"{made.folder} cannot be written: {error.strerror}.") from None
    ways = []
    for at, (title, name, options) in enumerate(SHOWN):
        progress("protecting", at / len(SHOWN))
        method = build_method(name, census, options=options, secret=made.secret)
        protected = protect_table(census, spec, method)
        ways.append(PublishedWay(title, method, protected, _write(protected, public, name)))
    cube = census.tabulate(spec).held_for("the demonstration")
    comparison = office / "marital-status-compared.csv"
    _write_comparison(cube, ways, comparison)
    return DemoPublication(
        cube,
        tuple(ways),
        _telling_area(ways[0].table),
        public,
        comparison,
        time.perf_counter() - began,
    )


def _write(protected: Protected, folder: Path, method: str) -> tuple[Path, ...]:
    """The table as csv and, where the library for it is installed, as a workbook."""
    path = folder / f"marital-status-{method}.csv"
    files = ProtectedFiles(out=path).write(protected)
    try:
        return files + ProtectedFiles(out=path.with_suffix(".xlsx")).write(protected)
    except MissingExtra:
        return files


def _write_comparison(cube: Cube, ways: list[PublishedWay], path: Path) -> None:
    """True and published counts side by side, for the office."""
    flat = [(way.protected.provenance.method, way.table) for way in ways]

    def told(positions: Positions, values: Accumulators) -> Columns:
        at = tuple(positions)
        columns = [("count", pa.array(values.count))]
        for method, table in flat:
            flags = None if table.flags is None else table.flags[at]
            (_, published), *_ = published_values(table.published[at], flags)
            columns.append((method.replace("-", "_"), published))
        return columns

    write_owner_only_table(cell_tables(cube, None, told), path)


def _telling_area(table: Table) -> int:
    """The area of the example in the notes; else the first one."""
    example = find_example(table)
    if example is None or not example.place:
        return 0
    axis, code = example.place[0]
    return axis.position(code.code, code.level)
