"""How a cell key picks its deviation: three ways with one distribution, and which one suits."""

from __future__ import annotations

from enum import StrEnum

from sdcensus.model.perturbation import Perturbation
from sdcensus.model.perturbation_table import PerturbationTable

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

    A design has ``hashed`` where deviations reach three or more, and ``ascending`` for smaller
    ones and for rounding, where the coupling by keys takes away about half of what can be
    unpicked. A table was made for the keys of one census, to be exchanged with other programs: it
    is looked up as it stands.
    """
    if isinstance(perturbation, PerturbationTable):
        return Lookup.ASCENDING
    return Lookup.HASHED if suits_hashing(perturbation) else Lookup.ASCENDING


def suits_hashing(perturbation: Perturbation) -> bool:
    """Whether noise of different cells had better be independent: large, and not rounding."""
    return perturbation.tail.period == 1 and perturbation.max_deviation >= HASHED_FROM
