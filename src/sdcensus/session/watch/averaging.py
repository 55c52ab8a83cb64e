"""Many partitions of the same total: how often an account looked at one target.

Each kind of cells that was seen is a look at every kind of larger cells that it adds up to, worth
one over the number of parts, once, however often and in whatever slices it was asked for. The sum
over all of them is the most that anybody can know about a cell of the target. Where that comes
near a limit and conditions are in play, the looks at the very cells of the last question are
counted one by one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sdcensus.session.watch.code_lists import CodeSet, Levels
from sdcensus.session.watch.looks import AskedCells, Box, Kind, words

#: Slices of one kind of cells that are told apart; more of them become the slice around all.
MOST_BOXES = 16
#: Kinds of cells that are remembered for each target.
MOST_SOURCES = 256
#: Titles of tables that are remembered for each target.
MOST_TITLES = 5
#: Targets that are counted one by one for each question.
MOST_COUNTED = 3


def decayed(value: float, since: float, half_life: float) -> float:
    """What is left of a value after a time."""
    if not value or since <= 0:
        return value
    return value * math.exp2(-min(since / half_life, 1000.0))


class AveragedTarget:
    """What was seen of one kind of larger cells."""

    __slots__ = (
        "aged",
        "at",
        "information",
        "narrow",
        "partitions",
        "sources",
        "titles",
        "weights",
    )

    def __init__(self) -> None:
        self.information = 0.0
        self.aged = 0.0
        self.at = float("-inf")
        self.partitions = 0
        self.narrow = False
        self.sources: list[Kind] = []
        self.weights: list[float] = []
        self.titles: tuple[str, ...] = ()

    def add(self, weight: float, kind: Kind, at: float, half_life: float) -> None:
        """One more way to see it."""
        self.aged = decayed(self.aged, at - self.at, half_life) + weight
        self.at = max(self.at, at)
        self.information += weight
        self.partitions += 1
        if len(self.sources) < MOST_SOURCES:
            self.sources.append(kind)
            self.weights.append(weight)

    def named(self, title: str) -> None:
        """Remember the title of a table that shows it."""
        if title not in self.titles:
            self.titles = (*self.titles, title)[-MOST_TITLES:]


@dataclass(frozen=True, slots=True)
class Seen:
    """What an account knows about a target after a question.

    Attributes:
        target: What the cells are about, in words.
        codes: Which of them, in words; empty for all.
        information: The looks at them, for good.
        aged: The same, where older ones count less.
        partitions: In how many ways.
        titles: Tables that show them.
    """

    target: str
    codes: str
    information: float
    aged: float
    partitions: int
    titles: tuple[str, ...]


class Averaging:
    """The looks of one account, or of all together."""

    def __init__(self, *, half_life: float, most: int) -> None:
        self._half_life = half_life
        self._most = most
        self._looks: dict[Kind, list[Box] | None] = {}
        self._targets: dict[Kind, AveragedTarget] = {}

    def __len__(self) -> int:
        return len(self._looks) + len(self._targets)

    def seen(self, asked: AskedCells, at: float, near: float) -> Seen | None:
        """Take note of a question.

        Args:
            asked: The question.
            at: When.
            near: From how many looks on a target is counted one by one.

        Returns:
            Of the targets that the question tells something new about, the one with the most
            looks.
        """
        touched: dict[Kind, AveragedTarget] = {}
        for look in asked.looks:
            fresh = look.kind not in self._looks
            if not self._new(look.kind, look.box, asked.levels):
                continue
            narrow = any(codes is not None for codes in look.box)
            for kind, weight in look.targets:
                target = self._targets.get(kind)
                if target is None:
                    target = self._targets[kind] = AveragedTarget()
                if fresh:
                    target.add(weight, look.kind, at, self._half_life)
                target.narrow |= narrow
                touched[kind] = target
        best: Seen | None = None
        counted = 0
        for kind, target in sorted(touched.items(), key=lambda touch: -touch[1].information):
            target.named(asked.title)
            if best is not None and target.information <= best.information:
                break
            if target.information < near or not target.narrow:
                seen = self._whole(kind, target, asked.levels)
            elif counted < MOST_COUNTED:
                counted += 1
                seen = self._one_by_one(kind, target, asked)
            else:
                continue
            if best is None or seen.information > best.information:
                best = seen
        self._forget()
        return best

    def _new(self, kind: Kind, box: Box, levels: Mapping[str, Levels]) -> bool:
        """Take note of cells; whether any of them were not seen before."""
        whole = all(codes is None for codes in box)
        if kind not in self._looks:
            self._looks[kind] = None if whole else [box]
            return True
        boxes = self._looks[kind]
        if boxes is None or any(_inside(box, known) for known in boxes):
            return False
        self._looks[kind] = None if whole else _merged(boxes, box, kind, levels)
        return True

    def _whole(self, kind: Kind, target: AveragedTarget, levels: Mapping[str, Levels]) -> Seen:
        return Seen(
            words(kind, levels),
            "",
            target.information,
            target.aged,
            target.partitions,
            target.titles,
        )

    def _one_by_one(self, kind: Kind, target: AveragedTarget, asked: AskedCells) -> Seen:
        """Count the ways to see the very cells of a question."""
        here = asked.box_of(kind)
        around: list[tuple[float, list[Box]]] = []
        information, partitions = 0.0, 0
        for source, weight in zip(target.sources, target.weights, strict=True):
            boxes = self._on_target(source, kind, asked.levels)
            if any(_inside(here, box) for box in boxes):
                information += weight
                partitions += 1
            else:
                around.append((weight, boxes))
        # Slices that overlap with these cells leave fewer cells that are in all of them.
        for weight, boxes in sorted(around, key=lambda part: -part[0]):
            overlaps = (both for box in boxes if (both := _cut(here, box)) is not None)
            narrower = next(overlaps, None)
            if narrower is not None:
                here = narrower
                information += weight
                partitions += 1
        said = [
            asked.levels[name].words(level, codes)
            for (name, level), codes in zip(kind[1:], here, strict=True)
        ]
        return Seen(
            words(kind, asked.levels),
            "; ".join(part for part in said if part),
            information,
            target.aged * information / target.information,
            partitions,
            target.titles,
        )

    def _on_target(self, source: Kind, target: Kind, levels: Mapping[str, Levels]) -> list[Box]:
        """Of which cells of a target a kind of cells was seen in all parts."""
        wanted = dict(target[1:])
        boxes = self._looks.get(source)
        if boxes is None:
            return [(None,) * len(wanted)]
        on_target: list[Box] = []
        for box in boxes:
            raised: dict[str, CodeSet] = {}
            for (name, level), codes in zip(source[1:], box, strict=True):
                if name in wanted:
                    raised[name] = levels[name].raised(codes, level, wanted[name])
                elif codes is not None:  # not all parts of the sum were seen
                    break
            else:
                on_target.append(tuple(raised[name] for name in wanted))
        return on_target

    def _forget(self) -> None:
        """Keep memory bounded: the oldest looks go, and the targets with the fewest."""
        if len(self._looks) > self._most:
            for kind in list(itertools.islice(self._looks, len(self._looks) - self._most // 2)):
                del self._looks[kind]
        if len(self._targets) > self._most:
            ranked = sorted(self._targets, key=lambda target: -self._targets[target].information)
            self._targets = {known: self._targets[known] for known in ranked[: self._most // 2]}


def _inside(inner: Box, outer: Box) -> bool:
    return all(
        out is None or (own is not None and own & out == own)
        for own, out in zip(inner, outer, strict=True)
    )


def _cut(one: Box, other: Box) -> Box | None:
    """The cells in both; ``None`` if there are none."""
    shared: list[CodeSet] = []
    for own, theirs in zip(one, other, strict=True):
        both = own if theirs is None else theirs if own is None else own & theirs
        if both == 0:
            return None
        shared.append(both)
    return tuple(shared)


def _merged(
    boxes: Iterable[Box], box: Box, kind: Kind, levels: Mapping[str, Levels]
) -> list[Box] | None:
    """Slices and one more, put together where they differ in the codes of one variable only."""
    pairs = kind[1:]
    left = [known for known in boxes if not _inside(known, box)]
    again = True
    while again:
        again = False
        for at, other in enumerate(left):
            apart = [place for place, codes in enumerate(other) if codes != box[place]]
            if len(apart) == 1:
                box = _joined(box, other, apart, pairs, levels)
                del left[at]
                again = True
                break
    if len(left) >= MOST_BOXES:
        for other in left:
            box = _joined(box, other, range(len(pairs)), pairs, levels)
        left = []
    if all(codes is None for codes in box):
        return None
    return [*left, box]


def _joined(
    one: Box, other: Box, places: Iterable[int], pairs: Kind, levels: Mapping[str, Levels]
) -> Box:
    joined = list(one)
    for at in places:
        own, theirs = one[at], other[at]
        name, level = pairs[at]
        both = None if own is None or theirs is None else own | theirs
        joined[at] = None if both is None or both == levels[name].all_codes(level) else both
    return tuple(joined)
