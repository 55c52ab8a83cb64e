"""A look at the head of an SPSS file before the library reads it.

The library trusts the widths, counts and places that a file declares; a damaged one could bring
the whole program down instead of giving an error. So the records of the head are walked through
first: every number in its bounds, behind each text the parts that its width needs, and labels for
variables that exist.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_HEADER = 176
_LAYOUT_AT = 64
_VARIABLE, _LABELS, _LABELLED, _DOCUMENT, _EXTENSION, _END = 2, 3, 4, 6, 7, 999
_LONGEST_LABEL = 1 << 16
_MOST = 1 << 20


class _DamagedError(Exception):
    """The head is not what the format says."""


def has_sound_head(path: Path) -> bool:
    """Whether the records in the head of an SPSS file are well-formed."""
    try:
        with path.open("rb") as stream:
            _Head(stream, path.stat().st_size).walk()
    except _DamagedError:
        return False
    return True


class _Head:
    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream, self._size = stream, size
        header = self._take(_HEADER)
        layouts = {one: struct.unpack_from(f"{one}i", header, _LAYOUT_AT)[0] for one in "<>"}
        order = next((one for one, layout in layouts.items() if layout in (2, 3)), None)
        if order is None:
            raise _DamagedError
        self._order = order
        self._widths: list[int] = []
        self._continuations = 0

    def walk(self) -> None:
        """Go through the records up to the end of the head."""
        while (kind := self._number(0, _END)) != _END:
            if kind != _VARIABLE and (self._continuations or not self._widths):
                raise _DamagedError
            if kind == _VARIABLE:
                self._variable()
            elif kind == _LABELS:
                self._labels()
            elif kind == _DOCUMENT:
                self._skip(80 * self._number(0, _MOST))
            elif kind == _EXTENSION:
                self._number(0, _MOST)
                self._skip(self._number(0, self._size) * self._number(0, self._size))
            else:
                raise _DamagedError

    def _variable(self) -> None:
        width = self._number(-1, 255)
        has_label, missing = self._number(0, 1), self._number(-3, 3)
        shape = self._number(0, (1 << 24) - 1) >> 16
        self._skip(12)
        # Formats 1 and 2 are those of text; some writers leave 0.
        if shape and width >= 0 and (shape in (1, 2)) != (width > 0):
            raise _DamagedError
        if (width == -1) != (self._continuations > 0):
            raise _DamagedError
        self._continuations = self._continuations - 1 if width == -1 else max(0, (width - 1) // 8)
        self._widths.append(width)
        if has_label:
            self._skip((self._number(0, _LONGEST_LABEL) + 3) // 4 * 4)
        self._skip(8 * abs(missing))

    def _labels(self) -> None:
        for _ in range(self._number(0, _MOST)):
            self._skip(8)
            self._skip(self._take(1)[0] // 8 * 8 + 7)
        if self._number(0, _END) != _LABELLED:
            raise _DamagedError
        places = [self._number(1, len(self._widths)) for _ in range(self._number(0, _MOST))]
        widths = {self._widths[place - 1] for place in places}
        # Numbers, or texts that fit into the eight bytes of a value; not both.
        if not (widths <= {0} or widths <= set(range(1, 9))):
            raise _DamagedError

    def _number(self, low: int, high: int) -> int:
        number: int = struct.unpack(f"{self._order}i", self._take(4))[0]
        if not low <= number <= high:
            raise _DamagedError
        return number

    def _take(self, size: int) -> bytes:
        taken = self._stream.read(size)
        if len(taken) < size:
            raise _DamagedError
        return taken

    def _skip(self, size: int) -> None:
        if self._stream.seek(size, 1) > self._size:
            raise _DamagedError
