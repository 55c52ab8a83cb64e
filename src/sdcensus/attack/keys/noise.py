"""What published values say about deviations and keys, and how sums of both hang together.

Weights are kept for every pair of a deviation and a bucket of keys. Parts are added by cyclic
convolution over keys and ordinary convolution over deviations. With a single bucket the same steps
are the best that can be done against noise that does not depend on keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.attack.assumptions import KnownNoise

Float64 = npt.NDArray[np.float64]
Frequencies = npt.NDArray[np.complex128]

#: Buckets of keys; a bucket is narrow beside the interval of any deviation that matters.
BUCKETS = 1 << 10
#: Sums of parts that are kept: those of large counts come again and again.
_MOST_SUMS = 200
#: What a line leaves to what it says cannot be, for what was not thought of.
_DOUBT = 1e-9


@dataclass(eq=False, slots=True)
class NoiseModel:
    """Weights of deviations and keys for published values, and sums of them.

    Attributes:
        noise: The deviations with their probabilities.
        buckets: Into how many buckets keys are sorted; 1 for noise that does not depend on keys.
        zeros_known: Whether empty cells are published as 0 for sure.
        reach: The largest deviation.
        large: From this published value on, its noise does not depend on how large it is.
    """

    noise: KnownNoise
    buckets: int = BUCKETS
    zeros_known: bool = True
    reach: int = field(init=False)
    large: int = field(init=False)
    _weights: dict[int, Float64] = field(init=False, default_factory=dict)
    _sums: dict[tuple[int, ...], Float64] = field(init=False, default_factory=dict)
    _known_frequencies: dict[tuple[int, int], Frequencies] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.reach = self.noise.largest
        # From here on the row of a count is told by its remainder.
        self.large = self.noise.start + self.reach + self.noise.period

    def kind(self, value: int) -> int:
        """Published values of one kind have the same weights."""
        if value < self.large:
            return value
        return self.large + (value - self.large) % self.noise.period

    def weights(self, value: int) -> Float64:
        """For each deviation and bucket of keys the chance of both, no count being likelier."""
        kind = self.kind(value)
        if kind not in self._weights:
            weights = np.zeros((2 * self.reach + 1, self.buckets))
            least = 1 if kind > 0 and self.zeros_known else 0
            for deviation in range(-self.reach, self.reach + 1):
                count = kind - deviation
                if count >= least:
                    weights[deviation + self.reach] = self._shares(count, deviation)
            self._weights[kind] = weights
        return self._weights[kind]

    def _shares(self, count: int, deviation: int) -> Float64:
        """Which part of each bucket, of all keys, a deviation of a count takes."""
        if count == 0 and self.zeros_known:
            # Nobody is counted, so that the key is 0 as well.
            alone = np.zeros(self.buckets)
            alone[0] = 1.0 if deviation == 0 else 0.0
            return alone
        edges = np.arange(self.buckets + 1) / self.buckets
        shares = np.zeros(self.buckets)
        low = 0.0
        for value, chance in self.noise.intervals(count):
            if value == deviation:
                shares += np.diff(np.clip(edges, low, low + chance))
            low += chance
        return shares

    def summed(self, values: Sequence[int]) -> Float64:
        """For each sum of deviations and each bucket of the sum of keys, the chance of both."""
        kinds = tuple(sorted(map(self.kind, values)))
        known = self._sums.get(kinds)
        if known is not None:
            return known
        parts = len(kinds)
        shape = self._shape(parts)
        product = self._spread_of(parts)
        for kind in kinds:
            if (kind, shape[0]) not in self._known_frequencies:
                self._known_frequencies[kind, shape[0]] = np.fft.rfft2(self.weights(kind), s=shape)
            product = product * self._known_frequencies[kind, shape[0]]
        found = np.maximum(np.fft.irfft2(product, s=shape)[: 2 * self.reach * parts + 1], 0.0)
        if len(self._sums) < _MOST_SUMS:
            self._sums[kinds] = found
        return found

    def message(self, total: int, parts: Sequence[int]) -> Float64:
        """What a line says about the deviation and the key of its total, as weights."""
        sums = self.summed(parts)
        gap = total - sum(parts)
        middle = self.reach * len(parts)
        made = np.zeros((2 * self.reach + 1, self.buckets))
        # The deviation of the total is the gap and the deviations of the parts.
        first = -self.reach - gap + middle
        low, high = max(first, 0), min(first + made.shape[0], sums.shape[0])
        if low < high:
            made[low - first : high - first] = sums[low:high]
        return made

    def likelihood(self, total: int, parts: Sequence[int]) -> float:
        """How likely a line is, for weights of its total and parts that sum up to 1."""
        own = self.weights(total)
        ours = own / own.sum()
        theirs = self.message(total, parts) / self.summed(parts).sum()
        # With keys in buckets, a bucket of the total is one of so many.
        return float((ours * theirs).sum() * self.buckets)

    def belief(self, total: int, lines: Sequence[Sequence[int]]) -> Float64:
        """The logarithms of weights of a count, from its own value and all its lines."""
        logarithms: Float64 = np.log(self.weights(total) + 1e-300)
        for parts in lines:
            logarithms += _said(self.message(total, parts))
        return logarithms

    def from_parts(self, gap: int, beliefs: Sequence[Float64]) -> Float64:
        """What parts of which more is known say about their total, as logarithms of weights.

        Args:
            gap: The published total less the published parts.
            beliefs: For each part the logarithms of its weights.
        """
        parts = len(beliefs)
        product = self._spread_of(parts)
        for belief in beliefs:
            product = product * self._frequencies(belief, parts)
        sums = np.fft.irfft2(product, s=self._shape(parts))
        # The deviation of the total is the gap and the deviations of the parts.
        places = np.arange(-self.reach, self.reach + 1) - gap + self.reach * parts
        return _said(self._taken(sums, places, 0, 2 * self.reach * parts))

    def to_part(self, gap: int, total: Float64, others: Sequence[Float64]) -> Float64:
        """What a total and its other parts say about a part, as logarithms of weights.

        Args:
            gap: The published total less all published parts.
            total: The logarithms of the weights of the total, without what its parts said.
            others: Those of the other parts.
        """
        parts = len(others) + 1
        product = self._frequencies(total, parts) * np.conj(self._spread_of(parts))
        for other in others:
            product = product * np.conj(self._frequencies(other, parts))
        rest = np.fft.irfft2(product, s=self._shape(parts))
        lowest = -2 * self.reach * (parts - 1)
        places = np.arange(-self.reach, self.reach + 1) + gap - self.reach * (parts - 2)
        return _said(self._taken(rest, places, lowest, 2 * self.reach))

    def _shape(self, parts: int) -> tuple[int, int]:
        return _padded(2 * self.reach * parts + 1), self.buckets

    def _frequencies(self, logarithms: Float64, parts: int) -> Frequencies:
        weights = np.exp(logarithms - logarithms.max())
        return np.fft.rfft2(weights / weights.sum(), s=self._shape(parts))

    def _spread_of(self, parts: int) -> Frequencies:
        if self.buckets == 1:
            return np.ones(1, dtype=np.complex128)
        return np.fft.rfft(_spread(parts), n=self.buckets)

    def _taken(
        self, sums: Float64, places: npt.NDArray[np.int64], lowest: int, highest: int
    ) -> Float64:
        """Rows of sums of deviations; those that no sum reaches are 0."""
        inside = (places >= lowest) & (places <= highest)
        made = np.zeros((places.size, self.buckets))
        made[inside] = np.maximum(sums[places[inside] % sums.shape[0]], 0.0)
        return made


def chances(belief: Float64) -> Float64:
    """The chance of each deviation, whatever the key is."""
    weights = np.exp(belief - belief.max()).sum(axis=1)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def _said(message: Float64) -> Float64:
    """The logarithms of a message; nothing where it says that nothing is possible."""
    whole = float(message.sum())
    if whole <= 0:
        return np.zeros(message.shape)
    return np.log(message / whole + _DOUBT / message.size)


def _padded(size: int) -> int:
    return 1 << (size - 1).bit_length()


def _spread(parts: int) -> Float64:
    """How far above the sum of their buckets the sum of so many keys lies, in buckets.

    Examples:
        >>> _spread(2).tolist()
        [0.5, 0.5]
    """
    made = np.ones(1)
    for number in range(2, parts + 1):
        # Eulerian numbers: the sum of uniform numbers between whole ones.
        wider = np.zeros(number)
        at = np.arange(number)
        wider[:-1] += made * (at[:-1] + 1)
        wider[1:] += made * (number - at[1:])
        made = wider / number
    return made
