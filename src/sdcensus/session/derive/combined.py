"""The combined measure of a derivation and noise, for a table at every level of the geography."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.report.derivation.results import LevelRisk
from sdcensus.risk.combined import (
    NO_MOVES,
    cell_moves,
    combined_risk,
    observed_risk,
    prior_of_counts,
)
from sdcensus.risk.combined.moves import moves_of_cells
from sdcensus.store.census_store import CensusStore


def combined_levels(
    before: CensusStore, after: CensusStore, spec: TableSpec, noise: Perturbation | None
) -> tuple[LevelRisk, ...]:
    """What small published values say by the noise alone, and after the change of records.

    Args:
        before: The store before the change.
        after: The derived store.
        spec: The table; without counts of records there is no such measure.
        noise: The noise of its cells.
    """
    if spec.measure is not Measure.COUNT:
        return ()
    risks = []
    for level, at_level in by_level(spec, before.schema):
        cells = cell_moves(before, after, at_level)
        prior, moves = prior_of_counts(cells.before), moves_of_cells(cells)
        risks.append(
            LevelRisk(
                level=level,
                moves=not moves.none,
                alone=combined_risk(noise, prior, NO_MOVES),
                together=combined_risk(noise, prior, moves),
                observed=observed_risk(cells, noise),
            )
        )
    return tuple(risks)


def by_level(spec: TableSpec, schema: Schema) -> Iterator[tuple[str, TableSpec]]:
    """A table at the level of areas that it shows, at every coarser one, and without areas."""
    geography = schema.geography
    names = [axis.variable.name for axis in spec.axes]
    if geography is None or geography.name not in names:
        yield "", spec
        return
    at = names.index(geography.name)
    finest = spec.axes[at].levels[0]
    levels = [level for level in geography.plain_levels if len(level.codes) <= len(finest.codes)]
    for level in sorted(levels, key=lambda level: -len(level.codes)):
        axis = make_axis(spec.axes[at].variable, [level], total=False)
        yield level.name, replace(spec, axes=(*spec.axes[:at], axis, *spec.axes[at + 1 :]))
    others = (*spec.axes[:at], *spec.axes[at + 1 :])
    if others:
        yield "", replace(spec, axes=others)
