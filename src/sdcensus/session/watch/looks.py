"""A question as the watch sees it: which cells with noise of their own it looks at.

Every answer is put together from published values of declared codes without any condition. A
condition, a chosen area and somebody's own groups are slices and sums of these and bring no noise
of their own; here they are sets of codes of a table that is the same for all of them.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.levels_told_apart import Use, uses_of
from sdcensus.model.spec.record_sets import is_product, leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import Universe
from sdcensus.session.watch.code_lists import CodeSet, Levels
from sdcensus.session.watch.findings import WatchLimits

#: A variable at a level.
Pair = tuple[str, str]
#: What cells are about: the unit and measure, then variables at levels, sorted by name.
Kind = tuple[Pair, ...]
#: For each variable of a kind, after the unit, the codes that were asked for.
Box = tuple[CodeSet, ...]

#: Kinds of cells of one question that are looked at, the coarsest first.
MOST_LOOKS = 512
#: Pairs of a kind and a target that are looked at for one question.
MOST_PAIRS = 4_000
#: Ways with more parts than this are worth next to nothing.
MOST_PARTS = 50
#: Targets have at most so many variables.
MOST_VARIABLES = 3
#: Choices of at most so many codes are single places.
MOST_SINGLE = 3
_LEAST = 1 / MOST_PARTS


@dataclass(frozen=True, slots=True)
class Look:
    """Cells of one kind that a question shows, or adds up for its answer.

    Attributes:
        kind: What they are about.
        box: Which of them.
        targets: The kinds of larger cells that they add up to, and one over the number of parts.
    """

    kind: Kind
    box: Box
    targets: tuple[tuple[Kind, float], ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """A fine table of which a question shows a single place.

    Attributes:
        table: The table and what was chosen broadly.
        place: What was chosen narrowly.
        title: The table in words.
        variables: By what was chosen.
    """

    table: tuple[object, ...]
    place: tuple[tuple[str, CodeSet], ...]
    title: str
    variables: str


@dataclass(frozen=True, slots=True)
class Covered:
    """Two variables that a question shows together, by area or without one.

    Attributes:
        place: What is counted, and by which geography at which level; empty for none.
        pair: The names of the variables.
    """

    place: tuple[str, str, str]
    pair: tuple[str, str]

    @property
    def title(self) -> str:
        """The place in words."""
        unit, area, level = self.place
        return f"{unit} by {area}@{level}" if area else unit


class AskedCells:
    """One question, read once and kept for whoever asks it again.

    Attributes:
        title, levels: The table in words, and its variables.
        looks: The cells that it looks at, if they add up to a target worth averaging.
        walk: The single place of a fine table that it is about, if it is about one.
        covered: The pairs of variables that it shows in small cells.
        axes: What the answer shows, to be compared with other questions.
        conditions: For each variable of the condition that is not shown, the chosen leaves.
        odd: The condition, where it is no product of sets of codes; else empty.
        odd_variables: Its variables then.
        odd_share: Which share of the product around it is left out then.
    """

    def __init__(self, spec: TableSpec, levels: Mapping[str, Levels], limits: WatchLimits) -> None:
        self.title = spec.title + _chosen(spec.universe)
        self.levels = levels
        self._least = limits.target_cells
        self._finest = limits.scan_cells
        # Sums of each amount are another series of numbers than counts.
        amount = "" if spec.amount is None else spec.amount.name
        self._unit: Pair = (spec.of.plural, f"{spec.measure.value} {amount}".strip())
        self._uses = uses_of(spec)
        self._options = [self._choices(use) for use in self._uses]
        # A condition that is no product of sets is told by its canonical form besides.
        self.odd = "" if is_product(spec.universe) else json.dumps(spec.universe.canonical())
        self.odd_share = _left_out(spec.universe) if self.odd else 0.0
        self.odd_variables = (
            [variable.name for variable in spec.universe.variables] if self.odd else []
        )
        shown = {
            use.variable.name: tuple(
                sorted(levels[use.variable.name].named(level) for level in named)
            )
            for use in self._uses
            if (named := () if use.axis is None else use.axis.levels)
        }
        self.axes: tuple[object, ...] = (self._unit, *sorted(shown.items()))
        self.looks = self._all_looks()
        self.walk = self._single_place()
        self.covered = tuple(self._all_covered())
        self.conditions = {
            use.variable.name: chosen
            for use in self._uses
            if self._hidden(use)
            for chosen in [levels[use.variable.name].leaves_in(use.chosen)]
            if chosen != levels[use.variable.name].leaves
        }

    def _all_covered(self) -> Iterator[Covered]:
        """Every two variables besides areas, where they make cells that are worth averaging."""
        areas: list[tuple[Pair, float]] = [(("", ""), 1.0)]
        geographies = [use.variable for use in self._uses if use.variable.role is Role.GEOGRAPHY]
        # Further geographies are variables like any other.
        place = min(geographies, key=lambda variable: not variable.main, default=None)
        others: list[tuple[str, float]] = []
        for use, options in zip(self._uses, self._options, strict=True):
            levels = self.levels[use.variable.name]
            sizes = {pair: levels.size(pair[1]) for pair, _ in options if pair[1]}
            if use.variable is place:
                areas += sizes.items()
            elif sizes:
                others.append((use.variable.name, max(sizes.values())))
        for (first, many), (second, more) in itertools.combinations(sorted(others), 2):
            for (area, level), size in areas:
                if size * many * more >= self._least:
                    yield Covered((self._unit[0], area, level), (first, second))

    def _hidden(self, use: Use) -> bool:
        """Whether the condition tells leaves apart that the answer does not show."""
        if use.condition is None:
            return False
        levels = self.levels[use.variable.name]
        shown = [] if use.axis is None else [levels.named(level) for level in use.axis.levels]
        return not any(levels.says(seen, use.condition) for seen in shown)

    def _choices(self, use: Use) -> list[tuple[Pair, CodeSet]]:
        """At which levels a variable is looked at; an empty level for not at all."""
        name = use.variable.name
        levels = self.levels[name]
        asked = [] if use.axis is None else [levels.named(level) for level in use.axis.levels]
        total = use.axis is None or use.axis.total
        if use.condition is None:
            chosen: dict[str, CodeSet] = dict.fromkeys(asked)
            if total:
                chosen[""] = None
        else:
            said = levels.saying(use.condition)
            names = [shown if levels.says(shown, use.condition) else said for shown in asked]
            chosen = {
                shown: levels.codes_in(shown, use.chosen)
                for shown in [*names, *([said] if total else [])]
            }
            if total and chosen[said] is None:  # nothing but missing values was left out
                chosen[""] = None
        return [((name, level), codes) for level, codes in chosen.items()]

    def _all_looks(self) -> tuple[Look, ...]:
        """The kinds of cells, coarse ones first, that add up to a target worth averaging."""
        every_look: list[tuple[float, Kind, Box]] = []
        combinations = itertools.product(*self._options)
        for chosen in itertools.islice(combinations, 4 * MOST_LOOKS):
            held = sorted(look for look in chosen if look[0][1])
            cells = math.prod(self.levels[pair[0]].size(pair[1]) for pair, _ in held)
            if len(held) >= 2 and cells >= self._least:
                kind = (self._unit, *(pair for pair, _ in held))
                every_look.append((cells, kind, tuple(codes for _, codes in held)))
        every_look.sort(key=lambda look: look[0])
        looks = []
        left = MOST_PAIRS
        for _, kind, box in every_look[:MOST_LOOKS]:
            targets = tuple(self._targets(kind))[: max(left, 0)]
            left -= len(targets)
            if targets:
                looks.append(Look(kind, box, targets))
        return tuple(looks)

    def _targets(self, kind: Kind) -> list[tuple[Kind, float]]:
        """The kinds of cells that a kind of cells adds up to, with few parts each."""
        targets: list[tuple[Kind, float, float, bool]] = [((kind[0],), 1.0, 1.0, False)]
        for pair in kind[1:]:
            levels = self.levels[pair[0]]
            size = levels.size(pair[1])
            ways = [(pair, size)]
            ways += [((pair[0], way), levels.size(way)) for way in levels.coarser(pair[1])]
            longer = []
            for start, weight, cells, people in targets:
                if weight / size >= _LEAST:
                    longer.append((start, weight / size, cells, people))
                if len(start) <= MOST_VARIABLES:
                    longer += [
                        (
                            (*start, way),
                            weight * codes / size,
                            cells * codes,
                            people or not levels.geography,
                        )
                        for way, codes in ways
                        if codes > 1 and weight * codes / size >= _LEAST
                    ]
            targets = longer
        return [
            (target, weight)
            for target, weight, cells, people in targets
            if len(target) > 2 and people and cells >= self._least
        ]

    def box_of(self, target: Kind) -> Box:
        """The codes of a target that the question is about."""
        chosen = {
            pair[0]: (pair[1], codes) for option in self._options for pair, codes in option[:1]
        }
        box: list[CodeSet] = []
        for name, level in target[1:]:
            fine, codes = chosen.get(name, ("", None))
            if codes is not None and (fine == level or level in self.levels[name].coarser(fine)):
                codes = self.levels[name].raised(codes, fine, level)
            else:
                codes = None
            box.append(codes)
        return tuple(box)

    def _single_place(self) -> Walk | None:
        """The single place of a fine table that the question is about, if it is about one."""
        finest = [
            max(option, key=lambda way: self.levels[way[0][0]].size(way[0][1]) if way[0][1] else 0)
            for option in self._options
        ]
        held = sorted(choice for choice in finest if choice[0][1])
        cells = math.prod(self.levels[pair[0]].size(pair[1]) for pair, _ in held)
        place = tuple(
            (pair[0], codes)
            for pair, codes in held
            if codes is not None and self._narrow(pair, codes)
        )
        if not place or cells < self._finest:
            return None
        names = {name for name, _ in place}
        broad = tuple((pair, codes) for pair, codes in held if pair[0] not in names)
        pairs = tuple(pair for pair, _ in held)
        title = words((self._unit, *pairs), self.levels)
        return Walk((self._unit, pairs, broad), place, title, ", ".join(sorted(names)))

    def _narrow(self, pair: Pair, codes: int) -> bool:
        chosen = codes.bit_count()
        return chosen <= MOST_SINGLE and 4 * chosen <= self.levels[pair[0]].size(pair[1])


def _chosen(universe: Universe) -> str:
    """What a condition chooses, in short: questions of a series differ by it alone."""
    parts = []
    for axis, variable in enumerate(universe.variables):
        others = tuple(other for other in range(universe.truth.ndim) if other != axis)
        chosen = np.asarray(universe.truth.any(axis=others))[universe.classes[axis]]
        leaves = np.flatnonzero(chosen).tolist()
        said = f"{len(leaves)} of {chosen.size} codes"
        if len(leaves) <= 2:
            said = ", ".join(variable.codes[at].code for at in leaves)
        parts.append(f"{variable.name}: {said}")
    return f" ({'; '.join(parts)})" if parts else ""


def _left_out(universe: Universe) -> float:
    """The share of the combinations of leaves that a condition leaves out of the smallest box."""
    inside = universe.truth.astype(np.float64)
    box = 1.0
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        leaves = np.bincount(classes).astype(np.float64)
        inside = np.tensordot(leaves, inside, axes=(0, 0))
        box *= float(leaves_in(universe, variable).sum())
    return 1 - float(inside) / box if box else 0.0


def words(kind: Kind, levels: Mapping[str, Levels]) -> str:
    """What cells are about, in the grammar of plans."""
    said = []
    for name, level in kind[1:]:
        leaf = name in levels and levels[name].variable.leaf_level == level
        said.append(name if leaf else f"{name}@{level}")
    return f"{kind[0][0]} by {', '.join(said)}"
