"""Blanked records as a file, for offices with an edit and imputation system of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import OutputError, SpecError
from sdcensus.microdata.imputation.exchange import (
    NOTE_ENDING,
    ExportRequest,
    blanked_records,
    note_text,
)
from sdcensus.microdata.imputation.selection import SELECTION_PARAMETERS
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Declaration, Parameter, ValueKind, as_option, checked
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose, Secret
from sdcensus.session.derive.step import store_with_secret
from sdcensus.session.office.confidential_output import write_owner_only_table
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import write_owner_only

#: What may be said about an export: as for over-imputation, and what the other system sees.
EXPORT_PARAMETERS = (
    *SELECTION_PARAMETERS,
    Parameter(
        "context",
        ValueKind.VARIABLES,
        "The variables that the other system sees of all records; levels as in age@ten_year.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExportedBlanks(Confidential):
    """What was exported. Holds sizes: for the office, not for the public.

    Attributes:
        file: The file for the other system.
        note: What the office remembers about it.
        unit: The kind of the records.
        records: How many records it holds.
        blanked: How many of them are blanked.
    """

    file: Path
    note: Path
    unit: Entity
    records: int
    blanked: int

    def __repr__(self) -> str:
        return f"<ExportedBlanks {self.file.name!r}: confidential>"


def export_blanks(
    store: str | Path | CensusStore,
    file: str | Path,
    parameters: Mapping[str, object],
    *,
    secret: Secret | str | Path | None = None,
    replace: bool = False,
    progress: Progress = no_progress,
) -> ExportedBlanks:
    """Write all records of a kind for another system, some of them with blanked values.

    Records are named by pseudonyms of this export. Beside the file stands the office's note, with
    which the method ``returned-imputation`` reads the file back. Only the owner can read either.

    Args:
        store: The store; it is left as it is.
        file: A ``.csv`` or ``.parquet`` file; must not exist, unless ``replace``.
        parameters: ``blank``, ``rate``, ``context``, ``where``, ``risk`` and ``k``. Confidential.
        secret: The office secret with which the store was loaded, or its file.
        replace: Put it in the place of an older file.
        progress: Called with the stage and how much of it is done.

    Raises:
        SpecError: What is said is wrong.
        SecretError: The secret is another one than that of the store.
        OutputError: The file exists, or cannot be written.
    """
    request = _request(parameters)
    target = Path(file)
    note = target.with_name(f"{target.name}{NOTE_ENDING}")
    if target.suffix not in (".csv", ".parquet"):
        raise OutputError(f"{target}: blanked records are written as .csv or .parquet.")
    if target.exists() and not replace:
        raise OutputError(f"{target} exists. Choose another name, or say --replace.")
    records, key = store_with_secret(store, secret)
    draws = Draws(key.sub_key(Purpose.IMPUTE, records.manifest.key_version))
    progress("choosing records", 0.0)
    blanked = blanked_records(records, draws, request)
    progress(f"writing {target.name}", 0.5)
    # The note first: a file without one could not be read back.
    write_owner_only(note, note_text(blanked, request, draws).encode())
    write_owner_only_table(iter([blanked.table()]), target)
    return ExportedBlanks(
        file=target,
        note=note,
        unit=blanked.selection.unit,
        records=int(blanked.order.size),
        blanked=int(blanked.selection.rows.size),
    )


def _request(parameters: Mapping[str, object]) -> ExportRequest:
    """What was asked for, checked as the parameters of methods are."""
    declaration = Declaration(
        name="export", summary="", takes=EXPORT_PARAMETERS, target="", package=""
    )
    known = [parameter.name for parameter in EXPORT_PARAMETERS]
    for name in parameters:
        if name not in known:
            raise SpecError(
                f"An export takes no {as_option(name, '')}. It takes:"
                f" {', '.join(as_option(each, '') for each in known)}."
            )
    values, mistakes = checked([declaration], parameters, as_option)
    for _, reason in mistakes:
        raise SpecError(reason)
    for parameter in EXPORT_PARAMETERS:
        if parameter.required and parameter.name not in values:
            option = f"{as_option(parameter.name, '')} {parameter.metavar}"
            raise SpecError(f"An export needs {option}: {parameter.sentence()}")
    said: dict[str, Any] = dict(values)
    return ExportRequest(**said)
