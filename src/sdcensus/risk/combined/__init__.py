"""Swapping and cell keys together: how much a small published cell still says about residents.

Here: how records move between the cells of a table (``moves``), how often counts occur
(``priors``), and what follows for a published 1, 2 or 3 (``chances``), by finite sums. Nobody has
published such a measure; the model is ours, and docs/risk/combined.md says what it takes for
granted. Noise alone is in ``risk/posterior.py``; trials with real records are in
``session/attack``.
"""

from sdcensus.risk.combined.chances import (
    CombinedRisk,
    SmallValueChance,
    combined_risk,
    observed_risk,
    published_risk,
)
from sdcensus.risk.combined.moves import (
    NO_MOVES,
    CellMoves,
    Moves,
    cell_moves,
    measured_moves,
    moves_by_rate,
    moves_of_cells,
    together,
)
from sdcensus.risk.combined.priors import CountPrior, prior_of, prior_of_counts, reference_prior

__all__ = [
    "NO_MOVES",
    "CellMoves",
    "CombinedRisk",
    "CountPrior",
    "Moves",
    "SmallValueChance",
    "cell_moves",
    "combined_risk",
    "measured_moves",
    "moves_by_rate",
    "moves_of_cells",
    "observed_risk",
    "prior_of",
    "prior_of_counts",
    "published_risk",
    "reference_prior",
    "together",
]
