"""What the status of a cell says in the files of other tools: shown, withheld, or empty."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType


class CellState(IntEnum):
    """What is known of a cell."""

    SHOWN = 0
    EMPTY = 1
    PRIMARY = 2
    SECONDARY = 3
    ABSENT = 4

    @property
    def is_withheld(self) -> bool:
        """Whether somebody withheld the cell on purpose."""
        return self in (CellState.PRIMARY, CellState.SECONDARY)


@dataclass(frozen=True, slots=True)
class StatusWords:
    """The statuses of one tool, in small letters, with what each means."""

    tool: str
    meanings: Mapping[str, CellState]

    def covers(self, words: Collection[str]) -> bool:
        """Whether all statuses that occur are known."""
        return all(word in self.meanings for word in words)


def _words(tool: str, **groups: Iterable[str]) -> StatusWords:
    states = {word: CellState[state.upper()] for state, listed in groups.items() for word in listed}
    return StatusWords(tool, MappingProxyType(states))


#: Looked through in this order; the first that knows every status of a file is taken.
KNOWN = (
    _words("yes or no", shown=("0", "false", "no", "n", "f"), primary=("1", "true", "yes", "t")),
    _words(
        "numbers of tau-ARGUS",
        shown=("1", "2", "10"),
        primary=("3", "4", "5", "6", "7", "8", "9"),
        secondary=("11", "12"),
        empty=("13", "14"),
    ),
    _words(
        "letters of tau-ARGUS and sdcTable",
        shown=("", "s", "p", "z"),
        primary=("u",),
        secondary=("m", "x"),
        empty=("e",),
    ),
    _words("SBS", shown=("v",), primary=("a", "b", "c", "f"), secondary=("d",)),
    _words(
        "words",
        shown=("", "published", "shown", "safe", "valid", "ok", "free"),
        primary=(
            *("primary", "withheld", "suppressed", "confidential", "unsafe", "c", "x", "k"),
            *("..", ".", ":", "*"),
        ),
        secondary=("secondary", "complementary", "d"),
        empty=("empty", "-"),
    ),
)


def meaning_of(words: Collection[str], own: StatusWords | None = None) -> StatusWords | None:
    """The tool whose statuses these are; ``None`` if no tool is known that has all of them.

    Args:
        words: All statuses that occur, in small letters.
        own: What the user said; goes before everything else.

    Examples:
        >>> meaning_of({"s", "u", "m"}).tool
        'letters of tau-ARGUS and sdcTable'
        >>> meaning_of({"1", "11", "14"}).tool
        'numbers of tau-ARGUS'
    """
    if own is not None:
        return own if own.covers(words) else None
    for known in KNOWN:
        if known.covers(words) and not (known is KNOWN[0] and set(words) == {"1"}):
            return known
    return None


def told_by_user(shown: Iterable[str], withheld: Iterable[str]) -> StatusWords | None:
    """What somebody says that statuses mean; ``None`` if nothing is said."""
    words = _words(
        "your own words",
        shown=[word.strip().lower() for word in shown],
        primary=[word.strip().lower() for word in withheld],
    )
    return words if words.meanings else None
