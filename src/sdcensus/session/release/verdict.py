"""Measures against what a licence class accepts, and what would change the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import Sentence
from sdcensus.model.confidential import Confidential
from sdcensus.model.quantities import share_text
from sdcensus.model.release.licence import Acceptance
from sdcensus.model.sentences import in_every_language, sentence, speak
from sdcensus.model.spec.headings import joined
from sdcensus.model.text import Text
from sdcensus.report.release.results import CompositionRisk, LadderRow, MeasureVerdict

#: Which number of a ladder's step is judged under which name, as a share of the file's records.
_SHARES: dict[str, Callable[[LadderRow], float]] = {
    "expected_matches": lambda row: row.expected_matches,
    "population_uniques": lambda row: row.population_uniques,
    "not_anonymous": lambda row: row.not_anonymous,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A key that is told at a coarser level, or left out.

    Attributes:
        key: The key.
        level: The coarser level; empty where the key is left out.
    """

    key: Text
    level: Text = Text()

    def words(self, language: str) -> str:
        """The change in words, as a part of a sentence."""
        manner = "coarser" if self.level.by_language else "without"
        return speak(f"release.change.{manner}", language, key=self.key, level=self.level)


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
    alternatives: Sequence[Alternative] = (),
) -> tuple[MeasureVerdict, ...]:
    """Every measure that has a meaning for the file, against what is accepted.

    Args:
        row: The judged step of the ladder.
        composition: What a neighbour finds.
        acceptance: What the class accepts.
        alternatives: The same step with other keys, of which the best is told where one fails.
    """
    return tuple(_verdicts(row, composition, acceptance, alternatives))


def _verdicts(
    row: LadderRow | None,
    composition: CompositionRisk | None,
    acceptance: Acceptance,
    alternatives: Sequence[Alternative],
) -> Iterator[MeasureVerdict]:
    if row is not None and row.records:
        for name, number in _SHARES.items():
            accepted: float = getattr(acceptance, name)
            value = number(row) / row.records
            yield MeasureVerdict(
                measure=name,
                value=value,
                accepted=accepted,
                change=_change(value, accepted, alternatives, number),
            )
        if row.households and row.households_at_risk is not None:
            at_risk = row.households_at_risk / row.households
            yield MeasureVerdict(
                measure="household_risk",
                value=at_risk,
                accepted=acceptance.household_risk,
                change=_change(at_risk, acceptance.household_risk, alternatives, _households),
            )
    if composition is not None and composition.households:
        value = composition.population_uniques / composition.households
        accepted = acceptance.composition_uniques
        change = None
        if value > accepted:
            known = composition.known[0] if composition.known else Text()
            change = sentence("release.change.composition", key=known)
        yield MeasureVerdict(
            measure="composition_uniques", value=value, accepted=accepted, change=change
        )


def _households(row: LadderRow) -> float:
    """Households at risk, on the scale of the records: shares of the two are compared."""
    if not row.households or row.households_at_risk is None:
        return 0.0
    return row.households_at_risk / row.households * row.records


def _change(
    value: float,
    accepted: float,
    alternatives: Sequence[Alternative],
    number: Callable[[LadderRow], float],
) -> Sentence | None:
    """The smallest change that makes a measure pass; else the one that helps most."""
    if value <= accepted or not alternatives:
        return None

    def share(alternative: Alternative) -> float:
        return number(alternative.row) / alternative.row.records

    passing = [each for each in alternatives if share(each) <= accepted]
    # Of those that pass, users lose least by few changes, by coarser keys rather than none, and
    # by the highest risk that is still accepted.
    if passing:
        best = min(passing, key=lambda each: (len(each.changes), _left_out(each), -share(each)))
    else:
        best = min(alternatives, key=share)
    result = "passes" if passing else "helps"
    return sentence(
        f"release.change.{result}",
        changes=in_every_language(lambda language: _listed(best, language)),
        value=in_every_language(lambda language: share_text(share(best), language)),
    )


def _left_out(alternative: Alternative) -> int:
    return sum(not change.level.by_language for change in alternative.changes)


def _listed(alternative: Alternative, language: str) -> str:
    return joined([change.words(language) for change in alternative.changes], language)
