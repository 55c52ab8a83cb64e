"""The columns of a published file as they stand in it: texts, with the line that each came from."""

from __future__ import annotations

import csv
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq

from sdcensus.errors import InputError
from sdcensus.model.published.table import IN_PLACE, Mark
from sdcensus.model.text import DANGEROUS, NUMBER, parse_json, text_of_cell

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What the metadata of a Parquet file is called.
METADATA = "sdcensus"
#: Whole numbers with more digits count nothing that exists.
_WHOLE = "^[0-9]{1,12}([.]0*)?$"
_NUMBER = "^[+-]?[0-9]+([.][0-9]*)?(e[+-]?[0-9]+)?$"
_SEPARATORS = ",;\t|"
_SIGNS = {mark.sign: mark for mark in IN_PLACE}

#: Rows of a delivered file beyond which it is not read back: its columns are held as texts.
MOST_ROWS = 25_000_000
#: Bytes of a line that holds a code, a number and what ends it.
_SHORTEST_LINE = 4


class NoPublishedTable(InputError):
    """A file that is as it should be, and holds no table that can be read back."""


@dataclass(frozen=True, slots=True, eq=False)
class RawTable:
    """A file as columns of texts; what is missing is an empty text.

    Attributes:
        path: The file.
        columns: Its columns by name.
        rows: How many rows it has.
        about: What it says about itself besides numbers, if anything.
        where: Where a row stands in the file, in words.
    """

    path: Path
    columns: dict[str, pa.Array]
    rows: int
    about: dict[str, Any] | None
    where: Callable[[int], str]

    def mistake(self, row: int, text: str) -> InputError:
        """An error about one row."""
        return InputError(f"{self.path}, {self.where(row)}: {text}")

    def column(self, name: str) -> pa.Array:
        """The column of that name, which the file must have."""
        if name not in self.columns:
            raise InputError(
                f"{self.path} has no column {name!r}, which its description names. It has:"
                f" {', '.join(self.columns)}. The file and its description do not belong together."
            )
        return self.columns[name]

    def check_once(self, numbers: npt.NDArray[np.uint64]) -> None:
        """Refuse a cell that stands in the file twice; cells by their numbers, row by row."""
        order = np.argsort(numbers, kind="stable")
        again = np.flatnonzero(numbers[order][1:] == numbers[order][:-1])
        if again.size:
            raise self.mistake(int(order[again + 1].min()), "this cell stands in the file twice.")

    def incomplete(self, cells: int) -> InputError:
        """An error about a file that does not have all cells of its table."""
        return InputError(
            f"{self.path} has {self.rows:,} of the {cells:,} cells of its table. It was cut off,"
            " or lines were taken out."
        )


def read_raw(path: Path, about: dict[str, Any] | None) -> RawTable:
    """Read a csv or Parquet file; a csv file gets what stands beside it."""
    try:
        if path.suffix.lower() == ".parquet":
            return _read_parquet(path)
        return _read_csv(path, about)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise InputError(f"{path} cannot be read: {reason}.") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text in UTF-8. Save it as UTF-8.") from None


def about_inside(path: Path) -> dict[str, Any] | None:
    """What a Parquet file says about its table; nothing if it cannot be read."""
    try:
        said = (pq.read_schema(path).metadata or {}).get(METADATA.encode())
    except (OSError, pa.ArrowException):
        return None
    return None if said is None else parse_about(said, f"{path} (its metadata)")


def _read_parquet(path: Path) -> RawTable:
    try:
        with pq.ParquetFile(path) as file:
            if METADATA.encode() in (file.schema_arrow.metadata or {}):
                _check_rows(path, file.metadata.num_rows)
            table = file.read()
    except pa.ArrowInvalid:
        raise InputError(f"{path} is no Parquet file, or a damaged one.") from None
    said = (table.schema.metadata or {}).get(METADATA.encode())
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in columns:
            raise InputError(f"{path} has two columns {name!r}.")
        try:
            columns[name] = _texts(column)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise InputError(
                f"{path}: the column {name!r} holds neither codes nor numbers."
            ) from None
    return RawTable(
        path,
        columns,
        table.num_rows,
        None if said is None else parse_about(said, f"{path} (its metadata)"),
        lambda row: f"row {row + 1}",
    )


def _check_rows(path: Path, rows: int) -> None:
    if rows > MOST_ROWS:
        raise NoPublishedTable(
            f"{path} lists {rows:,} cells, more than can be read back ({MOST_ROWS:,})."
        )


def _lines_in(path: Path) -> int:
    """How many lines follow the first one, without a look at what is in them."""
    with path.open("rb") as file:
        return sum(part.count(b"\n") for part in iter(lambda: file.read(1 << 24), b"")) - 1


def _texts(column: Any) -> pa.Array:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    made = pc.fill_null(column.cast(pa.string()), "")
    return made.combine_chunks() if made.num_chunks != 1 else made.chunk(0)


def _cells(column: Any) -> pa.Array:
    """The texts of a column of a csv file, of which some may stand behind an apostrophe."""
    texts = _texts(column)
    plain = pc.utf8_slice_codeunits(texts, 1)
    escaped = pc.and_(
        pc.starts_with(texts, "'"),
        pc.and_not(
            pc.match_substring_regex(plain, DANGEROUS), pc.match_substring_regex(plain, NUMBER)
        ),
    )
    return pc.if_else(escaped, plain, texts) if pc.any(escaped).as_py() else texts


def _read_csv(path: Path, about: dict[str, Any] | None) -> RawTable:
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
    if not first.strip():
        raise InputError(f"{path} is empty.")
    if about is not None and path.stat().st_size > _SHORTEST_LINE * MOST_ROWS:
        _check_rows(path, _lines_in(path))
    separator = "," if about is not None else max(_SEPARATORS, key=first.count)
    names = [name.strip() for name in next(csv.reader([first], delimiter=separator))]
    for name in names:
        if not name or names.count(name) > 1:
            what = f"two columns {name!r}" if name else "a column without a name"
            raise InputError(f"{path}, line 1: the file has {what}.")
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(column_names=names, skip_rows=1),
            parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid:
        raise _broken_line(path, separator, len(names)) from None

    def where(row: int) -> str:
        return f"line {_line_of(path, separator, row)}"

    columns = {text_of_cell(name): _cells(table.column(name)) for name in names}
    return RawTable(path, columns, table.num_rows, about, where)


def _broken_line(path: Path, separator: str, fields: int) -> InputError:
    """Say which line has too many or too few fields."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        try:
            for found in reader:
                if found and len(found) != fields:
                    return InputError(
                        f"{path}, line {reader.line_num}: {len(found)} fields, where the first"
                        f" line names {fields}."
                    )
        except csv.Error:
            return InputError(f"{path}, line {reader.line_num}: this is no csv file.")
    return InputError(f"{path} is no csv file in UTF-8.")


def _line_of(path: Path, separator: str, row: int) -> int:
    """The line where a row ends; texts with line ends make this more than counting."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        held = (found for found in reader if found)
        for at, _ in enumerate(held, -1):
            if at == row:
                break
        return reader.line_num


def about_file(path: Path) -> Path:
    """Where the description of a csv file stands."""
    return path.with_name(f"{path.stem}.about.json")


def about_beside(path: Path) -> dict[str, Any] | None:
    """What stands beside a csv file about it; ``None`` if there is nothing."""
    beside = about_file(path)
    try:
        return parse_about(beside.read_text(encoding="utf-8"), str(beside))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        raise InputError(f"{beside} cannot be read, or is not text in UTF-8.") from None


def parse_about(text: str | bytes, where: str) -> dict[str, Any]:
    """What a file says about itself, as plain values."""
    try:
        found = parse_json(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(f"{where} cannot be understood: it is no JSON object.")
    return found


def values_and_flags(
    raw: RawTable,
    name: str,
    signs: pa.Array | None,
    *,
    instead: Mapping[str, Mark] = _SIGNS,
    beside: Collection[str] = (),
    decimals: int | None = None,
) -> tuple[Int64, Int64]:
    """Published values, and flags for those that are none; 0 stands where a flag does.

    Args:
        raw: The file.
        name: The column of values.
        signs: The column of signs, if there is one; else signs stand among the values.
        instead: The signs that stand for a number, and the flag that each is.
        beside: The signs that stand beside a number.
        decimals: Of sums, how many digits they have behind the point at most; they may be below 0.
            Values are then whole numbers of last decimals.
    """
    text = pc.utf8_trim_whitespace(raw.columns[name])
    form = _WHOLE if decimals is None else _amount_form(decimals)
    number = _mask(pc.match_substring_regex(text, form))
    signs = text if signs is None else pc.utf8_trim_whitespace(signs)
    flags = np.zeros(raw.rows, dtype=np.int64)
    for sign, flag in instead.items():
        flags[~number & _mask(pc.equal(signs, sign.strip()))] = flag.value
    bad = ~number & (flags == 0)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise raw.mistake(row, _why(str(text[row].as_py()), instead))
    alone = pa.array([one.strip() for one in instead if one not in beside], pa.string())
    both = number & _mask(pc.is_in(signs, alone))
    if both.any():
        row = int(np.flatnonzero(both)[0])
        raise raw.mistake(row, "a cell has a number or a sign in its place, not both.")
    shown = pc.if_else(pa.array(number), text, "0")
    if decimals is None:
        digits = pc.replace_substring_regex(shown, "[.]0*$", "")
    else:
        parts = pc.extract_regex(shown, "^(?P<whole>-?[0-9]+)(?:[.](?P<part>[0-9]*))?$")
        whole, part = pc.struct_field(parts, "whole"), pc.struct_field(parts, "part")
        padded = pc.utf8_slice_codeunits(pc.utf8_rpad(part, max(decimals, 1), "0"), 0, decimals)
        digits = pc.binary_join_element_wise(whole, padded, "")
    values = digits.cast(pa.int64()).to_numpy(zero_copy_only=False)
    return values.astype(np.int64), flags


def _amount_form(decimals: int) -> str:
    """Numbers that fit 64 bits as whole numbers of last decimals; zeros may follow."""
    return f"^-?[0-9]{{1,{18 - decimals}}}([.][0-9]{{0,{decimals}}}0*)?$"


def _why(text: str, instead: Iterable[str]) -> str:
    """What is wrong with a value."""
    if not text:
        return "the cell has neither a number nor a sign that says why."
    shown = repr(text if len(text) <= 40 else f"{text[:40]}…")
    lower = pa.array([text.lower()])
    if not pc.match_substring_regex(lower, _NUMBER)[0].as_py():
        signs = ", ".join(map(repr, instead)) or "of which this table has none"
        return f"{shown} is no published count. A cell holds a whole number or a sign ({signs})."
    if text.startswith("-"):
        return f"{shown} is negative. Published counts are 0 or more."
    return f"{shown} is no whole number of a size that can be a count."


def _mask(found: Any) -> Mask:
    return np.asarray(found.to_numpy(zero_copy_only=False), dtype=bool)


def positions_of(column: pa.Array, words: list[str]) -> Int64:
    """For each text its position among words; -1 for others."""
    found = pc.index_in(column, value_set=pa.array(words, pa.string()))
    return np.asarray(pc.fill_null(found, -1).to_numpy(zero_copy_only=False), dtype=np.int64)
