"""The fewest of some sets that make up a whole, each piece of it once: exactly, never nearly.

Where sets only nest there is nothing to choose. Where they cross, the question falls apart into
parts that do not touch. In each of them the sets are two families that nest in themselves (two
hierarchies that cross), and the choice is a minimum cut of a network; or they are more than two,
and sets are taken or left one by one until only two families are left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from sdcensus.errors import SpecError, told

#: Sets that are taken or left in turn before the search is given up with a mistake.
MOST_BRANCHES = 200


def fewest_parts(sets: Sequence[int], whole: int) -> tuple[int, ...] | None:
    """Which sets make up the whole with the fewest of them; ``None`` if none do.

    Of several ways that take equally many sets, the one that has the first set that not both have
    is taken: the order of the sets is the order of preference.

    Args:
        sets: Different sets of pieces, as bits of whole numbers, in the order of preference.
        whole: The pieces that are wanted, as bits.

    Raises:
        SpecError: Sets of three and more hierarchies cross too often to be sure of the fewest.

    Examples:
        >>> fewest_parts([0b1100, 0b0110, 0b0011, 0b1000, 0b0001], 0b1111)
        (0, 2)
    """
    chosen = _Search(sets).best(whole, range(len(sets)))
    if chosen is None:
        return None
    return tuple(number for number in range(len(sets)) if chosen >> (len(sets) - 1 - number) & 1)


class _Search:
    """Chooses among sets; a choice is a whole number with a bit for each set, the first highest."""

    def __init__(self, sets: Sequence[int]) -> None:
        self.sets = sets
        self.bits = [1 << at for at in reversed(range(len(sets)))]
        self.branches = 0
        self.crossing: dict[int, set[int]] = {number: set() for number in range(len(sets))}
        several = [number for number in range(len(sets)) if sets[number].bit_count() > 1]
        for at, number in enumerate(several):
            for other in several[at + 1 :]:
                both = sets[number] & sets[other]
                if both and both not in (sets[number], sets[other]):
                    self.crossing[number].add(other)
                    self.crossing[other].add(number)

    def best(self, whole: int, usable: Iterable[int]) -> int | None:
        """The best choice of usable sets, which all lie in the whole."""
        chosen = reached = 0
        for pieces, members in self._components(usable):
            choice = self._component(pieces, members)
            if choice is None:
                return None
            chosen, reached = chosen | choice, reached | pieces
        return chosen if reached == whole else None

    def _components(self, usable: Iterable[int]) -> list[tuple[int, list[int]]]:
        """Sets that are tied together by pieces that they share."""
        components: list[tuple[int, list[int]]] = []
        for number in usable:
            pieces, members, apart = self.sets[number], [number], []
            for component in components:
                if component[0] & pieces:
                    pieces, members = pieces | component[0], component[1] + members
                else:
                    apart.append(component)
            components = [*apart, (pieces, members)]
        return components

    def _component(self, whole: int, members: list[int]) -> int | None:
        for number in members:
            if self.sets[number] == whole:
                return self.bits[number]
        families = self._families(members)
        if families is not None:
            return _cheapest_cut(self, whole, *families)
        self.branches += 1
        if self.branches > MOST_BRANCHES:
            raise SpecError(
                told(
                    "condition.too-many-crossings",
                    "The codes lie across too many levels that cross each other. Choose codes of"
                    " one level, or fewer of them.",
                )
            )
        usable = set(members)
        number = max(members, key=lambda each: (len(self.crossing[each] & usable), -each))
        taken = self.sets[number]
        rest = self.best(whole & ~taken, [each for each in members if not self.sets[each] & taken])
        without = self.best(whole, [each for each in members if each != number])
        choices = [] if rest is None else [rest | self.bits[number]]
        choices += [] if without is None else [without]
        return min(choices, key=lambda chosen: (chosen.bit_count(), -chosen), default=None)

    def _families(self, members: list[int]) -> tuple[list[int], list[int]] | None:
        """Two families of sets that nest in themselves; ``None`` if there are none."""
        usable, side = set(members), dict[int, int]()
        for start in members:
            waiting = [] if start in side else [start]
            side.setdefault(start, 0)
            while waiting:
                number = waiting.pop()
                for other in self.crossing[number] & usable:
                    if other not in side:
                        side[other] = 1 - side[number]
                        waiting.append(other)
                    elif side[other] == side[number]:
                        return None
        first, second = ([each for each in members if side[each] == at] for at in (0, 1))
        return first, second


def _cheapest_cut(search: _Search, whole: int, first: list[int], second: list[int]) -> int | None:
    """The best choice of two families, each of which nests in itself; ``None`` if there is none.

    A set of the first family is *on* where it or a set around it is taken, one of the second where
    neither is. A piece is made up once where the smallest sets of both families around it are on
    together or off together. What it costs is then a sum over sets that are on and over sets that
    are off, so that the cheapest choice is a minimum cut.
    """
    numbers = [*first, *second]
    source, sink = len(numbers), len(numbers) + 1
    # One set more outweighs every preference; a preferred set costs a little less.
    size = 1 << len(search.sets)
    costs = [size - search.bits[number] for number in numbers]
    never = 2 * size * len(numbers)
    network = _Network(len(numbers) + 2)
    above: dict[int, int] = {}
    inner: list[dict[int, int]] = []
    balance = list(costs)
    for family in (range(len(first)), range(len(first), len(numbers))):
        smallest: dict[int, int] = {}
        for node in sorted(family, key=lambda each: -search.sets[numbers[each]].bit_count()):
            pieces = list(_pieces(search.sets[numbers[node]]))
            if pieces[0] in smallest:
                around = above[node] = smallest[pieces[0]]
                balance[around] -= costs[node]
                network.join(*((around, node) if node < len(first) else (node, around)), never)
            smallest.update(dict.fromkeys(pieces, node))
        inner.append(smallest)
    for node, cost in enumerate(balance):
        # On costs something in the first family, off in the second.
        priced = (cost > 0) == (node < len(first))
        network.join(*((node, sink) if priced else (source, node)), abs(cost))
    for piece in _pieces(whole):
        # Where there is no set of one family, the other must make the piece up.
        network.join(inner[0].get(piece, sink), inner[1].get(piece, source), never)
        network.join(inner[1].get(piece, source), inner[0].get(piece, sink), never)
    if network.flow(source, sink, never) >= never:
        return None
    on = network.reached(source)
    taken = [on[node] == (node < len(first)) for node in range(len(numbers))]
    return sum(
        search.bits[number]
        for node, number in enumerate(numbers)
        if taken[node] and not (node in above and taken[above[node]])
    )


class _Network:
    """A network of whole numbers, for the largest flow through it."""

    def __init__(self, nodes: int) -> None:
        self.edges: list[list[int]] = [[] for _ in range(nodes)]
        self.ends: list[int] = []
        self.room: list[int] = []

    def join(self, start: int, end: int, room: int) -> None:
        """An edge with room for so much."""
        for tail, head, capacity in ((start, end, room), (end, start, 0)):
            self.edges[tail].append(len(self.ends))
            self.ends.append(head)
            self.room.append(capacity)

    def flow(self, source: int, sink: int, most: int) -> int:
        """The largest flow, or ``most`` and more; what room is left stays."""
        total = 0
        while total < most and (depth := self._depths(source))[sink] >= 0:
            total += self._pushed(source, sink, depth)
        return total

    def _pushed(self, source: int, sink: int, depth: list[int]) -> int:
        """What flows along shortest ways, until none of them has room."""
        following, path, node, total = [0] * len(self.edges), list[int](), source, 0
        while True:
            if node == sink:
                amount = min(self.room[edge] for edge in path)
                for edge in path:
                    self.room[edge] -= amount
                    self.room[edge ^ 1] += amount
                total, path, node = total + amount, [], source
            while following[node] < len(self.edges[node]):
                edge = self.edges[node][following[node]]
                if self.room[edge] and depth[self.ends[edge]] == depth[node] + 1:
                    path.append(edge)
                    node = self.ends[edge]
                    break
                following[node] += 1
            else:
                if not path:
                    return total
                node = self.ends[path.pop() ^ 1]
                following[node] += 1

    def reached(self, source: int) -> list[bool]:
        """Which nodes the flow could still reach."""
        return [depth >= 0 for depth in self._depths(source)]

    def _depths(self, source: int) -> list[int]:
        depth = [-1] * len(self.edges)
        depth[source], waiting = 0, deque([source])
        while waiting:
            node = waiting.popleft()
            for edge in self.edges[node]:
                if self.room[edge] and depth[self.ends[edge]] < 0:
                    depth[self.ends[edge]] = depth[node] + 1
                    waiting.append(self.ends[edge])
        return depth


def _pieces(members: int) -> Iterator[int]:
    """The numbers of the bits of a set."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest
