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
MOST_BRANCHES = 500


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
    chosen = _Search(sets).best(whole, tuple(range(len(sets))))
    if chosen is None:
        return None
    return tuple(number for number in range(len(sets)) if chosen >> (len(sets) - 1 - number) & 1)


def _better(first: int | None, second: int | None) -> int | None:
    """Of two choices, sets as bits and the preferred ones as the higher bits, the better one."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second, key=lambda chosen: (chosen.bit_count(), -chosen))


class _Search:
    """Chooses among sets; a choice is a whole number that has a bit for each set."""

    def __init__(self, sets: Sequence[int]) -> None:
        self.sets = sets
        self.branches = 0
        self.crossing: dict[int, set[int]] = {number: set() for number in range(len(sets))}
        several = [number for number in range(len(sets)) if sets[number] & (sets[number] - 1)]
        for at, number in enumerate(several):
            for other in several[at + 1 :]:
                both = sets[number] & sets[other]
                if both and both not in (sets[number], sets[other]):
                    self.crossing[number].add(other)
                    self.crossing[other].add(number)

    def bit(self, number: int) -> int:
        """The set in a choice."""
        return 1 << (len(self.sets) - 1 - number)

    def best(self, whole: int, usable: tuple[int, ...]) -> int | None:
        """The best choice of usable sets, which all lie in the whole."""
        chosen = reached = 0
        for pieces, members in self._components(usable):
            choice = self._component(pieces, members)
            if choice is None:
                return None
            chosen, reached = chosen | choice, reached | pieces
        return chosen if reached == whole else None

    def _components(self, usable: Iterable[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Sets that are tied together by pieces that they share."""
        components: list[tuple[int, tuple[int, ...]]] = []
        for number in usable:
            pieces, apart = self.sets[number], []
            members: tuple[int, ...] = (number,)
            for component in components:
                if component[0] & pieces:
                    pieces, members = pieces | component[0], component[1] + members
                else:
                    apart.append(component)
            components = [*apart, (pieces, members)]
        return components

    def _component(self, whole: int, members: tuple[int, ...]) -> int | None:
        for number in members:
            if self.sets[number] == whole:
                return self.bit(number)
        families = self._families(members)
        if families is not None:
            return _TwoFamilies(self, whole, *families).best()
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
        rest = tuple(each for each in members if not self.sets[each] & taken)
        with_it = self.best(whole & ~taken, rest)
        if with_it is not None:
            with_it |= self.bit(number)
        without = tuple(each for each in members if each != number)
        if with_it is not None and self._at_least(without) > with_it.bit_count():
            return with_it
        return _better(with_it, self.best(whole, without))

    def _at_least(self, members: Iterable[int]) -> int:
        """A number of sets that no choice can be below: each piece counts with its largest set."""
        covered, pieces_of_size = 0, dict[int, int]()
        for number in sorted(members, key=lambda each: -self.sets[each].bit_count()):
            size = self.sets[number].bit_count()
            added = (self.sets[number] & ~covered).bit_count()
            pieces_of_size[size] = pieces_of_size.get(size, 0) + added
            covered |= self.sets[number]
        # Halves, thirds and so on are rounded down together, so that it stays a lower limit.
        scale = 1 << 40
        return -(-sum(count * (scale // size) for size, count in pieces_of_size.items()) // scale)

    def _families(self, members: tuple[int, ...]) -> tuple[list[int], list[int]] | None:
        """Two families of sets that nest in themselves; ``None`` if there are none."""
        usable, side = set(members), dict[int, int]()
        for start in members:
            if start in side:
                continue
            side[start], waiting = 0, deque([start])
            while waiting:
                number = waiting.popleft()
                for other in self.crossing[number] & usable:
                    if other not in side:
                        side[other] = 1 - side[number]
                        waiting.append(other)
                    elif side[other] == side[number]:
                        return None
        first, second = ([each for each in members if side[each] == at] for at in (0, 1))
        return first, second


class _TwoFamilies:
    """The best choice where sets are two families, each of which nests in itself.

    A set of the first family is *on* where it or a set around it is taken, one of the second where
    neither is. A piece is made up once where the smallest sets of both families around it are on
    together or off together. What it costs is then a sum over sets that are on and over sets that
    are off, so that the cheapest choice is a minimum cut.
    """

    def __init__(self, search: _Search, whole: int, first: list[int], second: list[int]) -> None:
        self.search = search
        self.numbers = [*first, *second]
        self.first = len(first)
        self.source, self.sink = len(self.numbers), len(self.numbers) + 1
        self.above: list[int | None] = [None] * len(self.numbers)
        self.network = _Network(len(self.numbers) + 2)
        costs = self._costs()
        self.never = 1 + 2 * sum(map(abs, costs)) + 2 * (1 << len(search.sets))
        inner = self._nest(range(self.first)), self._nest(range(self.first, len(self.numbers)))
        self._connect(whole, *inner)

    def _costs(self) -> list[int]:
        """One set more outweighs every preference; a preferred set costs a little less."""
        size = 1 << len(self.search.sets)
        return [size - self.search.bit(number) for number in self.numbers]

    def _nest(self, family: Iterable[int]) -> dict[int, int]:
        """For each piece the smallest set around it; on the way, for each set the one around it."""
        sets = self.search.sets
        inner: dict[int, int] = {}
        for node in sorted(family, key=lambda each: -sets[self.numbers[each]].bit_count()):
            pieces = list(_pieces(sets[self.numbers[node]]))
            self.above[node] = inner.get(pieces[0])
            inner.update(dict.fromkeys(pieces, node))
        return inner

    def _connect(self, whole: int, first: dict[int, int], second: dict[int, int]) -> None:
        network, never = self.network, self.never
        costs = self._costs()
        balance = list(costs)
        for node, around in enumerate(self.above):
            if around is not None:
                balance[around] -= costs[node]
                network.join(*((around, node) if node < self.first else (node, around)), never)
        for node, cost in enumerate(balance):
            # On costs something in the first family, off in the second.
            if (cost > 0) == (node < self.first):
                network.join(node, self.sink, abs(cost))
            else:
                network.join(self.source, node, abs(cost))
        for piece in _pieces(whole):
            one, other = first.get(piece), second.get(piece)
            if one is not None and other is not None:
                network.join(one, other, never)
                network.join(other, one, never)
            elif one is not None:
                network.join(self.source, one, never)
            elif other is not None:
                network.join(other, self.sink, never)

    def best(self) -> int | None:
        """The best choice; ``None`` where no choice makes up every piece."""
        if self.network.flow(self.source, self.sink, self.never) >= self.never:
            return None
        reached = self.network.reached(self.source)
        chosen = 0
        for node, around in enumerate(self.above):
            covered = reached[node] == (node < self.first)
            above = around is not None and reached[around] == (node < self.first)
            if covered and not above:
                chosen |= self.search.bit(self.numbers[node])
        return chosen


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
        while total < most:
            depth = self._depths(source)
            if depth[sink] < 0:
                break
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
