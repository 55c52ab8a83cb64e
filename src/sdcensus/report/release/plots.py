"""Pictures of an assessment: uniques along the ladder, sizes beside surveys, intruders."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from sdcensus.model.quantities import number_text, share_text, written_as
from sdcensus.report.charts import BAD, INK, SERIES, STRONG, WEAK, altair_library
from sdcensus.report.release.results import LadderRow, ReleaseAssessment
from sdcensus.report.release.tables import design_name, missing_text, other_way, say
from sdcensus.report.study.plots import Plot

_WIDTH, _HEIGHT, _BAR = 640, 300, 30
#: Beside each other, and how many panels of designs are drawn at most.
_PANEL, _COLUMNS, _MOST_PANELS = 330, 2, 8
#: Lines are told apart by colour, dashes and marks, so that grey print tells them apart too.
_COLOURS = (STRONG, SERIES[0], SERIES[1], INK, BAD, WEAK)
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4])
_MARKS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
#: Designs whose last points differ by more are drawn on a scale of logarithms.
_BENT = 20
#: Longer names of keys are cut in pictures; tables have them whole.
_LABEL = 28


def key_names(
    ladders: Iterable[Sequence[LadderRow]], language: str | None
) -> tuple[list[str], list[list[str]]]:
    """The names of all keys in the order of the ladder, and those of the steps of each design.

    A design that does not hold a key has no point there. Names that two keys share get a number.
    """
    every: list[str] = []
    own: list[list[str]] = []
    for ladder in ladders:
        names: list[str] = []
        for row in ladder:
            label = row.key.show(language) or str(row.step)
            label = label if len(label) <= _LABEL else f"{label[: _LABEL - 1].rstrip()}…"
            name, number = label, 2
            while name in names:
                name, number = f"{label} ({number})", number + 1
            names.append(name)
        own.append(names)
    for names in sorted(own, key=len, reverse=True):
        before = -1
        for name in names:
            if name not in every:
                every.insert(before + 1, name)
            before = every.index(name)
    return every, own


def ladder_plot(assessment: ReleaseAssessment, language: str | None) -> Plot | None:
    """Population uniques along the ladder, a line for each design; in percent on the right."""
    designs = [design for design in assessment.designs if design.ladder]
    if not designs:
        return None
    alt = altair_library()
    order, own = key_names([design.ladder for design in designs], language)
    values = [
        {
            "key": name,
            "design": design_name(design, language),
            "uniques": row.population_uniques,
        }
        for design, names in zip(designs, own, strict=True)
        for name, row in zip(names, design.ladder, strict=True)
    ]
    names = [design_name(design, language) for design in designs]
    most = max(1.0, 1.06 * max(row.population_uniques for each in designs for row in each.ladder))
    ends_at = [each.ladder[-1].population_uniques for each in designs]
    bent = max(ends_at) >= _BENT * max(1, min(ends_at)) and len(designs) > 1
    base = alt.Chart(alt.Data(values=values)).encode(x=_keys(order, language))
    legend = alt.Legend(title=None, orient="top", symbolStrokeWidth=2, columns=6)
    lines = base.mark_line(strokeWidth=2, aria=False).encode(
        y=_uniques(most, language, bent=bent),
        color=alt.Color("design:N", sort=names, scale=_scale(names, _COLOURS), legend=legend),
        strokeDash=alt.StrokeDash("design:N", sort=names, scale=_scale(names, _DASHES)),
    )
    points = base.mark_point(aria=False, filled=True, size=52).encode(
        y=_uniques(most, language, bent=bent),
        color=alt.Color("design:N", sort=names, scale=_scale(names, _COLOURS)),
        shape=alt.Shape("design:N", sort=names, scale=_scale(names, _MARKS)),
    )
    chart = alt.layer(lines, points)
    if assessment.persons:
        percent = _percent_axis(base, most, assessment.persons, language, bent=bent)
        chart = alt.layer(chart, percent).resolve_scale(y="independent")
    ends = "; ".join(
        say(
            "chart.end",
            language,
            design=design.name,
            n=design.ladder[-1].population_uniques,
            share=_percent(design.ladder[-1].population_uniques, assessment.persons, language),
        )
        for design in designs
    )
    return Plot(
        say("chart.ladder", language),
        say("chart.ladder_words", language, ends=ends),
        chart.properties(width=_WIDTH, height=_HEIGHT),
    )


def _percent(number: int, whole: int, language: str | None) -> str:
    return share_text(number / whole if whole else None, language, digits=2)


def _keys(order: Sequence[str], language: str | None, *, title: bool = True) -> Any:
    alt = altair_library()
    slanted = len(order) > 4
    axis = alt.Axis(
        labelAngle=-35 if slanted else 0,
        labelAlign="right" if slanted else "center",
        labelLimit=170,
        labelOverlap=False,
        grid=False,
    )
    words = say("chart.keys", language) if title else None
    return alt.X("key:N", sort=list(order), title=words, axis=axis)


def _uniques(
    most: float, language: str | None, title: str | None = None, *, bent: bool = False
) -> Any:
    alt = altair_library()
    key = "chart.uniques_logarithmic" if bent else "chart.uniques"
    words = say(key, language) if title is None else title
    ticks = {"values": _powers(1.0, most)} if bent else {"tickMinStep": 1, "tickCount": 5}
    axis = alt.Axis(labelExpr=_label_expression(",.0f", language), **ticks)
    scale = alt.Scale(domain=[0, most], nice=False, **(_bent(1.0) if bent else {}))
    return alt.Y("uniques:Q", title=words or None, axis=axis, scale=scale)


def _bent(unit: float) -> dict[str, Any]:
    """A scale that has a zero, and tells lines apart of which one is a hundred times the other."""
    return {"type": "symlog", "constant": unit}


def _powers(first: float, most: float) -> list[float]:
    """Zero and the powers of ten up to the top of an axis."""
    powers = [0.0]
    while first <= most:
        powers.append(first)
        first *= 10
    return powers


def _percent_axis(
    base: Any, most: float, population: int, language: str | None, *, bent: bool
) -> Any:
    """The same heights once more, as shares of the population."""
    alt = altair_library()
    top = 100 * most / population
    digits = 0 if top >= 10 else 1 if top >= 1 else 2 if top >= 0.1 else 4
    form = f",.{digits}f"
    ticks: dict[str, Any] = {"tickCount": 5}
    if bent:
        # From the power of ten that is next above one person.
        lowest = math.ceil(math.log10(100 / population))
        form, ticks = ",.4~f", {"values": _powers(10.0**lowest, top)}
    axis = alt.Axis(
        orient="right",
        grid=False,
        labelExpr=f"{_label_expression(form, language)} + ' %'",
        **ticks,
    )
    percent = f"datum.uniques / {population} * 100"
    return (
        base.transform_calculate(percent=percent)
        .mark_point(aria=False, opacity=0)
        .encode(
            y=alt.Y(
                "percent:Q",
                title=say("chart.percent", language),
                axis=axis,
                scale=alt.Scale(
                    domain=[0, top], nice=False, **(_bent(100 / population) if bent else {})
                ),
            )
        )
    )


def _label_expression(form: str, language: str | None) -> str:
    """Numbers of an axis as a language writes them."""
    thousands, decimals = written_as(",", language), written_as(".", language)
    plain = f"format(datum.value, '{form}')"
    marked = f"replace(replace({plain}, /,/g, '~'), '.', '{decimals}')"
    return f"replace({marked}, /~/g, '{thousands}')"


def _scale(names: Sequence[str], kinds: Sequence[Any]) -> Any:
    alt = altair_library()
    chosen = [kinds[at % len(kinds)] for at in range(len(names))]
    return alt.Scale(domain=list(names), range=chosen)


def missing_plot(assessment: ReleaseAssessment, language: str | None) -> Plot | None:
    """Population uniques with missing keys counted both ways, a panel for each design."""
    designs = [design for design in assessment.designs if design.ladder and design.ladder_otherwise]
    if not designs:
        return None
    alt = altair_library()
    ways = [
        missing_text(way, language) for way in (assessment.missing, other_way(assessment.missing))
    ]
    panels = []
    for at, design in enumerate(designs[:_MOST_PANELS]):
        order, own = key_names([design.ladder, design.ladder_otherwise], language)
        values = [
            {"key": name, "way": way, "uniques": row.population_uniques}
            for way, names, ladder in zip(
                ways, own, (design.ladder, design.ladder_otherwise), strict=True
            )
            for name, row in zip(names, ladder, strict=True)
        ]
        title = None if at % _COLUMNS == 0 else ""
        every = (*design.ladder, *design.ladder_otherwise)
        most = max(1.0, 1.06 * max(row.population_uniques for row in every))
        color = alt.Color(
            "way:N",
            sort=ways,
            scale=_scale(ways, (STRONG, SERIES[0])),
            legend=alt.Legend(title=None, orient="top", labelLimit=400),
        )
        base = alt.Chart(alt.Data(values=values)).encode(
            x=_keys(order, language, title=False), y=_uniques(most, language, title), color=color
        )
        dash = alt.StrokeDash("way:N", sort=ways, scale=_scale(ways, _DASHES))
        lines = base.mark_line(strokeWidth=2, aria=False).encode(strokeDash=dash)
        title_of = alt.TitleParams(design_name(design, language), fontSize=12)
        panel = lines + base.mark_point(aria=False, filled=True)
        panels.append(panel.properties(width=_PANEL, height=190, title=title_of))
    ends = "; ".join(
        say(
            "chart.both",
            language,
            design=design.name,
            first=design.ladder[-1].population_uniques,
            second=design.ladder_otherwise[-1].population_uniques,
        )
        for design in designs
    )
    words = say("chart.missing_words", language, first=ways[0], second=ways[1], ends=ends)
    return Plot(
        say("chart.missing", language), words, alt.concat(*panels, columns=_COLUMNS, spacing=24)
    )


def sizes_plot(assessment: ReleaseAssessment, language: str | None) -> Plot | None:
    """The sizes of the files beside those of the country's surveys."""
    households = all(design.households is not None for design in assessment.designs) and any(
        survey.households for survey in assessment.surveys
    )
    sizes = [
        (
            design_name(design, language),
            (design.households or 0) if households else design.persons,
            "file",
        )
        for design in assessment.designs
    ]
    sizes += [
        (survey.name, survey.households if households else survey.persons, "survey")
        for survey in assessment.surveys
    ]
    shown = [each for each in sizes if each[1]]
    if not any(kind == "survey" for _, _, kind in shown):
        return None
    alt = altair_library()
    kinds = {kind: say(f"kind.{kind}", language) for kind in ("file", "survey")}
    values = [
        {"name": name, "number": number, "text": number_text(number, language), "kind": kinds[kind]}
        for name, number, kind in shown
    ]
    most = max(number for _, number, _ in shown)
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y(
            "name:N",
            sort=[name for name, _, _ in shown],
            title=None,
            axis=alt.Axis(labelLimit=260, ticks=False, domain=False),
        ),
        x=alt.X("number:Q", axis=None, scale=alt.Scale(domain=[0, most * 1.15], nice=False)),
    )
    bars = base.mark_bar(aria=False, cornerRadiusEnd=2).encode(
        color=alt.Color(
            "kind:N",
            sort=list(kinds.values()),
            scale=alt.Scale(domain=list(kinds.values()), range=[STRONG, WEAK]),
            legend=alt.Legend(title=None, orient="top"),
        )
    )
    text = base.mark_text(align="left", dx=5, fontSize=12, color=INK).encode(text="text:N")
    unit = "households" if households else "persons"
    listed = "; ".join(f"{value['name']}: {value['text']}" for value in values)
    return Plot(
        say(f"chart.sizes_{unit}", language),
        say("chart.sizes_words", language, bars=listed),
        (bars + text).properties(width=430, height=_BAR * len(values)),
    )


def intruder_plot(assessment: ReleaseAssessment, language: str | None) -> Plot | None:
    """How many claims of each intruder are right and wrong."""
    rows = [(design.name, row) for design in assessment.designs for row in design.intruders]
    if not rows or not any(row.claims for _, row in rows):
        return None
    alt = altair_library()
    right, wrong = say("chart.right", language), say("chart.wrong", language)
    order = [f"{name} · {row.name}" for name, row in rows]
    values = [
        {"name": line, "kind": kind, "number": number, "place": place}
        for line, (_, row) in zip(order, rows, strict=True)
        for place, (kind, number) in enumerate(((right, row.correct), (wrong, row.wrong)))
    ]
    texts = [
        {
            "name": line,
            "number": row.claims,
            "text": say("chart.of_claims", language, right=row.correct, claims=row.claims),
        }
        for line, (_, row) in zip(order, rows, strict=True)
    ]
    most = max(row.claims for _, row in rows)
    y = alt.Y(
        "name:N",
        sort=order,
        title=None,
        axis=alt.Axis(labelLimit=260, ticks=False, domain=False),
    )
    scale = alt.Scale(domain=[0, most * 1.25], nice=False)
    bars = (
        alt.Chart(alt.Data(values=values))
        .mark_bar(aria=False)
        .encode(
            y=y,
            x=alt.X("number:Q", axis=None, scale=scale, stack="zero"),
            order=alt.Order("place:Q"),
            color=alt.Color(
                "kind:N",
                sort=[right, wrong],
                scale=alt.Scale(domain=[right, wrong], range=[BAD, WEAK]),
                legend=alt.Legend(title=None, orient="top"),
            ),
        )
    )
    text = (
        alt.Chart(alt.Data(values=texts))
        .mark_text(align="left", dx=5, fontSize=12, color=INK)
        .encode(y=y, x=alt.X("number:Q", axis=None, scale=scale), text="text:N")
    )
    listed = "; ".join(f"{value['name']}: {value['text']}" for value in texts)
    return Plot(
        say("chart.intruders", language),
        say("chart.intruders_words", language, bars=listed),
        (bars + text).properties(width=430, height=_BAR * len(order)),
    )
