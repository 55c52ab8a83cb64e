"""Numbers as text, digit by digit."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from hypothesis import example, given, strategies as st

from sdcensus.kernels.text.lines import LONGEST_NUMBER, put_number


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 6))
@example(-(2**63), 0)
@example(2**63 - 1, 6)
@example(10**18, 0)
@example(10**18 - 1, 0)
@example(0, 3)
@example(-5, 3)
def test_a_number_is_written_as_decimal_arithmetic_writes_it(value: int, decimals: int) -> None:
    out = np.zeros(LONGEST_NUMBER + decimals, dtype=np.uint8)
    end = put_number(out, 1, value, decimals)
    assert out[1:end].tobytes().decode() == format(Decimal(value).scaleb(-decimals), "f")
    assert not out[0]
    assert not out[end:].any()
