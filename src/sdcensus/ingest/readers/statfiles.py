"""SPSS, Stata and SAS files, read in pieces, with their labels offered as code lists.

All three keep most numbers as floats. A column whose numbers are integers throughout is delivered
as integers; finding that out takes one pass over the float columns of a file that is too large to
be read at once. Dates and times become ISO text.

Missing values:

- SPSS: user-missing values stay what they are, codes such as 9, and are listed in ``missing``.
- Stata: ``.a`` to ``.z`` become the text codes ``".a"`` to ``".z"`` where the file has a label for
  them; the column is then text throughout. Without a label they are null like ``.``: the file
  does not say what they mean.
- SAS: the same for ``.A`` to ``.Z``. Labels are taken from a catalog beside the file: the file's
  own name or ``formats``, with the ending ``.sas7bcat``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError, MissingExtra
from sdcensus.ingest.readers.columns import (
    BATCH_ROWS,
    ColumnKind,
    SourceColumn,
    checked_names,
    in_slices,
    positions,
    same_columns,
)
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.savhead import has_sound_head
from sdcensus.ingest.readers.text import (
    LARGEST_WHOLE,
    blank_to_null,
    canonical_number,
    is_whole,
)
from sdcensus.model.schema.source import FileFormat, FileSource

#: The library makes an object of every value, so only so many are read at a time.
_VALUES_PER_READ = 8_000_000
#: A range of missing values is listed code by code up to this length.
_LONGEST_RANGE = 1000
_ARROW_TYPES = {
    ColumnKind.TEXT: pa.string(),
    ColumnKind.INTEGER: pa.int64(),
    ColumnKind.DECIMAL: pa.float64(),
}


@dataclass(frozen=True, slots=True)
class _Known:
    """What the head of a file says."""

    path: Path
    rows: int | None
    names: tuple[str, ...]
    labels: Mapping[str, str]
    value_labels: Mapping[str, Mapping[Any, str]]
    missing_ranges: Mapping[str, Sequence[Mapping[str, Any]]]
    types: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, str] = field(default_factory=dict)


class StatisticsReader:
    """Reads files of SPSS, Stata or SAS, one or several with the same columns."""

    def __init__(self, source: FileSource) -> None:
        for path in source.paths:
            check_file(path, source.format)
        self._read = _library(source.format)
        self._files = tuple(_head(path, self._read, source.format) for path in source.paths)
        first = self._files[0]
        checked_names(first.names, file=self.name)
        for other in self._files[1:]:
            same_columns(first.names, other.names, file=other.path.name, as_in=self.name)
        self._kinds: dict[str, ColumnKind] = {}
        for name in first.names:
            kind = self._certain_kind(name)
            if kind is not None:
                self._kinds[name] = kind

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._files[0].path.name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._files[0].names

    def columns(self) -> tuple[SourceColumn, ...]:
        """The variables with their labels, value labels and missing values."""
        first = self._files[0]
        self._find_kinds(first.names)
        return tuple(
            SourceColumn(
                name,
                self._kinds[name],
                label=first.labels.get(name, ""),
                value_labels=_codes(first, name),
                missing=_missing(first, name),
            )
            for name in first.names
        )

    def rows(self) -> int | None:
        """The number of rows of all the files, if their heads say it."""
        counts = [file.rows for file in self._files]
        return None if None in counts else sum(count or 0 for count in counts)

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked variables in file order."""
        positions(columns, self._files[0].names, file=self.name)
        return self._batches(tuple(columns), rows)

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        names = tuple(dict.fromkeys(columns))
        pieces = self._pieces(names)
        total = self.rows()
        if total is not None and total <= _rows_per_read(names):
            # Small enough to be held: one reading tells the kinds and gives the rows.
            held = list(pieces)
            self._find_kinds(names, held)
            pieces = iter(held)
        self._find_kinds(names)
        schema = pa.schema([(name, _ARROW_TYPES[self._kinds[name]]) for name in columns])
        for piece in pieces:
            arrays = {name: self._deliver(name, piece[name]) for name in names}
            batch = pa.RecordBatch.from_arrays([arrays[name] for name in columns], schema=schema)
            yield from in_slices(batch, rows)

    def _pieces(self, names: tuple[str, ...]) -> Iterator[dict[str, list[Any]]]:
        """The values of the columns, a limited number at a time, in file order."""
        size = _rows_per_read(names)
        for file in self._files:
            done = 0
            while file.rows is None or done < file.rows:
                values = _read_rows(file, self._read, names, done, size)
                found = len(values[names[0]])
                done += found
                if found:
                    yield values
                if found < size:
                    break
            if file.rows is not None and done < file.rows:
                raise InputError(
                    f"{file.path.name}: the file is cut off: it has fewer rows than its head "
                    "says. Copy it again."
                )

    def _certain_kind(self, name: str) -> ColumnKind | None:
        """The kind, where the head of the files tells it for certain."""
        types = {file.types.get(name, "") for file in self._files}
        if types == {"string"} or any(_has_letters(file, name) for file in self._files):
            return ColumnKind.TEXT
        if "string" in types:
            raise InputError(
                f"{self.name} and the files that belong to it: column {name!r} is text in some "
                "and a number in others. Write it in the same way in all of them."
            )
        # A Stata format that begins with %t or %d makes a date of the integer.
        formats = {file.formats.get(name, "").lstrip("%-")[:1] for file in self._files}
        if types <= {"int8", "int16", "int32"} and not formats & {"t", "d"}:
            return ColumnKind.INTEGER
        return None

    def _find_kinds(
        self, names: Sequence[str], pieces: Sequence[dict[str, list[Any]]] | None = None
    ) -> None:
        """Look at the values of the columns whose kind is still open."""
        still = tuple(name for name in names if name not in self._kinds)
        if not still:
            return
        found = dict.fromkeys(still, ColumnKind.INTEGER)
        for piece in self._pieces(still) if pieces is None else pieces:
            for name in still:
                found[name] = max(found[name], _kind_of(piece[name]), key=_GENERALITY.index)
        self._kinds.update(found)

    def _deliver(self, name: str, values: list[Any]) -> pa.Array:
        kind = self._kinds[name]
        if kind is not ColumnKind.TEXT:
            floats = _floats(values)
            assert floats is not None
            return floats.cast(_ARROW_TYPES[kind])
        if self._files[0].types.get(name) == "string":
            return blank_to_null(pa.array(values, pa.string()))
        letters = {
            letter
            for file in self._files
            for letter in file.value_labels.get(name, {})
            if isinstance(letter, str)
        }
        return pa.array([_text(value, letters) for value in values], pa.string())


def described_columns(path: Path, kind: FileFormat) -> tuple[SourceColumn, ...]:
    """The variables with all that the head of a file says about them; no record is read."""
    check_file(path, kind)
    head = _head(path, _library(kind), kind)
    return tuple(
        SourceColumn(
            name,
            ColumnKind.TEXT,
            label=head.labels.get(name, ""),
            value_labels=_codes(head, name),
            missing=_missing(head, name),
        )
        for name in head.names
    )


_GENERALITY = (ColumnKind.INTEGER, ColumnKind.DECIMAL, ColumnKind.TEXT)


def _rows_per_read(names: Sequence[str]) -> int:
    return max(1, _VALUES_PER_READ // len(names))


def _kind_of(values: list[Any]) -> ColumnKind:
    floats = _floats(values)
    if floats is None:
        return ColumnKind.TEXT
    return ColumnKind.INTEGER if is_whole(floats) else ColumnKind.DECIMAL


def _floats(values: list[Any]) -> pa.Array | None:
    """The numbers with null for what is missing; None if there are dates among them."""
    for numbers in (values, [None if isinstance(value, str) else value for value in values]):
        try:
            floats = pa.array(numbers, pa.float64(), from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue
        return pc.if_else(pc.is_finite(floats), floats, pa.scalar(None, pa.float64()))
    return None


def _text(value: Any, letters: set[str]) -> str | None:
    """A date as ISO text, a labelled missing value as its code, a number as a code."""
    if value is None:
        return None
    if isinstance(value, str):
        return f".{value}" if value in letters else None
    if isinstance(value, int | float):
        return None if value != value else canonical_number(value)
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def _library(kind: FileFormat) -> Callable[..., tuple[dict[str, list[Any]], Any]]:
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra("formats", needed_for=f"Reading {kind} files") from error
    readers: dict[FileFormat, Callable[..., Any]] = {
        FileFormat.SPSS: pyreadstat.read_sav,
        FileFormat.STATA: pyreadstat.read_dta,
        FileFormat.SAS: pyreadstat.read_sas7bdat,
    }
    return readers[kind]


def _call(path: Path, read: Callable[..., Any], **options: Any) -> tuple[dict[str, Any], Any]:
    """Read with the library; whatever it raises about the file becomes an InputError."""
    try:
        values, about = read(path, output_format="dict", **options)
    except Exception as error:
        # Besides its own errors the library stumbles over damaged files in many ways.
        encoding = isinstance(error, UnicodeError) or "encoding" in str(error).lower()
        hint = (
            "Its texts are not in the encoding that it names: save it again as Unicode."
            if encoding
            else "It is damaged, cut off or not of this format. Copy or export it again."
        )
        raise InputError(f"{path.name}: the file cannot be read. {hint}") from error
    return values, about


def _head(path: Path, read: Callable[..., Any], kind: FileFormat) -> _Known:
    if kind is FileFormat.SPSS and not has_sound_head(path):
        raise InputError(f"{path.name}: the head of the file is damaged. Export the file again.")
    _, about = _call(path, read, metadataonly=True, user_missing=True)
    if not about.column_names or not all(about.column_names):
        raise InputError(f"{path.name}: the file names no variables, or not all. Export it again.")
    value_labels = dict(about.variable_value_labels)
    if kind is FileFormat.SAS:
        value_labels |= _catalog_labels(path, dict(about.variable_to_label))
    rows = about.number_rows
    return _Known(
        path=path,
        rows=rows if isinstance(rows, int) and rows >= 0 else None,
        names=tuple(about.column_names),
        labels={name: text or "" for name, text in about.column_names_to_labels.items()},
        value_labels=value_labels,
        missing_ranges=dict(about.missing_ranges),
        types=dict(about.readstat_variable_types),
        formats={name: text or "" for name, text in about.original_variable_types.items()},
    )


def _catalog_labels(path: Path, formats: Mapping[str, str]) -> dict[str, Mapping[Any, str]]:
    """The value labels of a SAS file, if their catalog lies beside it."""
    import pyreadstat

    for catalog in (path.with_suffix(".sas7bcat"), path.with_name("formats.sas7bcat")):
        if catalog.is_file():
            _, about = _call(catalog, pyreadstat.read_sas7bcat)
            known = about.value_labels
            return {name: known[one] for name, one in formats.items() if one in known}
    return {}


def _read_rows(
    file: _Known, read: Callable[..., Any], names: tuple[str, ...], start: int, rows: int
) -> dict[str, list[Any]]:
    values, _ = _call(
        file.path,
        read,
        usecols=list(names),
        row_offset=start,
        row_limit=rows,
        user_missing=True,
    )
    return values


def _has_letters(file: _Known, name: str) -> bool:
    """Whether a number has labels for extended missing values."""
    if file.types.get(name) == "string":
        return False
    return any(isinstance(code, str) for code in file.value_labels.get(name, {}))


def _code(value: Any, *, letter: bool) -> str:
    if isinstance(value, str):
        return f".{value}" if letter else value.strip()
    return _text(value, set()) or ""


def _codes(file: _Known, name: str) -> tuple[tuple[str, str], ...]:
    letter = _has_letters(file, name)
    labels = file.value_labels.get(name, {})
    return tuple((_code(value, letter=letter), text) for value, text in labels.items())


def _missing(file: _Known, name: str) -> tuple[str, ...]:
    """The declared missing codes; of long or open ranges those that have labels."""
    labelled = file.value_labels.get(name, {})
    codes: dict[str, None] = {}
    for one in file.missing_ranges.get(name, ()):
        low, high = one["lo"], one["hi"]
        if low == high:
            codes[_code(low, letter=False)] = None
        elif _are_whole(low, high) and high - low < _LONGEST_RANGE:
            codes.update((str(code), None) for code in range(int(low), int(high) + 1))
        else:
            inside = (code for code in labelled if type(code) is type(low) and low <= code <= high)
            codes.update((_code(code, letter=False), None) for code in inside)
    if _has_letters(file, name):
        codes.update((f".{code}", None) for code in labelled if isinstance(code, str))
    return tuple(codes)


def _are_whole(*numbers: Any) -> bool:
    return all(
        isinstance(number, int | float) and abs(number) <= LARGEST_WHOLE and number == int(number)
        for number in numbers
    )
