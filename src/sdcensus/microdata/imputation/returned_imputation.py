"""Values that another system has imputed, read back after every check."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sdcensus.microdata.imputation.exchange import NOTE_ENDING, remembered
from sdcensus.microdata.imputation.facts import changed_facts
from sdcensus.microdata.imputation.returned_file import read_returned
from sdcensus.microdata.method import Changes, Draws, NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.progress import Progress
from sdcensus.model.schema.variable import Variable
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReturnedImputation(Confidential):
    """Takes over the values of blanked records that an edit and imputation system has filled in.

    What was exported is known from the store and from the office's note beside the export: every
    record must be there once and nothing but blanked values may be new.

    Attributes:
        file: The file that has come back.
        note: The office's note about the export; beside ``file`` where nothing is said.
    """

    file: Path | str
    note: Path | str = ""

    name: ClassVar[str] = "returned-imputation"
    version: ClassVar[int] = 1
    summary: ClassVar[str] = "Take over blanked values that the office's own system has imputed."
    purpose: ClassVar[Purpose | None] = Purpose.IMPUTE
    takes: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "file",
            ValueKind.FILE,
            "The exported file with the blanked values filled in (.csv or .parquet).",
            required=True,
        ),
        Parameter(
            "note",
            ValueKind.FILE,
            f"What the export remembers: the file that ends in {NOTE_ENDING}; beside FILE if not"
            " given.",
        ),
    )

    def __repr__(self) -> str:
        return "<ReturnedImputation: confidential>"

    def derive(self, records: CensusStore, draws: Draws | None, progress: Progress) -> Changes:
        """Read the file, check it, and take over the blanked values."""
        assert draws is not None
        file = Path(self.file)
        note = Path(self.note) if self.note else file.with_name(f"{file.name}{NOTE_ENDING}")
        progress("reading what was exported", 0.0)
        exported = remembered(note, records, draws)
        progress(f"reading {file.name}", 0.3)
        values = read_returned(file, exported)
        rows, unit = exported.selection.rows, exported.selection.unit
        codes: dict[str, NewValues] = {}
        changed: list[tuple[Variable, int]] = []
        for variable in exported.blank:
            new = values[variable.name]
            other = records.raw(unit, variable.name)[rows] != new
            codes[variable.name] = NewValues(rows[other], new[other])
            changed.append((variable, int(other.sum())))
        return Changes(
            codes=codes,
            imputed={variable.name: rows for variable in exported.blank},
            figures={"records blanked": rows.size, "imputed anew": rows.size},
            facts=(changed_facts(changed, rows.size),),
        )
