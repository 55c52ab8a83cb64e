"""Measures against what a licence class accepts, and what would change the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdcensus.errors import Sentence
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.release.licence import Acceptance
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import in_every_language, in_language, sentence, speak
from sdcensus.model.spec.headings import joined
from sdcensus.model.text import Text
from sdcensus.report.release.results import CompositionRisk, LadderRow, MeasureVerdict
from sdcensus.session.release.assess.advice import Advice

#: Which number of a ladder's step is judged under which name, and of which units.
_NUMBERS: dict[str, tuple[Entity, Callable[[LadderRow], float | None]]] = {
    "expected_matches": (Entity.PERSON, lambda row: row.expected_matches),
    "population_uniques": (Entity.PERSON, lambda row: row.population_uniques),
    "not_anonymous": (Entity.PERSON, lambda row: row.not_anonymous),
    "household_risk": (Entity.HOUSEHOLD, lambda row: row.households_at_risk),
}
#: Where measures fall with the sample, this is the smallest that is worth making, as a share.
_SMALLEST_SAMPLE = 0.005
_NOTHING = Advice()


@dataclass(frozen=True, slots=True)
class Change:
    """A key that is told at a coarser level, or left out.

    Attributes:
        key: The key.
        level: The coarser level; empty where the key is left out.
        advice: How a design says so.
    """

    key: Text
    level: Text = Text()
    advice: Advice = _NOTHING

    def words(self, language: str) -> str:
        """The change in words, as a part of a sentence."""
        manner = "coarser" if self.level.by_language else "without"
        words = speak(f"release.change.{manner}", language, key=self.key, level=self.level)
        setting = self.advice.words(language)
        return f"{words} ({setting})" if setting else words


@dataclass(frozen=True, slots=True, repr=False)
class Alternative(Confidential):
    """What a step of the ladder would be with other keys.

    Attributes:
        changes: What is changed.
        row: The step then.
    """

    changes: tuple[Change, ...]
    row: LadderRow

    def __repr__(self) -> str:
        return "<Alternative: confidential>"


def judged_step(ladder: Sequence[LadderRow], known_keys: int | None) -> LadderRow | None:
    """The step at which a file is judged: that of the plan, or the last one before it."""
    steps = [row for row in ladder if known_keys is None or row.step <= known_keys]
    return steps[-1] if steps else None


def verdicts(
    row: LadderRow | None,
    composition: CompositionRisk | None,
    acceptance: Acceptance,
    population: Mapping[Entity, int],
    *,
    fraction: float = 1.0,
    alternatives: Sequence[Alternative] = (),
    ladder: Sequence[LadderRow] = (),
) -> tuple[MeasureVerdict, ...]:
    """Every measure that has a meaning for the file, against what is accepted.

    Args:
        row: The judged step of the ladder.
        composition: What a neighbour finds.
        acceptance: What the class accepts.
        population: Persons and households of the census.
        fraction: The share of the census that is sampled: another one changes all measures.
        alternatives: The same step with other keys, of which the best is told where one fails.
        ladder: All steps: fewer keys that are known may pass.
    """
    judged = _Judge(acceptance, population, fraction, alternatives, ladder)
    return tuple(judged.verdicts(row, composition))


def until_accepted(
    alternatives: Iterable[Alternative], acceptance: Acceptance, population: Mapping[Entity, int]
) -> Iterator[Alternative]:
    """Alternatives up to the first of several changes with which every measure passes.

    Those behind it change more keys, and nobody would choose them.
    """
    judge = _Judge(acceptance, population, 1.0, (), ())
    for alternative in alternatives:
        yield alternative
        measured = judge.verdicts(alternative.row, None)
        if len(alternative.changes) > 1 and all(measure.passes for measure in measured):
            return


class _Judge:
    def __init__(
        self,
        acceptance: Acceptance,
        population: Mapping[Entity, int],
        fraction: float,
        alternatives: Sequence[Alternative],
        ladder: Sequence[LadderRow],
    ) -> None:
        self._acceptance, self._population = acceptance, population
        self._fraction, self._alternatives, self._ladder = fraction, alternatives, ladder

    def verdicts(
        self, row: LadderRow | None, composition: CompositionRisk | None
    ) -> Iterator[MeasureVerdict]:
        for name, (entity, number) in _NUMBERS.items():
            value = None if row is None else self._share(number(row), entity)
            if value is not None:
                bound = value
                if name == "expected_matches" and row is not None:
                    # Fewer records are more often alone: only all matches fall with the sample.
                    bound = self._share(row.global_risk, entity) or value
                change = self._change(name, value, entity, number, bound)
                yield self._verdict(name, value, change)
        if composition is not None:
            value = self._share(composition.population_uniques, Entity.HOUSEHOLD)
            if value is not None:
                change = None
                if value > self._acceptance.composition_uniques and composition.known:
                    coarser = sentence("release.change.composition", key=composition.known[0])
                    change = self._with_sample(
                        "composition_uniques", value, Entity.HOUSEHOLD, coarser
                    )
                yield self._verdict("composition_uniques", value, change)

    def _verdict(self, name: str, value: float, change: Sentence | None) -> MeasureVerdict:
        accepted: float = getattr(self._acceptance, name)
        return MeasureVerdict(measure=name, value=value, accepted=accepted, change=change)

    def _share(self, number: float | None, entity: Entity) -> float | None:
        size = self._population.get(entity, 0)
        return None if number is None or not size else number / size

    def _change(
        self,
        name: str,
        value: float,
        entity: Entity,
        number: Callable[[LadderRow], float | None],
        bound: float,
    ) -> Sentence | None:
        """The smallest change that makes a measure pass; else the one that helps most."""
        accepted: float = getattr(self._acceptance, name)
        if value <= accepted or not self._alternatives:
            return None

        def share(alternative: Alternative) -> float:
            return self._share(number(alternative.row), entity) or 0.0

        passing = [each for each in self._alternatives if share(each) <= accepted]
        # Of those that pass, users lose least by coarser keys rather than none, by few changes, and
        # by the highest risk that is still accepted.
        if passing:
            best = min(passing, key=lambda each: (_left_out(each), len(each.changes), -share(each)))
        else:
            best = min(self._alternatives, key=share)

        def helped(language: str) -> str:
            return share_text(share(best), language, digits=2)

        # What passes has no number here: measures with the same advice say the same.
        coarser = sentence(
            f"release.change.{'passes' if passing else 'helps'}",
            changes=in_every_language(lambda language: _listed(best, language)),
            **({} if passing else {"value": in_every_language(helped)}),
        )
        if not passing or len(best.changes) > 1:
            coarser = self._with_fewer_keys(accepted, entity, number, coarser)
        return self._with_sample(name, bound, entity, coarser)

    def _with_fewer_keys(
        self,
        accepted: float,
        entity: Entity,
        number: Callable[[LadderRow], float | None],
        change: Sentence,
    ) -> Sentence:
        """Add up to which step of the ladder the measure passes: it may be as much as is known."""
        shares = [(row.step, self._share(number(row), entity) or 0.0) for row in self._ladder]
        passing = [step for step, share in shares if step > 1 and share <= accepted]
        if not passing:
            return change
        return sentence(
            "release.change.known_keys",
            change=in_every_language(lambda language: in_language(change, language)),
            n=passing[-1],
        )

    def _with_sample(self, name: str, value: float, entity: Entity, change: Sentence) -> Sentence:
        """Add that a smaller sample would do, where it would be worth making.

        Who is drawn is chance: the number that is expected stays two standard deviations below
        what is accepted, so that who follows the advice passes.
        """
        accepted: float = getattr(self._acceptance, name)
        size = self._population[entity]
        expected = (math.sqrt(accepted * size + 1) - 1) ** 2
        smaller = math.floor(self._fraction * expected / size / value * 10_000) / 10_000
        if smaller < _SMALLEST_SAMPLE:
            return change
        return sentence(
            "release.change.or_sample",
            change=in_every_language(lambda language: in_language(change, language)),
            sample=in_every_language(lambda language: share_text(smaller, language, digits=2)),
        )


def _left_out(alternative: Alternative) -> int:
    return sum(not change.level.by_language for change in alternative.changes)


def _listed(alternative: Alternative, language: str) -> str:
    return joined([change.words(language) for change in alternative.changes], language)
