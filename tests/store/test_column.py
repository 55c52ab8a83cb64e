"""Codes and links that lead nowhere are refused before a kernel follows them."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import StoreError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.store.census_store import Column, check_codes

VALUES = np.array([7, 8, 9], dtype=np.uint16)


@pytest.mark.parametrize("links", [1, 2])
def test_values_are_inherited_and_links_that_lead_nowhere_are_refused(links: int) -> None:
    chain = (np.arange(3, dtype=np.uint32),) * (links - 1)

    def column(*rows: int) -> Column:
        return Column(VALUES, (np.array(rows, dtype=np.uint32), *chain), 1)

    assert column(2, int(NO_ROW), 0)[0:3].tolist() == [9, 1, 7]
    for place in (3, 0x7FFFFFFF, int(NO_ROW) - 1):
        with pytest.raises(StoreError, match="damaged"):
            column(0, place)[0:2]


@pytest.mark.parametrize("kind", [np.uint8, np.int8, np.uint32, np.int64])
def test_codes_that_no_list_has_are_refused(kind: type[np.integer]) -> None:
    check_codes(np.array([0, 2], dtype=kind), 3)
    check_codes(np.array([], dtype=kind), 0)
    with pytest.raises(StoreError, match="damaged"):
        check_codes(np.array([0, 3], dtype=kind), 3)
    if np.issubdtype(kind, np.signedinteger):
        with pytest.raises(StoreError, match="damaged"):
            check_codes(np.array([-1], dtype=kind), 3)
