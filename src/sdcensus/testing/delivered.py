"""hypothesis strategies: delivered tables with everything that trips up a format or its reader."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import Text

#: Codes of real classifications, and codes that are no identifiers.
CODES = ("1", "01", "1.1", "1_1", "0", "Y15-29", "NL1", "a b", "é", "p,q", 'x"y', "1;2", "-", "$1")
#: Labels as real lists have them.
LABELS = ("Male", "Female", "15 to 29 years", "Año 2021", "Zürich (city)", "Other", "Not stated")
#: Labels that contain what formats use for themselves.
AWKWARD_LABELS = (
    *(
        'the "old" town',
        "a;b=c",
        "[es]",
        "x\ny",
        "<b>&amp;</b>",
        "1,5",
        "  spaces  ",
        "DATA=",
        "#1",
    ),
    "long " * 80,
)
LANGUAGES = ("en", "es")

PROVENANCE = Provenance(
    method="cell-key",
    method_version="1",
    fingerprint="0f",
    data_version="v1",
    key_version=1,
    secret_id="ab",
    package_version="0.1",
    spec_hash="cd",
)


def texts(labels: Sequence[str]) -> st.SearchStrategy[Text]:
    """Texts in none, one or two languages."""
    search_strategy = st.sampled_from(labels)
    return st.one_of(
        st.just(Text()),
        search_strategy.map(Text.of),
        st.tuples(search_strategy, search_strategy).map(
            lambda both: Text.of(dict(zip(LANGUAGES, both, strict=True)))
        ),
    )


@st.composite
def delivered_axes(
    draw: st.DrawFn, column: str, *, labels: Sequence[str] = LABELS, most: int = 5
) -> DeliveredAxis:
    """An axis: a tree in any order, with or without a total, codes that may stand at two levels."""
    drawn = draw(
        st.lists(
            st.tuples(st.sampled_from(CODES), st.sampled_from(("low", "high"))),
            min_size=1,
            max_size=most,
            unique=True,
        )
    )
    codes = [code for code, _ in drawn]
    levels = [level for _, level in drawn]
    parents = [draw(st.integers(NO_PARENT, at - 1)) for at in range(len(codes))]
    total = None
    if draw(st.booleans()):
        total = len(codes)
        codes, levels = [*codes, TOTAL], [*levels, TOTAL]
        parents = [total if parent == NO_PARENT else parent for parent in parents] + [NO_PARENT]
    return DeliveredAxis(
        column=column,
        label=draw(texts(labels)),
        positions=np.arange(len(codes), dtype=np.int64),
        codes=tuple(codes),
        labels=tuple(draw(texts(labels)) for _ in codes),
        levels=tuple(levels),
        parents=tuple(parents),
        total=total,
        geography=draw(st.booleans()),
    )


@st.composite
def delivered_tables(
    draw: st.DrawFn,
    *,
    labels: Sequence[str] = LABELS,
    least_axes: int = 0,
    most_axes: int = 3,
    decimals: st.SearchStrategy[int] | None = None,
) -> DeliveredTable:
    """A delivered table.

    Args:
        draw: hypothesis's own.
        labels: What labels, headings and notes are taken from.
        least_axes, most_axes: How many axes.
        decimals: How many decimals; 0 to 3 by default.
    """
    columns = draw(
        st.lists(
            st.sampled_from(("sex", "AGE.H", "GEO N", "1st", "OBS_VALUE", "value")),
            min_size=least_axes,
            max_size=most_axes,
            unique=True,
        )
    )
    axes = tuple(draw(delivered_axes(column, labels=labels)) for column in columns)
    shape = tuple(len(axis) for axis in axes)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    digits = draw(st.integers(0, 3) if decimals is None else decimals)
    values = random.integers(-50, 10 ** random.integers(1, 12), shape, dtype=np.int64)
    share = draw(st.sampled_from((0.0, 0.3, 1.0)))
    marks = random.integers(1, len(Mark), shape, dtype=np.uint8)
    marks = np.where(random.random(shape) < share, marks, 0).astype(np.uint8)
    silent = np.isin(marks, [mark.value for mark in Mark if not mark.has_number])
    return DeliveredTable(
        name=draw(st.sampled_from(("t", "9.2", "ages by sex", "a-table-with-a-very-long-name"))),
        title=draw(texts(labels)),
        axes=axes,
        values=np.where(silent, 0, values).astype(np.int64),
        marks=marks,
        decimals=digits,
        unit=draw(texts(("Persons", "Per 100 men"))),
        rows=draw(st.one_of(st.none(), st.integers(0, len(axes)))),
        notes=tuple(draw(st.lists(texts(labels).filter(bool), max_size=2))),
        provenance=draw(st.sampled_from((None, PROVENANCE))),
        source=draw(texts(("Statistics Office", "2nd Bureau", "Oficina é"))),
        date=draw(st.sampled_from(("", "2021-05-01"))),
        signs=draw(st.sampled_from(((), ((Mark.WITHHELD, "x"),)))),
    )
