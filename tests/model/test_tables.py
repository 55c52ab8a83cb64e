from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.testing.island import island

SPEC = island(5).spec("sex")


@pytest.mark.parametrize("values", [[1.5, 2.0, 3.5], [1.0, np.nan, 3.0], [True, False, True]])
def test_published_values_are_whole_numbers(values: list[float]) -> None:
    with pytest.raises(SpecError, match="whole numbers"):
        Table(SPEC, np.array(values))
    with pytest.raises(SpecError, match="whole numbers"):
        SparseTable(SPEC, np.arange(3, dtype=np.uint64), np.array(values))
