"""Measures against what a licence class accepts, and what would change the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sdcensus.errors import Sentence
from sdcensus.model.quantities import share_text
from sdcensus.model.release.licence import Acceptance
from sdcensus.model.sentences import in_every_language, sentence
from sdcensus.model.text import Text
from sdcensus.report.release.results import CompositionRisk, LadderRow, MeasureVerdict

#: Which number of a ladder's step is judged under which name, as a share of the file's records.
_SHARES: dict[str, Callable[[LadderRow], float]] = {
    "expected_matches": lambda row: row.expected_matches,
    "population_uniques": lambda row: row.population_uniques,
    "not_anonymous": lambda row: row.not_anonymous,
}


@dataclass(frozen=True, slots=True)
class Alternative:
    """What a step of the ladder would be without one of its keys, or with a coarser one.

    Attributes:
        key: The key that is left out or told more coarsely.
        level: The coarser level; empty where the key is left out.
        row: The step without it.
    """

    key: Text
    level: Text
    row: LadderRow


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
            known = Text.named("release.and_so_on")
            if composition.known:
                known = composition.known[0]
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
    # Of those that pass, a coarser key costs users less than none, and so does the highest risk.
    if passing:
        best = max(passing, key=lambda each: (bool(each.level.by_language), share(each)))
    else:
        best = min(alternatives, key=share)
    manner = "coarser" if best.level.by_language else "without"
    result = "passes" if passing else "helps"
    return sentence(
        f"release.change.{manner}-{result}",
        key=best.key,
        level=best.level,
        value=in_every_language(lambda language: share_text(share(best), language)),
    )
