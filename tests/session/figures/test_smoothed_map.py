"""Smoothed pictures: a kernel of stated width over published values, against sums by hand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError, UnknownName
from sdcensus.formats.write import write_table
from sdcensus.kernels.cells.smoothing import smoothed
from sdcensus.model.published.table import Mark
from sdcensus.model.text import LANGUAGES
from sdcensus.report.smoothed_map import SmoothedMap
from sdcensus.session.figures.smoothed_map import smoothed_map
from sdcensus.testing.grid_island import grid_island
from tests.session.answer.services import METHOD


@given(
    rows=st.integers(1, 6),
    columns=st.integers(1, 6),
    reach=st.floats(0.5, 5, allow_nan=False),
    seed=st.integers(0, 1_000),
)
def test_the_kernel_is_that_of_its_formula(
    rows: int, columns: int, reach: float, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    values = draw.integers(0, 90, (rows, columns)).astype(float)
    known = draw.random((rows, columns)) < 0.7
    told = smoothed(values, known, reach)
    for (row, column), mean in np.ndenumerate(told):
        pairs = [
            ((1 - distance / reach**2) ** 2, values[other])
            for other in zip(*np.nonzero(known), strict=True)
            for distance in [(other[0] - row) ** 2 + (other[1] - column) ** 2]
            if distance < reach**2
        ]
        weight = sum(weight for weight, _ in pairs)
        if weight <= 0:
            assert np.isnan(mean)
        else:
            assert mean == pytest.approx(sum(w * value for w, value in pairs) / weight)


def written(tmp_path: Path, *by: str, withheld: int = 0) -> Path:
    protected = METHOD.protect(grid_island(8, 6, 2_000).tabulate(*by))
    table = protected.table.whole()
    if withheld:
        marks = np.zeros(table.shape, dtype=np.uint8)
        marks.reshape(-1)[:withheld] = Mark.WITHHELD
        table = type(table)(table.spec, np.where(marks, 0, table.published), marks)
    return write_table(table, tmp_path / "grid.csv", provenance=protected.provenance)


def test_a_picture_says_what_it_is_and_holds_no_number(tmp_path: Path) -> None:
    path = written(tmp_path, "square", withheld=3)
    picture = smoothed_map(path, 2_000)
    assert picture.values.shape == (6, 8)
    assert picture.withheld == 3
    drawing = picture.svg()
    assert drawing == smoothed_map(path, 2_000).svg()
    assert "A picture, not data" in drawing
    assert "2,000 m" in drawing
    assert drawing != smoothed_map(path, 4_000).svg()
    texts = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawing))
    assert set(re.findall(r"\d[\d,]*", texts)) == {"2,000", "3"}
    for language in LANGUAGES:
        assert "{" not in smoothed_map(path, 2_000, language).svg()


def test_other_axes_are_taken_at_their_totals(tmp_path: Path) -> None:
    (tmp_path / "sex").mkdir()
    alone, by_sex = written(tmp_path, "square"), written(tmp_path / "sex", "square", "sex")
    whole, other = smoothed_map(alone, 3_000), smoothed_map(by_sex, 3_000)
    assert np.array_equal(whole.values, other.values)
    # It shows everybody: the picture is not said to be by sex.
    assert "square" in whole.title.casefold()
    assert whole.title == other.title


@given(st.text("abc ", min_size=1, max_size=400))
def test_words_are_within_the_picture(title: str) -> None:
    picture = SmoothedMap(title, np.ones((2, 2)), 1_000, 0)
    lines = re.findall(r'<text[^>]* y="(\d+)" font-size="17">([^<]*)</text>', picture.svg())
    assert "".join(text for _, text in lines).replace(" ", "") == title.replace(" ", "")
    assert all(len(text) <= 76 for _, text in lines)
    (image,) = re.findall(r'<image x="\d+" y="(\d+)"', picture.svg())
    assert all(int(y) < int(image) for y, _ in lines)


def test_what_cannot_be_smoothed_is_refused(tmp_path: Path) -> None:
    for name in ("towns", "parts"):
        (tmp_path / name).mkdir()
    with pytest.raises(SpecError, match="no axis of the table is a grid"):
        smoothed_map(written(tmp_path / "towns", "municipality"), 2_000)
    with pytest.raises(SpecError, match="no total of"):
        smoothed_map(written(tmp_path / "parts", "square", "sex-total"), 2_000)
    path = written(tmp_path, "square")
    for width in (0, -5, 999, 100_001):
        with pytest.raises(SpecError, match="between 1,000 and 100,000 m"):
            smoothed_map(path, width)
    with pytest.raises(UnknownName, match="language"):
        smoothed_map(path, 2_000, "xx")
