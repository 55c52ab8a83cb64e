"""Cells of a file that the population shares, with missing values, and what is counted of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.uniques.fitting import share_out
from sdcensus.model.confidential import Confidential

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Sums of rounded shares are within this of the exact ones, in parts of the threshold.
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fit(Confidential):
    """Complete cells that some cells with missing keys may be.

    Attributes:
        incomplete: The cells with missing keys.
        counts: For each how many complete records fit, in the census (row 0) and the file (row 1).
        cells, others: Pairs: a complete cell of the file, and an incomplete one that it fits.
    """

    incomplete: Int64
    counts: Int64
    cells: Int64
    others: Int64

    def __repr__(self) -> str:
        return "<Fit: confidential>"


#: What fits, a part at a time; found again when it is asked for again.
Fits = Callable[[], Iterator[Fit]]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Uniques(Confidential):
    """How many records of a file are alone with their keys.

    Attributes:
        records: How many the file has.
        population: How many the census has.
        sample_uniques: Records alone in the file; with missing values, if no other one fits.
        sample_uniques_confounded: Those of them that a record with missing values may be.
        expected_matches: How many sample uniques an intruder would match correctly.
        population_uniques: Records of the file that are alone in the census.
        population_uniques_confounded: Those that a record with missing values may be.
        k: How many should share their keys.
        not_anonymous: Records of the file that fewer than ``k`` of the census share keys with.
        global_risk: How many records of the file would be matched correctly, all tried.
        prosecutor_risk: The largest 1/f* of a record: of the worst one if it is known to be in the
            file.
        journalist_risk: The largest 1/F*: of the worst one if nobody knows who is in it.
    """

    records: int
    population: int
    sample_uniques: int
    sample_uniques_confounded: int
    expected_matches: float
    population_uniques: int
    population_uniques_confounded: int
    k: int
    not_anonymous: int
    global_risk: float
    prosecutor_risk: float = 0.0
    journalist_risk: float = 0.0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: confidential>"

    @property
    def sample_unique_share(self) -> float:
        """Sample uniques among the records of the file."""
        return _share(self.sample_uniques, self.records)

    @property
    def expected_share(self) -> float:
        """Correct matches among sample uniques: what the study prints in per cent."""
        return _share(self.expected_matches, self.sample_uniques)

    @property
    def population_unique_share(self) -> float:
        """Population uniques among the records of the file."""
        return _share(self.population_uniques, self.records)

    @property
    def population_share_of_uniques(self) -> float:
        """Population uniques among sample uniques."""
        return _share(self.population_uniques, self.sample_uniques)

    @property
    def share_of_population(self) -> float:
        """Population uniques of the file among everybody: the second axis of the figure."""
        return _share(self.population_uniques, self.population)

    @property
    def not_anonymous_share(self) -> float:
        """Records below ``k`` among the records of the file."""
        return _share(self.not_anonymous, self.records)

    @property
    def global_share(self) -> float:
        """The global risk as a share of the records of the file."""
        return _share(self.global_risk, self.records)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class SampledCells(Confidential):
    """The combinations of keys that a file holds.

    Attributes:
        population: How many of the census have exactly this combination.
        sample: How many of the file.
        complete: Whether no key is missing.
        fitting_population, fitting_sample: For cells with a missing key, how many complete ones
            fit them; 0 for complete cells.
        numerators, denominators: For complete cells, the share of the records with missing values
            that fall to them; a denominator of 0 where the fraction is too long.
        shares: The same as a number.
        fits: Which complete cells fit the others.
    """

    population: Int64
    sample: Int64
    complete: Mask
    fitting_population: Int64
    fitting_sample: Int64
    numerators: Int64
    denominators: Int64
    shares: Floats
    fits: Fits

    def __repr__(self) -> str:
        return "<SampledCells: confidential>"

    @property
    def population_matches(self) -> Floats:
        """How many of the census a record may be (F*)."""
        return self._with_shares(self.population + self.fitting_population)

    @property
    def sample_matches(self) -> Floats:
        """How many of the file a record may be (f*)."""
        return self._with_shares(self.sample + self.fitting_sample)

    def _with_shares(self, counts: Int64) -> Floats:
        exact = np.maximum(self.denominators, 1)
        fractions = (counts * exact.astype(np.float64) + self.numerators) / exact
        return np.where(self.denominators > 0, fractions, counts + self.shares)

    @property
    def alone(self) -> Mask:
        """Which cells are sample uniques: one record, and with missing keys no other that fits."""
        counts = np.where(self.complete, self.sample, self.sample + self.fitting_sample)
        unique: Mask = counts == 1
        return unique

    def below(self, k: int) -> Mask:
        """Cells that fewer than ``k`` of the census may be: decided exactly."""
        matches = self.population_matches
        few: Mask = matches < k
        near = np.abs(matches - k) <= _CLOSE * k
        short = near & (self.denominators > 0)
        lacking = k - (self.population + self.fitting_population)
        few[short] = self.numerators[short] < lacking[short] * self.denominators[short]
        unsettled = np.flatnonzero(near & (self.denominators == 0))
        if unsettled.size:
            exact = self._exact_shares(unsettled)
            few[unsettled] = [exact[cell] < int(lacking[cell]) for cell in unsettled.tolist()]
        return few

    def _exact_shares(self, cells: Int64) -> dict[int, Fraction]:
        """The shares of cells whose fractions were too long to keep."""
        chosen = np.zeros(self.sample.size, dtype=bool)
        chosen[cells] = True
        exact = dict.fromkeys(cells.tolist(), Fraction(0))
        for fit in self.fits():
            mine = chosen[fit.cells]
            pairs = zip(fit.cells[mine].tolist(), fit.others[mine].tolist(), strict=True)
            for cell, other in pairs:
                amount = int(self.sample[cell]) * int(self.sample[other])
                exact[cell] += Fraction(amount, int(self.fitting_sample[other]))
        return exact


def sampled_cells(counts: Int64, complete: Mask, fits: Fits = lambda: iter(())) -> SampledCells:
    """Share records with missing keys out among the cells that they fit (methods 9.3).

    Args:
        counts: By cell of the file how many there are in the census (row 0) and the file (row 1).
        complete: Whether no key is missing.
        fits: Which complete cells fit the others.
    """
    size = complete.size
    fitting = np.zeros((2, size), dtype=np.int64)
    numerators, denominators = np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.int64)
    shares = np.zeros(size, dtype=np.float64)
    sample = counts[1]
    for fit in fits():
        fitting[:, fit.incomplete] = fit.counts
        amounts = sample[fit.cells] * sample[fit.others]
        totals = fitting[1, fit.others]
        share_out(fit.cells, amounts, totals, numerators, denominators, shares)
    return SampledCells(
        population=counts[0],
        sample=sample,
        complete=complete,
        fitting_population=fitting[0],
        fitting_sample=fitting[1],
        numerators=numerators,
        denominators=denominators,
        shares=shares,
        fits=fits,
    )


def uniques_of(cells: SampledCells, *, population: int, k: int) -> Uniques:
    """What is counted of the cells of a file.

    Sums are rounded once: they depend neither on the order of records nor on that of cells.
    """
    matches = cells.population_matches
    confounded = cells.shares > 0
    alone = cells.alone
    lonely = (
        np.where(cells.complete, cells.population, cells.population + cells.fitting_population) == 1
    )
    return Uniques(
        records=int(cells.sample.sum()),
        population=population,
        sample_uniques=int(np.count_nonzero(alone)),
        sample_uniques_confounded=int(np.count_nonzero(alone & confounded)),
        expected_matches=math.fsum((1.0 / matches[alone]).tolist()),
        population_uniques=int(np.count_nonzero(lonely)),
        population_uniques_confounded=int(np.count_nonzero(lonely & confounded)),
        k=k,
        not_anonymous=int(cells.sample[cells.below(k)].sum()),
        global_risk=math.fsum((cells.sample / matches).tolist()),
        prosecutor_risk=float((1.0 / cells.sample_matches).max(initial=0.0)),
        journalist_risk=float((1.0 / matches).max(initial=0.0)),
    )


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
