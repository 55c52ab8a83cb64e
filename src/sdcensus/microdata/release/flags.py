"""Columns that say which values of the census were imputed, for variables that the office names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError, unknown
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.release.file_columns import flag_column
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.published.provenance import lineage_text
from sdcensus.model.published.record_changes import RecordChange, record_changes
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.release_file import ReleaseColumn
from sdcensus.model.schema.variable import CodeKind, Entity
from sdcensus.store.manifest import imputed_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


def flag_columns(
    records: FileRecords,
    plan: ReleasePlan,
    entity: Entity,
    order: Int64,
    names: Callable[[str], str],
) -> list[ReleaseColumn]:
    """The flags of the variables of one kind of unit, in the order of the file.

    Raises:
        SpecError: A variable is not in the file, or the census does not say what was imputed.
        Refused: Values were imputed to protect respondents: the flags would tell which.
    """
    wanted = plan.making.imputation_flags
    if not wanted:
        return []
    lineage = lineage_text(records.store.manifest.lineage)
    if RecordChange.IMPUTATION in record_changes(lineage):
        raise Refused(
            "Values were imputed to protect respondents, and flags would tell which. Leave"
            " [make] imputation_flags out, or make the file without over-imputation."
        )
    variables = {variable.name: variable for variable in records.design.variables}
    for name in wanted:
        if name not in variables:
            raise SpecError(f"[make] imputation_flags: {unknown('variable', name, variables)}")
    return [
        _flag(records, variable, order, names)
        for variable in records.design.of(entity)
        if variable.name in wanted
    ]


def _flag(
    records: FileRecords, variable: FileVariable, order: Int64, names: Callable[[str], str]
) -> ReleaseColumn:
    store, source = records.store, variable.source
    if not store.has(source.entity, imputed_column(source.name)):
        raise SpecError(
            f"The census does not say which values of {source.name!r} were imputed. Take it out of"
            " [make] imputation_flags, or name its flag in the schema and load the census again."
        )
    flags = np.append(store.raw(source.entity, imputed_column(source.name)) != 0, False)
    rows = holder_rows(store, variable.entity, source.entity)[records.sample.rows[variable.entity]]
    own = flags[np.where(rows == NO_ROW, flags.size - 1, rows)]
    if not variable.amounts:
        # A value that was imputed and is not stated in the file was blanked: the flag would say so.
        blank = [code.kind is CodeKind.NOT_STATED for code in variable.level.codes]
        own &= ~np.append(blank, True)[np.minimum(records.codes[variable.name], len(blank))]
    return flag_column(variable, own[order], names)
