"""The list of the records that a method has changed: for the office, and nobody else."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.model.text import plain_cell
from sdcensus.store.owner_only import open_owner_only

_HEADINGS = ("unit", "record", "change", "variable", "before", "after")
_LINES = 1 << 16


def write_changed_records(derived: DerivedRecords, path: Path) -> None:
    """Write who was changed, and how, to a file that only its owner can read.

    A record is named by the digest of its identity, which the office can find in the store that
    it had before.
    """
    with open_owner_only(path) as file:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(_HEADINGS)
        for number, line in enumerate(_lines(derived), start=1):
            writer.writerow(line)
            if number % _LINES == 0:
                file.write(text.getvalue().encode())
                text.seek(0)
                text.truncate()
        file.write(text.getvalue().encode())


def _lines(derived: DerivedRecords) -> Iterator[tuple[str, ...]]:
    store, changes = derived.store, derived.changes
    for entity, gone in derived.gone.items():
        chosen = changes.drops(entity, gone.size)
        digests = store.digests(entity) if gone.any() else np.zeros(0)
        for row in np.flatnonzero(gone).tolist():
            change = "dropped" if chosen[row] else "dropped with what holds it"
            yield entity.value, f"{int(digests[row]):016x}", change, "", "", ""
    for name, column, new in changes.columns():
        variable = store.schema.variable(name)
        digests = store.digests(variable.entity)
        before = store.raw(variable.entity, column)
        codes = [code.code for code in variable.codes] if column == name else None
        for row, after in zip(new.rows.tolist(), new.values.tolist(), strict=True):
            values = (int(before[row]), int(after))
            shown = map(str, values) if codes is None else (codes[value] for value in values)
            yield (
                *(variable.entity.value, f"{int(digests[row]):016x}", "changed", name),
                *map(plain_cell, shown),
            )
