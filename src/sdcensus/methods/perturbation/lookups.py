"""How a cell key picks its deviation: three ways with one distribution, and which one suits."""

from __future__ import annotations

from enum import StrEnum

from sdcensus.model.perturbation import Perturbation
from sdcensus.model.perturbation_table import KeyRule, PerturbationTable

#: From this largest deviation on, independent noise is the better choice.
HASHED_FROM = 3


class Lookup(StrEnum):
    """How a cell key picks its deviation.

    In all three, a single cell has the distribution of the perturbation table, and the same
    records have the same deviation. They differ in how the noise of a total hangs together with
    that of its parts.

    ``ascending``: the key is looked up as it is, in the intervals of the table as they stand; a
    design puts them in ascending order. For exchange with other programs.
    ``scrambled``: the same, with the intervals cut and put in an order of the office's own. For
    exchange only.
    ``hashed``: a keyed hash takes the place of the key, so that the noise of different cells is
    independent.
    """

    ASCENDING = "ascending"
    SCRAMBLED = "scrambled"
    HASHED = "hashed"


def default_lookup(perturbation: Perturbation) -> Lookup:
    """The look-up that suits a perturbation.

    ``hashed`` where deviations reach three or more. ``ascending`` for smaller ones and for
    rounding, where the coupling by keys takes away about half of what can be unpicked; and for a
    table of folded keys, which exists for exchange.
    """
    folded = (
        isinstance(perturbation, PerturbationTable) and perturbation.key_rule is KeyRule.FOLD_BYTES
    )
    rounding = perturbation.tail.period > 1
    if folded or rounding or perturbation.max_deviation < HASHED_FROM:
        return Lookup.ASCENDING
    return Lookup.HASHED
