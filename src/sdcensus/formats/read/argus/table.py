"""A table of tau-ARGUS: its values by the metadata, with what was said of its cells."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.history import HistoryLine, Said
from sdcensus.formats.read.argus.lines import text_of
from sdcensus.formats.read.argus.metadata import ArgusColumn, ArgusMetadata, ColumnKind
from sdcensus.formats.read.flagged.amounts import amounts
from sdcensus.formats.read.flagged.rows import Columns, FlaggedRows, flagged_rows, read_flagged
from sdcensus.formats.read.flagged.statuses import CellState, StatusWords
from sdcensus.formats.read.flagged.trees import CodeTree, tree_of_digits
from sdcensus.formats.read.raw import RawTable

Int64 = npt.NDArray[np.int64]

#: The columns behind the codes of a table for business statistics.
_SBS = ("value", "n", "status", "dom")
_STATE_OF = {
    Said.SAFE: CellState.SHOWN,
    Said.PROTECTED: CellState.SHOWN,
    Said.FORCED_ZERO: CellState.SHOWN,
    Said.UNSAFE: CellState.PRIMARY,
    Said.SECONDARY: CellState.SECONDARY,
    Said.SECONDARY_BY_HAND: CellState.SECONDARY,
}


def read_argus_table(
    path: str | Path,
    metadata: ArgusMetadata,
    *,
    history: Sequence[HistoryLine] = (),
    value: str | None = None,
    trees: Mapping[str, CodeTree] | None = None,
) -> tuple[FlaggedRows, dict[str, CodeTree]]:
    """Read the cells of a table, and the trees of its codes.

    A combination that the file does not list holds nothing: tau-ARGUS leaves empty cells out.

    Args:
        path: The table.
        metadata: What its columns are.
        history: What was said of cells; goes before the statuses of the table.
        value: The column of values, where there are several.
        trees: Trees that somebody named, by column; others follow from the metadata.
    """
    file = Path(path)
    codes = metadata.of_kind(ColumnKind.CODES)
    if not codes:
        raise InputError(f"{metadata.file} has no column of codes (<RECODEABLE>).")
    names = _names_in_first_line(file, codes)
    if names:
        rows = _by_names(file, metadata, names, value)
        codes = tuple(column for column in codes if column.name in rows.codes)
    else:
        rows = _by_metadata(file, metadata, codes, value)
    totals = {column.name: column.total for column in codes}
    rows = replace(rows, totals=MappingProxyType(totals), absent=CellState.EMPTY)
    rows = _with_history(rows, history)
    return rows, _trees(metadata, codes, rows, trees or {})


def _names_in_first_line(file: Path, codes: Sequence[ArgusColumn]) -> list[str]:
    """The names of columns, where a file that tau-ARGUS wrote begins with them."""
    first = next(iter(text_of(file).splitlines()), "")
    separator = max(",;\t|", key=first.count)
    names = [name.strip().strip('"').strip() for name in first.split(separator)]
    known = {column.name.lower() for column in codes}
    return names if any(name.lower() in known for name in names) else []


def _by_names(
    file: Path, metadata: ArgusMetadata, names: Sequence[str], value: str | None
) -> FlaggedRows:
    """A protected table as tau-ARGUS writes it: names first, then codes, value and status."""
    present = {name.lower() for name in names}
    codes = [column.name for column in metadata.of_kind(ColumnKind.CODES)]
    chosen = tuple(name for name in codes if name.lower() in present)
    numbers = (*metadata.of_kind(ColumnKind.VALUE), *metadata.of_kind(ColumnKind.FREQUENCY))
    found = [column.name for column in numbers if column.name.lower() in present]
    status = [column.name for column in metadata.of_kind(ColumnKind.STATUS)]
    status = [name for name in (*status, "Status") if name.lower() in present]
    columns = Columns(
        codes=chosen,
        value=value or (found[0] if found else None),
        status=status[0] if status else None,
        words=_words(metadata) if status else None,
    )
    rows = read_flagged(file, columns)
    by_name = {name.lower(): name for name in chosen}
    listed = {by_name[name.lower()]: texts for name, texts in rows.codes.items()}
    return replace(rows, codes=MappingProxyType(listed))


def _by_metadata(
    file: Path, metadata: ArgusMetadata, codes: Sequence[ArgusColumn], value: str | None
) -> FlaggedRows:
    """A table whose columns stand in the order of the metadata."""
    if metadata.fixed:
        raise InputError(
            f"{metadata.file} describes records at fixed places, and {file} does not begin with the"
            " names of its columns. Audits read tables: write one with tau-ARGUS (<WRITETABLE>)."
        )
    numbers = _value_column(metadata, value)
    status = [column.name for column in metadata.of_kind(ColumnKind.STATUS)]
    raw, by_sbs = _read_cells(file, metadata)
    if by_sbs:
        numbers, status = replace(numbers, name=_SBS[0]), [_SBS[2]]
    given = Columns(
        words=_words(metadata) if status and not by_sbs else None,
        decimals=numbers.decimals or None,
    )
    named = [column.name for column in codes]
    rows = flagged_rows(raw, file.name, named, numbers.name, status[0] if status else None, given)
    return rows if by_sbs else _with_levels(rows, metadata)


def _value_column(metadata: ArgusMetadata, named: str | None) -> ArgusColumn:
    values = (*metadata.of_kind(ColumnKind.VALUE), *metadata.of_kind(ColumnKind.FREQUENCY))
    if not values:
        raise InputError(f"{metadata.file} has no column of values (<NUMERIC> or <FREQUENCY>).")
    if named is None:
        return values[0]
    for column in values:
        if column.name.lower() == named.lower():
            return column
    known = ", ".join(column.name for column in values)
    raise InputError(f"{metadata.file} has no column of values {named!r}. There are: {known}.")


def _words(metadata: ArgusMetadata) -> StatusWords:
    """The statuses of the table: those that the metadata names, and those that are usual."""
    words = {
        **{"s": CellState.SHOWN, "p": CellState.SHOWN, "z": CellState.SHOWN, "": CellState.SHOWN},
        **{"u": CellState.PRIMARY, "m": CellState.SECONDARY, "x": CellState.SECONDARY},
        **{"e": CellState.EMPTY},
        **{str(number): CellState.PRIMARY for number in range(3, 10)},
        **{"1": CellState.SHOWN, "2": CellState.SHOWN, "10": CellState.SHOWN},
        **{"11": CellState.SECONDARY, "12": CellState.SECONDARY},
        **{"13": CellState.EMPTY, "14": CellState.EMPTY},
        metadata.safe.lower(): CellState.SHOWN,
        metadata.protect.lower(): CellState.SHOWN,
        metadata.unsafe.lower(): CellState.PRIMARY,
    }
    return StatusWords(f"tau-ARGUS ({metadata.file.name})", MappingProxyType(words))


def _read_cells(file: Path, metadata: ArgusMetadata) -> tuple[RawTable, bool]:
    """The fields of a table, and whether it is of the form for business statistics (SBS)."""
    names = [column.name for column in metadata.columns]
    text = text_of(file)
    codes = [column.name for column in metadata.of_kind(ColumnKind.CODES)]
    first = next(csv.reader(text.splitlines()[:1]), [])
    by_sbs = len(first) == len(codes) + len(_SBS) != len(names)
    if by_sbs:
        names = [*codes, *_SBS]
    separator = "," if by_sbs else _one_sign(metadata)
    reader = csv.reader(text.splitlines(), delimiter=separator)
    fields: list[list[str]] = []
    lines: list[int] = []
    for found in reader:
        if not found or not any(field.strip() for field in found):
            continue
        plain = [field.strip().strip('"').strip() for field in found]
        if len(plain) == len(names) + 1 and not plain[-1]:
            plain.pop()  # a separator at the end of the line
        if len(plain) != len(names):
            raise InputError(
                f"{file}, line {reader.line_num}: {len(plain)} fields, where {metadata.file.name}"
                f" names {len(names)} ({', '.join(names)}). Is {metadata.separator!r} the separator"
                " of the table?"
            )
        fields.append(plain)
        lines.append(reader.line_num)
    if not fields:
        raise InputError(f"{file} has no rows.")
    columns = {
        name: pa.array([row[at] for row in fields], pa.string()) for at, name in enumerate(names)
    }
    return RawTable(file, columns, len(fields), None, lambda row: f"line {lines[row]}"), by_sbs


def _one_sign(metadata: ArgusMetadata) -> str:
    sign = {"\\t": "\t", "tab": "\t"}.get(metadata.separator.lower(), metadata.separator)
    if len(sign) != 1:
        raise InputError(
            f"{metadata.file}: <SEPARATOR> {metadata.separator!r} is not one sign, such as ';'."
        )
    return sign


def _with_levels(rows: FlaggedRows, metadata: ArgusMetadata) -> FlaggedRows:
    """Protection levels of the table's own columns."""
    sides = []
    for kind in (ColumnKind.LOWER_LEVEL, ColumnKind.UPPER_LEVEL):
        columns = metadata.of_kind(kind)
        if not columns:
            return rows
        texts = rows.raw.columns[columns[0].name].to_pylist()
        levels = amounts(rows.raw, texts)
        sides.append(_rounded_up(levels.numbers, levels.decimals, rows.values.decimals))
    return replace(rows, need=(sides[0], sides[1]))


def _rounded_up(numbers: Int64, decimals: int, wanted: int) -> Int64:
    """Numbers of one many decimals as those of another, not below them."""
    if decimals <= wanted:
        return np.asarray(numbers * 10 ** (wanted - decimals))
    return np.asarray(-(-numbers // 10 ** (decimals - wanted)))


def _with_history(rows: FlaggedRows, history: Sequence[HistoryLine]) -> FlaggedRows:
    if not history:
        return rows
    columns = [tuple(code.lower() for code in codes) for codes in rows.codes.values()]
    row_of = {codes: row for row, codes in enumerate(zip(*columns, strict=True))}
    states = rows.states.copy()
    need = rows.need or tuple(np.zeros(states.size, dtype=np.int64) for _ in range(2))
    lower, upper = (side.copy() for side in need)
    levels = rows.need is not None
    for told in history:
        row = row_of.get(tuple(code.lower() for code in told.codes))
        if row is None:
            raise InputError(
                f"What is said before, line {told.line}: {rows.name} has no cell"
                f" {', '.join(told.codes)}. The codes stand in the order of the columns"
                f" ({', '.join(rows.codes)})."
            )
        if told.said in _STATE_OF:
            states[row] = _STATE_OF[told.said]
        elif told.said is Said.LEVELS:
            lower[row], upper[row] = (_units(x, rows.values.decimals) for x in told.numbers)
            levels = True
    return replace(rows, states=states, need=(lower, upper) if levels else None)


def _units(number: Decimal, decimals: int) -> int:
    return -int(-(number * 10**decimals) // 1)


def _trees(
    metadata: ArgusMetadata,
    columns: Sequence[ArgusColumn],
    rows: FlaggedRows,
    given: Mapping[str, CodeTree],
) -> dict[str, CodeTree]:
    named = {name.lower(): tree for name, tree in given.items()}
    trees = {}
    for column in columns:
        codes = dict.fromkeys(rows.codes[column.name])
        inner = [code for code in codes if code.lower() != column.total.lower()]
        absent = [code for code in inner if code in {text.strip() for text in column.missing}]
        tree = named.get(column.name.lower()) or metadata.tree(column)
        if tree is None and column.digits:
            where = f"{metadata.file}, line {column.line}"
            tree = tree_of_digits(
                [code for code in inner if code not in absent], column.digits, where
            )
        if tree is not None:
            trees[column.name] = tree.with_more(absent)
    return trees
