"""Arrays of text: blank becomes null, numbers become the text of a code."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: Above this a float does not tell neighbouring integers apart.
LARGEST_WHOLE = float(2**53)


def blank_to_null(texts: pa.Array) -> pa.Array:
    """Make empty texts and texts of nothing but blanks null.

    Examples:
        >>> blank_to_null(pa.array(["0412", "  ", ""])).to_pylist()
        ['0412', None, None]
    """
    if _may_hold_blanks(texts):
        texts = pc.if_else(pc.utf8_is_space(texts), pa.scalar(None, pa.string()), texts)
    empty = pc.equal(texts, "")
    if pc.any(empty).as_py():
        texts = pc.if_else(empty, pa.scalar(None, pa.string()), texts)
    return texts


def _may_hold_blanks(texts: pa.Array) -> bool:
    """Whether any byte of the texts could belong to a blank; much cheaper than looking at each."""
    _, offsets, data = texts.buffers()
    if data is None or len(texts) == 0:
        return False
    ends = np.frombuffer(offsets, np.int32)[[texts.offset, texts.offset + len(texts)]]
    held = np.frombuffer(data, np.uint8)[ends[0] : ends[1]]
    # Printable ASCII without the space is 33 to 126; unsigned subtraction wraps what is below.
    return bool((held - np.uint8(33) > 93).any())


def canonical_number(number: float) -> str:
    """The text of a number as a code: no fraction where there is none.

    Examples:
        >>> canonical_number(1.0), canonical_number(2.5), canonical_number(-0.0)
        ('1', '2.5', '0')
    """
    if abs(number) <= LARGEST_WHOLE and number == int(number):
        return str(int(number))
    return repr(float(number))


def is_whole(numbers: pa.Array) -> bool:
    """Whether every number of a float array is an integer that the float holds exactly."""
    held = numbers.drop_null().to_numpy(zero_copy_only=False)
    return bool(((np.trunc(held) == held) & (np.abs(held) <= LARGEST_WHOLE)).all())
