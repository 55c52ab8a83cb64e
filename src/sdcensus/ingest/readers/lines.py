"""Lines of text with fields at fixed places, cut out for many lines at once.

Places are counted in characters. Bytes are characters where the text is ASCII or its encoding has
one byte for each; other text is laid out as code points first, four bytes each, so that the same
arithmetic holds.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError
from sdcensus.ingest.readers.files import text_encoding
from sdcensus.ingest.readers.text import blank_to_null
from sdcensus.ingest.readers.transcode import Utf8Stream

_BLOCK = 1 << 22
_LONGEST_LINE = 1 << 24
_LINE_FEED, _CARRIAGE_RETURN, _SPACE, _END_OF_FILE = 10, 13, 32, 26

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class TextLines:
    """Some lines of a file: all their characters in one array, and where each line lies."""

    file: str
    cells: npt.NDArray[Any]
    starts: Integers
    lengths: Integers
    numbers: Integers
    codec: str
    ended: bool = True
    """Whether the last line has a line end; only the last line of a file may have none."""

    def __len__(self) -> int:
        return len(self.starts)

    def select(self, keep: npt.NDArray[np.bool_]) -> TextLines:
        """The lines that are marked."""
        return replace(
            self,
            starts=self.starts[keep],
            lengths=self.lengths[keep],
            numbers=self.numbers[keep],
        )

    def characters(self, start: int, width: int) -> npt.NDArray[Any]:
        """The characters at some places, one row for each line, blank beyond its end."""
        if len(self) == 0:
            return np.empty((0, width), self.cells.dtype)
        step = int(self.starts[1] - self.starts[0]) if len(self) > 1 else 0
        regular = bool((np.diff(self.starts) == step).all())
        if regular and int(self.lengths.min()) >= start + width:
            size = self.cells.itemsize
            return np.lib.stride_tricks.as_strided(
                self.cells[int(self.starts[0]) + start :],
                shape=(len(self), width),
                strides=(step * size, size),
                writeable=False,
            )
        places = np.arange(start, start + width)
        inside = places < self.lengths[:, None]
        found = self.cells[np.where(inside, self.starts[:, None] + places, 0)]
        return np.where(inside, found, self.cells.dtype.type(_SPACE))

    def field(self, start: int, width: int) -> pa.Array:
        """The texts at some places without the blanks around them; null where nothing is left."""
        characters = np.ascontiguousarray(self.characters(start, width))
        if self.cells.dtype == np.uint32:
            sizes = 1 + (characters > 0x7F).astype(np.int32)
            sizes += (characters > 0x7FF).astype(np.int32) + (characters > 0xFFFF)
            data = characters.tobytes().decode("utf-32-le").encode("utf-8")
        elif (characters < 0x80).all():
            sizes, data = None, characters.tobytes()
        else:
            sizes, data = self._decoded(characters, width)
        if sizes is None:
            offsets = np.arange(0, (len(self) + 1) * width, width, dtype=np.int32)
        else:
            offsets = np.concatenate([[0], sizes.sum(axis=1).cumsum()]).astype(np.int32)
        texts = pa.StringArray.from_buffers(len(self), pa.py_buffer(offsets), pa.py_buffer(data))
        return blank_to_null(pc.ascii_trim(texts, characters=" \t"))

    def _decoded(
        self, characters: npt.NDArray[Any], width: int
    ) -> tuple[npt.NDArray[np.int32], bytes]:
        try:
            data = characters.tobytes().decode(self.codec).encode("utf-8")
        except UnicodeDecodeError as error:
            line = int(self.numbers[error.start // width])
            raise InputError(_undecodable(self.file, self.codec, line)) from error
        return utf8_sizes(self.codec)[characters], data


def read_lines(path: Path, encoding: str) -> Iterator[TextLines]:
    """The lines of a file, some megabytes at a time."""
    codec = text_encoding(encoding, file=path.name)
    single = is_single_byte(codec)
    number = 1
    carried = b""
    with Utf8Stream(path, codec, decode=not single) as stream:
        while True:
            piece = stream.read(_BLOCK)
            block = carried + piece
            cut = block.rfind(b"\n") + 1
            if piece and (not cut or len(block) - cut > _LONGEST_LINE):
                if len(block) - cut > _LONGEST_LINE:
                    raise InputError(
                        f"{path.name}: line {number + block.count(10)} is longer than "
                        f"{_LONGEST_LINE >> 20} MB. Is this a text file with one record a line?"
                    )
                carried = block
                continue
            whole, carried = (block[:cut], block[cut:]) if piece else (block, b"")
            if not piece:
                whole = whole.removesuffix(bytes([_END_OF_FILE]))
            if whole:
                lines = _cut(path.name, whole, number, codec if single else "utf-8")
                number += len(lines)
                yield lines
            if not piece:
                return


def _cut(file: str, block: bytes, number: int, codec: str) -> TextLines:
    """Find the lines of a block that ends with a line."""
    cells: npt.NDArray[Any] = np.frombuffer(block, np.uint8)
    if codec == "utf-8" and not block.isascii():
        try:
            wide = block.decode("utf-8").encode("utf-32-le")
        except UnicodeDecodeError as error:
            line = number + block[: error.start].count(b"\n")
            raise InputError(_undecodable(file, codec, line)) from error
        cells = np.frombuffer(wide, "<u4")
    ends = np.flatnonzero(cells == _LINE_FEED)
    ended = block.endswith(b"\n")
    if not ended:
        ends = np.append(ends, len(cells))
    starts = np.concatenate([[0], ends[:-1] + 1])
    before = cells[np.maximum(ends - 1, 0)]
    returns = (before == _CARRIAGE_RETURN) & (ends > starts)
    numbers = np.arange(number, number + len(starts))
    stray = np.flatnonzero(cells == _CARRIAGE_RETURN)
    if len(stray) > returns.sum():
        inside = np.setdiff1d(stray, (ends - 1)[returns])
        line = int(numbers[np.searchsorted(ends, inside[0])])
        raise InputError(
            f"{file}: line {line} holds a carriage return that ends no line. Lines end with a "
            "line feed, with or without a carriage return before it."
        )
    return TextLines(file, cells, starts, ends - returns - starts, numbers, codec, ended)


def _undecodable(file: str, codec: str, line: int) -> str:
    others = [other for other in ("utf-8", "cp1252", "latin-1") if other != codec]
    tries = " or ".join(f'encoding = "{other}"' for other in others[:2])
    return f'{file}: line {line} is not text in encoding "{codec}". Try {tries}.'


@functools.cache
def is_single_byte(codec: str) -> bool:
    """Whether every byte is one character, the lower half being ASCII.

    Examples:
        >>> is_single_byte("cp1252"), is_single_byte("utf-8"), is_single_byte("cp932")
        (True, False, False)
    """
    ascii_bytes = bytes(range(128))
    try:
        if ascii_bytes.decode(codec) != ascii_bytes.decode("ascii"):
            return False
    except UnicodeError:
        return False
    # A byte that means nothing alone but something before another one begins a longer character.
    undefined = [byte for byte in range(128, 256) if _length(bytes([byte]), codec) is None]
    followers = (0x30, 0x40, 0x80, 0xA1)
    return not any(
        _length(bytes([byte, follower, *more]), codec) is not None
        for byte in undefined
        for follower in followers
        for more in ((), (0x81,), (0x81, 0x30), (0xA1,), (0x80, 0x80))
    )


def _length(text: bytes, codec: str) -> int | None:
    try:
        return len(text.decode(codec).encode("utf-8"))
    except UnicodeError:
        return None


@functools.cache
def utf8_sizes(codec: str) -> npt.NDArray[np.int32]:
    """For each byte of a single-byte encoding how many bytes its character has in UTF-8."""
    return np.array([_length(bytes([byte]), codec) or 0 for byte in range(256)], np.int32)
