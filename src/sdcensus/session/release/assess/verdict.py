"""Measures against what a licence class accepts, and what would change the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdcensus.errors import Sentence
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.release.licence import OF_FILE, Acceptance
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language, in_language, sentence, speak
from sdcensus.model.spec.headings import joined
from sdcensus.model.text import Text
from sdcensus.report.release.results import CompositionRisk, LadderRow, MeasureVerdict
from sdcensus.session.release.assess.advice import Advice

#: Where measures fall with the sample, this is the smallest that is worth making, as a share.
_SMALLEST_SAMPLE = 0.005
_NOTHING = Advice()

#: What was measured: a step of the ladder, or households by their members.
Measured = LadderRow | CompositionRisk


@dataclass(frozen=True, slots=True)
class _Measure:
    """A number of what was measured, as a share of one base.

    Attributes:
        name: The field of ``Acceptance``.
        entity: Units of which it is a share.
        number: The number.
        size: How many units the file has; ``None`` for a share of the country.
    """

    name: str
    entity: Entity
    number: Callable[[Any], float | None]
    size: Callable[[Any], int | None] | None = None

    @property
    def stem(self) -> str:
        """The name without its base."""
        return self.name.removesuffix(OF_FILE)


def _both(
    name: str,
    entity: Entity,
    number: Callable[[Any], float | None],
    size: Callable[[Any], int | None],
) -> tuple[_Measure, _Measure]:
    """A number as a share of the country, and as one of the file."""
    return _Measure(name, entity, number), _Measure(name + OF_FILE, entity, number, size)


_LADDER = (
    *_both(
        "expected_matches",
        Entity.PERSON,
        lambda row: row.expected_matches,
        lambda row: row.records,
    ),
    *_both(
        "population_uniques",
        Entity.PERSON,
        lambda row: row.population_uniques,
        lambda row: row.records,
    ),
    *_both(
        "not_anonymous",
        Entity.PERSON,
        lambda row: row.not_anonymous,
        lambda row: row.records,
    ),
    _Measure("household_risk", Entity.HOUSEHOLD, lambda row: row.households_at_risk),
)
_COMPOSITION = _both(
    "composition_uniques",
    Entity.HOUSEHOLD,
    lambda risk: risk.population_uniques,
    lambda risk: risk.households,
)
#: Measures of households by their members.
BY_MEMBERS = frozenset(measure.name for measure in _COMPOSITION)


@dataclass(frozen=True, slots=True)
class Change:
    """A key that is told at a coarser level, or left out; or large households told apart.

    Attributes:
        key: The key; empty for large households.
        level: The coarser level; empty where the key is left out.
        advice: How a document says so.
        above: Households of more persons than this are told person by person.
    """

    key: Text = Text()
    level: Text = Text()
    advice: Advice = _NOTHING
    above: int = 0

    def words(self, language: str) -> str:
        """The change in words, as a part of a sentence."""
        if self.above:
            words = speak("release.change.apart", language, n=self.above)
        else:
            manner = "coarser" if self.leaves_key else "without"
            words = speak(f"release.change.{manner}", language, key=self.key, level=self.level)
        setting = self.advice.words(language)
        return f"{words} ({setting})" if setting else words

    @property
    def leaves_key(self) -> bool:
        """Whether the file still tells the key."""
        return bool(self.level.by_language or self.above)


@dataclass(frozen=True, slots=True, repr=False)
class Alternative(Confidential):
    """What would be measured with other keys.

    Attributes:
        changes: What is changed.
        row: What is measured then.
        margin: Whether another sample would be drawn, so that a share has to stay below what is
            accepted by two standard deviations.
    """

    changes: tuple[Change, ...]
    row: Measured
    margin: bool = False

    def __repr__(self) -> str:
        return "<Alternative: confidential>"


def verdicts(
    row: LadderRow | None,
    composition: CompositionRisk | None,
    acceptance: Acceptance,
    population: Mapping[Entity, int],
    *,
    fraction: float = 1.0,
    alternatives: Sequence[Alternative] = (),
    neighbours: Sequence[Alternative] = (),
    ladder: Sequence[LadderRow] = (),
) -> tuple[MeasureVerdict, ...]:
    """Every measure that has a meaning for the file, against what is accepted.

    Args:
        row: The judged step of the ladder.
        composition: What a neighbour finds.
        acceptance: What the class accepts.
        population: Persons and households of the census.
        fraction: The share of the census that is sampled: another one changes shares of the
            country.
        alternatives: The same step with other keys, of which the best is told where one fails.
        neighbours: The same for what a neighbour finds.
        ladder: All steps: fewer keys that are known may pass.
    """
    judged = _Judge(acceptance, population, fraction)
    # A smaller sample lowers shares of the country and no share of the file.
    smaller = judged.smaller_passes(row) and judged.smaller_passes(composition)
    return (
        *judged.verdicts(row, _LADDER, alternatives, ladder, smaller=smaller),
        *judged.verdicts(composition, _COMPOSITION, neighbours, (), smaller=smaller),
    )


def until_accepted(
    alternatives: Iterable[Alternative], acceptance: Acceptance, population: Mapping[Entity, int]
) -> Iterator[Alternative]:
    """Alternatives up to the first of several changes with which every measure passes.

    Those behind it change more keys, and nobody would choose them.
    """
    judge = _Judge(acceptance, population, 1.0)
    for alternative in alternatives:
        yield alternative
        row = alternative.row
        measures = _LADDER if isinstance(row, LadderRow) else _COMPOSITION
        if len(alternative.changes) > 1 and all(
            judge.accepts(measure, alternative) for measure in measures
        ):
            return


class _Judge:
    def __init__(
        self, acceptance: Acceptance, population: Mapping[Entity, int], fraction: float
    ) -> None:
        self._acceptance, self._population = acceptance, population
        self._fraction = fraction

    def verdicts(
        self,
        row: Measured | None,
        measures: Sequence[_Measure],
        alternatives: Sequence[Alternative],
        ladder: Sequence[LadderRow],
        *,
        smaller: bool,
    ) -> Iterator[MeasureVerdict]:
        if row is None:
            return
        for measure in measures:
            value = self._share(measure, row)
            if value is None:
                continue
            accepted = self._accepted(measure)
            change = None
            if value > accepted and alternatives:
                # What helps one base and not the other would be refused again.
                both = [each for each in measures if each.stem == measure.stem]
                change = self._change(measure, both, alternatives, ladder)
                if smaller and measure.size is None:
                    change = self._with_sample(measure, row, change)
            yield MeasureVerdict(
                measure=measure.name, value=value, accepted=accepted, change=change
            )

    def smaller_passes(self, row: Measured | None) -> bool:
        """Whether the shares of a smaller file would be accepted: they are about the same."""
        if row is None:
            return True
        measures = _LADDER if isinstance(row, LadderRow) else _COMPOSITION
        of_file = (each for each in measures if each.size is not None)
        if any((self._share(each, row) or 0.0) > self._accepted(each) for each in of_file):
            return False
        # Fewer records are more often alone: matches on those grow up to all matches.
        accepted = self._acceptance.expected_matches_of_file
        return isinstance(row, CompositionRisk) or row.global_risk <= accepted * row.records

    def accepts(self, measure: _Measure, alternative: Alternative) -> bool:
        """Whether a measure would pass."""
        share = self._share(measure, alternative.row) or 0.0
        if not alternative.margin:
            return share <= self._accepted(measure)
        size = self._size(measure, alternative.row) or 0
        return share * size <= _expected(self._accepted(measure) * size)

    def _accepted(self, measure: _Measure) -> float:
        accepted: float = getattr(self._acceptance, measure.name)
        return accepted

    def _size(self, measure: _Measure, row: Measured) -> int | None:
        return self._population.get(measure.entity) if measure.size is None else measure.size(row)

    def _share(self, measure: _Measure, row: Measured) -> float | None:
        number, size = measure.number(row), self._size(measure, row)
        return None if number is None or not size else number / size

    def _change(
        self,
        measure: _Measure,
        both: Sequence[_Measure],
        alternatives: Sequence[Alternative],
        ladder: Sequence[LadderRow],
    ) -> Sentence:
        """The smallest change that makes a measure pass; else the one that helps most."""

        def share(alternative: Alternative) -> float:
            return self._share(measure, alternative.row) or 0.0

        passing = [
            each for each in alternatives if all(self.accepts(other, each) for other in both)
        ]
        # Of those that pass, users lose least by coarser keys rather than none, by few changes, and
        # by the highest risk that is still accepted.
        if passing:
            best = min(passing, key=lambda each: (_left_out(each), len(each.changes), -share(each)))
        else:
            # What another sample would give is not known so well that a number could be promised.
            known = [each for each in alternatives if not each.margin]
            best = min(known or alternatives, key=share)

        def helped(language: str) -> str:
            return share_text(share(best), language, digits=2)

        # What passes has no number here: measures with the same advice say the same.
        change = sentence(
            f"release.change.{'passes' if passing else 'helps'}",
            changes=in_every_language(lambda language: _listed(best, language)),
            **({} if passing else {"value": in_every_language(helped)}),
        )
        if not passing or len(best.changes) > 1:
            change = self._with_fewer_keys(both, ladder, change)
        return change

    def _with_fewer_keys(
        self, both: Sequence[_Measure], ladder: Sequence[LadderRow], change: Sentence
    ) -> Sentence:
        """Add up to which step of the ladder the measure passes: it may be as much as is known."""
        passing = [
            row.step
            for row in ladder
            if row.step > 1
            and all((self._share(each, row) or 0.0) <= self._accepted(each) for each in both)
        ]
        if not passing:
            return change
        return sentence(
            "release.change.known_keys",
            change=in_every_language(lambda language: in_language(change, language)),
            n=passing[-1],
        )

    def _with_sample(self, measure: _Measure, row: Measured, change: Sentence) -> Sentence:
        """Add that a smaller sample would do, where it would be worth making.

        Who is drawn is chance: the number that is expected stays two standard deviations below
        what is accepted, so that who follows the advice passes.
        """
        value = self._share(measure, row)
        if measure.name == "expected_matches" and isinstance(row, LadderRow):
            # Fewer records are more often alone: only all matches fall with the sample.
            value = row.global_risk / self._population[measure.entity] or value
        size = self._population[measure.entity]
        expected = _expected(self._accepted(measure) * size)
        smaller = math.floor(self._fraction * expected / size / (value or 1.0) * 10_000) / 10_000
        if smaller < _SMALLEST_SAMPLE:
            return change
        return sentence(
            "release.change.or_sample",
            change=in_every_language(lambda language: in_language(change, language)),
            sample=in_every_language(lambda language: share_text(smaller, language, digits=2)),
        )


def _expected(most: float) -> float:
    """The number that may be expected where one above ``most`` should be rare."""
    return (math.sqrt(most + 1) - 1) ** 2


def _left_out(alternative: Alternative) -> int:
    return sum(not change.leaves_key for change in alternative.changes)


def _listed(alternative: Alternative, language: str) -> str:
    return joined([change.words(language) for change in alternative.changes], language)
