"""Which numbers a table builder has given out, so that it does not give out others unawares."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.model.published.lock import EventKind, Making


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ServedNumbers:
    """The numbers of one census that a table builder has opened.

    Attributes:
        making: How they are made. Its settings are the fingerprints of the methods by what they
            count, never their parameters.
        smallest_group: Groups of fewer are not broken down; ``None`` without that rule.
        looks: How many times the numbers were drawn, the first time included.
        menus: The tables that could ever be asked for, as texts.
    """

    making: Making
    smallest_group: int | None = None
    looks: int = 1
    menus: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<ServedNumbers of {self.making.series!r}: confidential>"

    @property
    def series(self) -> str:
        """The census."""
        return self.making.series


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedEvent:
    """Something that happened to the numbers that a table builder gives out.

    Attributes:
        name: What the office calls it.
        kind: What it was.
        series: The census.
    """

    name: str
    kind: EventKind
    series: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the guard over served numbers decided.

    Attributes:
        numbers: What is opened.
        event: What happens by that; ``None`` if it is what was open before.
        notes: What the office should know, a sentence each.
    """

    numbers: ServedNumbers
    event: ServedEvent | None = None
    notes: tuple[str, ...] = ()
