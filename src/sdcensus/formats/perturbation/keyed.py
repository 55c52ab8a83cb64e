"""Files with one line for each count and key: those of the ONS and of Cantabular."""

from __future__ import annotations

import io
import re
from array import array
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.formats.perturbation.delimited import DelimitedText, FileNotes
from sdcensus.formats.perturbation.exchange_format import BYTE, COLUMNS, ExchangeFormat
from sdcensus.formats.perturbation.file_rows import FileRows, gaps, positions, ranged
from sdcensus.formats.perturbation.key_units import (
    entries_of,
    from_entries,
    mean_of_row,
    requantised,
)
from sdcensus.model.exact_numbers import LARGEST_NUMBER, BadNumber, whole
from sdcensus.model.perturbation.table import DeviationRow
from sdcensus.model.schema.schema import LARGEST_MODULUS

Int64 = npt.NDArray[np.int64]

_ONLY_NUMBERS = re.compile(r"[-0-9,;\t\r\n]*")
#: How many keys files of the ONS have.
_USUAL = (256, 4096)
#: A range of keys on one line of Cantabular can be so long.
_LONGEST_RANGE = 1 << 16

#: Lines, counts, keys and deviations.
Entries = tuple[Int64, Int64, Int64, Int64]


def read_keyed(text: DelimitedText, kind: ExchangeFormat, modulus: int | None) -> FileRows:
    """Read a file; mistakes are noted, and counts that have one are left out."""
    own = COLUMNS[kind]
    # Cantabular reads the names of the ONS too, and either file may have either header.
    other = ExchangeFormat.CANTABULAR if kind is ExchangeFormat.ONS else ExchangeFormat.ONS
    aliases = dict(zip(COLUMNS[other], own, strict=True))
    columns = positions(text, kind, own, aliases=aliases)
    if columns is None:
        return FileRows(kind, BYTE, {}, {}, {})
    places = [columns[name] for name in own]
    quickly = _quickly(text, places)
    entries, unreadable = (quickly, {}) if quickly else _slowly(text, places, own)
    order = np.lexsort((entries[0], entries[2], entries[1]))
    line, count, key, value = (entry[order] for entry in entries)
    rows: dict[int, DeviationRow] = {}
    lines = dict(unreadable)
    bias: dict[int, Fraction] = {}
    keys = _number_of_keys(text.notes, kind, key)
    ends = np.flatnonzero(np.diff(count, append=-1)) + 1
    begin = 0
    for end in ends.tolist():
        here, at = int(count[begin]), slice(begin, end)
        lines[here] = min(int(line[at].min()), lines.get(here, 1 << 62))
        begin = end
        good = _is_complete(text.notes, here, line[at], key[at], keys, here in unreadable)
        good = _stays_positive(text.notes, here, line[at], value[at]) and good
        if good and here not in unreadable:
            row = from_entries(value[at])
            bias[here] = mean_of_row(row)
            rows[here] = row
    if modulus is not None and modulus != keys:
        rows = {at: requantised(row, modulus, declared_biased=True) for at, row in rows.items()}
    return FileRows(kind, modulus or keys, rows, lines, bias)


def keyed_lines(rows: Mapping[int, DeviationRow], kind: ExchangeFormat) -> Iterator[str]:
    """The lines of a file, each with an end of line; all lines of a count together."""
    yield ",".join(COLUMNS[kind]) + "\n"
    for count, row in rows.items():
        values = entries_of(row).tolist()
        yield "".join(f"{count},{key},{value}\n" for key, value in enumerate(values))


def _number_of_keys(notes: FileNotes, kind: ExchangeFormat, key: Int64) -> int:
    if kind is ExchangeFormat.CANTABULAR or not key.size:
        return BYTE
    keys = int(key.max()) + 1
    if keys < 2:
        notes.mistake("key", 0, "The only key is 0. A table needs keys from 0 to 255, or to 4095.")
    elif keys not in _USUAL:
        notes.observe("key", 0, f"Keys go from 0 to {keys - 1}; usual are 0 to 255, and 0 to 4095.")
    return keys


def _quickly(text: DelimitedText, columns: list[int]) -> Entries | None:
    """What the lines say if they hold nothing but whole numbers; nothing otherwise.

    Files with millions of lines are common, and mistakes in them are not.
    """
    # Here and not above: few files have such lines, and it takes a while to load.
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    start = 0
    for _ in range(text.header_line):
        start = text.text.find("\n", start) + 1
    body = text.text[start:]
    if not start or not _ONLY_NUMBERS.fullmatch(body):
        return None
    try:
        table = pa_csv.read_csv(
            io.BytesIO(body.encode("ascii")),
            read_options=pa_csv.ReadOptions(
                column_names=[str(at) for at in range(len(text.header))]
            ),
            parse_options=pa_csv.ParseOptions(delimiter=text.delimiter, quote_char=False),
            convert_options=pa_csv.ConvertOptions(
                column_types={str(at): pa.int64() for at in range(len(text.header))},
                null_values=[],
            ),
        )
    except pa.ArrowInvalid:
        return None
    count, key, value = (table.column(at).to_numpy() for at in columns)
    if not key.size or table.num_rows != body.rstrip().count("\n") + 1:
        return None
    if min(key.min(), count.min()) < 0 or key.max() >= LARGEST_MODULUS:
        return None
    if max(count.max(), value.max(), -value.min()) > LARGEST_NUMBER:
        return None
    lines = np.arange(table.num_rows, dtype=np.int64) + (text.header_line + 1)
    return lines, count, key, value


def _slowly(
    text: DelimitedText, columns: list[int], names: tuple[str, ...]
) -> tuple[Entries, dict[int, int]]:
    """What the lines say, and the first line of each count that has unreadable ones."""
    read = array("q"), array("q"), array("q"), array("q")
    unreadable: dict[int, int] = {}
    count_at, key_at, value_at = columns
    for line, fields in text.lines():
        count: int | None = None
        at = count_at
        try:
            count = whole(fields[count_at])
            at = key_at
            first, last = _keys(fields[key_at])
            at = value_at
            value = whole(fields[value_at])
        except BadNumber as error:
            name = names[columns.index(at)]
            text.notes.mistake("number", line, f"Column {name}: {error}.")
            if count is not None:
                unreadable.setdefault(count, line)
            continue
        if count < 0:
            text.notes.mistake("number", line, f"The count {count} is negative.")
            continue
        if last > first:
            text.notes.observe("ranges", line, "Ranges of keys are read as their single keys.")
        for key in range(first, last + 1):
            for column, number in zip(read, (line, count, key, value), strict=True):
                column.append(number)
    lines, counts, keys, values = (np.array(column, dtype=np.int64) for column in read)
    return (lines, counts, keys, values), unreadable


def _keys(text: str) -> tuple[int, int]:
    """The first and the last key of a field, which is one key or a range such as ``0-63``."""
    before, dash, after = text.partition("-")
    if dash and before.strip():
        first, last = whole(before.strip()), whole(after.strip())
        if not 0 <= last - first < _LONGEST_RANGE:
            raise BadNumber(f"{text!r} is not a range of keys")
    else:
        first = last = whole(text)
    if not 0 <= first <= last < LARGEST_MODULUS:
        raise BadNumber(f"the key {text} is negative or too large")
    return first, last


def _is_complete(
    notes: FileNotes, count: int, line: Int64, key: Int64, keys: int, unreadable: bool
) -> bool:
    """Whether a count has every key once; ``line`` and ``key`` are sorted by key."""
    good = True
    twice = np.flatnonzero(np.diff(key) == 0)
    for at in twice.tolist():
        notes.mistake(
            "twice",
            int(line[at + 1]),
            f"The count {count} has the key {key[at]} already in line {line[at]}. Remove one.",
        )
        good = False
    if key[-1] >= keys:
        beyond = int(np.searchsorted(key, keys))
        notes.mistake(
            "key",
            int(line[beyond]),
            f"The key {key[beyond]} of the count {count} is too large: keys go from 0 to"
            f" {keys - 1}.",
        )
        good = False
    if not unreadable and np.unique(key).size < keys and (key[-1] < keys):
        missing = ", ".join(
            ranged("key", first, last).removeprefix("the ")
            for first, last in list(gaps(key.tolist(), start=0, stop=keys - 1))[:5]
        )
        notes.mistake(
            "gap",
            int(line.max()),
            f"The count {count} has no line for: {missing}. Every count needs a line for each key"
            f" from 0 to {keys - 1}.",
        )
        good = False
    return good


def _stays_positive(notes: FileNotes, count: int, line: Int64, value: Int64) -> bool:
    wrong = np.flatnonzero(value < -count)
    for at in wrong.tolist():
        notes.mistake(
            "negative",
            int(line[at]),
            f"The deviation {value[at]} makes the count {count} negative: at least {-count}.",
        )
    return not wrong.size
