"""A study in plain words: what falls, what holds, what it costs, and for whom that is true."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from sdcensus.model.quantities import share_text
from sdcensus.model.spec.headings import joined
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.published import Published
from sdcensus.report.study.results import Study, StudyResult, StudyTable

#: From this share of the cells on, or of the small ones, a method falls.
FALLS_FROM = 0.01
#: Below this share it holds. Of many thousand cells one is given away by chance now and then.
HOLDS_BELOW = 0.0001
#: A distribution this improbable, over the number of comparisons, is not as designed.
_DOUBT = 0.001
#: What stands where a figure has no meaning; notes say why.


class Verdict(StrEnum):
    """What becomes of a method under the intruder of the study."""

    FALLS = "falls"
    LEAKS = "leaks a little"
    HOLDS = "holds"
    UNKNOWN = "has nothing to protect"


def verdict(results: Sequence[StudyResult]) -> Verdict:
    """What becomes of a method, by its worst table."""
    shares = [share for result in results for share in (result.share, result.small_share)]
    known = [share for share in shares if share is not None]
    if not known:
        return Verdict.UNKNOWN
    most = max(known)
    if most >= FALLS_FROM:
        return Verdict.FALLS
    return Verdict.HOLDS if most < HOLDS_BELOW else Verdict.LEAKS


def verdicts(study: Study) -> dict[str, Verdict]:
    """The verdict on each method, in the main draw."""
    return {name: verdict(_of(study, name)) for name in study.names}


def sentences(study: Study, published: Published | None = None) -> list[tuple[str, str]]:
    """The findings, each with a word or two to begin with."""
    conclusions = [("Scope.", scope(study))]
    conclusions += _by_verdict(study)
    conclusions += _cost(study)
    conclusions += _draws(study)
    conclusions += _design(study)
    if published is not None:
        conclusions.append(("Beside the printed figures.", beside(published)))
    return conclusions


def scope(study: Study) -> str:
    """For whom the conclusions hold: which tables, what is known, by which means."""
    known = "the largest change that the method makes"
    if study.zeros_known:
        known += ", and that empty cells are published as 0"
    return (
        f"Each table is taken alone. The intruder knows {known}, compares totals with their parts"
        " (shuttle algorithm), and uses nothing else: a linear program narrows more, and several"
        " tables together, or averages over many of them, tell more than one table does."
    )


def lead(study: Study) -> str:
    """The whole study in two or three sentences."""
    every = verdicts(study)
    falls = [name for name, verdict in every.items() if verdict is Verdict.FALLS]
    leaks = [name for name, verdict in every.items() if verdict is Verdict.LEAKS]
    holds = [name for name, verdict in every.items() if verdict is Verdict.HOLDS]
    if not falls and not leaks and not holds:
        return "All cells of these tables are empty: there is nothing to protect and to compare."
    parts = []
    if falls:
        parts.append(
            f"{joined(falls)} {_verb(falls, 'falls', 'fall')}: one table alone lets an intruder who"
            " knows the largest change work out one in a hundred of its counts, or of its ones and"
            " twos, or more."
        )
    if leaks:
        parts.append(f"{joined(leaks)} {_verb(leaks, 'leaks', 'leak')} a little.")
    if holds:
        parts.append(
            f"{joined(holds)} {_verb(holds, 'gives', 'give')} {_how_few(study, holds)} of these"
            " tables away to such an intruder."
        )
        best = _cheapest(study, holds)
        if best is not None:
            name, change = best
            who = (
                f"Of these, {name} changes counts least: by" if len(holds) > 1 else "It changes by"
            )
            parts.append(f"{who} {change:.2f} on average in the most detailed table.")
    return " ".join(parts)


def _by_verdict(study: Study) -> list[tuple[str, str]]:
    every = verdicts(study)
    conclusions = []
    for name in (name for name, kind in every.items() if kind is Verdict.FALLS):
        table, result = _worst(study, name)
        conclusions.append(
            (
                f"{name} falls.",
                f"In the {table.name} table {_of_cells(result)} can be narrowed down to one count,"
                " or to 0 and 1.",
            )
        )
    leaking = [name for name, kind in every.items() if kind is Verdict.LEAKS]
    if leaking:
        parts = []
        for name in leaking:
            table, result = _worst(study, name)
            parts.append(f"{name} {_of_cells(result)} ({table.name})")
        conclusions.append(
            (
                f"{joined(leaking)} {_verb(leaking, 'leaks', 'leak')} a little.",
                f"In the worst table: {'; '.join(parts)}.",
            )
        )
    holding = [name for name, kind in every.items() if kind is Verdict.HOLDS]
    if holding:
        text = "No cell of these tables can be narrowed down to one count, or to 0 and 1."
        if any(study_result.disclosed for name in holding for study_result in _of(study, name)):
            clauses = [f"{name} {_given_away(study, name)}" for name in holding]
            text = (
                "Cells of all these tables that can be narrowed down to one count, or to 0 and 1:"
                f" {', '.join(clauses)}."
            )
        conclusions.append((f"{joined(holding)} {_verb(holding, 'holds', 'hold')}.", text))
    return conclusions


def _cost(study: Study) -> list[tuple[str, str]]:
    table = study.tables[-1]
    costs = [
        (main.utility.mean_absolute_distance, main.candidate.name)
        for main in study.mains(table)
        if main.utility.mean_absolute_distance is not None
    ]
    if not costs:
        return [("Cost.", "No cell is non-empty, so no change can be measured.")]
    (least, mild), (most, strong) = min(costs), max(costs)
    other = f", and by {most:.2f} under {strong}" if len(costs) > 1 else ""
    text = (
        f"In the {table.name} table a non-empty cell changes by {least:.2f} on average under"
        f" {mild}{other}."
    )
    best = _cheapest(
        study, [name for name, verdict in verdicts(study).items() if verdict is Verdict.HOLDS]
    )
    if best is not None and len(costs) > 1:
        text += f" Of the methods that hold, {best[0]} changes least ({best[1]:.2f})."
    return [("Cost.", text)]


def _draws(study: Study) -> list[tuple[str, str]]:
    """What the way of drawing changes, for the scheme that gives away most."""
    if len(study.draws) < 2 or not any(_has_records(table) for table in study.tables):
        return []
    most: tuple[float, StudyTable, str] | None = None
    for table in study.tables:
        for study_result in table.results:
            share = study_result.share
            if share and study_result.candidate.draw and (most is None or share > most[0]):
                most = share, table, study_result.candidate.name
    if most is None:
        return [("Totals.", "However the noise is drawn, no cell is given away.")]
    _, table, name = most
    words = {
        NoiseDraw.ASCENDING: "keys couple totals to their parts",
        NoiseDraw.INDEPENDENT: "every cell has fresh noise",
        NoiseDraw.HASHED: "a hash takes the place of keys",
    }
    parts = []
    for draw in study.draws:
        result = table.result(name, draw)
        if result is not None:
            parts.append(f"{share_text(result.share, digits=2)} where {words[draw]} ({draw})")
    return [
        (
            "Totals.",
            f"{name} gives away most, and how totals are drawn changes how much. Of the non-empty"
            f" cells of the {table.name} table it gives away {joined(parts)}.",
        )
    ]


def _design(study: Study) -> list[tuple[str, str]]:
    """Whether changes are distributed as they were designed."""
    chances = [
        (result.profile.test.p_value, result, table)
        for table in study.tables
        for result in table.results
        if result.profile is not None and result.profile.test.p_value is not None
    ]
    wrong = [
        f"{study_result.candidate.title} ({table.name})"
        for chance, study_result, table in chances
        if chance < _DOUBT / len(chances)
    ]
    if wrong:
        return [
            (
                "Not as designed.",
                f"The changes of {joined(wrong)} do not have the distribution that they should"
                " have. Check the perturbation table, and the record keys of the store.",
            )
        ]
    if not chances:
        return []
    least = min(chance for chance, _, _ in chances)
    return [
        (
            "As designed.",
            f"The changes of interior cells have the distribution of their design in all"
            f" {len(chances)} comparisons (the least probable one has a chance of {least:.2g}).",
        )
    ]


def beside(published: Published) -> str:
    """Why printed figures and ours differ."""
    return (
        f"The printed figures are of {published.country}, whose records are not public. The demo"
        " country has the same numbers of people and categories, and fictional people: who is rare"
        " differs, and with it every figure somewhat. Where more cells hold 1 or 2, relative"
        " changes are larger and CP1 gives away more. Risk R is lower where people are spread more"
        " evenly, and hangs on a few cells where hardly any is small. Shares of a few hundredths of"
        " a percent are a handful of cells, and others under another secret."
    )


def reasons(study: Study) -> list[str]:
    """Why some figures have no meaning, each reason once."""
    sentences: dict[str, None] = {}
    for table in study.tables:
        for text in table.original.warnings:
            sentences[f"The {table.name} table: {text[:1].lower()}{text[1:]}"] = None
        if all(len(axis.blocks) == 1 for axis in table.spec.axes):
            sentences[
                f"The {table.name} table shows neither totals nor several levels: there is nothing"
                " to compare its cells with."
            ] = None
        if not _has_records(table):
            sentences[f"The {table.name} table: no cell is non-empty."] = None
        elif not any(result.small_cells for result in table.results):
            sentences[f"The {table.name} table: no cell counts 1 or 2."] = None
    return list(sentences)


def _has_records(table: StudyTable) -> bool:
    return table.original.population > 0


def _of(study: Study, name: str) -> list[StudyResult]:
    return [
        main for table in study.tables for main in study.mains(table) if main.candidate.name == name
    ]


def _given_away(study: Study, name: str) -> str:
    cells = sum(study_result.disclosed for study_result in _of(study, name))
    return f"{cells:,}" if cells else "none"


def _how_few(study: Study, names: Sequence[str]) -> str:
    if any(study_result.disclosed for name in names for study_result in _of(study, name)):
        return "fewer than one count in ten thousand"
    return "no count"


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
        (main.utility.mean_absolute_distance, main.candidate.name)
        for main in study.mains(study.tables[-1])
        if main.candidate.name in names and main.utility.mean_absolute_distance is not None
    ]
    if not costs:
        return None
    change, name = min(costs)
    return name, change


def _of_cells(result: StudyResult) -> str:
    """Which share of the cells is given away; of small ones, where there are any."""
    cells = f"{share_text(result.share, digits=2)} of the non-empty cells"
    if result.small_share is None:
        return cells
    return f"{cells} and {share_text(result.small_share, digits=2)} of the ones and twos"


def _verb(names: Sequence[str], one: str, several: str) -> str:
    return one if len(names) == 1 else several
