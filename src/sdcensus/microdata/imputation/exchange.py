"""Blanked records for another system, and what the office remembers about them.

Everything that was exported follows from the store, the secret and what was asked, so that the file
that comes back is compared with that and not with itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.errors import InputError, SpecError
from sdcensus.microdata.imputation.over_imputation import IMPUTING
from sdcensus.microdata.imputation.selection import (
    PSEUDONYMS,
    USUAL_K,
    Selection,
    earlier_steps,
    selection_of,
)
from sdcensus.microdata.imputation.variables import (
    LevelOfVariable,
    blanked_variables,
    levels_of_variables,
)
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.variable import Variable
from sdcensus.model.text import parse_json
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]

#: Columns of the file beside those of variables: their names say what the file is.
RECORD, FLAG = "confidential_record", "confidential_blanked"
#: What the office's note about an export is called, after the name of the file.
NOTE_ENDING = ".office.json"
_FORMAT, _VERSION = "sdcensus-blanked-records", 1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ExportRequest(Confidential):
    """What was asked for: which records are blanked, and what the other system sees of all.

    Attributes:
        blank: The variables that are blanked.
        rate: Which share of the records.
        context: The variables that the other system sees besides, at levels where they are named.
        where, risk, k: As for over-imputation.
    """

    blank: tuple[str, ...]
    rate: float
    context: tuple[str, ...] = ()
    where: str = ""
    risk: tuple[str, ...] = ()
    k: int = USUAL_K

    def __repr__(self) -> str:
        return "<ExportRequest: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlankedRecords(Confidential):
    """The records that another system gets: all of a kind, some of them blanked.

    Attributes:
        blank: The variables that are blanked.
        context: The variables that are shown of all.
        selection: Which records are blanked.
        order: The rows of all records in the order of the file.
        pseudonyms: The pseudonym of each, in that order, ascending.
        flag: Whether each is blanked, in that order.
        digest: A digest of all that is exported.
    """

    records: CensusStore
    blank: tuple[Variable, ...]
    context: tuple[LevelOfVariable, ...]
    selection: Selection
    order: Integers
    pseudonyms: npt.NDArray[np.uint64]
    flag: npt.NDArray[np.bool_]

    def __repr__(self) -> str:
        return "<BlankedRecords: confidential>"

    def columns(self) -> list[tuple[str, Integers, tuple[str, ...]]]:
        """Each variable of the file: its heading, the code of each record, and the codes."""
        unit = self.selection.unit
        shown = [
            (each.text, each.codes(self.records, unit)[self.order], _texts(each.level.codes))
            for each in self.context
        ]
        blanked = [
            (
                variable.name,
                self.records.raw(unit, variable.name)[self.order],
                _texts(variable.codes),
            )
            for variable in self.blank
        ]
        return shown + blanked

    def table(self) -> pa.Table:
        """The file: blanked values are empty."""
        names = {variable.name for variable in self.blank}
        arrays: dict[str, pa.Array] = {
            RECORD: pa.array([f"{value:016x}" for value in self.pseudonyms.tolist()])
        }
        for heading, positions, texts in self.columns():
            words = pa.array(texts, type=pa.string())
            empty = self.flag if heading in names else np.zeros(self.flag.size, dtype=bool)
            taken = pa.array(positions.astype(np.int64), mask=empty)
            arrays[heading] = words.take(taken)
        arrays[FLAG] = pa.array(self.flag.astype(np.int8))
        about = {"confidential": "as the census itself", "format": _FORMAT}
        return pa.table(arrays).replace_schema_metadata(about)

    def digest(self) -> str:
        """A digest of everything that is in the file or was taken out of it."""
        whole = hashlib.blake2b(digest_size=16)
        whole.update(self.pseudonyms.tobytes())
        whole.update(np.packbits(self.flag).tobytes())
        for heading, positions, texts in self.columns():
            whole.update(json.dumps([heading, *texts]).encode())
            whole.update(positions.astype(np.uint32).tobytes())
        return whole.hexdigest()


def _texts(codes: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(code.code for code in codes)


def blanked_records(records: CensusStore, draws: Draws, request: ExportRequest) -> BlankedRecords:
    """The records that are exported: the same for the same store, secret and request."""
    schema = records.schema
    blank = blanked_variables(schema, request.blank)
    unit = blank[0].entity
    context = levels_of_variables(schema, unit, request.context, "--context")
    for heading in [each.text for each in context]:
        if heading in [variable.name for variable in blank]:
            raise SpecError(
                f"--context: {heading!r} is blanked. It is in the file anyway; leave it out."
            )
    step = earlier_steps(records, IMPUTING)
    selection = selection_of(
        records,
        draws,
        blank,
        rate=request.rate,
        where=request.where,
        risk=request.risk,
        k=request.k,
        step=step,
    )
    salt = hashlib.blake2b(_request_text(request, records).encode(), digest_size=8).digest()
    number = int.from_bytes(salt, "little")
    words = draws.words(records.digests(unit), PSEUDONYMS, number)
    order = np.argsort(words, kind="stable")
    pseudonyms = words[order]
    if (pseudonyms[1:] == pseudonyms[:-1]).any():
        raise SpecError(
            "Two records would have the same pseudonym, which happens by chance once in many"
            " thousand exports. Say another --rate, such as one that differs in the last digit."
        )
    flag = np.zeros(records.rows(unit), dtype=bool)
    flag[selection.rows] = True
    return BlankedRecords(records, blank, context, selection, order, pseudonyms, flag[order])


def _request_text(request: ExportRequest, records: CensusStore) -> str:
    return json.dumps([asdict(request), records.manifest.data_version], sort_keys=True)


def _mark(text: str, draws: Draws) -> str:
    """A digest that only holders of the secret can make."""
    digest = hashlib.blake2b(text.encode(), digest_size=32).digest()
    words = draws.words(np.frombuffer(digest, dtype="<u8").astype(np.uint64), PSEUDONYMS)
    return "".join(f"{word:016x}" for word in words.tolist())


def note_text(blanked: BlankedRecords, request: ExportRequest, draws: Draws) -> str:
    """What the office remembers: what was asked, of which store, with digests. Confidential."""
    manifest = blanked.records.manifest
    content = {
        "format": _FORMAT,
        "version": _VERSION,
        "confidential": True,
        "request": asdict(request),
        "data_version": manifest.data_version,
        "secret_id": manifest.secret_id,
        "records": int(blanked.order.size),
        "blanked": int(blanked.selection.rows.size),
        "digest": blanked.digest(),
    }
    mark = _mark(json.dumps(content, sort_keys=True), draws)
    return json.dumps({**content, "mark": mark}, indent=1, ensure_ascii=False) + "\n"


def remembered(note: Path, records: CensusStore, draws: Draws) -> BlankedRecords:
    """What was exported, from the office's note and the store.

    Raises:
        InputError: The note is missing or was changed, or belongs to other records.
    """
    content, request = _read_note(note, draws)
    if content["data_version"] != records.manifest.data_version:
        raise InputError(
            f"{note}: the records were exported from another store (version"
            f" {content['data_version']}, and this one has {records.manifest.data_version}). Give"
            " the store that they were exported from."
        )
    blanked = blanked_records(records, draws, request)
    if blanked.digest() != content["digest"]:
        raise InputError(
            f"{note}: the export was made by another version of sdcensus, which chose other"
            " records. Export again."
        )
    return blanked


def _read_note(note: Path, draws: Draws) -> tuple[Mapping[str, Any], ExportRequest]:
    try:
        content = parse_json(note.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(
            f"There is no {note}, in which the export remembers what was blanked. Name it:"
            f" --note FILE{NOTE_ENDING}."
        ) from None
    except (OSError, ValueError):
        raise InputError(f"{note} cannot be read. Export the records again.") from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise InputError(
            f"{note} is not what an export remembers. Name the file that was written beside it:"
            f" its name ends in {NOTE_ENDING}."
        )
    mark = content.pop("mark", "")
    if mark != _mark(json.dumps(content, sort_keys=True), draws):
        raise InputError(
            f"{note} was changed since the export, or the records were exported with another"
            " secret. Take the file as it was written, or export again."
        )
    known = {each.name for each in fields(ExportRequest)}
    said: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in content["request"].items()
        if name in known
    }
    return content, ExportRequest(**said)
