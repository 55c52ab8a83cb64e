"""Files of codes, values and statuses, row by row, before their code lists are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.formats.read.flagged.amounts import Amounts, amounts, is_number
from sdcensus.formats.read.flagged.statuses import CellState, StatusWords, meaning_of
from sdcensus.formats.read.foreign import VALUE_NAMES
from sdcensus.formats.read.raw import RawTable, read_raw

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What columns of statuses are called, in the order in which they are looked for.
STATUS_NAMES = (
    *("suppressed", "withheld", "status", "sdcstatus", "sdc_status", "flag", "conf_status"),
    *("obs_conf", "secret", "is_secret", "confidential"),
)
#: What columns of values are called besides the usual names.
_MORE_VALUES = ("freq", "frequency", "n", "cell", "amount", "total_value")
#: Columns of other tools that are neither codes nor the value, in small letters.
_NO_CODES = frozenset(
    {
        *STATUS_NAMES,
        *_MORE_VALUES,
        *("primary", "secondary", "dom", "cost", "weight", "weights", "maxscore", "max", "nbcell"),
        *("lpl", "upl", "lowerprotlevel", "upperprotlevel", "lower", "upper", "strid"),
    }
)
#: Signs that stand for a number that is withheld, and those that say that there is nothing.
_WITHHELD_SIGNS = frozenset({"", "x", "c", "..", ".", ":", "*", "k", "na", "n/a", "s", "u", "( )"})
_EMPTY_SIGNS = frozenset({"-"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which columns a file has; ``None`` and empty for what is to be found out.

    Attributes:
        codes: The columns of codes.
        value: The column of values.
        status: The column of statuses; empty if there is none.
        words: What the statuses mean.
        decimals: How many digits values have behind the point.
    """

    codes: tuple[str, ...] = ()
    value: str | None = None
    status: str | None = None
    words: StatusWords | None = None
    decimals: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FlaggedRows:
    """The rows of one file. May hold values of withheld cells: the office's alone.

    Attributes:
        name: The name of the file.
        raw: Where it was read from, for messages.
        codes: For each column of codes its texts.
        states: What is known of each row's cell.
        values: The values, of withheld cells as well where they stand there.
        need: How far a withheld cell's interval must reach below and above its value, by the
            office's own protection levels, in the units of ``values``; 0 where nothing is said.
        totals: The code of the total of each column, where a description says it.
        absent: What a combination is that no row lists.
        tool: Whose statuses these are, for the report.
    """

    name: str
    raw: RawTable
    codes: Mapping[str, tuple[str, ...]]
    states: npt.NDArray[np.uint8]
    values: Amounts
    need: tuple[Int64, Int64] | None = None
    totals: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    absent: CellState = CellState.ABSENT
    tool: str = ""

    def __repr__(self) -> str:
        return f"<FlaggedRows {self.name}>"


def read_flagged(path: str | Path, columns: Columns | None = None) -> FlaggedRows:
    """Read a csv or Parquet file of codes, values and statuses.

    Raises:
        InputError: A column is missing, a status is not known, or a value is none.
    """
    file, given = Path(path), columns or Columns()
    if not file.is_file():
        raise InputError(f"{file} does not exist, or is no file.")
    raw = read_raw(file, None)
    if not raw.rows:
        raise InputError(f"{file} has no rows.")
    value = _named(raw, given.value, "values") if given.value else _value_column(raw)
    status = _named(raw, given.status, "statuses") if given.status else None
    if status is None and given.status is None:
        status = _status_column(raw, value)
    codes = tuple(_named(raw, name, "codes") for name in given.codes)
    if not codes:
        codes = _code_columns(raw, value, status)
    return flagged_rows(raw, file.name, codes, value, status, given)


def flagged_rows(
    raw: RawTable,
    name: str,
    codes: Sequence[str],
    value: str,
    status: str | None,
    given: Columns,
) -> FlaggedRows:
    """The rows of a file whose columns are known."""
    texts = [text.strip() for text in raw.columns[value].to_pylist()]
    numbers = amounts(raw, texts, given.decimals)
    listed = {column: tuple(_codes(raw, column)) for column in codes}
    if status is None:
        states, tool = _by_signs(raw, texts, numbers.known), "signs in place of values"
    else:
        words = [text.strip().lower() for text in raw.columns[status].to_pylist()]
        states, tool = _by_words(raw, status, words, given.words)
        _check_numbers(raw, texts, numbers.known, states)
    return FlaggedRows(name, raw, MappingProxyType(listed), states, numbers, tool=tool)


def _codes(raw: RawTable, column: str) -> list[str]:
    texts = [text.strip() for text in raw.columns[column].to_pylist()]
    for row, text in enumerate(texts):
        if not text:
            raise raw.mistake(row, f"the column {column!r} has no code.")
    return texts


def _by_signs(raw: RawTable, texts: Sequence[str], known: Mask) -> npt.NDArray[np.uint8]:
    states = np.zeros(len(texts), dtype=np.uint8)
    for row in np.flatnonzero(~known).tolist():
        sign = texts[row].lower()
        if sign in _EMPTY_SIGNS:
            states[row] = CellState.EMPTY
        elif sign in _WITHHELD_SIGNS:
            states[row] = CellState.PRIMARY
        else:
            raise raw.mistake(
                row,
                f"{texts[row]!r} is neither a number nor a sign for a cell that is withheld"
                f" ({', '.join(sorted(_WITHHELD_SIGNS - {''}))}). Is this the column of values?"
                " Name it with --value.",
            )
    return states


def _by_words(
    raw: RawTable, column: str, words: Sequence[str], own: StatusWords | None
) -> tuple[npt.NDArray[np.uint8], str]:
    present = set(words)
    meaning = meaning_of(present, own)
    if meaning is None:
        row = next(
            (at for at, word in enumerate(words) if own is not None and word not in own.meanings), 0
        )
        shown = ", ".join(repr(word) for word in sorted(present)[:8])
        raise raw.mistake(
            row,
            f"what the statuses in {column!r} mean is not known ({shown}). Say which cells are"
            " shown and which are withheld: --shown S,V --withheld X,U.",
        )
    states = np.array([meaning.meanings[word] for word in words], dtype=np.uint8)
    return states, meaning.tool


def _check_numbers(
    raw: RawTable, texts: Sequence[str], known: Mask, states: npt.NDArray[np.uint8]
) -> None:
    """A cell that is shown has a number; one that is empty has none, or 0."""
    for row in np.flatnonzero(~known & (states == CellState.SHOWN)).tolist():
        if texts[row].lower() in _EMPTY_SIGNS:
            states[row] = CellState.EMPTY
            continue
        raise raw.mistake(
            row, f"the cell is said to be shown, and its value {texts[row]!r} is no number."
        )


# ---------------------------------------------------------------- which columns there are


def _named(raw: RawTable, name: str | None, what: str) -> str:
    by_name = {column.lower(): column for column in raw.columns}
    found = by_name.get((name or "").strip().lower())
    if found is None:
        raise InputError(
            f"{raw.path} has no column {name!r} of {what}. It has: {', '.join(raw.columns)}."
        )
    return found


def _value_column(raw: RawTable) -> str:
    by_name = {column.lower(): column for column in raw.columns}
    for name in (*VALUE_NAMES, *_MORE_VALUES):
        if name in by_name:
            return by_name[name]
    for column in reversed(raw.columns):
        texts = raw.columns[column].to_pylist()
        if column.lower() in _NO_CODES:
            continue
        if 2 * sum(is_number(text) for text in texts) > len(texts):
            return column
    raise InputError(
        f"{raw.path} has no column of numbers that is called {', '.join(VALUE_NAMES[:3])}. Name the"
        " column of values with --value."
    )


def _status_column(raw: RawTable, value: str) -> str | None:
    by_name = {column.lower(): column for column in raw.columns if column != value}
    return next((by_name[name] for name in STATUS_NAMES if name in by_name), None)


def _code_columns(raw: RawTable, value: str, status: str | None) -> tuple[str, ...]:
    labels = {f"{column}_label" for column in raw.columns}
    return tuple(
        column
        for column in raw.columns
        if column not in (value, status)
        and column not in labels
        and column.lower() not in _NO_CODES
    )
