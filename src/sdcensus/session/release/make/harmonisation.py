"""International codes as further columns of a file, beside the national ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.harmonisation import Harmonisation, HarmonisedVariable
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)
from sdcensus.model.schema.variable import smallest_width


def harmonised(file: ReleaseFile, mapping: Harmonisation, design: FileDesign) -> ReleaseFile:
    """A file with its international columns, each behind the national one that it is made of.

    They are functions of the codes of the file: nothing is told that was not told before. What
    the file does not hold gets no column.

    Args:
        file: The file.
        mapping: What becomes what.
        design: What its variables are made of.

    Raises:
        SpecError: A code of the file has no international one, or a name is taken.
    """
    tables = tuple(_with_columns(table, mapping, design) for table in file.tables)
    return replace(file, tables=tables)


def _with_columns(table: ReleaseTable, mapping: Harmonisation, design: FileDesign) -> ReleaseTable:
    columns: list[ReleaseColumn] = []
    taken = {column.name.casefold() for column in table.columns}
    by_name = {variable.name: variable for variable in design.of(table.entity)}
    for column in table.columns:
        columns.append(column)
        variable = by_name.get(column.name)
        if variable is None or column.kind is not ColumnKind.CODES:
            continue
        for target in mapping.variables:
            if target.mapped.variable.name != variable.source.name:
                continue
            if _is_repeated(variable, design):
                continue
            if target.name.casefold() in taken:
                raise SpecError(
                    f"The file has a column {target.name!r} already. Give the international one in"
                    f" {mapping.file or 'the mapping'} another name: [breakdown.{target.name}_2]."
                )
            taken.add(target.name.casefold())
            columns.append(_column(target, column, variable, mapping))
    return replace(table, columns=tuple(columns))


def _is_repeated(variable: FileVariable, design: FileDesign) -> bool:
    """Whether an earlier column tells the same variable of the census at another level."""
    same = [each for each in design.variables if each.source.name == variable.source.name]
    finest = max(same, key=lambda each: len(set(each.level.group)))
    return finest is not variable


def _column(
    target: HarmonisedVariable,
    column: ReleaseColumn,
    variable: FileVariable,
    mapping: Harmonisation,
) -> ReleaseColumn:
    codes = target.codes
    place = {code.code: at for at, code in enumerate(codes)}
    goes = dict(
        zip((code.code for code in variable.level.codes), target.targets(variable), strict=True)
    )
    lost = [code.code for code in column.codes if code.code not in goes]
    if lost:
        raise SpecError(
            f"{target.name}: the codes {', '.join(map(repr, lost))} of {column.name!r} are in no"
            " code list of the design. Make the file again."
        )
    positions = np.array([place[goes[code.code]] for code in column.codes], dtype=np.int64)
    values = positions[column.values].astype(smallest_width(len(codes)))
    return ReleaseColumn(
        name=target.name,
        kind=ColumnKind.HARMONISED,
        label=target.label,
        description=mapping.coding,
        values=values,
        codes=codes,
        universe=column.universe,
        recoded=column.recoded,
    )
