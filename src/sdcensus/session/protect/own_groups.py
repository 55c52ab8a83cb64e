"""Groups that nobody declared, from a file: sums of the values of a published table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import DocumentError, Mistake, Refused
from sdcensus.formats.write import table_target, write_delivered
from sdcensus.methods.building_blocks import BuildingBlocks, axis_for
from sdcensus.model.method.registry import ARROW, Part, declared
from sdcensus.model.published.claims import Claims
from sdcensus.model.published.delivery import (
    NO_PARENT,
    DeliveredAxis,
    DeliveredTable,
    delivered_axis,
)
from sdcensus.model.published.grouped_table import GroupedAxis, GroupedTable
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.headings import units_text
from sdcensus.model.spec.levels_told_apart import is_area
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.session.answer.axes import OWN
from sdcensus.session.answer.delivery import (
    axis_label,
    note_of_error,
    notes_of_sums,
    question_heading,
)


def group_table(
    protected: Protected,
    groups: str | Path,
    protect: Callable[[TableSpec], Protected],
    *,
    minimum_population: int = 0,
    language: str | None = None,
) -> GroupedTable:
    """A protected table on the groups that a file names.

    Groups are sums of the fewest declared codes, as in the table builder. Where the table does not
    show these codes, one that does is protected for them.

    Args:
        protected: The table as it was asked for.
        groups: A file with the columns ``variable``, ``group`` and ``code``.
        protect: Protects a table in the same way.
        minimum_population: Groups of areas with fewer published people are refused.
        language: The language of the labels.
    """
    named = read_groups(groups)
    spec = protected.table.spec
    for variable in named:
        spec.position(variable)
    axes = [
        axis_for(axis, named[axis.variable.name]) if axis.variable.name in named else axis
        for axis in spec.axes
    ]
    others = [axis for axis, own in zip(axes, spec.axes, strict=True) if axis.name != own.name]
    if others:
        _refuse_second_table(protected, others)
        protected = protect(spec.with_axes(axes))
    table = protected.table.held_for("a group of your own")
    blocks = BuildingBlocks(minimum_population=minimum_population)
    return blocks.group(table, named, language=language)


def _refuse_second_table(protected: Protected, axes: Sequence[Axis]) -> None:
    """Refuse to protect a second table by itself where all have to be protected together."""
    name = protected.provenance.method.split(ARROW)[0]
    if declared(Part.METHOD, name).linked:
        wanted = ", ".join(axis.name for axis in axes)
        raise Refused(
            f"These groups need codes that the table does not show, and {name!r} has to see all"
            f" cells at once: a second table beside the first could give away what that hides. Show"
            f" the codes in the table itself: {wanted}."
        )


def check_groups_target(path: str | Path, format: str | None = None) -> None:
    """Refuse early what could not be written in the end."""
    table_target(path, format)


def write_grouped(
    grouped: GroupedTable,
    path: str | Path,
    *,
    provenance: Provenance,
    claims: Claims,
    format: str | None = None,
    language: str | None = None,
) -> tuple[Path, ...]:
    """Write a table on groups to new files, as the table builder would deliver it.

    Args:
        grouped: The sums.
        path: The file; its ending tells the format.
        provenance: How the published values behind them were made.
        claims: What the method says of them.
        format: The name of the format, where the ending does not tell it.
        language: The language of labels.
    """
    target = table_target(path, format)
    notes = notes_of_sums(grouped.spec, claims, provenance.lineage)
    notes.append(note_of_error(math.sqrt(int(grouped.parts.max(initial=1)))))
    table = DeliveredTable(
        name=target.name,
        title=question_heading(grouped.spec),
        axes=tuple(map(_delivered_axis, grouped.spec.axes, grouped.axes)),
        values=grouped.published,
        marks=grouped.flags,
        unit=Text.of({each: units_text(grouped.spec, each) for each in LANGUAGES}),
        notes=tuple(notes),
        provenance=replace(provenance, spec_hash=grouped.spec.hash()),
    )
    languages = (language,) if language else ()
    return write_delivered(table, target.folder, formats=(target.format.name,), languages=languages)


def _delivered_axis(axis: Axis, groups: GroupedAxis) -> DeliveredAxis:
    """The groups of an axis, or its codes as they are where nothing was grouped."""
    if not groups.grouped:
        return delivered_axis(axis, label=axis_label(axis))
    count = len(groups.codes)
    return DeliveredAxis(
        column=groups.variable,
        label=axis_label(axis),
        positions=np.arange(count, dtype=np.int64),
        codes=groups.codes,
        labels=tuple(Text.of(label) for label in groups.labels),
        levels=tuple(TOTAL if code == TOTAL else OWN for code in groups.codes),
        parents=(NO_PARENT,) * count,
        total=groups.codes.index(TOTAL) if TOTAL in groups.codes else None,
        geography=is_area(axis.variable),
    )


_COLUMNS = ("variable", "group", "code")


def read_groups(path: str | Path) -> dict[str, dict[str, list[str]]]:
    """Read a csv file, or the first sheet of a workbook, with ``variable``, ``group``, ``code``.

    Returns:
        For each variable its groups by name, each a list of codes; all in the order of the file.
    """
    file = Path(path)
    rows = [(line, row) for line, row in small_table(file, what="file of groups") if any(row)]
    header = [word.lower() for word in rows[0][1]] if rows else []
    missing = [name for name in _COLUMNS if name not in header]
    if missing:
        text = f"The first line needs the columns {', '.join(_COLUMNS)}; {', '.join(missing)}"
        raise DocumentError(
            str(file), [Mistake(1, f"{text} {'is' if len(missing) == 1 else 'are'} missing.")]
        )
    places = [header.index(name) for name in _COLUMNS]
    groups: dict[str, dict[str, list[str]]] = {}
    mistakes = []
    for line, row in rows[1:]:
        fields = [row[at] if at < len(row) else "" for at in places]
        empty = [name for name, field in zip(_COLUMNS, fields, strict=True) if not field]
        if empty:
            mistakes.append(Mistake(line, f"The field {', '.join(empty)} is empty."))
            continue
        variable, group, code = fields
        groups.setdefault(variable, {}).setdefault(group, []).append(code)
    if not groups and not mistakes:
        mistakes.append(Mistake(2, "There is no group. Write one code of a group on each line."))
    if mistakes:
        raise DocumentError(str(file), mistakes)
    return groups
