"""The CSPro reader: a data file with one record on each line, and the dictionary beside it.

One reader reads one record type; the id items belong to every type. An item that occurs several
times becomes ``NAME_1``, ``NAME_2`` and so on. Values are text as written, without the blanks
around them, with two additions that the dictionary asks for: a number with implied decimals gets
its decimal point, and one that is zero-filled gets its zeros if they were left out, so that it
matches the codes of its value set. A blank field is null; where the dictionary calls a code
missing, not applicable or refused, it is listed in ``missing``. Lines that CSPro has marked as
erased (``~``) and empty lines are passed over. Blanks at the end of a line may be cut away.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError
from sdcensus.ingest.readers.columns import (
    Reader,
    in_slices,
)
from sdcensus.ingest.readers.csdb import CsdbReader
from sdcensus.ingest.readers.dcf import Dictionary, Item, read_dictionary
from sdcensus.ingest.readers.files import check_file, text_encoding
from sdcensus.ingest.readers.lines import TextLines, read_lines
from sdcensus.ingest.readers.record_type import RecordTypeReader
from sdcensus.model.schema.source import FileSource, is_cspro_database

_ERASED = ord("~")
_INTEGER = r"^[+-]?[0-9]+$"


class CsproReader(RecordTypeReader):
    """Reads the records of one type from one CSPro data file, or from several."""

    def __init__(self, source: FileSource) -> None:
        for path in source.paths:
            check_file(path, source.format)
            text_encoding(source.encoding, file=path.name)
        self._encoding = source.encoding
        super().__init__(source, read_dictionary(_dictionary_path(source), source.encoding))

    def _batches(self, items: list[Item], rows: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(item.name, pa.string()) for item in items])
        for path in self._paths:
            for lines in read_lines(path, self._encoding):
                records = _of_type(lines, self._dictionary, self._record.type)
                if len(records):
                    arrays = [_values(records, item) for item in items]
                    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
                    yield from in_slices(batch, rows)


def open_cspro(source: FileSource) -> Reader:
    """The reader of a CSPro text file or, by its ending, of a CSPro database."""
    databases = [is_cspro_database(path) for path in source.paths]
    if any(databases) and not all(databases):
        raise InputError(
            f"{source.paths[0].name}: text files and databases of CSPro cannot be read as one."
        )
    return CsdbReader(source) if all(databases) else CsproReader(source)


def _dictionary_path(source: FileSource) -> Path:
    if source.dictionary is not None:
        return source.dictionary
    beside = source.paths[0].with_suffix(".dcf")
    if beside.is_file():
        return beside
    raise InputError(
        f"{source.paths[0].name}: a CSPro data file needs its dictionary. "
        "Set dictionary to the .dcf file."
    )


def _of_type(lines: TextLines, dictionary: Dictionary, wanted: str) -> TextLines:
    """The lines of one record type; a line of no known type is an error."""
    first = lines.characters(0, 1)[:, 0]
    lines = lines.select((lines.lengths > 0) & (first != _ERASED))
    width = dictionary.type_width
    if not width:
        return lines
    types = lines.characters(dictionary.type_start, width)
    known = np.zeros(len(lines), np.bool_)
    mine = known
    for record in dictionary.records:
        matches = (types == _characters(record.type, width, lines)).all(axis=1)
        known = known | matches
        if record.type == wanted:
            mine = matches
    strange = np.flatnonzero(~known)
    if len(strange):
        raise InputError(
            f"{lines.file}: line {int(lines.numbers[strange[0]])} is of a record type that "
            f"{dictionary.file} does not have. The types are "
            f"{', '.join(repr(record.type) for record in dictionary.records)}, at position "
            f"{dictionary.type_start + 1} of each line."
        )
    return lines.select(mine)


def _characters(text: str, width: int, lines: TextLines) -> npt.NDArray[np.uint32]:
    padded = text[:width].ljust(width)
    if lines.cells.dtype == np.uint32:
        return np.frombuffer(padded.encode("utf-32-le"), "<u4")
    raw = padded.encode(lines.codec, errors="replace")
    return np.frombuffer(raw, np.uint8).astype(np.uint32)[:width]


def _values(lines: TextLines, item: Item) -> pa.Array:
    texts = lines.field(item.start, item.width)
    if not item.numeric:
        return texts
    if item.decimals and not item.decimal_mark:
        return _with_point(texts, item.decimals)
    if item.zero_fill and not item.decimals:
        return _zero_filled(texts, item.width)
    return texts


def _zero_filled(texts: pa.Array, width: int) -> pa.Array:
    """The zeros in front that the dictionary asks for and the file has left out.

    Examples:
        >>> _zero_filled(pa.array(["7", "07", "-7", "?"]), 3).to_pylist()
        ['007', '007', '-07', '?']
    """
    short = pc.less(pc.utf8_length(texts), width)
    if not pc.any(short).as_py():
        return texts
    numbers = pc.and_(short, pc.match_substring_regex(texts, _INTEGER))
    return pc.if_else(numbers, pc.utf8_zero_fill(texts, width=width), texts)


def _with_point(texts: pa.Array, decimals: int) -> pa.Array:
    """Put in the decimal point that is implied.

    Examples:
        >>> _with_point(pa.array(["01250", "5", "-5", "1.5", None]), 2).to_pylist()
        ['012.50', '0.05', '-0.05', '1.5', None]
    """
    signed = pc.fill_null(pc.match_substring_regex(texts, "^[+-]"), False)
    filled = pc.if_else(
        signed,
        pc.utf8_zero_fill(texts, width=decimals + 2),
        pc.utf8_zero_fill(texts, width=decimals + 1),
    )
    pointed = pc.binary_join_element_wise(
        pc.utf8_slice_codeunits(filled, 0, -decimals),
        pc.utf8_slice_codeunits(filled, -decimals),
        ".",
    )
    return pc.if_else(pc.match_substring_regex(texts, _INTEGER), pointed, texts)
