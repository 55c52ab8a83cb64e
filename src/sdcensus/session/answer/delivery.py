"""The table of an answer as its reader gets it: headings, codes, marks, notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sdcensus.methods.notes import notes_behind, notes_for
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.published.figures import FigureLimits
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import IN_PLACE, Mark, SparseTable, Table
from sdcensus.model.quantities import decimal_text, number_text
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import (
    inside_sentence,
    layer_heading,
    units_text,
    variable_heading,
)
from sdcensus.model.spec.levels_told_apart import is_area
from sdcensus.model.spec.listed_tables import ListedTables
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text, catalogue
from sdcensus.session.answer.axes import ShownAxis
from sdcensus.session.answer.cells import AnswerCells, error_factor
from sdcensus.session.answer.recipe import Compiled
from sdcensus.session.policy import Verdict
from sdcensus.session.protect.smallest_group import note_for

#: Characters that the name of a download has at most, without its ending.
LONGEST_NAME = 80

#: Marks that a note explains; areas that are withheld have a sign that the table explains.
_EXPLAINED = (Mark.WITHHELD, Mark.BELOW_THRESHOLD, Mark.NOT_BROKEN_DOWN)


def delivered(
    compiled: Compiled,
    cells: AnswerCells,
    provenance: Provenance,
    verdict: Verdict,
    *,
    claims: Claims,
    source: Text,
    date: str,
    census: CensusFacts,
    limits: FigureLimits,
    listed: ListedTables | None = None,
    contributors: int = 0,
    computed: bool = False,
) -> DeliveredTable:
    """The table of an answer, with everything that its reader must know.

    Args:
        compiled: The question.
        cells: The numbers.
        provenance: How they came about.
        verdict: What the policy says of them.
        claims: What the method says of itself.
        source, date: Who publishes it, and when.
        census: Which census it is from.
        limits: When figures that rest on its numbers are unreliable.
        listed: The tables for which small counts of the records were rounded.
        contributors: How many contributors are published behind every sum that is shown.
        computed: Whether other figures are shown instead, which are computed of its values.
    """
    spec = compiled.spec
    # A condition may need finer levels than those that were asked for: they are not the title.
    asked = spec.with_axes(axis.asked for axis in compiled.axes)
    notes = _notes(compiled, cells, verdict, claims, provenance, listed, computed)
    if contributors and cells.marks is not None and (cells.marks == Mark.BELOW_THRESHOLD).any():
        notes.append(Text.named("answers.contributors").filled(least=str(contributors)))
    return DeliveredTable(
        name=_file_name(asked),
        title=question_heading(asked),
        axes=tuple(delivered_axis(axis) for axis in compiled.axes),
        values=cells.values,
        marks=cells.marks,
        decimals=spec.decimals,
        unit=Text.of({language: units_text(spec, language) for language in LANGUAGES}),
        notes=tuple(notes),
        provenance=replace(provenance, spec_hash=compiled.watched.hash()),
        spec=spec if compiled.declared else None,
        source=source,
        date=date,
        support=cells.support,
        census=census,
        limits=limits,
    )


def _file_name(asked: TableSpec) -> str:
    """How a download is called: by what it counts and by what, in the names of the schema."""
    parts = [asked.of.plural]
    if asked.amount is not None:
        parts = ["sum", asked.amount.name]
    for axis in asked.axes:
        names = [level.name for level in axis.levels if level.name != axis.variable.leaf_level]
        parts.append("_".join([axis.variable.name, *names]))
    return "-".join(parts)[:LONGEST_NAME].rstrip("-_")


def _notes(
    compiled: Compiled,
    cells: AnswerCells,
    verdict: Verdict,
    claims: Claims,
    provenance: Provenance,
    listed: ListedTables | None,
    computed: bool,
) -> list[Text]:
    lineage = provenance.lineage
    if computed:
        # Figures that are computed of these: no 0 and no total of theirs is like those of counts.
        notes = [*notes_behind(compiled.spec, claims, lineage=lineage, listed=listed)]
    elif compiled.declared:
        table = Table(compiled.spec, _numbers(cells), _flags(cells))
        marks = cells.marks
        whole = marks is None or not np.isin(marks, _EXPLAINED).any()
        notes = [*notes_for(table, claims, lineage=lineage, listed=listed, legend=not whole)]
    else:
        notes = notes_of_sums(compiled.spec, claims, lineage, listed)
    notes += sum_notes(compiled, cells)
    if cells.marks is not None and (cells.marks == Mark.LOW_RELIABILITY).any():
        notes.append(Text.named("answers.low_reliability"))
    if cells.marks is not None and (cells.marks == Mark.NOT_BROKEN_DOWN).any():
        notes.append(note_for(provenance.smallest_group, compiled.spec.measure))
    areas, available = verdict.areas, verdict.available
    if areas is not None and available is not None and available < areas:
        figures = {"available": available, "areas": areas, "withheld": areas - available}
        spoken = {
            name: {language: number_text(figure, language) for language in LANGUAGES}
            for name, figure in figures.items()
        }
        notes.append(Text.named("answers.withheld_areas").filled(**spoken))
    return notes


def notes_of_sums(
    spec: TableSpec, claims: Claims, lineage: str, listed: ListedTables | None = None
) -> list[Text]:
    """What readers should know of a table whose cells are sums of published values."""
    nothing = SparseTable(spec, np.zeros(0, np.uint64), np.zeros(0, np.int64))
    return [*notes_for(nothing, claims, lineage=lineage, listed=listed)]


def note_of_error(factor: float) -> Text:
    """How much larger the error of the sums is than that of a published value."""
    times = {language: decimal_text(factor, 1, language) for language in LANGUAGES}
    return Text.named("answers.sums").filled(factor=times)


def sum_notes(compiled: Compiled, cells: AnswerCells) -> list[Text]:
    """What readers of sums of published values are told besides."""
    notes = []
    if cells.parts is not None:
        notes.append(note_of_error(error_factor(cells)))
    if any(code.cut for axis in compiled.axes for code in axis.codes):
        notes.append(Text.named("answers.partly"))
    return notes


def _numbers(cells: AnswerCells) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The values as a table holds them, which is its own."""
    return cells.values.copy()


def _flags(cells: AnswerCells) -> np.ndarray[Any, np.dtype[np.uint8]] | None:
    """The marks that stand in the place of a number: a table holds no others."""
    if cells.marks is None:
        return None
    return np.where(np.isin(cells.marks, IN_PLACE), cells.marks, np.uint8(Mark.NONE))


def delivered_axis(axis: ShownAxis) -> DeliveredAxis:
    """An axis of an answer as its reader gets it."""
    variable = axis.asked.variable
    return DeliveredAxis(
        column=variable.name,
        label=axis_label(axis.asked),
        positions=np.arange(len(axis.codes), dtype=np.int64),
        codes=tuple(code.code for code in axis.codes),
        labels=tuple(code.label for code in axis.codes),
        levels=tuple(code.level for code in axis.codes),
        parents=axis.parents,
        total=axis.total,
        geography=is_area(variable),
    )


def level_label(variable: Variable, level: Level) -> Text:
    """What a level is called: as the schema says, else like the variable or by its own name.

    Args:
        variable: The variable.
        level: One of its levels.
    """
    given = variable.level_label(level.name)
    if given:
        return given
    if level.name == variable.name:
        return variable.label or Text.of(variable_heading(variable))
    # Names that schemas of many countries give their levels. Others are shown as they are written.
    name = level.name.casefold()
    if name in catalogue("levels", "en"):
        return Text.named(f"levels.{name}")
    words = level.name.replace("_", " ").strip()
    return Text.of(f"{words[:1].upper()}{words[1:]}")


def axis_label(axis: Axis) -> Text:
    """What an axis is called: areas by their level (parishes are no enumeration districts)."""
    variable = axis.variable
    if variable.called_by_level and len(axis.levels) == 1:
        return level_label(variable, axis.levels[0])
    return variable.label or Text.of(variable_heading(variable))


def question_heading(spec: TableSpec) -> Text:
    """What a table shows, in words, in every language of the product."""
    headings = {key: [_heading(axis, key) for axis in spec.axes] for key in LANGUAGES}
    return Text.of({key: layer_heading(spec, names, key) for key, names in headings.items()})


def _heading(axis: Axis, language: str) -> str:
    variable = axis.variable
    label = axis_label(axis).show(language)
    names = [level_label(variable, level).show(language) for level in axis.levels]
    if names == [label] or [level.name for level in axis.levels] == [variable.leaf_level]:
        return label
    if variable.called_by_level:
        return " / ".join(names)
    # In the middle of a sentence, and after the name of the variable.
    return f"{label} ({', '.join(inside_sentence(name) for name in names)})"
