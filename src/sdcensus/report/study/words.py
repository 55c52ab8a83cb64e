"""A study in plain words: what falls, what holds, what it costs, and for whom that is true."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from sdcensus.model.quantities import number_text, share_text, written_as
from sdcensus.model.sentences import Value, in_language, speak
from sdcensus.model.spec.headings import entity_text, joined
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.frontier import frontier_of
from sdcensus.report.study.order import agreement_of_all, agreements
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyResult, StudyTable

#: From this share of the cells on, or of the small ones, a method falls.
FALLS_FROM = 0.01
#: Below this share it holds. Of many thousand cells one is given away by chance now and then.
HOLDS_BELOW = 0.0001
#: A distribution this improbable, over the number of comparisons, is not as designed.
_DOUBT = 0.001


class Verdict(StrEnum):
    """What becomes of a method under the intruder of the study."""

    FALLS = "falls"
    LEAKS = "leaks a little"
    HOLDS = "holds"
    UNKNOWN = "has nothing to protect"
    UNJUDGED = "is not judged by sums"


def verdict(results: Sequence[StudyResult]) -> Verdict:
    """What becomes of a method, by its worst table."""
    shares = [share for result in results for share in (result.share, result.small_share)]
    known = [share for share in shares if share is not None]
    if not known:
        changed = any(result.disclosed is None for result in results)
        return Verdict.UNJUDGED if changed else Verdict.UNKNOWN
    most = max(known)
    if most >= FALLS_FROM:
        return Verdict.FALLS
    return Verdict.HOLDS if most < HOLDS_BELOW else Verdict.LEAKS


def verdicts(study: Study) -> dict[str, Verdict]:
    """The verdict on each method, in the main draw."""
    return {name: verdict(_of(study, name)) for name in study.names}


def say(study: Study, key: str, /, **values: Value) -> str:
    """A text of a study in its language, with its places filled."""
    return speak(f"study.{key}", study.language, **values)


def measure_name(study: Study, published: Published, measure: str) -> str:
    """What a measure that was printed is called in the language of the study."""
    by_area = published.lettered and measure in published.measures
    return say(study, f"{'ons' if by_area else 'measure'}.{measure}")


def called(study: Study, table: StudyTable) -> str:
    """What a table is called in the language of the study."""
    return in_language(table.name, study.language)


def by_axes(study: Study, table: StudyTable) -> str:
    """The units and axes of a table as plans write them."""
    spec = table.spec
    units = entity_text(spec.of, study.language)
    axes = ", ".join(axis.name for axis in spec.axes)
    return f"{units} {speak('headings.by', study.language)} {axes}" if axes else units


def drawn(study: Study, draw: NoiseDraw) -> str:
    """What a way of drawing noise is called in the language of the study."""
    return say(study, f"draw.{draw.value}")


def fixed(study: Study, figure: float, digits: int = 2) -> str:
    """A figure with so many decimals, as the language of the study writes it."""
    return written_as(f"{figure:.{digits}f}", study.language)


def sentences(study: Study, published: Published | None = None) -> list[tuple[str, str]]:
    """The findings, each with a word or two to begin with."""
    conclusions = [(say(study, "find.scope"), scope(study))]
    conclusions += _derived(study)
    conclusions += _by_verdict(study)
    conclusions += _unjudged(study)
    conclusions += _broken(study)
    conclusions += _grid(study)
    conclusions += _cost(study)
    conclusions += _draws(study)
    conclusions += _design(study)
    if published is not None:
        conclusions += _beside_printed(study, published)
    return conclusions


def scope(study: Study) -> str:
    """For whom the conclusions hold: which tables, what is known, by which means."""
    known = say(study, "said.largest")
    if study.zeros_known:
        known = say(study, "said.zeros", known=known)
    return say(study, "said.scope", known=known)


def lead(study: Study) -> str:
    """The whole study in two or three sentences."""
    every = {name: kind for name, kind in verdicts(study).items() if name not in _points(study)}
    if not every or all(kind is Verdict.UNJUDGED for kind in every.values()):
        return " ".join(text for _, text in (*_unjudged(study), *_grid(study)))
    falls = [name for name, verdict in every.items() if verdict is Verdict.FALLS]
    leaks = [name for name, verdict in every.items() if verdict is Verdict.LEAKS]
    holds = [name for name, verdict in every.items() if verdict is Verdict.HOLDS]
    if not falls and not leaks and not holds:
        return say(study, "said.empty")
    parts = []
    if falls:
        parts.append(_about(study, "said.falls", falls))
    if leaks:
        parts.append(_about(study, "find.leaks", leaks))
    if holds:
        parts.append(_about(study, f"said.{_how_few(study, holds)}", holds))
        best = _cheapest(study, holds)
        if best is not None:
            name, change = best
            shown = fixed(study, change)
            parts.append(
                say(study, "said.least_of", name=name, change=shown)
                if len(holds) > 1
                else say(study, "said.least", change=shown)
            )
    return " ".join((*parts, *_holding_by_draw(study)))


def _holding_by_draw(study: Study) -> list[str]:
    """How many schemes hold under each way of drawing: a verdict is that of the first of them."""
    schemes = [
        name
        for name in study.names
        if any(candidate.name == name and candidate.draw for candidate in study.candidates)
    ]
    if not schemes:
        return []
    parts = []
    for draw in study.draws:
        results = [[table.result(name, draw) for table in study.tables] for name in schemes]
        every = [verdict([each for each in of if each is not None]) for of in results]
        holding = sum(kind is Verdict.HOLDS for kind in every)
        by_draw = say(study, "facts.by_draw", draw=drawn(study, draw))
        parts.append(say(study, "said.holding_part", n=holding, draw=by_draw))
    listed = joined(parts, study.language)
    return [say(study, "said.holding", all=len(schemes), parts=listed)]


def _about(study: Study, key: str, names: Sequence[str]) -> str:
    """A sentence about one method or several."""
    form = f"{key}_one" if len(names) == 1 else key
    return say(study, form, names=joined(names, study.language))


def _by_verdict(study: Study) -> list[tuple[str, str]]:
    every = {name: kind for name, kind in verdicts(study).items() if name not in _points(study)}
    conclusions = []
    for name in (name for name, kind in every.items() if kind is Verdict.FALLS):
        table, result = _worst(study, name)
        cells = _of_cells(study, result)
        text = say(study, "said.narrowed", table=called(study, table), cells=cells)
        conclusions.append((say(study, "find.falls", name=name), text))
    leaking = [name for name, kind in every.items() if kind is Verdict.LEAKS]
    if leaking:
        parts = []
        for name in leaking:
            table, result = _worst(study, name)
            cells = _of_cells(study, result)
            part = say(study, "said.worst_part", name=name, cells=cells, table=called(study, table))
            parts.append(part)
        text = say(study, "said.worst", parts="; ".join(parts))
        conclusions.append((_about(study, "find.leaks", leaking), text))
    holding = [name for name, kind in every.items() if kind is Verdict.HOLDS]
    if holding:
        text = say(study, "said.none_narrowed")
        if any(study_result.disclosed for name in holding for study_result in _of(study, name)):
            clauses = [f"{name} {_given_away(study, name)}" for name in holding]
            text = say(study, "said.some_narrowed", parts=", ".join(clauses))
        conclusions.append((_about(study, "find.holds", holding), text))
    return conclusions


def _beside_printed(study: Study, published: Published) -> list[tuple[str, str]]:
    text = say(study, "said.beside", country=published.country)
    if published.lettered:
        text = say(study, "said.beside_ons")
    every = agreements(study, published)
    same, pairs = agreement_of_all(every)
    if pairs:
        text += " " + say(study, "said.order", n=same, all=pairs)
    return [(say(study, "find.beside"), text)]


def _derived(study: Study) -> list[tuple[str, str]]:
    """That the store of the study is a derived one, and so what is taken for true."""
    if not study.lineage:
        return []
    steps = ", ".join(study.lineage)
    return [(say(study, "find.derived"), say(study, "said.derived", steps=steps))]


def _broken(study: Study) -> list[tuple[str, str]]:
    """Methods whose records break edit rules: they would be refused as stores."""
    if not study.violations:
        return []
    parts = [
        say(study, "said.broken_part", name=name, n=number_text(number, study.language))
        for name, number in study.violations[:_MOST_NAMED]
    ]
    more = len(study.violations) - _MOST_NAMED
    listed = "; ".join(parts)
    if more > 0:
        listed = say(study, "said.and_more", names=listed, n=more)
    return [(say(study, "find.broken"), say(study, "said.broken", parts=listed))]


def _points(study: Study) -> frozenset[str]:
    """The names of the points of a grid, which are told together."""
    points = [candidate for candidate in study.candidates if candidate.point is not None]
    return frozenset(candidate.name for candidate in points)


def _unjudged(study: Study) -> list[tuple[str, str]]:
    """Methods that change records: sums do not judge them, and what they publish does."""
    names = [
        name
        for name, kind in verdicts(study).items()
        if kind is Verdict.UNJUDGED and name not in _points(study)
    ]
    parts = []
    for name in names:
        shares = [
            (result.further.claims_right, table)
            for table in study.tables
            for result in study.mains(table)
            if result.candidate.name == name
            and result.further is not None
            and result.further.claims_right is not None
        ]
        if shares:
            most, table = max(shares, key=lambda pair: pair[0])
            share = share_text(most, study.language, digits=2)
            part = say(study, "said.claims", name=name, share=share, table=called(study, table))
            parts.append(part)
    if not names:
        return []
    text = say(study, "said.unjudged")
    if parts:
        text += " " + say(study, "said.claims_most", parts="; ".join(parts))
    return [(say(study, "find.unjudged"), text)]


def _grid(study: Study) -> list[tuple[str, str]]:
    """The points of a grid: how many of them fall and hold, and which are on the frontier."""
    points = _points(study)
    if not points:
        return []
    kinds = [kind for name, kind in verdicts(study).items() if name in points]
    table = study.tables[-1]
    frontier = frontier_of(study, table)
    best = [
        result.candidate.name.split(" ")[0]
        for result in study.mains(table)
        if result.candidate.title in frontier
    ]
    counts = {
        kind.name.lower(): kinds.count(kind)
        for kind in (Verdict.FALLS, Verdict.LEAKS, Verdict.HOLDS, Verdict.UNJUDGED)
    }
    text = say(study, "said.grid", n=len(points), **counts)
    if best:
        first = joined(best[:_MOST_NAMED], study.language)
        more = len(best) - _MOST_NAMED
        if more > 0:
            first = say(study, "said.and_more", names=first, n=more)
        risk = say(study, f"axis.{study.risk_axis.value}")
        text += " " + say(
            study, "said.frontier", names=first, table=called(study, table), risk=risk
        )
    if study.left_out:
        text += " " + say(study, "said.left_out", n=len(study.left_out))
    return [(say(study, "find.grid"), text)]


#: Points of a frontier that a sentence names.
_MOST_NAMED = 12


def _cost(study: Study) -> list[tuple[str, str]]:
    table = study.tables[-1]
    title = say(study, "find.cost")
    costs = [
        (main.loss, main.candidate.name) for main in study.mains(table) if main.loss is not None
    ]
    if not costs:
        return [(title, say(study, "said.no_cost"))]
    (least, mild), (most, strong) = min(costs), max(costs)
    mildest = {"table": called(study, table), "least": fixed(study, least), "mild": mild}
    if len(costs) == 1:
        return [(title, say(study, "said.cost_one", **mildest))]
    text = say(study, "said.cost", **mildest, most=fixed(study, most), strong=strong)
    best = _cheapest(
        study, [name for name, verdict in verdicts(study).items() if verdict is Verdict.HOLDS]
    )
    if best is not None:
        name, change = best
        text += " " + say(study, "said.mildest", name=name, change=fixed(study, change))
    return [(title, text)]


def _draws(study: Study) -> list[tuple[str, str]]:
    """What the way of drawing changes, for the scheme that gives away most."""
    if len(study.draws) < 2 or not any(_has_records(table) for table in study.tables):
        return []
    title = say(study, "find.totals")
    most: tuple[float, StudyTable, str] | None = None
    for table in study.tables:
        for study_result in table.results:
            share = study_result.share
            if share and study_result.candidate.draw and (most is None or share > most[0]):
                most = share, table, study_result.candidate.name
    if most is None:
        return [(title, " ".join((say(study, "said.no_draw"), *_holding_by_draw(study))))]
    _, table, name = most
    parts = []
    for draw in study.draws:
        result = table.result(name, draw)
        if result is not None:
            shown = share_text(result.share, study.language, digits=2)
            key = f"said.draw_{draw.value}"
            parts.append(say(study, key, share=shown, draw=drawn(study, draw)))
    listed = joined(parts, study.language)
    text = say(study, "said.draws", name=name, table=called(study, table), parts=listed)
    return [(title, " ".join((text, *_holding_by_draw(study))))]


def _design(study: Study) -> list[tuple[str, str]]:
    """Whether changes are distributed as they were designed."""
    chances = [
        (result.profile.test.p_value, result, table)
        for table in study.tables
        for result in table.results
        if result.profile is not None and result.profile.test.p_value is not None
    ]
    wrong = [
        f"{_title(study, study_result)} ({called(study, table)})"
        for chance, study_result, table in chances
        if chance < _DOUBT / len(chances)
    ]
    if wrong:
        text = say(study, "said.not_designed", names=joined(wrong, study.language))
        return [(say(study, "find.not_designed"), text)]
    if not chances:
        return []
    least = written_as(f"{min(chance for chance, _, _ in chances):.2g}", study.language)
    text = say(study, "said.designed", n=len(chances), chance=least)
    return [(say(study, "find.designed"), text)]


def _title(study: Study, result: StudyResult) -> str:
    """The name of a method and how it is drawn."""
    candidate = result.candidate
    if candidate.draw is None:
        return candidate.name
    return f"{candidate.name}, {drawn(study, candidate.draw)}"


def reasons(study: Study) -> list[str]:
    """Why some figures have no meaning, each reason once."""
    sentences: dict[str, None] = {}
    for table in study.tables:
        name = called(study, table)
        for warning in table.original.warnings:
            text = in_language(warning, study.language)
            text = f"{text[:1].lower()}{text[1:]}"
            sentences[say(study, "said.caution", table=name, text=text)] = None
        if all(len(axis.blocks) == 1 for axis in table.spec.axes):
            sentences[say(study, "said.no_sums", table=name)] = None
        if not _has_records(table):
            sentences[say(study, "said.no_records", table=name)] = None
        elif not any(result.small_cells for result in table.results):
            sentences[say(study, "said.no_small", table=name)] = None
    return list(sentences)


def _has_records(table: StudyTable) -> bool:
    return table.original.population > 0


def _of(study: Study, name: str) -> list[StudyResult]:
    return [
        main for table in study.tables for main in study.mains(table) if main.candidate.name == name
    ]


def _given_away(study: Study, name: str) -> str:
    cells = sum(study_result.disclosed or 0 for study_result in _of(study, name))
    return number_text(cells, study.language) if cells else say(study, "none")


def _how_few(study: Study, names: Sequence[str]) -> str:
    """The sentence that says how little these methods give away."""
    if any(study_result.disclosed for name in names for study_result in _of(study, name)):
        return "gives_few"
    return "gives_none"


def _worst(study: Study, name: str) -> tuple[StudyTable, StudyResult]:
    """The table in which a method gives away the largest share of small cells."""
    pairs = [
        (table, main)
        for table in study.tables
        for main in study.mains(table)
        if main.candidate.name == name
    ]
    return max(pairs, key=lambda pair: (pair[1].small_share or 0.0, pair[1].share or 0.0))


def _cheapest(study: Study, names: Sequence[str]) -> tuple[str, float] | None:
    costs = [
        (main.loss, main.candidate.name)
        for main in study.mains(study.tables[-1])
        if main.candidate.name in names and main.loss is not None
    ]
    if not costs:
        return None
    change, name = min(costs)
    return name, change


def _of_cells(study: Study, result: StudyResult) -> str:
    """Which share of the cells is given away; of small ones, where there are any."""
    share = share_text(result.share, study.language, digits=2)
    if result.small_share is None:
        return say(study, "said.cells", share=share)
    small = share_text(result.small_share, study.language, digits=2)
    return say(study, "said.cells_small", share=share, small=small)
