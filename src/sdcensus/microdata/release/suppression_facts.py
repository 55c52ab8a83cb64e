"""What the office is told about blanked keys: how many, what they reach, and whose they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence
from sdcensus.kernels.suppression.matches import take_out
from sdcensus.microdata.method import FactTable, OfficeFile
from sdcensus.microdata.release.records import FileRecords
from sdcensus.microdata.release.suppression_file import KeyedFile
from sdcensus.microdata.release.suppression_keys import FileKey
from sdcensus.model.release.plan import Blanks, Suppression
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.sentences import sentence

Bool = npt.NDArray[np.bool_]

#: Where the office finds whose values were blanked.
SUPPRESSED_FILE = "suppressed-values.csv"


def suppression_facts(
    keys: Sequence[FileKey],
    blanks: Sequence[Bool],
    file: KeyedFile,
    before: Bool,
    suppression: Suppression,
    leaning: int,
) -> tuple[FactTable, ...]:
    """How many values were blanked by variable, and how many records were and are alone."""
    values = FactTable(
        name="suppressed-values",
        title=sentence("release_treat.values.title", k=suppression.k),
        headings=tuple(
            sentence(f"release_treat.values.{head}")
            for head in ("variable", "values", "missing", "blanked", "share")
        ),
        rows=tuple(
            (
                key.variable.name,
                rows.size,
                int(_missing_rows(key, rows.size)),
                int(rows.sum()),
                round(float(rows.mean()), 6) if rows.size else None,
            )
            for key, rows in zip(keys, blanks, strict=True)
        ),
        note=sentence("release_treat.values.note"),
    )
    reached = FactTable(
        name="suppressed-records",
        title=sentence("release_treat.records.title", k=suppression.k),
        headings=(sentence("release_treat.records.what"), sentence("release_treat.records.number")),
        rows=(
            (sentence("release_treat.records.all"), int(before.size)),
            (sentence("release_treat.records.before"), int(before.sum())),
            (sentence("release_treat.records.after"), int((file.counts < suppression.k).sum())),
            (sentence("release_treat.records.changed"), int((file.masks != file.given).sum())),
            (sentence("release_treat.records.leaning"), leaning),
        ),
        note=sentence(f"release_treat.records.{suppression.blanks.value}"),
    )
    return values, reached


def _missing_rows(key: FileKey, size: int) -> int:
    missing = np.zeros(size, dtype=bool)
    held = key.unit >= 0
    missing[key.unit[held]] = key.missing[held]
    return int(missing.sum())


def leaning_records(file: KeyedFile, suppression: Suppression) -> int:
    """How many records have enough companions only because values of these were blanked."""
    if suppression.blanks is Blanks.OWN:
        return 0
    changed = file.masks != file.given
    counts = file.counts.copy()
    rows = np.flatnonzero(changed)
    take_out(file.codes, file.masks, counts, file.bounds, file.group, rows)
    return int(((counts < suppression.k) & ~changed).sum())


def suppression_notes(
    keys: Sequence[FileKey], blanks: Sequence[Bool], suppression: Suppression, leaning: int
) -> tuple[Sentence, ...]:
    """What else the office should know."""
    notes = []
    if leaning:
        notes.append(sentence("release_treat.leaning", n=leaning, k=suppression.k))
    told = [
        key.variable.name
        for key, rows in zip(keys, blanks, strict=True)
        if rows.any()
        and not key.variable.amounts
        and all(code.kind is not CodeKind.NOT_STATED for code in key.variable.level.codes)
    ]
    if told:
        notes.append(sentence("release_treat.new_code", variables=", ".join(told)))
    return tuple(notes)


def suppressed_values(
    records: FileRecords, keys: Sequence[FileKey], blanks: Sequence[Bool]
) -> OfficeFile:
    """Whose values were blanked, by digest."""
    units, digests, names = [], [], []
    for key, rows in zip(keys, blanks, strict=True):
        entity = key.variable.entity
        chosen = records.store.digests(entity)[records.sample.rows[entity][rows]]
        digests.append(np.sort(chosen))
        units.append(np.full(chosen.size, entity.value, dtype=object))
        names.append(np.full(chosen.size, key.variable.name, dtype=object))
    return OfficeFile(
        name=SUPPRESSED_FILE,
        columns={
            "unit": np.concatenate(units),
            "record": np.concatenate(digests).astype(np.uint64),
            "variable": np.concatenate(names),
        },
    )
