"""Every share on page, console and sheet with its base, recounted from the arrays."""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from python_calamine import CalamineWorkbook

from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.cube.constraints import is_interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Table
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import speak
from sdcensus.report.assessment.counted import counted_rows, public_rows
from sdcensus.report.assessment.files import AssessmentReport
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.report.assessment.words import conclusions, lead
from sdcensus.session.assess.assessment import assess
from sdcensus.session.assess.options import AssessOptions
from sdcensus.testing.island import island
from tests.report.reading import read_page
from tests.session.assess.assessed_methods import method_of, protected_by

NAMES = ("cell key CP1", "light touch", "cell key, exempt", "withheld", "added up and withheld")
Mask = npt.NDArray[np.bool_]


@cache
def report(name: str) -> AssessmentReport:
    protected = protected_by(name)
    return assess(
        protected.audit.cube,
        protected,
        AssessOptions(compare=False),
        method=method_of(name),
        schema=island().schema,
    )


def arrays(name: str) -> tuple[Cube, Table, Mask, dict[str, Mask]]:
    """The cube, the table, where numbers are shown, and the parts."""
    protected = protected_by(name)
    cube, table = protected.audit.cube, protected.table
    assert isinstance(cube, Cube)
    assert isinstance(table, Table)
    shown = np.ones(cube.shape, dtype=bool) if table.flags is None else table.flags == 0
    inside = is_interior(cube.spec)
    return cube, table, shown, {"interior": inside, "margins": ~inside, "all": inside | True}


def of(chosen: Mask, base: Mask, weights: npt.NDArray[np.int64] | None = None) -> str:
    """So many of so many, as it is printed."""
    if weights is None:
        number, cells = int(chosen.sum()), int(base.sum())
    else:
        number, cells = int(weights[chosen].sum()), int(weights[base].sum())
    assert not (chosen & ~base).any()
    return f"{number:,} of {cells:,} ({share_text(number / cells)})" if cells else "–"


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_cells_is_what_numpy_counts(name: str) -> None:
    cube, table, shown, parts = arrays(name)
    true, published = cube.count, table.published
    few = (true == 1) | (true == 2)
    kept = few & shown & (published == true)
    above = shown & (published > 0)
    seen = above & (published <= 2)
    expected = [
        [f"{int(part.sum()):,}" for part in parts.values()],
        [of(part & (true > 0), part) for part in parts.values()],
        [of(part & few, part & (true > 0)) for part in parts.values()],
        [of(part & kept, part & few) for part in parts.values()],
        [of(part & kept, part & few, true) for part in parts.values()],
        [of(part & seen, part & above) for part in parts.values()],
        [of(part & seen & (published == true), part & seen) for part in parts.values()],
    ]
    assessment = report(name).of_counts
    rows = counted_rows(assessment, None)
    assert [texts for _, texts in rows] == expected
    page = read_page(report(name).html()).text.replace("\N{NO-BREAK SPACE}", " ")
    for label, texts in rows:
        assert f"{label} {' '.join(texts)}" in page
    public = [
        [of(part & shown & (published == 0), part & shown) for part in parts.values()],
        [of(part & seen, part & shown) for part in parts.values()],
    ]
    told = public_rows(report(name).of_counts.public, None)
    assert [texts for _, texts in told[-2:]] == public
    public_page = read_page(report(name).public_html()).text
    for label, texts in told:
        assert f"{label} {' '.join(texts)}" in public_page


@pytest.mark.parametrize("name", NAMES)
def test_the_sheet_has_a_row_for_each_part_and_they_add_up(name: str) -> None:
    content = evaluation_workbook([report(name).of_counts])
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    for sheet in ("Cells", "Given away"):
        head, *rows = book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)[2:]
        part = head.index("cells of")
        assert len(rows) % 3 == 0
        for interior, margins, whole in _threes(rows):
            assert [interior[part], margins[part], whole[part]] == [
                *("interior cells", "totals and subtotals", "all cells")
            ]
            for heading, *figures in zip(head, interior, margins, whole, strict=True):
                if all(isinstance(figure, float) for figure in figures):
                    first, second, both = map(float, figures)
                    if heading == "number":
                        continue
                    if "share" in str(heading):
                        assert min(first, second) <= both <= max(first, second)
                    else:
                        assert first + second == both


def _threes(rows: list[list[Any]]) -> list[tuple[list[Any], ...]]:
    return [tuple(rows[at : at + 3]) for at in range(0, len(rows), 3)]


@pytest.mark.parametrize("name", NAMES)
def test_totals_that_are_sums_are_counted_as_other_totals_are(name: str) -> None:
    """Also where totals are left out of what is compared, the base are all cells not empty."""
    cube, _, _, parts = arrays(name)
    assessment = report(name).of_counts
    exempt = 5 if "exempt" in name else 0
    for interval in assessment.intervals:
        assert interval.cells == int((cube.count > 0).sum()) - exempt
        bases = [given.cells for given in interval.parts.values()]
        assert bases[0] + bases[1] == bases[2]
        assert bases[0] == int((cube.count[parts["interior"]] > 0).sum())


@pytest.mark.parametrize("language", LANGUAGES)
def test_shares_name_their_base_in_every_language(language: str) -> None:
    assessment = report("cell key CP1").of_counts
    main, whole = assessment.main, assessment.counted[-1]
    assert main is not None
    base = speak("assess.base.nonempty_totals", language, n=main.cells)
    assert base in lead(assessment, language)
    interior, margins = list(main.parts.values())[:2]
    first = speak("assess.risk.of", language, n=interior.disclosed, cells=interior.cells)
    second = speak("assess.risk.of", language, n=margins.disclosed, cells=margins.cells)
    assert speak("assess.base.parts", language, interior=first, margins=second) in lead(
        assessment, language
    )
    last = conclusions(assessment, language)[-1]
    assert last.count(str(whole.visible)) >= 2
    labels = [label for label, _ in counted_rows(assessment, language)]
    assert len(set(labels)) == len(labels)
    # Two columns of one name would be one: the sheets are as wide as in English.
    for sheet in ("counted", "given_away"):
        assert _columns(language, sheet) == _columns(None, sheet)


def _columns(language: str | None, sheet: str) -> int:
    content = evaluation_workbook([report("cell key CP1").of_counts], language)
    name = speak(f"assess.sheet.{sheet}", language)
    book = CalamineWorkbook.from_filelike(BytesIO(content))
    return len(book.get_sheet_by_name(name).to_python(skip_empty_area=False)[2])
