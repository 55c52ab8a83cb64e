"""Delivered tables as SDMX-CSV 2.0, with their structure as an SDMX-ML message beside the file.

There is no time dimension: the tables of a census are about one moment, which the title says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sdcensus.formats.write import new_file
from sdcensus.formats.write.delimited import write_lines
from sdcensus.formats.write.identifiers import at_least_one_axis
from sdcensus.formats.write.sdmx_structure import (
    CONFIDENTIALITY,
    DECIMALS,
    MEASURE,
    POPULATED,
    STATUS,
    STATUS_OF,
    UNIT,
    VERSION,
    sdmx_names,
    structure_message,
)
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write the data as SDMX-CSV and the structure as SDMX-ML.

    Args:
        table: The table.
        folder: Where to.
        languages: The languages of names in the structure; none for all that there are.
        labels: Of no effect: the structure has the label of every code, the data has codes.
    """
    data, structure = (folder / file for file in SDMX_CSV.files(table.name, languages))
    names = sdmx_names(table)
    with new_file(structure) as file:
        file.writelines(piece.encode() for piece in structure_message(table, names, languages))
    populated = [POPULATED] if names.populated else []
    head = ["STRUCTURE", "STRUCTURE_ID", "ACTION", *names.dimensions, MEASURE, STATUS]
    head += [CONFIDENTIALITY, *populated, DECIMALS, UNIT]
    # No identifier has a sign that would need quotes.
    begin = f"dataflow,{names.agency}:{names.dataflow}({VERSION}),I,"
    columns = [[f"{code}," for code in codes] for codes in names.codes]
    columns[0] = [f"{begin}{word}" for word in columns[0]]
    endings = []
    for mark in Mark:
        last = [*STATUS_OF[mark]]
        if names.populated:
            last.append("1" if mark is Mark.POPULATED else "")
        endings.append("".join(f",{field}" for field in [*last, str(table.decimals), names.unit]))
    shape = [len(axis) for axis in at_least_one_axis(table)]
    marks = np.zeros(table.shape, dtype=np.uint8) if table.marks is None else table.marks
    with new_file(data) as file:
        file.write(f"{','.join(head)}\n".encode())
        write_lines(
            file,
            list(enumerate(columns)),
            table.values.reshape(shape),
            marks.reshape(shape),
            endings,
            table.decimals,
        )
    return data, structure


SDMX_CSV = TableFormat(
    name="sdmx-csv",
    label="SDMX-CSV",
    about=Text.named("files.about.sdmx-csv"),
    endings=(".sdmx.csv", ".sdmx.xml"),
    media_type="application/vnd.sdmx.data+csv; version=2.0.0; charset=utf-8",
    # 1.0 is what the type said before 2.0.0 was written into it; SDMX-CSV 1.0 itself is 1.0.0.
    versions=("2.0.0", "2.0", "2", "1.0"),
    aliases=("sdmx",),
    seconds_per_cell=0.5e-6,
    write=write,
)
