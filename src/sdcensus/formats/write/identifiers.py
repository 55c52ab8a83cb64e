"""What formats ask of codes and columns: at least one axis, and no identifier twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.text import TOTAL_LABEL

#: The axis of a table that has none: the one cell is the total of everything.
ONE_CELL = DeliveredAxis(
    column="TOTAL",
    label=TOTAL_LABEL,
    positions=np.zeros(1, dtype=np.int64),
    codes=(TOTAL,),
    labels=(TOTAL_LABEL,),
    levels=(TOTAL,),
    parents=(NO_PARENT,),
    total=0,
)


def at_least_one_axis(table: DeliveredTable) -> tuple[DeliveredAxis, ...]:
    """The axes of a table; one of a single code where it has none and the format needs one."""
    return table.axes or (ONE_CELL,)


def distinct(
    words: Sequence[str], *, taken: Iterable[str] = (), form: str = "{}_{}"
) -> tuple[str, ...]:
    """The same words with a number behind those that stood before.

    Args:
        words: The words.
        taken: Words that none of them may be.
        form: How a word and its number are put together.

    Examples:
        >>> distinct(["a", "b", "a", "a_2"])
        ('a', 'b', 'a_3', 'a_2')
    """
    used, kept = set(taken), set(words)
    results: list[str] = []
    for word in words:
        new, number = word, 1
        while new in used or (number > 1 and new in kept):
            number += 1
            new = form.format(word, number)
        used.add(new)
        results.append(new)
    return tuple(results)


def unique_codes(axis: DeliveredAxis) -> tuple[str, ...]:
    """A code for every place of an axis, none twice.

    A code that stands at several levels gets the level behind it, wherever it stands:
    ``NL1@region`` and ``NL1@country``. All others stay as they are.
    """
    if axis.unique:
        return axis.codes
    times = Counter(axis.codes)
    pairs = zip(axis.codes, axis.levels, strict=True)
    return distinct([code if times[code] == 1 else f"{code}@{level}" for code, level in pairs])


def chosen_languages(table: DeliveredTable, languages: Sequence[str]) -> tuple[str, ...]:
    """The languages that were asked for; else the first that the table speaks."""
    return tuple(languages) or table.languages()[:1] or ("en",)
