"""The columns of files for programs: codes, levels where they are needed, labels, values, signs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredAxis

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
