"""What was measured about designs of a file, as plain numbers. Confidential.

Every part may be missing: a page tells what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sdcensus.errors import Sentence
from sdcensus.microdata.method import FactTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import MissingValues, Survey
from sdcensus.model.text import Text


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LadderRow(Confidential):
    """The risk of a file against somebody who knows the first keys of the ladder.

    Attributes:
        step: How many keys are known.
        key: What the key is called that this step adds.
        records: The records of the file.
        sample_uniques, sample_uniques_confounded: Records that are alone in the file (SU), and how
            many of these a record with missing keys may be too.
        expected_matches: Expected correct matches on sample uniques (E).
        population_uniques, population_uniques_confounded: The same in the population (PU).
        not_anonymous: Records that share their keys with fewer than k in the population (K).
        global_risk: Expected correct matches on all records (R).
        prosecutor_risk, journalist_risk: The chance that the worst record is found by whoever knows
            that it is in the file (1/f), and by whoever does not (1/F).
        households: The households of the file; ``None`` where there are none.
        households_at_risk: Those with a member who is found with a chance of a half or more.
        household_risk: The mean chance that a household has a member who is found.
    """

    step: int
    key: Text
    records: int
    sample_uniques: int
    expected_matches: float
    population_uniques: int
    not_anonymous: int
    global_risk: float
    sample_uniques_confounded: int = 0
    population_uniques_confounded: int = 0
    prosecutor_risk: float | None = None
    journalist_risk: float | None = None
    households: int | None = None
    households_at_risk: int | None = None
    household_risk: float | None = None

    def __repr__(self) -> str:
        return f"<LadderRow {self.step}: confidential>"


def judged_step(ladder: Sequence[LadderRow], known_keys: int | None) -> LadderRow | None:
    """The step at which a file is judged: that of the plan, or the last one before it."""
    steps = [row for row in ladder if known_keys is None or row.step <= known_keys]
    return steps[-1] if steps else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CompositionRisk(Confidential):
    """What a neighbour finds who knows the members of a household.

    Attributes:
        known: What is known about each member, such as age and sex.
        households: The households of the file.
        sample_uniques: Those that are alone in the file with their composition.
        population_uniques: Those that are alone in the population.
        not_anonymous: Those that share it with fewer than k in the population.
        expected_matches: Expected correct matches on those that are alone in the file.
        global_risk: Expected correct matches on all of them.
        prosecutor_risk, journalist_risk: Of the worst household, as for records; ``None`` where
            nobody can know.
    """

    known: tuple[Text, ...]
    households: int
    sample_uniques: int
    population_uniques: int
    not_anonymous: int | None = None
    expected_matches: float | None = None
    global_risk: float | None = None
    prosecutor_risk: float | None = None
    journalist_risk: float | None = None

    def __repr__(self) -> str:
        return "<CompositionRisk: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class IntruderRow(Confidential):
    """What an intruder with a file from elsewhere claims, and how often rightly.

    Attributes:
        name: What the intruder is called: "employer", "six keys, no errors".
        keys: How many keys the other file has.
        coverage: The share of the population that it holds.
        file_errors, outside_errors: The shares of wrong keys in our file and in the other one.
        years: How much older or younger the other file is.
        claims, correct, wrong: How many records were claimed to be somebody, and were.
        missed: Persons who are in both files and were not claimed.
        uniques: The sample uniques on the same keys: what a count of uniques would have feared.
        expected: The expected correct matches on them.
    """

    name: str
    keys: int
    coverage: float
    claims: int
    correct: int
    wrong: int
    missed: int
    file_errors: float = 0.0
    outside_errors: float = 0.0
    years: int = 0
    uniques: int | None = None
    expected: float | None = None

    def __repr__(self) -> str:
        return f"<IntruderRow {self.name!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SpecialUniques(Confidential):
    """Which variables make records special (SUDA).

    Attributes:
        contributions: For each key the share of all scores from sets that contain it.
        scores: How many records have a score from, and up to; the last one may have no end.
        records: The records that have a score.
        disclosure: The mean chance (DIS) over them.
    """

    contributions: tuple[tuple[Text, float], ...] = ()
    scores: tuple[tuple[float, float | None, int], ...] = ()
    records: int | None = None
    disclosure: float | None = None

    def __repr__(self) -> str:
        return "<SpecialUniques: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MeasureVerdict(Confidential):
    """One measure against what the licence class accepts.

    Attributes:
        measure: A field of ``Acceptance``: ``expected_matches``, a share of the country, or
            ``expected_matches_of_file``, the same as a share of the file.
        value: The measured share; ``None`` where it has no meaning.
        accepted: The most that is accepted.
        change: What would make it pass, or how far it may still go.
    """

    measure: str
    value: float | None
    accepted: float
    change: Sentence | None = None

    def __repr__(self) -> str:
        return f"<MeasureVerdict {self.measure!r}: confidential>"

    @property
    def passes(self) -> bool:
        """Whether it is accepted; what has no meaning is."""
        return self.value is None or self.value <= self.accepted


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DesignResult(Confidential):
    """A design with everything that was measured about it.

    Attributes:
        name: What commands call it.
        fraction: The share of households (or persons) in words: "1/10", "10 %".
        geographies: The areas that it keeps.
        recodes: What is recoded, in words; sentences are told in the language of the page.
        households, persons: The size of its sample; no households where the census has none.
        ladder: The risk at each step, as the plan says that missing keys are counted.
        ladder_otherwise: The same with missing keys counted the other way.
        verdicts: Each measure against what is accepted, at the judged step.
        composition: The neighbour.
        intruders: The simulated intruders.
        special: Special uniques.
        diversity, sample_only, cumulation, groupings, giveaways, utility, further: Tables for the
            office: sensitive variables, estimates from the sample alone with their error, what adds
            up with earlier files and tables, proposed groups, what order and weights give away,
            what users lose, and whatever else there is.
        refusals: What stands against making it whatever the measures say, such as the union with
            earlier files.
        notes: What else the office should know.
    """

    name: str
    fraction: str
    persons: int
    households: int | None = None
    geographies: tuple[Text, ...] = ()
    recodes: tuple[str, ...] = ()
    ladder: tuple[LadderRow, ...] = ()
    ladder_otherwise: tuple[LadderRow, ...] = ()
    verdicts: tuple[MeasureVerdict, ...] = ()
    composition: CompositionRisk | None = None
    intruders: tuple[IntruderRow, ...] = ()
    special: SpecialUniques | None = None
    diversity: tuple[FactTable, ...] = ()
    sample_only: tuple[FactTable, ...] = ()
    cumulation: tuple[FactTable, ...] = ()
    groupings: tuple[FactTable, ...] = ()
    giveaways: tuple[FactTable, ...] = ()
    utility: tuple[FactTable, ...] = ()
    further: tuple[FactTable, ...] = ()
    refusals: tuple[Sentence, ...] = ()
    notes: tuple[Sentence, ...] = ()

    def __repr__(self) -> str:
        return f"<DesignResult {self.name!r}: confidential>"

    @property
    def accepted(self) -> bool:
        """Whether something was judged, every measure passes and nothing else stands against it."""
        return bool(self.verdicts) and not self.failing and not self.refusals

    @property
    def judged(self) -> bool:
        """Whether anything says yes or no to it."""
        return bool(self.verdicts or self.refusals)

    @property
    def failing(self) -> tuple[MeasureVerdict, ...]:
        """The measures that are above what is accepted."""
        return tuple(verdict for verdict in self.verdicts if not verdict.passes)

    def judged_row(self, known_keys: int | None) -> LadderRow | None:
        """The step of the ladder at which it is judged."""
        return judged_step(self.ladder, known_keys)

    @property
    def last(self) -> LadderRow | None:
        """The last step of the ladder."""
        return self.ladder[-1] if self.ladder else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReleaseAssessment(Confidential):
    """What was measured about every design of a plan.

    Attributes:
        census: What the census is called.
        title: What the file is called.
        licence: For whom it is.
        persons, households: The sizes of the population; no households where there are none.
        designs: In the order of the plan.
        k: How many should share their keys.
        known_keys: With how many keys files are judged; the last step if ``None``.
        missing: How missing keys are counted in ``ladder``.
        surveys: Surveys of the country.
        preset: The preset that the plan starts from.
        date: Of the assessment.
        settings: What the plan says, by parameter; for the office's own record.
        notes: What the office should know about all designs.
        tables: Further tables about all designs.
    """

    census: str
    title: Text
    licence: LicenceClass
    persons: int
    designs: tuple[DesignResult, ...]
    households: int | None = None
    k: int = 3
    known_keys: int | None = None
    missing: MissingValues = MissingValues.ADJUST
    surveys: tuple[Survey, ...] = ()
    preset: str = ""
    date: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Sentence, ...] = ()
    tables: tuple[FactTable, ...] = ()

    def __repr__(self) -> str:
        return "<ReleaseAssessment: confidential>"
