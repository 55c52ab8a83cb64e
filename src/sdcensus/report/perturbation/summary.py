"""Everything that an office should know about a perturbation before it uses it."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.methods.perturbation.coupling import Coupling, coupling_of
from sdcensus.methods.perturbation.sources import single_count_delta
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import PerturbationDesign, Relaxation
from sdcensus.model.perturbation.table import (
    INDEPENDENT_FROM,
    KeyRule,
    Lookup,
    Perturbation,
    PerturbationTable,
    default_lookup,
)
from sdcensus.model.secret import Secret, SubSecret
from sdcensus.report.perturbation.rows import (
    RowSummary,
    large_counts,
    multiples_of,
    rows_of,
    tail_sentence,
)

#: How well an intruder may tell counts apart: as the exponent of a ratio of probabilities.
EPSILON = 1.0


@dataclass(frozen=True, slots=True, repr=False)
class LookupRisk(Confidential):
    """What the gap between a total and its two parts gives away under one look-up.

    Attributes:
        lookup: The look-up.
        name: What to call it: a table of which keys are looked up ``ascending`` may itself stand
            in another order.
        coupling: What the gap gives away.
        is_default: Whether it suits the perturbation best.
    """

    lookup: Lookup
    name: str
    coupling: Coupling
    is_default: bool

    def __repr__(self) -> str:
        return f"<LookupRisk of {self.lookup}: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Distinction(Confidential):
    """How well a published number tells a count from the next one.

    Both are the delta that belongs to epsilon 1: what is left of the difference between two
    probabilities when one of them may be e times the other. 0 is best. They are indicators and
    not promises of differential privacy: zeros stay, and one draw serves all tables.

    Attributes:
        large: Of two neighbouring large counts; the largest.
        empty: Of an empty cell and a count of one.
    """

    large: float
    empty: float

    def __repr__(self) -> str:
        return "<Distinction: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Confidential):
    """What a perturbation does, and what it gives away.

    Attributes:
        name: The scheme, if it has a name.
        parameters: What it was designed from, by name.
        rows: Its rows, from the one of empty cells on.
        large: All large counts together.
        tail: Which row serves large counts, as a sentence.
        max_deviation: The largest change, up or down.
        blocked: The largest count that never appears; 0 when none is blocked.
        multiples_of: The base of a rounding, of which only multiples are published; else 0.
        zeros_stay: Whether empty cells stay empty.
        keys: How many keys there are; ``None`` for a design, which fits any number of them.
        key_rule: How a cell key is looked up.
        relaxed: What single rows could not meet.
        lookups: The risk of each look-up; empty if it was not asked for.
        own_order: Whether the scrambled order is that of the office secret; else figures are means
            over several orders.
        default_lookup: The look-up that suits it, as ``lookups`` call it.
        why_default: Why, as a sentence.
        distinction: How well a published number tells a count from the next one.
    """

    name: str
    parameters: tuple[tuple[str, float | int | str | bool | None], ...]
    rows: tuple[RowSummary, ...]
    large: RowSummary
    tail: str
    max_deviation: int
    blocked: int
    multiples_of: int
    zeros_stay: bool
    keys: int | None
    key_rule: KeyRule
    relaxed: tuple[Relaxation, ...]
    lookups: tuple[LookupRisk, ...]
    own_order: bool
    default_lookup: str
    why_default: str
    distinction: Distinction

    def __repr__(self) -> str:
        return f"<Summary of a perturbation with {len(self.rows)} rows: confidential>"

    @property
    def biased(self) -> tuple[RowSummary, ...]:
        """Rows that change the expected count."""
        return tuple(row for row in self.rows if row.bias)


def summarise(
    perturbation: Perturbation,
    *,
    secret: Secret | SubSecret | None = None,
    key_version: int = 1,
    lookups: bool = True,
) -> Summary:
    """Look at a perturbation from all sides.

    Args:
        perturbation: A design, or a table.
        secret: The office secret, for the figures of the office's own scrambled order.
        key_version: The version of the series, for that order.
        lookups: Whether the risk of each look-up is computed.
    """
    design = perturbation if isinstance(perturbation, PerturbationDesign) else None
    table = perturbation if isinstance(perturbation, PerturbationTable) else None
    suits = default_lookup(perturbation)
    return Summary(
        name=design.name if design else table.name if table else "",
        parameters=design.parameters if design else (),
        rows=rows_of(perturbation),
        large=large_counts(perturbation),
        tail=tail_sentence(perturbation),
        max_deviation=perturbation.max_deviation,
        blocked=perturbation.blocked,
        multiples_of=multiples_of(perturbation),
        zeros_stay=perturbation.stay(0) == 1,
        keys=table.modulus if table else None,
        key_rule=table.key_rule if table else KeyRule.PLAIN,
        relaxed=design.relaxed if design else (),
        lookups=tuple(
            LookupRisk(
                lookup,
                _name(perturbation, lookup),
                coupling_of(perturbation, lookup, secret=secret, key_version=key_version),
                lookup is suits,
            )
            for lookup in Lookup
            if lookups
        ),
        own_order=secret is not None,
        default_lookup=_name(perturbation, suits),
        why_default=_why(perturbation, suits),
        distinction=Distinction(
            single_count_delta(perturbation, EPSILON),
            single_count_delta(perturbation, EPSILON, count=0),
        ),
    )


def _name(perturbation: Perturbation, lookup: Lookup) -> str:
    stands = isinstance(perturbation, PerturbationTable) and not perturbation.ascending
    return "as it stands" if stands and lookup is Lookup.ASCENDING else str(lookup)


def _why(perturbation: Perturbation, suits: Lookup) -> str:
    """Why a look-up is the default."""
    if suits is Lookup.DEFINITION:
        return (
            f"Changes reach {INDEPENDENT_FROM} or more: with a keyed hash of the cell key and of"
            " what the cell asks they are independent of each other. Parts and totals agree as"
            " often as chance allows, and equal groups of people have no number by which they"
            " could be found again in other tables. The other look-ups are for exchange, by name."
        )
    if perturbation.tail.period > 1:
        return (
            "Rows take turns, as in rounding: there the link between the keys of parts and total"
            " takes away about half of what could be unpicked from published tables."
        )
    return (
        f"Changes stay below {INDEPENDENT_FROM}: there the link between the keys of parts and total"
        " takes away about half of what could be unpicked from published tables."
    )
