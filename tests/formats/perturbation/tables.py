"""Perturbation tables for the tests of exchange files."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from sdcensus.kernels.perturbation.lookup import FOLDED, PLAIN, LookupRows, publish
from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.model.perturbation.design import DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import DeviationRow, KeyRule, PerturbationTable, Tail

FILES = Path(__file__).parent / "files"


def design(
    *rows: dict[int, float],
    tail: Tail | None = None,
    blocked: int = 0,
    biased: tuple[int, ...] = (),
) -> PerturbationDesign:
    """A design from the deviations of the counts 1, 2 and so on; the count 0 stays."""
    made = tuple(
        DesignRow(tuple(sorted(row)), tuple(row[value] for value in sorted(row)))
        for row in ({0: 1.0}, *rows)
    )
    return PerturbationDesign(made, tail or Tail(len(rows)), blocked, frozenset(biased))


#: E20, Table 11.
CP1 = design({-1: 0.25, 0: 0.5, 1: 0.25})
#: E20, Diagram 1A, to the digits that are printed; the rows are unbiased up to 1e-8.
DIAGRAM_1A = design(
    {-1: 0.37967089, 0: 0.37967089, 1: 0.13660124, 2: 0.06910130, 3: 0.03495568},
    {-2: 0.12310637, -1: 0.19267419, 0: 0.4, 1: 0.16289118, 2: 0.08798903, 3: 0.03333923},
    {
        -3: 0.02367714,
        -2: 0.08686096,
        -1: 0.1894619,
        0: 0.4,
        1: 0.1894619,
        2: 0.08686096,
        3: 0.02367714,
    },
    biased=(1, 2, 3),
)
#: The counts 1 and 2 never appear; as Diagram 1B of E20, with simpler probabilities.
WITHOUT_SMALL = design(
    {-1: 2 / 3, 2: 1 / 3},
    {-2: 1 / 3, 1: 2 / 3},
    {-3: 0.2, 0: 0.4, 1: 0.2, 2: 0.2},
    {-1: 0.3, 0: 0.45, 1: 0.2, 2: 0.05},
    {-2: 0.1, -1: 0.2, 0: 0.4, 1: 0.2, 2: 0.1},
    blocked=2,
)


def rounding(base: int) -> PerturbationDesign:
    """Unbiased random rounding to multiples of a base."""
    rows = [DesignRow((0,), (1.0,))]
    for rest in range(1, base):
        rows.append(DesignRow((-rest, base - rest), (1 - rest / base, rest / base)))
    return PerturbationDesign(tuple(rows), Tail(0, base), base - 1)


SCHEMES = {
    "CP1": CP1,
    "Diagram 1A": DIAGRAM_1A,
    "without small counts": WITHOUT_SMALL,
}


@st.composite
def tables(draw: st.DrawFn, modulus: int, *, periods: tuple[int, ...] = (1,)) -> PerturbationTable:
    """Any table with rows that keep counts positive, scrambled or not, biased or not."""
    start = draw(st.integers(1, 5))
    tail = Tail(start, draw(st.sampled_from(periods)))
    rows = [DeviationRow((0,), (modulus,))]
    for count in range(1, tail.rows):
        support = draw(
            st.lists(st.integers(-min(count, 4), 4), min_size=1, max_size=6, unique=True)
        )
        weights = draw(st.lists(st.integers(1, 1000), min_size=len(support), max_size=len(support)))
        values = sorted(support)
        shares = [weight / sum(weights) for weight in weights]
        keys = quantise(shares, values, modulus, unbiased=draw(st.booleans()))
        pieces = [(value, width) for value, width in zip(values, keys, strict=True) if width]
        if draw(st.booleans()):
            pieces = draw(st.permutations(pieces))
        rows.append(DeviationRow(tuple(v for v, _ in pieces), tuple(w for _, w in pieces)))
    biased = frozenset(at for at, row in enumerate(rows) if not _balanced(row))
    return PerturbationTable(modulus, tuple(rows), tail, biased=biased)


def _balanced(row: DeviationRow) -> bool:
    total = sum(value * width for value, width in zip(row.deviations, row.widths, strict=True))
    step = math.gcd(*(value - row.deviations[0] for value in row.deviations))
    return total == 0 or abs(total) < step


def published(
    table: PerturbationTable, counts: npt.ArrayLike, keys: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """What is published for each count with its key."""
    rows = LookupRows.build(
        [(row.deviations, row.widths) for row in table.rows],
        table.modulus,
        start=table.tail.start,
        period=table.tail.period,
        anchor=table.tail.first,
    )
    rule = FOLDED if table.key_rule is KeyRule.FOLD_BYTES else PLAIN
    return publish(
        np.asarray(counts, dtype=np.int64), np.asarray(keys, dtype=np.uint32), rows, rule=rule
    )
