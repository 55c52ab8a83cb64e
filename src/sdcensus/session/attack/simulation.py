"""The combined measure of swapping and noise by trial: many keys on real records. For the office.

A formula has assumptions; a trial has none but its number. The same method runs under other keys,
noise is drawn for every cell, and what small published values say is counted.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.risk.combined.chances import CLAIMED
from sdcensus.risk.combined.moves import CellMoves, cell_moves
from sdcensus.session.derive.step import Step

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Keys that are tried unless another number is said.
KEYS = 20
_FIGURES = ("count_true", "counted_true", "all_residents", "claim_right")


@dataclass(frozen=True, slots=True, repr=False)
class Frequency(Confidential):
    """A measured share with its standard error over the keys; ``None`` where nothing was seen."""

    share: float | None
    error: float

    def __repr__(self) -> str:
        return "<Frequency: confidential>"

    def agrees(self, expected: float | None, errors: float = 4.0) -> bool:
        """Whether an expected share is within so many standard errors."""
        if self.share is None or expected is None:
            return self.share is expected
        return abs(self.share - expected) <= errors * self.error + 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SimulatedChance(Confidential):
    """What one published value said in the trials; the figures of ``SmallValueChance``."""

    published: int
    cells: int
    count_true: Frequency
    counted_true: Frequency
    all_residents: Frequency
    claim_right: Frequency

    def __repr__(self) -> str:
        return "<SimulatedChance: confidential>"


def simulated_risk(
    step: Step,
    spec: TableSpec,
    perturbation: Perturbation | None,
    *,
    keys: int = KEYS,
    published: Sequence[int] = CLAIMED,
    progress: Progress = no_progress,
) -> tuple[SimulatedChance, ...]:
    """Run a method under several keys, and count what small published values say.

    The keys are fixed and not those of the office: the same trial has the same figures.

    Args:
        step: The method with its parameters and the store.
        spec: The table; its interior cells are looked at.
        perturbation: The noise; ``None`` where counts are published as they are.
        keys: How many keys are tried, 2 or more.
        published: The published values to look at, 1 or more.
        progress: Told how far it is.
    """
    if keys < 2:
        raise SpecError("A standard error needs two keys or more.")
    values = sorted(set(published))
    tallies = np.zeros((keys, len(values), len(_FIGURES) + 1))
    for number in range(keys):
        progress("trying keys", number / keys)
        draws = Draws(trial_key(number, b"exchange"))
        view = DerivedView(replace(step, draws=draws).run(), step.derivation)
        moved = cell_moves(step.store, view, spec)
        shown = _published(moved.after, perturbation, Draws(trial_key(number, b"noise")))
        for at, value in enumerate(values):
            tallies[number, at] = _tally(moved, shown, value)
    return tuple(_chance(value, tallies[:, at]) for at, value in enumerate(values))


def trial_key(number: int, purpose: bytes) -> bytes:
    """A key of a trial: sixteen bytes that depend on nothing secret."""
    return hashlib.blake2b(
        number.to_bytes(8, "little"), person=purpose.ljust(16), digest_size=16
    ).digest()


def _published(counts: Int64, perturbation: Perturbation | None, draws: Draws) -> Int64:
    """Counts with noise that is drawn for every cell."""
    if perturbation is None:
        return counts
    words = draws.words(np.arange(counts.size, dtype=np.uint64))
    uniform = (words >> np.uint64(11)).astype(np.float64) / float(1 << 53)
    result = counts.copy()
    for count in np.unique(counts).tolist():
        own = counts == count
        steps = np.cumsum(perturbation.probabilities(count))
        at = np.searchsorted(steps, uniform[own], side="right")
        result[own] = perturbation.targets(count)[np.minimum(at, steps.size - 1)]
    return result


def _tally(moved: CellMoves, shown: Int64, value: int) -> Float64:
    """Cells that are published with a value, and how much of each figure they have."""
    seen = shown == value
    true, after, stayed = moved.before[seen], moved.after[seen], moved.stayed[seen]
    counted = after == value
    whole = counted & (true == value) & (stayed == value)
    right = float(stayed[counted].sum()) / value
    return np.array([after.size, (true == value).sum(), counted.sum(), whole.sum(), right])


def _chance(value: int, tallies: Float64) -> SimulatedChance:
    cells = tallies[:, 0]
    figures = {name: _frequency(tallies[:, at], cells) for at, name in enumerate(_FIGURES, start=1)}
    return SimulatedChance(published=value, cells=int(cells.sum()), **figures)


def _frequency(part: Float64, cells: Float64) -> Frequency:
    """A ratio of sums over keys, with the error of such a ratio."""
    whole = float(cells.sum())
    if not whole > 0:
        return Frequency(None, 0.0)
    share = float(part.sum()) / whole
    spread = float(((part - share * cells) ** 2).sum())
    return Frequency(share, math.sqrt(spread * cells.size / (cells.size - 1)) / whole)
