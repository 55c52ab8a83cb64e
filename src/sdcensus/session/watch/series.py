"""Conditions that differ by few codes, walks through places of a fine table and through a menu.

Whoever collects every table collects every number, and attacks on all tables together begin there.
No two of these tables need to be about the same target, so that neither averaging nor scanning
sees it. Research is about some variables; a walk is about all of them.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from sdcensus.session.watch.averaging import decayed
from sdcensus.session.watch.code_lists import Levels
from sdcensus.session.watch.looks import AskedCells, Covered

#: Choices of one variable that are compared with a new one.
MOST_CHOICES = 64
#: Odd conditions around the same cells that are told apart.
MOST_ODD = 256
#: Places of one table that are remembered.
MOST_PLACES = 1_024
_TITLES = 5


class Aged:
    """A number of events of which older ones count less."""

    __slots__ = ("at", "value")

    def __init__(self) -> None:
        self.value = 0.0
        self.at = float("-inf")

    def add(self, at: float, half_life: float, number: int = 1) -> float:
        """One more, or several."""
        self.value = decayed(self.value, at - self.at, half_life) + number
        self.at = max(self.at, at)
        return self.value


@dataclass(frozen=True, slots=True)
class SeriesStep:
    """A question that goes on with a series.

    Attributes:
        count: How many there were, aged.
        what: The variables that the series is about.
        table: The table, in words.
        titles: Tables of the series, the last one last.
    """

    count: float
    what: str
    table: str
    titles: tuple[str, ...]


class _Table:
    """The same axes under the same conditions, but for one more variable."""

    __slots__ = ("asked", "choices", "odd")

    def __init__(self) -> None:
        self.asked = False
        self.choices: list[tuple[str, int, Levels]] = []
        self.odd: set[str] = set()


class Differencing:
    """Conditions of one account, or of all together, that differ by few codes."""

    def __init__(self, *, half_life: float, few: int, share: float, most: int) -> None:
        self._half_life, self._few, self._share, self._most = half_life, few, share, most
        self._tables: dict[Any, _Table] = {}
        self.steps = Aged()
        self._titles: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self._tables)

    def seen(self, asked: AskedCells, at: float) -> SeriesStep | None:
        """Take note of a question; a step if its condition lies next to another one."""
        own = self._table(asked, asked.conditions)
        number, what = self._odd(own, asked) if asked.odd else self._next(own, asked)
        if len(self._tables) > self._most:
            for key in list(itertools.islice(self._tables, self._most // 2)):
                del self._tables[key]
        if not number:
            return None
        self._titles = (*self._titles, asked.title)[-_TITLES:]
        count = self.steps.add(at, self._half_life, number)
        return SeriesStep(count, what, asked.title, self._titles)

    def _table(self, asked: AskedCells, conditions: dict[str, int]) -> _Table:
        key = (asked.axes, frozenset(conditions.items()))
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = _Table()
        return table

    def _next(self, own: _Table, asked: AskedCells) -> tuple[int, str]:
        """How many differences by few codes a condition makes, and of which variable."""
        if own.asked:
            return 0, ""
        own.asked = True
        best = (0, "")
        for name in dict.fromkeys(choice[0] for choice in own.choices):
            mine = [
                (choice, levels) for variable, choice, levels in own.choices if variable == name
            ]
            levels = mine[0][1]
            number = self._differences(levels.leaves, [choice for choice, _ in mine], levels)
            best = max(best, (number, name))
        for name, choice in asked.conditions.items():
            others = {key: value for key, value in asked.conditions.items() if key != name}
            wider = self._table(asked, others)
            levels = asked.levels[name]
            known = [other for variable, other, _ in wider.choices if variable == name]
            if wider.asked:
                known.append(levels.leaves)
            best = max(best, (self._differences(choice, known, levels), name))
            wider.choices = [*wider.choices, (name, choice, levels)][-MOST_CHOICES:]
        return best

    def _differences(self, choice: int, known: list[int], levels: Levels) -> int:
        """How many differences a choice makes with known ones, such as overlap not counted."""
        near = [other for other in known if self._near(choice, other, levels)]
        number = used = 0
        for other in near:
            differ = choice & ~other
            if differ and not differ & used:
                number += 1
                used |= differ
        return max(number, 1 if near else 0)

    def _odd(self, own: _Table, asked: AskedCells) -> tuple[int, str]:
        """The same for conditions that leave out combinations of codes of several variables."""
        if asked.odd in own.odd:
            return 0, ""
        near = asked.odd_share <= self._share and (own.asked or bool(own.odd))
        if len(own.odd) < MOST_ODD:
            own.odd.add(asked.odd)
        return int(near), ", ".join(sorted(asked.odd_variables))

    def _near(self, one: int, other: int, levels: Levels) -> bool:
        """Whether one set of leaves lies in the other and few codes are missing."""
        differ = one ^ other
        if not differ or (one & other) not in (one, other):
            return False
        larger = max(one.bit_count(), other.bit_count())
        return differ.bit_count() <= self._share * larger and levels.few(differ, self._few)


class _Walk:
    __slots__ = ("count", "places", "titles")

    def __init__(self) -> None:
        self.places: set[int] = set()
        self.count = Aged()
        self.titles: tuple[str, ...] = ()


class Scanning:
    """Single places of fine tables that one account asked for one after the other."""

    def __init__(self, *, half_life: float, most: int) -> None:
        self._half_life, self._most = half_life, most
        self._walks: dict[Any, _Walk] = {}
        self._entries = 0

    def __len__(self) -> int:
        return self._entries

    @property
    def most(self) -> tuple[float, float]:
        """The longest walk, aged to its last step, and when that was."""
        return max(
            ((walk.count.value, walk.count.at) for walk in self._walks.values()), default=(0.0, 0.0)
        )

    def seen(self, asked: AskedCells, at: float) -> SeriesStep | None:
        """Take note of a question; a step if it shows a place that was not seen before."""
        here = asked.walk
        if here is None:
            return None
        walk = self._walks.get(here.table)
        if walk is None:
            walk = self._walks[here.table] = _Walk()
            self._entries += 1
        place = hash(here.place)
        if place in walk.places:
            return None
        if len(walk.places) < MOST_PLACES:
            walk.places.add(place)
            self._entries += 1
        walk.titles = (*walk.titles, asked.title)[-_TITLES:]
        count = walk.count.add(at, self._half_life)
        self._forget()
        return SeriesStep(count, here.variables, here.title, walk.titles)

    def _forget(self) -> None:
        """The oldest and shortest walks go first."""
        if self._entries > self._most:
            ranked = sorted(self._walks.items(), key=lambda entry: -len(entry[1].places))
            kept: dict[Any, _Walk] = {}
            self._entries = 0
            for key, walk in ranked:
                if kept and self._entries + 1 + len(walk.places) > self._most // 2:
                    break
                kept[key] = walk
                self._entries += 1 + len(walk.places)
            self._walks = kept


class Coverage:
    """Pairs of variables that one account has seen together, for each kind of area.

    They age for slowing down and not for the alarm: a walk that takes a year ends where one of a
    day does. There are never more of them than the code lists make.
    """

    def __init__(self, *, half_life: float) -> None:
        self._half_life = half_life
        self._pairs: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
        self._aged: dict[tuple[str, str, str], Aged] = {}
        self._titles: tuple[str, ...] = ()
        self.most = 0

    def __len__(self) -> int:
        return sum(len(pairs) for pairs in self._pairs.values())

    def seen(self, asked: AskedCells, at: float) -> tuple[SeriesStep, float] | None:
        """Take note of a question; a step, and the aged number of pairs, if it shows a new one."""
        step: Covered | None = None
        for covered in asked.covered:
            pairs = self._pairs.setdefault(covered.place, set())
            if covered.pair not in pairs:
                pairs.add(covered.pair)
                self._aged.setdefault(covered.place, Aged()).add(at, self._half_life)
                if step is None or len(pairs) > len(self._pairs[step.place]):
                    step = covered
        if step is None:
            return None
        count = len(self._pairs[step.place])
        self.most = max(self.most, count)
        self._titles = (*self._titles, asked.title)[-_TITLES:]
        series_step = SeriesStep(float(count), step.title, asked.title, self._titles)
        return series_step, self._aged[step.place].value
