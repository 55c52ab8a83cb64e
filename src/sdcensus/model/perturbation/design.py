"""Rows of a perturbation as they were designed: deviations with their probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.model.perturbation.table import (
    DeviationRow,
    Distribution,
    Perturbation,
    PerturbationTable,
    Tail,
    check_results,
)
from sdcensus.model.schema.schema import LARGEST_MODULUS

#: How far the probabilities of a row may be from summing to one.
SUM_TOLERANCE = 1e-9
#: A designed row counts as unbiased up to this.
BIAS_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class DesignRow:
    """The deviations of one count, ascending, and the probability of each."""

    deviations: tuple[int, ...]
    probabilities: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.deviations) != len(self.probabilities) or not self.deviations:
            raise SpecError("A row has one probability for each of its deviations.")
        if any(a >= b for a, b in zip(self.deviations, self.deviations[1:], strict=False)):
            raise SpecError("The deviations of a row stand in ascending order, each once.")
        if any(not 0 <= probability <= 1 for probability in self.probabilities):
            raise SpecError("Probabilities lie between 0 and 1.")
        if abs(math.fsum(self.probabilities) - 1) > SUM_TOLERANCE:
            raise SpecError("The probabilities of a row sum to 1.")


@dataclass(frozen=True, slots=True)
class Relaxation:
    """A wish that a row could not meet, and what it has instead.

    Attributes:
        row: The row.
        what: ``"stay"`` or ``"variance"``.
        asked: What was asked for.
        got: What the row has.
        why: The reason, as a sentence.
    """

    row: int
    what: str
    asked: float
    got: float
    why: str = ""

    def __str__(self) -> str:
        name = "stay probability" if self.what == "stay" else self.what
        text = f"row {self.row}: {name} {self.got:.6g} instead of {self.asked:.6g}"
        return f"{text} ({self.why})" if self.why else text


@dataclass(frozen=True, slots=True, repr=False)
class PerturbationDesign(Perturbation):
    """Probabilities of deviations for every count; becomes a table in any key space.

    Attributes:
        rows: Row 0 first: what happens to empty cells.
        tail: Which row serves which count.
        blocked_up_to: The largest count that never appears; 0 when none is blocked.
        biased: Rows whose mean deviation is not 0, on purpose.
        relaxed: What single rows could not meet.
        name: The scheme, if it has a name.
        parameters: What it was designed from, by name.
    """

    rows: tuple[DesignRow, ...]
    tail: Tail
    blocked_up_to: int = 0
    biased: frozenset[int] = frozenset()
    relaxed: tuple[Relaxation, ...] = ()
    name: str = ""
    parameters: tuple[tuple[str, float | int | str | bool | None], ...] = ()

    def __post_init__(self) -> None:
        if len(self.rows) != self.tail.rows:
            raise SpecError("The tail of a perturbation design does not fit its rows.")
        for row in range(len(self.rows)):
            check_results(row, self.rows[row].deviations, self.tail, self.blocked_up_to)
            if row not in self.biased and abs(self.row_bias(row)) > BIAS_TOLERANCE:
                raise SpecError(
                    f"Row {row} changes the expected count. Declare the row as biased if that is"
                    " meant."
                )

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<PerturbationDesign{name} with {len(self.rows)} rows: confidential>"

    def row_bias(self, row: int) -> float:
        """The mean deviation of a row."""
        design_row = self.rows[row]
        pairs = zip(design_row.deviations, design_row.probabilities, strict=True)
        return math.fsum(value * chance for value, chance in pairs)

    def distribution(self, row: int) -> Distribution:
        """Deviations of a row in ascending order with their probabilities."""
        design_row = self.rows[row]
        return tuple(zip(design_row.deviations, design_row.probabilities, strict=True))

    @property
    def blocked(self) -> int:
        """The largest count that never appears as a result; 0 when none is blocked."""
        return self.blocked_up_to

    def table(self, modulus: int = LARGEST_MODULUS) -> PerturbationTable:
        """The same probabilities as whole numbers of keys, in ascending order of deviations."""
        rows = []
        biased = set(self.biased)
        for at, row in enumerate(self.rows):
            widths = quantise(row.probabilities, row.deviations, modulus, unbiased=at not in biased)
            kept = [(v, w) for v, w in zip(row.deviations, widths, strict=True) if w]
            rows.append(DeviationRow(tuple(v for v, _ in kept), tuple(w for _, w in kept)))
        return PerturbationTable(
            modulus=modulus,
            rows=tuple(rows),
            tail=self.tail,
            blocked_up_to=self.blocked_up_to,
            biased=frozenset(biased),
            name=self.name,
        )

    def with_perturbed_zeros(self, targets: Mapping[int, float]) -> PerturbationDesign:
        """The same design with a row for empty cells: target counts and their probabilities.

        An empty cell can only grow, so such a row is biased; it is declared as that.
        """
        if any(not (self.blocked_up_to < target) for target in targets):
            raise SpecError("Empty cells can become positive counts that are not blocked.")
        stay = 1 - math.fsum(targets.values())
        if stay < 0:
            raise SpecError("The probabilities for empty cells sum to more than 1.")
        row = DesignRow(
            (0, *sorted(targets)), (stay, *(targets[target] for target in sorted(targets)))
        )
        tail, old = self.tail, list(range(1, self.tail.rows))
        if tail.start == 0:
            # Row 0 also serves larger counts, such as the multiples of a base: those keep it.
            tail = Tail(tail.period, tail.period)
            old = [self.tail.row(count) for count in range(1, tail.rows)]
        return PerturbationDesign(
            (row, *(self.rows[number] for number in old)),
            tail,
            self.blocked_up_to,
            frozenset({0, *(new for new, one in enumerate(old, start=1) if one in self.biased)}),
            self.relaxed,
            self.name,
            self.parameters,
        )


def exact(distribution: Distribution) -> dict[int, Fraction]:
    """Deviations with probabilities as exact fractions."""
    return {value: Fraction(chance) for value, chance in distribution}
