"""How a cell key picks its deviation: four ways with one distribution, and which one suits."""

from __future__ import annotations

from enum import StrEnum

from sdcensus.model.perturbation.rows import Perturbation

#: From this largest deviation on, noise of different cells had better be independent.
INDEPENDENT_FROM = 3


class Lookup(StrEnum):
    """How a cell key picks its deviation.

    In all of them, a single cell has the distribution of the perturbation table. They differ in
    what has the same noise, and in how that of a total hangs together with that of its parts.

    ``definition``: a keyed hash of the cell key and of the definition of the cell. The same
    question has the same number in every table, and different questions have independent noise,
    also about the same people.

    The others are *set keys*: the cell key alone decides, so that equal sets of records have equal
    noise, and whoever compares tables finds such sets. For exchange and for studies, by name.

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
    DEFINITION = "definition"

    @property
    def is_set_key(self) -> bool:
        """Whether equal sets of records have equal noise, whatever the question was."""
        return self is not Lookup.DEFINITION

    @property
    def has_own_keys(self) -> bool:
        """Whether keys are drawn anew by a hash, and so fit whatever the keys of a census are."""
        return self in (Lookup.HASHED, Lookup.DEFINITION)


def default_lookup(perturbation: Perturbation) -> Lookup:
    """The look-up that suits a perturbation, wherever it comes from.

    ``definition`` where deviations reach three or more; ``ascending`` for smaller ones and for
    rounding, where the coupling by keys takes away about half of what can be unpicked.
    """
    return Lookup.DEFINITION if suits_independence(perturbation) else Lookup.ASCENDING


def suits_independence(perturbation: Perturbation) -> bool:
    """Whether noise of different cells had better be independent: large, and not rounding."""
    return perturbation.tail.period == 1 and perturbation.max_deviation >= INDEPENDENT_FROM
