"""What random groups of households add to the cells of a table, for their sampling errors."""

from __future__ import annotations

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.replicates import REPLICATES
from sdcensus.model.spec.table_spec import TableSpec

#: Accumulators of the groups are called by their numbers: ``replicate:00``.
REPLICATE = "replicate:"

#: Numbers of all groups together that are held at once: 2 gigabytes.
MOST_REPLICATED = 1 << 28


def replicate_names() -> tuple[str, ...]:
    """The accumulators, in the order of the groups."""
    return tuple(f"{REPLICATE}{group:02d}" for group in range(REPLICATES))


def check_replicated(spec: TableSpec) -> None:
    """Refuse sampling errors of what is no estimate, and of more cells than can be held.

    Raises:
        SpecError: The table counts records, or is too large.
    """
    if not spec.measure.is_weighted:
        raise SpecError(
            f"{spec.title}: only estimates of a sample have sampling errors. Ask for weighted"
            ' counts (measure = "weighted") or weighted sums.'
        )
    if spec.cells * REPLICATES > MOST_REPLICATED:
        raise SpecError(
            f"{spec.title}: the table is too large for sampling errors, which hold {REPLICATES}"
            " numbers for each cell. Take fewer or coarser axes."
        )
