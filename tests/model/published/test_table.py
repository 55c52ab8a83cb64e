"""Published tables hold one vocabulary of marks: those that stand in the place of a number."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.model.published.table import Mark, Table, marks_in
from tests.formats.made import spec


@pytest.mark.parametrize("mark", Mark)
def test_a_flag_is_a_mark_that_stands_for_a_number(mark: Mark) -> None:
    flags = np.array([0, mark, 0], dtype=np.uint8)
    published = np.array([4, 0, 6])
    if mark and mark.has_number:
        with pytest.raises(SpecError, match="stands in the place of a number"):
            Table(spec("sex"), published, flags)
        return
    table = Table(spec("sex"), published, flags)
    assert marks_in(table.flags) == ((mark,) if mark else ())
    assert [cell.text for cell in table.cells()] == ["4", mark.sign if mark else "0", "6"]
    if mark:
        with pytest.raises(SpecError, match="holds no number"):
            Table(spec("sex"), np.array([4, 5, 6]), flags)


def test_what_is_no_mark_is_refused() -> None:
    with pytest.raises(SpecError, match="stands in the place of a number"):
        Table(spec("sex"), np.array([4, 0, 6]), np.array([0, 99, 0], dtype=np.uint8))
