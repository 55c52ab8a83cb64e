"""Records read back from their files, as the texts that stand in the csv file.

All formats give the same texts, so that files can be compared with each other and with what should
be in them. SPSS and Stata files are read by a library that did not write them, and their values
turned into codes by the files of variables and codes beside them, as any reader would.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from sdcensus.errors import InputError, MissingExtra
from sdcensus.formats.microdata.beside import CODES, VARIABLES
from sdcensus.formats.microdata.delimited import text_array
from sdcensus.formats.shared.arrow_columns import number_texts, word_numbers
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.release.release_file import ReleaseTable
from sdcensus.model.sentences import sentence

#: Values that the library reads at the same time: it makes an object of each.
_VALUES_AT_A_TIME = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class MicrodataTable:
    """What stands in a file of records. Public.

    Attributes:
        rows: How many records there are.
        columns: By name in the schema, the text of each record; the empty text where there is
            nothing.
    """

    rows: int
    columns: Mapping[str, pa.Array]

    def differs_from(self, other: MicrodataTable) -> tuple[str, ...]:
        """Names of columns that one of both does not have, or in which they differ."""
        if self.rows != other.rows:
            return tuple(dict.fromkeys([*self.columns, *other.columns]))
        names = dict.fromkeys([*self.columns, *other.columns])
        return tuple(
            name
            for name in names
            if name not in self.columns
            or name not in other.columns
            or not self.columns[name].equals(other.columns[name])
        )


def table_texts(table: ReleaseTable) -> MicrodataTable:
    """A table as its files should tell it."""
    columns = {
        column.name: _plain(
            text_array(
                column, word_numbers([code.code for code in column.codes]), slice(0, table.rows)
            )
        )
        for column in table.columns
    }
    return MicrodataTable(table.rows, columns)


def read_microdata(path: Path) -> MicrodataTable:
    """Read a file of records.

    Args:
        path: A csv, Parquet, SPSS or Stata file as ``write_microdata`` names it, with the files of
            variables and codes beside it.

    Raises:
        InputError: It cannot be read, or the files beside it do not fit.
        MissingExtra: What reads SPSS and Stata files is not installed.
    """
    ending = path.suffix.removeprefix(".")
    try:
        format = MicrodataFormat(ending)
    except ValueError:
        raise InputError(sentence("release_formats.unknown_ending", file=path.name)) from None
    try:
        if format is MicrodataFormat.CSV:
            return _delimited(path)
        if format is MicrodataFormat.PARQUET:
            return _columnar(path, _Beside.of(path))
        return _labelled(path, format, _Beside.of(path))
    except (OSError, pa.ArrowInvalid, UnicodeError, csv.Error) as error:
        raise InputError(sentence("release_formats.unreadable", file=path.name)) from error


@dataclass(frozen=True, slots=True)
class _Beside:
    """What the files beside the records say about one of them.

    Attributes:
        variables: Of each variable its line.
        codes: Of each variable the lines of its codes.
    """

    variables: Mapping[str, Mapping[str, str]]
    codes: Mapping[str, list[Mapping[str, str]]]

    @classmethod
    def of(cls, path: Path) -> _Beside:
        """Find them: the stem of the file stands in the first column of both."""
        for variables in sorted(path.parent.glob(f"*-{VARIABLES}.csv")):
            name = variables.name.removesuffix(f"-{VARIABLES}.csv")
            lines = _lines(variables)
            stems = sorted({line["file"] for line in lines}, key=len, reverse=True)
            stem = next(
                (each for each in stems if path.name == f"{each}{path.suffix}"), None
            ) or next((each for each in stems if path.name.startswith(f"{each}.")), None)
            if stem is None:
                continue
            codes: dict[str, list[Mapping[str, str]]] = {}
            for line in _lines(path.parent / f"{name}-{CODES}.csv"):
                if line["file"] == stem:
                    codes.setdefault(line["variable"], []).append(line)
            mine = {line["variable"]: line for line in lines if line["file"] == stem}
            return cls(mine, codes)
        raise InputError(sentence("release_formats.nothing_beside", file=path.name))


def _lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _plain(texts: Any) -> Any:
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    if pa.types.is_dictionary(texts.type):
        texts = texts.dictionary_decode()
    return pc.fill_null(texts.cast(pa.string()), "")


def _delimited(path: Path) -> MicrodataTable:
    with path.open(encoding="utf-8", newline="") as file:
        names = next(csv.reader(file), [])
    table = pacsv.read_csv(
        path,
        parse_options=pacsv.ParseOptions(newlines_in_values=True),
        convert_options=pacsv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
        ),
    )
    return MicrodataTable(
        table.num_rows, {name: _plain(table.column(name)) for name in table.column_names}
    )


def _columnar(path: Path, beside: _Beside) -> MicrodataTable:
    table = pq.read_table(path)
    columns = {}
    for name in table.column_names:
        texts = table.column(name)
        if pa.types.is_floating(texts.type):
            floats = texts.to_numpy()
            columns[name] = _number_texts(floats, int(beside.variables[name]["decimals"]))
        else:
            columns[name] = _plain(texts)
    return MicrodataTable(table.num_rows, columns)


def _number_texts(floats: Any, decimals: int) -> Any:
    """Numbers with their digits; nothing where there is no number."""
    floats = np.asarray(floats, dtype=np.float64)
    there = ~np.isnan(floats)
    whole = np.rint(np.where(there, floats, 0) * 10.0**decimals).astype(np.int64)
    return pc.if_else(pa.array(there), number_texts(whole, decimals), "")


def _labelled(path: Path, format: MicrodataFormat, beside: _Beside) -> MicrodataTable:
    try:
        import pyreadstat
    except ImportError as error:
        raise MissingExtra("formats", needed_for=f"Reading {format.value} files") from error
    read = pyreadstat.read_sav if format is MicrodataFormat.SAV else pyreadstat.read_dta
    names = {line[format.value]: name for name, line in beside.variables.items()}
    parts: dict[str, list[Any]] = {}
    try:
        _, about = read(path, metadataonly=True, output_format="dict")
        rows = about.number_rows or 0
        step = max(1, _VALUES_AT_A_TIME // max(len(about.column_names), 1))
        for start in range(0, max(rows, 1), step):
            values, _ = read(
                path, user_missing=True, output_format="dict", row_offset=start, row_limit=step
            )
            for name in about.column_names:
                variable = names.get(name, name)
                texts = _texts(values[name], variable, format, beside)
                parts.setdefault(variable, []).append(texts)
    except (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, ValueError) as error:
        raise InputError(sentence("release_formats.unreadable", file=path.name)) from error
    columns = {
        variable: _plain(pa.chunked_array(texts, pa.string())) for variable, texts in parts.items()
    }
    return MicrodataTable(rows, columns)


def _texts(values: Any, variable: str, format: MicrodataFormat, beside: _Beside) -> Any:
    codes = beside.codes.get(variable)
    if codes is None:
        line = beside.variables.get(variable, {"decimals": "0"})
        return _number_texts(np.array(values, dtype=np.float64), int(line["decimals"]))
    by_word = {line[format.value]: line["code"] for line in codes}
    # Few different values, many records: each value is turned into its code once.
    for kind in (pa.float64(), pa.string()):
        try:
            encoded = pa.array(values, kind).dictionary_encode()
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            continue  # numbers and texts together, where Stata has its own missing values
        words = [_word(value, format) for value in encoded.dictionary.to_pylist()]
        every = pa.array([by_word.get(word, word) for word in words], pa.string())
        texts = pa.DictionaryArray.from_arrays(encoded.indices, every).dictionary_decode()
        return pc.fill_null(texts, by_word.get("", ""))
    by_value = {value: _word(value, format) for value in set(values)}
    codes_by_value = {value: by_word.get(word, word) for value, word in by_value.items()}
    return pa.array([codes_by_value[value] for value in values], pa.string())


def _word(value: Any, format: MicrodataFormat) -> str:
    """A value as the file of codes writes it."""
    if isinstance(value, str):
        return f".{value}" if format is MicrodataFormat.DTA else value
    if value is None or value != value:
        return ""
    return str(int(value))
