"""Pictures of a study: changes beside their design. Maps of risk and loss are in ``maps``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sdcensus.model.quantities import share_text
from sdcensus.report.charts import INK, WEAK, altair_library
from sdcensus.report.perturbation.words import signed
from sdcensus.report.study.results import DeviationProfile, Study
from sdcensus.report.study.words import called, say

#: The width of two maps beside each other.
_WIDTH = 2 * 370 + 70
#: Panels of the chart of changes stand in so many columns.
_COLUMNS = 4


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A chart with its title and what it shows, for those who cannot see it."""

    title: str
    alternative: str
    chart: Any

    def __repr__(self) -> str:
        return f"<Plot {self.title}: confidential>"


def changes(study: Study) -> Plot | None:
    """Changes of the interior cells of the most detailed table, beside their design."""
    alt = altair_library()
    table = study.tables[-1]
    shown = [
        (result.candidate.name, result.profile)
        for result in study.mains(table)
        if result.profile is not None and result.profile.observed.sum()
    ]
    if not shown:
        return None
    most = max(max(_shares(profile.observed)) for _, profile in shown)
    panels = [
        _panel(name, profile, most, say(study, "plot.share") if at % _COLUMNS == 0 else None)
        for at, (name, profile) in enumerate(shown)
    ]
    unchanged = [
        (name, _shares(profile.observed)[profile.deviations.index(0)]) for name, profile in shown
    ]
    spoken = [
        say(
            study,
            "plot.unchanged",
            name=name,
            share=share_text(share, study.language, digits=2),
        )
        for name, share in unchanged
    ]
    return Plot(
        say(study, "section.changes"),
        say(study, "plot.changes", table=called(study, table), shares="; ".join(spoken)),
        alt.concat(*panels, columns=_COLUMNS, spacing=14),
    )


def _shares(cells: npt.NDArray[Any], of: int | None = None) -> list[float]:
    """The share of each change, over all groups of counts."""
    whole = int(cells.sum()) if of is None else of
    return [float(share) for share in cells.sum(axis=0) / whole]


def _panel(name: str, profile: DeviationProfile, most: float, title: str | None) -> Any:
    """The changes of one method as bars, its design as lines."""
    alt = altair_library()
    signs = [signed(value) for value in profile.deviations]
    observed = _shares(profile.observed)
    expected = _shares(profile.expected, int(profile.observed.sum()))
    values = [
        {"change": change, "observed": seen, "expected": wanted}
        for change, seen, wanted in zip(signs, observed, expected, strict=True)
    ]
    step = 1 if len(signs) <= 7 else 2
    labelled = [signed(value) for value in profile.deviations if value % step == 0]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("change:N", sort=signs)
        .title(None)
        .axis(labelAngle=0, ticks=False, domain=False, labelPadding=5, values=labelled)
    )
    y = (
        alt.Y("observed:Q")
        .title(title)
        .scale(domain=[0, 1.05 * most], nice=False)
        .axis(
            labelExpr="format(datum.value * 100, 'd') + ' %'",
            tickCount=3,
            ticks=False,
            domain=False,
            minExtent=34,
        )
    )
    bars = base.mark_bar(color=WEAK, cornerRadiusEnd=1).encode(y=y)
    design = base.mark_tick(color=INK, thickness=2, width={"band": 1.1}).encode(
        y=alt.Y("expected:Q")
    )
    return (bars + design).properties(
        width=(_WIDTH - (_COLUMNS - 1) * 44) // _COLUMNS,
        height=84,
        title=alt.TitleParams(name, fontSize=12, offset=6, frame="group"),
    )
