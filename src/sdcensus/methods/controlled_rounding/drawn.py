"""The smallest groups of tables rounded at random, so that margins stay next to their counts.

Everything that is drawn comes from the secret and from what groups stand for and hold, never from
where they stand: the order of rows, axes, codes and tables changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.cycles import CycleArcs, round_along_cycles
from sdcensus.kernels.keys.siphash import key_words, siphash24
from sdcensus.methods.controlled_rounding.margins import Margin
from sdcensus.methods.controlled_rounding.network import arcs_at_nodes
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.atoms import Atoms

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: The last word of the message from which the draw of a group is made; that of cycles is another.
_GROUP = 1


class DrawnRounding(Confidential):
    """The network of two chains of margins, ready to be drawn from.

    Nodes are the cells of margins; arcs are these cells, each from the one that it is part of, and
    the smallest groups, each from the last margin of one chain to that of the other.

    Attributes:
        tail, head: The nodes of each arc; groups come first.
        rest: How far each arc lies above the multiple below it.
        nodes: How many nodes there are; the first is everything outside.
    """

    __slots__ = ("_atoms", "_base", "_members", "head", "nodes", "rest", "tail")

    def __init__(self, atoms: Atoms, chains: Sequence[Sequence[Margin]], base: int) -> None:
        """Put the network together.

        Args:
            atoms: The smallest groups.
            chains: Two chains of margins, coarsest first.
            base: What results are multiples of.
        """
        self._atoms, self._base = atoms, base
        self.nodes = 1
        rests = [atoms.counts % base]
        lasts = []
        tails, heads = [], []
        #: For each cell of a margin, behind each other, the groups that it holds.
        self._members: list[Int64] = []
        for turned, chain in enumerate(chains):
            above = np.zeros(len(atoms), dtype=np.int64)
            for margin in chain:
                cell = margin.classes(atoms)
                size = int(cell.max(initial=-1)) + 1
                counts = np.zeros(size, dtype=np.int64)
                np.add.at(counts, cell, atoms.counts)
                parent = np.zeros(size, dtype=np.int64)
                parent[cell] = above
                own = self.nodes + np.arange(size)
                tails.append(own if turned else parent)
                heads.append(parent if turned else own)
                rests.append(counts % base)
                self._members.append(cell)
                above = self.nodes + cell
                self.nodes += size
            lasts.append(above)
        self.tail = np.concatenate([lasts[0], *tails])
        self.head = np.concatenate([lasts[1], *heads])
        self.rest = np.concatenate(rests)

    def __repr__(self) -> str:
        return "<DrawnRounding: confidential>"

    def values(self, key: bytes) -> Int64:
        """Multiples for the smallest groups, drawn with a key of the secret."""
        atoms, base = self._atoms, self._base
        own = siphash24(
            key,
            np.stack(
                [
                    np.ascontiguousarray(atoms.definitions),
                    atoms.keys.astype(np.uint64),
                    np.full(len(atoms), _GROUP, dtype=np.uint64),
                ],
                axis=1,
            ),
        )
        order = np.argsort(self._words(own), kind="stable")
        rest = self.rest[order]
        fractions = np.flatnonzero(rest)
        arcs = arcs_at_nodes(self.tail[order], self.head[order], fractions, self.nodes)
        with np.errstate(over="ignore"):
            seed = np.uint64(own.sum(dtype=np.uint64))
        round_along_cycles(CycleArcs(*arcs), rest, base, *key_words(key), seed)
        drawn = np.empty_like(rest)
        drawn[order] = rest
        if (drawn % base).any():
            raise AssertionError("A rounding along cycles left a fraction.")
        return atoms.counts - self.rest[: len(atoms)] + drawn[: len(atoms)]

    def _words(self, own: UInt64) -> UInt64:
        """A word for each arc, by which cycles are looked for in an order that nobody knows."""
        words = [own]
        with np.errstate(over="ignore"):
            for cell in self._members:
                total = np.zeros(int(cell.max(initial=-1)) + 1, dtype=np.uint64)
                np.add.at(total, cell, own)
                words.append(total)
        return np.concatenate(words)
