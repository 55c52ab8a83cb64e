"""The records behind an assessed table: imputed ones, and those of the original store."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.parts import TablePart, parts_of
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.results import RecordFigures
from sdcensus.risk.posterior import perceived_disclosure
from sdcensus.risk.unperturbed import unperturbed_or_imputed
from sdcensus.session.assess.options import RecordsBehind
from sdcensus.session.census.census import Census
from sdcensus.session.study.records import imputed_records, untouched_by_cell
from sdcensus.utility.distances import utility_of


def records_behind(
    census: Census, spec: TableSpec, original: Census | None = None
) -> RecordsBehind | None:
    """The records of a table that are neither perturbed nor imputed before it is protected.

    ``None`` where nothing is known beyond the counts: no value of the table is imputed, and no
    original is given.

    Args:
        census: The census that is tabulated.
        spec: The table.
        original: The census from which it was derived.

    Raises:
        SpecError: The one is not derived from the other.
    """
    store = census.kept_store
    if store is None or TablePart.INTERIOR not in parts_of(spec):
        return None
    if original is None:
        if not imputed_records(store, spec).any():
            return None
        return RecordsBehind(untouched_by_cell(store, spec), None)
    first = original.store
    if first.manifest.data_version not in {step.parent for step in store.manifest.lineage}:
        raise SpecError(
            f"{store.path.name} is not derived from {first.path.name}: its line names no store of"
            f" the version {first.manifest.data_version}. Give the store from which it was derived"
            " (--original), or leave --original away."
        )
    counted = original.tabulate(spec).held_for("an assessment against the original")
    return RecordsBehind(untouched_by_cell(first, spec, store), counted)


def record_figures(cube: Cube, table: Table, behind: RecordsBehind) -> RecordFigures:
    """What is left of the records of small cells, imputed and changed ones counted as such.

    Args:
        cube: The counts that were protected.
        table: What is published.
        behind: The records.
    """
    inside = interior(cube.spec)
    true = cube if behind.original is None else behind.original
    shown = None if table.flags is None else table.flags[inside] == Mark.NONE
    untouched = unperturbed_or_imputed(
        true.count[inside],
        behind.untouched,
        cube.count[inside],
        table.published[inside],
        shown=shown,
    )
    if behind.original is None:
        return RecordFigures(untouched)
    # The same table: only the counts are those of the original.
    against = replace(table, spec=true.spec)
    return RecordFigures(
        untouched,
        perceived_disclosure(true, against, part=TablePart.INTERIOR),
        utility_of(true, against).mean_absolute_distance,
    )
