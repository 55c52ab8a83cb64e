"""Pictures of a perturbation: how counts change, what becomes of what, and every row.

The charts are Altair's, so that a notebook shows them; pictures are made from them without a
browser and without the internet. They show the parameters, so they are for the office only.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sdcensus.errors import UnknownName
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.quantities import share_text
from sdcensus.model.vocabulary import PerturbationChart
from sdcensus.report.charts import (
    DARK_FROM,
    GREY,
    ON_DARK,
    ON_LIGHT,
    RAMP,
    SERIES,
    SOFT,
    STRONG,
    WEAK,
    altair_library,
)
from sdcensus.report.perturbation.rows import (
    RARE,
    RowSummary,
    chances_of,
    first_and_last,
    large_counts,
    multiples_of,
    rows_of,
)
from sdcensus.report.perturbation.words import never_published, signed

if TYPE_CHECKING:
    import altair

#: Stands in every picture and on every page.
CONFIDENTIAL = "For the office only: never publish these parameters."
#: Of larger tables a part is drawn: nobody can read a picture of hundreds of rows.
MOST_ROWS = 12

_MOST_COLUMNS = 28
#: Small counts that are compared with large ones.
_COMPARED = (1, 2)
_WIDTH = 680
#: Room for the labels on the left, the same for all charts, so that they stand below each other.
_LEFT = 44
_BETWEEN = 16
#: Room for the label of a change.
_LABEL = 22
_PERCENT_AXIS = "format(datum.value * 100, 'd') + ' %'"
#: Whole percent from 1 % on; what is not zero never looks like it.
_PERCENT_LABEL = (
    "datum.share >= 0.995 ? '100' : datum.share >= 0.0095 ? format(datum.share * 100, '.0f')"
    " : datum.share >= 0.0005 ? format(datum.share * 100, '.1f') : '<.1'"
)


@dataclass(frozen=True, slots=True, repr=False)
class Picture:
    """A chart with its words.

    Attributes:
        name: Which one it is.
        title: What it shows.
        caption: How to read it.
        alternative: What it shows, for those who cannot see it.
        chart: The chart, without title.
    """

    name: PerturbationChart
    title: str
    caption: str
    alternative: str
    chart: Any

    def __repr__(self) -> str:
        return f"<Picture {self.name}: confidential>"


def pictures(
    perturbation: Perturbation, charts: Sequence[PerturbationChart | str] = ()
) -> list[Picture]:
    """Draw a perturbation: the charts that are named, or all of them."""
    drawn = {
        PerturbationChart.DISTRIBUTION: distribution,
        PerturbationChart.TRANSITIONS: transitions,
        PerturbationChart.ROWS: rows,
    }
    chosen = dict.fromkeys(map(_chart, charts)) or dict.fromkeys(PerturbationChart)
    return [drawn[perturbation_chart](perturbation) for perturbation_chart in chosen]


def sheet(title: str, shown: Sequence[Picture]) -> altair.VConcatChart:
    """Charts below each other, with a title and the reminder that they are confidential."""
    alt = altair_library()
    chart: altair.VConcatChart = alt.vconcat(
        *(
            picture.chart.properties(
                title=alt.TitleParams(picture.title, subtitle=textwrap.wrap(picture.caption, 100))
            )
            for picture in shown
        ),
        spacing=40,
        title=alt.TitleParams(title, subtitle=CONFIDENTIAL, fontSize=20, offset=26),
    )
    return chart


# ---------------------------------------------------------------- the three charts


def distribution(perturbation: Perturbation) -> Picture:
    """How far large counts change, and beside them the smallest ones."""
    alt = altair_library()
    series = _compared(perturbation)
    names = list(series)
    deviations = _span(series.values())
    data = alt.Data(
        values=[
            {"change": signed(value), "of": name, "share": chances.get(value, 0.0)}
            for name, chances in series.items()
            for value in deviations
        ]
    )
    base = alt.Chart(data).encode(
        x=_changes(deviations, _WIDTH).title("change of the count"),
        xOffset=alt.XOffset("of:N", sort=names),
    )
    bars = base.mark_bar(cornerRadiusEnd=2).encode(
        y=_probability(ticks=5).scale(domain=[0, _highest(series.values()) * 1.06]),
        color=alt.Color("of:N", sort=names)
        .scale(domain=names, range=list(SERIES[-len(names) :]))
        .title(None)
        .legend(orient="top", direction="horizontal", offset=8),
        tooltip=_tooltip("of", "change", "share"),
    )
    bar = _WIDTH * 0.8 / (len(deviations) * len(names))
    # Where bars are narrow, only large counts have numbers: all of them would run together.
    labelled = "datum.share > 0" if bar > 18 else f"datum.of == '{names[-1]}' && datum.share > 0"
    labels = (
        base.transform_filter(labelled)
        .transform_calculate(label=_PERCENT_LABEL)
        .mark_text(dy=-6, fontSize=11 if bar > 26 else 9, color=SOFT)
        .encode(y="share:Q", text="label:N")
    )
    caption = "Bars of one colour sum to 100 %; the numbers above them are percent."
    if perturbation.tail.period == 1 and len(names) > 1:
        caption += " Small counts cannot shrink as far, since nothing becomes negative."
    return Picture(
        PerturbationChart.DISTRIBUTION,
        "How far counts change",
        caption,
        "Bar chart. "
        + " ".join(f"{_capital(name)}: {_spoken(shares)}." for name, shares in series.items()),
        (bars + labels).properties(width=_WIDTH, height=230),
    )


def transitions(perturbation: Perturbation) -> Picture:
    """From each true count to what is published."""
    alt = altair_library()
    chances = _matrix(perturbation)
    counts = list(chances)
    largest = max(count + max(row) for count, row in chances.items())
    alike = perturbation.tail.period == 1 and counts[-1] >= perturbation.tail.start
    names = {count: str(count) for count in counts}
    if alike:
        names[counts[-1]] += " *"
    never, why = _never(perturbation, largest)
    size = min(46, _WIDTH // (largest + 1))
    base = alt.Chart().encode(
        x=alt.X("published:O")
        .scale(domain=list(range(largest + 1)))
        .title("published count")
        .axis(labelAngle=0, orient="top", ticks=False, domain=False, labelPadding=6),
        y=alt.Y("true:O", sort=list(names.values()))
        .title("true count")
        .axis(ticks=False, domain=False, labelPadding=6, minExtent=_LEFT),
    )
    empty = [{"true": name, "published": target} for name in names.values() for target in never]
    moved = [
        {"true": names[count], "published": count + value, "share": share}
        for count, row in chances.items()
        for value, share in row.items()
    ]
    caption = "Read a line from its true count to what may be published; it sums to 100 %."
    if alike:
        caption += f" * Larger counts change like {counts[-1]}."
    if why:
        caption += f" Grey: {why}."
    spoken = [
        f"{count}: {_spoken({count + value: share for value, share in row.items()}, str)}."
        for count, row in chances.items()
    ]
    return Picture(
        PerturbationChart.TRANSITIONS,
        "What a true count becomes",
        caption,
        f"Matrix of percentages from true counts to published counts. {' '.join(spoken)}",
        alt.layer(*_matrix_layers(base, empty, moved, font=9 if size < 30 else 11)).properties(
            width=alt.Step(size), height=alt.Step(28)
        ),
    )


def _matrix_layers(
    base: Any, empty: list[dict[str, Any]], moved: list[dict[str, Any]], *, font: int
) -> Iterator[Any]:
    """What is never published, what a count becomes, and its chance as a number."""
    alt = altair_library()
    if empty:
        yield base.properties(data=alt.Data(values=empty)).mark_rect(
            color=GREY, stroke="white", strokeWidth=2
        )
    filled = base.properties(data=alt.Data(values=moved))
    yield filled.mark_rect(stroke="white", strokeWidth=2, cornerRadius=3).encode(
        color=alt.Color("share:Q").scale(range=list(RAMP), domain=[0, 1]).legend(None),
        tooltip=_tooltip("true", "published", "share"),
    )
    light = alt.condition(f"datum.share > {DARK_FROM}", alt.value(ON_DARK), alt.value(ON_LIGHT))
    yield (
        filled.transform_calculate(label=_PERCENT_LABEL)
        .mark_text(fontSize=font)
        .encode(text="label:N", color=light)
    )


def rows(perturbation: Perturbation) -> Picture:
    """Every row as a small chart of its own."""
    alt = altair_library()
    every = rows_of(perturbation)
    # One bar of 100 % would only make the others small.
    every = every[1:] if every[0].counts == "0" and every[0].stay == 1 and every[1:] else every
    shown = first_and_last(every, MOST_ROWS)
    deviations = _span(row.chances for row in shown)
    columns = 4 if len(deviations) <= 5 else 3
    # Up to a line of the grid, the same for all.
    most = math.ceil(_highest(row.chances for row in shown) * 5 - 1e-9) / 5
    panels = [
        _panel(row, deviations, columns, most, first=at % columns == 0)
        for at, row in enumerate(shown)
    ]
    caption = "Probability of each change; the strong bar is the share that stays as it is."
    if len(every) > len(shown):
        caption += f" The first {len(shown) - 1} of {len(every)} rows, and the last one."
    return Picture(
        PerturbationChart.ROWS,
        "Every row",
        caption,
        "Small bar charts, one for each row. "
        + " ".join(f"Counts {row.counts}: {_spoken(row.chances)}." for row in shown),
        alt.concat(*panels, columns=columns, spacing=_BETWEEN),
    )


def _panel(
    row: RowSummary, deviations: Sequence[int], columns: int, most: float, *, first: bool
) -> Any:
    alt = altair_library()
    # Each has labels of its own on the left.
    width = (_WIDTH - (columns - 1) * (_LEFT + _BETWEEN)) // columns
    data = alt.Data(
        values=[
            {
                "change": signed(value),
                "share": row.chances.get(value, 0.0),
                "kind": "stays" if value == 0 else "changes",
            }
            for value in deviations
        ]
    )
    return (
        alt.Chart(data)
        .mark_bar(cornerRadiusEnd=1)
        .encode(
            x=_changes(deviations, width).title(None),
            y=_probability(ticks=3).title("probability" if first else None).scale(domain=[0, most]),
            color=alt.Color("kind:N")
            .scale(domain=["stays", "changes"], range=[STRONG, WEAK])
            .legend(None),
            tooltip=_tooltip("change", "share"),
        )
        .properties(
            width=width,
            height=84,
            title=alt.TitleParams(row.counts, fontSize=12, offset=6, frame="group"),
        )
    )


# ---------------------------------------------------------------- parts of them


def _changes(deviations: Sequence[int], width: int) -> Any:
    """The axis of changes; where there is no room for all labels, every so many have one."""
    step = math.ceil(len(deviations) * _LABEL / width)
    return (
        altair_library()
        .X("change:N", sort=[signed(value) for value in deviations])
        .axis(
            labelAngle=0,
            ticks=False,
            domain=False,
            labelPadding=6,
            values=[signed(value) for value in deviations if value % step == 0],
        )
    )


def _probability(*, ticks: int) -> Any:
    return (
        altair_library()
        .Y("share:Q")
        .title("probability")
        .axis(labelExpr=_PERCENT_AXIS, tickCount=ticks, ticks=False, domain=False, minExtent=_LEFT)
    )


def _tooltip(*names: str) -> list[Any]:
    alt = altair_library()
    return [
        alt.Tooltip(f"{name}:Q", format=".2%", title="probability")
        if name == "share"
        else alt.Tooltip(f"{name}:N")
        for name in names
    ]


def _compared(perturbation: Perturbation) -> dict[str, Mapping[int, float]]:
    """The smallest counts, where they are not treated like the others, and large ones."""
    tail = perturbation.tail
    compared: dict[str, Mapping[int, float]] = {
        f"a count of {count}": chances_of(perturbation, count)
        for count in _COMPARED
        if count < tail.start or tail.period > 1
    }
    name = "large counts together" if tail.period > 1 else f"a count of {tail.start} or more"
    return {**compared, name: large_counts(perturbation).chances}


def _matrix(perturbation: Perturbation) -> dict[int, dict[int, float]]:
    """Counts for the matrix, as many as fit, with the changes that can be seen."""
    tail = perturbation.tail
    last = tail.start if tail.period == 1 else tail.start + 2 * tail.period
    shown: dict[int, dict[int, float]] = {}
    for count in range(min(max(last, 3), MOST_ROWS) + 1):
        of = {v: share for v, share in chances_of(perturbation, count).items() if share >= RARE}
        if count > 3 and count + max(of) >= _MOST_COLUMNS:
            break
        shown[count] = of
    return shown


def _never(perturbation: Perturbation, largest: int) -> tuple[list[int], str]:
    """Counts that are never published, up to the largest of a picture, and what to say of them."""
    base = multiples_of(perturbation)
    if base:
        others = [value for value in range(largest + 1) if value % base]
        return others, f"never published, since only multiples of {base} are"
    blocked = min(perturbation.blocked, largest)
    return list(range(1, blocked + 1)), never_published(blocked) if blocked else ""


def _highest(series: Iterable[Mapping[int, float]]) -> float:
    return max(share for chances in series for share in chances.values())


def _span(series: Iterable[Mapping[int, float]]) -> list[int]:
    """Every whole number between the changes that a picture can show."""
    values = [value for shares in series for value, share in shares.items() if share >= RARE]
    return list(range(min(values), max(values) + 1))


def _spoken(chances: Mapping[int, float], word: Any = signed) -> str:
    return ", ".join(f"{word(value)} with {share_text(share)}" for value, share in chances.items())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _chart(name: PerturbationChart | str) -> PerturbationChart:
    try:
        return PerturbationChart(name)
    except ValueError:
        raise UnknownName("chart", str(name), known=list(PerturbationChart)) from None
