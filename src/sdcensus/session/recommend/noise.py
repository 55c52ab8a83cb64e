"""Which noise a look budget asks for: a named strength where one will do, else one of its own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from sdcensus.errors import SpecError
from sdcensus.methods.perturbation.schemes import STRENGTHS, scheme
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Lookup, default_lookup
from sdcensus.model.quantities import decimal_text, share_text, written_as
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.risk.looks.budget import NOT_COVERED, LookBudget
from sdcensus.risk.looks.chance import (
    ALPHA,
    Requirement,
    best_guess,
    large_variance,
    recovery_with,
    required,
)
from sdcensus.session.looks.budget import LIMIT, design_for, given_away, needed

#: From this share of ones and twos among filled cells on, none of them shall be seen.
SMALL_CELLS = 0.25
#: Noise with a larger variance drowns what tables are made for, whatever they look like.
LARGEST_VARIANCE = 25.0


@dataclass(frozen=True, slots=True)
class Rejected:
    """Something that was considered and not chosen, and why."""

    what: str
    why: str


@dataclass(frozen=True, slots=True, repr=False)
class Noise(Confidential):
    """The noise that is proposed.

    Attributes:
        strength: The strength in plain words; empty for noise of its own.
        design: The perturbation.
        lookup: How a cell key picks a deviation.
        looks: The looks at the worst cell.
        alone: The chance to guess a large count from one table.
        together: The chance to recover such a count from all tables.
        given_away: The expected number of sums that give all their parts away.
        reasons: Why, in sentences.
        rejected: What else was considered.
    """

    strength: str
    design: PerturbationDesign
    lookup: Lookup
    looks: float
    alone: float
    together: float
    given_away: float
    reasons: tuple[str, ...]
    rejected: tuple[Rejected, ...]

    def __repr__(self) -> str:
        return f"<Noise {self.strength or 'of its own'}: confidential>"


def noise_for(
    budgets: tuple[LookBudget, ...], small: float | None, *, limit: float = LIMIT
) -> Noise:
    """The weakest noise that withstands every budget.

    Args:
        budgets: Of the tables that are published, by kind of unit.
        small: The share of ones and twos among their filled cells, if there is any.
        limit: The chance of recovery stays at or below it.

    Raises:
        SpecError: No noise does.
    """
    worst = max(budgets, key=lambda budget: budget.asked.looks)
    looks = worst.asked.looks
    blocking = shows_none(small)
    chosen: tuple[str, PerturbationDesign] | None = None
    rejected = []
    named = sorted(STRENGTHS.values(), key=lambda strength: large_variance(scheme(strength.scheme)))
    for candidate in named:
        design = scheme(candidate.scheme)
        why = _why_not(design, budgets, looks, limit, blocking=blocking)
        if why is None and chosen is not None:
            why = _stronger_than_needed(design, chosen[1])
        if why is None:
            chosen = candidate.name, design
        else:
            name = sentence("recommend.rejected.strength", name=candidate.name)
            rejected.append(Rejected(name, why))
    if chosen is None:
        chosen = "", design_for(needs(budgets, limit), blocked=2 if blocking else 0)
    strength, design = chosen
    return Noise(
        strength,
        design,
        default_lookup(design),
        looks,
        best_guess(design),
        recovery_with(looks, design),
        sum(given_away(budget, design) for budget in budgets),
        tuple(_reasons(worst, small, design, limit)),
        tuple(rejected),
    )


def shows_none(small: float | None) -> bool:
    """Whether noise is chosen that publishes no one and no two, for their share among cells."""
    return small is not None and small > SMALL_CELLS


def needs(budgets: tuple[LookBudget, ...], limit: float = LIMIT) -> Requirement:
    """What all budgets together ask for."""
    lines: dict[int, int] = {}
    for budget in budgets:
        for parts, often in budget.lines:
            lines[parts] = lines.get(parts, 0) + often
    return required(max(budget.asked.looks for budget in budgets), limit, lines)


def _why_not(
    design: PerturbationDesign,
    budgets: tuple[LookBudget, ...],
    looks: float,
    limit: float,
    *,
    blocking: bool,
) -> str | None:
    """Why a scheme does not do; ``None`` if it does."""
    chance = recovery_with(looks, design)
    if chance > limit:
        return sentence(
            "recommend.rejected.chance",
            chance=in_every_language(partial(share_text, chance)),
            limit=in_every_language(partial(share_text, limit, digits=0)),
        )
    expected = sum(given_away(budget, design) for budget in budgets)
    if expected > ALPHA:
        return sentence(
            "recommend.rejected.sums", sums=_significant(expected, 2), limit=float(ALPHA)
        )
    if not all(needed(budget, limit).met_by(design) for budget in budgets):
        return (
            "its largest deviation is too likely: in some of so many sums all parts would be as far"
            " from the truth as they can be"
        )
    if blocking and design.blocked < 2:
        return sentence("recommend.rejected.small")
    return None


def _stronger_than_needed(design: PerturbationDesign, chosen: PerturbationDesign) -> str:
    large = design.tail.rows + design.max_deviation
    other = chosen.tail.rows + chosen.max_deviation
    return sentence(
        "recommend.rejected.stronger",
        mean=in_every_language(partial(decimal_text, design.mean_absolute_deviation(large), 2)),
        other=in_every_language(partial(decimal_text, chosen.mean_absolute_deviation(other), 2)),
    )


def _significant(figure: float, digits: int) -> Text:
    """A figure with so many digits, as each language writes it."""
    return in_every_language(lambda language: written_as(f"{figure:.{digits}g}", language))


def _reasons(
    worst: LookBudget, small: float | None, design: PerturbationDesign, limit: float
) -> list[str]:
    looks = worst.asked
    chance = recovery_with(looks.looks, design)
    sentences: list[str] = [
        sentence(
            "recommend.noise.reason",
            looks=worst.sentence,
            chance=in_every_language(partial(share_text, chance)),
            limit=in_every_language(partial(share_text, limit, digits=0)),
            not_covered=NOT_COVERED,
        )
    ]
    if small is None:
        return [*sentences, sentence("recommend.noise.nobody")]
    key = "many_small" if shows_none(small) else "few_small"
    shares = {
        name: in_every_language(partial(share_text, share, digits=0))
        for name, share in (("share", small), ("limit", SMALL_CELLS))
    }
    return [*sentences, sentence(f"recommend.noise.{key}", **shares)]


@dataclass(frozen=True, slots=True)
class Burden:
    """The noise that budgets ask for, against what is bearable.

    Attributes:
        ratio: The variance that is needed, as a multiple of the largest bearable one.
        why: Why it is too much; empty if it is not.
    """

    ratio: float
    why: str


def burden_of(budgets: tuple[LookBudget, ...], most: float, limit: float = LIMIT) -> Burden:
    """How heavy the noise would be that withstands every budget."""
    wanted = needs(budgets, limit)
    looks = max(budget.asked.looks for budget in budgets)
    ratio = wanted.variance / most
    if ratio > 1:
        return Burden(
            ratio,
            sentence(
                "recommend.rejected.burden",
                looks=_significant(looks, 3),
                variance=_significant(wanted.variance, 3),
                most=_significant(most, 3),
            ),
        )
    try:
        design_for(wanted)
    except SpecError:
        why = sentence("recommend.rejected.no_noise", looks=_significant(looks, 3))
        return Burden(ratio, why)
    return Burden(ratio, "")
