"""Swapping for programmes that must deliver every cell, with the measure of it and the noise.

The smallest group hides what lies below small groups. A programme that must deliver every cell
cannot have it, so its records are swapped first. What is said here follows from the formula of
``risk.combined`` over the counts of the proposed tables; trials are in ``session.attack.swapped``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.swapping.targeted import TargetedSwap
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.progress import no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.risk.combined.chances import CombinedRisk, combined_risk
from sdcensus.risk.combined.moves import NO_MOVES, moves_by_rate
from sdcensus.risk.combined.priors import mixed, prior_of
from sdcensus.session.attack.simulation import trial_key
from sdcensus.session.census.census import Census

#: Groups of up to three are what attacks look for: cells with fewer than this are at risk.
AT_RISK_BELOW = 4
#: The rates that are tried, the mildest first.
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
#: Claims about groups of one to three are to be no better than this.
CLAIM_LIMIT = 0.5
#: More tables than this are not counted for the advice.
_MOST_TABLES = 12
#: So many variables make a household rare, if not more than this share is touched.
_RISK_VARIABLES, _MOST_TOUCHED = 3, 0.3


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AdvisedSwap(Confidential):
    """A targeted swap that can be done with the records of a census: it was tried under a key that
    is not the office's.

    Attributes:
        risk_variables: What makes a household rare.
        rate: The share of households, at least.
        touched: Units that exchanged their place in the trial.
        units: All of them.
    """

    risk_variables: tuple[str, ...]
    rate: float
    touched: int
    units: int

    def __repr__(self) -> str:
        return "<AdvisedSwap: confidential>"

    @property
    def options(self) -> tuple[str, ...]:
        """What the command ``swap`` is to be told."""
        variables = ",".join(self.risk_variables)
        rate = f"{self.rate:g}"
        return (
            *("--risk-variables", variables, "--k", str(AT_RISK_BELOW)),
            *("--farther", "--rate", rate),
        )


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
        swap: The swap itself.
    """

    rate: float
    below: int
    level: str
    without: CombinedRisk
    together: CombinedRisk
    enough: bool
    swap: AdvisedSwap

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
        yield sentence(
            "combined.touches",
            variables=", ".join(self.swap.risk_variables),
            n=self.swap.touched,
            share=_percent(self.swap.touched / self.swap.units),
        )
        yield sentence("combined.country")


def swap_advice(
    census: Census, specs: Sequence[TableSpec], noise: Perturbation
) -> SwapAdvice | None:
    """The mildest targeted swap after which a claim about a small cell is no better than chance.

    ``None`` where there is nothing to swap: no store, no areas, no counts of records, nobody at
    risk or without anybody like them elsewhere.

    Args:
        census: The census.
        specs: The tables that are proposed.
        noise: The noise that is proposed.
    """
    geography = census.schema.geography
    if geography is None or census.kept_store is None:
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
    swap = _advised_swap(census, with_areas, rate)
    if swap is None:
        return None
    return SwapAdvice(
        swap=swap,
        rate=rate,
        below=AT_RISK_BELOW,
        level=finest.name,
        without=without,
        together=risk,
        enough=enough,
    )


def _advised_swap(census: Census, specs: Sequence[TableSpec], rate: float) -> AdvisedSwap | None:
    """The most telling rule that touches no more than a part of the households.

    The more variables make somebody rare, the more are: those that most tables show are taken, as
    many as that part allows.
    """
    areas = {area.name for area in census.schema.geographies}
    shown = Counter(
        axis.variable.name
        for spec in specs
        if spec.of is Entity.PERSON
        for axis in spec.axes
        if axis.variable.name not in areas
    )
    frequent = sorted(shown, key=lambda name: (-shown[name], name))[:_RISK_VARIABLES]
    mildest: AdvisedSwap | None = None
    for number in range(len(frequent), 0, -1):
        for tried in (rate, 0.0):
            swap = _tried_swap(census, tuple(frequent[:number]), tried)
            if swap is not None:
                mildest = swap
                if swap.touched <= _MOST_TOUCHED * swap.units:
                    return swap
                break
    return mildest


def _tried_swap(census: Census, variables: tuple[str, ...], rate: float) -> AdvisedSwap | None:
    """A swap that was tried; ``None`` if it cannot be done."""
    method = TargetedSwap(risk_variables=variables, k=AT_RISK_BELOW, rate=rate, farther=True)
    try:
        changes = method.derive(census.store, Draws(trial_key(0, b"exchange")), no_progress)
    except SpecError:
        return None
    for entity in Entity:
        touched = changes.figures.get(f"{entity.plural} exchanged", 0)
        if touched:
            return AdvisedSwap(
                risk_variables=variables,
                rate=rate,
                touched=touched,
                units=census.store.rows(entity),
            )
    return None


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
