"""Numbers with a fixed number of decimals as text, without a look at single cells."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def number_texts(values: npt.NDArray[np.int64], decimals: int) -> pa.Array:
    """Integers as texts with so many of their digits behind a point.

    Examples:
        >>> number_texts(np.array([125, -7, 0]), 2).to_pylist()
        ['1.25', '-0.07', '0.00']
    """
    texts = pa.array(values).cast(pa.string())
    if not decimals:
        return texts
    below = pc.starts_with(texts, "-")
    digits = pc.utf8_lpad(pc.utf8_trim(texts, "-"), decimals + 1, "0")
    whole = pc.utf8_slice_codeunits(digits, 0, -decimals)
    parts = pc.utf8_slice_codeunits(digits, -decimals)
    return pc.binary_join_element_wise(
        pc.if_else(below, "-", ""), pc.binary_join_element_wise(whole, parts, "."), ""
    )
