"""How much of a menu one account has walked through: pairs of variables, by area.

Whoever collects every table collects every number, and attacks on all tables together begin there.
No two of these tables need to be about the same target, so that neither averaging nor scanning
sees it. Research is about some variables; a walk is about all of them.
"""

from __future__ import annotations

from sdcensus.session.watch.looks import AskedCells, Covered
from sdcensus.session.watch.series import Aged, SeriesStep

_TITLES = 5


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
        made = SeriesStep(float(count), step.title, asked.title, self._titles)
        return made, self._aged[step.place].value
