"""How many small groups the tables break down, without attacking anything. Confidential.

Whoever sees a cell of few units, and the same units again in other tables by more variables, reads
their records off: from equal numbers where the noise belongs to the record set, from the pattern
of zeros in any case. Here this is counted on the records, over everything that a plan or a menu
shows together:

* cells of at most ``t`` units, and cells of one private household, that a shown table divides;
* twins: cells that differ by a few units, so that their breakdowns differ only where those are;
* units about which so many variables can be put together;
* the share of visible groups of at most three that can be claimed with more than two attributes.

A group is visible if its cell is published above 0. The share is among the groups in cells that
some tables divide by more than two further variables: the finest cells of a menu, which nothing
divides, are far more, and would make every share small.

Exact are the counts of cells, of units with their attributes, and of pairs that differ by one unit
or by the members of one household. Pairs that differ by more are counted where one cell is
contained in the other by definition: there are at least as many. The share is an expectation over
the noise, the same with every secret, and an upper bound of what an attack can claim: it takes
every variable as read that some table tells about the group.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.risk.groups.assembled import Assembled, AssembledCounter
from sdcensus.risk.groups.shown_cells import KindOfCells
from sdcensus.risk.groups.twins import CollectedCells, TwinCounter, Twins
from sdcensus.risk.groups.unit_records import UnitRecords, in_order

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: The largest group whose members an intruder tells apart by comparing numbers.
LARGEST_GROUP = 3
#: A group that is claimed with more attributes counts for the limit of a policy.
FEW_ATTRIBUTES = 2
#: Households with more members are taken for institutions.
LARGEST_HOUSEHOLD = 15
#: How many units are put into cells at most, all kinds of cells together: about ten seconds.
MOST_WORK = 400_000_000


@dataclass(frozen=True, slots=True, repr=False)
class GroupNoise(Confidential):
    """What noise and the rule of the smallest group do to a small group.

    Attributes:
        perturbation: The noise, where its distribution is known.
        largest_deviation: How far a count can be moved; ``None`` where there is no limit.
        smallest_group: ``K``: below a cell that is published with less, nothing is shown; ``None``
            without the rule.
        definition_keys: Whether cells of different definitions have noise of their own.
    """

    perturbation: Perturbation | None = None
    largest_deviation: int | None = 0
    smallest_group: int | None = None
    definition_keys: bool = False

    def __repr__(self) -> str:
        return "<GroupNoise: confidential>"

    @classmethod
    def of(
        cls,
        perturbation: Perturbation,
        *,
        smallest_group: int | None = None,
        definition_keys: bool = False,
    ) -> GroupNoise:
        """That of a perturbation."""
        return cls(perturbation, perturbation.max_deviation, smallest_group, definition_keys)

    @property
    def proven(self) -> int:
        """The largest group that is never broken down, for any data: ``K - D - 1``.

        A cell of at most so many units is published below ``K``, whatever the noise.
        """
        if self.smallest_group is None or self.largest_deviation is None:
            return 0
        return max(self.smallest_group - self.largest_deviation - 1, 0)

    @property
    def visible(self) -> Float64:
        """For groups of one, two and three, the chance to be published above 0."""
        return self._reaching(1)

    @property
    def passing(self) -> Float64:
        """The same for being published so high that other tables may break them down."""
        return self._reaching(self.smallest_group or 1)

    @property
    def largest_share(self) -> float:
        """The largest share of visible groups that can be broken down, for any data."""
        pairs = zip(self.passing, self.visible, strict=True)
        return max((float(passes / seen) for passes, seen in pairs if seen > 0), default=0.0)

    def _reaching(self, least: int) -> Float64:
        sizes = range(1, LARGEST_GROUP + 1)
        noise, farthest = self.perturbation, self.largest_deviation
        if noise is not None:
            return np.array(
                [
                    float(noise.probabilities(size)[noise.targets(size) >= least].sum())
                    for size in sizes
                ]
            )
        return np.array([float(farthest is None or size + farthest >= least) for size in sizes])


@dataclass(frozen=True, slots=True, repr=False)
class KindFigures(Confidential):
    """Figures about one kind of cells.

    Attributes:
        title, area: What the cells are by, and their level of geography.
        finer: By how many variables they are broken down.
        groups: How many cells hold 1, 2, … units, up to ``LARGEST_GROUP``.
        small: How many hold at most ``t`` units.
        households: How many are one private household.
        twins: How many have a twin that is one unit, or members of one household, smaller; looked
            for where cells are broken down by more than two variables.
    """

    title: str
    area: str
    finer: int
    groups: tuple[int, ...]
    small: int
    households: int
    twins: int = 0

    def __repr__(self) -> str:
        return f"<KindFigures of {self.title}: confidential>"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class BrokenDown(Confidential):
    """What the tables of a plan or a menu break down, for one kind of unit.

    Attributes:
        of: What is counted.
        largest: ``t``: cells of at most so many units were looked at.
        noise: What noise and the rule of the smallest group do.
        kinds: Figures by kind of cells, in the order in which they were counted.
        kinds_in_all: How many kinds of cells there are; more than ``kinds`` if a sample was taken.
        share: The share of visible groups of at most three that can be claimed with more than two
            attributes, on average over the noise.
        claimed: How many groups that are, on average over the noise.
        twins: Cells that differ by few units; ``None`` if they were not counted.
        assembled: Units with the number of attributes that can be put together; ``None`` if that
            was not counted.
        proven: Whether the rule of the smallest group proves that no group of at most ``t`` units
            and no private household is broken down; nothing had to be counted then.
    """

    of: Entity
    largest: int
    noise: GroupNoise
    kinds: tuple[KindFigures, ...] = ()
    kinds_in_all: int = 0
    share: float = 0.0
    claimed: float = 0.0
    twins: Twins | None = None
    assembled: Assembled | None = None
    proven: bool = False

    def __repr__(self) -> str:
        return f"<BrokenDown of {self.of.plural}: confidential>"

    @property
    def small(self) -> int:
        """Cells of at most ``t`` units that are broken down, as far as the rule allows it."""
        return sum(kind.small for kind in self.kinds)

    @property
    def households(self) -> int:
        """Cells of one private household that are broken down, likewise."""
        return sum(kind.households for kind in self.kinds)

    @property
    def sampled(self) -> bool:
        """Whether a sample of the kinds of cells was taken."""
        return len(self.kinds) < self.kinds_in_all

    def exceeds(self, limit: float) -> bool:
        """Whether the share is above a limit."""
        return self.share > limit


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Looked(Confidential):
    """What the cells of one kind have shown."""

    groups: Int64
    small: int
    households: int
    collected: CollectedCells | None


def measure_broken_down(
    records: UnitRecords,
    kinds: Sequence[KindOfCells],
    *,
    of: Entity,
    noise: GroupNoise,
    largest: int = LARGEST_GROUP,
    largest_household: int = LARGEST_HOUSEHOLD,
    twins: bool = True,
    most_work: int = MOST_WORK,
    sample: Sequence[KindOfCells] | None = None,
    progress: Progress = no_progress,
) -> BrokenDown:
    """Count what shown tables break down.

    Args:
        records: The units.
        kinds: The kinds of cells that shown tables break down.
        of: What the units are.
        noise: What noise and the rule of the smallest group do.
        largest: Cells of at most so many units are counted.
        largest_household: Households with more units are no private ones.
        twins: Whether twins are looked for as well.
        most_work: How many units are put into cells at most; above, a sample of the kinds of
            cells is taken, the same each time.
        sample: That sample, where it was taken already.
        progress: Told how far it is.
    """
    if largest < LARGEST_GROUP:
        raise SpecError(f"Groups are looked at up to {LARGEST_GROUP} units at least.")
    sizes = records.household_sizes()
    proven = is_proven(noise, largest, sizes, largest_household)
    if proven and (noise.definition_keys or not twins):
        return BrokenDown(of=of, largest=largest, noise=noise, kinds_in_all=len(kinds), proven=True)
    chosen = sample_of_kinds(kinds, records.units, most_work) if sample is None else sample
    variables = sorted({name for kind in kinds for name in kind.own | kind.finer})
    assembled = AssembledCounter(records.units, variables, above=noise.proven)
    pairs = TwinCounter(records, largest=largest, largest_household=largest_household)

    def look(kind: KindOfCells) -> _Looked:
        divided = twins and len(kind.finer) > FEW_ATTRIBUTES
        cells = records.cells(kind, sums=divided)
        # Smaller ones are never broken down, by the smallest group.
        open_cells = cells.counts > noise.proven
        households = open_cells & cells.one_household(sizes, largest_household)
        assembled.add(kind, cells)
        return _Looked(
            group_sizes(cells.counts[:-1]),
            int((open_cells & (cells.counts <= largest)).sum()),
            int(households.sum()),
            CollectedCells.of(kind, cells) if divided else None,
        )

    figures: list[KindFigures] = []
    for at, (kind, looked) in enumerate(zip(chosen, in_order(look, chosen), strict=True)):
        progress("counting what is broken down", at / len(chosen))
        groups = tuple(looked.groups.tolist())
        small, homes = looked.small, looked.households
        figures.append(KindFigures(kind.title, kind.area, len(kind.finer), groups, small, homes))
        if looked.collected is not None:
            pairs.collect(kind, looked.collected)
    found: Twins | None = None
    if twins:
        divided = [at for at, kind in enumerate(chosen) if len(kind.finer) > FEW_ATTRIBUTES]
        found = pairs.twins(
            [chosen[at] for at in divided],
            records.cells,
            lambda done: progress("looking for twins", done),
            above=max(largest, noise.proven),
        )
        for at, number in zip(divided, found.by_kind, strict=True):
            figures[at] = replace(figures[at], twins=number)
    share, claimed = _share_of(chosen, [np.array(kind.groups) for kind in figures], noise)
    return BrokenDown(
        of=of,
        largest=largest,
        noise=noise,
        kinds=tuple(figures),
        kinds_in_all=len(kinds),
        share=share,
        claimed=claimed,
        twins=found,
        assembled=assembled.result(),
        proven=proven,
    )


def measure_share(
    records: UnitRecords,
    kinds: Sequence[KindOfCells],
    *,
    noise: GroupNoise,
    largest: int = LARGEST_GROUP,
    progress: Progress = no_progress,
) -> float:
    """The share alone, the same as that of ``measure_broken_down`` for the same kinds.

    Args:
        records: The units.
        kinds: The kinds of cells that are counted: those of a sample, where one is taken.
        noise: What noise and the rule of the smallest group do.
        largest: As there.
        progress: Told how far it is.
    """
    if noise.proven >= largest and is_proven(
        noise, largest, records.household_sizes(), LARGEST_HOUSEHOLD
    ):
        return 0.0
    groups = []
    for at, own in enumerate(in_order(lambda kind: group_sizes(records.counts(kind)), kinds)):
        progress("counting what is broken down", at / len(kinds))
        groups.append(own)
    return _share_of(kinds, groups, noise)[0]


def _share_of(
    kinds: Sequence[KindOfCells], groups: Sequence[Int64], noise: GroupNoise
) -> tuple[float, float]:
    """The share of visible groups that can be claimed, and how many can."""
    visible, passing = noise.visible, noise.passing
    claimed = seen = 0.0
    for kind, own in zip(kinds, groups, strict=True):
        if len(kind.finer) > FEW_ATTRIBUTES:
            seen += float(own @ visible)
            claimed += float(own @ passing)
    return claimed / seen if seen else 0.0, claimed


def is_proven(noise: GroupNoise, largest: int, sizes: Int64 | None, largest_household: int) -> bool:
    """Whether no group, and no private household of the census, can be broken down at all."""
    private = 0
    if sizes is not None and sizes.size:
        private = int(sizes[sizes <= largest_household].max(initial=0))
    return noise.proven >= max(largest, private)


def group_sizes(counts: Int64) -> Int64:
    """How many cells hold one, two and three units."""
    bounded = np.minimum(counts.reshape(-1), LARGEST_GROUP + 1)
    return np.bincount(bounded, minlength=LARGEST_GROUP + 2)[1 : LARGEST_GROUP + 1]


def sample_of_kinds(
    kinds: Sequence[KindOfCells], units: int, most_work: int
) -> tuple[KindOfCells, ...]:
    """As many kinds of cells as the work allows, the same each time; at least one."""
    most = max(most_work // max(units, 1), 1)
    if len(kinds) <= most:
        return tuple(kinds)
    begun: dict[tuple[object, ...], Any] = {}
    texts: dict[int, bytes] = {}
    order = sorted(range(len(kinds)), key=lambda at: _digest(kinds[at], begun, texts))
    return tuple(kinds[at] for at in sorted(order[:most]))


def _digest(
    kind: KindOfCells, begun: dict[tuple[object, ...], Any], texts: dict[int, bytes]
) -> bytes:
    """A digest of ``repr(kind.key)``; of keys that begin alike, the beginning is read once."""
    known: tuple[object, ...] = (kind.condition,)
    if known not in begun:
        begun[known] = hashlib.blake2b(f"({kind.condition!r},".encode(), digest_size=8)
    for at, part in enumerate(kind.parts):
        before, known = begun[known], (*known, id(part))
        if known not in begun:
            if id(part) not in texts:
                texts[id(part)] = repr(part.key).encode()
            begun[known] = before.copy()
            begun[known].update((b", " if at else b" ") + texts[id(part)])
    digest = begun[known].copy()
    digest.update(b")")
    return bytes(digest.digest())
