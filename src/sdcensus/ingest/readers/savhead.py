"""A look at the variables of an SPSS file before the library reads it.

The library trusts the widths that a file declares; a damaged one could bring the whole program
down instead of giving an error. So the chain of variable records is checked first: kinds and
widths in their bounds, and behind each text the parts that its width needs.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO

_HEADER = 176
_LAYOUT_AT = 64
_VARIABLE = 2
_LONGEST_LABEL = 1 << 16


def has_sound_variables(path: Path) -> bool:
    """Whether the variable records of an SPSS file are well-formed."""
    with path.open("rb") as stream:
        header = stream.read(_HEADER)
        if len(header) < _HEADER:
            return False
        order = next(
            (one for one in "<>" if struct.unpack_from(f"{one}i", header, _LAYOUT_AT)[0] in (2, 3)),
            None,
        )
        return order is not None and _variables(stream, order)


def _variables(stream: BinaryIO, order: str) -> bool:
    continuations, count = 0, 0
    while True:
        start = stream.read(4)
        if len(start) < 4:
            return False
        if struct.unpack(f"{order}i", start)[0] != _VARIABLE:
            return continuations == 0 and count > 0
        body = stream.read(28)
        if len(body) < 28:
            return False
        width, has_label, missing = struct.unpack_from(f"{order}iii", body)
        if not (-1 <= width <= 255 and has_label in (0, 1) and -3 <= missing <= 3):
            return False
        if (width == -1) != (continuations > 0):
            return False
        continuations = continuations - 1 if width == -1 else max(0, (width - 1) // 8)
        count += 1
        if has_label:
            raw = stream.read(4)
            length = struct.unpack(f"{order}i", raw)[0] if len(raw) == 4 else -1
            if not 0 <= length <= _LONGEST_LABEL:
                return False
            stream.seek((length + 3) // 4 * 4, 1)
        stream.seek(8 * abs(missing), 1)
