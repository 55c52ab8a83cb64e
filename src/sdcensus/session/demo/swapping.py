"""The demo country with some of its households swapped: one table before and after."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from sdcensus.errors import SpecError
from sdcensus.formats.shared.arrow_columns import published_values
from sdcensus.microdata.swapping.second_geographies import second_geographies
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import Table
from sdcensus.session.census.census import open_store
from sdcensus.session.demo.country import OFFICE, SWAPPED, Demonstration
from sdcensus.session.demo.publication import AXES
from sdcensus.session.derive import derive
from sdcensus.session.office.confidential_output import (
    Columns,
    Positions,
    cell_tables,
    write_owner_only_table,
)
from sdcensus.session.protect.table import build_method, protect_table

#: Households of whoever is alone in an area with sex, age and marital status find a household of
#: the same kind and size.
PARAMETERS: dict[str, object] = {
    "risk_variables": ("sex", "age@broad", "marital_status"),
    "k": 2,
    "levels": ("parish", "ed"),
    "profiles": ("persons,household_kind,tenure", "persons,household_kind"),
    "missing_match": True,
    "farther": True,
}


@dataclass(frozen=True, slots=True, repr=False)
class DemoSwapping(Confidential):
    """A swapped store, and one table before and after. Of nobody who exists.

    Attributes:
        store: The swapped store.
        office: What only the office may read about it.
        before, after: True counts of the table in the original and in the swapped store.
        published: The table as cell keys publish it from the swapped store.
        comparison: The file with all three side by side, for the office.
        households: How many households live elsewhere now.
        seconds: How long it took.
    """

    store: Path
    office: Path
    before: Cube
    after: Cube
    published: Table
    comparison: Path
    households: int
    seconds: float

    def __repr__(self) -> str:
        return f"<DemoSwapping of {self.before.spec.title}: confidential>"


def swap_demonstration(
    made: Demonstration, *, progress: Progress = no_progress
) -> DemoSwapping | str:
    """Make a swapped store beside the store; what stands against it where that cannot be."""
    began = time.perf_counter()
    census = open_store(made.store)
    # Who works where he lives, or was born there, does so after a move as well.
    followed = tuple(second.variable.name for second in second_geographies(census.schema))
    try:
        report = derive(
            made.store,
            made.folder / SWAPPED,
            "targeted-swap",
            PARAMETERS | ({"rederive": followed} if followed else {}),
            secret=made.secret,
            progress=progress,
        )
    except SpecError as error:  # a country of a few households has no partners for them
        return str(error)
    swapped = open_store(report.store)
    before, after = (
        each.tabulate(each.spec(*AXES)).held_for("the demonstration") for each in (census, swapped)
    )
    method = build_method("cell-key", swapped, secret=made.secret)
    protected = protect_table(swapped, swapped.spec(*AXES), method)
    published = protected.table.held_for("the demonstration")
    comparison = made.folder / OFFICE / "marital-status-swapped.csv"
    _write_comparison(before, after, published, comparison)
    return DemoSwapping(
        report.store,
        report.office,
        before,
        after,
        published,
        comparison,
        report.figures["households exchanged"],
        time.perf_counter() - began,
    )


def _write_comparison(before: Cube, after: Cube, published: Table, path: Path) -> None:
    """The original, the swapped, and the swapped and perturbed counts side by side."""

    def columns(positions: Positions, values: Accumulators) -> Columns:
        at = tuple(positions)
        (_, shown), *_ = published_values(published.published[at], None)
        return [
            ("original", pa.array(values.count)),
            ("swapped", pa.array(after.count[at])),
            ("swapped_and_cell_key", shown),
        ]

    write_owner_only_table(cell_tables(before, None, columns), path)
