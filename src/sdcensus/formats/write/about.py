"""The columns of files for programs, and what a file says about itself besides numbers.

The same table says the same.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sdcensus.errors import SpecError
from sdcensus.model.published.census_facts import CensusFacts
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.variable import Level, Variable
from sdcensus.model.spec.document import code_list_to_json, code_lists_of, spec_to_json
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

#: What the column of counts is called, that of other figures, and that of signs.
COUNTS, FIGURES, SIGNS = "published", "value", "flag"


@dataclass(frozen=True, slots=True)
class WordColumn:
    """A column that shows words of the codes of one axis.

    Attributes:
        name: What it is called.
        axis: The number of the axis.
        words: The word for each code of the axis.
    """

    name: str
    axis: int
    words: tuple[str, ...]


def values_name(decimals: int) -> str:
    """What the column of values is called: counts are whole numbers.

    Examples:
        >>> values_name(0), values_name(1)
        ('published', 'value')
    """
    return FIGURES if decimals else COUNTS


def word_columns(
    axes: Sequence[DeliveredAxis],
    *,
    languages: Sequence[str] = (),
    labels: bool = True,
    beside: Collection[str] = (COUNTS, FIGURES, SIGNS),
) -> tuple[WordColumn, ...]:
    """The columns of codes, then of levels, then of labels; names that stand twice are refused.

    Args:
        axes: The axes of the table.
        languages: Of the labels; several make a column for each.
        labels: Whether there are columns of labels.
        beside: What columns are called that stand beside them.
    """
    word_columns = [WordColumn(axis.column, at, axis.codes) for at, axis in enumerate(axes)]
    word_columns += [
        WordColumn(f"{axis.column}_level", at, axis.levels)
        for at, axis in enumerate(axes)
        if not axis.unique
    ]
    for at, axis in enumerate(axes if labels else ()):
        for language in languages or (None,):
            ending = f"_label_{language}" if len(languages) > 1 else "_label"
            words = tuple(axis.label_of(place, language) for place in range(len(axis)))
            word_columns.append(WordColumn(f"{axis.column}{ending}", at, words))
    check_names((column.name for column in word_columns), beside)
    return tuple(word_columns)


def check_names(names: Iterable[str], beside: Collection[str] = ()) -> None:
    """Refuse a name that stands for two columns, or for one that stands beside them."""
    seen = set(beside)
    for name in names:
        if name in seen:
            raise SpecError(
                f"The file would have two columns {name!r}: an axis is called like a column that"
                " is made. Give its column another name."
            )
        seen.add(name)


#: The version of this form.
VERSION = 1
#: Code lists that are written already, by the identity of a variable and its levels. Those are
#: kept with them, so that no others take their place; to compare them by content would take as
#: long as to write them.
_WRITTEN: dict[tuple[int, ...], tuple[tuple[Variable | Level, ...], str]] = {}
_MOST_WRITTEN = 64
#: What programs read of cells that are not listed.
ALL_LISTED, ZERO = "none", "published as 0"
ZERO_OR_SMALL = "published as 0, unless in a group not broken down"
SMALL_GROUPS = "groups_not_broken_down"


class ReadyText(str):
    """A value of a document that is written already, as JSON."""

    __slots__ = ()


def delivered_about(table: DeliveredTable) -> dict[str, Any]:
    """Everything but the numbers, as plain values; the specification as text of JSON."""
    return about_parts(
        name=table.name,
        title=table.title,
        axes=table.axes,
        spec=table.spec,
        provenance=table.provenance,
        unit=table.unit,
        decimals=table.decimals,
        marks=[(mark, table.sign(mark)) for mark in table.used_marks()],
        notes=table.notes,
        source=table.source,
        date=table.date,
        census=table.census,
    )


def about_parts(
    *,
    name: str,
    title: Text,
    axes: Sequence[DeliveredAxis],
    spec: TableSpec | None = None,
    provenance: Provenance | None = None,
    unit: Text = Text(),
    decimals: int = 0,
    marks: Sequence[tuple[Mark, str]] = (),
    notes: Sequence[Text] = (),
    source: Text = Text(),
    date: str = "",
    census: CensusFacts | None = None,
    sparse: bool = False,
    small: SmallGroups | None = None,
) -> dict[str, Any]:
    """The same from its parts, for a table that is never held whole.

    Args:
        name, title, axes, spec, provenance, unit, decimals, notes, source, date, census: As of a
            ``DeliveredTable``.
        marks: The marks that stand in the file, with the signs that it shows.
        sparse: Whether cells that are not listed are published as 0.
        small: Which of them are not shown instead, since they are in a group not broken down.
    """
    parts: dict[str, Any] = {
        "delivered": VERSION,
        "name": name,
        "title": languages_of(title),
        "unit": languages_of(unit),
    }
    if spec is not None:
        parts |= {"units": spec.of.plural, "measure": spec.measure.value}
    parts |= {
        "values": values_name(decimals),
        "decimals": decimals,
        "flags": SIGNS if marks else "",
        "axes": [_axis(axis, spec, at) for at, axis in enumerate(axes)],
        **_not_listed(small, sparse=sparse),
        "signs": {sign: languages_of(mark.meaning) for mark, sign in marks},
        "marks": {mark.name.lower(): sign for mark, sign in marks},
        "notes": [languages_of(note) for note in notes],
    }
    if source:
        parts["source"] = languages_of(source)
    if date:
        parts["date"] = date
    if census is not None:
        parts["census"] = census.to_json()
    if provenance is not None:
        parts["provenance"] = provenance.to_json()
    if spec is not None:
        # Code lists only: what tells which records a cell is about, also to a program.
        parts["specification"] = _specification(spec)
    return parts


def _not_listed(small: SmallGroups | None, *, sparse: bool) -> dict[str, Any]:
    """What cells mean that are not listed, and the small groups outside the table by position."""
    if small is None:
        return {"cells_not_listed": ZERO if sparse else ALL_LISTED}
    outside = {
        "smallest_group": small.smallest,
        # Positions count from 0: the codes of each level in order, then the total.
        "positions": [[list(group) for group in groups] for groups in small.groups],
        "outside_the_table": small.cells.tolist(),
    }
    return {"cells_not_listed": ZERO_OR_SMALL, SMALL_GROUPS: ReadyText(_short(outside))}


def _specification(spec: TableSpec) -> ReadyText:
    """The specification as text. Tables share their code lists, which are long."""
    whole = spec_to_json(spec, code_lists=False)
    lists = ",".join(_code_list(one, levels) for one, levels in code_lists_of(spec))
    parts = [
        f"{json.dumps(name)}:{f'[{lists}]' if name == 'code_lists' else _short(value)}"
        for name, value in whole.items()
    ]
    return ReadyText("{" + ",".join(parts) + "}")


def _code_list(variable: Variable, levels: Sequence[Level]) -> str:
    key = (id(variable), *map(id, levels))
    written = _WRITTEN.get(key)
    if written is None:
        written = (variable, *levels), _short(code_list_to_json(variable, levels))
        if len(_WRITTEN) >= _MOST_WRITTEN:
            _WRITTEN.clear()
        _WRITTEN[key] = written
    return written[1]


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _axis(axis: DeliveredAxis, spec: TableSpec | None, at: int) -> dict[str, Any]:
    described: dict[str, Any] = {"column": axis.column, "label": languages_of(axis.label)}
    if not axis.unique:
        described["level_column"] = f"{axis.column}_level"
    if axis.geography:
        described["geography"] = True
    if spec is not None:
        counted = spec.axes[at]
        described |= {
            "variable": counted.variable.name,
            "levels": [level.name for level in counted.levels],
            "total": counted.total,
            "positions": len(counted.codes),
        }
    described["codes"] = [
        _code(axis, place, with_position=spec is not None) for place in range(len(axis))
    ]
    return described


def _code(axis: DeliveredAxis, place: int, *, with_position: bool) -> dict[str, Any]:
    """One code: its label and level, the place of the code above it, its position in the table."""
    described: dict[str, Any] = {"code": axis.codes[place]}
    if axis.labels[place]:
        described["label"] = languages_of(axis.labels[place])
    described["level"] = axis.levels[place]
    if axis.parents[place] != NO_PARENT:
        described["in"] = axis.parents[place]
    if with_position:
        described["at"] = int(axis.positions[place])
    return described


def about_document(content: dict[str, Any]) -> str:
    """The same as a document; a code of a list stands on one line, code lists on one."""
    return "{\n" + ",\n".join(_lines(content)) + "\n}\n"


def _lines(content: dict[str, Any]) -> Iterator[str]:
    for name, value in content.items():
        if name == "axes":
            text = "[" + ",".join(map(_axis_text, value)) + "\n ]" if value else "[]"
        else:
            text = _value_text(value)
        yield f" {json.dumps(name)}: {text}"


def _value_text(value: object) -> str:
    if isinstance(value, ReadyText):
        return value
    return json.dumps(value, ensure_ascii=False, indent=1).replace("\n", "\n ")


def languages_of(text: Text) -> dict[str, str]:
    """A text by language."""
    return dict(text.by_language)


def _axis_text(axis: dict[str, Any]) -> str:
    lines = [
        f"   {json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}"
        for name, value in axis.items()
        if name != "codes"
    ]
    codes = [f"    {json.dumps(code, ensure_ascii=False)}" for code in axis["codes"]]
    listed = "[\n" + ",\n".join(codes) + "\n   ]" if codes else "[]"
    return "\n  {\n" + ",\n".join([*lines, f'   "codes": {listed}']) + "\n  }"
