"""Swapping for programmes that must deliver every cell, with the measure of it and the noise.

The smallest group hides what lies below small groups. A programme that must deliver every cell
cannot have it, so its records are swapped first. What is said here follows from the formula of
``risk.combined`` over the counts of the proposed tables; trials are in ``session.attack.swapped``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.quantities import share_text
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.risk.combined.chances import CombinedRisk, combined_risk
from sdcensus.risk.combined.moves import NO_MOVES, moves_by_rate
from sdcensus.risk.combined.priors import mixed, prior_of
from sdcensus.session.census.census import Census

#: Groups of up to three are what attacks look for: cells with fewer than this are at risk.
AT_RISK_BELOW = 4
#: The rates that are tried, the mildest first.
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
#: Claims about groups of one to three are to be no better than this.
CLAIM_LIMIT = 0.5
#: More tables than this are not counted for the advice.
_MOST_TABLES = 12


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SwapAdvice(Confidential):
    """A targeted swap, and what it leaves beside the noise.

    Attributes:
        rate: The share of households, at least.
        below: Households are at risk in cells with fewer than this.
        level: The level of the areas of the tables that were looked at.
        without: What small published values say by the noise alone.
        together: What they say by swapping and noise.
        enough: Whether claims are then no better than the limit.
    """

    rate: float
    below: int
    level: str
    without: CombinedRisk
    together: CombinedRisk
    enough: bool

    def __repr__(self) -> str:
        return "<SwapAdvice: confidential>"

    @property
    def lines(self) -> Iterator[str]:
        """The advice in sentences."""
        yield sentence("combined.advice", below=self.below, rate=_percent(self.rate))
        yield sentence(
            "combined.measure",
            level=self.level,
            true=_percent(self.without.share_true),
            right=_percent(self.without.worst_claim),
            true_then=_percent(self.together.share_true),
            right_then=_percent(self.together.worst_claim),
        )
        yield sentence("combined.country")


def swap_advice(
    census: Census, specs: Sequence[TableSpec], noise: Perturbation
) -> SwapAdvice | None:
    """The mildest targeted swap after which a claim about a small cell is no better than chance.

    ``None`` where there is nothing to swap: no areas, no counts of records.

    Args:
        census: The census.
        specs: The tables that are proposed.
        noise: The noise that is proposed.
    """
    geography = census.schema.geography
    if geography is None:
        return None
    with_areas = [
        spec
        for spec in specs
        if spec.measure is Measure.COUNT
        and any(axis.variable.name == geography.name for axis in spec.axes)
    ]
    if not with_areas or len(geography.codes) < 2:
        return None
    priors = [prior_of(census.tabulate(spec)) for spec in with_areas[:_MOST_TABLES]]
    prior = mixed(priors)
    levels = [spec.axis(geography.name).levels[0] for spec in with_areas]
    finest = max(levels, key=lambda level: len(level.codes))
    without = combined_risk(noise, prior, NO_MOVES)
    for rate in RATES:
        moves = moves_by_rate(rate, prior, small_rate=1.0, below=AT_RISK_BELOW)
        risk = combined_risk(noise, prior, moves)
        enough = (risk.worst_claim or 0.0) <= CLAIM_LIMIT
        if enough or rate == RATES[-1]:
            break
    return SwapAdvice(
        rate=rate,
        below=AT_RISK_BELOW,
        level=finest.name,
        without=without,
        together=risk,
        enough=enough,
    )


def _percent(share: float | None) -> Text:
    return in_every_language(lambda language: share_text(share, language, digits=0))


def steps_at(text: str, rates: Sequence[float]) -> tuple[str, ...]:
    """A step for each rate, which stands in its place: ``targeted-swap rate={rate}``.

    Examples:
        >>> steps_at("targeted-swap k=4 rate={rate}", (0.05, 0.1))
        ('targeted-swap k=4 rate=0.05', 'targeted-swap k=4 rate=0.1')
    """
    if "{rate}" not in text:
        return (text,)
    if not rates:
        raise SpecError(f"{text!r} has a place for a rate. Name some: --rates 0.05,0.1.")
    return tuple(text.replace("{rate}", f"{rate:g}") for rate in rates)
