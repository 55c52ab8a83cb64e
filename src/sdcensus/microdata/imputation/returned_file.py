"""The file that another system gives back, held against what was exported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from sdcensus.errors import InputError
from sdcensus.microdata.imputation.exchange import FLAG, RECORD, BlankedRecords
from sdcensus.microdata.imputation.rules import forbidden_values
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
#: How a code that cannot be one is numbered.
_UNKNOWN, _EMPTY = -1, -2


@dataclass(frozen=True, slots=True, repr=False)
class _Returned(Confidential):
    """The rows of the file, with their place in it."""

    file: Path
    table: pa.Table

    def line(self, row: int) -> str:
        """Where a row stands, for a message."""
        csv = self.file.suffix.casefold() == ".csv"
        return f"{self.file}, {f'line {row + 2}' if csv else f'row {row + 1}'}"

    def text(self, column: str) -> pa.Array:
        """A column as texts without blanks around; empty where there is nothing."""
        whole = self.table.column(column).combine_chunks()
        if pa.types.is_dictionary(whole.type):
            whole = whole.dictionary_decode()
        words = pc.utf8_trim_whitespace(pc.fill_null(whole.cast(pa.string()), ""))
        return words.combine_chunks() if isinstance(words, pa.ChunkedArray) else words


def read_returned(file: Path, exported: BlankedRecords) -> dict[str, Integers]:
    """The new codes of the blanked records, in the order of their rows, by variable.

    Raises:
        InputError: The file is not the exported one with blanked values filled in.
    """
    returned = _read(file)
    columns = exported.columns()
    _check_columns(returned, [RECORD, *(heading for heading, _, _ in columns), FLAG])
    at = _places(returned, exported)
    _check_flags(returned, exported, at)
    names = {variable.name for variable in exported.blank}
    # In the order of the file that came back: for each of its rows what was exported.
    blanked = exported.flag[at]
    values: dict[str, Integers] = {}
    for heading, positions, texts in columns:
        codes = _codes(returned, heading, texts)
        first = np.array([texts.index(text) for text in texts], dtype=np.int64)
        same = first[positions][at] == codes
        wrong = ~same if heading not in names else ~same & ~blanked
        for row in np.flatnonzero(wrong)[:1].tolist():
            code = returned.text(heading)[row].as_py()
            raise InputError(
                f"{returned.line(row)}, column {heading}: {code!r} is not what was exported, and it"
                " was not blanked. Take it from the exported file; only empty fields of rows with"
                f" {FLAG} = 1 are filled in."
            )
        if heading in names:
            _check_filled(returned, heading, codes, blanked)
            values[heading] = codes
    in_order = np.argsort(exported.order[at[blanked]])
    chosen = {name: codes[blanked][in_order] for name, codes in values.items()}
    _check_rules(returned, exported, chosen, np.flatnonzero(blanked)[in_order])
    return chosen


def _read(file: Path) -> _Returned:
    if not file.exists():
        raise InputError(f"There is no file {file}.")
    kind = file.suffix.casefold()
    if kind not in (".csv", ".parquet"):
        raise InputError(f"{file}: returned records are read from .csv or .parquet files.")
    try:
        if kind == ".parquet":
            return _Returned(file, pq.read_table(file))
        with pa_csv.open_csv(file) as head:
            names = head.schema.names
        options = pa_csv.ConvertOptions(
            column_types={name: pa.string() for name in names}, strings_can_be_null=False
        )
        return _Returned(file, pa_csv.read_csv(file, convert_options=options))
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"{file} cannot be read as {kind[1:]}. Write it as the exported file is: a heading,"
            " then one record in a line, fields separated by commas, in UTF-8."
        ) from None


def _check_columns(returned: _Returned, expected: Sequence[str]) -> None:
    names = returned.table.column_names
    for name in expected:
        if names.count(name) != 1:
            why = "is missing" if name not in names else "is there twice"
            raise InputError(
                f"{returned.file}: the column {name!r} {why}. The exported file has the columns"
                f" {', '.join(expected)}; give back all of them. Others are not read."
            )


def _places(returned: _Returned, exported: BlankedRecords) -> Integers:
    """For each row of the file its place in the exported one."""
    words = returned.text(RECORD)
    known = pa.array([f"{value:016x}" for value in exported.pseudonyms.tolist()])
    position = pc.index_in(pc.utf8_lower(words), value_set=known)
    at: Integers = pc.fill_null(position, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    for row in np.flatnonzero(at < 0)[:1].tolist():
        raise InputError(
            f"{returned.line(row)}, column {RECORD}: no such record was exported"
            f" ({int((at < 0).sum()):,} such lines). Records cannot be added; take them out, and"
            " keep this column as text."
        )
    _, first = np.unique(at, return_index=True)
    if first.size < at.size:
        again = np.ones(at.size, dtype=bool)
        again[first] = False
        row = int(np.flatnonzero(again)[0])
        raise InputError(
            f"{returned.line(row)}, column {RECORD}: the record was there already. Every record"
            " comes back once."
        )
    missing = exported.order.size - at.size
    if missing:
        gone = np.ones(exported.order.size, dtype=bool)
        gone[at] = False
        name = f"{int(exported.pseudonyms[np.flatnonzero(gone)[0]]):016x}"
        raise InputError(
            f"{returned.file}: {missing:,} exported records are missing, such as {name}. Give all"
            " of them back, blanked or not."
        )
    return at


def _check_flags(returned: _Returned, exported: BlankedRecords, at: Integers) -> None:
    words = returned.text(FLAG)
    flags = pc.is_in(words, value_set=pa.array(["1", "1.0", "true"]))
    wrong = flags.to_numpy(zero_copy_only=False) != exported.flag[at]
    for row in np.flatnonzero(wrong)[:1].tolist():
        raise InputError(
            f"{returned.line(row)}, column {FLAG}: it says otherwise than what was exported. Which"
            " records are blanked is not changed; take the column from the exported file."
        )


def _codes(returned: _Returned, heading: str, texts: Sequence[str]) -> Integers:
    """For each row the position of its code; negative where it is none."""
    encoded = pc.dictionary_encode(returned.text(heading))
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    known: dict[str, int] = {}
    for position, text in enumerate(texts):
        known.setdefault(text, position)
    distinct = [
        known.get(text, _EMPTY if not text else _UNKNOWN) for text in encoded.dictionary.to_pylist()
    ]
    indices = encoded.indices.to_numpy(zero_copy_only=False)
    return np.array(distinct, dtype=np.int64)[indices] if distinct else np.zeros(0, np.int64)


def _check_filled(
    returned: _Returned, heading: str, codes: Integers, blanked: npt.NDArray[np.bool_]
) -> None:
    for row in np.flatnonzero(blanked & (codes == _EMPTY))[:1].tolist():
        raise InputError(
            f"{returned.line(row)}, column {heading}: the blanked value is still empty"
            f" ({int((blanked & (codes == _EMPTY)).sum()):,} such lines). Fill in a code."
        )
    for row in np.flatnonzero(blanked & (codes == _UNKNOWN))[:1].tolist():
        code = returned.text(heading)[row].as_py()
        raise InputError(
            f"{returned.line(row)}, column {heading}: {code!r} is no code of {heading!r}. Take one"
            " of its code list, as it is written there."
        )


def _check_rules(
    returned: _Returned,
    exported: BlankedRecords,
    values: dict[str, Integers],
    rows: Integers,
) -> None:
    """Refuse values with which a record would break a rule of the schema that it kept before."""
    selection = exported.selection
    forbidden = forbidden_values(exported.records, selection.unit, selection.rows, exported.blank)
    combinations = forbidden.combinations(values)
    for at, (rule, _) in enumerate(forbidden.rules):
        broken = forbidden.forbidden[np.arange(rows.size), combinations[:, at]]
        for place in np.flatnonzero(broken)[:1].tolist():
            why = rule.label.show() or rule.when
            raise InputError(
                f"{returned.line(int(rows[place]))}: with these values the record is impossible by"
                f" the schema: {why} ({int(broken.sum()):,} such records). Impute other values, or"
                " change the rule in the schema."
            )
